// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <memory>

#include "base/status_macros.h"
#include "cli/feed_verbs.h"
#include "cli/verb.h"

namespace dovetail::cli {
namespace {

void AddFeedEnable(VerbList* verbs) {
  const auto options = std::make_shared<FeedEnableOptions>();
  Verb& verb = verbs->Add("feed enable", kFeed, "DB",
                          "Record every commit from the next one on");
  verb.Example("dovetail feed enable ./db --keep 100000");
  verb.Number("--keep", 0, &options->keep,
              "Commits that are kept, read or not; 0: all [1000000]");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->db));
    RETURN_IF_ERROR(words.End());
    return RunFeedEnable(*options, console);
  };
}

void AddFeedDisable(VerbList* verbs) {
  const auto options = std::make_shared<FeedDisableOptions>();
  Verb& verb = verbs->Add("feed disable", kFeed, "DB",
                          "Stop recording, and forget what was recorded");
  verb.Example("dovetail feed disable ./db --yes");
  verb.Flag("--yes", &options->yes, "Do not ask", 'y');
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->db));
    RETURN_IF_ERROR(words.End());
    return RunFeedDisable(*options, console);
  };
}

void AddList(VerbList* verbs) {
  Verb& verb = verbs->Add("feed list", kFeed, "DB",
                          "The feed's consumers, and how far they have come");
  verb.Example("dovetail feed list ./db");
  verb.run = [](Words words, const Console& console) -> absl::Status {
    std::string db;
    RETURN_IF_ERROR(words.TakeDb(false, &db));
    RETURN_IF_ERROR(words.End());
    return RunFeedList(db, console);
  };
}

void AddTail(VerbList* verbs) {
  const auto options = std::make_shared<FeedTailOptions>();
  Verb& verb = verbs->Add(
      "feed tail", kFeed, "DB CONSUMER",
      "Print what a consumer has not seen, one JSON object a commit");
  verb.Details(
      "What was printed is acknowledged: the next tail of the same consumer "
      "goes on behind it. It ends with the newest commit, for no other "
      "process can write while this one reads.");
  verb.Example("dovetail feed tail ./db search >> changes.jsonl")
      .Example("dovetail feed tail ./db search --peek --limit 1");
  verb.Text("--start", "WHERE", &options->start,
            "Of a new consumer: with the oldest commit that is kept, or now, "
            "behind the newest [oldest]",
            {"oldest", "now"})
      .Number("--limit", 'n', &options->limit, "Commits at most [all]")
      .Flag("--peek", &options->peek, "Acknowledge nothing");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->db));
    RETURN_IF_ERROR(words.Take("CONSUMER", &options->consumer));
    RETURN_IF_ERROR(words.End());
    return RunFeedTail(*options, console);
  };
}

}  // namespace

void AddFeedVerbs(VerbList* verbs) {
  AddFeedEnable(verbs);
  AddFeedDisable(verbs);
  AddList(verbs);
  AddTail(verbs);
}

}  // namespace dovetail::cli

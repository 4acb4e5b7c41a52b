// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/feed_verbs.h"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/change_printer.h"
#include "cli/confirm.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "dovetail/change_feed.h"

namespace dovetail::cli {
namespace {

// Output is flushed, and then acknowledged, this often.
constexpr uint64_t kAcknowledgeEvery = 1000;

absl::Status ExplainFeed(const std::string& db, const absl::Status& status) {
  if (absl::IsFailedPrecondition(status)) {
    return WithHint(status,
                    absl::StrCat("Turn it on: dovetail feed enable ", db));
  }
  if (absl::IsOutOfRange(status)) {
    return WithHint(status,
                    "The consumer came too late. Start again from a copy, "
                    "with another name and --start now.");
  }
  return status;
}

// What was printed is acknowledged only once it is out.
absl::Status Settle(ChangeFeed* feed, SequenceNumber last, bool peek) {
  RETURN_IF_ERROR(FlushOutput());
  if (peek || last == feed->acknowledged()) return {};
  return feed->Acknowledge(last);
}

}  // namespace

absl::Status RunFeedEnable(const FeedEnableOptions& options,
                           const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  RETURN_IF_ERROR(engine->EnableChangeFeed({.commits_max = options.keep}));
  RETURN_IF_ERROR(engine->Close());
  Note(console, "the change feed is on: the next commit is its first");
  return {};
}

absl::Status RunFeedDisable(const FeedDisableOptions& options,
                            const Console& console) {
  // The engine empties the feed's space on a thread of its own.
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console, /*background_work=*/true));
  RETURN_IF_ERROR(
      Confirm("Forget the change feed and the places of all its consumers?",
              options.yes));
  const absl::Status disabled = engine->DisableChangeFeed();
  if (!disabled.ok()) return ExplainFeed(options.db, disabled);
  RETURN_IF_ERROR(engine->Close());
  Note(console, "the change feed is off");
  return {};
}

absl::Status RunFeedList(const std::string& db, const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(db, console));
  const absl::StatusOr<std::vector<FeedConsumer>> consumers =
      engine->ListFeedConsumers();
  if (!consumers.ok()) return ExplainFeed(db, consumers.status());
  ASSIGN_OR_RETURN(const Stats stats, engine->GetStats());
  TextTable text({"consumer", "acknowledged", "behind"});
  for (const FeedConsumer& consumer : *consumers) {
    const auto place = static_cast<uint64_t>(consumer.acknowledged);
    text.Add({consumer.name, absl::StrCat(place),
              absl::StrCat(Number(stats.sequence) - place)});
  }
  Print(text.Text(console, {"acknowledged", "behind"}));
  return {};
}

absl::Status RunFeedTail(const FeedTailOptions& options,
                         const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  absl::StatusOr<std::unique_ptr<ChangeFeed>> opened = engine->OpenFeed(
      options.consumer,
      options.start == "now" ? FeedStart::kNow : FeedStart::kOldest);
  if (!opened.ok()) return ExplainFeed(options.db, opened.status());
  ChangeFeed* const feed = opened->get();
  ChangePrinter printer(engine.get());
  SequenceNumber last = feed->acknowledged();
  uint64_t shown = 0;
  while ((options.limit == 0 || shown < options.limit) && !Interrupted()) {
    v1::WriteLogRecord change;
    const absl::StatusOr<bool> next =
        feed->Next(&change, std::chrono::microseconds(0));
    if (!next.ok()) return ExplainFeed(options.db, next.status());
    if (!*next) break;
    ASSIGN_OR_RETURN(const std::string json, printer.Json(change));
    Print(json);
    last = SequenceNumber{change.sequence()};
    if (++shown % kAcknowledgeEvery == 0) {
      RETURN_IF_ERROR(Settle(feed, last, options.peek));
    }
  }
  RETURN_IF_ERROR(Settle(feed, last, options.peek));
  RETURN_IF_ERROR(engine->Close());
  Note(console,
       absl::StrCat(CountText(shown), shown == 1 ? " commit" : " commits",
                    options.peek ? ", none acknowledged"
                                 : absl::StrCat(", acknowledged up to ",
                                                static_cast<uint64_t>(last))));
  return Interrupted() ? InterruptedError("interrupted") : absl::OkStatus();
}

}  // namespace dovetail::cli

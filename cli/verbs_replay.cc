// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <memory>

#include "base/status_macros.h"
#include "cli/bisect.h"
#include "cli/replay.h"
#include "cli/verb.h"

namespace dovetail::cli {
namespace {

void AddReplay(VerbList* verbs) {
  const auto options = std::make_shared<ReplayVerbOptions>();
  Verb& verb = verbs->Add("replay", kLog, "DB LOG",
                          "Apply a write log, each request exactly once");
  verb.Details(
      "LOG is the log's directory, or one file of it. How far it has come is "
      "kept in the database under the source's name, together with the rows: "
      "after an interruption of any kind the same command goes on behind what "
      "was applied. Observers do not run; what they did is in the log.");
  verb.Example("dovetail replay ./copy /backup/orders/write-log --create")
      .Example(
          "dovetail replay ./db ./log --to-time '2026-11-30 12:00' --dry-run")
      .Example(
          "dovetail replay ./db ./log --sequences own --on-error skip "
          "--rejects bad.jsonl")
      .Example(
          "dovetail replay ./db events.jsonl --from debezium --mapping "
          "orders.textproto --source shop");
  verb.Text("--from", "FORMAT", &options->changes.from,
            "LOG is a file of another system's changes, - standard input",
            {"jsonl", "csv", "debezium", "canal", "maxwell", "hbase-wal"})
      .Text("--mapping", "FILE", &options->changes.mapping,
            "With --from: which tables and fields they are, a "
            "dovetail.v1.ChangeMapping in text format")
      .Text("--delimiter", "CHARACTER", &options->changes.delimiter,
            "With --from csv, between fields [comma; tab for .tsv]");
  verb.Flag("--create", &options->create,
            "Create the database, with the tables of the log, if there is none")
      .Text("--source", "NAME", &options->source,
            "The name under which the place is kept [default]")
      .Text("--sequences", "WHICH", &options->sequences,
            "keep: the log's, for a database that is empty, or a checkpoint of "
            "the one that wrote the log, and written by nobody else; own: the "
            "database's; auto: keep if it is empty [auto]",
            {"auto", "keep", "own"})
      .Text("--old-rows", "WHAT", &options->old_rows,
            "trust: read a row before it is changed only where the sequences "
            "do not prove what it is; check: always, and refuse a record that "
            "does not fit; replace: whatever is there [trust]",
            {"trust", "check", "replace"})
      .Flag("--ignore-digests", &options->ignore_digests,
            "Go on where the rows are not those that the log had")
      .Number("--to-sequence", 0, &options->to_sequence,
              "Stop behind this record")
      .Text("--to-time", "TIME", &options->to_time,
            "Stop before the first record that was made later")
      .Flag("--dry-run", &options->dry_run, "Read and check, apply nothing")
      .Text("--on-error", "WHAT", &options->on_error,
            "stop: at the first record that cannot be applied; skip: leave "
            "such records out [stop]",
            {"stop", "skip"})
      .Text("--rejects", "FILE", &options->rejects,
            "With skip: where they go, with their causes, as JSON Lines")
      .Flag("--skip-damaged", &options->skip_damaged,
            "Pass over damaged parts of the log; with --sequences own")
      .Flag("--follow", &options->follow,
            "Wait for more at the end of the log, until interrupted", 'f')
      .Number("--rate", 0, &options->rate, "Requests a second at most [all]")
      .Number("--batch", 0, &options->batch, "Requests in one commit [256]")
      .Flag("--sync", &options->sync,
            "Make each commit durable, not only the end");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->db));
    RETURN_IF_ERROR(words.Take("LOG", &options->log));
    RETURN_IF_ERROR(words.End());
    return RunReplay(*options, console);
  };
}

void AddSources(VerbList* verbs) {
  const auto options = std::make_shared<SourcesOptions>();
  Verb& verb =
      verbs->Add("sources", kLog, "DB", "What was replayed, and how far");
  verb.Example("dovetail sources ./copy")
      .Example("dovetail sources ./copy --forget default");
  verb.Text("--forget", "NAME", &options->forget,
            "Forget how far it has come: a replay begins anew");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->db));
    RETURN_IF_ERROR(words.End());
    return RunSources(*options, console);
  };
}

void AddBisect(VerbList* verbs) {
  const auto options = std::make_shared<BisectVerbOptions>();
  Verb& verb = verbs->Add("bisect", kLog, "LOG",
                          "The record after which something is wrong");
  verb.Details(
      "Replays the log into a scratch database and asks CONDITION at some "
      "places, always between one where it holds and one where it does not. "
      "CONDITION is: verify; digest, which compares with the digests in the "
      "log; get TABLE INDEX=VALUE,... FIELD=VALUE ..., of all rows found; or "
      "count TABLE [INDEX=VALUE,...] OP NUMBER, with OP one of = != < <= > >=. "
      "With - for INDEX the values are of the row key; \\x20 is a space and "
      "\\x2c a comma in a value.");
  verb.Example("dovetail bisect ./db/write-log")
      .Example(
          "dovetail bisect ./log --check 'get orders by_order_id=o-17 "
          "status=PAID'")
      .Example("dovetail bisect ./log --check 'count orders -=s-1 <= 100'");
  verb.Text("--check", "CONDITION", &options->check,
            "What holds as long as all is right [verify]")
      .Text("--base", "DB", &options->base,
            "A copy of the database at an earlier commit, to begin with, for a "
            "log whose beginning is gone")
      .Text("--scratch", "DIR", &options->scratch,
            "Where to work; removed at the end [LOG.bisect]");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.Take("LOG", &options->log));
    RETURN_IF_ERROR(words.End());
    return RunBisect(*options, console);
  };
}

}  // namespace

void AddReplayVerbs(VerbList* verbs) {
  AddReplay(verbs);
  AddSources(verbs);
  AddBisect(verbs);
}

}  // namespace dovetail::cli

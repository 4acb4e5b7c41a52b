// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <memory>

#include "base/status_macros.h"
#include "cli/backup.h"
#include "cli/log_verbs.h"
#include "cli/verb.h"

namespace dovetail::cli {
namespace {

void AddLogEnable(VerbList* verbs) {
  const auto options = std::make_shared<LogEnableOptions>();
  Verb& verb = verbs->Add("log enable", kLog, "DB",
                          "Record every commit in a write log from now on");
  verb.Details(
      "The database keeps that in mind: whoever writes it records. Given "
      "again, it changes sizes and times.");
  verb.Example("dovetail log enable ./db --keep-days 30")
      .Example("dovetail log enable ./db --dir /mnt/other/db-log");
  verb.Text("--dir", "DIR", &options->directory,
            "Where the log's files are; another disk survives the loss of "
            "this one [DB/write-log]")
      .Number("--keep-mib", 0, &options->keep_mib,
              "Drop the oldest files until no more is left; 0: no bound [0]")
      .Number("--keep-days", 0, &options->keep_days,
              "Drop files that were written longer ago; 0: no bound [0]")
      .Number("--file-mib", 0, &options->file_mib, "Of a file at most [64]")
      .Flag("--start-over", &options->start_over,
            "Where a log has a gap: set it aside and begin a new one");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->db));
    RETURN_IF_ERROR(words.End());
    return RunLogEnable(*options, console);
  };
}

void AddLogDisable(VerbList* verbs) {
  const auto options = std::make_shared<LogDisableOptions>();
  Verb& verb = verbs->Add("log disable", kLog, "DB",
                          "Stop recording; the log's files stay");
  verb.Example("dovetail log disable ./db --yes");
  verb.Flag("--yes", &options->yes, "Do not ask", 'y');
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->db));
    RETURN_IF_ERROR(words.End());
    return RunLogDisable(*options, console);
  };
}

void AddShow(VerbList* verbs) {
  const auto options = std::make_shared<LogShowOptions>();
  Verb& verb = verbs->Add("log show", kLog, "LOG",
                          "Print recorded commits, one JSON object each");
  verb.Details(
      "LOG is a database that records, the directory of a log, or one file "
      "of it. Another process may be writing it meanwhile.");
  verb.Example("dovetail log show ./db --from 1200 --to 1250")
      .Example("dovetail log show ./backup/write-log -n 10");
  verb.Number("--from", 0, &options->from, "The first sequence [the oldest]")
      .Number("--to", 0, &options->to, "The last sequence [the newest]")
      .Number("--limit", 'n', &options->limit, "Commits at most [all]")
      .Flag("--skip-damaged", &options->skip_damaged,
            "Read on behind damage, and say what is missing");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->log));
    RETURN_IF_ERROR(words.End());
    return RunLogShow(*options, console);
  };
}

void AddLogVerify(VerbList* verbs) {
  const auto options = std::make_shared<LogVerifyOptions>();
  Verb& verb = verbs->Add("log verify", kLog, "LOG",
                          "Read all of a write log, and report damage");
  verb.Details(
      "LOG is as for log show. A torn record at the end is what a crash "
      "leaves, or one being written: no damage.");
  verb.Example("dovetail log verify ./db");
  verb.Flag("--skip-damaged", &options->skip_damaged,
            "Read on behind damage, and say what is missing");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->log));
    RETURN_IF_ERROR(words.End());
    return RunLogVerify(*options, console);
  };
}

void AddBackup(VerbList* verbs) {
  const auto options = std::make_shared<BackupVerbOptions>();
  Verb& verb = verbs->Add("backup", kCare, "DB DIR",
                          "Make a backup of a database, or bring it up to now");
  verb.Details(
      "The first time it is a copy of the database; from then on, if the "
      "database records, what the write log has gained. While a process has "
      "the database open, only that process can do it, by Engine::Backup.");
  verb.Example("dovetail backup ./db /backup/orders");
  verb.Flag("--checkpoint", &options->checkpoint,
            "Make a new copy in the backup, so that a restore is faster")
      .Flag("--copy", &options->copy,
            "Copy every byte, instead of linking table files");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    // Both are always given, as for a checkpoint.
    RETURN_IF_ERROR(words.Take("DB", &options->db));
    RETURN_IF_ERROR(words.Take("DIR", &options->backup));
    RETURN_IF_ERROR(words.End());
    return RunBackup(*options, console);
  };
}

void AddRestore(VerbList* verbs) {
  const auto options = std::make_shared<RestoreVerbOptions>();
  Verb& verb = verbs->Add("restore", kCare, "DIR NEWDB",
                          "Make a database from a backup, as of any commit");
  verb.Details(
      "NEWDB must not exist; it is there whole or not at all. It does not "
      "record until dovetail log enable.");
  verb.Example("dovetail restore /backup/orders ./db2")
      .Example(
          "dovetail restore /backup/orders ./db2 --to-time "
          "2026-11-30T12:00:00Z");
  verb.Number("--to-sequence", 0, &options->to_sequence,
              "Stop behind this commit [the last one]")
      .Text("--to-time", "TIME", &options->to_time,
            "Stop behind the last commit made by then [the last one]")
      .Flag("--copy", &options->copy,
            "Copy every byte, instead of linking table files");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.Take("DIR", &options->backup));
    RETURN_IF_ERROR(words.Take("NEWDB", &options->db));
    RETURN_IF_ERROR(words.End());
    return RunRestore(*options, console);
  };
}

}  // namespace

void AddLogVerbs(VerbList* verbs) {
  AddBackup(verbs);
  AddRestore(verbs);
  AddLogEnable(verbs);
  AddLogDisable(verbs);
  AddShow(verbs);
  AddLogVerify(verbs);
}

}  // namespace dovetail::cli

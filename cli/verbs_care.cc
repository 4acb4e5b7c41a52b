// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <memory>

#include "base/status_macros.h"
#include "cli/checkpoint.h"
#include "cli/compact.h"
#include "cli/digest.h"
#include "cli/doctor.h"
#include "cli/stats.h"
#include "cli/verb.h"
#include "cli/verify.h"

namespace dovetail::cli {
namespace {

void AddVerify(VerbList* verbs) {
  const auto options = std::make_shared<VerifyVerbOptions>();
  Verb& verb = verbs->Add("verify", kCare, "DB",
                          "Check that rows and index entries agree");
  verb.Example("dovetail verify ./db");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->db));
    RETURN_IF_ERROR(words.End());
    return RunVerify(*options, console);
  };
}

void AddRepair(VerbList* verbs) {
  const auto options = std::make_shared<RepairVerbOptions>();
  Verb& verb = verbs->Add("repair", kCare, "DB",
                          "Make index entries agree with the rows");
  verb.Example("dovetail repair ./db --dry-run")
      .Example("dovetail repair ./db --yes");
  verb.Flag("--dry-run", &options->dry_run, "Only say what would be done")
      .Flag("--yes", &options->yes, "Do not ask", 'y');
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->db));
    RETURN_IF_ERROR(words.End());
    return RunRepair(*options, console);
  };
}

void AddDigest(VerbList* verbs) {
  const auto options = std::make_shared<DigestVerbOptions>();
  Verb& verb =
      verbs->Add("digest", kCare, "DB", "One number for what each table holds");
  verb.Details(
      "Databases of equal content have equal digests, however they came to it. "
      "Every commit keeps them up to date; verify makes them anew from the "
      "bytes on disk and compares.");
  verb.Example("dovetail digest ./db")
      .Example("diff <(dovetail digest ./db) <(dovetail digest ./replayed)");
  verb.Flag("--indexes", &options->indexes,
            "Also of each index, which reads all of its entries")
      .Flag("--enable", &options->enable,
            "Keep digests from now on: reads the whole database once")
      .Flag("--disable", &options->disable, "Keep none any more");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->db));
    RETURN_IF_ERROR(words.End());
    return RunDigest(*options, console);
  };
}

void AddCheckpoint(VerbList* verbs) {
  const auto options = std::make_shared<CheckpointVerbOptions>();
  Verb& verb = verbs->Add("checkpoint", kCare, "DB DEST",
                          "Copy a database that no process has open");
  verb.Details(
      "DEST must not exist; it is there whole or not at all. While a process "
      "has the database open, only that process can copy it, by "
      "Engine::Checkpoint.");
  verb.Example("dovetail checkpoint ./db ./backup/db-2026-01-31");
  verb.Flag("--copy", &options->copy,
            "Copy every byte, instead of linking table files");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    // Both are always given: a copy of the wrong database is found too late.
    RETURN_IF_ERROR(words.Take("DB", &options->db));
    RETURN_IF_ERROR(words.Take("DEST", &options->destination));
    RETURN_IF_ERROR(words.End());
    return RunCheckpoint(*options, console);
  };
}

void AddCompact(VerbList* verbs) {
  const auto options = std::make_shared<CompactVerbOptions>();
  Verb& verb = verbs->Add("compact", kCare, "DB",
                          "Give back what deleted rows and entries take");
  verb.Details(
      "Compacts the ranges of keys in which many were deleted, as far as the "
      "database remembers them: scans walk over each one until then. A process "
      "that has the database open does so by itself.");
  verb.Example("dovetail compact ./db");
  verb.Number("--min", 0, &options->dead_min,
              "Leave ranges in which fewer keys were deleted [1]");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->db));
    RETURN_IF_ERROR(words.End());
    return RunCompact(*options, console);
  };
}

void AddDoctor(VerbList* verbs) {
  const auto options = std::make_shared<DoctorVerbOptions>();
  Verb& verb = verbs->Add("doctor", kCare, "DB",
                          "Find what is damaged, and save what is left");
  verb.Details(
      "Reads every block of every file by its checksum and changes nothing. "
      "With --rescue-to, the newest version of each row that is left goes "
      "into a new database, and its entries are made to agree; rows that are "
      "lost or may be old are named.");
  verb.Example("dovetail doctor ./db")
      .Example("dovetail doctor ./db --rescue-to ./db-rescued");
  verb.Text("--rescue-to", "NEWDB", &options->rescue_to,
            "Where to put what is left; must not exist");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->db));
    RETURN_IF_ERROR(words.End());
    return RunDoctor(*options, console);
  };
}

void AddStats(VerbList* verbs) {
  const auto options = std::make_shared<StatsVerbOptions>();
  Verb& verb = verbs->Add("stats", kCare, "DB",
                          "Tables, indexes, their sizes and what they cost");
  verb.Details(
      "Counts are of this process alone, since it opened the database. "
      "--watch keeps it open, so that no other process can have it: use it "
      "to see compaction and the emptying of dropped indexes come to an end.");
  verb.Example("dovetail stats ./db --json")
      .Example("dovetail stats ./db --watch=5");
  verb.Watch(&options->watch_seconds);
  verb.Flag("--entries", &options->entries,
            "Count rows and entries anew, which reads all of them");
  verb.Number("--count", 0, &options->count,
              "With --watch: so many times [no end]");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->db));
    RETURN_IF_ERROR(words.End());
    return RunStats(*options, console);
  };
}

}  // namespace

void AddCareVerbs(VerbList* verbs) {
  AddVerify(verbs);
  AddRepair(verbs);
  AddDigest(verbs);
  AddDoctor(verbs);
  AddCheckpoint(verbs);
  AddCompact(verbs);
  AddStats(verbs);
}

}  // namespace dovetail::cli

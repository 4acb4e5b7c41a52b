// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The process that log_kill_points kills: a script that has the engine do
// everything that writes files, and can be begun again wherever it ended.
//
// In the directory `root`:
//   db           records every commit in db/write-log; gets the requests
//   copy         replays that log under its sequences, and records them, with
//                a retention
//   partial      replays it into tables of which one is missing, and writes
//                what does not fit into the file `rejects`
//   checkpoint   of db
//   backup       of db; restored into `restored`
//   damaged      a checkpoint, damaged and repaired
//   rescued      what the doctor makes of a damaged checkpoint
//
// The requests are KillRequest(seed, {1, 0, n}) for n from 0 on, one after the
// other, so whatever else happens the rows are those of the first requests.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "dovetail/engine.h"
#include "dovetail/schema.h"

namespace dovetail::test {

inline constexpr uint64_t kScriptRequests = 180;
// The table that `partial` lacks.
inline constexpr char kMissingTable[] = "assets";
// The index that is added and dropped.
inline constexpr char kAddedIndex[] = "by_note";

// What was acknowledged so far, in all runs on one directory: in memory that
// script and checker both map. Sequences; 0: nothing yet.
struct ScriptBoard {
  std::atomic<uint64_t> failed;        // 1 if an error came that must not come.
  char error[1000];                    // In words; ends with 0.
  std::atomic<uint64_t> started;       // The highest that may be there.
  std::atomic<uint64_t> acknowledged;  // Committed.
  std::atomic<uint64_t> checkpointed;
  std::atomic<uint64_t> backed_up;
  std::atomic<uint64_t> replayed;  // Into `copy`.
  std::atomic<uint64_t> partial;   // The same, into `partial`.
  // The added index is there, for the engine has said so; or it is gone.
  std::atomic<uint64_t> index_added;
  std::atomic<uint64_t> index_dropped;
};

// Of every database but `partial`: KillSchema().
Schema PartialSchema();
Options ScriptOptions();

// Runs the script in `root`, to be killed at the `hit`-th reach of `point`, or
// to the end, where it writes how often each point was reached to
// `root`/points, a line each: count, blank, name. Returns an exit code.
int RunScript(const std::string& root, ScriptBoard* board, uint64_t seed,
              const std::string& point, uint64_t hit);

// Maps the board of a directory; null if that fails.
ScriptBoard* MapScriptBoard(const std::string& root);
void UnmapScriptBoard(ScriptBoard* board);

}  // namespace dovetail::test

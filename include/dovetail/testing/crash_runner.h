// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What is left of a script of writes if files fail or the power goes: the
// script runs once to count its file calls, and then again and again, with one
// call failing in each run.
//
//   CrashTest test;
//   test.schema = MySchema();
//   test.directory = "/dev/shm/my_test";
//   test.script = [](ScriptRun& run) {
//     for (int i = 0; i < 100; ++i) {
//       auto commit = run.Write({.sync = i % 10 == 0}, MyRequest(i));
//       if (!commit.ok()) return commit.status();
//     }
//     return absl::OkStatus();
//   };
//   auto report = RunCrashTest(test);
//   // report->failures is empty.
//
// After each fault the database is opened again, and must
//   - open;
//   - hold every acknowledged request if it was the call alone that failed,
//     and every one acknowledged as synced if it was a power cut;
//   - hold a beginning of the acknowledged requests, in their order and without
//     a hole, at most with the one whose outcome was unknown behind it: its
//     rows are those of the reference model after these requests, records and
//     versions;
//   - verify clean;
//   - satisfy the test's own check.
// And nothing may have been acknowledged after the first write whose outcome
// was unknown.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/engine.h"
#include "dovetail/schema.h"
#include "dovetail/testing/faulty_file_system.h"
#include "dovetail/testing/model.h"
#include "dovetail/write_batch.h"

namespace dovetail::test {

// One run of a script, as the script sees it. For its thread alone.
class ScriptRun {
 public:
  // Engine::Write, and keeps account of it. After an outcome of kUnknown the
  // request is sent once more, to see it refused.
  absl::StatusOr<Commit> Write(const WriteOptions& options, WriteBatch batch);
  // For everything but writes of rows. Valid until Reopen.
  Engine& engine();
  // Closes the database and opens it again. FailedPrecondition after an outcome
  // of kUnknown: such a run is over.
  absl::Status Reopen();
  // What the database's directory, `db`, lies in. Empty at the beginning.
  const std::string& directory() const;
  FaultyFileSystem& files();

 private:
  friend class CrashRunner;
  struct State;
  explicit ScriptRun(State* state) : state_(state) {}
  State* const state_;
};

struct CrashTest {
  Schema schema;
  // Must not exist; made, and removed at the end. Where files are in memory,
  // such as /dev/shm, the runs are fast.
  std::string directory;
  // Runs on one thread, and should do the same every time: what is random in
  // it starts from a fixed seed. After a fault it gets errors, and is best to
  // return them. Returns OK when nothing fails.
  std::function<absl::Status(ScriptRun&)> script;

  // The options of each open, for a database in `directory`/db. Their
  // file_system is set by the runner.
  std::function<Options(const std::string& directory)> options = {};
  // The model before the first request: Model::Of(schema) by default. For
  // Model::SetPrePut, and for records that are no messages of this program.
  std::optional<Model> model = std::nullopt;
  // What a request does to the model; Model::Apply by default. For observers
  // that veto, or that add mutations.
  std::function<absl::StatusOr<std::vector<uint64_t>>(
      const WriteBatch& batch, uint64_t sequence, Model* model)>
      predict = {};
  // Called with each database that was opened again, and the rows it must
  // have; an error is a failure of the run.
  std::function<absl::Status(Engine& engine, const Model& expected)> check = {};

  // The call fails alone; it and all behind it fail; the power goes before it.
  // Of what a failing call does, a part may happen: see SetFailuresArePartial.
  bool fail_once = true;
  bool fail_for_good = true;
  bool power_cuts = true;
  // Power cuts tried at one call: everything unsynced is lost, everything is
  // kept, and then by chance.
  uint64_t outcomes_per_cut = 4;
  // Every so many calls are tried, the first one being `first_call`; and, from
  // there on, the first call of each verb.
  uint64_t stride = 1;
  uint64_t first_call = 1;
  // Tries fewer, so that it is at most so many besides these. 0: no bound.
  uint64_t calls_max = 0;
  uint64_t seed = 1;
  // What lies under the faults. Null: the machine's own.
  FileSystem* file_system = nullptr;
};

struct CrashReport {
  uint64_t calls = 0;        // Of the run without a fault.
  uint64_t requests = 0;     // That it committed.
  uint64_t failed_once = 0;  // Runs of each kind.
  uint64_t failed_for_good = 0;
  uint64_t powered_off = 0;
  uint64_t power_cuts = 0;   // Outcomes looked at.
  uint64_t not_reached = 0;  // Runs that needed fewer calls than the first.
  uint64_t not_opened = 0;   // Runs whose first open got the error.

  uint64_t acknowledged = 0;      // Over all runs.
  uint64_t unknown = 0;           // Requests with that outcome.
  uint64_t unknown_survived = 0;  // Databases that hold such a request.
  // Power cuts that lost requests acknowledged without a sync, and these.
  uint64_t cuts_with_losses = 0;
  uint64_t requests_lost = 0;
  uint64_t tails_cut = 0;  // Opens that cut an unsynced tail.
  // How often a call of each verb was the one that failed.
  std::map<std::string, uint64_t> failed_calls;

  // What did not hold, each with the run that shows it; the first 20.
  std::vector<std::string> failures;
  uint64_t failure_count = 0;

  // A line for each figure.
  std::string Summary() const;
};

// Errors are of the test, not of what it tests:
//   AlreadyExists       something is in the directory's place
//   Internal            without a fault, engine and model do not agree
//   what Model::Of returns, or the script without a fault
absl::StatusOr<CrashReport> RunCrashTest(const CrashTest& test);

}  // namespace dovetail::test

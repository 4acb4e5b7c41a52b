// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Random requests of several threads against a reference model.
//
//   core_model [--ops N] [--seed N] [--store disk|memory|both] [--threads N]
//
// Every committed request says under which sequence it committed, so the
// serial order is known: the threads log (sequence, request), and once they
// have stopped the model applies the logs in that order. It must accept every
// one of them, and must then answer every read as the engine does. In between,
// one thread alone sends requests and compares the outcome of each, errors
// included. --ops counts committed mutations per store.

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "dovetail/engine.h"
#include "dovetail/testing/model.h"
#include "tests/acceptance/model_requests.h"
#include "tests/support/checks.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

constexpr uint64_t kRoundOps = 4000;  // Of all threads together.
constexpr uint64_t kAloneOps = 500;   // Of one thread, compared one by one.
constexpr int kScansPerRound = 300;
constexpr int kReopenEvery = 3;  // Rounds.

struct Settings {
  uint64_t ops = 200'000;
  uint64_t seed = 0;
  uint64_t threads = 4;
  std::string store = "both";
};

struct Logged {
  uint64_t sequence = 0;
  WriteBatch batch;
  std::vector<uint64_t> rows_changed;
};

// What a thread brings home.
struct ThreadResult {
  std::vector<Logged> log;
  uint64_t mutations = 0;
  std::map<absl::StatusCode, uint64_t> refused;
  std::vector<std::string> errors;
};

// Codes that Engine::Write may refuse a well-formed request with.
bool MayRefuse(absl::StatusCode code) {
  return code == absl::StatusCode::kAlreadyExists ||
         code == absl::StatusCode::kNotFound ||
         code == absl::StatusCode::kFailedPrecondition ||
         code == absl::StatusCode::kPermissionDenied;  // The veto.
}

class ModelRun {
 public:
  ModelRun(const Settings& settings, bool in_memory, Checks* checks)
      : settings_(settings),
        in_memory_(in_memory),
        checks_(*checks),
        seeds_(settings.seed ^ (in_memory ? 1 : 0)),
        maker_(seeds_()),
        model_(NewModel()) {}

  absl::Status Run();

 private:
  absl::Status Open();
  absl::Status Reopen();

  absl::Status RunRound();
  absl::Status RunTogether();
  ThreadResult Write(uint64_t seed, uint64_t ops);
  ThreadResult ReadUntil(uint64_t seed, const std::atomic<bool>& stop);
  absl::Status Replay(std::vector<ThreadResult> results);
  absl::Status RunAlone();

  absl::Status CompareAll();
  absl::Status CompareVerify();
  absl::Status CompareRows();
  absl::Status CompareLookups();
  absl::Status CompareScans();
  absl::Status CompareGroups();
  absl::Status CompareAudit();

  // All rows of the request: a page of `page_rows`, then pages of any size.
  absl::StatusOr<std::vector<Row>> ReadPages(const ReadOptions& options,
                                             ScanRequest request,
                                             uint64_t page_rows);
  // Rows of the tables that can be read in one scan, as texts.
  absl::StatusOr<std::vector<std::string>> Dump(const Snapshot& snapshot);
  void Expect(const absl::Status& status, std::string_view what,
              const ScanRequest& request);

  const Settings settings_;
  const bool in_memory_;
  Checks& checks_;
  std::mt19937_64 seeds_;
  RequestMaker maker_;
  TempDir dir_;
  std::unique_ptr<Engine> engine_;
  Model model_;
  uint64_t sequence_ = 0;
  uint64_t committed_ = 0;  // Mutations.
  uint64_t compared_ = 0;   // Reads.
  std::map<absl::StatusCode, uint64_t> refused_;
};

absl::Status ModelRun::Open() {
  Options options;
  options.cross_check = true;
  options.in_memory = in_memory_;
  options.write_buffer_bytes = 64 << 10;
  if (maker_.OneIn(2)) {
    // Nothing here has many dead keys, so a few count as many.
    options.dead_entries.sample_every = 1;
    options.dead_entries.live_entries_max =
        1 + static_cast<uint32_t>(maker_.Below(8));
    options.dead_entries.live_bytes_max = 1 << (12 + maker_.Below(8));
    options.dead_entries.sample_bytes_max = 1 << (12 + maker_.Below(8));
    options.dead_entries.reclaim_at = 500;
  }
  options.observers = {std::make_shared<VetoObserver>(),
                       std::make_shared<AuditObserver>()};
  ASSIGN_OR_RETURN(engine_,
                   Engine::Open(dir_.Sub("db"), ModelSchema(), options));
  return absl::OkStatus();
}

absl::Status ModelRun::Reopen() {
  // Half of the time without Close: what was written must be there anyway.
  if (maker_.OneIn(2)) RETURN_IF_ERROR(engine_->Close());
  engine_.reset();
  RETURN_IF_ERROR(Open());
  checks_.Equal(static_cast<uint64_t>(engine_->open_report().sequence),
                sequence_, "sequence after reopening");
  return absl::OkStatus();
}

absl::Status ModelRun::Run() {
  RETURN_IF_ERROR(Open());
  for (int round = 1; committed_ < settings_.ops; ++round) {
    RETURN_IF_ERROR(RunRound());
    if (checks_.failed() > 0) return absl::OkStatus();  // The rest is noise.
    if (!in_memory_ && round % kReopenEvery == 0) {
      RETURN_IF_ERROR(Reopen());
      RETURN_IF_ERROR(CompareAll());
    }
  }
  RETURN_IF_ERROR(CompareAudit());
  std::printf("%-8s mutations=%llu requests=%llu reads=%llu",
              in_memory_ ? "memory" : "disk",
              static_cast<unsigned long long>(committed_),
              static_cast<unsigned long long>(sequence_),
              static_cast<unsigned long long>(compared_));
  for (const auto& [code, count] : refused_) {
    std::printf(" refused_%s=%llu", absl::StatusCodeToString(code).c_str(),
                static_cast<unsigned long long>(count));
  }
  std::printf("\n");
  return engine_->Close();
}

absl::Status ModelRun::RunRound() {
  ASSIGN_OR_RETURN(const Snapshot before, engine_->GetSnapshot());
  ASSIGN_OR_RETURN(const std::vector<std::string> dump, Dump(before));
  RETURN_IF_ERROR(RunTogether());
  ASSIGN_OR_RETURN(const std::vector<std::string> again, Dump(before));
  checks_.That(dump == again, "a snapshot does not change");
  RETURN_IF_ERROR(CompareAll());
  if (checks_.failed() > 0) return absl::OkStatus();
  RETURN_IF_ERROR(RunAlone());
  return CompareAll();
}

ThreadResult ModelRun::Write(uint64_t seed, uint64_t ops) {
  ThreadResult result;
  RequestMaker maker(seed);
  const auto read_asset = [&](const std::string& id) {
    return engine_->Get({}, "assets", {id});
  };
  while (result.mutations < ops) {
    WriteBatch batch =
        maker.OneIn(10) ? maker.RandomSwap(read_asset) : maker.RandomRequest();
    if (batch.empty()) continue;
    absl::StatusOr<Commit> commit =
        engine_->Write({.sync = maker.OneIn(100)}, batch);
    if (!commit.ok()) {
      ++result.refused[commit.status().code()];
      if (!MayRefuse(commit.status().code())) {
        result.errors.push_back(commit.status().ToString());
        break;
      }
      continue;
    }
    if (!commit->post_commit.ok()) {
      result.errors.push_back(commit->post_commit.ToString());
    }
    result.mutations += batch.count();
    result.log.push_back({static_cast<uint64_t>(commit->sequence),
                          std::move(batch), commit->rows_changed});
  }
  return result;
}

// On any state: a seller's rows by row key are those by status, in whatever
// page size; and now and then a whole state verifies.
ThreadResult ModelRun::ReadUntil(uint64_t seed, const std::atomic<bool>& stop) {
  ThreadResult result;
  RequestMaker maker(seed);
  const auto check = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const Snapshot snapshot, engine_->GetSnapshot());
    const ReadOptions options{.snapshot = &snapshot};
    for (const char* seller : {"", "s", "s1", "s10"}) {
      std::multimap<std::string, std::string> by_key, by_status;
      ScanRequest request{.table = "orders", .equal = {seller}};
      ASSIGN_OR_RETURN(std::vector<Row> rows,
                       ReadPages(options, request, 1 + maker.Below(40)));
      for (Row& row : rows) by_key.emplace(row.key, row.record);
      request.index = "by_status";
      ASSIGN_OR_RETURN(rows, ReadPages(options, request, 1 + maker.Below(40)));
      for (Row& row : rows) by_status.emplace(row.key, row.record);
      if (by_key != by_status) {
        return absl::InternalError(
            absl::StrCat("rows and entries of one state differ sequence=",
                         static_cast<uint64_t>(snapshot.sequence())));
      }
    }
    if (!maker.OneIn(200)) return absl::OkStatus();
    ASSIGN_OR_RETURN(const VerifyReport report,
                     engine_->Verify({.snapshot = &snapshot}));
    if (report.clean()) return absl::OkStatus();
    return absl::InternalError(report.Summary());
  };
  while (!stop.load() && result.errors.empty()) {
    const absl::Status status = check();
    if (!status.ok()) result.errors.push_back(status.ToString());
  }
  return result;
}

absl::Status ModelRun::RunTogether() {
  std::vector<ThreadResult> results(settings_.threads + 1);
  std::atomic<bool> stop{false};
  const uint64_t reader_seed = seeds_();
  std::thread reader(
      [&, reader_seed] { results.back() = ReadUntil(reader_seed, stop); });
  std::vector<std::thread> writers;
  for (uint64_t t = 0; t < settings_.threads; ++t) {
    const uint64_t seed = seeds_();
    writers.emplace_back([&, t, seed] {
      results[t] = Write(seed, kRoundOps / settings_.threads);
    });
  }
  for (std::thread& writer : writers) writer.join();
  stop.store(true);
  reader.join();
  return Replay(std::move(results));
}

absl::Status ModelRun::Replay(std::vector<ThreadResult> results) {
  std::vector<Logged> log;
  for (ThreadResult& result : results) {
    for (const std::string& error : result.errors) {
      checks_.That(false, error);
    }
    for (const auto& [code, count] : result.refused) refused_[code] += count;
    committed_ += result.mutations;
    std::move(result.log.begin(), result.log.end(), std::back_inserter(log));
  }
  std::sort(log.begin(), log.end(), [](const Logged& a, const Logged& b) {
    return a.sequence < b.sequence;
  });
  for (const Logged& logged : log) {
    if (!checks_.Equal(logged.sequence, ++sequence_,
                       "sequences have no holes")) {
      return absl::InternalError("the serial order is not known");
    }
    const absl::StatusOr<std::vector<uint64_t>> applied =
        ApplyObserved(logged.batch, logged.sequence, &model_);
    if (!applied.ok()) {
      return absl::InternalError(absl::StrCat(
          "committed, but not by the model sequence=", logged.sequence,
          " request=", Describe(logged.batch),
          " model=", applied.status().ToString()));
    }
    checks_.That(
        *applied == logged.rows_changed,
        absl::StrCat("rows changed: sequence=", logged.sequence,
                     " engine=", absl::StrJoin(logged.rows_changed, ","),
                     " model=", absl::StrJoin(*applied, ","),
                     " request=", Describe(logged.batch)));
  }
  return absl::OkStatus();
}

absl::Status ModelRun::RunAlone() {
  const auto read_asset = [&](const std::string& id) {
    return engine_->Get({}, "assets", {id});
  };
  for (uint64_t mutations = 0; mutations < kAloneOps;) {
    const WriteBatch batch = maker_.OneIn(10) ? maker_.RandomSwap(read_asset)
                                              : maker_.RandomRequest();
    if (batch.empty()) continue;
    mutations += batch.count();
    const absl::StatusOr<Commit> commit = engine_->Write({}, batch);
    const absl::StatusOr<std::vector<uint64_t>> applied =
        ApplyObserved(batch, sequence_ + 1, &model_);
    if (!checks_.That(commit.status().code() == applied.status().code(),
                      absl::StrCat("outcome after sequence=", sequence_,
                                   " engine=", commit.status().ToString(),
                                   " model=", applied.status().ToString(),
                                   " request=", Describe(batch)))) {
      return absl::InternalError("engine and model have parted");
    }
    if (!commit.ok()) {
      ++refused_[commit.status().code()];
      continue;
    }
    committed_ += batch.count();
    checks_.Equal(static_cast<uint64_t>(commit->sequence), ++sequence_,
                  "the next sequence");
    checks_.That(commit->rows_changed == *applied, "rows changed alone");
  }
  return absl::OkStatus();
}

absl::Status ModelRun::CompareAll() {
  RETURN_IF_ERROR(CompareVerify());
  RETURN_IF_ERROR(CompareRows());
  RETURN_IF_ERROR(CompareLookups());
  RETURN_IF_ERROR(CompareScans());
  return CompareGroups();
}

absl::Status ModelRun::CompareVerify() {
  uint64_t rows = 0, entries = 0;
  for (const std::string& table : model_.TableNames()) {
    rows += model_.RowCount(table);
    entries += model_.EntryCount(table);
  }
  ASSIGN_OR_RETURN(const VerifyReport report, engine_->Verify({}));
  checks_.That(report.clean(), report.Summary());
  checks_.Equal(report.rows, rows, "rows");
  checks_.Equal(report.entries, entries, "entries");
  checks_.Equal(static_cast<uint64_t>(report.sequence), sequence_,
                "sequence of the newest state");
  return absl::OkStatus();
}

// Whole tables: in one scan where no hash leads, else seller by seller.
absl::Status ModelRun::CompareRows() {
  for (const char* table : {"assets", "places"}) {
    const ScanRequest request{.table = table};
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     ReadPages({}, request, 1 + maker_.Below(100)));
    Expect(model_.CheckScan(request, rows), "whole table", request);
  }
  for (const char* table : {"orders", "splits"}) {
    for (const ModelRow* row : model_.Rows(table)) {
      ASSIGN_OR_RETURN(const Row read, engine_->Get({}, table, row->key));
      ++compared_;
      checks_.That(read.record == row->record &&
                       static_cast<uint64_t>(read.version) == row->version,
                   absl::StrCat(table, " row of version=", row->version));
    }
  }
  return absl::OkStatus();
}

// Random keys, present and absent, and random values of each index.
absl::Status ModelRun::CompareLookups() {
  for (const std::string& table : model_.TableNames()) {
    if (table == "audit") continue;
    for (int i = 0; i < 50; ++i) {
      const Tuple key =
          maker_.RandomValues(model_, table, "", model_.OwnColumns(table, ""));
      const absl::StatusOr<Row> row = engine_->Get({}, table, key);
      const ModelRow* expected = model_.Get(table, key);
      ++compared_;
      checks_.That(expected == nullptr
                       ? row.status().code() == absl::StatusCode::kNotFound
                       : row.ok() && row->record == expected->record,
                   absl::StrCat(table, " Get: ", row.status().ToString()));
    }
    for (const std::string& index : model_.IndexNames(table)) {
      for (int i = 0; i < 20; ++i) {
        const size_t own = model_.OwnColumns(table, index);
        ScanRequest request{.table = table, .index = index};
        request.equal =
            maker_.RandomValues(model_, table, index, 1 + maker_.Below(own));
        ASSIGN_OR_RETURN(const std::vector<Row> rows,
                         engine_->GetBy({}, table, index, request.equal));
        Expect(model_.CheckScan(request, rows), "GetBy", request);
      }
    }
  }
  return absl::OkStatus();
}

absl::Status ModelRun::CompareScans() {
  for (int i = 0; i < kScansPerRound; ++i) {
    const ScanRequest request = maker_.RandomScan(model_);
    const absl::StatusOr<std::vector<Row>> rows =
        ReadPages({}, request, request.limit);
    Expect(rows.ok() ? model_.CheckScan(request, *rows) : rows.status(), "Scan",
           request);
  }
  return absl::OkStatus();
}

// Counters: all of them, in pages, and totals of random prefixes.
absl::Status ModelRun::CompareGroups() {
  for (const std::string& index : model_.CountingIndexNames("assets")) {
    const std::vector<Group> expected = model_.Groups("assets", index, {});
    std::vector<Group> groups;
    ScanRequest request{.table = "assets", .index = index};
    do {
      request.limit = 1 + maker_.Below(20);
      ASSIGN_OR_RETURN(const ScanEnd end,
                       engine_->ForEachGroup({}, request, [&](const Group& g) {
                         groups.push_back(g);
                         return true;
                       }));
      request.continuation = end.continuation;
    } while (!request.continuation.empty());
    bool same = groups.size() == expected.size();
    for (size_t i = 0; same && i < groups.size(); ++i) {
      same = groups[i].values == expected[i].values &&
             groups[i].count == expected[i].count &&
             groups[i].sum == expected[i].sum;
    }
    checks_.That(same, absl::StrCat("groups of ", index));
    for (int i = 0; i < 10; ++i) {
      const size_t own = model_.OwnColumns("assets", index);
      GroupRange range{.table = "assets", .index = index};
      range.equal =
          maker_.RandomValues(model_, "assets", index, maker_.Below(own + 1));
      ASSIGN_OR_RETURN(const Totals totals, engine_->Aggregate({}, range));
      uint64_t count = 0;
      absl::int128 sum = 0;
      for (const Group& g : model_.Groups("assets", index, range.equal)) {
        count += g.count;
        sum += g.sum;
      }
      ++compared_;
      checks_.That(totals.count == count && totals.sum == sum,
                   absl::StrCat("totals of ", index));
      checks_.That(range.equal.size() < own ||
                       (totals.work.gets == 1 && totals.work.seeks == 0),
                   "a whole group is one point read");
    }
  }
  return absl::OkStatus();
}

// One row per committed request that changed something, of its sequence.
absl::Status ModelRun::CompareAudit() {
  const ScanRequest request{.table = "audit"};
  ASSIGN_OR_RETURN(const std::vector<Row> rows, ReadPages({}, request, 1000));
  Expect(model_.CheckScan(request, rows), "audit", request);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Row>> ModelRun::ReadPages(const ReadOptions& options,
                                                     ScanRequest request,
                                                     uint64_t page_rows) {
  std::vector<Row> rows;
  request.limit = page_rows;
  do {
    ASSIGN_OR_RETURN(Page page, engine_->Scan(options, request));
    if (page.rows.size() > request.limit) {
      return absl::InternalError("a page is longer than its limit");
    }
    std::move(page.rows.begin(), page.rows.end(), std::back_inserter(rows));
    request.continuation = std::move(page.continuation);
    request.limit = 1 + (request.limit * 7 + 3) % 100;
  } while (!request.continuation.empty());
  return rows;
}

absl::StatusOr<std::vector<std::string>> ModelRun::Dump(
    const Snapshot& snapshot) {
  std::vector<std::string> dump;
  for (const char* table : {"assets", "places"}) {
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     ReadPages({.snapshot = &snapshot}, {.table = table}, 50));
    for (const Row& row : rows) {
      dump.push_back(absl::StrCat(table, "\n", row.key, "\n", row.record, "\n",
                                  static_cast<uint64_t>(row.version)));
    }
  }
  return dump;
}

void ModelRun::Expect(const absl::Status& status, std::string_view what,
                      const ScanRequest& request) {
  ++compared_;
  if (status.ok()) {
    checks_.That(true, what);
    return;
  }
  checks_.That(false,
               absl::StrCat(ToAbsl(what), " ", Describe(request), ": ",
                            status.ToString(), " at sequence=", sequence_));
}

bool ParseSettings(int argc, char** argv, Settings* settings) {
  settings->seed = std::random_device()();
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    const char* value = argv[i + 1];
    bool ok = true;
    if (flag == "--ops") {
      ok = absl::SimpleAtoi(value, &settings->ops);
    } else if (flag == "--seed") {
      ok = absl::SimpleAtoi(value, &settings->seed);
    } else if (flag == "--threads") {
      ok = absl::SimpleAtoi(value, &settings->threads) && settings->threads > 0;
    } else if (flag == "--store") {
      settings->store = value;
      ok = settings->store == "disk" || settings->store == "memory" ||
           settings->store == "both";
    } else {
      ok = false;
    }
    if (!ok) return false;
  }
  return argc % 2 == 1;
}

int Main(int argc, char** argv) {
  Settings settings;
  if (!ParseSettings(argc, argv, &settings)) {
    std::fprintf(stderr,
                 "usage: core_model [--ops N] [--seed N] [--threads N] "
                 "[--store disk|memory|both]\n");
    return 2;
  }
  std::printf("core-model: seed=%llu ops=%llu threads=%llu\n",
              static_cast<unsigned long long>(settings.seed),
              static_cast<unsigned long long>(settings.ops),
              static_cast<unsigned long long>(settings.threads));
  std::fflush(stdout);
  Checks checks("core-model");
  for (const bool in_memory : {false, true}) {
    if (settings.store != "both" &&
        settings.store != (in_memory ? "memory" : "disk")) {
      continue;
    }
    ModelRun run(settings, in_memory, &checks);
    checks.Ok(run.Run(), in_memory ? "run in memory" : "run on disk");
  }
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) { return dovetail::test::Main(argc, argv); }

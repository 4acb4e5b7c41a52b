// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// An index is added to a table of many rows while four writers put, move,
// patch and delete, and the process is killed again and again while it builds.
//
//   surface_build [--rows N] [--kills N] [--seed N] [--no-timing]
//
// After each kill the database opens, and the build goes on where it stopped.
// Once an index is readable verify must be clean, and its entries must be,
// byte for byte, those of an index that is built in one go without writers.
// At the end the writers' latencies are measured before, during and after a
// build: their 99th percentile during it may be three times that of before.

#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "dovetail/engine.h"
#include "dovetail/presets.h"
#include "dovetail/v1/catalog.pb.h"
#include "dovetail/v1/order.pb.h"
#include "engine/keyspace.h"
#include "engine/storage/store.h"
#include "tests/support/checks.h"
#include "tests/support/temp_dir.h"

extern char** environ;

namespace dovetail::test {
namespace {

constexpr int kWriters = 4;
constexpr char kTable[] = "orders";
constexpr char kIndex[] = "by_note";

Schema Orders() {
  Schema schema;
  schema.Add(presets::SellerOrders(kTable));
  return schema;
}

v1::IndexSchema ByNote() {
  return ValueIndex(kIndex, {Field("note"), Field("ts_ms").Desc()});
}

std::string OrderId(uint64_t i) { return absl::StrFormat("o-%07d", i); }

v1::Order MakeOrder(uint64_t i, std::mt19937_64& random) {
  v1::Order order;
  order.set_order_id(OrderId(i));
  order.set_seller_id(absl::StrCat("s-", random() % 1000));
  order.set_ts_ms(static_cast<int64_t>(1'600'000'000'000 + i));
  order.set_status(static_cast<v1::OrderStatus>(1 + random() % 3));
  order.set_note(absl::StrCat("note ", random() % 5000));
  return order;
}

// One change of an order of this writer: a put of all of it under the same or
// another row key, a patch, or a deletion.
WriteBatch AnyChange(uint64_t rows, int writer, std::mt19937_64& random) {
  const uint64_t i = random() % (rows / kWriters) * kWriters + writer;
  WriteBatch batch;
  switch (random() % 4) {
    case 0:
      batch.Delete(kTable, RowRef::By("by_order_id", {OrderId(i)}));
      return batch;
    case 1: {
      v1::Order change;
      change.set_note(absl::StrCat("changed ", random() % 5000));
      batch.Patch(kTable,
                  RowRef::By("by_order_id", {OrderId(i)}, RowRef::Match::kAll),
                  change.SerializeAsString(), {"note"});
      return batch;
    }
    default:  // Its seller is drawn anew, so most of these move the row.
      batch.Put(kTable, MakeOrder(i, random).SerializeAsString());
      return batch;
  }
}

// Writes until `stop`; appends the latencies, in microseconds, to `latencies`
// if that is not null.
absl::Status WriteUntil(Engine& engine, uint64_t rows, int writer,
                        uint64_t seed, const std::atomic<bool>& stop,
                        std::vector<int64_t>* latencies) {
  std::mt19937_64 random(seed * kWriters + writer);
  while (!stop.load(std::memory_order_relaxed)) {
    const WriteBatch batch = AnyChange(rows, writer, random);
    const auto begin = std::chrono::steady_clock::now();
    RETURN_IF_ERROR(engine.Write({}, batch).status());
    if (latencies == nullptr) continue;
    latencies->push_back(std::chrono::duration_cast<std::chrono::microseconds>(
                             std::chrono::steady_clock::now() - begin)
                             .count());
  }
  return absl::OkStatus();
}

absl::StatusOr<IndexInfo> InfoOf(Engine& engine) {
  ASSIGN_OR_RETURN(const std::vector<IndexInfo> list, engine.ListIndexes());
  for (const IndexInfo& info : list) {
    if (info.index == kIndex && info.state != IndexState::kDropping) {
      return info;
    }
  }
  return absl::NotFoundError("not there");
}

// The process that is killed: adds the index if it is not there, and writes
// while the engine builds it.
int Victim(const std::string& directory, uint64_t rows, uint64_t seed) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto engine = Engine::Open(directory, Orders());
  if (!engine.ok()) {
    std::fprintf(stderr, "%s\n", engine.status().ToString().c_str());
    return 1;
  }
  if (absl::IsNotFound(InfoOf(**engine).status()) &&
      !(*engine)->AddIndex(kTable, ByNote()).ok()) {
    return 1;
  }
  const char ready = 'r';
  if (write(STDOUT_FILENO, &ready, 1) != 1) return 1;
  const std::atomic<bool> never{false};
  std::vector<std::thread> writers;
  for (int t = 0; t < kWriters; ++t) {
    writers.emplace_back([&, t] {
      const absl::Status status =
          WriteUntil(**engine, rows, t, seed, never, nullptr);
      std::fprintf(stderr, "%s\n", status.ToString().c_str());
      _exit(1);
    });
  }
  for (std::thread& writer : writers) writer.join();
  return 1;
}

class Run {
 public:
  Run(std::string program, uint64_t rows, int kills, uint64_t seed,
      Checks* checks)
      : program_(std::move(program)),
        rows_(rows),
        kills_(kills),
        seed_(seed),
        random_(seed),
        checks_(*checks) {}

  absl::Status All(bool timing) {
    RETURN_IF_ERROR(Load());
    RETURN_IF_ERROR(Kills());
    return timing ? Timing() : absl::OkStatus();
  }

 private:
  absl::StatusOr<std::unique_ptr<Engine>> Open(bool background) {
    Options options;
    options.background_work = background;
    return Engine::Open(directory_, Orders(), options);
  }

  absl::Status Load() {
    ASSIGN_OR_RETURN(const auto engine, Open(false));
    for (uint64_t i = 0; i < rows_;) {
      WriteBatch batch;
      for (int k = 0; k < 500 && i < rows_; ++k, ++i) {
        batch.Put(kTable, MakeOrder(i, random_).SerializeAsString());
      }
      RETURN_IF_ERROR(engine->Write({}, batch).status());
    }
    std::printf("loaded  rows=%llu\n", static_cast<unsigned long long>(rows_));
    return engine->Close();
  }

  // Starts a victim, waits until it writes, and kills it some time later.
  void KillOnce(uint64_t round) {
    int fds[2];
    if (!checks_.That(pipe(fds) == 0, "pipe")) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, fds[0]);
    std::vector<std::string> arguments = {program_, "--victim", directory_,
                                          absl::StrCat(rows_),
                                          absl::StrCat(seed_ * 1000 + round)};
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_t pid = 0;
    const int spawned = posix_spawn(&pid, program_.c_str(), &actions, nullptr,
                                    argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    char ready = 0;
    if (checks_.That(spawned == 0, "the victim starts") &&
        checks_.That(read(fds[0], &ready, 1) == 1, "the victim writes")) {
      std::this_thread::sleep_for(
          std::chrono::milliseconds(20 + random_() % 400));
    }
    close(fds[0]);
    kill(pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    checks_.That(WIFSIGNALED(status), "the victim ran until it was killed");
  }

  absl::Status Kills() {
    int building = 0;
    int finished = 0;
    uint64_t round = 0;
    for (; building < kills_ && round < 20u * kills_; ++round) {
      KillOnce(round);
      ASSIGN_OR_RETURN(auto engine, Open(false));
      ASSIGN_OR_RETURN(const IndexInfo info, InfoOf(*engine));
      building += info.state == IndexState::kBuilding ? 1 : 0;
      const bool last = building == kills_;
      if (info.state == IndexState::kBuilding && !last) continue;
      if (last) {
        ASSIGN_OR_RETURN(const BuildReport report,
                         engine->BuildIndex(kTable, kIndex, {}));
        checks_.That(report.state == IndexState::kReadable,
                     "the build that was killed last comes to its end");
      }
      ++finished;
      RETURN_IF_ERROR(CheckReadable(std::move(engine)));
    }
    checks_.Equal(building, kills_, "kills of a building process");
    std::printf("killed  while_building=%d in_all=%llu builds=%d\n", building,
                static_cast<unsigned long long>(round), finished);
    return absl::OkStatus();
  }

  // Verify is clean, and the entries are those of a fresh build. Leaves the
  // database without the index.
  absl::Status CheckReadable(std::unique_ptr<Engine> engine) {
    ASSIGN_OR_RETURN(const VerifyReport report, engine->Verify({}));
    checks_.That(report.clean(), absl::StrCat("verify: ", report.Summary()));
    RETURN_IF_ERROR(engine->Close());
    engine.reset();
    ASSIGN_OR_RETURN(const auto built, Entries());

    ASSIGN_OR_RETURN(engine, Open(false));
    RETURN_IF_ERROR(engine->DropIndex(kTable, kIndex));
    RETURN_IF_ERROR(engine->AddIndex(kTable, ByNote()));
    ASSIGN_OR_RETURN(const BuildReport fresh,
                     engine->BuildIndex(kTable, kIndex, {}));
    checks_.That(!fresh.resumed, "the fresh build starts from nothing");
    RETURN_IF_ERROR(engine->Close());
    engine.reset();
    ASSIGN_OR_RETURN(const auto again, Entries());
    checks_.Equal(built.size(), again.size(), "entries of both builds");
    checks_.That(built == again, "both builds made the same bytes");
    std::printf("checked rows=%llu entries=%zu identical=%s\n",
                static_cast<unsigned long long>(report.rows), built.size(),
                built == again ? "yes" : "no");
    std::fflush(stdout);

    ASSIGN_OR_RETURN(engine, Open(false));
    RETURN_IF_ERROR(engine->DropIndex(kTable, kIndex));
    return engine->Close();
  }

  // The index's entries as they are on disk, keys without the space's prefix.
  absl::StatusOr<std::vector<std::pair<std::string, std::string>>> Entries() {
    LevelDbStoreOptions options;
    options.file_system = FileSystem::Posix();
    StoreOpenReport report;
    ASSIGN_OR_RETURN(const auto store,
                     OpenLevelDbStore(directory_, options, &report));
    std::string bytes;
    ASSIGN_OR_RETURN(const bool found, store->Get({}, CatalogKey(), &bytes));
    v1::Catalog catalog;
    if (!found || !catalog.ParseFromString(bytes)) {
      return absl::DataLossError("no catalog");
    }
    std::vector<std::pair<std::string, std::string>> entries;
    for (const v1::CatalogIndex& index : catalog.tables(0).indexes()) {
      if (index.name() != kIndex) continue;
      const std::string prefix = SpacePrefix(SpaceId{index.space().number()});
      const auto it = store->NewIterator({});
      for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix);
           it->Next()) {
        entries.emplace_back(it->key().substr(prefix.size()), it->value());
      }
      RETURN_IF_ERROR(it->status());
    }
    return entries;
  }

  struct Latencies {
    int64_t p50 = 0;
    int64_t p99 = 0;
    size_t writes = 0;
  };

  // The writers' latencies while `meanwhile` runs.
  template <typename F>
  absl::StatusOr<Latencies> Measure(Engine& engine, F meanwhile) {
    std::atomic<bool> stop{false};
    std::vector<int64_t> latencies[kWriters];
    absl::Status statuses[kWriters];
    std::vector<std::thread> writers;
    for (int t = 0; t < kWriters; ++t) {
      writers.emplace_back([&, t] {
        statuses[t] =
            WriteUntil(engine, rows_, t, random_(), stop, &latencies[t]);
      });
    }
    const absl::Status status = meanwhile();
    stop.store(true);
    for (std::thread& writer : writers) writer.join();
    RETURN_IF_ERROR(status);
    std::vector<int64_t> all;
    for (int t = 0; t < kWriters; ++t) {
      RETURN_IF_ERROR(statuses[t]);
      all.insert(all.end(), latencies[t].begin(), latencies[t].end());
    }
    std::sort(all.begin(), all.end());
    if (all.empty()) return absl::InternalError("no writes");
    return Latencies{all[all.size() / 2], all[all.size() * 99 / 100],
                     all.size()};
  }

  absl::Status Timing() {
    ASSIGN_OR_RETURN(const auto engine, Open(false));
    const auto wait = [] {
      std::this_thread::sleep_for(std::chrono::seconds(8));
      return absl::OkStatus();
    };
    ASSIGN_OR_RETURN(const Latencies before, Measure(*engine, wait));
    const auto begin = std::chrono::steady_clock::now();
    ASSIGN_OR_RETURN(const Latencies during, Measure(*engine, [&] {
                       RETURN_IF_ERROR(engine->AddIndex(kTable, ByNote()));
                       return engine->BuildIndex(kTable, kIndex, {}).status();
                     }));
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count();
    ASSIGN_OR_RETURN(const Latencies after, Measure(*engine, wait));
    const auto print = [](const char* when, const Latencies& l) {
      std::printf("%-7s p50_us=%lld p99_us=%lld writes=%zu\n", when,
                  static_cast<long long>(l.p50), static_cast<long long>(l.p99),
                  l.writes);
    };
    print("before", before);
    print("during", during);
    print("after", after);
    const double ratio = static_cast<double>(during.p99) /
                         static_cast<double>(std::max<int64_t>(1, before.p99));
    std::printf("build   seconds=%.1f p99_ratio=%.2f\n", seconds, ratio);
    checks_.That(ratio <= 3, "the writers' p99 is within three times");
    ASSIGN_OR_RETURN(const VerifyReport report, engine->Verify({}));
    checks_.That(report.clean(), absl::StrCat("verify: ", report.Summary()));
    return engine->Close();
  }

  const std::string program_;
  const uint64_t rows_;
  const int kills_;
  const uint64_t seed_;
  std::mt19937_64 random_;
  Checks& checks_;
  TempDir dir_;
  const std::string directory_ = dir_.Sub("db");
};

int Main(int argc, char** argv) {
  uint64_t rows = 500'000;
  uint64_t kills = 50;
  uint64_t seed = 1;
  bool timing = true;
  if (argc == 5 && std::string_view(argv[1]) == "--victim") {
    if (!absl::SimpleAtoi(argv[3], &rows) ||
        !absl::SimpleAtoi(argv[4], &seed)) {
      return 2;
    }
    return Victim(argv[2], rows, seed);
  }
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    uint64_t* value = flag == "--rows"    ? &rows
                      : flag == "--kills" ? &kills
                      : flag == "--seed"  ? &seed
                                          : nullptr;
    if (flag == "--no-timing") {
      timing = false;
    } else if (value == nullptr || ++i == argc ||
               !absl::SimpleAtoi(argv[i], value)) {
      std::fprintf(stderr,
                   "usage: surface_build [--rows N] [--kills N] "
                   "[--seed N] [--no-timing]\n");
      return 2;
    }
  }
  std::printf("seed=%llu\n", static_cast<unsigned long long>(seed));
  Checks checks("surface-build");
  Run run("/proc/self/exe", rows, static_cast<int>(kills), seed, &checks);
  checks.Ok(run.All(timing), "run");
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) { return dovetail::test::Main(argc, argv); }

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A consumer of the change feed keeps a copy of a database. The process with
// both is killed again and again; the copy must equal the database at every
// thousandth commit, and have each commit exactly once.
//
//   surface_feed [--commits N] [--kills N] [--seed N]
//
// The writer stops at each multiple of 1,000 until the copy is there, and the
// two are compared row by row. The copy keeps the sequence of the last commit
// it has in the same request as that commit's rows, so that what is delivered
// again after a kill is known, and counted.

#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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
#include "base/status_macros.h"
#include "dovetail/engine.h"
#include "dovetail/presets.h"
#include "dovetail/v1/order.pb.h"
#include "tests/support/checks.h"
#include "tests/support/temp_dir.h"

extern char** environ;

namespace dovetail::test {
namespace {

constexpr uint64_t kStep = 1000;
constexpr uint64_t kOrders = 2000;
constexpr char kTable[] = "orders";
constexpr char kPlace[] = "place";  // In the copy: one row, the sequence.

Schema SourceSchema() {
  Schema schema;
  schema.Add(presets::SellerOrders(kTable));
  return schema;
}

Schema CopySchema() {
  Schema schema = SourceSchema();
  schema.Add(TableBuilder(kPlace, v1::Order::descriptor())
                 .RowKey({Field("order_id")}));
  return schema;
}

// Request number `n`: it follows from the seed and `n` alone.
WriteBatch AnyRequest(uint64_t seed, uint64_t n) {
  std::mt19937_64 random(seed * 1'000'003 + n);
  WriteBatch batch;
  const int mutations = 1 + static_cast<int>(random() % 3);
  for (int i = 0; i < mutations; ++i) {
    const std::string id = absl::StrCat("o-", random() % kOrders);
    if (random() % 4 == 0) {
      batch.Delete(kTable, RowRef::By("by_order_id", {id}));
      continue;
    }
    v1::Order order;
    order.set_order_id(id);
    order.set_seller_id(absl::StrCat("s-", random() % 50));
    order.set_ts_ms(static_cast<int64_t>(random() % 1'000'000));
    order.set_status(static_cast<v1::OrderStatus>(1 + random() % 3));
    batch.Put(kTable, order.SerializeAsString());
  }
  return batch;
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> RowsOf(
    Engine& engine, const ReadOptions& options) {
  std::vector<std::pair<std::string, std::string>> rows;
  ScanRequest all = {.table = kTable, .limit = UINT64_MAX};
  RETURN_IF_ERROR(engine
                      .ForEach(options, all,
                               [&](const RowView& row) {
                                 rows.emplace_back(row.key, row.record);
                                 return true;
                               })
                      .status());
  return rows;
}

// The sequence of the last commit in the copy.
absl::StatusOr<uint64_t> PlaceOf(Engine& copy) {
  const absl::StatusOr<Row> row = copy.Get({}, kPlace, {"place"});
  if (absl::IsNotFound(row.status())) return 0;
  RETURN_IF_ERROR(row.status());
  v1::Order place;
  if (!place.ParseFromString(row->record)) return absl::DataLossError("place");
  return static_cast<uint64_t>(place.ts_ms());
}

// The process that is killed: a writer, the consumer, and the comparisons.
class Pair {
 public:
  Pair(uint64_t commits, uint64_t seed) : commits_(commits), seed_(seed) {}

  absl::Status Run(const std::string& directory) {
    ASSIGN_OR_RETURN(source_,
                     Engine::Open(directory + "/source", SourceSchema()));
    ASSIGN_OR_RETURN(copy_, Engine::Open(directory + "/copy", CopySchema()));
    const absl::Status enabled =
        source_->EnableChangeFeed({.commits_max = 5 * kStep});
    if (!enabled.ok() && !absl::IsAlreadyExists(enabled)) return enabled;
    ASSIGN_OR_RETURN(feed_, source_->OpenFeed("copy", FeedStart::kOldest));
    ASSIGN_OR_RETURN(const uint64_t place, PlaceOf(*copy_));
    applied_.store(place);
    absl::Status consumed;
    std::thread consumer([&] {
      consumed = Consume();
      if (!consumed.ok()) failed_.store(true);
    });
    const absl::Status written = Write();
    stop_.store(true);
    consumer.join();
    RETURN_IF_ERROR(written);
    return consumed;
  }

 private:
  absl::Status Write() {
    ASSIGN_OR_RETURN(const Snapshot before, source_->GetSnapshot());
    for (auto n = static_cast<uint64_t>(before.sequence()); n <= commits_;
         ++n) {
      if (n % kStep == 0) RETURN_IF_ERROR(Compare(n));
      if (n == commits_) break;
      ASSIGN_OR_RETURN(const Commit commit,
                       source_->Write({}, AnyRequest(seed_, n + 1)));
      if (static_cast<uint64_t>(commit.sequence) != n + 1) {
        return absl::InternalError("the writer lost count");
      }
    }
    return absl::OkStatus();
  }

  absl::Status Compare(uint64_t n) {
    while (applied_.load() < n) {
      if (failed_.load()) return absl::OkStatus();  // The consumer says why.
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    ASSIGN_OR_RETURN(const auto theirs, RowsOf(*source_, {}));
    ASSIGN_OR_RETURN(const auto ours, RowsOf(*copy_, {}));
    if (theirs != ours) {
      return absl::DataLossError(absl::StrCat("the copy differs: sequence=", n,
                                              " rows=", theirs.size(),
                                              " in_copy=", ours.size()));
    }
    // One line for each comparison, to the process that counts them.
    std::printf("equal %llu rows %zu\n", static_cast<unsigned long long>(n),
                ours.size());
    std::fflush(stdout);
    return absl::OkStatus();
  }

  absl::Status Consume() {
    v1::WriteLogRecord change;
    while (!stop_.load()) {
      ASSIGN_OR_RETURN(const bool more,
                       feed_->Next(&change, std::chrono::milliseconds(20)));
      if (!more) continue;
      if (change.sequence() <= applied_.load()) {
        std::printf("again %llu\n",
                    static_cast<unsigned long long>(change.sequence()));
      } else if (change.sequence() != applied_.load() + 1) {
        return absl::DataLossError(absl::StrCat(
            "the feed left commits out: sequence=", change.sequence(),
            " applied=", applied_.load()));
      } else {
        RETURN_IF_ERROR(Apply(change));
        applied_.store(change.sequence());
      }
      if (change.sequence() % 7 == 0) {
        RETURN_IF_ERROR(feed_->Acknowledge(SequenceNumber{change.sequence()}));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Apply(const v1::WriteLogRecord& change) {
    WriteBatch batch;
    for (const v1::RowEffect& effect : change.effects()) {
      if (effect.has_record()) {
        batch.Put(kTable, effect.record());  // Moves with its identity.
        continue;
      }
      batch.Delete(kTable, RowRef::EncodedKey(effect.new_key()));
    }
    v1::Order place;
    place.set_order_id("place");
    place.set_ts_ms(static_cast<int64_t>(change.sequence()));
    batch.Put(kPlace, place.SerializeAsString());
    return copy_->Write({}, batch).status();
  }

  const uint64_t commits_;
  const uint64_t seed_;
  std::unique_ptr<Engine> source_;
  std::unique_ptr<Engine> copy_;
  std::unique_ptr<ChangeFeed> feed_;
  std::atomic<uint64_t> applied_{0};
  std::atomic<bool> stop_{false};
  std::atomic<bool> failed_{false};
};

struct Tally {
  uint64_t comparisons = 0;
  uint64_t again = 0;
  uint64_t last_equal = 0;
};

// Runs the pair; kills it after `millis`, or lets it come to its end if that
// is 0. True if it ended by itself, and well.
bool RunPair(const std::vector<std::string>& arguments, uint64_t millis,
             Checks& checks, Tally* tally) {
  int fds[2];
  if (!checks.That(pipe(fds) == 0, "pipe")) return false;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, fds[0]);
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv;
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int spawned =
      posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(fds[1]);
  if (!checks.That(spawned == 0, "the process starts")) return false;
  std::thread killer;
  if (millis > 0) {
    killer = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(millis));
      kill(pid, SIGKILL);
    });
  }
  FILE* lines = fdopen(fds[0], "r");
  char line[128];
  while (std::fgets(line, sizeof(line), lines) != nullptr) {
    const std::string_view text = line;
    tally->again += text.starts_with("again") ? 1 : 0;
    if (text.starts_with("equal")) {
      ++tally->comparisons;
      tally->last_equal = std::strtoull(line + 6, nullptr, 10);
    }
  }
  std::fclose(lines);
  if (killer.joinable()) killer.join();
  int status = 0;
  waitpid(pid, &status, 0);
  const bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  checks.That(ended || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL),
              "it ended well or was killed");
  return ended;
}

int Main(int argc, char** argv) {
  uint64_t commits = 300'000;
  uint64_t kills = 50;
  uint64_t seed = 1;
  if (argc == 5 && std::string_view(argv[1]) == "--pair") {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!absl::SimpleAtoi(argv[3], &commits) ||
        !absl::SimpleAtoi(argv[4], &seed)) {
      return 2;
    }
    const absl::Status status = Pair(commits, seed).Run(argv[2]);
    if (status.ok()) return 0;
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    uint64_t* value = flag == "--commits" ? &commits
                      : flag == "--kills" ? &kills
                      : flag == "--seed"  ? &seed
                                          : nullptr;
    if (value == nullptr || ++i == argc || !absl::SimpleAtoi(argv[i], value)) {
      std::fprintf(
          stderr, "usage: surface_feed [--commits N] [--kills N] [--seed N]\n");
      return 2;
    }
  }
  std::printf("seed=%llu\n", static_cast<unsigned long long>(seed));
  Checks checks("surface-feed");
  TempDir dir;
  const std::vector<std::string> arguments = {"/proc/self/exe", "--pair",
                                              dir.path(), absl::StrCat(commits),
                                              absl::StrCat(seed)};
  std::mt19937_64 random(seed);
  Tally tally;
  uint64_t killed = 0;
  while (killed < kills) {
    if (RunPair(arguments, 30 + random() % 120, checks, &tally)) break;
    if (checks.failed() > 0) return checks.Finish();
    ++killed;
  }
  checks.Equal(killed, kills, "kills before the last commit");
  checks.That(RunPair(arguments, 0, checks, &tally), "comes to its end");
  checks.Equal(tally.last_equal, commits, "the last comparison");
  checks.That(tally.comparisons >= commits / kStep + 1,
              "a comparison at every thousandth commit");
  for (const auto& [name, schema] :
       {std::pair("source", SourceSchema()), std::pair("copy", CopySchema())}) {
    const auto engine = Engine::Open(dir.Sub(name), schema);
    if (!checks.Ok(engine.status(), "open")) continue;
    const auto report = (*engine)->Verify({});
    checks.That(report.ok() && report->clean(), absl::StrCat("verify ", name));
  }
  std::printf("commits=%llu kills=%llu comparisons=%llu delivered_again=%llu\n",
              static_cast<unsigned long long>(commits),
              static_cast<unsigned long long>(killed),
              static_cast<unsigned long long>(tally.comparisons),
              static_cast<unsigned long long>(tally.again));
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) { return dovetail::test::Main(argc, argv); }

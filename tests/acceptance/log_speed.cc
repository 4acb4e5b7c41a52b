// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A replay beside Engine::Write of the same effects, in one run, in turns.
//
//   log_speed [--records N] [--rounds N] [--batch N] [--no-goals]
//
// A record is an order that is placed, or one of the newest whose status
// changes; two indexes follow. Three ways into an empty database:
//
//   write    one Engine::Write a record, of one put
//   batches  the same puts, as many to a request as the replay has to a commit
//   replay   the write log of them
//
// Each in a process of its own, whose memory is looked at on the way: that of
// a replay must not grow with the log.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dovetail/engine.h"
#include "dovetail/presets.h"
#include "dovetail/replay.h"
#include "dovetail/v1/order.pb.h"
#include "tests/support/checks.h"
#include "tests/support/stored_content.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

constexpr uint64_t kSellers = 5000;
constexpr size_t kOpenOrders = 20'000;

Schema Orders() {
  Schema schema;
  schema.Add(presets::SellerOrders("orders"));
  return schema;
}

// The same orders in every process.
class Workload {
 public:
  void Next(std::string* record) {
    const bool is_new = open_.size() < 1000 || random_() % 10 < 4;
    if (!is_new) {
      v1::Order& order = open_[random_() % open_.size()];
      order.set_status(static_cast<v1::OrderStatus>((order.status() + 1) % 9));
      *record = order.SerializeAsString();
      return;
    }
    v1::Order order;
    order.set_order_id(absl::StrCat("order-", 10'000'000 + count_));
    order.set_seller_id(absl::StrCat("seller-", random_() % kSellers));
    order.set_ts_ms(1'700'000'000'000 + static_cast<int64_t>(count_++) * 100);
    order.set_note(absl::StrCat("to be left at door ", random_() % 1'000'000));
    *record = order.SerializeAsString();
    open_.push_back(std::move(order));
    if (open_.size() > kOpenOrders) open_.pop_front();
  }

 private:
  std::mt19937_64 random_{1};
  std::deque<v1::Order> open_;
  uint64_t count_ = 0;
};

absl::Status MakeLog(const std::string& directory, const std::string& log,
                     uint64_t records) {
  Options options;
  options.write_log = WriteLogOptions{.directory = log};
  ASSIGN_OR_RETURN(const auto engine,
                   Engine::Open(directory, Orders(), options));
  Workload workload;
  std::string record;
  for (uint64_t n = 0; n < records; ++n) {
    workload.Next(&record);
    RETURN_IF_ERROR(
        engine->Write({}, WriteBatch().Put("orders", record)).status());
  }
  return engine->Close();
}

uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t size = 0;
  uint64_t resident = 0;
  statm >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

struct Outcome {
  double seconds = 0;
  // Of the process, all of its threads, until everything is written.
  double cpu_seconds = 0;
  uint64_t content = 0;
  // Resident memory after a third of the records, and the most after it.
  uint64_t early_bytes = 0;
  uint64_t late_bytes = 0;
};

class Memory {
 public:
  explicit Memory(uint64_t records) : records_(records) {}
  void At(uint64_t done) {
    if (done < records_ / 3) return;
    const uint64_t now = ResidentBytes();
    if (early == 0) early = now;
    late = std::max(late, now);
  }
  uint64_t early = 0;
  uint64_t late = 0;

 private:
  const uint64_t records_;
};

double CpuSeconds(int who) {
  rusage usage = {};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double Seconds(int64_t start_us) {
  return static_cast<double>(Clock::System()->MonotonicMicros() - start_us) /
         1e6;
}

absl::StatusOr<Outcome> RunWrites(const std::string& database, uint64_t records,
                                  uint64_t batch) {
  ASSIGN_OR_RETURN(const auto engine, Engine::Open(database, Orders()));
  Workload workload;
  Memory memory(records);
  std::string record;
  double seconds = 0;
  double making = 0;
  for (uint64_t done = 0; done < records;) {
    const double before_making = CpuSeconds(RUSAGE_THREAD);
    // Made beforehand, so that only the writing is timed.
    std::vector<WriteBatch> requests(std::max<uint64_t>(1, 1000 / batch));
    for (WriteBatch& request : requests) {
      for (uint64_t n = 0; n < batch && done < records; ++n, ++done) {
        workload.Next(&record);
        request.Put("orders", record);
      }
    }
    making += CpuSeconds(RUSAGE_THREAD) - before_making;
    const int64_t start = Clock::System()->MonotonicMicros();
    for (WriteBatch& request : requests) {
      RETURN_IF_ERROR(engine->Write({}, std::move(request)).status());
    }
    seconds += Seconds(start);
    memory.At(done);
  }
  const double cpu = CpuSeconds(RUSAGE_SELF) - making;
  return Outcome{seconds, cpu, ContentHash(*engine, Versions::kIgnore),
                 memory.early, memory.late};
}

absl::StatusOr<Outcome> RunReplay(const std::string& database,
                                  const std::string& log, uint64_t records,
                                  uint64_t batch) {
  ASSIGN_OR_RETURN(const auto engine, Engine::Open(database, Orders()));
  const auto source = OpenWriteLogSource(FileSystem::Posix(), log);
  Memory memory(records);
  ReplayOptions options;
  options.batch_items = batch;
  options.progress_interval_us = 20'000;
  options.progress = [&memory](const ReplayReport& report) {
    memory.At(report.applied);
    return true;
  };
  const int64_t start = Clock::System()->MonotonicMicros();
  ASSIGN_OR_RETURN(const auto replayer,
                   Replayer::Open(engine.get(), source.get(), options));
  RETURN_IF_ERROR(replayer->Run());
  const double seconds = Seconds(start);
  const double cpu = CpuSeconds(RUSAGE_SELF);
  if (replayer->report().applied != records ||
      replayer->report().rows_were_read) {
    return absl::InternalError("not all was applied as it should be");
  }
  return Outcome{seconds, cpu, ContentHash(*engine, Versions::kIgnore),
                 memory.early, memory.late};
}

// Runs `work` in a child process.
absl::StatusOr<Outcome> InChild(
    const std::function<absl::StatusOr<Outcome>()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return absl::InternalError("no pipe");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    absl::StatusOr<Outcome> outcome = work();
    if (!outcome.ok()) {
      std::fprintf(stderr, "%s\n", outcome.status().ToString().c_str());
      _exit(1);
    }
    const bool written =
        write(ends[1], &*outcome, sizeof(Outcome)) == sizeof(Outcome);
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Outcome outcome;
  const bool got = read(ends[0], &outcome, sizeof(outcome)) == sizeof(outcome);
  close(ends[0]);
  int result = 0;
  waitpid(child, &result, 0);
  if (!got || result != 0) return absl::InternalError("the child failed");
  return outcome;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

absl::Status Run(uint64_t records, uint64_t rounds, uint64_t batch, bool goals,
                 Checks& checks) {
  TempDir dir;
  const std::string log = dir.Sub("log");
  RETURN_IF_ERROR(InChild([&]() -> absl::StatusOr<Outcome> {
                    RETURN_IF_ERROR(MakeLog(dir.Sub("recorded"), log, records));
                    return Outcome();
                  }).status());
  std::vector<double> seconds[3];
  std::vector<double> cpu[3];
  uint64_t content = 0;
  uint64_t growth = 0;
  const char* const names[] = {"write", "batches", "replay"};
  for (uint64_t round = 0; round < rounds; ++round) {
    for (int way = 0; way < 3; ++way) {
      const std::string database = dir.Sub("database");
      std::filesystem::remove_all(database);
      ASSIGN_OR_RETURN(const Outcome outcome, InChild([&] {
                         return way == 2
                                    ? RunReplay(database, log, records, batch)
                                    : RunWrites(database, records,
                                                way == 0 ? 1 : batch);
                       }));
      seconds[way].push_back(outcome.seconds);
      cpu[way].push_back(outcome.cpu_seconds);
      std::printf(
          "%-10s %8.2f s %8.2f s of CPU %9.0f records/s  resident %4.0f to "
          "%4.0f MiB\n",
          names[way], outcome.seconds, outcome.cpu_seconds,
          static_cast<double>(records) / outcome.seconds,
          static_cast<double>(outcome.early_bytes) / (1 << 20),
          static_cast<double>(outcome.late_bytes) / (1 << 20));
      std::fflush(stdout);
      if (content == 0) content = outcome.content;
      checks.Equal(outcome.content, content,
                   absl::StrCat("content of ", names[way]));
      if (way == 2 && outcome.late_bytes > outcome.early_bytes) {
        growth = std::max(growth, outcome.late_bytes - outcome.early_bytes);
      }
    }
  }
  const double replay = Median(seconds[2]);
  std::printf("replay is %.2f times as fast as write, %.2f as batches\n",
              Median(seconds[0]) / replay, Median(seconds[1]) / replay);
  std::printf("in CPU time %.2f and %.2f times\n",
              Median(cpu[0]) / Median(cpu[2]), Median(cpu[1]) / Median(cpu[2]));
  std::printf("log: %llu records, %.0f MiB\n",
              static_cast<unsigned long long>(records),
              static_cast<double>([&] {
                uint64_t bytes = 0;
                for (const auto& f : std::filesystem::directory_iterator(log)) {
                  bytes += f.is_regular_file() ? f.file_size() : 0;
                }
                return bytes;
              }()) /
                  (1 << 20));
  if (!goals) return absl::OkStatus();
  checks.That(Median(seconds[0]) / replay >= 1.5,
              "replay is 1.5 times as fast as write");
  checks.That(growth < 32 << 20, "memory does not grow with the log");
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  uint64_t records = 1'000'000;
  uint64_t rounds = 3;
  uint64_t batch = ReplayOptions().batch_items;
  bool goals = true;
  bool ok = true;
  for (int i = 1; ok && i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--no-goals") {
      goals = false;
      continue;
    }
    ok = i + 1 < argc &&
         ((flag == "--records" && absl::SimpleAtoi(argv[i + 1], &records)) ||
          (flag == "--rounds" && absl::SimpleAtoi(argv[i + 1], &rounds)) ||
          (flag == "--batch" && absl::SimpleAtoi(argv[i + 1], &batch)));
    ++i;
  }
  if (!ok || records == 0 || rounds == 0 || batch == 0) {
    std::fprintf(stderr,
                 "usage: log_speed [--records N] [--rounds N] [--batch N] "
                 "[--no-goals]\n");
    return 2;
  }
  Checks checks("log-speed");
  checks.Ok(Run(records, rounds, batch, goals, checks), "run");
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) { return dovetail::test::Main(argc, argv); }

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Write logs cut off at any place: what is whole of one is replayed, the
// database is opened again, and the whole log is replayed into it. In the end
// it must hold what the recording database holds, byte by byte, versions
// included.
//
//   log_prefixes [--records N] [--cuts N] [--tail N] [--seed N]
//
// A log of N real orders and their status changes, in several files, is cut at
// random places; one of 200 records, in one file, at every byte of its last N
// records. The prefix must apply exactly the records that are whole in it.

#include <cstdio>
#include <filesystem>
#include <map>
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
#include "tests/support/data.h"
#include "tests/support/stored_content.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kShortRecords = 200;

Schema Orders() {
  Schema schema;
  schema.Add(presets::SellerOrders("orders"));
  return schema;
}

v1::OrderStatus StatusNamed(std::string_view name) {
  for (int i = 0; i < v1::OrderStatus_ARRAYSIZE; ++i) {
    std::string known = v1::OrderStatus_Name(i);
    for (char& c : known) c = static_cast<char>(std::tolower(c));
    if (known == name) return static_cast<v1::OrderStatus>(i);
  }
  return v1::CREATED;
}

// The first `records` status changes, each a request: those of step 0 put the
// order, the others patch it.
absl::Status WriteOlist(Engine& engine, uint64_t records) {
  uint64_t left = records;
  const absl::Status enough = absl::CancelledError("enough");
  const auto write = [&](std::vector<std::string>& row) -> absl::Status {
    if (left == 0) return enough;
    v1::Order order;
    order.set_order_id(row[1]);
    order.set_seller_id(row[1].substr(0, 2));
    order.set_status(StatusNamed(row[3]));
    WriteBatch batch;
    if (row[2] == "0") {
      ASSIGN_OR_RETURN(const int64_t ts_ms, ParseTimeMs(row[0]));
      order.set_ts_ms(ts_ms);
      batch.Put("orders", order.SerializeAsString());
    } else {
      batch.Patch("orders",
                  RowRef::By("by_order_id", {row[1]}, RowRef::Match::kAll),
                  order.SerializeAsString(), {"status"});
    }
    --left;
    return engine.Write({}, batch).status();
  };
  const absl::Status read =
      ReadCsv(SharedData("olist/status_changes.csv.xz"),
              {"ts", "order_id", "step", "status"}, write);
  return left == 0 ? absl::OkStatus() : read;
}

// A log, and where its records end: over all files, as if they were one.
struct Log {
  std::string path;
  std::vector<std::string> files;  // In order.
  std::vector<uint64_t> sizes;
  uint64_t bytes = 0;
  uint64_t records = 0;
  // Of the database that it was recorded of.
  uint64_t content = 0;
  DigestReport digests;
};

absl::StatusOr<Log> Record(const std::string& directory, uint64_t records,
                           uint64_t file_bytes) {
  fs::create_directories(directory);
  Log log;
  log.path = directory + "/log";
  log.records = records;
  Options options;
  options.write_log = {.directory = log.path, .file_bytes_max = file_bytes};
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   Engine::Open(directory + "/recorded", Orders(), options));
  RETURN_IF_ERROR(WriteOlist(*engine, records));
  log.content = ContentHash(*engine);
  ASSIGN_OR_RETURN(log.digests, engine->Digest());
  std::map<std::string, uint64_t> files;
  for (const auto& entry : fs::directory_iterator(log.path)) {
    if (entry.path().extension() != ".dvlog") continue;
    files[entry.path().filename().string()] = entry.file_size();
  }
  for (const auto& [name, size] : files) {
    log.files.push_back(name);
    log.sizes.push_back(size);
    log.bytes += size;
  }
  return log;
}

// A copy of the first `bytes` bytes of the log.
void CopyPrefix(const Log& log, uint64_t bytes, const std::string& to) {
  fs::remove_all(to);
  fs::create_directories(to);
  for (size_t i = 0; i < log.files.size() && bytes > 0; ++i) {
    const std::string copy = to + "/" + log.files[i];
    fs::copy_file(log.path + "/" + log.files[i], copy);
    if (bytes < log.sizes[i]) fs::resize_file(copy, bytes);
    bytes -= std::min(bytes, log.sizes[i]);
  }
}

// Its records that are whole.
absl::StatusOr<uint64_t> CountRecords(const std::string& log) {
  const auto reader = WriteLogReader::Open(FileSystem::Posix(), log);
  if (absl::IsNotFound(reader.status())) return 0;
  RETURN_IF_ERROR(reader.status());
  v1::WriteLogRecord record;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, (*reader)->Next(&record));
    if (!more) return (*reader)->report().records;
  }
}

class Cutter {
 public:
  Cutter(uint64_t seed, Checks* checks) : random_(seed), checks_(*checks) {}

  absl::Status CutAtRandom(uint64_t records, uint64_t cuts) {
    ASSIGN_OR_RETURN(const Log log,
                     Record(dir_.Sub("long"), records, records * 40));
    Print("records", log.records, log.files.size());
    for (uint64_t i = 0; i < cuts; ++i) {
      RETURN_IF_ERROR(Cut(log, random_() % (log.bytes + 1)));
    }
    std::printf("%-44s %9llu\n", "  cut at random places",
                static_cast<unsigned long long>(cuts));
    return absl::OkStatus();
  }

  absl::Status CutTail(uint64_t tail) {
    ASSIGN_OR_RETURN(const Log log,
                     Record(dir_.Sub("short"), kShortRecords, 64 << 20));
    Print("records", log.records, log.files.size());
    uint64_t from = log.bytes;
    for (uint64_t whole = log.records; whole > kShortRecords - tail; --from) {
      CopyPrefix(log, from - 1, dir_.Sub("prefix"));
      ASSIGN_OR_RETURN(whole, CountRecords(dir_.Sub("prefix")));
    }
    for (uint64_t at = from; at <= log.bytes; ++at) {
      RETURN_IF_ERROR(Cut(log, at));
    }
    std::printf("%-44s %9llu\n", "  cut at every byte of the last records",
                static_cast<unsigned long long>(log.bytes + 1 - from));
    return absl::OkStatus();
  }

 private:
  static void Print(const char* what, uint64_t count, uint64_t files) {
    std::printf("a log of %llu %s in %llu files\n",
                static_cast<unsigned long long>(count), what,
                static_cast<unsigned long long>(files));
    std::fflush(stdout);
  }

  absl::Status Cut(const Log& log, uint64_t bytes) {
    const std::string at = absl::StrCat("cut at byte ", bytes);
    const std::string prefix = dir_.Sub("prefix");
    const std::string database = dir_.Sub("database");
    fs::remove_all(database);
    CopyPrefix(log, bytes, prefix);
    ASSIGN_OR_RETURN(const uint64_t whole, CountRecords(prefix));
    uint64_t applied = 0;
    if (!fs::is_empty(prefix)) {
      ASSIGN_OR_RETURN(applied, ReplayInto(database, prefix));
    }
    checks_.Equal(applied, whole, at + ": records of the prefix");
    ASSIGN_OR_RETURN(const uint64_t rest, ReplayInto(database, log.path));
    checks_.Equal(whole + rest, log.records, at + ": records in all");
    ASSIGN_OR_RETURN(const auto engine, Engine::Open(database, Orders()));
    checks_.Equal(ContentHash(*engine), log.content, at + ": content");
    ASSIGN_OR_RETURN(const DigestReport digests, engine->Digest());
    checks_.That(digests.spaces == log.digests.spaces, at + ": digests");
    return absl::OkStatus();
  }

  // Returns how many requests were applied.
  absl::StatusOr<uint64_t> ReplayInto(const std::string& database,
                                      const std::string& log) {
    ASSIGN_OR_RETURN(const auto engine, Engine::Open(database, Orders()));
    const auto source = OpenWriteLogSource(FileSystem::Posix(), log);
    ReplayOptions options;
    options.batch_items = 1 + random_() % 300;
    ASSIGN_OR_RETURN(const auto replayer,
                     Replayer::Open(engine.get(), source.get(), options));
    RETURN_IF_ERROR(replayer->Run());
    checks_.That(!replayer->report().rows_were_read, "no row is read");
    return replayer->report().applied;
  }

  std::mt19937_64 random_;
  Checks& checks_;
  TempDir dir_;
};

int Main(int argc, char** argv) {
  uint64_t seed = std::random_device()();
  uint64_t records = 10'000;
  uint64_t cuts = 500;
  uint64_t tail = 10;
  bool ok = argc % 2 == 1;
  for (int i = 1; ok && i < argc; i += 2) {
    const std::string_view flag = argv[i];
    ok = (flag == "--records" && absl::SimpleAtoi(argv[i + 1], &records)) ||
         (flag == "--cuts" && absl::SimpleAtoi(argv[i + 1], &cuts)) ||
         (flag == "--tail" && absl::SimpleAtoi(argv[i + 1], &tail)) ||
         (flag == "--seed" && absl::SimpleAtoi(argv[i + 1], &seed));
  }
  if (!ok || tail > kShortRecords) {
    std::fprintf(stderr,
                 "usage: log_prefixes [--records N] [--cuts N] [--tail N] "
                 "[--seed N]\n");
    return 2;
  }
  if (!HasSharedData("olist/status_changes.csv.xz")) {
    std::printf("log-prefixes: skipped, no data set olist in %s\n",
                SharedData("").c_str());
    return 0;
  }
  std::printf("log-prefixes: seed=%llu\n",
              static_cast<unsigned long long>(seed));
  Checks checks("log-prefixes");
  Cutter cutter(seed, &checks);
  checks.Ok(cutter.CutAtRandom(records, cuts), "run");
  checks.Ok(cutter.CutTail(tail), "run");
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) { return dovetail::test::Main(argc, argv); }

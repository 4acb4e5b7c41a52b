// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Reports from the field about crashes, full disks and streams of changes, as
// tests.
//
//   log_cases [--kills N]

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "dovetail/change_stream.h"
#include "dovetail/v1/change_mapping.pb.h"
#include "dovetail/write_log.h"
#include "engine/row_format.h"
#include "google/protobuf/text_format.h"
#include "tests/acceptance/core_cases.h"
#include "tests/acceptance/text_orders.h"
#include "tests/engine/changes/changes_test_util.h"
#include "tests/support/spawn_self.h"

namespace dovetail::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

namespace fs = std::filesystem;

int kills = 500;

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteFile(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

fs::path NewestWith(const std::string& directory, std::string_view suffix) {
  fs::path newest;
  for (const auto& file : fs::directory_iterator(directory)) {
    const std::string name = file.path().filename();
    if (name.ends_with(suffix) && name > newest.filename()) {
      newest = file.path();
    }
  }
  return newest;
}

std::string Order(const std::string& id, int64_t ts,
                  v1::OrderStatus status = v1::CREATED) {
  return MakeOrder<v1::Order>(id, "s-" + id.substr(id.size() - 1), ts, status);
}

class LogCases : public Cases {
 protected:
  // Keys on disk, of rows or of an index.
  uint64_t Stored(std::string_view table, std::string_view index) {
    uint64_t count = 0;
    EXPECT_THAT(engine_->ForEachStored({}, table, index, "",
                                       [&](const StoredPair&) {
                                         ++count;
                                         return true;
                                       }),
                IsOk());
    return count;
  }
  // Statuses by order id, of all rows.
  std::map<std::string, std::string> Statuses() {
    std::map<std::string, std::string> statuses;
    EXPECT_THAT(engine_
                    ->ForEach({}, {.table = "orders", .limit = UINT64_MAX},
                              [&](const RowView& row) {
                                TextOrder order;
                                EXPECT_TRUE(order.ParseFromArray(
                                    row.record.data(),
                                    static_cast<int>(row.record.size())));
                                statuses[order.order_id()] = order.status();
                                return true;
                              })
                    .status(),
                IsOk());
    return statuses;
  }
};

// harper #1894: removal leaves index rows behind, and a null key appears.
TEST_F(LogCases, Case02_RemovalLeavesNoEntryBehind) {
  Open({TextOrders("orders")});
  constexpr int kOrders = 10'000;
  for (int i = 0; i < kOrders; i += 500) {
    WriteBatch batch;
    for (int k = i; k < i + 500; ++k) {
      batch.Put("orders",
                MakeOrder<TextOrder>(absl::StrCat("o", k), absl::StrCat(k % 9),
                                     k, k % 3 == 0 ? "" : "paid"));
    }
    Write(std::move(batch));
  }
  EXPECT_EQ(Stored("orders", "by_status"), kOrders);
  for (int i = 0; i < kOrders; i += 500) {
    WriteBatch batch;
    for (int k = i; k < i + 500; ++k) {
      batch.Delete("orders", RowRef::By("by_order_id", {absl::StrCat("o", k)}));
    }
    Write(std::move(batch));
    if (i == kOrders / 2) FlushWriteBuffer();
  }
  for (const char* index : {"", "by_status", "by_order_id"}) {
    EXPECT_EQ(Stored("orders", index), 0) << index;
  }
  const auto again = engine_->Write(
      {}, WriteBatch().Delete("orders", RowRef::By("by_order_id", {"o7"})));
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->rows_changed[0], 0);
}

// What is done to the end of a file: cut, zeros, ones.
const std::function<std::string(std::string, size_t)> kTails[] = {
    [](std::string bytes, size_t from) { return bytes.substr(0, from); },
    [](std::string bytes, size_t from) {
      return bytes.replace(from, std::string::npos,
                           std::string(bytes.size() - from, '\0'));
    },
    [](std::string bytes, size_t from) {
      return bytes.replace(from, std::string::npos,
                           std::string(bytes.size() - from, '\xff'));
    }};

// Where the records of a LevelDB log end: in blocks of 32 KiB, parts with a
// header of a CRC, two bytes of length, and whether the record ends with it.
std::set<size_t> RecordEnds(const std::string& log) {
  constexpr size_t kBlock = 32768;
  constexpr size_t kHeader = 7;
  std::set<size_t> ends;
  const auto byte = [&](size_t at) { return static_cast<uint8_t>(log[at]); };
  for (size_t at = 0; at + kHeader <= log.size();) {
    if (const size_t left = kBlock - at % kBlock; left < kHeader) {
      at += left;
      continue;
    }
    const uint8_t type = byte(at + 6);
    at += kHeader + byte(at + 4) + 256 * byte(at + 5);
    if (type == 1 || type == 4) ends.insert(at);
  }
  return ends;
}

// leveldb #251, vernemq #1550: the log ends in the middle of a record.
TEST_F(LogCases, Case13_ALogThatEndsInTheMiddleOfARecord) {
  Open({presets::SellerOrders("orders")});
  for (int i = 1; i <= 1000; ++i) {
    Write(WriteBatch().Put("orders", Order(absl::StrCat("o", i), i)));
  }
  engine_.reset();  // As at a kill.
  const std::string db = dir_.Sub("db");
  const std::string copy = dir_.Sub("copy");
  const fs::path log = NewestWith(db, ".log");
  const std::string bytes = ReadFile(log);
  const std::set<size_t> ends = RecordEnds(bytes);
  for (size_t back = 1; back <= 200; back += kills < 500 ? 13 : 1) {
    for (const auto& tail : kTails) {
      fs::remove_all(copy);
      fs::copy(db, copy);
      WriteFile(fs::path(copy) / log.filename(),
                tail(bytes, bytes.size() - back));
      auto engine = Engine::Open(copy, schema_, {.background_work = false});
      ASSERT_THAT(engine, IsOk()) << back;
      const auto report = (*engine)->Verify({});
      ASSERT_THAT(report, IsOk());
      ASSERT_TRUE(report->clean()) << report->Summary();
      // Rows 1 to n, of versions 1 to n.
      ASSERT_EQ(SequenceNumber{report->rows},
                (*engine)->open_report().sequence);
      ASSERT_GE(report->rows, 990);
      // The bytes overwritten may have been zeros already; and a log that
      // ends with a record is one that was never longer.
      const bool whole = ends.contains(bytes.size() - back);
      if (report->rows < 1000 && (&tail != &kTails[0] || !whole)) {
        EXPECT_THAT((*engine)->open_report().log_cut, Not(IsEmpty())) << back;
      }
    }
  }
}

TEST_F(LogCases, Case13_AWriteLogThatEndsInTheMiddleOfARecord) {
  const std::string directory = dir_.Sub("log");
  {
    auto writer = WriteLogWriter::Open(FileSystem::Posix(), directory);
    ASSERT_THAT(writer, IsOk());
    for (uint64_t i = 1; i <= 200; ++i) {
      v1::WriteLogRecord record;
      record.set_sequence(i);
      record.add_annotations(std::string(20, 'a'));
      ASSERT_THAT((*writer)->Append(record), IsOk());
    }
    ASSERT_THAT((*writer)->Flush(), IsOk());
  }
  std::string name;
  for (const auto& file : fs::directory_iterator(directory)) {
    if (file.file_size() > 1000) name = file.path().filename();
  }
  const std::string bytes = ReadFile(fs::path(directory) / name);
  const std::string copy = dir_.Sub("copy");
  for (size_t back = 1; back <= 200; back += kills < 500 ? 9 : 1) {
    for (const auto& tail : kTails) {
      fs::remove_all(copy);
      fs::copy(directory, copy);
      WriteFile(fs::path(copy) / name, tail(bytes, bytes.size() - back));
      auto writer = WriteLogWriter::Open(FileSystem::Posix(), copy);
      ASSERT_THAT(writer, IsOk()) << back;
      const auto last = static_cast<uint64_t>((*writer)->last_sequence());
      ASSERT_GE(last, 190) << back;
      ASSERT_LE(last, 200) << back;
      // None where whole records were cut off.
      ASSERT_LE((*writer)->open_report().cuts.size(), 1);
      v1::WriteLogRecord next;
      next.set_sequence(last + 1);
      ASSERT_THAT((*writer)->Append(next), IsOk());
      ASSERT_THAT((*writer)->Close(), IsOk());
    }
  }
}

// leveldb #1180, neptune-core #810: disk full.
TEST_F(LogCases, Case14_ADiskThatIsFullLosesNothingAcknowledged) {
  const std::string small = dir_.Sub("small");
  fs::create_directory(small);
  if (::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=4m") != 0) {
    GTEST_SKIP() << "mounting a small file system needs root";
  }
  schema_.Add(presets::SellerOrders("orders"));
  Options options;
  options.write_buffer_bytes = 64 << 10;
  options.disk_free_min_bytes = 0;  // To the very edge.
  options.background_work = false;
  auto engine = Engine::Open(small + "/db", schema_, options);
  ASSERT_THAT(engine, IsOk());
  uint64_t acknowledged = 0;
  absl::Status status;
  while (status.ok() && acknowledged < 1'000'000) {
    v1::Order order;
    order.set_order_id(absl::StrCat("o", acknowledged));
    order.set_note(std::string(500, 'n'));
    status =
        (*engine)
            ->Write({}, WriteBatch().Put("orders", order.SerializeAsString()))
            .status();
    if (status.ok()) ++acknowledged;
  }
  EXPECT_EQ(OutcomeOf(status), WriteOutcome::kUnknown) << status;
  EXPECT_GT(acknowledged, 100);
  engine->reset();
  ASSERT_EQ(::mount("tmpfs", small.c_str(), "tmpfs", MS_REMOUNT, "size=64m"),
            0);
  engine = Engine::Open(small + "/db", schema_, options);
  ASSERT_THAT(engine, IsOk());
  const auto report = (*engine)->Verify({});
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->clean()) << report->Summary();
  EXPECT_GE(report->rows, acknowledged);
  EXPECT_LE(report->rows, acknowledged + 1);
  EXPECT_THAT((*engine)->Write({.sync = true},
                               WriteBatch().Put("orders", Order("more", 1))),
              IsOk());
  EXPECT_THAT((*engine)->Close(), IsOk());
  engine->reset();
  EXPECT_EQ(::umount(small.c_str()), 0);
}

struct StatusChange {
  std::string id;
  int64_t ts_ms = 0;
  std::string status;
};

absl::StatusOr<std::vector<StatusChange>> ReadStatusChanges(size_t max) {
  std::vector<StatusChange> changes;
  const absl::Status status = ReadCsv(
      SharedData("olist/status_changes.csv.xz"), {"order_id", "ts", "status"},
      [&](std::vector<std::string>& row) -> absl::Status {
        const auto ts = ParseTimeMs(row[1]);
        if (!ts.ok()) return ts.status();
        if (changes.size() == max) return absl::CancelledError("enough");
        changes.push_back({std::move(row[0]), *ts, std::move(row[2])});
        return absl::OkStatus();
      });
  if (!status.ok() && !absl::IsCancelled(status)) return status;
  return changes;
}

WriteBatch PutChange(const StatusChange& change) {
  return WriteBatch().Put(
      "orders", MakeOrder<TextOrder>(change.id, change.id.substr(0, 2),
                                     change.ts_ms, change.status));
}

// Written again and again; each writer reads them anew.
constexpr size_t kChangesWritten = 5'000;

Options WriterOptions() {
  Options options;
  options.write_buffer_bytes = 64 << 10;
  return options;
}

// How many changes were acknowledged: in a file that the writer and its parent
// both map, so that the count outlives the writer. Null if it cannot be mapped.
std::atomic<uint64_t>* MapCount(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return nullptr;
  void* memory = MAP_FAILED;
  if (::ftruncate(fd, sizeof(std::atomic<uint64_t>)) == 0) {
    memory = ::mmap(nullptr, sizeof(std::atomic<uint64_t>),
                    PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  ::close(fd);
  return memory == MAP_FAILED ? nullptr
                              : static_cast<std::atomic<uint64_t>*>(memory);
}

// The process that is killed: writes on from the last acknowledged change, as
// a replay would. Returns only if something failed.
int WriterMain(const std::string& db, const std::string& count) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::atomic<uint64_t>* const acknowledged = MapCount(count);
  const auto changes = ReadStatusChanges(kChangesWritten);
  auto engine =
      Engine::Open(db, Schema().Add(TextOrders("orders")), WriterOptions());
  if (acknowledged == nullptr || !changes.ok() || !engine.ok()) return 1;
  for (uint64_t i = acknowledged->load();; ++i) {
    const StatusChange& change = (*changes)[i % changes->size()];
    if (!(*engine)->Write({}, PutChange(change)).ok()) return 1;
    acknowledged->store(i + 1);
  }
}

// go-spacemesh #2547: a crash between the main write and the index write.
TEST_F(LogCases, Case15_NoHalfOrderIsSeenAfterAKill) {
  SKIP_WITHOUT_DATA("olist/status_changes.csv.xz");
  schema_.Add(TextOrders("orders"));
  const std::string db = dir_.Sub("db");
  std::atomic<uint64_t>* const acknowledged = MapCount(dir_.Sub("count"));
  ASSERT_NE(acknowledged, nullptr);
  std::mt19937_64 random(15);
  uint64_t lost = 0;
  for (int round = 0; round < kills; ++round) {
    const uint64_t before = acknowledged->load();
    const auto writer =
        SpawnSelf({"log_cases", "--writer", db, dir_.Sub("count")});
    ASSERT_THAT(writer, IsOk());
    // The naps only pick the moment: nothing depends on their length.
    siginfo_t ended{};
    while (acknowledged->load() == before && ended.si_pid == 0) {
      ::usleep(200);
      ::waitid(P_PID, static_cast<id_t>(*writer), &ended,
               WEXITED | WNOHANG | WNOWAIT);
    }
    ::usleep(static_cast<useconds_t>(random() % 20'000));
    ::kill(*writer, SIGKILL);
    const int how = WaitForEnd(*writer);
    ASSERT_TRUE(WIFSIGNALED(how)) << "the writer failed, round " << round;
    if (round % 10 != 9) continue;
    auto engine = Engine::Open(db, schema_, WriterOptions());
    ASSERT_THAT(engine, IsOk());
    const auto report = (*engine)->Verify({});
    ASSERT_THAT(report, IsOk());
    ASSERT_TRUE(report->clean()) << report->Summary();
    const auto sequence =
        static_cast<uint64_t>((*engine)->open_report().sequence);
    lost += sequence < acknowledged->load() ? 1 : 0;
  }
  EXPECT_EQ(lost, 0);
  EXPECT_GT(acknowledged->load(), static_cast<uint64_t>(kills));
  std::printf("case 15: %d kills, %llu changes acknowledged\n", kills,
              static_cast<unsigned long long>(acknowledged->load()));
  ::munmap(acknowledged, sizeof(*acknowledged));
}

v1::ChangeMapping Mapping(const char* text) {
  v1::ChangeMapping mapping;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &mapping));
  return mapping;
}

// What became of a stream: rows written, skipped and rejected.
struct Fed {
  int changed = 0;
  int skipped = 0;
  std::vector<std::string> rejected;
};

Fed Feed(Engine* engine, ChangeFormat format, std::string text,
         const v1::ChangeMapping& mapping) {
  Fed fed;
  auto reader = ChangeReader::Open(format, FromText(std::move(text)));
  auto mapper = ChangeMapper::Compile(engine, mapping);
  EXPECT_THAT(reader, IsOk());
  EXPECT_TRUE(mapper.ok()) << mapper.status();
  ChangeEntry entry;
  while (true) {
    const absl::StatusOr<bool> got = (*reader)->Next(&entry);
    if (got.ok() && !*got) return fed;
    absl::Status status = got.status();
    if (status.ok()) {
      auto mapped = mapper->Map(entry);
      status = mapped.status();
      if (status.ok()) {
        for (const ChangeOutcome& outcome : mapped->outcomes) {
          const bool skip = outcome.effect == ChangeOutcome::Effect::kSkipped;
          ++(skip ? fed.skipped : fed.changed);
        }
        if (!mapped->batch.empty()) {
          status = engine->Write({}, std::move(mapped->batch)).status();
        }
      }
    }
    if (!status.ok()) fed.rejected.emplace_back(status.message());
  }
}

constexpr char kCanalMapping[] = R"pb(
  tables {
    sources { table: "orders" }
    table: "orders"
    find_by: "by_order_id"
    fields { field: "order_id" column: "id" }
    fields { field: "ts_ms" constant: "1" }
    fields { field: "seller_id" column: "seller" }
    fields { field: "status" column: "status" }
  }
)pb";

// canal #3179, #4352, paimon #2112: messages that are not plain row changes.
TEST_F(LogCases, Case18_CanalMessagesThatAreNoRowChanges) {
  Open({TextOrders("orders")});
  const std::string stream =
      R"({"type":"QUERY","isDdl":false,"data":null,"table":"orders","database":"shop","sql":"insert ...","es":1,"ts":1,"id":1})"
      "\n"
      R"({"type":"INSERT","isDdl":false,"data":[{"id":"a","seller":"s","status":"new"},{"id":"b","seller":"s","status":"new"}],"old":null,"pkNames":["id"],"table":"orders","database":"shop","sql":"","es":2,"ts":2,"id":2})"
      "\n"
      R"({"type":"UPDATE","isDdl":false,"data":[{"id":"a","seller":"s","status":"paid"},{"id":"b","seller":"s","status":"new"}],"old":[{"status":"new"},{}],"pkNames":["id"],"table":"orders","database":"shop","sql":"","es":3,"ts":3,"id":3})"
      "\n"
      R"({"type":"UPDATE","isDdl":false,"data":[{"id":"a","seller":"s","status":"lost"}],"old":[{"status":"paid"}],"pkNames":null,"table":"orders","database":"shop","sql":"","es":4,"ts":4,"id":4})"
      "\n"
      R"({"type":"ALTER","isDdl":true,"data":null,"table":"orders","database":"shop","sql":"alter table ...","es":5,"ts":5,"id":5})"
      "\n"
      R"({"type":"DELETE","isDdl":false,"data":[{"id":"b","seller":"s","status":"new"}],"old":null,"pkNames":["id"],"table":"orders","database":"shop","sql":"","es":6,"ts":6,"id":6})"
      "\n";
  const Fed fed =
      Feed(engine_.get(), ChangeFormat::kCanal, stream, Mapping(kCanalMapping));
  EXPECT_EQ(fed.skipped, 2);  // The query and the DDL.
  EXPECT_EQ(fed.changed, 5);
  ASSERT_EQ(fed.rejected.size(), 1);
  EXPECT_THAT(fed.rejected[0], ::testing::HasSubstr("line=4"));
  const std::map<std::string, std::string> expected = {{"a", "paid"}};
  EXPECT_EQ(Statuses(), expected);
}

constexpr char kDebeziumMapping[] = R"pb(
  tables {
    table: "orders"
    find_by: "by_order_id"
    fields { field: "order_id" column: "id" }
    fields { field: "ts_ms" constant: "1" }
    fields { field: "seller_id" column: "first_name" }
    fields { field: "status" column: "last_name" }
  }
)pb";

// flink #13019, paimon #3113: tombstones, and deletes and updates without the
// image before.
TEST_F(LogCases, Case19_TombstonesAndEventsWithoutTheRowBefore) {
  Open({TextOrders("orders")});
  const auto event = [](const char* key, const char* value) {
    return absl::StrCat("{\"key\":{\"id\":\"", key, "\"},\"value\":", value,
                        "}\n");
  };
  std::string stream;
  for (const char* id : {"1", "2", "3"}) {
    stream += event(
        id, absl::StrCat(R"({"before":null,"after":{"id":")", id,
                         R"(","first_name":"s","last_name":"new"},"op":"c"})")
                .c_str());
  }
  // By the key alone: the old status must come from the row.
  stream += event("1", R"({"before":{"id":"1"},"after":null,"op":"d"})");
  stream += event("1", "null");
  // Update without the row before.
  stream += event("2", R"({"before":null,"after":{"id":"2","first_name":"s",)"
                       R"("last_name":"paid"},"op":"u"})");
  // A key that changes: delete, tombstone, create.
  stream +=
      event("3", R"({"before":{"id":"3","first_name":"s","last_name":"new"},)"
                 R"("after":null,"op":"d"})");
  stream += event("3", "null");
  stream += event("33", R"({"before":null,"after":{"id":"33","first_name":"s",)"
                        R"("last_name":"new"},"op":"c"})");
  const Fed fed = Feed(engine_.get(), ChangeFormat::kDebezium, stream,
                       Mapping(kDebeziumMapping));
  EXPECT_THAT(fed.rejected, IsEmpty());
  EXPECT_EQ(fed.skipped, 2);
  const std::map<std::string, std::string> expected = {{"2", "paid"},
                                                       {"33", "new"}};
  EXPECT_EQ(Statuses(), expected);
  EXPECT_EQ(Stored("orders", "by_status"), 2);
  EXPECT_EQ(Stored("orders", "by_order_id"), 2);
}

// data-rentgen #102, kafka-connect-jdbc #774: late or repeated events turn the
// status back. The rule: the change with the later time counts, and of equal
// ones the record with the larger bytes.
TEST_F(LogCases, Case20_LateAndRepeatedEventsDoNotTurnTheStatusBack) {
  SKIP_WITHOUT_DATA("olist/status_changes.csv.xz");
  auto changes = ReadStatusChanges(kills < 500 ? 10'000 : SIZE_MAX);
  ASSERT_THAT(changes, IsOk());
  TableBuilder orders = TextOrders("orders");
  orders.OrderedBy("ts_ms");
  schema_.Add(orders);
  std::mt19937_64 random(20);
  std::set<std::string> ids;
  for (const StatusChange& change : *changes) ids.insert(change.id);
  const auto run = [&](const std::vector<const StatusChange*>& stream) {
    Options options;
    options.in_memory = true;
    auto engine = Engine::Open("memory", schema_, options);
    EXPECT_THAT(engine, IsOk());
    WriteBatch batch;
    for (const StatusChange* change : stream) {
      batch.Add(PutChange(*change).mutations()[0]);
      if (batch.count() < 500 && change != stream.back()) continue;
      EXPECT_THAT((*engine)->Write({}, std::move(batch)), IsOk());
      batch = WriteBatch();
    }
    const auto report = (*engine)->Verify({});
    EXPECT_THAT(report, IsOk());
    EXPECT_TRUE(report->clean());
    std::vector<std::pair<std::string, std::string>> content;
    for (const char* index : {"", "by_status", "by_order_id"}) {
      EXPECT_THAT((*engine)->ForEachStored(
                      {}, "orders", index, "",
                      [&](const StoredPair& pair) {
                        // Of a row without its header, which has a version.
                        const auto row = DecodeRow(pair.value);
                        const std::string value(*index == '\0' && row.ok()
                                                    ? row->record
                                                    : pair.value);
                        content.emplace_back(pair.key, value);
                        return true;
                      }),
                  IsOk());
    }
    return content;
  };
  std::vector<const StatusChange*> in_order;
  for (const StatusChange& change : *changes) in_order.push_back(&change);
  const auto expected = run(in_order);
  EXPECT_EQ(expected.size(), 3 * ids.size());

  std::vector<const StatusChange*> twice = in_order;
  twice.insert(twice.end(), in_order.begin(), in_order.end());
  EXPECT_TRUE(run(twice) == expected) << "replayed twice";

  std::vector<const StatusChange*> swapped = in_order;
  for (size_t i = 0; i < swapped.size(); ++i) {
    const size_t far = std::min(i + random() % 50, swapped.size() - 1);
    std::swap(swapped[i], swapped[far]);
  }
  EXPECT_TRUE(run(swapped) == expected) << "swapped with lines up to 50 away";

  std::vector<const StatusChange*> again = in_order;
  again.insert(again.end(), in_order.begin() + random() % in_order.size(),
               in_order.end());
  EXPECT_TRUE(run(again) == expected) << "again from the middle";

  std::vector<const StatusChange*> shuffled = in_order;
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  EXPECT_TRUE(run(shuffled) == expected) << "in any order";
}

}  // namespace
}  // namespace dovetail::test

// Ends with the line that every acceptance program ends with.
int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--writer") == 0) {
    return dovetail::test::WriterMain(argv[2], argv[3]);
  }
  testing::InitGoogleMock(&argc, argv);
  if (argc == 3 && std::strcmp(argv[1], "--kills") == 0) {
    dovetail::test::kills = std::max(std::atoi(argv[2]), 10);
  } else if (argc != 1) {
    std::fprintf(stderr, "log_cases [--kills N]\n");
    return 2;
  }
  const int result = RUN_ALL_TESTS();
  const testing::UnitTest& unit = *testing::UnitTest::GetInstance();
  if (unit.skipped_test_count() > 0) {
    std::printf("log-cases: %d skipped, see above\n",
                unit.skipped_test_count());
  }
  std::printf("log-cases: %d passed, %d failed\n", unit.successful_test_count(),
              unit.failed_test_count());
  return result;
}

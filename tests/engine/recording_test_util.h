// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A database that records, and what its log says about its rows.

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/recording.h"
#include "tests/engine/engine_fixture.h"
#include "dovetail/testing/faulty_file_system.h"

namespace dovetail::test {

inline uint64_t Number(SequenceNumber n) { return static_cast<uint64_t>(n); }

// By table and row key.
using RowMap = std::map<std::pair<std::string, std::string>, std::string>;

// What a reader with no idea of tables does with a record.
inline void Apply(const v1::WriteLogRecord& record, RowMap* rows) {
  for (const v1::RowEffect& effect : record.effects()) {
    if (!effect.old_key().empty()) {
      rows->erase({effect.table(), effect.old_key()});
    }
    if (effect.has_record()) {
      (*rows)[{effect.table(), effect.new_key()}] = effect.record();
    } else {
      rows->erase({effect.table(), effect.new_key()});
    }
  }
}

inline std::vector<v1::WriteLogRecord> RecordsIn(
    const std::string& directory, FileSystem* files = FileSystem::Posix()) {
  std::vector<v1::WriteLogRecord> records;
  const auto reader = WriteLogReader::Open(files, directory);
  if (absl::IsNotFound(reader.status())) return records;  // Empty.
  EXPECT_THAT(reader, IsOk());
  if (!reader.ok()) return records;
  v1::WriteLogRecord record;
  while (true) {
    const absl::StatusOr<bool> more = (*reader)->Next(&record);
    EXPECT_THAT(more, IsOk());
    if (!more.ok() || !*more) return records;
    records.push_back(record);
  }
}

// The seller orders of EngineTest in a database that records, on files that
// can fail.
class RecordingTest : public EngineTest {
 protected:
  RecordingTest() : files_(FileSystem::Posix()) {
    options_.file_system = &files_;
    options_.write_log = WriteLogOptions();
  }
  ~RecordingTest() override { engine_.reset(); }

  std::string LogDirectory() { return dir_.Sub("db") + "/write-log"; }

  RowMap StoredRows() {
    RowMap rows;
    const auto end = engine().ForEach(
        {}, {.table = "orders", .limit = UINT64_MAX}, [&](const RowView& row) {
          rows[{"orders", std::string(row.key)}] = std::string(row.record);
          return true;
        });
    EXPECT_THAT(end, IsOk());
    return rows;
  }

  // The log ends with the store's newest commit, and has made its rows.
  void ExpectLogIsTheStore() {
    const auto stats = engine().GetStats();
    ASSERT_THAT(stats, IsOk());
    ASSERT_TRUE(stats->write_log.has_value());
    RowMap rows;
    uint64_t last = 0;
    for (const v1::WriteLogRecord& record :
         RecordsIn(stats->write_log->directory)) {
      last = record.sequence();
      Apply(record, &rows);
    }
    EXPECT_EQ(last, Number(stats->sequence));
    EXPECT_EQ(rows, StoredRows());
  }

  // One request of a few kinds, by `n`; a pure function of it.
  absl::StatusOr<Commit> WriteSome(uint64_t n, bool sync = false) {
    std::mt19937_64 random(n);
    const auto order = [&] {
      v1::Order made = MakeOrder("o-" + std::to_string(random() % 30),
                                 "s-" + std::to_string(random() % 3),
                                 static_cast<int64_t>(random() % 5),
                                 static_cast<v1::OrderStatus>(random() % 5));
      made.set_note(std::string(random() % 300, 'x'));
      return Bytes(made);
    };
    WriteBatch batch;
    const uint64_t mutations = 1 + random() % 4;
    for (uint64_t i = 0; i < mutations; ++i) {
      const std::string id = "o-" + std::to_string(random() % 30);
      if (random() % 4 == 0) {
        batch.Delete("orders", RowRef::By("by_order_id", {id}));
      } else {
        batch.Put("orders", order());
      }
    }
    return engine().Write({.sync = sync}, batch);
  }

  FaultyFileSystem files_;
};

}  // namespace dovetail::test

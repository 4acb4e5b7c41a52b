// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Write logs for tests: records that can be told apart, logs of them on disk,
// and everything that a reader has to say about a log.

#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dovetail/write_log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "dovetail/testing/faulty_file_system.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {

inline SequenceNumber Seq(uint64_t n) { return SequenceNumber{n}; }
inline uint64_t Number(SequenceNumber n) { return static_cast<uint64_t>(n); }

class FixedClock final : public Clock {
 public:
  int64_t NowMicros() override { return now_us; }
  int64_t MonotonicMicros() override { return now_us; }
  int64_t now_us = 1'700'000'000'000'000;
};

class FixedRandom final : public RandomSource {
 public:
  uint64_t Next64() override { return ++last_; }

 private:
  uint64_t last_ = 0x0123456789abcdef;
};

inline v1::Schema LogSchema(std::string_view table = "orders") {
  v1::Schema schema;
  v1::TableSchema* proto = schema.add_tables();
  proto->set_name(std::string(table));
  proto->set_record_type("dovetail.v1.Order");
  return schema;
}

// A put, a move, or a delete, by the sequence; a pure function of it.
inline v1::WriteLogRecord LogRecord(uint64_t sequence, size_t bytes = 20) {
  v1::WriteLogRecord record;
  record.set_sequence(sequence);
  record.set_commit_time_us(1'700'000'000'000'000 +
                            static_cast<int64_t>(sequence));
  record.set_schema_fingerprint(0xfeedULL * sequence);
  v1::RowEffect* effect = record.add_effects();
  effect->set_table("orders");
  effect->set_new_key("key-" + std::to_string(sequence));
  if (sequence % 3 != 0) {
    effect->set_record(
        std::string(bytes, static_cast<char>('a' + sequence % 26)));
  }
  if (sequence % 3 != 1) effect->set_old_fields("old");
  if (sequence % 3 == 2) effect->set_old_key("from");
  return record;
}

using Files = std::map<std::string, std::string>;

inline std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

inline void WriteFile(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// The log files in `directory`, and what is in its lost/.
inline Files FilesOf(const std::string& directory) {
  Files files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file() || entry.path().filename() == "LOCK") continue;
    files[std::filesystem::relative(entry.path(), directory).string()] =
        ReadFile(entry.path().string());
  }
  return files;
}

inline void WriteFiles(const std::string& directory, const Files& files) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  for (const auto& [name, bytes] : files) {
    const std::filesystem::path path = std::filesystem::path(directory) / name;
    std::filesystem::create_directories(path.parent_path());
    WriteFile(path.string(), bytes);
  }
}

struct LogContent {
  absl::Status status;  // How it ended.
  std::vector<uint64_t> sequences = {};
  // A record was not LogRecord of its sequence.
  bool altered = false;
  WriteLogReadReport report = {};
  v1::WriteLogFileHeader header = {};  // Of the last file.
};

// Reads on from where `reader` is.
inline LogContent ReadOn(WriteLogReader& reader, size_t record_bytes = 20) {
  LogContent content;
  v1::WriteLogRecord record;
  while (true) {
    const absl::StatusOr<bool> more = reader.Next(&record);
    content.status = more.status();
    if (!more.ok() || !*more) break;
    content.sequences.push_back(record.sequence());
    content.altered |=
        record.SerializeAsString() !=
        LogRecord(record.sequence(), record_bytes).SerializeAsString();
  }
  content.report = reader.report();
  content.header = reader.header();
  return content;
}

inline LogContent ReadLog(const std::string& path,
                          WriteLogReaderOptions options = {},
                          FileSystem* files = FileSystem::Posix()) {
  const auto reader = WriteLogReader::Open(files, path, options);
  if (!reader.ok()) return {.status = reader.status()};
  return ReadOn(**reader);
}

inline std::vector<uint64_t> Range(uint64_t first, uint64_t last) {
  std::vector<uint64_t> all;
  for (uint64_t n = first; n <= last; ++n) all.push_back(n);
  return all;
}

// "file@offset+bytes missing first-last", a line for each damage.
inline std::vector<std::string> DamageOf(const WriteLogReadReport& report) {
  std::vector<std::string> lines;
  for (const WriteLogDamage& damage : report.damage) {
    std::string line = damage.file + "@" + std::to_string(damage.offset) + "+" +
                       std::to_string(damage.bytes);
    if (Number(damage.first_missing) > 0) {
      line += " missing " + std::to_string(Number(damage.first_missing)) + "-" +
              std::to_string(Number(damage.last_missing));
    }
    lines.push_back(line);
  }
  return lines;
}

class WriteLogTest : public ::testing::Test {
 protected:
  using Writer = std::unique_ptr<WriteLogWriter>;

  WriteLogTest() {
    options_.schema = LogSchema();
    options_.clock = &clock_;
    options_.random = &random_;
  }

  absl::StatusOr<Writer> TryOpen(FileSystem* files) {
    return WriteLogWriter::Open(files, log_, options_);
  }
  absl::StatusOr<Writer> TryOpen() { return TryOpen(&unsynced_); }
  Writer OpenLog() {
    auto writer = TryOpen();
    EXPECT_THAT(writer, IsOk());
    return writer.ok() ? *std::move(writer) : nullptr;
  }
  // Appends LogRecord(first) to LogRecord(last), and closes.
  void Fill(uint64_t first, uint64_t last) {
    const Writer writer = OpenLog();
    ASSERT_NE(writer, nullptr);
    for (uint64_t n = first; n <= last; ++n) {
      ASSERT_THAT(writer->Append(LogRecord(n)), IsOk());
    }
    ASSERT_THAT(writer->Close(), IsOk());
  }
  std::string LogFile(uint64_t first) const {
    std::string digits = std::to_string(first);
    digits.insert(0, 20 - digits.size(), '0');
    return digits + ".dvlog";
  }
  std::string PathOf(uint64_t first) const {
    return log_ + "/" + LogFile(first);
  }
  // Where each record of 1 to `count` ends in the one file of a log; [0]: where
  // the first one begins.
  std::vector<uint64_t> RecordEnds(uint64_t count) {
    std::filesystem::remove_all(log_);
    std::vector<uint64_t> ends;
    const Writer writer = OpenLog();
    if (writer == nullptr) return ends;
    for (uint64_t n = 1; n <= count; ++n) {
      EXPECT_THAT(writer->Append(LogRecord(n)), IsOk());
      const size_t frame = 24 + LogRecord(n).ByteSizeLong();
      if (ends.empty()) ends.push_back(writer->bytes() - frame);
      ends.push_back(writer->bytes());
    }
    return ends;
  }

  // Syncs are not passed on to the disk, which would take most of the time.
  FaultyFileSystem unsynced_{FileSystem::Posix()};
  TempDir dir_;
  FixedClock clock_;
  FixedRandom random_;
  WriteLogWriterOptions options_;
  std::string log_ = dir_.Sub("log");
};

}  // namespace dovetail::test

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What becomes of a write log that is cut, damaged, torn by a power cut, or
// not a write log at all. Never another record, never a crash.

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>

#include "google/protobuf/stubs/logging.h"
#include "tests/engine/write_log_property.h"
#include "tests/engine/write_log_test_util.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;

constexpr uint64_t kSmallFile = 400;
constexpr WriteLogReaderOptions kSkip{.skip_damaged = true};

class WriteLogDamageTest : public WriteLogTest {
 protected:
  // Damages the payload of the record that ends at `end`.
  void FlipBefore(uint64_t first, uint64_t end) {
    std::string bytes = ReadFile(PathOf(first));
    bytes[end - 1] = static_cast<char>(bytes[end - 1] ^ 1);
    WriteFile(PathOf(first), bytes);
  }
  // What no reader returned is in the report, and nothing else.
  static void ExpectAccounted(const LogContent& content, uint64_t last) {
    std::set<uint64_t> all(content.sequences.begin(), content.sequences.end());
    for (const WriteLogDamage& damage : content.report.damage) {
      if (Number(damage.first_missing) == 0) continue;
      for (uint64_t n = Number(damage.first_missing);
           n <= Number(damage.last_missing); ++n) {
        EXPECT_TRUE(all.insert(n).second) << n << " is there and missing";
      }
    }
    // Only a torn tail, or an end that cannot be told from one, may go
    // without its sequences.
    for (uint64_t n = 1; n <= all.size(); ++n) EXPECT_EQ(all.count(n), 1u) << n;
    EXPECT_TRUE(all.size() == last || content.report.torn_bytes > 0 ||
                Number(content.report.damage.back().first_missing) == 0);
  }
};

TEST_F(WriteLogDamageTest, EveryCutLeavesThePrefixAndIsReported) {
  const std::vector<uint64_t> ends = RecordEnds(8);
  const std::string whole = ReadFile(PathOf(1));
  ASSERT_EQ(whole.size(), ends.back());
  for (size_t size = 0; size <= whole.size(); ++size) {
    SCOPED_TRACE(size);
    WriteFiles(log_, {{LogFile(1), whole.substr(0, size)}});
    const uint64_t count = static_cast<uint64_t>(
        std::upper_bound(ends.begin() + 1, ends.end(), size) - ends.begin() -
        1);
    uint64_t kept = size >= ends[0] ? ends[count] : 0;
    LogContent content = ReadLog(log_);
    ASSERT_THAT(content.status, IsOk());
    ASSERT_EQ(content.sequences, Range(1, count));
    ASSERT_FALSE(content.altered);
    if (size >= 32 && size < ends[0]) kept = 32;  // The preamble counts.
    ASSERT_EQ(content.report.torn_bytes, size - kept);
    ASSERT_EQ(content.report.torn_offset, size > kept ? kept : 0);
    ASSERT_EQ(content.report.bytes, kept);

    const Writer writer = OpenLog();
    ASSERT_NE(writer, nullptr);
    ASSERT_EQ(Number(writer->last_sequence()), count);
    const bool cut = size != kept || size < ends[0];
    ASSERT_EQ(writer->open_report().cuts.size(), cut ? 1u : 0u);
    ASSERT_THAT(writer->Append(LogRecord(count + 1)), IsOk());
    ASSERT_THAT(writer->Close(), IsOk());
    content = ReadLog(log_);
    ASSERT_THAT(content.status, IsOk());
    ASSERT_EQ(content.sequences, Range(1, count + 1));
    ASSERT_EQ(content.header.schema().tables_size(), 1);
  }
}

TEST_F(WriteLogDamageTest, EveryCutOfAFileThatHasASuccessorIsDataLoss) {
  options_.file_bytes_max = kSmallFile;
  Fill(1, 6);
  const Files whole = FilesOf(log_);
  const std::string bytes = whole.at(LogFile(1));
  const uint64_t count = ReadLog(PathOf(1)).sequences.size();
  for (size_t size = 0; size < bytes.size(); ++size) {
    SCOPED_TRACE(size);
    WriteFile(PathOf(1), bytes.substr(0, size));
    LogContent content = ReadLog(log_);
    ASSERT_THAT(content.status, StatusIs(StatusCode::kDataLoss, LogFile(1)));
    const std::vector<uint64_t> prefix = content.sequences;
    ASSERT_EQ(prefix, Range(1, prefix.size()));
    content = ReadLog(log_, kSkip);
    ASSERT_THAT(content.status, IsOk());
    ASSERT_FALSE(content.altered);
    std::vector<uint64_t> expected = prefix;
    for (uint64_t n = count + 1; n <= 6; ++n) expected.push_back(n);
    ASSERT_EQ(content.sequences, expected);
    ASSERT_EQ(content.report.sequences_missing, count - prefix.size());
    ExpectAccounted(content, 6);
  }
}

TEST_F(WriteLogDamageTest, EveryFlippedBitIsAnErrorOrAReportedCut) {
  options_.file_bytes_max = kSmallFile;
  Fill(1, 7);
  const Files whole = FilesOf(log_);
  ASSERT_EQ(whole.size(), 3u);
  for (const auto& [name, bytes] : whole) {
    const bool last_file = name == whole.rbegin()->first;
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      SCOPED_TRACE(name + " bit " + std::to_string(bit));
      Files damaged = whole;
      char& byte = damaged[name][bit / 8];
      byte = static_cast<char>(byte ^ (1 << (bit % 8)));
      WriteFile(log_ + "/" + name, damaged[name]);

      LogContent content = ReadLog(log_);
      ASSERT_FALSE(content.altered);
      ASSERT_EQ(content.sequences, Range(1, content.sequences.size()));
      if (content.status.ok()) {
        ASSERT_TRUE(last_file);
        ASSERT_GT(content.report.torn_bytes, 0u);
        ASSERT_EQ(content.report.torn_file, name);
      } else {
        ASSERT_THAT(content.status, StatusIs(StatusCode::kDataLoss, name));
      }
      content = ReadLog(log_, kSkip);
      ASSERT_THAT(content.status, IsOk());
      ASSERT_FALSE(content.altered);
      // One flipped bit costs at most the record that it is in.
      ASSERT_GE(content.sequences.size(), 6u);
      ExpectAccounted(content, 7);
    }
    WriteFile(log_ + "/" + name, bytes);
  }
}

TEST_F(WriteLogDamageTest, AWriterRefusesOrCutsEveryFlippedByte) {
  const std::vector<uint64_t> ends = RecordEnds(5);
  const Files whole = FilesOf(log_);
  for (size_t at = 0; at < ends.back(); ++at) {
    SCOPED_TRACE(at);
    Files damaged = whole;
    char& byte = damaged[LogFile(1)][at];
    byte = static_cast<char>(byte ^ 0x10);
    WriteFiles(log_, damaged);
    const auto writer = TryOpen();
    if (at < ends[4]) {
      ASSERT_THAT(writer, StatusIs(StatusCode::kDataLoss, LogFile(1)));
      ASSERT_EQ(FilesOf(log_), damaged);
      continue;
    }
    // In the last record, which a torn write looks like.
    ASSERT_THAT(writer, IsOk());
    ASSERT_EQ(Number((*writer)->last_sequence()), 4u);
    ASSERT_EQ((*writer)->open_report().cuts.at(0).offset, ends[4]);
  }
}

TEST_F(WriteLogDamageTest, DamageAboveTheStoreIsCut) {
  const std::vector<uint64_t> ends = RecordEnds(5);
  FlipBefore(1, ends[3]);
  options_.cut_above = Seq(3);
  EXPECT_THAT(TryOpen(), StatusIs(StatusCode::kDataLoss, "checksum"));
  options_.cut_above = Seq(2);
  const Writer writer = OpenLog();
  ASSERT_NE(writer, nullptr);
  EXPECT_EQ(Number(writer->last_sequence()), 2u);
  EXPECT_EQ(writer->bytes(), ends[2]);
}

TEST_F(WriteLogDamageTest, SkippingReportsExactly) {
  const std::vector<uint64_t> ends = RecordEnds(9);
  const std::string file = LogFile(1);
  FlipBefore(1, ends[2]);
  FlipBefore(1, ends[5]);
  FlipBefore(1, ends[6]);
  const LogContent content = ReadLog(log_, kSkip);
  EXPECT_THAT(content.status, IsOk());
  EXPECT_THAT(content.sequences, ElementsAre(1, 3, 4, 7, 8, 9));
  const auto at = [&](size_t first, size_t last) {
    return file + "@" + std::to_string(ends[first - 1]) + "+" +
           std::to_string(ends[last] - ends[first - 1]) + " missing " +
           std::to_string(first) + "-" + std::to_string(last);
  };
  EXPECT_THAT(DamageOf(content.report), ElementsAre(at(2, 2), at(5, 6)));
  EXPECT_EQ(content.report.sequences_missing, 3u);
  EXPECT_EQ(content.report.damage_bytes, ends[2] - ends[1] + ends[6] - ends[4]);
  EXPECT_EQ(content.report.bytes + content.report.damage_bytes, ends[9]);
}

TEST_F(WriteLogDamageTest, AMissingFileIsDataLoss) {
  options_.file_bytes_max = kSmallFile;
  Fill(1, 12);
  std::vector<uint64_t> firsts;
  for (const auto& [name, bytes] : FilesOf(log_)) {
    firsts.push_back(std::stoull(name));
  }
  ASSERT_GE(firsts.size(), 4u);
  std::filesystem::remove(PathOf(firsts[1]));
  LogContent content = ReadLog(log_);
  EXPECT_THAT(content.status,
              StatusIs(StatusCode::kDataLoss, LogFile(firsts[2])));
  EXPECT_EQ(content.sequences, Range(1, firsts[1] - 1));
  content = ReadLog(log_, kSkip);
  EXPECT_THAT(DamageOf(content.report),
              ElementsAre(LogFile(firsts[2]) + "@0+0 missing " +
                          std::to_string(firsts[1]) + "-" +
                          std::to_string(firsts[2] - 1)));
  EXPECT_EQ(content.sequences.size(), 12 - (firsts[2] - firsts[1]));
}

TEST_F(WriteLogDamageTest, FilesThatDoNotBelongHereAreDataLoss) {
  options_.file_bytes_max = kSmallFile;
  Fill(1, 6);
  const Files ours = FilesOf(log_);
  std::filesystem::remove_all(log_);
  Fill(1, 6);  // With another log id.
  const Files others = FilesOf(log_);
  const std::string second = std::next(ours.begin())->first;

  Files mixed = ours;
  mixed[second] = others.at(second);
  WriteFiles(log_, mixed);
  EXPECT_THAT(ReadLog(log_).status,
              StatusIs(StatusCode::kDataLoss, "another log"));
  EXPECT_THAT(ReadLog(log_, kSkip).status, IsOk());

  mixed[second] = ours.begin()->second;
  WriteFiles(log_, mixed);
  EXPECT_THAT(ReadLog(log_).status,
              StatusIs(StatusCode::kDataLoss, "another file's name"));
  const LogContent content = ReadLog(log_, kSkip);
  EXPECT_THAT(content.status, IsOk());
  ExpectAccounted(content, 6);

  mixed[second] =
      "\x7f"
      "ELF and so on, for as long as a preamble is";
  WriteFiles(log_, mixed);
  EXPECT_THAT(ReadLog(log_).status,
              StatusIs(StatusCode::kDataLoss, "no write log file"));
  ExpectAccounted(ReadLog(log_, kSkip), 6);
}

TEST_F(WriteLogDamageTest, ForeignFilesAndEmptyPlacesAreNamed) {
  EXPECT_THAT(ReadLog(dir_.Sub("none")).status,
              StatusIs(StatusCode::kNotFound));
  EXPECT_THAT(ReadLog(dir_.path()).status,
              StatusIs(StatusCode::kNotFound, "no write log files"));
  WriteFile(dir_.Sub("notes.txt"), "not a log");
  EXPECT_THAT(ReadLog(dir_.path()).status, StatusIs(StatusCode::kNotFound));
  const LogContent content = ReadLog(dir_.Sub("notes.txt"));
  EXPECT_THAT(content.status,
              StatusIs(StatusCode::kDataLoss, "no write log file"));
  EXPECT_THAT(content.status, StatusIs(StatusCode::kDataLoss, "notes.txt"));
  WriteFiles(log_, {{LogFile(1), std::string(1000, 'x')}});
  EXPECT_THAT(ReadLog(log_).status, StatusIs(StatusCode::kDataLoss));
  EXPECT_THAT(TryOpen(), StatusIs(StatusCode::kDataLoss));
  // A file that grew before its first data got to the disk.
  WriteFiles(log_, {{LogFile(1), std::string(1000, '\0')}});
  EXPECT_EQ(ReadLog(log_).report.torn_bytes, 1000u);
  EXPECT_THAT(OpenLog()->Append(LogRecord(9)), IsOk());
}

TEST_F(WriteLogDamageTest, AnUnknownVersionIsRefusedWithBothNamed) {
  WriteFiles(log_,
             {{LogFile(1),
               EncodeWriteLogPreamble(
                   {.version = 2, .id = {.log_id = 1, .first_sequence = 1}})}});
  for (const bool skip : {false, true}) {
    const LogContent content = ReadLog(log_, {.skip_damaged = skip});
    EXPECT_THAT(content.status, StatusIs(StatusCode::kFailedPrecondition,
                                         "version=2 known_version=1"));
  }
  EXPECT_THAT(TryOpen(),
              StatusIs(StatusCode::kFailedPrecondition, "version=2"));
}

// The checksum of the frame header fits; the bytes are not there.
TEST_F(WriteLogDamageTest, AHugeLengthIsNotBelievedBeyondTheFile) {
  const WriteLogFileId id{.log_id = 7, .first_sequence = 1};
  std::string file = FileFromRecipe(id, std::string_view("\6\4abcd", 6));
  const auto add = [&](uint32_t length, std::string_view payload) {
    const WriteLogFrameHeaderBytes header =
        EncodeWriteLogFrameHeader({.kind = WriteLogFrameKind::kRecord,
                                   .payload_bytes = length,
                                   .sequence = 2,
                                   .payload_crc = 0},
                                  id, file.size());
    file.append(header.data(), header.size()).append(payload);
  };
  const uint64_t end = file.size();
  add(64 << 20, "x");
  WriteFile(dir_.Sub("f"), file);
  LogContent content = ReadLog(dir_.Sub("f"));
  EXPECT_THAT(content.status, IsOk());
  EXPECT_EQ(content.report.torn_offset, end);
  EXPECT_EQ(content.report.torn_bytes, 25u);

  file.resize(end);
  add((64 << 20) + 1, "x");
  WriteFile(dir_.Sub("f"), file);
  content = ReadLog(dir_.Sub("f"));
  EXPECT_THAT(content.status, IsOk());
  EXPECT_EQ(content.report.torn_bytes, 25u);
}

// A value may hold the image of its own log: after damage before it, none of
// its bytes may be taken for the log's.
TEST_F(WriteLogDamageTest, TheImageOfALogInARecordIsNotTheLog) {
  const std::vector<uint64_t> ends = RecordEnds(3);
  Writer writer = OpenLog();
  v1::WriteLogRecord record = LogRecord(4);
  record.set_source(ReadFile(PathOf(1)));
  ASSERT_THAT(writer->Append(record), IsOk());
  record.set_sequence(5);
  ASSERT_THAT(writer->Append(record), IsOk());
  ASSERT_THAT(writer->Close(), IsOk());
  std::string bytes = ReadFile(PathOf(1));
  for (uint64_t at = ends[2]; at < ends[3] + 24; ++at) {
    bytes[at] = '\0';  // Record 3, and the frame header of record 4.
  }
  WriteFile(PathOf(1), bytes);
  const LogContent content = ReadLog(log_, kSkip);
  EXPECT_THAT(content.status, IsOk());
  EXPECT_THAT(content.sequences, ElementsAre(1, 2, 5));
  ASSERT_EQ(content.report.damage.size(), 1u);
  EXPECT_EQ(content.report.damage[0].offset, ends[2]);
  EXPECT_EQ(Number(content.report.damage[0].first_missing), 3u);
  EXPECT_EQ(Number(content.report.damage[0].last_missing), 4u);
}

// For every number of unsynced bytes that got to the disk.
TEST_F(WriteLogDamageTest, APowerCutLeavesAPrefixWithAllThatWasSynced) {
  uint64_t cuts = 0;
  for (uint64_t kept_bytes = 0; kept_bytes < 1200; kept_bytes += 7) {
    for (uint64_t synced = 0; synced <= 12; synced += 3) {
      SCOPED_TRACE(testing::Message() << kept_bytes << " " << synced);
      options_.file_bytes_max = kept_bytes % 2 == 0 ? kSmallFile : 4096;
      std::filesystem::remove_all(log_);
      FaultyFileSystem files(FileSystem::Posix());
      Writer writer = *TryOpen(&files);
      for (uint64_t n = 1; n <= 12; ++n) {
        ASSERT_THAT(writer->Append(LogRecord(n)), IsOk());
        ASSERT_THAT(n == synced ? writer->Sync() : writer->Flush(), IsOk());
      }
      writer.reset();
      files.PowerCut(kept_bytes);
      writer = *TryOpen(&files);
      cuts += writer->open_report().cuts.size();
      const uint64_t last = Number(writer->last_sequence());
      ASSERT_GE(last, synced);
      ASSERT_LE(last, 12u);
      ASSERT_THAT(writer->Append(LogRecord(last + 1)), IsOk());
      ASSERT_THAT(writer->Close(), IsOk());
      const LogContent content = ReadLog(log_);
      ASSERT_THAT(content.status, IsOk());
      ASSERT_EQ(content.sequences, Range(1, last + 1));
      ASSERT_FALSE(content.altered);
    }
  }
  EXPECT_GT(cuts, 100u);
}

// Each file call of a small workload fails in turn, once and for good; then
// the machine loses power.
TEST_F(WriteLogDamageTest, AFailureOfAnyCallLosesNothingSynced) {
  options_.file_bytes_max = kSmallFile;
  uint64_t points = 0;
  for (const bool for_good : {false, true}) {
    bool reached = true;
    for (uint64_t n = 1; reached; ++n, ++points) {
      SCOPED_TRACE(testing::Message() << n << " " << for_good);
      std::filesystem::remove_all(log_);
      Fill(1, 4);
      FaultyFileSystem files(FileSystem::Posix());
      files.FailCall(n, absl::ResourceExhaustedError("disk full"), for_good);
      uint64_t synced = 3;
      uint64_t first = 1;
      options_.cut_above = Seq(synced);
      if (auto opened = TryOpen(&files); opened.ok()) {
        const Writer writer = *std::move(opened);
        bool failed = false;
        for (uint64_t i = 4; i <= 12; ++i) {
          absl::Status status = writer->Append(LogRecord(i));
          if (status.ok()) {
            status = i % 2 == 0 ? writer->Sync() : writer->Flush();
          }
          if (failed) {
            ASSERT_THAT(status,
                        StatusIs(StatusCode::kFailedPrecondition, "disk full"));
          } else if (status.ok()) {
            if (i % 2 == 0) synced = i;
          } else {
            ASSERT_THAT(status, StatusIs(StatusCode::kResourceExhausted));
            failed = true;
          }
        }
        writer->DropBefore(Seq(4)).IgnoreError();  // It may fail.
        first = Number(writer->first_sequence());
      }
      reached = files.FaultReached();
      files.FailCall(0, absl::OkStatus());
      files.PowerCut(n % 50);
      options_.cut_above.reset();
      const auto writer = TryOpen(&files);
      ASSERT_THAT(writer, IsOk());
      const uint64_t last = Number((*writer)->last_sequence());
      ASSERT_GE(last, synced);
      ASSERT_THAT((*writer)->Append(LogRecord(last + 1)), IsOk());
      ASSERT_THAT((*writer)->Close(), IsOk());
      const LogContent content = ReadLog(log_);
      ASSERT_THAT(content.status, IsOk());
      ASSERT_LE(content.sequences.front(), first);
      ASSERT_EQ(content.sequences, Range(content.sequences.front(), last + 1));
      ASSERT_FALSE(content.altered);
    }
  }
  EXPECT_GT(points, 100u);
}

// Every checksum fits; what is said does not. See FileFromRecipe.
TEST_F(WriteLogDamageTest, WhatAWrongWriterWroteIsRefused) {
  const struct {
    std::string recipe;
    std::string reason;
  } cases[] = {
      {std::string("\6\0\0\1x", 5), "no record of this sequence"},
      {std::string("\6\0\0\2\x08\x05", 6), "no record of this sequence"},
      {std::string("\6\0\1\4\x08\x07\x10\x02", 8), "no trailer"},
      {std::string("\6\0\2\0", 4), "no header"},
      {std::string("\6\0\3\0\6\0", 6), "behind the trailer"},
      {std::string("\6\0\x95\0", 4), "records are missing"},
      {std::string("\6\0\x7d\0", 4), "steps back"},
  };
  for (const auto& [recipe, reason] : cases) {
    WriteFile(dir_.Sub("f"),
              FileFromRecipe({.log_id = 7, .first_sequence = 1}, recipe));
    const LogContent content = ReadLog(dir_.Sub("f"));
    EXPECT_THAT(content.status, StatusIs(StatusCode::kDataLoss, reason));
    EXPECT_THAT(content.sequences, ElementsAre(1));
  }
}

TEST_F(WriteLogDamageTest, TheReportIsBounded) {
  const WriteLogFileId id{.log_id = 7, .first_sequence = 1};
  std::string recipe;
  for (int i = 0; i < 3000; ++i) {
    recipe.append({'\6', 0, '\4', 1, 'x'});  // A record, a byte of garbage.
  }
  WriteFile(dir_.Sub("f"), FileFromRecipe(id, recipe + std::string(2, '\6')));
  const LogContent content = ReadLog(dir_.Sub("f"), kSkip);
  EXPECT_THAT(content.status, IsOk());
  EXPECT_EQ(content.report.damage.size(), WriteLogReadReport::kDamageKeptMax);
  EXPECT_EQ(content.report.damage_count, 3000u);
  EXPECT_EQ(content.report.damage_bytes, 3000u);
  EXPECT_EQ(content.report.sequences_missing, 0u);
}

TEST_F(WriteLogDamageTest, AnyBytesAreReadInOrderAndAccountedFor) {
  const google::protobuf::LogSilencer silencer;
  const char* given = std::getenv("DOVETAIL_TEST_SEED");
  const uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : 20260101;
  std::cout << "DOVETAIL_TEST_SEED=" << seed << "\n";
  std::mt19937_64 random(seed);
  RecordEnds(6);
  const std::string whole = ReadFile(PathOf(1));
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes;
    if (round % 2 == 0) {
      bytes = whole;
      for (uint64_t flips = random() % 4; flips > 0; --flips) {
        bytes[random() % bytes.size()] = static_cast<char>(random());
      }
      if (random() % 4 == 0) bytes.resize(random() % bytes.size());
      if (random() % 4 == 0) bytes.append(random() % 64, '\0');
    } else {
      std::string recipe;
      for (uint64_t n = random() % 200; n > 0; --n) {
        recipe.push_back(static_cast<char>(random() % 5 == 0 ? random() : 6));
      }
      bytes = FileFromRecipe({.log_id = 7, .first_sequence = 100}, recipe);
    }
    ASSERT_EQ(CheckWriteLogBytes(bytes), "") << "round " << round;
  }
}

}  // namespace
}  // namespace dovetail::test

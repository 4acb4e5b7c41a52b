// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What goes into a write log comes out of it, across files, reopens, cuts and
// retention, and while it is being written.

#include "dovetail/write_log.h"

#include <atomic>
#include <thread>

#include "absl/strings/escaping.h"
#include "tests/engine/write_log_test_util.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A file with room for about three records.
constexpr uint64_t kSmallFile = 400;

TEST_F(WriteLogTest, RecordsComeBackAsTheyWereWritten) {
  v1::WriteLogRecord full = LogRecord(2);
  full.mutable_effects(0)->set_added_by("audit");
  full.add_annotations("checked");
  v1::SpaceDigest* digest = full.add_digests();
  digest->set_table("orders");
  digest->set_index("by_status");
  digest->set_sum(std::string(16, '\xd0'));
  full.set_source("kafka:7");
  full.set_source_position(0);
  const Writer writer = *TryOpen(FileSystem::Posix());
  ASSERT_THAT(writer->Append(LogRecord(1)), IsOk());
  ASSERT_THAT(writer->Append(full), IsOk());
  ASSERT_THAT(
      writer->AppendSerialized(Seq(3), LogRecord(3).SerializeAsString()),
      IsOk());
  ASSERT_THAT(writer->Sync(), IsOk());

  const auto reader = WriteLogReader::Open(FileSystem::Posix(), log_);
  ASSERT_THAT(reader, IsOk());
  std::vector<std::string> records;
  v1::WriteLogRecord record;
  while (*(*reader)->Next(&record)) {
    records.push_back(record.SerializeAsString());
  }
  EXPECT_THAT(records, ElementsAre(LogRecord(1).SerializeAsString(),
                                   full.SerializeAsString(),
                                   LogRecord(3).SerializeAsString()));
  const v1::WriteLogFileHeader& header = (*reader)->header();
  EXPECT_EQ(header.format_version(), 1u);
  EXPECT_EQ(header.first_sequence(), 1u);
  EXPECT_EQ(header.created_us(), clock_.now_us);
  EXPECT_EQ(header.schema().tables(0).name(), "orders");
  EXPECT_EQ((*reader)->report().records, 3u);
  EXPECT_EQ((*reader)->report().bytes, writer->bytes());
  EXPECT_EQ((*reader)->report().torn_file, "");
}

// What docs/format.md says, byte by byte.
TEST_F(WriteLogTest, TheFormatIsPinned) {
  const Writer writer = OpenLog();
  v1::WriteLogRecord record;
  record.set_sequence(258);
  ASSERT_THAT(writer->Append(record), IsOk());
  ASSERT_THAT(writer->Flush(), IsOk());
  const std::string file = ReadFile(PathOf(258));
  ASSERT_GT(file.size(), 32u);
  EXPECT_EQ(absl::BytesToHexString(file.substr(0, 32)),
            "8964766c6f670d0a"  // Magic.
            "00000001"          // Version.
            "0123456789abcdf0"  // Log id.
            "0000000000000102"  // First sequence.
            "992cfa9a");        // CRC.
  EXPECT_EQ(absl::BytesToHexString(file.substr(110)),
            "d07ea1"            // Marker.
            "02"                // A record.
            "00000003"          // Length.
            "0000000000000102"  // Sequence.
            "f141b5e8"          // CRC of the payload.
            "7c9d3b29"          // CRC of the above, salted.
            "088202");          // sequence: 258
}

TEST_F(WriteLogTest, SequencesGrowByOne) {
  const Writer writer = OpenLog();
  EXPECT_EQ(Number(writer->last_sequence()), 0u);
  EXPECT_THAT(writer->Append(LogRecord(0)),
              StatusIs(StatusCode::kInvalidArgument, "sequence=0"));
  EXPECT_THAT(writer->AppendSerialized(Seq(UINT64_MAX), ""),
              StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(writer->Append(LogRecord(7)), IsOk());
  EXPECT_THAT(writer->Append(LogRecord(7)),
              StatusIs(StatusCode::kInvalidArgument, "next=8"));
  EXPECT_THAT(writer->Append(LogRecord(9)),
              StatusIs(StatusCode::kInvalidArgument, "next=8"));
  EXPECT_THAT(writer->Append(LogRecord(8)), IsOk());
  EXPECT_EQ(Number(writer->first_sequence()), 7u);
  EXPECT_EQ(Number(writer->last_sequence()), 8u);
  ASSERT_THAT(writer->Close(), IsOk());
  EXPECT_THAT(ReadLog(log_).sequences, ElementsAre(7, 8));
  EXPECT_THAT(writer->Append(LogRecord(9)),
              StatusIs(StatusCode::kFailedPrecondition, "closed"));
}

TEST_F(WriteLogTest, WhatReadersWouldRefuseIsRefused) {
  const Writer writer = OpenLog();
  v1::WriteLogRecord record = LogRecord(1);
  record.add_annotations("\xff");
  EXPECT_THAT(writer->Append(record),
              StatusIs(StatusCode::kInvalidArgument, "annotations"));
  const std::string large(kWriteLogRecordBytesMax + 1, 'x');
  EXPECT_THAT(writer->AppendSerialized(Seq(1), large),
              StatusIs(StatusCode::kResourceExhausted, "67108865"));
  v1::Schema schema;
  schema.add_tables()->set_name(large);
  EXPECT_THAT(writer->SetSchema(schema),
              StatusIs(StatusCode::kResourceExhausted, "schema"));
  EXPECT_THAT(writer->Append(LogRecord(1)), IsOk());
}

TEST_F(WriteLogTest, TheLargestRecordFitsAndAReaderMayRefuseIt) {
  options_.file_bytes_max = kSmallFile;
  v1::WriteLogRecord record = LogRecord(2);
  record.set_source(
      std::string(kWriteLogRecordBytesMax - record.ByteSizeLong() - 6, '\xd0'));
  const Writer writer = OpenLog();
  ASSERT_THAT(writer->Append(LogRecord(1)), IsOk());
  ASSERT_THAT(writer->Append(record), IsOk());
  ASSERT_THAT(writer->Append(LogRecord(3)), IsOk());
  ASSERT_THAT(writer->Flush(), IsOk());
  EXPECT_THAT(ReadLog(log_).sequences, ElementsAre(1, 2, 3));
  const LogContent refused = ReadLog(log_, {.record_bytes_max = 1 << 20});
  EXPECT_THAT(refused.status,
              StatusIs(StatusCode::kResourceExhausted, "bytes_max=1048576"));
  EXPECT_THAT(refused.sequences, ElementsAre(1));
}

TEST_F(WriteLogTest, FilesAreBoundedAndEachCanBeReadByItself) {
  options_.file_bytes_max = kSmallFile;
  Fill(1, 20);
  std::vector<uint64_t> all;
  const Files files = FilesOf(log_);
  EXPECT_GT(files.size(), 5u);
  for (const auto& [name, bytes] : files) {
    EXPECT_LE(bytes.size(), kSmallFile);
    const LogContent content = ReadLog(log_ + "/" + name);
    EXPECT_THAT(content.status, IsOk());
    EXPECT_EQ(name, LogFile(content.sequences.front()));
    EXPECT_EQ(content.report.bytes, bytes.size());
    all.insert(all.end(), content.sequences.begin(), content.sequences.end());
  }
  EXPECT_EQ(all, Range(1, 20));
  EXPECT_EQ(ReadLog(log_).sequences, Range(1, 20));
}

// The order in which a file gets its successor, which recovery relies on.
TEST_F(WriteLogTest, AFileIsSyncedBeforeItsSuccessorAndThatBeforeItsRecords) {
  FaultyFileSystem files(FileSystem::Posix());
  options_.file_bytes_max = kSmallFile;
  const Writer writer = *TryOpen(&files);
  uint64_t n = 1;
  for (; writer->file_count() < 2; ++n) {
    files.TakeHistory();
    ASSERT_THAT(writer->Append(LogRecord(n)), IsOk());
  }
  const std::string before = LogFile(1), after = LogFile(n - 1);
  EXPECT_THAT(
      files.TakeHistory(),
      ElementsAre("append " + before, "append " + before, "sync " + before,
                  "close " + before, "create " + after, "append " + after,
                  "append " + after, "append " + after, "sync " + after,
                  "sync-directory log", "append " + after, "append " + after));
}

TEST_F(WriteLogTest, ALogGoesOnInTheSameFileUnderTheSameSchema) {
  Fill(1, 3);
  Fill(4, 5);
  EXPECT_EQ(FilesOf(log_).size(), 1u);
  options_.schema = LogSchema("parcels");
  Fill(6, 6);
  Fill(7, 7);
  EXPECT_EQ(FilesOf(log_).size(), 2u);
  EXPECT_EQ(ReadLog(log_).sequences, Range(1, 7));
  const auto reader = WriteLogReader::Open(FileSystem::Posix(), PathOf(6));
  v1::WriteLogRecord record;
  ASSERT_THAT((*reader)->Next(&record), IsOkAndHolds(true));
  EXPECT_EQ((*reader)->header().schema().tables(0).name(), "parcels");
}

TEST_F(WriteLogTest, ANewSchemaBeginsAFile) {
  const Writer writer = OpenLog();
  ASSERT_THAT(writer->SetSchema(LogSchema()), IsOk());
  ASSERT_THAT(writer->Append(LogRecord(1)), IsOk());
  ASSERT_THAT(writer->SetSchema(LogSchema("parcels")), IsOk());
  ASSERT_THAT(writer->SetSchema(LogSchema()), IsOk());
  ASSERT_THAT(writer->Append(LogRecord(2)), IsOk());
  EXPECT_EQ(writer->file_count(), 1u);
  ASSERT_THAT(writer->SetSchema(LogSchema("parcels")), IsOk());
  ASSERT_THAT(writer->Append(LogRecord(3)), IsOk());
  EXPECT_EQ(writer->file_count(), 2u);
}

TEST_F(WriteLogTest, ASecondWriterIsRefused) {
  const Writer writer = OpenLog();
  EXPECT_THAT(TryOpen(), StatusIs(StatusCode::kFailedPrecondition, "lock"));
  ASSERT_THAT(writer->Close(), IsOk());
  EXPECT_THAT(TryOpen(), IsOk());
}

TEST_F(WriteLogTest, ReadingBeginsWhereItIsToldTo) {
  options_.file_bytes_max = kSmallFile;
  Fill(5, 20);
  for (uint64_t from = 5; from <= 20; ++from) {
    const LogContent content = ReadLog(log_, {.from_sequence = Seq(from)});
    EXPECT_THAT(content.status, IsOk());
    EXPECT_EQ(content.sequences, Range(from, 20));
  }
  EXPECT_THAT(ReadLog(log_, {.from_sequence = Seq(21)}).sequences, IsEmpty());
  EXPECT_THAT(ReadLog(log_, {.from_sequence = Seq(4)}).status,
              StatusIs(StatusCode::kNotFound, "first=5"));
  EXPECT_THAT(ReadLog(PathOf(5), {.from_sequence = Seq(4)}).status,
              StatusIs(StatusCode::kNotFound, "first=5"));
}

TEST_F(WriteLogTest, AFollowerSeesWhatIsFlushedAcrossFiles) {
  options_.file_bytes_max = kSmallFile;
  std::filesystem::create_directory(log_);
  const auto reader =
      WriteLogReader::Open(FileSystem::Posix(), log_, {.follow = true});
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT(ReadOn(**reader).sequences, IsEmpty());
  const Writer writer = OpenLog();
  for (uint64_t n = 1; n <= 20; ++n) {
    ASSERT_THAT(writer->Append(LogRecord(n)), IsOk());
    ReadOn(**reader);  // Whatever of the head is there by now.
    ASSERT_THAT(writer->Flush(), IsOk());
    const LogContent content = ReadOn(**reader);
    EXPECT_THAT(content.status, IsOk());
    EXPECT_THAT(content.sequences, ElementsAre(n));
    EXPECT_FALSE(content.altered);
  }
  EXPECT_GT(writer->file_count(), 5u);
  EXPECT_EQ((*reader)->report().bytes, writer->bytes());
  EXPECT_EQ((*reader)->report().records, 20u);
}

TEST_F(WriteLogTest, AFollowerBesideAWriterSeesEveryRecordOnce) {
  constexpr uint64_t kCount = 5000;
  options_.file_bytes_max = 10'000;
  const Writer writer = *TryOpen(FileSystem::Posix());
  absl::Status written;
  std::atomic<bool> done = false;
  std::thread thread([&] {
    for (uint64_t n = 1; n <= kCount && written.ok(); ++n) {
      written = writer->Append(LogRecord(n));
      if (written.ok() && n % 3 == 0) written = writer->Flush();
    }
    if (written.ok()) written = writer->Flush();
    done = true;
  });
  const auto reader =
      WriteLogReader::Open(FileSystem::Posix(), log_, {.follow = true});
  uint64_t last = 0;
  absl::Status status = reader.status();
  v1::WriteLogRecord record;
  while (status.ok()) {
    const bool last_look = done;
    const absl::StatusOr<bool> more = (*reader)->Next(&record);
    status = more.status();
    if (last_look && more.ok() && !*more) break;
    if (!more.ok() || !*more) continue;
    if (record.sequence() != ++last) status = absl::InternalError("order");
  }
  thread.join();
  EXPECT_THAT(status, IsOk());
  EXPECT_THAT(written, IsOk());
  EXPECT_EQ(last, kCount);
}

// Every prefix of a growing log is a place where a follower may look.
TEST_F(WriteLogTest, AFollowerWaitsForTheRestOfAFrame) {
  options_.file_bytes_max = kSmallFile;
  Fill(1, 8);
  const Files whole = FilesOf(log_);
  WriteFiles(log_, {});
  const auto reader =
      WriteLogReader::Open(FileSystem::Posix(), log_, {.follow = true});
  std::vector<uint64_t> all;
  for (const auto& [name, bytes] : whole) {
    for (size_t size = 0; size <= bytes.size(); ++size) {
      WriteFile(log_ + "/" + name, bytes.substr(0, size));
      const LogContent content = ReadOn(**reader);
      ASSERT_THAT(content.status, IsOk()) << name << " at " << size;
      all.insert(all.end(), content.sequences.begin(), content.sequences.end());
    }
  }
  EXPECT_EQ(all, Range(1, 8));
}

TEST_F(WriteLogTest, AFollowerPassesATailThatTheNextWriterCuts) {
  Fill(1, 3);
  const std::string whole = ReadFile(PathOf(1));
  WriteFile(PathOf(1), whole.substr(0, whole.size() - 5));
  const auto reader =
      WriteLogReader::Open(FileSystem::Posix(), log_, {.follow = true});
  LogContent content = ReadOn(**reader);
  EXPECT_THAT(content.sequences, ElementsAre(1, 2));
  EXPECT_GT(content.report.torn_bytes, 0u);
  Fill(3, 5);
  content = ReadOn(**reader);
  EXPECT_THAT(content.status, IsOk());
  EXPECT_THAT(content.sequences, ElementsAre(3, 4, 5));
  EXPECT_EQ(content.report.torn_bytes, 0u);
  EXPECT_FALSE(content.altered);
}

TEST_F(WriteLogTest, AFollowerIsToldIfWhatItReadIsCut) {
  Fill(1, 5);
  const auto reader =
      WriteLogReader::Open(FileSystem::Posix(), log_, {.follow = true});
  EXPECT_EQ(ReadOn(**reader).sequences, Range(1, 5));
  options_.cut_above = Seq(3);
  OpenLog().reset();
  EXPECT_THAT(ReadOn(**reader).status,
              StatusIs(StatusCode::kDataLoss, "cut below what was read"));
  EXPECT_THAT(ReadOn(**reader).status, StatusIs(StatusCode::kDataLoss));
}

TEST_F(WriteLogTest, OneFileCanBeFollowedUntilItIsComplete) {
  options_.file_bytes_max = kSmallFile;
  const Writer writer = OpenLog();
  ASSERT_THAT(writer->Append(LogRecord(1)), IsOk());
  ASSERT_THAT(writer->Flush(), IsOk());
  const auto reader =
      WriteLogReader::Open(FileSystem::Posix(), PathOf(1), {.follow = true});
  std::vector<uint64_t> all = ReadOn(**reader).sequences;
  uint64_t n = 2;
  for (; writer->file_count() < 3; ++n) {
    ASSERT_THAT(writer->Append(LogRecord(n)), IsOk());
    ASSERT_THAT(writer->Flush(), IsOk());
    const LogContent content = ReadOn(**reader);
    EXPECT_THAT(content.status, IsOk());
    all.insert(all.end(), content.sequences.begin(), content.sequences.end());
  }
  EXPECT_EQ(all, ReadLog(PathOf(1)).sequences);
}

TEST_F(WriteLogTest, WhatIsAboveTheStoreIsCutAndKept) {
  options_.file_bytes_max = kSmallFile;
  Fill(1, 20);
  const Files whole = FilesOf(log_);
  for (uint64_t last = 1; last <= 20; ++last) {
    WriteFiles(log_, whole);
    options_.cut_above = Seq(last);
    const Writer writer = OpenLog();
    ASSERT_NE(writer, nullptr);
    EXPECT_EQ(Number(writer->last_sequence()), last);
    EXPECT_FALSE(writer->open_report().created);
    uint64_t bytes = 0;
    for (const WriteLogCut& cut : writer->open_report().cuts) {
      bytes += cut.bytes;
      EXPECT_EQ(ReadFile(log_ + "/" + cut.kept_as),
                whole.at(cut.file).substr(cut.offset));
    }
    uint64_t before = 0;
    for (const auto& [name, content] : whole) before += content.size();
    EXPECT_EQ(writer->bytes(), before - bytes);
    ASSERT_THAT(writer->Append(LogRecord(last + 1)), IsOk());
    ASSERT_THAT(writer->Flush(), IsOk());
    const LogContent content = ReadLog(log_);
    EXPECT_THAT(content.status, IsOk());
    EXPECT_EQ(content.sequences, Range(1, last + 1));
  }
  options_.cut_above = Seq(0);
  const Writer writer = OpenLog();
  EXPECT_TRUE(writer->open_report().created);
  EXPECT_EQ(Number(writer->last_sequence()), 0u);
  EXPECT_THAT(writer->Append(LogRecord(100)), IsOk());
}

TEST_F(WriteLogTest, NamesInLostAreNotTakenTwice) {
  for (int i = 0; i < 3; ++i) {
    options_.cut_above = Seq(1);
    Fill(i == 0 ? 1 : 2, 3);
  }
  const Writer writer = OpenLog();
  const std::string cut =
      "lost/" + LogFile(1) + "." + std::to_string(writer->bytes());
  std::vector<std::string> names;
  for (const auto& [name, bytes] : FilesOf(log_)) names.push_back(name);
  EXPECT_THAT(names, ElementsAre(LogFile(1), cut, cut + ".1", cut + ".2"));
}

TEST_F(WriteLogTest, RetentionDropsTheOldestFilesButNeverTheNewest) {
  options_.file_bytes_max = kSmallFile;
  const int64_t start = clock_.now_us;
  const Writer writer = OpenLog();
  for (uint64_t n = 1; n <= 20; ++n) {
    clock_.now_us = start + static_cast<int64_t>(n) * 1000;
    ASSERT_THAT(writer->Append(LogRecord(n)), IsOk());
  }
  const uint64_t files = writer->file_count();
  const uint64_t bytes = writer->bytes();
  EXPECT_EQ((*writer->ApplyRetention({})).files, 0u);
  EXPECT_EQ((*writer->ApplyRetention({.bytes_max = bytes})).files, 0u);
  auto dropped = writer->ApplyRetention({.bytes_max = bytes - 1});
  ASSERT_THAT(dropped, IsOk());
  EXPECT_EQ(dropped->files, 1u);
  EXPECT_EQ(writer->bytes(), bytes - dropped->bytes);
  EXPECT_EQ(writer->file_count(), files - 1);

  // The file that holds a sequence stays, and so do those behind it; the ones
  // before go.
  ASSERT_THAT(writer->Flush(), IsOk());
  for (uint64_t n = Number(writer->first_sequence()); n <= 14; ++n) {
    ASSERT_THAT(writer->DropBefore(Seq(n)), IsOk());
    const uint64_t first = Number(writer->first_sequence());
    const uint64_t last = ReadLog(PathOf(first)).sequences.back();
    EXPECT_LE(first, n);
    EXPECT_GE(last, n);
    EXPECT_EQ(ReadLog(log_).sequences, Range(first, 20));
  }

  // Nothing in the log is newer than its last record.
  dropped = writer->ApplyRetention({.age_max_us = 0});
  ASSERT_THAT(dropped, IsOk());
  EXPECT_LE(writer->file_count(), 2u);
  clock_.now_us += 1;
  ASSERT_THAT(writer->ApplyRetention({.age_max_us = 0}), IsOk());
  EXPECT_EQ(writer->file_count(), 1u);
  ASSERT_THAT(writer->ApplyRetention({.bytes_max = 0}), IsOk());
  EXPECT_EQ(writer->file_count(), 1u);
  ASSERT_THAT(writer->Append(LogRecord(21)), IsOk());
  ASSERT_THAT(writer->Close(), IsOk());
  EXPECT_EQ(ReadLog(log_).sequences.back(), 21u);
}

TEST_F(WriteLogTest, RetentionByAgeKnowsTheFilesThatItFound) {
  options_.file_bytes_max = kSmallFile;
  const int64_t start = clock_.now_us;
  for (uint64_t n = 1; n <= 20; ++n) {
    clock_.now_us = start + static_cast<int64_t>(n) * 1000;
    Fill(n, n);
  }
  const Writer writer = OpenLog();
  // Older than 10: whatever was written before 10 was.
  ASSERT_THAT(writer->ApplyRetention({.age_max_us = 10'000}), IsOk());
  const uint64_t first = Number(writer->first_sequence());
  EXPECT_LE(first, 10u);
  EXPECT_GT(first, 5u);
  EXPECT_EQ(ReadLog(log_).sequences, Range(first, 20));
}

TEST_F(WriteLogTest, AReaderIsToldIfItsFileIsDropped) {
  options_.file_bytes_max = kSmallFile;
  Fill(1, 20);
  const auto reader = WriteLogReader::Open(FileSystem::Posix(), log_);
  v1::WriteLogRecord record;
  ASSERT_THAT((*reader)->Next(&record), IsOkAndHolds(true));
  const Writer writer = OpenLog();
  ASSERT_THAT(writer->DropBefore(Seq(20)), IsOk());
  const LogContent content = ReadOn(**reader);
  EXPECT_THAT(content.status, StatusIs(StatusCode::kNotFound, "is gone"));
}

TEST_F(WriteLogTest, ShortReadsLoseNothing) {
  options_.file_bytes_max = kSmallFile;
  Fill(1, 8);
  FaultyFileSystem files(FileSystem::Posix());
  files.SetReadBytesMax(1);
  const LogContent content = ReadLog(log_, {}, &files);
  EXPECT_EQ(content.sequences, Range(1, 8));
  EXPECT_FALSE(content.altered);
}

TEST_F(WriteLogTest, AFailedReadIsReturned) {
  Fill(1, 8);
  FaultyFileSystem files(FileSystem::Posix());
  for (uint64_t n = 1;; ++n) {
    files.FailCall(n, absl::InternalError("disk"));
    const LogContent content = ReadLog(log_, {}, &files);
    if (!files.FaultReached()) {
      EXPECT_EQ(content.sequences, Range(1, 8));
      break;
    }
    EXPECT_THAT(content.status, StatusIs(StatusCode::kInternal, "disk"));
    ASSERT_LT(n, 100u);
  }
}

}  // namespace
}  // namespace dovetail::test

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The write log reader's promise as a property of any bytes: it ends, it
// returns records in order, and it accounts for every byte.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/crc32c.h"
#include "dovetail/write_log.h"
#include "engine/write_log_format.h"

namespace dovetail::test {

// One file in memory, "file", which can only be read.
class OneFileSystem final : public FileSystem {
 public:
  explicit OneFileSystem(std::string_view bytes) : bytes_(bytes) {}

  absl::StatusOr<std::unique_ptr<SequentialFile>> NewSequentialFile(
      const std::string&) override {
    return std::make_unique<File>(bytes_);
  }
  absl::StatusOr<bool> Exists(const std::string&) override { return true; }
  absl::StatusOr<std::vector<std::string>> List(const std::string&) override {
    return absl::FailedPreconditionError("no directory");
  }
  absl::StatusOr<uint64_t> Size(const std::string&) override {
    return bytes_.size();
  }

  absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(
      const std::string&) override {
    return No();
  }
  absl::StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(
      const std::string&) override {
    return No();
  }
  absl::StatusOr<std::unique_ptr<WritableFile>> NewAppendableFile(
      const std::string&) override {
    return No();
  }
  absl::Status Delete(const std::string&) override { return No(); }
  absl::Status CreateDirectory(const std::string&) override { return No(); }
  absl::Status DeleteDirectory(const std::string&) override { return No(); }
  absl::Status Rename(const std::string&, const std::string&) override {
    return No();
  }
  absl::Status Truncate(const std::string&, uint64_t) override { return No(); }
  absl::Status SyncDirectory(const std::string&) override { return No(); }
  absl::StatusOr<std::unique_ptr<FileLock>> Lock(const std::string&) override {
    return No();
  }

 private:
  class File final : public SequentialFile {
   public:
    explicit File(std::string_view bytes) : rest_(bytes) {}
    absl::StatusOr<size_t> Read(size_t n, char* scratch) override {
      n = std::min(n, rest_.size());
      if (n > 0) std::memcpy(scratch, rest_.data(), n);
      rest_.remove_prefix(n);
      return n;
    }
    absl::Status Skip(uint64_t n) override {
      rest_.remove_prefix(std::min<uint64_t>(n, rest_.size()));
      return absl::OkStatus();
    }

   private:
    std::string_view rest_;
  };

  static absl::Status No() { return absl::UnimplementedError("read only"); }

  const std::string_view bytes_;
};

// A file of `id` whose frames have the kinds, the steps from sequence to
// sequence and the payloads that `recipe` says, with checksums that fit: what
// a damaged file does not have, and a wrong writer's may.
inline std::string FileFromRecipe(const WriteLogFileId& id,
                                  std::string_view recipe) {
  const auto take = [&recipe](size_t n) {
    const std::string_view taken = recipe.substr(0, n);
    recipe.remove_prefix(taken.size());
    return taken;
  };
  std::string file = EncodeWriteLogPreamble({.version = 1, .id = id});
  const auto add = [&](WriteLogFrameKind kind, uint64_t sequence,
                       std::string_view payload) {
    const WriteLogFrameHeaderBytes header = EncodeWriteLogFrameHeader(
        {.kind = kind,
         .payload_bytes = static_cast<uint32_t>(payload.size()),
         .sequence = sequence,
         .payload_crc = Crc32c(payload)},
        id, file.size());
    absl::StrAppend(&file, absl::string_view(header.data(), header.size()),
                    absl::string_view(payload.data(), payload.size()));
  };
  v1::WriteLogFileHeader head;
  head.set_format_version(1);
  head.set_log_id(id.log_id);
  head.set_first_sequence(id.first_sequence);
  add(WriteLogFrameKind::kHeader, id.first_sequence, head.SerializeAsString());

  uint64_t sequence = id.first_sequence;
  while (recipe.size() >= 2) {
    const auto how = static_cast<uint8_t>(take(1)[0]);
    const auto size = static_cast<uint8_t>(take(1)[0]);
    const std::string_view bytes = take(size);
    v1::WriteLogRecord record;
    record.set_sequence(sequence);
    record.set_source(std::string(bytes));
    v1::WriteLogFileTrailer trailer;
    trailer.set_record_count(sequence - id.first_sequence);
    trailer.set_last_sequence(sequence - 1);
    switch (how % 8) {
      case 0:
        add(WriteLogFrameKind::kRecord, sequence, bytes);
        break;
      case 1:
        add(WriteLogFrameKind::kTrailer, sequence, bytes);
        break;
      case 2:
        add(WriteLogFrameKind::kHeader, sequence, bytes);
        break;
      case 3:
        add(WriteLogFrameKind::kTrailer, sequence - 1,
            trailer.SerializeAsString());
        break;
      case 4:
        file.append(bytes);  // Garbage.
        break;
      case 5:
        sequence += how / 8 - 16;  // A gap, or a step back.
        [[fallthrough]];
      default:
        record.set_sequence(sequence);
        add(WriteLogFrameKind::kRecord, sequence++, record.SerializeAsString());
    }
  }
  return file;
}

struct WriteLogBytesRead {
  absl::Status status;
  std::vector<uint64_t> sequences;
  WriteLogReadReport report;
};

inline WriteLogBytesRead ReadWriteLogBytes(std::string_view bytes,
                                           bool skip_damaged) {
  OneFileSystem files(bytes);
  WriteLogBytesRead read;
  const auto reader =
      WriteLogReader::Open(&files, "file", {.skip_damaged = skip_damaged});
  read.status = reader.status();
  if (!reader.ok()) return read;
  v1::WriteLogRecord record;
  while (true) {
    const absl::StatusOr<bool> more = (*reader)->Next(&record);
    read.status = more.status();
    if (!more.ok() || !*more) break;
    read.sequences.push_back(record.sequence());
  }
  read.report = (*reader)->report();
  return read;
}

// What is wrong with how `bytes` are read as a write log file, or empty.
inline std::string CheckWriteLogBytes(std::string_view bytes) {
  const WriteLogBytesRead strict = ReadWriteLogBytes(bytes, false);
  const WriteLogBytesRead lenient = ReadWriteLogBytes(bytes, true);
  const auto accounted = [](const WriteLogReadReport& report) {
    return report.bytes + report.damage_bytes + report.torn_bytes;
  };
  for (size_t i = 1; i < strict.sequences.size(); ++i) {
    if (strict.sequences[i] != strict.sequences[i - 1] + 1) {
      return absl::StrCat("a gap before ", strict.sequences[i]);
    }
  }
  for (size_t i = 1; i < lenient.sequences.size(); ++i) {
    if (lenient.sequences[i] <= lenient.sequences[i - 1]) {
      return absl::StrCat("a step back to ", lenient.sequences[i]);
    }
  }
  if (strict.status.ok()) {
    if (accounted(strict.report) != bytes.size()) return "bytes are missing";
    if (strict.sequences != lenient.sequences) {
      return "skip_damaged changes what is whole";
    }
  } else if (strict.status.code() != absl::StatusCode::kDataLoss &&
             strict.status.code() != absl::StatusCode::kFailedPrecondition) {
    return absl::StrCat("not an error of a reader: ", strict.status.ToString());
  }
  if (!std::equal(strict.sequences.begin(), strict.sequences.end(),
                  lenient.sequences.begin(),
                  lenient.sequences.begin() + static_cast<int64_t>(std::min(
                                                  strict.sequences.size(),
                                                  lenient.sequences.size())))) {
    return "skip_damaged loses what comes before the damage";
  }
  if (lenient.status.code() == absl::StatusCode::kFailedPrecondition) {
    return "";  // Another version.
  }
  if (!lenient.status.ok()) {
    return absl::StrCat("damage is not passed over: ",
                        lenient.status.ToString());
  }
  if (accounted(lenient.report) != bytes.size()) {
    return absl::StrCat("not all bytes are accounted for: is ",
                        accounted(lenient.report), " of ", bytes.size());
  }
  if (strict.status.ok() != (lenient.report.damage_count == 0)) {
    return "damage without a report, or a report without damage";
  }
  return "";
}

}  // namespace dovetail::test

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// First everything is looked at, then everything is cut, the newest part
// first: whenever that ends, what is left is the front of the log.

#include "engine/write_log_recovery.h"

#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/write_log_directory.h"
#include "engine/write_log_scanner.h"

namespace dovetail {
namespace {

using Event = WriteLogScanner::Event;

absl::Status Damaged(const std::string& path, uint64_t offset,
                     std::string_view reason) {
  return absl::DataLossError(
      absl::StrCat("the write log is damaged: reason=", ToAbsl(Quote(reason)),
                   " file=", ToAbsl(Quote(path, 1024)), " offset=", offset));
}

absl::StatusOr<std::unique_ptr<WriteLogScanner>> Scan(FileSystem* file_system,
                                                      const std::string& path) {
  ASSIGN_OR_RETURN(auto file, file_system->NewSequentialFile(path));
  return std::make_unique<WriteLogScanner>(std::move(file), path,
                                           kWriteLogRecordBytesMax);
}

// The header in the frame that `scanner` has just returned, or nullopt.
std::optional<v1::WriteLogFileHeader> HeaderIn(const WriteLogScanner& scanner) {
  v1::WriteLogFileHeader header;
  if (scanner.frame().kind != WriteLogFrameKind::kHeader ||
      !header.ParseFromArray(scanner.payload().data(),
                             static_cast<int>(scanner.payload().size())) ||
      header.log_id() != scanner.id()->log_id ||
      header.first_sequence() != scanner.id()->first_sequence) {
    return std::nullopt;
  }
  return header;
}

struct FileEnd {
  WriteLogTail tail;
  // Where to cut; absent if there is nothing to cut.
  std::optional<uint64_t> cut_at;
  std::string_view reason;
};

// Looks for the place where one file, whose name is `first`, goes on.
class FileEndFinder {
 public:
  FileEndFinder(FileSystem* file_system, std::string path, uint64_t first,
                const WriteLogRecoveryOptions& options)
      : file_system_(file_system),
        path_(std::move(path)),
        first_(first),
        options_(options) {}

  absl::StatusOr<FileEnd> Find() {
    ASSIGN_OR_RETURN(scanner_, Scan(file_system_, path_));
    ASSIGN_OR_RETURN(Event event, scanner_->ReadPreamble());
    if (event == Event::kCutOff) return CutAt(0, scanner_->reason());
    if (event == Event::kDamaged) return Damaged(path_, 0, scanner_->reason());
    end_.tail.id = *scanner_->id();
    if (end_.tail.id.first_sequence != first_) {
      return Damaged(path_, 0, "the file has another file's name");
    }
    while (true) {
      ASSIGN_OR_RETURN(event, scanner_->Next());
      if (event != Event::kFrame) return OnBreak(event);
      ASSIGN_OR_RETURN(const bool is_end, OnFrame());
      if (is_end) return CutAt(scanner_->offset(), "above the store's commits");
    }
  }

 private:
  // True if the log ends before this frame.
  absl::StatusOr<bool> OnFrame() {
    const WriteLogFrameHeader& frame = scanner_->frame();
    const uint64_t offset = scanner_->offset();
    WriteLogTail& tail = end_.tail;
    if (offset == kWriteLogPreambleBytes) {
      std::optional<v1::WriteLogFileHeader> header = HeaderIn(*scanner_);
      if (!header.has_value()) return Damaged(path_, offset, "no header");
      tail.header = *std::move(header);
      has_header_ = true;
      return false;
    }
    if (tail.complete || frame.kind == WriteLogFrameKind::kHeader) {
      return Damaged(path_, offset, "a frame that does not belong here");
    }
    if (frame.kind == WriteLogFrameKind::kTrailer) {
      if (frame.sequence + 1 != tail.next_sequence()) {
        return Damaged(path_, offset, "no trailer that belongs here");
      }
      tail.complete = true;
      return false;
    }
    if (IsAbove(frame.sequence, options_.cut_above)) return true;
    if (frame.sequence != tail.next_sequence()) {
      return Damaged(path_, offset, "not the sequence that is due");
    }
    ++tail.records;
    return false;
  }

  absl::StatusOr<FileEnd> OnBreak(Event event) {
    if (event == Event::kEnd && has_header_) return std::move(end_);
    const uint64_t offset = scanner_->offset();
    const std::string_view reason = scanner_->reason();
    const uint64_t next = end_.tail.next_sequence();
    if (event == Event::kDamaged && !IsAbove(next, options_.cut_above) &&
        !IsAbove(next, options_.synced)) {
      ASSIGN_OR_RETURN(const bool more, scanner_->FindIntact());
      if (more) return Damaged(path_, offset, reason);
    }
    // Without its header a file is of no use.
    return CutAt(has_header_ ? offset : 0, reason);
  }

  FileEnd CutAt(uint64_t offset, std::string_view reason) {
    end_.cut_at = offset;
    end_.reason = reason;
    return std::move(end_);
  }

  static bool IsAbove(uint64_t sequence, std::optional<SequenceNumber> bound) {
    return bound.has_value() && sequence > static_cast<uint64_t>(*bound);
  }

  FileSystem* const file_system_;
  const std::string path_;
  const uint64_t first_;
  const WriteLogRecoveryOptions options_;

  std::unique_ptr<WriteLogScanner> scanner_;
  FileEnd end_;
  bool has_header_ = false;
};

struct PlannedCut {
  uint64_t file;
  uint64_t offset;
  std::string_view reason;
};

absl::Status Cut(FileSystem* file_system, const std::string& directory,
                 const PlannedCut& cut, WriteLogOpenReport* report) {
  ASSIGN_OR_RETURN(const uint64_t size,
                   file_system->Size(WriteLogPath(directory, cut.file)));
  ASSIGN_OR_RETURN(std::string kept_as, CutWriteLogFile(file_system, directory,
                                                        cut.file, cut.offset));
  report->cuts.push_back({.file = WriteLogFileName(cut.file),
                          .offset = cut.offset,
                          .bytes = size - cut.offset,
                          .reason = std::string(cut.reason),
                          .kept_as = std::move(kept_as)});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RecoveredWriteLog> RecoverWriteLog(
    FileSystem* file_system, const std::string& directory,
    const WriteLogRecoveryOptions& options) {
  RecoveredWriteLog log;
  ASSIGN_OR_RETURN(log.files, ListWriteLogFiles(file_system, directory));
  std::vector<PlannedCut> cuts;
  while (!log.files.empty() && !log.tail.has_value()) {
    const uint64_t first = log.files.back();
    if (options.cut_above.has_value() &&
        first > static_cast<uint64_t>(*options.cut_above)) {
      cuts.push_back({first, 0, "above the store's commits"});
      log.files.pop_back();
      continue;
    }
    FileEndFinder finder(file_system, WriteLogPath(directory, first), first,
                         options);
    ASSIGN_OR_RETURN(FileEnd end, finder.Find());
    if (end.cut_at.has_value()) {
      cuts.push_back({first, *end.cut_at, end.reason});
    }
    if (end.cut_at == 0u) {
      log.files.pop_back();
    } else {
      log.tail = std::move(end.tail);
    }
  }
  for (const PlannedCut& cut : cuts) {
    RETURN_IF_ERROR(Cut(file_system, directory, cut, &log.report));
  }
  log.report.created = log.files.empty();
  return log;
}

absl::StatusOr<v1::WriteLogFileHeader> ReadWriteLogFileHeader(
    FileSystem* file_system, const std::string& path) {
  ASSIGN_OR_RETURN(const auto scanner, Scan(file_system, path));
  ASSIGN_OR_RETURN(Event event, scanner->ReadPreamble());
  if (event == Event::kFrame) {
    ASSIGN_OR_RETURN(event, scanner->Next());
  }
  std::optional<v1::WriteLogFileHeader> header;
  if (event == Event::kFrame) header = HeaderIn(*scanner);
  if (!header.has_value()) return Damaged(path, 0, "no header");
  return *std::move(header);
}

}  // namespace dovetail

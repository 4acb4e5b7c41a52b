// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Reads LevelDB's log format, in which its logs and manifests are written,
// without LevelDB's leniency: whatever is not an intact record is a break.
//
// A file is a sequence of blocks of 32 KiB. A block holds pieces, each a
// header of 7 bytes and data, and at its end up to 6 bytes that are not used:
//
//   checksum: fixed32   masked CRC-32C of type and data
//   length:   fixed16   of data
//   type:     1 byte    kFull, or kFirst kMiddle* kLast, make up one record

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "dovetail/file_system.h"

namespace dovetail {

// Thread-compatible. Holds one block and one record in memory.
class LevelDbLogReader {
 public:
  enum class Event {
    kRecord,
    kEnd,   // Of the file, behind the last record.
    kTorn,  // The file ends within a record, or in zeros.
    kBreak,
  };

  explicit LevelDbLogReader(std::unique_ptr<SequentialFile> file)
      : file_(std::move(file)) {}

  // The next event; after kEnd, kTorn or kBreak it is not to be called again.
  // Errors are those of reading the file.
  absl::StatusOr<Event> Next();

  // After kTorn or kBreak: the next intact record behind that place, looked
  // for at every byte. kRecord or kEnd.
  absl::StatusOr<Event> NextIntact();

  // Valid after kRecord, until the next call.
  std::string_view record() const { return record_; }
  // Where the record of the last event, whole or not, begins in the file.
  uint64_t offset() const { return record_offset_; }
  // After kTorn and kBreak: what is wrong there.
  std::string_view reason() const { return reason_; }

 private:
  enum PieceType : uint8_t { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };
  struct Piece {
    PieceType type;
    std::string_view data;
    uint64_t offset;
  };

  // Makes at least a header available at position_. False at the file's end.
  absl::StatusOr<bool> FillBlock();
  // kRecord if a whole piece was read.
  absl::StatusOr<Event> ReadPiece(Piece* piece);
  // Parses the piece at position_ without moving. Sets reason_ if not intact.
  Event ParsePiece(Piece* piece);
  Event Broken(Event event, std::string_view reason);

  std::string_view rest() const {
    return std::string_view(block_).substr(position_);
  }

  const std::unique_ptr<SequentialFile> file_;
  std::string block_;
  uint64_t block_offset_ = 0;  // Of block_ in the file.
  size_t position_ = 0;        // In block_.
  bool last_block_ = false;    // Shorter than a block: the file ends in it.

  std::string record_;
  uint64_t record_offset_ = 0;
  std::string_view reason_;
};

}  // namespace dovetail

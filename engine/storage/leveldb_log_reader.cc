// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/storage/leveldb_log_reader.h"

#include "base/crc32c.h"
#include "base/seeded_bug.h"
#include "base/status_macros.h"
#include "engine/storage/leveldb_coding.h"

namespace dovetail {
namespace {

constexpr size_t kBlockBytes = 32768;
constexpr size_t kHeaderBytes = 7;
constexpr size_t kTypeOffset = 6;

}  // namespace

absl::StatusOr<LevelDbLogReader::Event> LevelDbLogReader::Next() {
  bool in_record = false;
  record_.clear();
  while (true) {
    Piece piece;
    ASSIGN_OR_RETURN(const Event event, ReadPiece(&piece));
    if (!in_record) record_offset_ = piece.offset;
    if (event == Event::kEnd && in_record) {
      return Broken(Event::kTorn, "record without its end");
    }
    if (event != Event::kRecord) return event;

    const bool begins = piece.type == kFull || piece.type == kFirst;
    if (begins == in_record) {
      // The piece is intact, though not what belongs here: NextIntact is to
      // find it.
      position_ -= kHeaderBytes + piece.data.size();
      return Broken(Event::kBreak, begins ? "record without its end"
                                          : "record without its beginning");
    }
    record_.append(piece.data);
    if (piece.type == kFull || piece.type == kLast) return Event::kRecord;
    in_record = true;
  }
}

absl::StatusOr<LevelDbLogReader::Event> LevelDbLogReader::NextIntact() {
  bool in_record = false;
  record_.clear();
  while (true) {
    ASSIGN_OR_RETURN(const bool more, FillBlock());
    if (!more) return Event::kEnd;
    Piece piece;
    if (ParsePiece(&piece) != Event::kRecord) {
      ++position_;
      in_record = false;
      continue;
    }
    position_ += kHeaderBytes + piece.data.size();
    if (piece.type == kFull || piece.type == kFirst) {
      record_.clear();
      record_offset_ = piece.offset;
    } else if (!in_record) {
      continue;
    }
    record_.append(piece.data);
    if (piece.type == kFull || piece.type == kLast) return Event::kRecord;
    in_record = true;
  }
}

absl::StatusOr<bool> LevelDbLogReader::FillBlock() {
  while (rest().size() < kHeaderBytes) {
    if (last_block_) return false;
    block_offset_ += block_.size();
    position_ = 0;
    block_.resize(kBlockBytes);
    size_t size = 0;
    while (size < kBlockBytes) {
      ASSIGN_OR_RETURN(const size_t got,
                       file_->Read(kBlockBytes - size, block_.data() + size));
      if (got == 0) break;
      size += got;
    }
    block_.resize(size);
    last_block_ = size < kBlockBytes;
  }
  return true;
}

absl::StatusOr<LevelDbLogReader::Event> LevelDbLogReader::ReadPiece(
    Piece* piece) {
  ASSIGN_OR_RETURN(const bool more, FillBlock());
  piece->offset = block_offset_ + position_;
  if (!more) {
    if (rest().empty()) return Event::kEnd;
    return Broken(Event::kTorn, "record header is cut off");
  }
  const Event event = ParsePiece(piece);
  position_ += event == Event::kRecord ? kHeaderBytes + piece->data.size() : 1;
  return event;
}

LevelDbLogReader::Event LevelDbLogReader::ParsePiece(Piece* piece) {
  const std::string_view bytes = rest();
  const uint32_t checksum = UnmaskCrc32c(DecodeFixed32(bytes.data()));
  const size_t length = static_cast<uint8_t>(bytes[4]) |
                        static_cast<size_t>(static_cast<uint8_t>(bytes[5]))
                            << 8;
  const auto type = static_cast<uint8_t>(bytes[kTypeOffset]);
  piece->offset = block_offset_ + position_;
  if (type < kFull || type > kLast) {
    // A file that grew on disk before its data got there.
    if (last_block_ && bytes.find_first_not_of('\0') == bytes.npos) {
      return Broken(Event::kTorn, "zeros up to the end of the file");
    }
    return Broken(Event::kBreak, "unknown record type");
  }
  if (length > bytes.size() - kHeaderBytes) {
    if (!last_block_) return Broken(Event::kBreak, "length beyond the block");
    // Cut off; unless the checksum says that all of it is here, and the
    // length is what is wrong.
    if (Crc32c(bytes.substr(kTypeOffset)) == checksum) {
      return Broken(Event::kBreak, "length beyond the file");
    }
    return Broken(Event::kTorn, "record is cut off");
  }
  if (Crc32c(bytes.substr(kTypeOffset, 1 + length)) != checksum &&
      !SeededBug("log_checksum_ignored")) {
    return Broken(Event::kBreak, "checksum mismatch");
  }
  piece->type = static_cast<PieceType>(type);
  piece->data = bytes.substr(kHeaderBytes, length);
  return Event::kRecord;
}

LevelDbLogReader::Event LevelDbLogReader::Broken(Event event,
                                                 std::string_view reason) {
  reason_ = reason;
  return event;
}

}  // namespace dovetail

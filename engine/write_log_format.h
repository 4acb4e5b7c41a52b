// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The bytes of a write log's files around their Protobuf messages, as
// docs/format.md has them: names, the preamble, and the headers of frames.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dovetail/v1/write_log.pb.h"

namespace dovetail {

enum class WriteLogVersion : uint32_t { kFirst = 1 };
inline constexpr auto kWriteLogVersion = WriteLogVersion::kFirst;

inline constexpr size_t kWriteLogPreambleBytes = 32;
inline constexpr size_t kWriteLogFrameHeaderBytes = 24;
// The first byte of every frame.
inline constexpr char kWriteLogFrameByte = '\xd0';
// The last sequence that can have a successor.
inline constexpr uint64_t kWriteLogSequenceMax = UINT64_MAX - 1;

// `<20 digits>.dvlog`. REQUIRES: sequence > 0.
std::string WriteLogFileName(uint64_t first_sequence);
// The sequence in a name, or nullopt if it is no name of a log file.
std::optional<uint64_t> ParseWriteLogFileName(std::string_view name);

// What a file's frames are salted with, besides their offset.
struct WriteLogFileId {
  uint64_t log_id = 0;
  uint64_t first_sequence = 0;
  friend bool operator==(const WriteLogFileId&,
                         const WriteLogFileId&) = default;
};

struct WriteLogPreamble {
  uint32_t version = 0;
  WriteLogFileId id;
};

std::string EncodeWriteLogPreamble(const WriteLogPreamble& preamble);
// Nullopt if the bytes are no preamble of any version.
// REQUIRES: `bytes` has kWriteLogPreambleBytes.
std::optional<WriteLogPreamble> DecodeWriteLogPreamble(std::string_view bytes);
// Whether `bytes` could be the front of a preamble that was cut off.
bool IsCutOffWriteLogPreamble(std::string_view bytes);

enum class WriteLogFrameKind : uint8_t {
  kHeader = 1,
  kRecord = 2,
  kTrailer = 3
};

struct WriteLogFrameHeader {
  WriteLogFrameKind kind;
  uint32_t payload_bytes;
  uint64_t sequence;
  uint32_t payload_crc;  // Not masked.
};

using WriteLogFrameHeaderBytes = std::array<char, kWriteLogFrameHeaderBytes>;

// The header of the frame that stands at `offset` of the file `id`.
WriteLogFrameHeaderBytes EncodeWriteLogFrameHeader(
    const WriteLogFrameHeader& header, const WriteLogFileId& id,
    uint64_t offset);
// Nullopt unless the bytes were made for this place of this file. The length
// is within kWriteLogRecordBytesMax.
// REQUIRES: `bytes` has at least kWriteLogFrameHeaderBytes.
std::optional<WriteLogFrameHeader> DecodeWriteLogFrameHeader(
    std::string_view bytes, const WriteLogFileId& id, uint64_t offset);
// The length that a frame header claims to have, for a file whose id is not
// known: to be checked by what follows. Nullopt if over the limit.
std::optional<uint32_t> ClaimedWriteLogPayloadBytes(std::string_view bytes);

}  // namespace dovetail

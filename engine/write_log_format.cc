// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/write_log_format.h"

#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "base/coding.h"
#include "base/crc32c.h"
#include "base/strings.h"
#include "dovetail/write_log.h"

namespace dovetail {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kMagic =
    "\x89"sv
    "dvlog\r\n"sv;
constexpr std::string_view kMarker = "\xd0\x7e\xa1"sv;
static_assert(kMarker[0] == kWriteLogFrameByte);

constexpr std::string_view kSuffix = ".dvlog"sv;
constexpr size_t kNameDigits = 20;

// Of a frame header.
constexpr size_t kKindAt = 3;
constexpr size_t kLengthAt = 4;
constexpr size_t kSequenceAt = 8;
constexpr size_t kPayloadCrcAt = 16;
constexpr size_t kHeaderCrcAt = 20;

void Put(uint64_t v, int bytes, char* out) {
  for (int i = 0; i < bytes; ++i) {
    out[i] = static_cast<char>(v >> (8 * (bytes - 1 - i)));
  }
}

uint32_t FrameHeaderCrc(const char* header, const WriteLogFileId& id,
                        uint64_t offset) {
  char salt[24];
  Put(id.log_id, 8, salt);
  Put(id.first_sequence, 8, salt + 8);
  Put(offset, 8, salt + 16);
  return ExtendCrc32c(Crc32c({salt, sizeof(salt)}), {header, kHeaderCrcAt});
}

uint32_t Decode32(std::string_view bytes, size_t at) {
  return static_cast<uint32_t>(DecodeBigEndian(bytes.data() + at, 4));
}

}  // namespace

std::string WriteLogFileName(uint64_t first_sequence) {
  return absl::StrFormat("%020u%s", first_sequence, ToAbsl(kSuffix));
}

std::optional<uint64_t> ParseWriteLogFileName(std::string_view name) {
  if (name.size() != kNameDigits + kSuffix.size() || !name.ends_with(kSuffix)) {
    return std::nullopt;
  }
  const std::string_view digits = name.substr(0, kNameDigits);
  uint64_t sequence = 0;
  if (digits.find_first_not_of("0123456789") != digits.npos ||
      !absl::SimpleAtoi(ToAbsl(digits), &sequence) || sequence == 0) {
    return std::nullopt;
  }
  return sequence;
}

std::string EncodeWriteLogPreamble(const WriteLogPreamble& preamble) {
  std::string bytes(kMagic);
  AppendBigEndian(preamble.version, 4, &bytes);
  AppendBigEndian(preamble.id.log_id, 8, &bytes);
  AppendBigEndian(preamble.id.first_sequence, 8, &bytes);
  AppendBigEndian(MaskCrc32c(Crc32c(bytes)), 4, &bytes);
  return bytes;
}

std::optional<WriteLogPreamble> DecodeWriteLogPreamble(std::string_view bytes) {
  constexpr size_t kCrcAt = kWriteLogPreambleBytes - 4;
  if (!bytes.starts_with(kMagic) || UnmaskCrc32c(Decode32(bytes, kCrcAt)) !=
                                        Crc32c(bytes.substr(0, kCrcAt))) {
    return std::nullopt;
  }
  return WriteLogPreamble{
      .version = Decode32(bytes, 8),
      .id = {.log_id = DecodeBigEndian(bytes.data() + 12, 8),
             .first_sequence = DecodeBigEndian(bytes.data() + 20, 8)}};
}

bool IsCutOffWriteLogPreamble(std::string_view bytes) {
  return bytes.size() < kWriteLogPreambleBytes &&
         bytes.substr(0, kMagic.size()) == kMagic.substr(0, bytes.size());
}

WriteLogFrameHeaderBytes EncodeWriteLogFrameHeader(
    const WriteLogFrameHeader& header, const WriteLogFileId& id,
    uint64_t offset) {
  WriteLogFrameHeaderBytes bytes;
  std::memcpy(bytes.data(), kMarker.data(), kMarker.size());
  bytes[kKindAt] = static_cast<char>(header.kind);
  Put(header.payload_bytes, 4, &bytes[kLengthAt]);
  Put(header.sequence, 8, &bytes[kSequenceAt]);
  Put(MaskCrc32c(header.payload_crc), 4, &bytes[kPayloadCrcAt]);
  Put(MaskCrc32c(FrameHeaderCrc(bytes.data(), id, offset)), 4,
      &bytes[kHeaderCrcAt]);
  return bytes;
}

std::optional<WriteLogFrameHeader> DecodeWriteLogFrameHeader(
    std::string_view bytes, const WriteLogFileId& id, uint64_t offset) {
  const auto kind = static_cast<uint8_t>(bytes[kKindAt]);
  const std::optional<uint32_t> length = ClaimedWriteLogPayloadBytes(bytes);
  if (!bytes.starts_with(kMarker) || !length.has_value() ||
      kind < static_cast<uint8_t>(WriteLogFrameKind::kHeader) ||
      kind > static_cast<uint8_t>(WriteLogFrameKind::kTrailer) ||
      UnmaskCrc32c(Decode32(bytes, kHeaderCrcAt)) !=
          FrameHeaderCrc(bytes.data(), id, offset)) {
    return std::nullopt;
  }
  return WriteLogFrameHeader{
      .kind = static_cast<WriteLogFrameKind>(kind),
      .payload_bytes = *length,
      .sequence = DecodeBigEndian(bytes.data() + kSequenceAt, 8),
      .payload_crc = UnmaskCrc32c(Decode32(bytes, kPayloadCrcAt))};
}

std::optional<uint32_t> ClaimedWriteLogPayloadBytes(std::string_view bytes) {
  const uint32_t length = Decode32(bytes, kLengthAt);
  if (length > kWriteLogRecordBytesMax) return std::nullopt;
  return length;
}

}  // namespace dovetail

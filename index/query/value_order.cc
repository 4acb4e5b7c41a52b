// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Sortable bytes, big-endian:
//   bool               1 byte, 0 or 1
//   int32, int64, enum 8 bytes, sign bit flipped; uint32, uint64: 8 bytes
//   float, double      4 or 8 bytes, as in keys (key_body.h)
//   string, bytes      as they are
//   Timestamp          seconds as int64, then nanos as 4 bytes, sign flipped
// A sort key's field: [0x00 null first, 0x01 a value, 0x02 null last], then
// the bytes (strings escaped as in keys), complemented if descending.

#include "index/query/value_order.h"

#include "absl/strings/str_cat.h"
#include "base/coding.h"
#include "base/strings.h"
#include "index/key_body.h"

namespace dovetail {
namespace {

constexpr char kNullFirst = 0x00;
constexpr char kValue = 0x01;
constexpr char kNullLast = 0x02;
constexpr uint64_t kSign64 = uint64_t{1} << 63;
constexpr uint32_t kSign32 = uint32_t{1} << 31;

bool IsString(FieldType type) {
  return type == FieldType::kString || type == FieldType::kBytes;
}

// Of a type whose values all have one size.
size_t FixedBytes(FieldType type) {
  switch (type) {
    case FieldType::kBool:
      return 1;
    case FieldType::kFloat:
      return 4;
    case FieldType::kTimestamp:
      return 12;
    default:
      return 8;
  }
}

absl::Status Malformed(FieldType type, std::string_view bytes) {
  return absl::InvalidArgumentError(absl::StrCat(
      "bytes are no value of the order: type=", ToAbsl(FieldTypeName(type)),
      " bytes=", Quote(bytes)));
}

}  // namespace

std::string_view SortableBytes(FieldType type, const FieldValue& value,
                               std::string* buffer) {
  if (IsString(type)) return value.text;
  buffer->clear();
  switch (type) {
    case FieldType::kBool:
      buffer->push_back(value.bits != 0 ? 1 : 0);
      break;
    case FieldType::kFloat:
      AppendBigEndian(OrderedFromFloat(static_cast<uint32_t>(value.bits)), 4,
                      buffer);
      break;
    case FieldType::kDouble:
      AppendBigEndian(OrderedFromDouble(value.bits), 8, buffer);
      break;
    case FieldType::kUint32:
    case FieldType::kUint64:
      AppendBigEndian(value.bits, 8, buffer);
      break;
    case FieldType::kTimestamp:
      AppendBigEndian(value.bits ^ kSign64, 8, buffer);
      AppendBigEndian(static_cast<uint32_t>(value.nanos) ^ kSign32, 4, buffer);
      break;
    default:
      AppendBigEndian(value.bits ^ kSign64, 8, buffer);
      break;
  }
  return *buffer;
}

absl::StatusOr<FieldValue> FromSortableBytes(FieldType type,
                                             std::string_view bytes) {
  FieldValue value;
  value.is_null = false;
  if (IsString(type)) {
    value.text = bytes;
    return value;
  }
  if (bytes.size() != FixedBytes(type)) return Malformed(type, bytes);
  switch (type) {
    case FieldType::kBool:
      value.bits = bytes[0] != 0 ? 1 : 0;
      return value;
    case FieldType::kFloat: {
      uint32_t bits = 0;
      if (!FloatFromOrdered(
              static_cast<uint32_t>(DecodeBigEndian(bytes.data(), 4)), &bits)) {
        return Malformed(type, bytes);
      }
      value.bits = bits;
      return value;
    }
    case FieldType::kDouble:
      if (!DoubleFromOrdered(DecodeBigEndian(bytes.data(), 8), &value.bits)) {
        return Malformed(type, bytes);
      }
      return value;
    case FieldType::kUint32:
    case FieldType::kUint64:
      value.bits = DecodeBigEndian(bytes.data(), 8);
      return value;
    case FieldType::kTimestamp:
      value.nanos = static_cast<int32_t>(
          static_cast<uint32_t>(DecodeBigEndian(bytes.data() + 8, 4)) ^
          kSign32);
      [[fallthrough]];
    default:
      value.bits = DecodeBigEndian(bytes.data(), 8) ^ kSign64;
      return value;
  }
}

void AppendSortKey(const SortField& field, const FieldValue& value,
                   std::string* out) {
  if (value.is_null) {
    out->push_back(field.nulls_last ? kNullLast : kNullFirst);
    return;
  }
  out->push_back(kValue);
  const size_t start = out->size();
  if (IsString(field.type)) {
    AppendEscaped(value.text, out);
  } else {
    std::string buffer;  // Short: never on the heap.
    out->append(SortableBytes(field.type, value, &buffer));
  }
  if (!field.descending) return;
  for (size_t i = start; i < out->size(); ++i) {
    (*out)[i] = static_cast<char>(~(*out)[i]);
  }
}

absl::Status ConsumeSortKey(const SortField& field, std::string_view* key,
                            FieldValue* value, std::string* storage) {
  *value = FieldValue();
  if (key->empty()) return Malformed(field.type, *key);
  const char tag = key->front();
  key->remove_prefix(1);
  if (tag == (field.nulls_last ? kNullLast : kNullFirst)) {
    return absl::OkStatus();
  }
  size_t size = FixedBytes(field.type);
  if (IsString(field.type)) {
    const size_t end = key->find(field.descending ? '\xFF' : '\0');
    size = end == std::string_view::npos ? end : end + 1;
  }
  if (tag != kValue || size > key->size()) return Malformed(field.type, *key);
  storage->assign(key->substr(0, size));
  key->remove_prefix(size);
  if (field.descending) {
    for (char& c : *storage) c = static_cast<char>(~c);
  }
  if (IsString(field.type) && !UnescapeInPlace(storage)) {
    return Malformed(field.type, *storage);
  }
  absl::StatusOr<FieldValue> decoded = FromSortableBytes(field.type, *storage);
  if (decoded.ok()) *value = *decoded;
  return decoded.status();
}

}  // namespace dovetail

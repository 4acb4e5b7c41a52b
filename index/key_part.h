// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The key encoding, part by part; parts simply follow each other. The BINARY
// encoding is order-preserving and self-delimiting. docs/format.md is its
// specification, tests/index/key_part_test.cc has the golden vectors. A part of
// a TEXT row key (KeyPart::is_text) is its text and the separator behind it;
// text_key.h describes these. What follows is about BINARY.
//
// A part's bytes are [null tag][body], the tag only if the part is nullable;
// DESC complements the body, never the tag. Bodies, ascending:
//   bool               1 byte, 0 or 1
//   int32, enum        4 bytes big-endian, sign bit flipped; int64: 8
//   uint32             4 bytes big-endian; uint64: 8
//   float, double      IEEE bits; negative: all flipped, else sign bit flipped;
//                      -0.0 as 0.0, every NaN as one NaN above infinity
//   string, bytes      0x00 -> 0x01 0x01, 0x01 -> 0x01 0x02, end 0x00
//   Timestamp          seconds as int64, nanos as 4 bytes big-endian; refused
//                      outside years 1 to 9999 or nanos outside [0, 1e9)
//   REVERSE            the string body of the reversed characters
//   HASH               the hash's bytes
//   BUCKET, SALT       the number, 1 byte if count <= 256, else 2
//   SUB_BUCKET         0 or 1 + bucket, 1 byte if count <= 255, else 2
//   DECIMAL(d)         the number in ceil(d * log2(10) / 8) bytes, big-endian
//   TIME32             4 bytes big-endian
//   ENUM(n)            n bytes big-endian
//   VARINT             see ordered_codec.cc: 1 byte for 0 to 119, order kept
// The null tag: 0x00 null first, 0x01 a value, 0x02 null last.
// The input of HASH, BUCKET and SUB_BUCKET: of one string or bytes field its
// bytes; otherwise the ascending plain encodings (null tags as above, default
// null rank) of the fields one after the other.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/v1/schema.pb.h"
#include "index/extractor.h"
#include "index/field_value.h"

namespace dovetail {

// How a part of a TEXT row key is written: a compiled v1::KeyPart::Text. Value
// type.
struct TextForm {
  std::string end;  // What follows the part: the separator, or nothing.
  // Bytes of every text of the part, without `end`; 0: any number.
  uint32_t width = 0;
  bool last = false;  // Nothing follows it.
  bool only = false;  // The key has no other part.
  v1::KeyPart::Text::Digits digits = v1::KeyPart::Text::DECIMAL;
  v1::KeyPart::Text::BucketForm form = v1::KeyPart::Text::FORM_DEFAULT;
  v1::KeyPart::Text::Unit unit = v1::KeyPart::Text::MILLISECONDS;
  uint64_t desc_from = 0;  // DESC: what the number is taken from.
  bool has_null = false;   // Whether null has a text; it is `null_as`.
  std::string null_as;
  std::string joiner;
  bool reverse_input = false;

  friend bool operator==(const TextForm&, const TextForm&) = default;
};

// A compiled v1::KeyPart. Value type.
struct KeyPart {
  enum class Transform : uint8_t {
    kNone,
    kReverse,
    kHash,
    kBucket,
    kSalt,
    kSubBucket,
    kDecimal,
    kTime32,
    kEnum,
    kVarint,
  };

  Transform transform = Transform::kNone;
  // Positions, in the table's list of fields, of the fields it is made from.
  std::vector<int> inputs;
  std::vector<FieldType> input_types;
  std::vector<bool> input_nullable;
  std::vector<std::string> input_paths;  // For messages.

  bool descending = false;
  bool nulls_last = false;  // In scan order.
  bool is_text = false;     // Of a TEXT row key: `text` says how.

  v1::HashAlgorithm algorithm = v1::HASH_ALGORITHM_UNSPECIFIED;
  uint32_t bytes = 0;   // kHash, kEnum
  uint32_t count = 0;   // kBucket, kSalt, kSubBucket
  uint32_t digits = 0;  // kDecimal
  v1::KeyPart::Time32::Unit unit = v1::KeyPart::Time32::SECONDS;
  std::vector<std::string> listed;  // kSubBucket, sorted
  TextForm text;

  // Whether the part is computed from fields rather than being one: the field
  // cannot be read back from it.
  bool computed() const {
    return transform == Transform::kHash || transform == Transform::kBucket ||
           transform == Transform::kSalt || transform == Transform::kSubBucket;
  }
  // Whether it can be null, which in BINARY keys costs a null tag. Computed
  // parts never have one.
  bool nullable() const { return !computed() && input_nullable[0]; }
  // The type of the field the part holds. REQUIRES: !computed().
  FieldType type() const { return input_types[0]; }

  friend bool operator==(const KeyPart&, const KeyPart&) = default;
};

// Checks `proto` and binds it to `fields`, the table's list. InvalidArgument
// says what is wrong: unknown path, a transform on a type it does not take,
// a number out of its bounds, an unspecified algorithm.
absl::StatusOr<KeyPart> CompileKeyPart(const v1::KeyPart& proto,
                                       std::span<const FieldInfo> fields);

// Where a part of a TEXT row key stands.
struct TextPlace {
  std::string_view separator;
  bool first = false;
  bool last = false;
};
// The same for a part of a TEXT row key. Also InvalidArgument for a part that
// could not be read back, or not told from the one behind it.
absl::StatusOr<KeyPart> CompileTextKeyPart(const v1::KeyPart& proto,
                                           const TextPlace& place,
                                           std::span<const FieldInfo> fields);

// Appends the part's bytes for a record with these values (all the table's
// fields, in order). kSalt writes `salt`, which must be below its count.
// InvalidArgument, with path and value, if the value has no encoding under
// the transform; `out` is then unspecified.
absl::Status AppendKeyPart(const KeyPart& part,
                           std::span<const FieldValue> fields, uint32_t salt,
                           std::string* out);

// The same for a part that is one field. REQUIRES: !part.computed().
absl::Status AppendKeyPartValue(const KeyPart& part, const FieldValue& value,
                                std::string* out);

// The same for a bucket, salt or sub-bucket whose number is known.
// REQUIRES: the number is one the part can have.
void AppendKeyPartNumber(const KeyPart& part, uint32_t number,
                         std::string* out);

// Whether the kSubBucket part splits rows with this value of its first field.
bool IsListed(const KeyPart& part, const FieldValue& value);

// Takes one part from the front of `key` without decoding it; returns its
// bytes. InvalidArgument if `key` does not start with a part of this shape.
absl::StatusOr<std::string_view> ConsumeKeyPart(const KeyPart& part,
                                                std::string_view* key);

// Decodes one part's bytes, which must be all of `bytes`. Computed parts
// decode to their number (kBucket, kSalt, kSubBucket: uint) or bytes (kHash:
// string; of a TEXT key the digits). InvalidArgument for any bytes that
// AppendKeyPart does not write.
absl::StatusOr<Value> DecodeKeyPart(const KeyPart& part,
                                    std::string_view bytes);

// The smallest key greater than every key that starts with `prefix`, empty if
// there is none (the prefix is all 0xFF).
std::string PrefixEnd(std::string_view prefix);

}  // namespace dovetail

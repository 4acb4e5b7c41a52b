// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A list of key parts: the layout of a row key or of an index key, with the
// columns that callers address it by.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/read.h"
#include "index/key_part.h"

namespace dovetail {

// A field that callers give a value for; computed parts are filled in.
struct Column {
  std::string path;
  int field;  // Position in the table's list of fields.
  FieldType type;
  // The part the field can be read back from, or -1: it is only hashed.
  int part;
};

// Where each part of an encoded key ends.
using KeyOffsets = absl::InlinedVector<uint32_t, 8>;

// Keys that start with `prefix` and are in [begin, end).
struct KeyRange {
  std::string prefix;  // Of the stream: what the columns given bind.
  std::string begin;
  std::string end;  // Empty: to the end of the key space.
};

// Thread-compatible.
class KeyLayout {
 public:
  KeyLayout() = default;
  // InvalidArgument from CompileKeyPart, with the part's number in front, or
  // for an empty or too long list.
  static absl::StatusOr<KeyLayout> Compile(
      const google::protobuf::RepeatedPtrField<v1::KeyPart>& parts,
      std::span<const FieldInfo> fields);
  // The same for a row key in either encoding.
  static absl::StatusOr<KeyLayout> CompileRowKey(
      const v1::RowKeyLayout& row_key, std::span<const FieldInfo> fields);

  const std::vector<KeyPart>& parts() const { return parts_; }
  const std::vector<Column>& columns() const { return columns_; }
  // Whether it is a TEXT row key.
  bool is_text() const { return is_text_; }
  // 0: no part is a salt.
  uint32_t salt_count() const { return salt_count_; }

  // Appends the key of a record with these field values. `offsets`, if given,
  // receives the end of each part relative to where the key starts.
  absl::Status Encode(std::span<const FieldValue> fields, uint32_t salt,
                      std::string* out, KeyOffsets* offsets) const;

  // Appends the key whose columns have these values. InvalidArgument if a
  // value does not fit its column.
  // REQUIRES: one value per column, salt_count() == 0.
  absl::Status EncodeColumns(const std::vector<Value>& values,
                             std::string* out) const;

  // The parts' ends in a whole encoded key. InvalidArgument if `key` is not
  // one of this layout.
  absl::StatusOr<KeyOffsets> Split(std::string_view key) const;

  // The ranges of keys whose columns have these values: `equal` binds the
  // first columns, `any_of`, unless empty, the next one, `range` the one after.
  // One range per value of `any_of` and per salt or sub-bucket the values
  // leave open, in no order; the bytes behind KeyRange::prefix are comparable
  // across them. InvalidArgument says which column must be given, or why the
  // range cannot be served; also if there would be more than `ranges_max`.
  absl::StatusOr<std::vector<KeyRange>> Ranges(
      const std::vector<Value>& equal, const std::vector<Value>& any_of,
      const std::optional<Range>& range, size_t ranges_max) const;

  // Whether the part holds a field, and its bytes sort like the values.
  bool KeepsOrder(size_t part) const;
  // Narrows `out`, the keys that start with out->prefix, which binds all parts
  // before the column's, to those with a value in `range`. InvalidArgument if
  // the part does not keep the order, or if a bound has no encoding.
  // REQUIRES: column.part >= 0.
  absl::Status Narrow(const Range& range, const Column& column,
                      KeyRange* out) const;

  // The decoded parts in words: seller_id="s1" ts_ms=5. Computed parts show
  // as hash(seller_id)=0x1f2e.
  absl::StatusOr<std::string> DebugString(std::string_view key) const;

 private:
  // The values given so far, by field; unset ones stop a prefix.
  struct Bound;

  // Null: a BINARY key.
  static absl::StatusOr<KeyLayout> CompileParts(
      const google::protobuf::RepeatedPtrField<v1::KeyPart>& parts,
      const std::string* separator, std::span<const FieldInfo> fields);
  absl::Status CheckValueCount(size_t given) const;
  absl::StatusOr<std::vector<std::string>> Prefixes(const Bound& bound,
                                                    size_t ranges_max,
                                                    size_t* parts_bound) const;
  // Whether the first `parts_bound` parts, which `bound` determines, are made
  // with the column's value.
  bool Reached(const Bound& bound, const Column& column,
               size_t parts_bound) const;
  absl::Status ApplyRange(const Range& range, size_t part, const Column& column,
                          KeyRange* out) const;

  std::vector<KeyPart> parts_;
  std::vector<Column> columns_;
  size_t field_count_ = 0;
  uint32_t salt_count_ = 0;
  bool is_text_ = false;
};

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/key_layout.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/limits.h"
#include "index/key_body.h"
#include "index/text_key.h"
#include "index/text_key_range.h"

namespace dovetail {
namespace {

using Transform = KeyPart::Transform;

bool OrderPreserving(const KeyPart& part) {
  return !part.computed() && part.transform != Transform::kReverse;
}

// Of a range over `column`, which is not that of the part `next`.
absl::Status RangeNotNext(const Column& column, const KeyPart* next) {
  if (next == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("range column does not follow the columns given: column=",
                     column.path));
  }
  const bool hashed = next->computed();
  return absl::InvalidArgumentError(absl::StrCat(
      "range column does not follow the columns given; ",
      hashed ? "a hash in front of it keeps no order: give single values with "
               "equal or any_of, or scan an index that has the column in front"
             : "give the columns in front of it with equal or any_of, or scan "
               "an index that has it in front",
      ": column=", column.path, " next_part=", KeyPartName(*next)));
}

// The columns of `parts`: each field once, where it can be read back, or where
// it is first hashed if it cannot.
std::vector<Column> ColumnsOf(const std::vector<KeyPart>& parts) {
  const auto readable = [&parts](int field) {
    return std::any_of(parts.begin(), parts.end(), [field](const KeyPart& p) {
      return !p.computed() && p.inputs[0] == field;
    });
  };
  std::vector<Column> columns;
  for (size_t i = 0; i < parts.size(); ++i) {
    const KeyPart& part = parts[i];
    for (size_t k = 0; k < part.inputs.size(); ++k) {
      if (part.computed() && readable(part.inputs[k])) continue;
      const bool known = std::any_of(
          columns.begin(), columns.end(),
          [&](const Column& c) { return c.field == part.inputs[k]; });
      if (known) continue;
      columns.push_back({part.input_paths[k], part.inputs[k],
                         part.input_types[k],
                         part.computed() ? -1 : static_cast<int>(i)});
    }
  }
  return columns;
}

absl::StatusOr<FieldValue> BindColumn(const Column& column,
                                      const Value& value) {
  absl::StatusOr<FieldValue> field = ToFieldValue(value, column.type);
  if (field.ok()) return field;
  return absl::InvalidArgumentError(
      absl::StrCat("column=", column.path, ": ", field.status().message()));
}

}  // namespace

struct KeyLayout::Bound {
  std::vector<FieldValue> values;
  std::vector<bool> known;
};

absl::StatusOr<KeyLayout> KeyLayout::Compile(
    const google::protobuf::RepeatedPtrField<v1::KeyPart>& parts,
    std::span<const FieldInfo> fields) {
  return CompileParts(parts, nullptr, fields);
}

absl::StatusOr<KeyLayout> KeyLayout::CompileRowKey(
    const v1::RowKeyLayout& row_key, std::span<const FieldInfo> fields) {
  switch (row_key.encoding()) {
    case v1::RowKeyLayout::BINARY:
      if (row_key.separator().empty()) {
        return CompileParts(row_key.parts(), nullptr, fields);
      }
      return absl::InvalidArgumentError("a BINARY key has no separator");
    case v1::RowKeyLayout::TEXT: {
      RETURN_IF_ERROR(CheckTextSeparator(row_key.separator()));
      ASSIGN_OR_RETURN(
          KeyLayout layout,
          CompileParts(row_key.parts(), &row_key.separator(), fields));
      const bool readable =
          std::any_of(layout.columns_.begin(), layout.columns_.end(),
                      [](const Column& c) { return c.part >= 0; });
      if (readable) return layout;
      return absl::InvalidArgumentError(
          "a TEXT key needs a field that can be read back from it: rows whose "
          "hashes are equal would have one key");
    }
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("the encoding is unknown here: encoding=",
                       static_cast<int>(row_key.encoding())));
  }
}

absl::StatusOr<KeyLayout> KeyLayout::CompileParts(
    const google::protobuf::RepeatedPtrField<v1::KeyPart>& parts,
    const std::string* separator, std::span<const FieldInfo> fields) {
  if (parts.empty()) {
    return absl::InvalidArgumentError("a key needs at least one part");
  }
  if (static_cast<size_t>(parts.size()) > kKeyPartsMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "too many key parts: parts=", parts.size(), " max=", kKeyPartsMax));
  }
  KeyLayout layout;
  layout.field_count_ = fields.size();
  layout.is_text_ = separator != nullptr;
  for (int i = 0; i < parts.size(); ++i) {
    absl::StatusOr<KeyPart> part =
        separator == nullptr
            ? CompileKeyPart(parts[i], fields)
            : CompileTextKeyPart(parts[i],
                                 {*separator, i == 0, i + 1 == parts.size()},
                                 fields);
    if (!part.ok()) {
      return absl::Status(
          part.status().code(),
          absl::StrCat("part ", i + 1, ": ", part.status().message()));
    }
    if (part->transform == Transform::kSalt) {
      if (layout.salt_count_ != 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("part ", i + 1, ": a key has at most one salt"));
      }
      layout.salt_count_ = part->count;
    }
    layout.parts_.push_back(*std::move(part));
  }
  layout.columns_ = ColumnsOf(layout.parts_);
  if (layout.columns_.empty()) {
    return absl::InvalidArgumentError("a key needs at least one field");
  }
  return layout;
}

absl::Status KeyLayout::Encode(std::span<const FieldValue> fields,
                               uint32_t salt, std::string* out,
                               KeyOffsets* offsets) const {
  const size_t start = out->size();
  for (const KeyPart& part : parts_) {
    RETURN_IF_ERROR(AppendKeyPart(part, fields, salt, out));
    if (offsets != nullptr) {
      offsets->push_back(static_cast<uint32_t>(out->size() - start));
    }
  }
  return absl::OkStatus();
}

absl::Status KeyLayout::EncodeColumns(const std::vector<Value>& values,
                                      std::string* out) const {
  DOVETAIL_CHECK(values.size() == columns_.size());
  DOVETAIL_CHECK(salt_count_ == 0);
  absl::InlinedVector<FieldValue, 16> fields(field_count_);
  for (size_t i = 0; i < values.size(); ++i) {
    ASSIGN_OR_RETURN(fields[columns_[i].field],
                     BindColumn(columns_[i], values[i]));
  }
  return Encode(fields, 0, out, nullptr);
}

absl::StatusOr<KeyOffsets> KeyLayout::Split(std::string_view key) const {
  KeyOffsets offsets;
  const size_t size = key.size();
  for (const KeyPart& part : parts_) {
    RETURN_IF_ERROR(ConsumeKeyPart(part, &key).status());
    offsets.push_back(static_cast<uint32_t>(size - key.size()));
  }
  if (!key.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "key has bytes behind its last part: extra_bytes=", key.size()));
  }
  return offsets;
}

absl::Status KeyLayout::CheckValueCount(size_t given) const {
  if (given <= columns_.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "more values than columns: values=", given, " columns=",
      absl::StrJoin(columns_, ",", [](std::string* out, const Column& c) {
        absl::StrAppend(out, c.path);
      })));
}

// Walks the parts from the front for as long as the values given determine
// them. A salt, or the sub-bucket of a listed value, multiplies the prefixes.
absl::StatusOr<std::vector<std::string>> KeyLayout::Prefixes(
    const Bound& bound, size_t ranges_max, size_t* parts_bound) const {
  std::vector<std::string> prefixes(1);
  const auto known = [&bound](int field) { return bound.known[field]; };
  const auto fan_out = [&](const KeyPart& part, uint32_t from,
                           uint32_t to) -> absl::Status {
    if (prefixes.size() * (to - from) > ranges_max) {
      return absl::InvalidArgumentError(absl::StrCat(
          "request fans out into too many ranges: part=", KeyPartName(part),
          " max=", ranges_max));
    }
    std::vector<std::string> more;
    for (const std::string& prefix : prefixes) {
      for (uint32_t n = from; n < to; ++n) {
        more.push_back(prefix);
        AppendKeyPartNumber(part, n, &more.back());
      }
    }
    prefixes = std::move(more);
    return absl::OkStatus();
  };

  size_t i = 0;
  for (; i < parts_.size(); ++i) {
    const KeyPart& part = parts_[i];
    if (part.transform == Transform::kSalt) {
      RETURN_IF_ERROR(fan_out(part, 0, part.count));
      continue;
    }
    if (std::all_of(part.inputs.begin(), part.inputs.end(), known)) {
      std::string bytes;
      RETURN_IF_ERROR(AppendKeyPart(part, bound.values, 0, &bytes));
      for (std::string& prefix : prefixes) prefix += bytes;
      continue;
    }
    if (part.transform != Transform::kSubBucket || !known(part.inputs[0])) {
      break;
    }
    if (IsListed(part, bound.values[part.inputs[0]])) {
      RETURN_IF_ERROR(fan_out(part, 1, 1 + part.count));
    } else {
      RETURN_IF_ERROR(fan_out(part, 0, 1));
    }
  }
  *parts_bound = i;
  return prefixes;
}

bool KeyLayout::Reached(const Bound& bound, const Column& column,
                        size_t parts_bound) const {
  if (column.part >= 0) return column.part < static_cast<int>(parts_bound);
  // Only hashed: by one of the parts whose inputs are all known, or told apart
  // as the first field of a sub-bucket.
  return std::any_of(
      parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(parts_bound),
      [&](const KeyPart& part) {
        const std::vector<int>& inputs = part.inputs;
        if (std::find(inputs.begin(), inputs.end(), column.field) ==
            inputs.end()) {
          return false;
        }
        return (part.transform == Transform::kSubBucket &&
                inputs[0] == column.field) ||
               std::all_of(inputs.begin(), inputs.end(),
                           [&](int f) { return bound.known[f]; });
      });
}

absl::Status KeyLayout::ApplyRange(const Range& range, size_t part_number,
                                   const Column& column, KeyRange* out) const {
  const KeyPart& part = parts_[part_number];
  // In bytes, nulls form a block of their own at one end; a range is about
  // values, so it stays within the block of values.
  std::string low = out->prefix;
  if (part.nullable()) low.push_back('\x01');
  std::string high = low;
  bool low_open = false;  // Whether keys that start with it are left out.
  bool high_open = false;
  const auto bind = [&](const std::optional<Value>& value, bool inclusive,
                        bool is_low) -> absl::Status {
    if (!value.has_value()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const FieldValue field, BindColumn(column, *value));
    if (field.is_null) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a range cannot start or end at null: column=", column.path));
    }
    std::string bytes = out->prefix;
    RETURN_IF_ERROR(AppendKeyPartValue(part, field, &bytes));
    (is_low ? low : high) = std::move(bytes);
    (is_low ? low_open : high_open) = !inclusive;
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(bind(range.min, range.min_inclusive, !part.descending));
  RETURN_IF_ERROR(bind(range.max, range.max_inclusive, part.descending));
  out->begin = low_open ? PrefixEnd(low) : low;
  out->end = high_open ? high : PrefixEnd(high);
  if (low_open && out->begin.empty()) {
    // Nothing can follow the excluded bound: an empty range.
    out->begin = low;
    out->end = std::move(low);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<KeyRange>> KeyLayout::Ranges(
    const std::vector<Value>& equal, const std::vector<Value>& any_of,
    const std::optional<Range>& range, size_t ranges_max) const {
  const size_t bound_columns = equal.size() + (any_of.empty() ? 0 : 1);
  RETURN_IF_ERROR(CheckValueCount(bound_columns + (range ? 1 : 0)));
  if (any_of.size() > ranges_max) {
    return absl::InvalidArgumentError(
        absl::StrCat("too many values in any_of: values=", any_of.size(),
                     " max=", ranges_max));
  }

  Bound bound;
  bound.values.resize(field_count_);
  bound.known.assign(field_count_, false);
  const auto bind = [&](const Column& column, const Value& v) -> absl::Status {
    ASSIGN_OR_RETURN(bound.values[column.field], BindColumn(column, v));
    bound.known[column.field] = true;
    return absl::OkStatus();
  };
  for (size_t i = 0; i < equal.size(); ++i) {
    RETURN_IF_ERROR(bind(columns_[i], equal[i]));
  }

  std::vector<std::string> prefixes;
  size_t parts_bound = 0;
  const size_t alternatives = any_of.empty() ? 1 : any_of.size();
  for (size_t k = 0; k < alternatives; ++k) {
    if (!any_of.empty()) {
      RETURN_IF_ERROR(bind(columns_[equal.size()], any_of[k]));
    }
    ASSIGN_OR_RETURN(std::vector<std::string> more,
                     Prefixes(bound, ranges_max, &parts_bound));
    prefixes.insert(prefixes.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
    if (prefixes.size() > ranges_max) {
      return absl::InvalidArgumentError(absl::StrCat(
          "request fans out into too many ranges: max=", ranges_max));
    }
  }
  // The same value twice in any_of is one range, not rows twice.
  std::sort(prefixes.begin(), prefixes.end());
  prefixes.erase(std::unique(prefixes.begin(), prefixes.end()), prefixes.end());

  // Each column given must have reached the prefix.
  for (size_t i = 0; i < bound_columns; ++i) {
    if (Reached(bound, columns_[i], parts_bound)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "columns given do not lead the key: column=", columns_[i].path,
        parts_bound < parts_.size()
            ? absl::StrCat(" needs_first=", KeyPartName(parts_[parts_bound]))
            : ""));
  }
  std::vector<KeyRange> ranges;
  ranges.reserve(prefixes.size());
  for (std::string& prefix : prefixes) {
    KeyRange r{std::move(prefix), {}, {}};
    r.begin = r.prefix;
    // Behind the last part of a TEXT key stands nothing, so that keys which
    // start like a whole one are other keys.
    r.end = is_text_ && parts_bound == parts_.size() ? r.prefix + '\0'
                                                     : PrefixEnd(r.prefix);
    ranges.push_back(std::move(r));
  }
  if (!range.has_value()) return ranges;

  const Column& column = columns_[bound_columns];
  if (column.part != static_cast<int>(parts_bound)) {
    return RangeNotNext(
        column, parts_bound < parts_.size() ? &parts_[parts_bound] : nullptr);
  }
  for (KeyRange& r : ranges) RETURN_IF_ERROR(Narrow(*range, column, &r));
  return ranges;
}

bool KeyLayout::KeepsOrder(size_t part) const {
  return is_text_ ? TextKeepsOrder(parts_[part])
                  : OrderPreserving(parts_[part]);
}

absl::Status KeyLayout::Narrow(const Range& range, const Column& column,
                               KeyRange* out) const {
  const auto part = static_cast<size_t>(column.part);
  if (is_text_) return ApplyTextRange(range, parts_[part], column, out);
  if (OrderPreserving(parts_[part])) {
    return ApplyRange(range, part, column, out);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "key does not keep the order of the range column; ask for single values "
      "with equal or any_of, or scan an index that has the column as it is: "
      "column=",
      column.path,
      " transform=", ToAbsl(KeyTransformName(parts_[part].transform))));
}

absl::StatusOr<std::string> KeyLayout::DebugString(std::string_view key) const {
  std::string out;
  for (const KeyPart& part : parts_) {
    ASSIGN_OR_RETURN(const std::string_view bytes, ConsumeKeyPart(part, &key));
    absl::StrAppend(&out, out.empty() ? "" : " ", KeyPartName(part), "=");
    if (part.transform == Transform::kHash && !is_text_) {
      absl::StrAppend(&out, "0x", absl::BytesToHexString(ToAbsl(bytes)));
      continue;
    }
    ASSIGN_OR_RETURN(const Value value, DecodeKeyPart(part, bytes));
    out += part.transform == Transform::kHash ? value.as_string()
                                              : value.DebugString();
  }
  if (!key.empty()) {
    return absl::InvalidArgumentError("key has bytes behind its last part");
  }
  return out;
}

}  // namespace dovetail

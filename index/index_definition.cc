// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/index_definition.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/limits.h"
#include "index/key_body.h"

namespace dovetail {
namespace {

using Transform = KeyPart::Transform;
using Slices = absl::InlinedVector<std::string_view, 8>;

void AddOnce(int field, std::vector<int>* fields) {
  if (std::find(fields->begin(), fields->end(), field) == fields->end()) {
    fields->push_back(field);
  }
}

// The part of `parts` that holds the field itself, or -1.
int PartHolding(const std::vector<KeyPart>& parts, int field) {
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].computed() && parts[i].inputs[0] == field) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

// The BINARY form in which an entry carries a part of a TEXT row key: its
// field, in its order, in few bytes. What is computed and cannot be computed
// from the entry is carried as a number (a salt) or as its text.
KeyPart CarriedForm(const KeyPart& part) {
  KeyPart carried = part;
  carried.is_text = false;
  carried.text = {};
  if (part.transform == Transform::kSalt) return carried;
  if (part.computed()) {
    carried = KeyPart();
    carried.inputs = {-1};  // No field.
    carried.input_types = {FieldType::kString};
    carried.input_nullable = {false};
    carried.input_paths = part.input_paths;
    return carried;
  }
  carried.input_nullable = {part.nullable() && part.text.has_null};
  carried.nulls_last = carried.descending;
  const bool number =
      part.transform == Transform::kNone ||
      (part.transform == Transform::kReverse && !IsText(part.type()));
  switch (part.type()) {
    case FieldType::kInt32:
    case FieldType::kInt64:
    case FieldType::kUint32:
    case FieldType::kUint64:
    case FieldType::kEnum:
      if (number) carried.transform = Transform::kVarint;
      break;
    default:
      break;
  }
  return carried;
}

}  // namespace

struct IndexDefinition::Pieces {
  Slices index_parts;
  Slices suffix_parts;
  std::string_view covering;
};

absl::StatusOr<IndexDefinition> IndexDefinition::Compile(
    const v1::IndexSchema& schema, const google::protobuf::Descriptor& record,
    const KeyLayout& row_key, std::span<const FieldInfo> fields) {
  IndexDefinition index;
  index.name_ = schema.name();
  index.kind_ = schema.kind();
  index.unique_ = schema.kind() == v1::IndexSchema::UNIQUE;
  ASSIGN_OR_RETURN(index.layout_, KeyLayout::Compile(schema.parts(), fields));
  if (index.layout_.salt_count() != 0) {
    return absl::InvalidArgumentError(
        "an index has no salt: its entries must follow from the row");
  }
  index.field_count_ = fields.size();
  index.row_parts_ = row_key.parts();
  index.text_row_key_ = row_key.is_text();
  for (const KeyPart& part : index.layout_.parts()) {
    for (const int field : part.inputs) AddOnce(field, &index.part_inputs_);
    const auto same =
        std::find(index.row_parts_.begin(), index.row_parts_.end(), part);
    index.same_as_row_part_.push_back(
        same == index.row_parts_.end()
            ? -1
            : static_cast<int>(same - index.row_parts_.begin()));
  }
  ASSIGN_OR_RETURN(index.predicate_,
                   RowPredicate::Compile(schema.predicate(), record, fields));
  index.of_every_row_ = !index.unique_ && index.predicate_.empty();
  RETURN_IF_ERROR(index.CompileKind(schema, fields));
  RETURN_IF_ERROR(index.CompileCovering(schema, record, fields));
  index.inputs_ = index.part_inputs_;
  for (const RowPredicate::Test& test : index.predicate_.tests()) {
    AddOnce(test.field, &index.inputs_);
  }
  for (const int field : index.covering_) AddOnce(field, &index.inputs_);
  if (index.sum_ >= 0) AddOnce(index.sum_, &index.inputs_);
  index.carried_ = index.row_parts_;
  if (index.aggregates_) {
    // An entry leads to no row, so it carries nothing of its key.
  } else if (index.text_row_key_) {
    for (KeyPart& part : index.carried_) part = CarriedForm(part);
    index.PlanTextRowKey();
  } else {
    index.PlanRowKey(row_key);
  }
  index.PlanHeld();
  return index;
}

absl::Status IndexDefinition::CompileKind(const v1::IndexSchema& schema,
                                          std::span<const FieldInfo> fields) {
  const auto find = [&](const std::string& path) {
    const auto info = std::find_if(
        fields.begin(), fields.end(),
        [&](const FieldInfo& field) { return field.path == path; });
    return info == fields.end() ? -1 : static_cast<int>(info - fields.begin());
  };
  if (!v1::IndexSchema::Kind_IsValid(kind_)) {
    return absl::InvalidArgumentError(
        absl::StrCat("index is of no known kind: kind=", kind_));
  }
  aggregates_ =
      kind_ == v1::IndexSchema::COUNT || kind_ == v1::IndexSchema::SUM;
  if (aggregates_ && !schema.covering().empty()) {
    return absl::InvalidArgumentError(
        "a COUNT or SUM index has no covering fields: its entries are of many "
        "rows");
  }
  if (sums() != !schema.sum().empty()) {
    return absl::InvalidArgumentError(
        sums() ? "a SUM index needs the field `sum`"
               : "only a SUM index has a field `sum`");
  }
  if (sums()) {
    sum_ = find(schema.sum());
    sum_type_ = sum_ < 0 ? FieldType::kString : fields[sum_].type;
    if (sum_type_ != FieldType::kInt32 && sum_type_ != FieldType::kInt64 &&
        sum_type_ != FieldType::kUint32 && sum_type_ != FieldType::kUint64) {
      return absl::InvalidArgumentError(absl::StrCat(
          "only integer fields can be summed: path=", Quote(schema.sum()),
          " type=", ToAbsl(FieldTypeName(sum_type_))));
    }
  }
  if (schema.fan_out().empty()) {
    if (schema.fan_out_max() == 0) return CheckParts(fields);
    return absl::InvalidArgumentError(
        "fan_out_max is for indexes with fan_out");
  }
  if (unique_) {
    return absl::InvalidArgumentError(
        "a UNIQUE index has no fan_out: declare it VALUE or COUNT");
  }
  fan_out_ = find(schema.fan_out());
  fan_out_max_ =
      schema.fan_out_max() == 0 ? kFanOutDefault : schema.fan_out_max();
  if (fan_out_max_ > kFanOutMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("fan_out_max is too large: fan_out_max=", fan_out_max_,
                     " max=", kFanOutMax));
  }
  if (std::find(part_inputs_.begin(), part_inputs_.end(), fan_out_) ==
      part_inputs_.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no part is of the fan_out field: path=", Quote(schema.fan_out())));
  }
  return CheckParts(fields);
}

// Values that only hash alike must not meet in one group; and of a list's
// elements nobody could tell from the record which one an entry is of.
absl::Status IndexDefinition::CheckParts(
    std::span<const FieldInfo> fields) const {
  for (const Column& column : layout_.columns()) {
    if (column.part >= 0) continue;
    if (!aggregates_ && column.field != fan_out_) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "a field is only hashed, but has to be a part itself: path=",
        Quote(fields[column.field].path),
        aggregates_ ? " kind=" : " fan_out, kind=",
        v1::IndexSchema::Kind_Name(kind_)));
  }
  return absl::OkStatus();
}

absl::Status IndexDefinition::CompileCovering(
    const v1::IndexSchema& schema, const google::protobuf::Descriptor& record,
    std::span<const FieldInfo> fields) {
  if (static_cast<size_t>(schema.covering_size()) > kCoveringFieldsMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "too many covering fields: fields=", schema.covering_size(),
        " max=", kCoveringFieldsMax));
  }
  std::vector<FieldInfo> covered;
  for (const std::string& path : schema.covering()) {
    const auto info = std::find_if(
        fields.begin(), fields.end(),
        [&](const FieldInfo& field) { return field.path == path; });
    if (info == fields.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a covering field is none of the record: path=", Quote(path)));
    }
    const int at = static_cast<int>(info - fields.begin());
    if (std::find(covering_.begin(), covering_.end(), at) != covering_.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a covering field is named more than once: path=", Quote(path)));
    }
    covering_.push_back(at);
    covered.push_back(*info);
  }
  ASSIGN_OR_RETURN(covering_encoder_,
                   OldFieldsEncoder::Compile(record, covered));
  return absl::OkStatus();
}

void IndexDefinition::PlanHeld() {
  held_.assign(field_count_, false);
  const auto hold = [this](const KeyPart& part) {
    if (!part.computed()) held_[part.inputs[0]] = true;
  };
  for (const KeyPart& part : layout_.parts()) hold(part);
  for (const size_t i : suffix_) hold(row_parts_[i]);
  for (const int field : covering_) held_[field] = true;
}

// Decides for each part of the row key whether the index's parts already have
// it; what they do not have becomes the suffix. Fields come before the parts
// that are computed from them, since a field in the suffix may make a hash
// computable.
void IndexDefinition::PlanRowKey(const KeyLayout& row_key) {
  const std::vector<KeyPart>& own = layout_.parts();
  sources_.resize(row_parts_.size());
  const auto copy = [&](size_t i) {
    const auto same = std::find(own.begin(), own.end(), row_parts_[i]);
    if (same == own.end()) return false;
    sources_[i] = {Source::Kind::kIndexPart,
                   static_cast<size_t>(same - own.begin())};
    return true;
  };
  std::vector<bool> in_suffix(row_parts_.size(), false);
  for (size_t i = 0; i < row_parts_.size(); ++i) {
    if (row_parts_[i].computed() || copy(i)) continue;
    if (PartHolding(own, row_parts_[i].inputs[0]) >= 0) {
      sources_[i] = {Source::Kind::kReencode, 0};
      needs_fields_ = true;
    } else {
      in_suffix[i] = true;
    }
  }
  for (size_t i = 0; i < row_parts_.size(); ++i) {
    const KeyPart& part = row_parts_[i];
    if (!part.computed() || copy(i)) continue;
    const bool computable =
        part.transform != Transform::kSalt &&
        std::all_of(part.inputs.begin(), part.inputs.end(), [&](int field) {
          return PartHolding(own, field) >= 0 ||
                 PartHolding(row_key.parts(), field) >= 0;
        });
    if (computable) {
      sources_[i] = {Source::Kind::kCompute, 0};
      needs_fields_ = true;
    } else {
      in_suffix[i] = true;
    }
  }
  needed_.assign(field_count_, false);
  for (size_t i = 0; i < row_parts_.size(); ++i) {
    if (sources_[i].kind == Source::Kind::kReencode ||
        sources_[i].kind == Source::Kind::kCompute) {
      for (const int field : row_parts_[i].inputs) needed_[field] = true;
    }
    if (!in_suffix[i]) continue;
    sources_[i] = {Source::Kind::kSuffix, suffix_.size()};
    suffix_.push_back(i);
  }
}

// The same for a TEXT row key. Its texts are made anew from fields, so the
// suffix has each field that the index lacks once, whatever parts it is in.
void IndexDefinition::PlanTextRowKey() {
  const auto readable = [this](int field) {
    return PartHolding(layout_.parts(), field) >= 0 ||
           PartHolding(row_parts_, field) >= 0;
  };
  sources_.resize(row_parts_.size());
  needed_.assign(field_count_, false);
  for (size_t i = 0; i < row_parts_.size(); ++i) {
    const KeyPart& part = row_parts_[i];
    Source& source = sources_[i];
    source = {Source::Kind::kReencode, suffix_.size()};
    if (!part.computed()) {
      const int field = part.inputs[0];
      needed_[field] = true;
      if (PartHolding(layout_.parts(), field) < 0 &&
          PartHolding(row_parts_, field) == static_cast<int>(i)) {
        suffix_.push_back(i);
      }
    } else if (part.transform == Transform::kSalt) {
      source.kind = Source::Kind::kCarriedSalt;
      suffix_.push_back(i);
    } else if (std::all_of(part.inputs.begin(), part.inputs.end(), readable)) {
      source.kind = Source::Kind::kCompute;
      for (const int field : part.inputs) needed_[field] = true;
    } else {
      source.kind = Source::Kind::kCarriedText;
      suffix_.push_back(i);
    }
  }
  needs_fields_ = true;
}

bool IndexDefinition::QualifiesForEntry(
    std::span<const FieldValue> fields) const {
  if (unique_ && std::any_of(part_inputs_.begin(), part_inputs_.end(),
                             [&](int f) { return fields[f].is_null; })) {
    return false;
  }
  return predicate_.Holds(fields);
}

// What the row key has already is copied from there.
absl::Status IndexDefinition::EncodeParts(const EncodedRow& row,
                                          std::string* key) const {
  const std::vector<KeyPart>& parts = layout_.parts();
  for (size_t i = 0; i < parts.size(); ++i) {
    if (same_as_row_part_[i] >= 0) {
      key->append(row.part(same_as_row_part_[i]));
    } else {
      RETURN_IF_ERROR(AppendKeyPart(parts[i], row.fields, 0, key));
    }
  }
  return absl::OkStatus();
}

absl::Status IndexDefinition::EncodeEntry(const EncodedRow& row,
                                          std::string* key,
                                          std::string* value) const {
  RETURN_IF_ERROR(EncodeParts(row, key));
  std::string* rest = unique_ ? value : key;
  if (text_row_key_) [[unlikely]] {
    RETURN_IF_ERROR(EncodeTextSuffix(row, rest));
  } else {
    for (const size_t i : suffix_) rest->append(row.part(i));
  }
  if (!covering_.empty()) [[unlikely]]
    AppendCovering(row, value);
  return absl::OkStatus();
}

void IndexDefinition::AppendCovering(const EncodedRow& row,
                                     std::string* value) const {
  for (size_t i = 0; i < covering_.size(); ++i) {
    covering_encoder_.EncodeField(i, row.fields[covering_[i]], value);
  }
}

absl::Status IndexDefinition::EncodeEntries(const EncodedRow& row,
                                            std::string_view prefix,
                                            std::vector<Entry>* out) const {
  out->clear();
  if (!HasEntry(row.fields)) return absl::OkStatus();
  const auto add = [&](const EncodedRow& one) {
    Entry& entry = out->emplace_back();
    entry.key = prefix;
    return aggregates_ ? EncodeParts(one, &entry.key)
                       : EncodeEntry(one, &entry.key, &entry.value);
  };
  if (fan_out_ < 0) return add(row);

  const FieldType type = ElementType();
  std::vector<FieldValue> elements;
  for (const ListElement& element : row.elements) {
    if (static_cast<int>(element.field) == fan_out_) {
      elements.push_back(element.value);
    }
  }
  const auto compare = [type](const FieldValue& a, const FieldValue& b) {
    return CompareAsKeys(a, b, type);
  };
  std::sort(elements.begin(), elements.end(),
            [&](const auto& a, const auto& b) { return compare(a, b) < 0; });
  elements.erase(std::unique(elements.begin(), elements.end(),
                             [&](const auto& a, const auto& b) {
                               return compare(a, b) == 0;
                             }),
                 elements.end());
  if (elements.size() > fan_out_max_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "row has too many distinct elements for an index: index=", name_,
        " elements=", elements.size(), " max=", fan_out_max_));
  }
  EncodedRow one = row;
  for (const FieldValue& element : elements) {
    one.fields[static_cast<size_t>(fan_out_)] = element;
    RETURN_IF_ERROR(add(one));
  }
  std::sort(out->begin(), out->end());
  return absl::OkStatus();
}

FieldType IndexDefinition::ElementType() const {
  for (const Column& column : layout_.columns()) {
    if (column.field == fan_out_) return column.type;
  }
  return FieldType::kBytes;
}

GroupValue IndexDefinition::Contribution(
    std::span<const FieldValue> fields) const {
  GroupValue value;
  value.count = 1;
  if (sum_ < 0) return value;
  const FieldValue& field = fields[static_cast<size_t>(sum_)];
  if (field.is_null) return value;
  const bool is_signed =
      sum_type_ == FieldType::kInt32 || sum_type_ == FieldType::kInt64;
  value.sum = is_signed ? absl::int128(static_cast<int64_t>(field.bits))
                        : absl::int128(field.bits);
  return value;
}

absl::StatusOr<std::vector<Value>> IndexDefinition::GroupColumns(
    std::string_view key) const {
  Pieces pieces;
  RETURN_IF_ERROR(Split(key, {}, &pieces));
  std::vector<Value> values;
  for (const Column& column : layout_.columns()) {
    const auto part = static_cast<size_t>(column.part);
    ASSIGN_OR_RETURN(
        values.emplace_back(),
        DecodeKeyPart(layout_.parts()[part], pieces.index_parts[part]));
  }
  return values;
}

absl::Status IndexDefinition::EncodeTextSuffix(const EncodedRow& row,
                                               std::string* out) const {
  for (const size_t i : suffix_) {
    const KeyPart& part = row_parts_[i];
    if (!part.computed()) {
      RETURN_IF_ERROR(AppendKeyPart(carried_[i], row.fields, 0, out));
    } else if (part.transform == Transform::kSalt) {
      ASSIGN_OR_RETURN(const Value salt, DecodeKeyPart(part, row.part(i)));
      AppendKeyPartNumber(carried_[i], static_cast<uint32_t>(salt.as_uint()),
                          out);
    } else {
      FieldValue text;
      text.is_null = false;
      text.text = row.part(i);
      RETURN_IF_ERROR(AppendKeyPartValue(carried_[i], text, out));
    }
  }
  return absl::OkStatus();
}

absl::Status IndexDefinition::EncodeUniqueKey(const EncodedRow& row,
                                              std::string* key) const {
  DOVETAIL_CHECK(unique_);
  return row.key.empty() ? layout_.Encode(row.fields, 0, key, nullptr)
                         : EncodeParts(row, key);
}

absl::Status IndexDefinition::DecodeFields(
    const Pieces& pieces, const std::vector<bool>& wanted,
    std::vector<Value>* storage, std::vector<FieldValue>* fields) const {
  const Slices& index_parts = pieces.index_parts;
  const Slices& suffix_parts = pieces.suffix_parts;
  fields->assign(field_count_, FieldValue());
  // Reserved, because the field values view the strings in it.
  storage->clear();
  storage->reserve(index_parts.size() + suffix_parts.size());
  const auto decode = [&](const KeyPart& part,
                          std::string_view bytes) -> absl::Status {
    if (part.computed() || !wanted[part.inputs[0]]) return absl::OkStatus();
    ASSIGN_OR_RETURN(Value value, DecodeKeyPart(part, bytes));
    storage->push_back(std::move(value));
    ASSIGN_OR_RETURN((*fields)[part.inputs[0]],
                     ToFieldValue(storage->back(), part.type()));
    return absl::OkStatus();
  };
  for (size_t i = 0; i < index_parts.size(); ++i) {
    RETURN_IF_ERROR(decode(layout_.parts()[i], index_parts[i]));
  }
  for (size_t i = 0; i < suffix_parts.size(); ++i) {
    if (row_parts_[suffix_[i]].computed()) continue;
    RETURN_IF_ERROR(decode(carried_[suffix_[i]], suffix_parts[i]));
  }
  return absl::OkStatus();
}

absl::Status IndexDefinition::Split(std::string_view entry_key,
                                    std::string_view entry_value,
                                    Pieces* pieces) const {
  for (const KeyPart& part : layout_.parts()) {
    ASSIGN_OR_RETURN(const std::string_view bytes,
                     ConsumeKeyPart(part, &entry_key));
    pieces->index_parts.push_back(bytes);
  }
  std::string_view* const rest = unique_ ? &entry_value : &entry_key;
  for (const size_t i : suffix_) {
    ASSIGN_OR_RETURN(const std::string_view bytes,
                     ConsumeKeyPart(carried_[i], rest));
    pieces->suffix_parts.push_back(bytes);
  }
  pieces->covering = entry_value;
  if (!entry_key.empty() || (covering_.empty() && !entry_value.empty())) {
    return absl::InvalidArgumentError(
        absl::StrCat("entry has bytes it should not have: index=", name_));
  }
  return absl::OkStatus();
}

absl::Status IndexDefinition::DecodeEntry(std::string_view entry_key,
                                          std::string_view entry_value,
                                          std::vector<Value>* storage,
                                          std::vector<FieldValue>* fields,
                                          std::string_view* covering) const {
  Pieces pieces;
  RETURN_IF_ERROR(Split(entry_key, entry_value, &pieces));
  *covering = pieces.covering;
  return DecodeFields(pieces, held_, storage, fields);
}

absl::Status IndexDefinition::RowKeyOf(std::string_view entry_key,
                                       std::string_view entry_value,
                                       std::string* row_key) const {
  if (aggregates_) [[unlikely]] {
    return absl::InvalidArgumentError(absl::StrCat(
        "entry is of a group of rows, and leads to none: index=", name_));
  }
  Pieces pieces;
  RETURN_IF_ERROR(Split(entry_key, entry_value, &pieces));
  std::vector<Value> storage;
  std::vector<FieldValue> fields;
  if (needs_fields_) {
    RETURN_IF_ERROR(DecodeFields(pieces, needed_, &storage, &fields));
  }
  row_key->clear();
  for (size_t i = 0; i < sources_.size(); ++i) {
    switch (sources_[i].kind) {
      case Source::Kind::kIndexPart:
        row_key->append(pieces.index_parts[sources_[i].position]);
        break;
      case Source::Kind::kSuffix:
        row_key->append(pieces.suffix_parts[sources_[i].position]);
        break;
      case Source::Kind::kReencode:
      case Source::Kind::kCompute:
        RETURN_IF_ERROR(AppendKeyPart(row_parts_[i], fields, 0, row_key));
        break;
      case Source::Kind::kCarriedSalt:
      case Source::Kind::kCarriedText:
        RETURN_IF_ERROR(AppendCarried(
            i, pieces.suffix_parts[sources_[i].position], row_key));
        break;
    }
  }
  return absl::OkStatus();
}

absl::Status IndexDefinition::AppendCarried(size_t row_part,
                                            std::string_view bytes,
                                            std::string* row_key) const {
  ASSIGN_OR_RETURN(const Value value, DecodeKeyPart(carried_[row_part], bytes));
  const KeyPart& part = row_parts_[row_part];
  if (part.transform == Transform::kSalt) {
    AppendKeyPartNumber(part, static_cast<uint32_t>(value.as_uint()), row_key);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(DecodeKeyPart(part, value.as_string()).status());
  row_key->append(value.as_string());
  return absl::OkStatus();
}

bool IndexDefinition::SameEntries(const EncodedRow& a,
                                  const EncodedRow& b) const {
  return (aggregates_ || a.key == b.key) &&
         (fan_out_ < 0 || a.elements == b.elements) &&
         std::all_of(inputs_.begin(), inputs_.end(),
                     [&](int f) { return a.fields[f] == b.fields[f]; });
}

bool IndexDefinition::SameEntry(const EncodedRow& a,
                                const EncodedRow& b) const {
  return a.key == b.key &&
         std::all_of(inputs_.begin(), inputs_.end(),
                     [&](int f) { return a.fields[f] == b.fields[f]; });
}

}  // namespace dovetail

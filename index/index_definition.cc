// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/index_definition.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "index/key_body.h"

namespace dovetail {
namespace {

using Transform = KeyPart::Transform;
using Slices = absl::InlinedVector<std::string_view, 8>;

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

absl::StatusOr<IndexDefinition> IndexDefinition::Compile(
    const v1::IndexSchema& schema, const KeyLayout& row_key,
    std::span<const FieldInfo> fields) {
  IndexDefinition index;
  index.name_ = schema.name();
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
    for (const int field : part.inputs) {
      if (std::find(index.inputs_.begin(), index.inputs_.end(), field) ==
          index.inputs_.end()) {
        index.inputs_.push_back(field);
      }
    }
    const auto same =
        std::find(index.row_parts_.begin(), index.row_parts_.end(), part);
    index.same_as_row_part_.push_back(
        same == index.row_parts_.end()
            ? -1
            : static_cast<int>(same - index.row_parts_.begin()));
  }
  index.carried_ = index.row_parts_;
  if (index.text_row_key_) {
    for (KeyPart& part : index.carried_) part = CarriedForm(part);
    index.PlanTextRowKey();
  } else {
    index.PlanRowKey(row_key);
  }
  return index;
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

bool IndexDefinition::HasEntry(std::span<const FieldValue> fields) const {
  return !unique_ || std::none_of(inputs_.begin(), inputs_.end(),
                                  [&](int f) { return fields[f].is_null; });
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
  if (text_row_key_) [[unlikely]]
    return EncodeTextSuffix(row, rest);
  for (const size_t i : suffix_) rest->append(row.part(i));
  return absl::OkStatus();
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
    std::span<const std::string_view> index_parts,
    std::span<const std::string_view> suffix_parts, std::vector<Value>* storage,
    std::vector<FieldValue>* fields) const {
  fields->resize(field_count_);
  // Reserved, because the field values view the strings in it.
  storage->reserve(index_parts.size() + suffix_parts.size());
  const auto decode = [&](const KeyPart& part,
                          std::string_view bytes) -> absl::Status {
    if (part.computed() || !needed_[part.inputs[0]]) return absl::OkStatus();
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

absl::Status IndexDefinition::RowKeyOf(std::string_view entry_key,
                                       std::string_view entry_value,
                                       std::string* row_key) const {
  Slices index_parts;
  for (const KeyPart& part : layout_.parts()) {
    ASSIGN_OR_RETURN(const std::string_view bytes,
                     ConsumeKeyPart(part, &entry_key));
    index_parts.push_back(bytes);
  }
  std::string_view rest = unique_ ? entry_value : entry_key;
  Slices suffix_parts;
  for (const size_t i : suffix_) {
    ASSIGN_OR_RETURN(const std::string_view bytes,
                     ConsumeKeyPart(carried_[i], &rest));
    suffix_parts.push_back(bytes);
  }
  if (!rest.empty() || (unique_ ? !entry_key.empty() : !entry_value.empty())) {
    return absl::InvalidArgumentError(
        absl::StrCat("entry has bytes it should not have: index=", name_));
  }

  std::vector<Value> storage;
  std::vector<FieldValue> fields;
  if (needs_fields_) {
    RETURN_IF_ERROR(DecodeFields(index_parts, suffix_parts, &storage, &fields));
  }
  row_key->clear();
  for (size_t i = 0; i < sources_.size(); ++i) {
    switch (sources_[i].kind) {
      case Source::Kind::kIndexPart:
        row_key->append(index_parts[sources_[i].position]);
        break;
      case Source::Kind::kSuffix:
        row_key->append(suffix_parts[sources_[i].position]);
        break;
      case Source::Kind::kReencode:
      case Source::Kind::kCompute:
        RETURN_IF_ERROR(AppendKeyPart(row_parts_[i], fields, 0, row_key));
        break;
      case Source::Kind::kCarriedSalt:
      case Source::Kind::kCarriedText:
        RETURN_IF_ERROR(
            AppendCarried(i, suffix_parts[sources_[i].position], row_key));
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

bool IndexDefinition::SameEntry(const EncodedRow& a,
                                const EncodedRow& b) const {
  return a.key == b.key &&
         std::all_of(inputs_.begin(), inputs_.end(),
                     [&](int f) { return a.fields[f] == b.fields[f]; });
}

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/compiled_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/limits.h"

namespace dovetail {
namespace {

absl::Status CheckName(std::string_view what, std::string_view name) {
  const bool good =
      !name.empty() && name.size() <= kNameBytesMax &&
      absl::ascii_isalpha(static_cast<unsigned char>(name[0])) &&
      std::all_of(name.begin(), name.end(), [](char c) {
        return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
      });
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      ToAbsl(what), " name must be a letter and then letters, digits or '_', ",
      "at most ", kNameBytesMax, " in all: name=", Quote(name)));
}

absl::Status In(std::string_view place, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(ToAbsl(place), ": ", status.message()));
}

std::vector<std::string> PathsOf(const v1::TableSchema& schema) {
  std::vector<std::string> paths;
  const auto add_path = [&paths](const std::string& path) {
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) {
      paths.push_back(path);
    }
  };
  const auto add = [&](const auto& parts, const std::string& list) {
    for (const v1::KeyPart& part : parts) {
      for (const std::string& path : part.fields()) {
        if (list.empty() || path != list) add_path(path);
      }
    }
  };
  add(schema.row_key().parts(), {});
  for (const v1::IndexSchema& index : schema.indexes()) {
    add(index.parts(), index.fan_out());
  }
  for (const v1::IndexSchema& index : schema.indexes()) {
    if (!index.sum().empty()) add_path(index.sum());
    for (const v1::IndexSchema::Test& test : index.predicate()) {
      add_path(test.field());
    }
    for (const std::string& path : index.covering()) add_path(path);
  }
  return paths;
}

// Of repeated fields.
std::vector<std::string> ListsOf(const v1::TableSchema& schema) {
  std::vector<std::string> lists;
  for (const v1::IndexSchema& index : schema.indexes()) {
    if (!index.fan_out().empty() &&
        std::find(lists.begin(), lists.end(), index.fan_out()) == lists.end()) {
      lists.push_back(index.fan_out());
    }
  }
  return lists;
}

absl::Status CheckShape(const v1::TableSchema& schema) {
  RETURN_IF_ERROR(CheckName("table", schema.name()));
  if (static_cast<size_t>(schema.indexes_size()) > kIndexesPerTableMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("too many indexes: indexes=", schema.indexes_size(),
                     " max=", kIndexesPerTableMax));
  }
  return absl::OkStatus();
}

// Most keys fit; growing a string to it costs three allocations.
constexpr size_t kLikelyKeyBytes = 64;

bool KeyHolds(const KeyLayout& layout, int field) {
  return std::any_of(
      layout.columns().begin(), layout.columns().end(),
      [field](const Column& c) { return c.field == field && c.part >= 0; });
}

}  // namespace

CompiledTable::CompiledTable(v1::TableSchema schema, RecordType record_type,
                             Extractor extractor, OldFieldsEncoder old_fields)
    : schema_(std::move(schema)),
      record_type_(std::move(record_type)),
      extractor_(std::move(extractor)),
      old_fields_(std::move(old_fields)) {}

absl::StatusOr<std::unique_ptr<const CompiledTable>> CompiledTable::Compile(
    const v1::TableSchema& schema) {
  const std::string place = absl::StrCat("table=", schema.name());
  RETURN_IF_ERROR(In(place, CheckShape(schema)));
  absl::StatusOr<RecordType> type =
      LoadRecordType(schema.descriptors(), schema.record_type());
  RETURN_IF_ERROR(In(place, type.status()));
  const std::vector<std::string> lists = ListsOf(schema);
  absl::StatusOr<Extractor> extractor =
      Extractor::Compile(*type->descriptor, PathsOf(schema), lists);
  RETURN_IF_ERROR(In(place, extractor.status()));
  absl::StatusOr<OldFieldsEncoder> old_fields =
      OldFieldsEncoder::Compile(*type->descriptor, extractor->fields());
  RETURN_IF_ERROR(In(place, old_fields.status()));

  // Not make_unique: the constructor is private.
  std::unique_ptr<CompiledTable> table(new CompiledTable(
      schema, *std::move(type), *std::move(extractor), *std::move(old_fields)));
  table->has_lists_ = !lists.empty();
  absl::StatusOr<KeyLayout> row_key =
      KeyLayout::CompileRowKey(schema.row_key(), table->fields());
  RETURN_IF_ERROR(In(absl::StrCat(place, " row key"), row_key.status()));
  table->row_key_ = *std::move(row_key);

  for (const v1::IndexSchema& declared : schema.indexes()) {
    const std::string at = absl::StrCat(place, " index=", declared.name());
    RETURN_IF_ERROR(In(place, CheckName("index", declared.name())));
    if (table->FindIndex(declared.name()) >= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(at, ": declared more than once"));
    }
    absl::StatusOr<IndexDefinition> index = IndexDefinition::Compile(
        declared, table->record_type(), table->row_key_, table->fields());
    RETURN_IF_ERROR(In(at, index.status()));
    table->indexes_.push_back(*std::move(index));
  }

  if (schema.has_change_order()) {
    absl::StatusOr<ChangeOrder> order =
        ChangeOrder::Compile(table->record_type(), schema.change_order());
    RETURN_IF_ERROR(In(absl::StrCat(place, " change order"), order.status()));
    table->change_order_ =
        std::make_unique<const ChangeOrder>(*std::move(order));
  }
  if (!schema.identity().empty()) {
    table->identity_ = table->FindIndex(schema.identity());
    if (table->identity_ < 0 || !table->indexes_[table->identity_].unique()) {
      return absl::InvalidArgumentError(absl::StrCat(
          place, ": identity must name a UNIQUE index of the table: identity=",
          schema.identity()));
    }
    if (!table->indexes_[table->identity_].predicate().empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          place,
          ": identity must be of all rows, but its index has a predicate: "
          "identity=",
          schema.identity()));
    }
    const auto& columns = table->indexes_[table->identity_].layout().columns();
    table->identity_follows_from_row_key_ = std::all_of(
        columns.begin(), columns.end(),
        [&](const Column& c) { return KeyHolds(table->row_key_, c.field); });
  }
  return std::unique_ptr<const CompiledTable>(std::move(table));
}

int CompiledTable::FindIndex(std::string_view name) const {
  for (size_t i = 0; i < indexes_.size(); ++i) {
    if (indexes_[i].name() == name) return static_cast<int>(i);
  }
  return -1;
}

absl::Status CompiledTable::ExtractFields(std::string_view record,
                                          EncodedRow* out) const {
  out->fields.resize(fields().size());
  out->elements.clear();
  return extractor_.Extract(record, std::span<FieldValue>(out->fields),
                            has_lists_ ? &out->elements : nullptr);
}

void CompiledTable::EncodeOldFields(const EncodedRow& row,
                                    std::string* out) const {
  old_fields_.Encode(row.fields, out);
  for (const ListElement& element : row.elements) {
    old_fields_.EncodeField(element.field, element.value, out);
  }
}

absl::Status CompiledTable::ExtractOldFields(std::string_view old_fields,
                                             EncodedRow* out) const {
  out->fields.resize(fields().size());
  out->elements.clear();
  return extractor_.ExtractPartial(old_fields,
                                   std::span<FieldValue>(out->fields),
                                   has_lists_ ? &out->elements : nullptr);
}

absl::Status CompiledTable::RecordOfEntry(size_t index,
                                          std::string_view entry_key,
                                          std::string_view entry_value,
                                          std::string* record) const {
  std::vector<Value> storage;
  std::vector<FieldValue> held;
  std::string_view covering;
  RETURN_IF_ERROR(indexes_[index].DecodeEntry(entry_key, entry_value, &storage,
                                              &held, &covering));
  record->clear();
  old_fields_.Encode(held, record);
  // What a reader takes of a field that is in both, since it comes last.
  record->append(covering);
  return absl::OkStatus();
}

absl::Status CompiledTable::EncodeKey(uint32_t salt, EncodedRow* out) const {
  out->key.clear();
  out->key.reserve(kLikelyKeyBytes);
  out->offsets.clear();
  return row_key_.Encode(out->fields, salt, &out->key, &out->offsets);
}

absl::StatusOr<uint32_t> CompiledTable::SaltOf(std::string_view row_key) const {
  if (row_key_.salt_count() == 0) return 0;
  for (const KeyPart& part : row_key_.parts()) {
    ASSIGN_OR_RETURN(const std::string_view bytes,
                     ConsumeKeyPart(part, &row_key));
    if (part.transform != KeyPart::Transform::kSalt) continue;
    ASSIGN_OR_RETURN(const Value salt, DecodeKeyPart(part, bytes));
    return static_cast<uint32_t>(salt.as_uint());
  }
  return 0;
}

}  // namespace dovetail

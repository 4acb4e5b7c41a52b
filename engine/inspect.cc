// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/inspect.h"

#include <sstream>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/limits.h"
#include "engine/row_format.h"
#include "index/compiled_table.h"
#include "index/key_body.h"

namespace dovetail {
namespace {

// Takes one part from the front of `bytes`.
absl::StatusOr<ExplainedPart> TakePart(const KeyPart& part, bool of_row_key,
                                       std::string_view* bytes) {
  ExplainedPart out;
  out.fields = absl::StrJoin(part.input_paths, ",");
  if (part.transform != KeyPart::Transform::kNone) {
    out.transform = std::string(KeyTransformName(part.transform));
  }
  out.descending = part.descending;
  out.of_row_key = of_row_key;
  ASSIGN_OR_RETURN(const std::string_view own, ConsumeKeyPart(part, bytes));
  out.bytes = std::string(own);
  if (part.transform == KeyPart::Transform::kHash) {
    out.value = absl::StrCat("0x", absl::BytesToHexString(ToAbsl(own)));
    return out;
  }
  ASSIGN_OR_RETURN(const Value value, DecodeKeyPart(part, own));
  out.value = value.DebugString();
  return out;
}

// Appends the parts that `bytes` holds, whole ones from the first on.
absl::Status TakeParts(const std::vector<const KeyPart*>& parts,
                       bool of_row_key, std::string_view* bytes,
                       std::vector<ExplainedPart>* out) {
  for (const KeyPart* part : parts) {
    if (bytes->empty()) return absl::OkStatus();
    absl::StatusOr<ExplainedPart> one = TakePart(*part, of_row_key, bytes);
    if (!one.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "part ", out->size() + 1, " (", absl::StrJoin(part->input_paths, ","),
          "): ", one.status().message()));
    }
    out->push_back(*std::move(one));
  }
  return absl::OkStatus();
}

absl::Status NothingLeft(std::string_view bytes) {
  if (bytes.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("bytes behind the last part: count=", bytes.size(),
                   " bytes=0x", absl::BytesToHexString(ToAbsl(bytes))));
}

std::vector<const KeyPart*> Pointers(const std::vector<KeyPart>& parts) {
  std::vector<const KeyPart*> all;
  for (const KeyPart& part : parts) all.push_back(&part);
  return all;
}

absl::StatusOr<std::vector<ExplainedPart>> ExplainGroup(
    const IndexDefinition& index, std::string_view value) {
  ASSIGN_OR_RETURN(const GroupValue group,
                   ParseGroupValue(value, index.sums()));
  std::vector<ExplainedPart> out(index.sums() ? 2 : 1);
  out[0].fields = "count";
  out[0].value = absl::StrCat(group.count);
  out[0].bytes = std::string(value);
  if (!index.sums()) return out;
  std::ostringstream sum;
  sum << group.sum;
  out[1].fields = "sum";
  out[1].value = sum.str();
  return out;
}

// `bytes` are a record of the covering fields.
absl::Status TakeCovering(const CompiledTable& table,
                          const IndexDefinition& index, std::string_view bytes,
                          std::vector<ExplainedPart>* out) {
  EncodedRow row;
  RETURN_IF_ERROR(table.ExtractOldFields(bytes, &row));
  for (const int i : index.covering()) {
    const auto at = static_cast<size_t>(i);
    ExplainedPart part;
    part.fields = table.fields()[at].path;
    part.transform = "covering";
    part.value = ToValue(row.fields[at], table.fields()[at].type).DebugString();
    out->push_back(std::move(part));
  }
  return absl::OkStatus();
}

}  // namespace

struct KeyInspector::State {
  std::unique_ptr<const CompiledTable> table;

  // Null for the row key.
  absl::StatusOr<const IndexDefinition*> Find(std::string_view index) const {
    if (index.empty()) return nullptr;
    const int at = table->FindIndex(index);
    if (at < 0) {
      return absl::NotFoundError(
          absl::StrCat("no such index: index=", Quote(index)));
    }
    return &table->indexes()[static_cast<size_t>(at)];
  }

  std::vector<const KeyPart*> Suffix(const IndexDefinition& index) const {
    std::vector<const KeyPart*> parts;
    for (const size_t i : index.suffix()) {
      parts.push_back(&table->row_key().parts()[i]);
    }
    return parts;
  }
};

KeyInspector::KeyInspector(std::unique_ptr<const State> state)
    : state_(std::move(state)) {}
KeyInspector::KeyInspector(KeyInspector&&) noexcept = default;
KeyInspector& KeyInspector::operator=(KeyInspector&&) noexcept = default;
KeyInspector::~KeyInspector() = default;

absl::StatusOr<KeyInspector> KeyInspector::Create(
    const v1::TableSchema& table) {
  auto state = std::make_unique<State>();
  ASSIGN_OR_RETURN(state->table, CompiledTable::Compile(table));
  return KeyInspector(std::move(state));
}

absl::StatusOr<std::vector<ExplainedPart>> KeyInspector::Explain(
    std::string_view index, std::string_view key) const {
  ASSIGN_OR_RETURN(const IndexDefinition* definition, state_->Find(index));
  std::vector<ExplainedPart> out;
  const KeyLayout& layout =
      definition == nullptr ? state_->table->row_key() : definition->layout();
  RETURN_IF_ERROR(TakeParts(Pointers(layout.parts()), false, &key, &out));
  if (definition != nullptr && !definition->unique()) {
    RETURN_IF_ERROR(TakeParts(state_->Suffix(*definition), true, &key, &out));
  }
  RETURN_IF_ERROR(NothingLeft(key));
  return out;
}

absl::StatusOr<std::vector<ExplainedPart>> KeyInspector::ExplainValue(
    std::string_view index, std::string_view value) const {
  ASSIGN_OR_RETURN(const IndexDefinition* definition, state_->Find(index));
  if (definition == nullptr) {
    return absl::InvalidArgumentError("the value of a row is its record");
  }
  std::vector<ExplainedPart> out;
  if (definition->aggregates()) return ExplainGroup(*definition, value);
  if (definition->unique()) {
    RETURN_IF_ERROR(TakeParts(state_->Suffix(*definition), true, &value, &out));
  }
  if (!definition->covering().empty()) {
    RETURN_IF_ERROR(TakeCovering(*state_->table, *definition, value, &out));
    return out;
  }
  RETURN_IF_ERROR(NothingLeft(value));
  return out;
}

absl::StatusOr<std::vector<std::string>> KeyInspector::Encode(
    std::string_view index, const std::vector<Value>& values) const {
  ASSIGN_OR_RETURN(const IndexDefinition* definition, state_->Find(index));
  const KeyLayout& layout =
      definition == nullptr ? state_->table->row_key() : definition->layout();
  ASSIGN_OR_RETURN(
      std::vector<KeyRange> ranges,
      layout.Ranges(values, {}, std::nullopt, Limits().merge_streams_max));
  std::vector<std::string> prefixes;
  for (KeyRange& range : ranges) prefixes.push_back(std::move(range.prefix));
  return prefixes;
}

absl::StatusOr<std::string> KeyInspector::RowKeyOf(
    std::string_view index, const StoredPair& entry) const {
  ASSIGN_OR_RETURN(const IndexDefinition* definition, state_->Find(index));
  if (definition == nullptr) return std::string(entry.key);
  std::string row_key;
  RETURN_IF_ERROR(definition->RowKeyOf(entry.key, entry.value, &row_key));
  return row_key;
}

absl::StatusOr<RowView> KeyInspector::RowOf(const StoredPair& row) {
  ASSIGN_OR_RETURN(const StoredRow stored, DecodeRow(row.value));
  return RowView{row.key, stored.record, stored.version};
}

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/replay_request.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail {
namespace {

using Old = AdmittedEffect::Old;

absl::Status WrongKey(std::string_view what, std::string_view key,
                      std::string_view right) {
  return absl::InvalidArgumentError(absl::StrCat(
      "the key is not the one that this table's layout gives the ",
      ToAbsl(what), ": key=", Quote(key), " right=", Quote(right)));
}

// Fills `row` from `bytes`, which are a record or the old fields of one.
absl::Status AdmitImage(const CompiledTable& table, std::string_view what,
                        std::string_view bytes, bool is_record,
                        std::string_view key, EncodedRow* row) {
  const absl::Status read = is_record ? table.ExtractFields(bytes, row)
                                      : table.ExtractOldFields(bytes, row);
  if (!read.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the ", ToAbsl(what), " is no record of the table: ", "record_type=",
        table.record_type().full_name(), ": ", read.message()));
  }
  const absl::StatusOr<uint32_t> salt = table.SaltOf(key);
  if (!salt.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("bytes are no row key: key=", Quote(key), ": ",
                     salt.status().message()));
  }
  RETURN_IF_ERROR(table.EncodeKey(*salt, row));
  return row->key == key ? absl::OkStatus() : WrongKey(what, key, row->key);
}

absl::Status AdmitEffect(const SchemaState& schema, bool tells_old,
                         OldFieldsCoverage& coverage, AdmittedEffect* out) {
  const v1::RowEffect& effect = *out->effect;
  const absl::StatusOr<const TableState*> table = schema.Find(effect.table());
  if (!table.ok()) {
    return absl::InvalidArgumentError(table.status().message());
  }
  out->table = *table;
  const CompiledTable& compiled = *out->table->compiled;
  out->new_key = effect.new_key();
  out->old_key = effect.old_key().empty() ? out->new_key
                                          : std::string_view(effect.old_key());
  if (out->new_key.empty()) {
    return absl::InvalidArgumentError("the row has no key");
  }
  const bool moves = out->old_key != out->new_key;
  if (out->deletes() && moves) {
    return absl::InvalidArgumentError("a row that is deleted cannot be moved");
  }
  if (effect.has_old_fields()) {
    out->old = Old::kFields;
    out->old_suffices = coverage.Covers(*out->table);
    RETURN_IF_ERROR(AdmitImage(compiled, "old image", effect.old_fields(),
                               /*is_record=*/false, out->old_key,
                               &out->old_row));
  } else if (tells_old) {
    out->old = Old::kNone;
    out->old_suffices = true;
    if (out->deletes() || moves) {
      return absl::InvalidArgumentError(
          "a row that was not there cannot be deleted or moved");
    }
  } else {
    const absl::Status decodes =
        compiled.row_key().Split(out->old_key).status();
    if (!decodes.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("bytes are no row key: key=", Quote(out->old_key), ": ",
                       decodes.message()));
    }
  }
  if (out->deletes()) return absl::OkStatus();
  return AdmitImage(compiled, "record", effect.record(), /*is_record=*/true,
                    out->new_key, &out->new_row);
}

}  // namespace

void OldFieldsCoverage::SetSource(const v1::Schema* schema) {
  source_.clear();
  known_.clear();
  if (schema == nullptr) return;
  for (const v1::TableSchema& table : schema->tables()) {
    const auto compiled = CompiledTable::Compile(table);
    if (!compiled.ok()) continue;
    std::vector<Field>& fields = source_[table.name()];
    for (const FieldInfo& info : (*compiled)->fields()) {
      fields.push_back({info.numbers, info.type});
    }
  }
}

bool OldFieldsCoverage::Covers(const TableState& table) {
  if (table.schema_version != schema_version_) {
    schema_version_ = table.schema_version;
    known_.clear();
  }
  const auto [known, is_new] = known_.try_emplace(&table, false);
  if (!is_new) return known->second;
  const auto source = source_.find(table.name());
  if (source == source_.end()) return false;
  const std::vector<Field>& fields = source->second;
  const std::vector<FieldInfo>& wanted = table.compiled->fields();
  known->second =
      std::all_of(wanted.begin(), wanted.end(), [&](const FieldInfo& info) {
        return std::find(fields.begin(), fields.end(),
                         Field{info.numbers, info.type}) != fields.end();
      });
  return known->second;
}

absl::StatusOr<std::vector<AdmittedEffect>> AdmitEffects(
    const SchemaState& schema, const v1::WriteLogRecord& record,
    OldFieldsCoverage& coverage) {
  // Only what was recorded for a log says of every row what it was before;
  // the change feed's records do not, and have no fingerprint either.
  const bool tells_old = record.schema_fingerprint() != 0;
  std::vector<AdmittedEffect> admitted(record.effects_size());
  for (int i = 0; i < record.effects_size(); ++i) {
    admitted[i].effect = &record.effects(i);
    const absl::Status status =
        AdmitEffect(schema, tells_old, coverage, &admitted[i]);
    if (status.ok()) continue;
    return absl::Status(
        status.code(),
        absl::StrCat("effect ", i + 1, " of ", record.effects_size(),
                     ": table=", Quote(record.effects(i).table()), ": ",
                     status.message()));
  }
  return admitted;
}

}  // namespace dovetail

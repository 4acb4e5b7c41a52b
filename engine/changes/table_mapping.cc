// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What becomes of a change:
//
//   insert, read, put   the whole row is put; what was there is replaced
//   update              the mapped fields that the row after it has are
//                       patched in the row that the image before it names, so
//                       that a changed key moves the row; other fields stay. A
//                       row that is not there is created if all mapped fields
//                       are known, else the change is refused
//   merge               the same, and creates the row in any case
//   delete              the row that key or image name is deleted, if there

#include "engine/changes/table_mapping.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail::changes {
namespace {

using google::protobuf::Message;
using Effect = ChangeOutcome::Effect;

absl::Status InTable(const absl::Status& cause, std::string_view table) {
  return absl::Status(cause.code(),
                      absl::StrCat(cause.message(), " table=", ToAbsl(table)));
}

bool SameName(std::string_view wanted, std::string_view given,
              bool ignore_case) {
  return wanted.empty() || wanted == given ||
         (ignore_case && absl::EqualsIgnoreCase(ToAbsl(wanted), ToAbsl(given)));
}

}  // namespace

bool TableMapping::Filled::complete() const {
  return std::find(present.begin(), present.end(), false) == present.end();
}

absl::StatusOr<std::unique_ptr<TableMapping>> TableMapping::Compile(
    Engine* engine, const v1::TableMapping& mapping) {
  ASSIGN_OR_RETURN(DynamicTable table,
                   DynamicTable::Bind(engine, mapping.table()));
  std::unique_ptr<TableMapping> compiled(
      new TableMapping(std::move(table), mapping));
  absl::Status status = compiled->CompileFields();
  if (status.ok()) status = compiled->CompileKey();
  if (!status.ok()) return InTable(status, mapping.table());
  return compiled;
}

absl::Status TableMapping::CompileFields() {
  for (const v1::FieldMapping& field : mapping_.fields()) {
    ASSIGN_OR_RETURN(FieldSource source,
                     FieldSource::Compile(field, mapping_.ignore_case()));
    ASSIGN_OR_RETURN(FieldTarget target,
                     FieldTarget::Compile(*table_.record_type(), field));
    for (const Field& other : fields_) {
      if (other.target.path() == field.field()) {
        return absl::InvalidArgumentError(
            absl::StrCat("a field is mapped twice: field=", field.field()));
      }
    }
    std::optional<std::string> fallback;
    if (field.has_default_value()) fallback = field.default_value();
    fields_.push_back({std::move(source), std::move(target), fallback});
  }
  return {};
}

// Every column of the row key and of find_by must be mapped.
absl::Status TableMapping::CompileKey() {
  for (const std::string& index : {std::string(), mapping_.find_by()}) {
    ASSIGN_OR_RETURN(const std::vector<std::string> columns,
                     table_.Columns(index));
    key_.clear();
    for (const std::string& column : columns) {
      const auto field = std::find_if(
          fields_.begin(), fields_.end(), [&column](const Field& candidate) {
            return candidate.target.path() == column;
          });
      if (field == fields_.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("a field of the key is not mapped: field=", column,
                         " key=", index.empty() ? "(row key)" : index));
      }
      key_.push_back(static_cast<size_t>(field - fields_.begin()));
    }
  }
  return {};
}

bool TableMapping::Fits(const ForeignChange& change) const {
  const bool any_case = mapping_.ignore_case();
  for (const v1::TableMapping::Source& source : mapping_.sources()) {
    if (SameName(source.database(), change.database, any_case) &&
        SameName(source.schema(), change.schema, any_case) &&
        SameName(source.table(), change.table, any_case)) {
      return true;
    }
  }
  return mapping_.sources().empty();
}

absl::StatusOr<ChangeOutcome> TableMapping::Add(const ForeignChange& change,
                                                WriteBatch* batch) const {
  ASSIGN_OR_RETURN(const ChangeKind kind, KindOf(change));
  if (kind == ChangeKind::kTruncate) {
    if (mapping_.truncate() == v1::TableMapping::SKIP) {
      return ChangeOutcome{Effect::kSkipped, ChangeKindName(kind)};
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "the source emptied its table; truncate: SKIP goes on with the rows "
        "that are here: table=",
        ToAbsl(Quote(change.table)), " byte=", change.at));
  }
  if (change.no_primary_key && !mapping_.allow_no_primary_key()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the source's table has no primary key, so that its rows cannot be "
        "told apart; allow_no_primary_key takes them by the mapping's own: "
        "table=",
        ToAbsl(Quote(change.table)), " byte=", change.at));
  }
  switch (kind) {
    case ChangeKind::kInsert:
    case ChangeKind::kRead:
    case ChangeKind::kPut:
      return AddPut(*change.after, batch);
    case ChangeKind::kUpdate:
      return AddUpdate(change, batch);
    case ChangeKind::kDelete:
      return AddDelete(change, batch);
    case ChangeKind::kMerge:
      return AddMerge(change, batch);
    default:
      return ChangeOutcome{Effect::kSkipped, ChangeKindName(kind)};
  }
}

absl::StatusOr<ChangeKind> TableMapping::KindOf(
    const ForeignChange& change) const {
  if (change.kind != ChangeKind::kPut || !mapping_.has_operation()) {
    return change.kind;
  }
  const v1::TableMapping::Operation& operation = mapping_.operation();
  const ForeignValue* word = nullptr;
  for (const ForeignValue& member : change.after->members) {
    if (SameName(operation.column(), member.name, mapping_.ignore_case())) {
      word = &member;
    }
  }
  const auto is_one_of = [word](const auto& words) {
    return std::find(words.begin(), words.end(), word->text) != words.end();
  };
  if (word != nullptr) {
    if (is_one_of(operation.put())) return ChangeKind::kPut;
    if (is_one_of(operation.update())) return ChangeKind::kUpdate;
    if (is_one_of(operation.delete_())) return ChangeKind::kDelete;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      word == nullptr ? "no column says what is done"
                      : "a word for what is done that the mapping lacks",
      ": column=", ToAbsl(Quote(operation.column())),
      word == nullptr ? "" : " value=",
      word == nullptr ? "" : ToAbsl(Quote(word->text)),
      " byte=", word == nullptr ? change.at : word->at));
}

absl::StatusOr<ChangeOutcome> TableMapping::AddPut(const ForeignValue& row,
                                                   WriteBatch* batch) const {
  ASSIGN_OR_RETURN(const Filled filled, Fill(row, /*insert=*/true));
  for (const size_t key : key_) {
    if (filled.present[key]) continue;
    return fields_[key].source.Blame(
        absl::InvalidArgumentError("a column of the key is missing"), row);
  }
  batch->Put(table_.name(), filled.record->SerializePartialAsString());
  return ChangeOutcome{Effect::kPut, {}};
}

absl::StatusOr<ChangeOutcome> TableMapping::AddUpdate(
    const ForeignChange& change, WriteBatch* batch) const {
  const ForeignValue& row = *change.after;
  ASSIGN_OR_RETURN(const Filled filled, Fill(row, /*insert=*/false));
  std::optional<std::vector<Value>> before;
  for (const std::optional<ForeignValue>* image :
       {&change.before, &change.key}) {
    if (before.has_value() || !image->has_value()) continue;
    ASSIGN_OR_RETURN(before, KeyOf(**image));
  }
  ASSIGN_OR_RETURN(std::optional<std::vector<Value>> after, KeyOf(row));
  // Without an image before it, the key is the one that it had.
  if (!before.has_value() && !change.before.has_value()) before = after;
  if (!before.has_value()) return NoKey(change);
  const bool move = after.has_value() && *after != *before;
  std::string values = filled.record->SerializePartialAsString();
  if (filled.complete()) {
    batch->PatchOrPut(table_.name(), Target(*std::move(before)),
                      std::move(values), PathsOf(filled));
  } else {
    batch->Patch(table_.name(), Target(*std::move(before)), std::move(values),
                 PathsOf(filled));
  }
  return ChangeOutcome{move ? Effect::kMove : Effect::kUpdate, {}};
}

absl::StatusOr<ChangeOutcome> TableMapping::AddDelete(
    const ForeignChange& change, WriteBatch* batch) const {
  for (const std::optional<ForeignValue>* image :
       {&change.before, &change.key, &change.after}) {
    if (!image->has_value()) continue;
    ASSIGN_OR_RETURN(std::optional<std::vector<Value>> key, KeyOf(**image));
    if (!key.has_value()) continue;
    batch->Delete(table_.name(), Target(*std::move(key)));
    return ChangeOutcome{Effect::kDelete, {}};
  }
  return NoKey(change);
}

absl::StatusOr<ChangeOutcome> TableMapping::AddMerge(
    const ForeignChange& change, WriteBatch* batch) const {
  ForeignValue row = *change.after;
  bool all_cleared = !change.cleared.empty();
  bool any_value = false;
  for (const Field& field : fields_) {
    if (field.source.columns().empty()) continue;
    ASSIGN_OR_RETURN(const FieldSource::Found found, field.source.Read(row));
    const bool keyed = std::any_of(key_.begin(), key_.end(), [&](size_t key) {
      return &fields_[key] == &field;
    });
    if (keyed) continue;
    const bool cleared = field.source.IsWithin(change.cleared);
    any_value |= found.present && !found.value.is_null();
    all_cleared &= cleared;
    if (!cleared || found.present) continue;
    for (const std::string& column : field.source.columns()) {
      ForeignValue& null = row.members.emplace_back();
      null.name = column;
      null.at = change.at;
    }
  }
  ASSIGN_OR_RETURN(std::optional<std::vector<Value>> key, KeyOf(row));
  if (!key.has_value()) return NoKey(change);
  if (all_cleared) {
    batch->Delete(table_.name(), Target(*key));
    if (!any_value) return ChangeOutcome{Effect::kDelete, {}};
  }
  ASSIGN_OR_RETURN(const Filled filled, Fill(row, /*insert=*/false));
  batch->PatchOrPut(table_.name(), Target(*std::move(key)),
                    filled.record->SerializePartialAsString(), PathsOf(filled));
  return ChangeOutcome{Effect::kUpdate, {}};
}

absl::StatusOr<TableMapping::Filled> TableMapping::Fill(const ForeignValue& row,
                                                        bool insert) const {
  Filled filled;
  filled.record = table_.NewRecord();
  for (const Field& field : fields_) {
    ASSIGN_OR_RETURN(FieldSource::Found found, field.source.Read(row));
    if (!found.present && insert && field.default_value.has_value()) {
      found.present = true;  // Null, which has the default for its value.
      found.value.at = row.at;
    }
    filled.present.push_back(found.present);
    if (!found.present) continue;
    RETURN_IF_ERROR(FillOne(field, found, filled.record.get()));
  }
  return filled;
}

absl::Status TableMapping::FillOne(const Field& field,
                                   const FieldSource::Found& found,
                                   Message* record) const {
  absl::Status status;
  if (!found.value.is_null()) {
    status = field.target.Set(found.value, record);
  } else if (field.default_value.has_value()) {
    status = field.target.SetDefault(*field.default_value, record);
  } else {
    status = field.target.SetNull(record);
  }
  return status.ok() ? status : field.source.Blame(status, found.value);
}

absl::StatusOr<std::optional<std::vector<Value>>> TableMapping::KeyOf(
    const ForeignValue& image) const {
  const std::unique_ptr<Message> record = table_.NewRecord();
  std::vector<Value> values;
  for (const size_t key : key_) {
    ASSIGN_OR_RETURN(const FieldSource::Found found,
                     fields_[key].source.Read(image));
    if (!found.present) return std::nullopt;
    RETURN_IF_ERROR(FillOne(fields_[key], found, record.get()));
    values.push_back(fields_[key].target.Get(*record));
  }
  return values;
}

RowRef TableMapping::Target(std::vector<Value> key) const {
  return mapping_.find_by().empty()
             ? RowRef::Key(std::move(key))
             : RowRef::By(mapping_.find_by(), std::move(key));
}

std::vector<std::string> TableMapping::PathsOf(const Filled& filled) const {
  std::vector<std::string> paths;
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (filled.present[i]) paths.push_back(fields_[i].target.path());
  }
  return paths;
}

absl::Status TableMapping::NoKey(const ForeignChange& change) const {
  std::vector<std::string> columns;
  for (const size_t key : key_) {
    for (const std::string& column : fields_[key].source.columns()) {
      columns.push_back(column);
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the change does not say which row it is about: it lacks a column that "
      "find_by needs: columns=",
      absl::StrJoin(columns, ","), " byte=", change.at));
}

}  // namespace dovetail::changes

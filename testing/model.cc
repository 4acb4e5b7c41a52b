// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The writes of the model.

#include "dovetail/testing/model.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace dovetail::test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Message;

bool HasNull(const Tuple& tuple) {
  return std::any_of(tuple.begin(), tuple.end(),
                     [](const Value& v) { return v.is_null(); });
}

Tuple Prefix(const Tuple& tuple, size_t count) {
  return Tuple(tuple.begin(),
               tuple.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace

absl::StatusOr<Model> Model::Of(const Schema& schema) {
  Model model;
  for (const v1::TableSchema& table : schema.proto().tables()) {
    const Descriptor* type = google::protobuf::DescriptorPool::generated_pool()
                                 ->FindMessageTypeByName(table.record_type());
    const Message* prototype =
        type == nullptr ? nullptr
                        : google::protobuf::MessageFactory::generated_factory()
                              ->GetPrototype(type);
    if (prototype == nullptr) {
      return absl::NotFoundError(absl::StrCat(
          "no message of this program: record_type=", table.record_type()));
    }
    RETURN_IF_ERROR(model.AddTable(table, *prototype));
  }
  return model;
}

absl::Status Model::AddTable(const v1::TableSchema& schema,
                             const Message& prototype) {
  if (schema.row_key().encoding() == v1::RowKeyLayout::TEXT) {
    return absl::UnimplementedError(absl::StrCat(
        "the model knows no TEXT row keys: table=", schema.name()));
  }
  const Descriptor* type = prototype.GetDescriptor();
  ASSIGN_OR_RETURN(const std::vector<ModelColumn> columns,
                   ReadLayout(schema.row_key().parts(), type));
  TableState table{&prototype,
                   columns,
                   std::map<Tuple, ModelRow, TupleLess>(TupleLess(columns)),
                   {},
                   -1};
  for (const v1::IndexSchema& declared : schema.indexes()) {
    if (declared.name() == schema.identity()) {
      table.identity = static_cast<int>(table.indexes.size());
    }
    ASSIGN_OR_RETURN(std::vector<ModelColumn> all,
                     ReadLayout(declared.parts(), type));
    const size_t own = all.size();
    const bool counts = declared.kind() == v1::IndexSchema::COUNT ||
                        declared.kind() == v1::IndexSchema::SUM;
    for (const ModelColumn& column : columns) {
      if (counts) break;
      const bool has = std::any_of(
          all.begin(), all.end(),
          [&](const ModelColumn& c) { return c.name == column.name; });
      if (!has) all.push_back(column);
    }
    std::vector<FieldPath> covering;
    for (const std::string& path : declared.covering()) {
      ASSIGN_OR_RETURN(covering.emplace_back(), ResolvePath(type, path));
    }
    for (const v1::IndexSchema::Test& test : declared.predicate()) {
      RETURN_IF_ERROR(Passes(test, prototype).status());
    }
    FieldPath sum;
    if (!declared.sum().empty()) {
      ASSIGN_OR_RETURN(sum, ResolvePath(type, declared.sum()));
    }
    table.indexes.push_back(
        Index{declared.name(), declared.kind() == v1::IndexSchema::UNIQUE, own,
              all, declared, covering, sum,
              std::map<Tuple, Tuple, TupleLess>(TupleLess(all)),
              std::map<Tuple, Group, TupleLess>(TupleLess(all))});
  }
  tables_.emplace(schema.name(), std::move(table));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint64_t>> Model::Apply(const WriteBatch& batch,
                                                   uint64_t sequence) {
  Request request;
  request.sequence = sequence;
  std::vector<uint64_t> rows_changed;
  absl::Status status;
  for (const Mutation& m : batch.mutations()) {
    absl::StatusOr<uint64_t> changed = ApplyMutation(m, &request);
    status = changed.status();
    if (!status.ok()) break;
    rows_changed.push_back(*changed);
  }
  if (status.ok()) status = CheckUnique(request);
  if (status.ok()) return rows_changed;
  for (auto step = request.steps.rbegin(); step != request.steps.rend();
       ++step) {
    SetRow(*step->table, step->key, std::move(step->before));
  }
  return status;
}

absl::StatusOr<uint64_t> Model::ApplyMutation(const Mutation& m,
                                              Request* request) {
  TableState* table = Find(m.table);
  if (table == nullptr) return absl::InvalidArgumentError("no such table");
  if (m.kind == Mutation::Kind::kInsert || m.kind == Mutation::Kind::kPut) {
    return ApplyPut(m, *table, request);
  }
  return ApplyToTargets(m, *table, request);
}

absl::StatusOr<uint64_t> Model::ApplyPut(const Mutation& m, TableState& table,
                                         Request* request) {
  const std::unique_ptr<Message> message =
      ParseRecord(*table.prototype, m.record);
  if (message == nullptr) return absl::InvalidArgumentError("not a record");
  const Tuple key = ReadColumns(*message, table.columns);
  // The row that the record replaces: the one of its identity, which may
  // live elsewhere, or the one under its key.
  std::optional<Tuple> owner;
  if (table.identity >= 0) {
    const Index& index = table.indexes[static_cast<size_t>(table.identity)];
    owner = IdentityOwner(
        table, Prefix(ReadColumns(*message, index.columns), index.declared));
  }
  const auto at_key = table.rows.find(key);
  const bool key_taken = at_key != table.rows.end();
  if (owner.has_value() && *owner != key && key_taken) {
    return absl::AlreadyExistsError("the put would replace two rows");
  }
  const ModelRow* about = owner.has_value() ? &table.rows.at(*owner)
                          : key_taken       ? &at_key->second
                                            : nullptr;
  RETURN_IF_ERROR(CheckConditions(m, table, about));
  if (m.kind == Mutation::Kind::kInsert && about != nullptr) {
    return absl::AlreadyExistsError("the row exists");
  }
  if (pre_put_) RETURN_IF_ERROR(pre_put_(m.table, m.record));
  if (owner.has_value() && *owner != key) {
    Change(table, *owner, std::nullopt, request);
  }
  Change(table, key, m.record, request);
  return 1;
}

absl::StatusOr<uint64_t> Model::ApplyToTargets(const Mutation& m,
                                               TableState& table,
                                               Request* request) {
  ASSIGN_OR_RETURN(const Keys keys, Resolve(table, m.target));
  const bool one = m.target.match() == RowRef::Match::kOne;
  if (one && keys.size() > 1) {
    return absl::FailedPreconditionError("the target is ambiguous");
  }
  if (one && keys.empty()) {
    RETURN_IF_ERROR(CheckConditions(m, table, nullptr));
    if (m.kind == Mutation::Kind::kPatch) {
      return absl::NotFoundError("no row to patch");
    }
  }
  for (const Tuple& key : keys) {
    RETURN_IF_ERROR(CheckConditions(m, table, &table.rows.at(key)));
    if (m.kind == Mutation::Kind::kPatch) {
      RETURN_IF_ERROR(PatchRow(m, table, key, request));
    } else {
      Change(table, key, std::nullopt, request);
    }
  }
  return keys.size();
}

absl::Status Model::PatchRow(const Mutation& m, TableState& table,
                             const Tuple& key, Request* request) {
  const std::unique_ptr<Message> message =
      ParseRecord(*table.prototype, table.rows.at(key).record);
  const std::unique_ptr<Message> values =
      ParseRecord(*table.prototype, m.record);
  if (values == nullptr) return absl::InvalidArgumentError("not a record");
  for (const std::string& path : m.fields) {
    ASSIGN_OR_RETURN(const FieldPath field,
                     ResolvePath(table.prototype->GetDescriptor(), path));
    CopyField(field, *values, message.get());
  }
  const std::string record = message->SerializeAsString();
  const Tuple moved = ReadColumns(*message, table.columns);
  if (moved != key && table.rows.contains(moved)) {
    return absl::AlreadyExistsError("another row is where this one moves");
  }
  if (pre_put_) RETURN_IF_ERROR(pre_put_(m.table, record));
  if (moved != key) Change(table, key, std::nullopt, request);
  Change(table, moved, record, request);
  return absl::OkStatus();
}

absl::Status Model::CheckConditions(const Mutation& m, const TableState& table,
                                    const ModelRow* row) {
  for (const Precondition& condition : m.conditions) {
    bool holds = false;
    switch (condition.kind) {
      case Precondition::Kind::kAbsent:
        holds = row == nullptr;
        break;
      case Precondition::Kind::kExists:
        holds = row != nullptr;
        break;
      case Precondition::Kind::kVersionEquals:
        holds = row != nullptr &&
                row->version == static_cast<uint64_t>(condition.version);
        break;
      case Precondition::Kind::kFieldEquals: {
        if (row == nullptr) break;
        ASSIGN_OR_RETURN(
            const FieldPath path,
            ResolvePath(table.prototype->GetDescriptor(), condition.path));
        const Value value =
            FieldOf(*ParseRecord(*table.prototype, row->record), path);
        holds = value == Normalize(condition.value, path.back());
        break;
      }
    }
    if (!holds) return absl::FailedPreconditionError("a precondition");
  }
  return absl::OkStatus();
}

// The rule of the request's end: no two rows share a unique entry.
absl::Status Model::CheckUnique(const Request& request) {
  for (const Request::Step& step : request.steps) {
    const auto row = step.table->rows.find(step.key);
    if (row == step.table->rows.end()) continue;
    const std::unique_ptr<Message> message =
        ParseRecord(*step.table->prototype, row->second.record);
    for (const Index& index : step.table->indexes) {
      if (!index.unique) continue;
      for (const Tuple& all : EntriesOf(index, *message)) {
        const Tuple values = Prefix(all, index.declared);
        auto entry = index.entries.lower_bound(values);
        const TupleLess less(index.columns);
        if (entry != index.entries.end() && ++entry != index.entries.end() &&
            less.Compare(entry->first, values) == 0) {
          return absl::AlreadyExistsError(
              absl::StrCat("unique violation index=", index.name));
        }
      }
    }
  }
  return absl::OkStatus();
}

std::optional<Tuple> Model::IdentityOwner(const TableState& table,
                                          const Tuple& identity) {
  if (HasNull(identity)) return std::nullopt;
  const Index& index = table.indexes[static_cast<size_t>(table.identity)];
  const auto entry = index.entries.lower_bound(identity);
  if (entry == index.entries.end() ||
      TupleLess(index.columns).Compare(entry->first, identity) != 0) {
    return std::nullopt;
  }
  return entry->second;
}

absl::StatusOr<Tuple> Model::ReadValues(
    const Tuple& values, const std::vector<ModelColumn>& columns) {
  if (values.size() > columns.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("too many values for the columns: values=", values.size(),
                     " columns=", columns.size()));
  }
  return NormalizeAll(values, columns);
}

absl::StatusOr<Model::Keys> Model::Resolve(const TableState& table,
                                           const RowRef& target) {
  Keys keys;
  if (!target.encoded_key().empty()) {
    return absl::UnimplementedError("the model knows no encoded keys");
  }
  if (target.index().empty()) {
    ASSIGN_OR_RETURN(Tuple key, ReadValues(target.values(), table.columns));
    if (table.rows.contains(key)) keys.push_back(std::move(key));
    return keys;
  }
  const Index* index = FindIndex(table, target.index());
  if (index == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("no such index: index=", target.index()));
  }
  ASSIGN_OR_RETURN(const Tuple values,
                   ReadValues(target.values(), index->columns));
  const TupleLess less(index->columns);
  for (auto entry = index->entries.lower_bound(values);
       entry != index->entries.end() && less.Compare(entry->first, values) == 0;
       ++entry) {
    keys.push_back(entry->second);
  }
  return keys;
}

std::vector<Tuple> Model::EntriesOf(const Index& index, const Message& record) {
  for (const v1::IndexSchema::Test& test : index.schema.predicate()) {
    if (!*Passes(test, record)) return {};  // AddTable has tried each.
  }
  Tuple entry = ReadColumns(record, index.columns);
  if (index.unique && HasNull(Prefix(entry, index.declared))) return {};
  if (index.schema.fan_out().empty()) return {std::move(entry)};
  const auto column = std::find_if(
      index.columns.begin(), index.columns.end(),
      [&](const ModelColumn& c) { return c.name == index.schema.fan_out(); });
  const auto at = static_cast<size_t>(column - index.columns.begin());
  std::set<Tuple, TupleLess> entries((TupleLess(index.columns)));
  for (Value& element : ElementsOf(record, column->path)) {
    entry[at] = std::move(element);
    entries.insert(entry);
  }
  return {entries.begin(), entries.end()};
}

void Model::Count(const Message& record, bool there, Index* index) {
  absl::int128 sum = 0;
  if (!index->sum.empty()) {
    const Value value = FieldOf(record, index->sum);
    if (value.kind() == Value::Kind::kInt) sum = value.as_int();
    if (value.kind() == Value::Kind::kUint) sum = value.as_uint();
  }
  for (const Tuple& tuple : EntriesOf(*index, record)) {
    Group& group = index->groups[tuple];
    group.values = tuple;
    group.count += there ? 1 : -1;
    group.sum += there ? sum : -sum;
    if (group.count == 0) index->groups.erase(tuple);
  }
}

void Model::SetRow(TableState& table, const Tuple& key,
                   std::optional<ModelRow> row) {
  const auto erase_or_add = [&](const ModelRow& changed, bool add) {
    const std::unique_ptr<Message> message =
        ParseRecord(*table.prototype, changed.record);
    for (Index& index : table.indexes) {
      if (index.counts()) {
        Count(*message, add, &index);
        continue;
      }
      for (const Tuple& entry : EntriesOf(index, *message)) {
        if (add) {
          index.entries.emplace(entry, key);
        } else {
          index.entries.erase(entry);
        }
      }
    }
  };
  const auto old = table.rows.find(key);
  if (old != table.rows.end()) {
    erase_or_add(old->second, false);
    table.rows.erase(old);
  }
  if (row.has_value()) {
    erase_or_add(*row, true);
    table.rows.emplace(key, *std::move(row));
  }
}

void Model::Change(TableState& table, const Tuple& key,
                   std::optional<std::string> record, Request* request) {
  Request::Step step{&table, key, std::nullopt};
  const auto old = table.rows.find(key);
  if (old != table.rows.end()) step.before = old->second;
  request->steps.push_back(std::move(step));
  std::optional<ModelRow> row;
  if (record.has_value()) {
    row = ModelRow{key, *std::move(record), request->sequence};
  }
  SetRow(table, key, std::move(row));
}

Model::TableState* Model::Find(std::string_view table) {
  const auto found = tables_.find(table);
  return found == tables_.end() ? nullptr : &found->second;
}

const Model::TableState* Model::Find(std::string_view table) const {
  const TableState* found = const_cast<Model*>(this)->Find(table);
  DOVETAIL_CHECK(found != nullptr);
  return found;
}

const Model::Index* Model::FindIndex(const TableState& table,
                                     std::string_view name) {
  for (const Index& index : table.indexes) {
    if (index.name == name) return &index;
  }
  return nullptr;
}

}  // namespace dovetail::test

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/request.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error_payload.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail {
namespace {

constexpr size_t kPlansMax = 1024;

// With the version: a plan refers to the descriptors it was compiled from.
std::string PlanKey(const TableState& table, std::string_view fields) {
  return absl::StrCat(table.schema_version, "\n", table.name(), "\n",
                      ToAbsl(fields));
}

absl::Status CheckRecordSize(const Mutation& m, const Limits& limits) {
  if (m.record.size() <= limits.record_bytes_max) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("record is too large: bytes=", m.record.size(),
                   " max=", limits.record_bytes_max));
}

absl::StatusOr<AdmittedCondition> AdmitCondition(const TableState& table,
                                                 PlanCache& plans,
                                                 const Precondition& p) {
  AdmittedCondition condition;
  condition.kind = p.kind;
  condition.version = p.version;
  if (p.kind == Precondition::Kind::kFieldEquals) {
    condition.path = p.path;
    ASSIGN_OR_RETURN(condition.extractor, plans.Field(table, p.path));
    ASSIGN_OR_RETURN(
        condition.value,
        ToFieldValue(p.value, condition.extractor->fields()[0].type));
  }
  return condition;
}

// A put must be able to find the row that has its record's identity.
absl::Status CheckIdentity(const TableState& table) {
  const int identity = table.compiled->identity();
  if (identity < 0 || table.Maintains(identity)) return absl::OkStatus();
  return FindReadableIndex(table, table.indexes[identity].name()).status();
}

absl::Status AdmitDeleteAsOf(const Mutation& m, AdmittedMutation* out) {
  const CompiledTable& table = *out->table->compiled;
  const ChangeOrder* const order = table.change_order();
  if (order == nullptr || !order->remembers_deletes()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a delete as of a time needs a table that remembers deletes: table=",
        m.table));
  }
  const bool names_row =
      m.target.match() == RowRef::Match::kOne &&
      out->index == table.identity() &&
      (!m.target.encoded_key().empty() ||
       m.target.values().size() == (out->index < 0
                                        ? table.row_key()
                                        : table.indexes()[out->index].layout())
                                       .columns()
                                       .size());
  if (!names_row) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a delete as of a time must name one row by its identity: table=",
        m.table, " identity=",
        table.identity() < 0 ? "(row key)"
                             : table.indexes()[table.identity()].name()));
  }
  ASSIGN_OR_RETURN(out->delete_order, order->OrderOf(*m.as_of));
  return absl::OkStatus();
}

absl::Status AdmitRecord(const Mutation& m, AdmittedMutation* out) {
  absl::Status status =
      out->table->compiled->ExtractFields(m.record, &out->row);
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat(
          "bytes are no record of the table: table=", m.table,
          " record_type=", out->table->compiled->record_type().full_name(),
          ": ", status.message()));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const WirePatch>> PlanCache::Patch(
    const TableState& table, const std::vector<std::string>& fields) {
  const std::string key = PlanKey(table, absl::StrJoin(fields, "\n"));
  {
    MutexLock lock(mu_);
    const auto it = patches_.find(key);
    if (it != patches_.end()) return it->second;
  }
  ASSIGN_OR_RETURN(WirePatch patch,
                   WirePatch::Compile(table.compiled->record_type(), fields));
  auto shared = std::make_shared<const WirePatch>(std::move(patch));
  MutexLock lock(mu_);
  if (patches_.size() >= kPlansMax) patches_.clear();
  patches_[key] = shared;
  return shared;
}

absl::StatusOr<std::shared_ptr<const Extractor>> PlanCache::Field(
    const TableState& table, const std::string& path) {
  const std::string key = PlanKey(table, path);
  {
    MutexLock lock(mu_);
    const auto it = fields_.find(key);
    if (it != fields_.end()) return it->second;
  }
  ASSIGN_OR_RETURN(Extractor extractor,
                   Extractor::Compile(table.compiled->record_type(), {path}));
  auto shared = std::make_shared<const Extractor>(std::move(extractor));
  MutexLock lock(mu_);
  if (fields_.size() >= kPlansMax) fields_.clear();
  fields_[key] = shared;
  return shared;
}

absl::StatusOr<AdmittedMutation> AdmitMutation(const SchemaState& schema,
                                               const Limits& limits,
                                               PlanCache& plans,
                                               const Mutation& m) {
  AdmittedMutation out;
  out.mutation = &m;
  // A table that is not there is a mistake in the call, not a missing row.
  absl::StatusOr<const TableState*> table = schema.Find(m.table);
  if (!table.ok()) {
    return absl::InvalidArgumentError(table.status().message());
  }
  out.table = *table;
  RETURN_IF_ERROR(CheckRecordSize(m, limits));
  switch (m.kind) {
    case Mutation::Kind::kInsert:
    case Mutation::Kind::kPut:
      RETURN_IF_ERROR(AdmitRecord(m, &out));
      RETURN_IF_ERROR(CheckIdentity(*out.table));
      break;
    case Mutation::Kind::kPatch: {
      // Checked like a record, so that what the patch takes from it is valid.
      RETURN_IF_ERROR(AdmitRecord(m, &out));
      ASSIGN_OR_RETURN(out.patch, plans.Patch(*out.table, m.fields));
      if (m.create_if_absent) RETURN_IF_ERROR(CheckIdentity(*out.table));
      if (out.table->compiled->change_order() != nullptr) {
        RETURN_IF_ERROR(
            out.table->compiled->change_order()->CheckPatch(m.fields));
      }
      break;
    }
    case Mutation::Kind::kDelete:
      break;
  }
  if (!m.target.index().empty()) {
    const absl::StatusOr<int> index =
        FindReadableIndex(*out.table, m.target.index());
    if (absl::IsNotFound(index.status())) {
      return absl::InvalidArgumentError(index.status().message());
    }
    RETURN_IF_ERROR(index.status());
    out.index = *index;
  }
  if (m.as_of.has_value()) RETURN_IF_ERROR(AdmitDeleteAsOf(m, &out));
  for (const Precondition& p : m.conditions) {
    ASSIGN_OR_RETURN(AdmittedCondition condition,
                     AdmitCondition(*out.table, plans, p));
    out.conditions.push_back(std::move(condition));
  }
  return out;
}

size_t RequestBytes(const Mutation& m) {
  size_t bytes = m.record.size() + m.target.encoded_key().size();
  for (const Value& value : m.target.values()) {
    bytes += value.kind() == Value::Kind::kString ? value.as_string().size()
                                                  : sizeof(int64_t);
  }
  return bytes;
}

absl::StatusOr<std::vector<AdmittedMutation>> AdmitBatch(
    const SchemaState& schema, const Limits& limits, PlanCache& plans,
    const WriteBatch& batch) {
  if (batch.count() > limits.request_mutations_max) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "request has too many mutations: mutations=", batch.count(),
        " max=", limits.request_mutations_max, "; split it"));
  }
  std::vector<AdmittedMutation> admitted;
  admitted.reserve(batch.count());
  size_t bytes = 0;
  for (size_t i = 0; i < batch.count(); ++i) {
    const Mutation& mutation = batch.mutations()[i];
    bytes += RequestBytes(mutation);
    if (bytes > limits.request_bytes_max) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "request is too large: max_bytes=", limits.request_bytes_max,
          " exceeded_at_mutation=", i + 1, "; split it"));
    }
    absl::StatusOr<AdmittedMutation> one =
        AdmitMutation(schema, limits, plans, mutation);
    if (!one.ok()) {
      return FailedMutationError(one.status(), i);
    }
    admitted.push_back(*std::move(one));
  }
  return admitted;
}

}  // namespace dovetail

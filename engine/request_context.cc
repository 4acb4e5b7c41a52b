// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/request_context.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail {

absl::Status RequestRunner::Context::CheckDeclared(
    const std::vector<std::string>& declared, std::string_view what,
    std::string_view table) const {
  if (std::find(declared.begin(), declared.end(), table) != declared.end()) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "observer did not declare that it ", ToAbsl(what),
      " the table: table=", Quote(table),
      " observer=", runner_->services_.observers->traits(observer_).name));
}

absl::StatusOr<std::vector<CurrentRow>> RequestRunner::Context::Find(
    std::string_view table, std::string_view index,
    const std::vector<Value>& values) {
  RETURN_IF_ERROR(CheckDeclared(
      runner_->services_.observers->traits(observer_).reads, "reads", table));
  // A deletion that is resolved, and then not carried out.
  const Mutation lookup{Mutation::Kind::kDelete,
                        std::string(table),
                        {},
                        index.empty()
                            ? RowRef::Key(values)
                            : RowRef::By(index, values, RowRef::Match::kAll),
                        {},
                        {}};
  ASSIGN_OR_RETURN(const AdmittedMutation admitted,
                   AdmitMutation(*runner_->schema_, *runner_->services_.limits,
                                 *runner_->services_.plans, lookup));
  return runner_->Resolve(admitted);
}

absl::StatusOr<std::string> RequestRunner::Context::ReadRow(
    std::string_view table, const std::vector<Value>& key) {
  ASSIGN_OR_RETURN(const std::vector<CurrentRow> rows, Find(table, {}, key));
  if (rows.empty()) {
    return absl::NotFoundError(
        absl::StrCat("no such row: table=", ToAbsl(table)));
  }
  return std::string(rows[0].record());
}

absl::StatusOr<std::vector<std::string>> RequestRunner::Context::ReadBy(
    std::string_view table, std::string_view index,
    const std::vector<Value>& values) {
  ASSIGN_OR_RETURN(const std::vector<CurrentRow> rows,
                   Find(table, index, values));
  std::vector<std::string> records;
  records.reserve(rows.size());
  for (const CurrentRow& row : rows) records.emplace_back(row.record());
  return records;
}

absl::Status RequestRunner::Context::Add(Mutation mutation) {
  absl::Status status = TryAdd(std::move(mutation));
  error_.Update(status);
  return status;
}

absl::Status RequestRunner::Context::TryAdd(Mutation mutation) {
  const ObserverTraits& traits =
      runner_->services_.observers->traits(observer_);
  if (!may_add_) {
    return absl::FailedPreconditionError(
        "only pre hooks may add mutations: the commit is done");
  }
  RETURN_IF_ERROR(CheckDeclared(traits.writes, "writes", mutation.table));
  const Limits& limits = *runner_->services_.limits;
  const size_t bytes = runner_->request_bytes_ + RequestBytes(mutation);
  if (runner_->added_count_ + 1 > limits.request_mutations_max ||
      bytes > limits.request_bytes_max) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "observer makes the request too large: mutations=",
        runner_->added_count_ + 1, " max=", limits.request_mutations_max,
        " bytes=", bytes, " max_bytes=", limits.request_bytes_max));
  }
  Added added;
  added.mutation = std::make_unique<Mutation>(std::move(mutation));
  added.added_by = traits.name;
  ASSIGN_OR_RETURN(added.admitted,
                   AdmitMutation(*runner_->schema_, limits,
                                 *runner_->services_.plans, *added.mutation));
  runner_->request_bytes_ = bytes;
  ++runner_->added_count_;
  runner_->added_.push_back(std::move(added));
  return absl::OkStatus();
}

void RequestRunner::Context::Annotate(std::string_view note) {
  runner_->effects_.commit.annotations.emplace_back(note);
}

absl::Status RequestRunner::Sink::SetOld(const CurrentRow& old,
                                         EncodedRow* storage) {
  // The stored key, not the one its record would have now: the entries to
  // remove are those of the row as it stands.
  if (const absl::Status status =
          table_.compiled->ExtractFields(old.record(), storage);
      !status.ok()) {
    return absl::DataLossError(absl::StrCat(
        "stored record does not parse; run verify: table=", table_.name(),
        " row_key=", Quote(old.key), ": ", status.message()));
  }
  storage->key = old.key;
  ASSIGN_OR_RETURN(storage->offsets,
                   table_.compiled->row_key().Split(storage->key));
  old_row_ = storage;
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string>> RequestRunner::Sink::ReadEntry(
    std::string_view key) {
  // The look-up of the identity has just answered this.
  if (key == runner_->absent_entry_) return std::optional<std::string>();
  return runner_->view_->Read(key);
}

absl::Status RequestRunner::Sink::PutEntry(size_t index, std::string key,
                                           std::string value,
                                           const std::string* replaced) {
  const std::string_view entry_key =
      std::string_view(key).substr(table_.entry_prefixes[index].size());
  RETURN_IF_ERROR(runner_->CheckKeySize(
      table_, table_.compiled->indexes()[index].name(), entry_key.size()));
  DigestKeeper& digests = runner_->view_->digests();
  const int at = static_cast<int>(index);
  if (replaced != nullptr) digests.Remove(table_, at, entry_key, *replaced);
  digests.Add(table_, at, entry_key, value);
  runner_->view_->overlay().Put(std::move(key), std::move(value));
  runner_->Count(table_.counters[1 + index]->written);
  return absl::OkStatus();
}

void RequestRunner::Sink::DeleteEntry(size_t index, std::string key,
                                      std::string_view value) {
  runner_->view_->digests().Remove(
      table_, static_cast<int>(index),
      std::string_view(key).substr(table_.entry_prefixes[index].size()), value);
  runner_->view_->overlay().Delete(std::move(key));
  runner_->Count(table_.counters[1 + index]->deleted);
}

absl::Status RequestRunner::Sink::AddToGroup(size_t index, std::string key,
                                             std::string_view row_key,
                                             bool there,
                                             const GroupValue& value) {
  const size_t bytes = key.size() - table_.entry_prefixes[index].size();
  if (there) {
    RETURN_IF_ERROR(runner_->CheckKeySize(
        table_, table_.compiled->indexes()[index].name(), bytes));
  }
  SerialView& view = *runner_->view_;
  if (!view.digests().Reached(table_, static_cast<int>(index), row_key)) {
    return absl::OkStatus();
  }
  view.groups().Add(table_, index, std::move(key), there ? value : -value);
  return absl::OkStatus();
}

void RequestRunner::Sink::KeepEntry(size_t index) {
  runner_->Count(table_.counters[1 + index]->unchanged);
}

}  // namespace dovetail

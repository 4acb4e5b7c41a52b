// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Changes to tables that declare a change order: what is older than what the
// row, or the ledger of deletes, already knows is ignored and counted.
//
// The ledger, where the table keeps one, has an entry for each identity that
// was ever deleted: the largest order of a delete. It stays when the row comes
// back, for changes older than the delete may still arrive.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "engine/request_runner.h"

namespace dovetail {

absl::StatusOr<bool> RequestRunner::IsBehindADelete(const TableState& table,
                                                    const EncodedRow& row,
                                                    std::string_view record) {
  const ChangeOrder& order = *table.compiled->change_order();
  if (!order.remembers_deletes()) return false;
  ASSIGN_OR_RETURN(const std::string key, LedgerKey(table, row));
  ASSIGN_OR_RETURN(const std::optional<std::string> deleted, view_->Read(key));
  if (!deleted.has_value()) return false;
  ASSIGN_OR_RETURN(const std::string change, order.OrderOf(record));
  return change <= *deleted;
}

absl::Status RequestRunner::ApplyOrderedPut(
    AdmittedMutation& m, const std::optional<CurrentRow>& old,
    std::string_view added_by) {
  const ChangeOrder& order = *m.table->compiled->change_order();
  ASSIGN_OR_RETURN(const bool too_late,
                   IsBehindADelete(*m.table, m.row, m.mutation->record));
  if (too_late) return Ignore(*m.table);
  if (old.has_value()) {
    ASSIGN_OR_RETURN(std::optional<std::string> merged,
                     order.Merge(old->record(), m.mutation->record));
    if (!merged.has_value()) return Ignore(*m.table);
    return ApplyMerged(*m.table, *old, *std::move(merged), added_by);
  }
  ASSIGN_OR_RETURN(const std::string record,
                   order.Canonical(m.mutation->record));
  return ApplyChange(*m.table, old, NewRow{&m.row, record}, added_by);
}

absl::Status RequestRunner::ApplyOrderedPatch(AdmittedMutation& m,
                                              CurrentRow old,
                                              std::string patched,
                                              std::string_view added_by) {
  ASSIGN_OR_RETURN(
      std::optional<std::string> merged,
      m.table->compiled->change_order()->Merge(old.record(), patched));
  if (!merged.has_value()) return Ignore(*m.table);
  return ApplyMerged(*m.table, std::move(old), *std::move(merged), added_by);
}

absl::Status RequestRunner::ApplyOrderedDelete(AdmittedMutation& m,
                                               std::optional<CurrentRow> old,
                                               std::string_view added_by) {
  const TableState& table = *m.table;
  const ChangeOrder& order = *table.compiled->change_order();
  std::string row_order;
  std::string key;
  if (old.has_value()) {
    ASSIGN_OR_RETURN(row_order, order.OrderOf(old->record()));
    EncodedRow row;
    RETURN_IF_ERROR(table.compiled->ExtractFields(old->record(), &row));
    row.key = old->key;
    ASSIGN_OR_RETURN(row.offsets, table.compiled->row_key().Split(row.key));
    ASSIGN_OR_RETURN(key, LedgerKey(table, row));
  } else {
    ASSIGN_OR_RETURN(key, LedgerKey(m));
  }
  // A delete without an order of its own is of the row as it is.
  const std::string& at =
      m.delete_order.has_value() ? *m.delete_order : row_order;
  ASSIGN_OR_RETURN(const std::optional<std::string> known, view_->Read(key));
  const bool is_news = !known.has_value() || *known < at;
  if (is_news) view_->overlay().Put(std::move(key), at);
  if (!old.has_value()) return is_news ? absl::OkStatus() : Ignore(table);
  if (row_order > at) return Ignore(table);
  return ApplyChange(table, old, std::nullopt, added_by);
}

// By its identity; by its row key if the table has none.
absl::StatusOr<std::string> RequestRunner::LedgerKey(
    const TableState& table, const EncodedRow& row) const {
  std::string key = table.deletes_prefix;
  const int identity = table.compiled->identity();
  if (identity < 0) return key.append(row.key);
  RETURN_IF_ERROR(
      table.compiled->indexes()[identity].EncodeUniqueKey(row, &key));
  return key;
}

// Of what the target names, where there is no row.
absl::StatusOr<std::string> RequestRunner::LedgerKey(
    const AdmittedMutation& m) const {
  const CompiledTable& compiled = *m.table->compiled;
  const RowRef& target = m.mutation->target;
  std::string key = m.table->deletes_prefix;
  if (!target.encoded_key().empty()) return key.append(target.encoded_key());
  const KeyLayout& layout =
      m.index < 0 ? compiled.row_key() : compiled.indexes()[m.index].layout();
  RETURN_IF_ERROR(layout.EncodeColumns(target.values(), &key));
  return key;
}

absl::Status RequestRunner::Ignore(const TableState& table) {
  Count(table.counters[0]->late);
  ++ignored_;
  return absl::OkStatus();
}

}  // namespace dovetail

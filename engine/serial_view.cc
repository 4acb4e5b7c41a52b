// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/serial_view.h"

#include "absl/strings/str_cat.h"
#include "base/seeded_bug.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/index_build.h"
#include "engine/keyspace.h"
#include "engine/live_cursor.h"
#include "engine/row_format.h"

namespace dovetail {

absl::StatusOr<CurrentRow> MakeCurrentRow(const TableState& table,
                                          std::string row_key,
                                          std::string value) {
  absl::StatusOr<StoredRow> stored = DecodeRow(value);
  if (!stored.ok()) {
    return absl::Status(
        stored.status().code(),
        absl::StrCat(stored.status().message(), " table=", table.name(),
                     " row_key=", Quote(row_key)));
  }
  CurrentRow row;
  row.key = std::move(row_key);
  row.version = stored->version;
  row.record_offset = value.size() - stored->record.size();
  row.value = std::move(value);
  return row;
}

absl::StatusOr<std::optional<std::string>> SerialView::Read(
    std::string_view key) const {
  if (const auto* pending = overlay_.Find(key);
      pending != nullptr && !SeededBug("stale_overlay_read")) {
    return *pending;
  }
  if (known_ != nullptr && known_->SurelyAbsent(key)) {
    return std::optional<std::string>();
  }
  return ReadStored(key);
}

absl::StatusOr<std::optional<std::string>> SerialView::ReadStored(
    std::string_view key) const {
  std::string value;
  ASSIGN_OR_RETURN(const bool found, store_->Get({}, key, &value));
  if (!found) return std::optional<std::string>();
  return std::optional<std::string>(std::move(value));
}

absl::StatusOr<std::optional<CurrentRow>> SerialView::ReadRow(
    const TableState& table, std::string_view row_key) const {
  std::string key;
  key.reserve(table.rows_prefix.size() + row_key.size());
  key.append(table.rows_prefix).append(row_key);
  ASSIGN_OR_RETURN(std::optional<std::string> value, Read(key));
  if (!value.has_value()) return std::optional<CurrentRow>();
  ASSIGN_OR_RETURN(CurrentRow row, MakeCurrentRow(table, std::string(row_key),
                                                  *std::move(value)));
  return std::optional<CurrentRow>(std::move(row));
}

absl::StatusOr<CurrentRow> SerialView::RowOfEntry(
    const TableState& table, int index, std::string_view entry_key,
    std::string_view entry_value) const {
  const IndexDefinition& definition = table.compiled->indexes()[index];
  std::string row_key;
  const absl::Status decoded =
      definition.RowKeyOf(entry_key, entry_value, &row_key);
  if (decoded.ok()) {
    ASSIGN_OR_RETURN(std::optional<CurrentRow> row, ReadRow(table, row_key));
    if (row.has_value()) return *std::move(row);
  }
  return EntryWithoutRow(table, index, entry_key, decoded);
}

absl::StatusOr<bool> SerialView::IsBuiltTo(const TableState& table,
                                           size_t index,
                                           std::string_view row_key) const {
  if (table.state(index) != v1::INDEX_BUILDING) return true;
  const SpaceId space{table.indexes[index].space().number()};
  ASSIGN_OR_RETURN(const std::optional<std::string> bytes,
                   Read(BuildKey(space)));
  if (!bytes.has_value()) return false;
  ASSIGN_OR_RETURN(const v1::IndexBuild build, ParseIndexBuild(*bytes));
  return build.all_rows() || row_key <= build.position();
}

absl::Status SerialView::Scan(const std::string& prefix,
                              const std::vector<KeyRange>& ranges,
                              size_t entries_max, std::vector<KeyValue>* out) {
  const std::string space_end = PrefixEnd(prefix);
  const Overlay::Ordered& pending = overlay_.InOrder();
  for (const KeyRange& range : ranges) {
    const std::string begin = prefix + range.begin;
    const std::string end = range.end.empty() ? space_end : prefix + range.end;
    LiveCursor it(*state_, end);
    it.Seek(begin);
    auto over = pending.lower_bound(std::string_view(begin));
    while (out->size() < entries_max) {
      const bool stored = it.Valid() && it.key() < end;
      const bool overlaid = over != pending.end() && (*over)->key < end &&
                            !SeededBug("scan_without_overlay");
      if (!stored && !overlaid) break;
      // The overlay wins where both have the key.
      if (overlaid && (!stored || (*over)->key <= it.key())) {
        if (stored && (*over)->key == it.key()) it.Next();
        if ((*over)->value.has_value()) {
          out->push_back({(*over)->key.substr(prefix.size()), *(*over)->value});
        }
        ++over;
      } else {
        out->push_back({std::string(it.key().substr(prefix.size())),
                        std::string(it.value())});
        it.Next();
      }
    }
    RETURN_IF_ERROR(it.status());
  }
  return absl::OkStatus();
}

}  // namespace dovetail

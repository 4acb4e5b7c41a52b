// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "observers/index_maintenance.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/seeded_bug.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "observers/entry_diff.h"

namespace dovetail {
namespace {

using internal::EntrySink;

// By which an entry's key is likely to be longer than its row's: a status.
constexpr size_t kLikelyExtraBytes = 16;

struct RowEntry {
  bool present = false;
  std::string key;
  std::string value;
};

absl::StatusOr<RowEntry> EntryOf(const EntrySink& sink, size_t index,
                                 const EncodedRow* row) {
  RowEntry entry;
  const IndexDefinition& definition = sink.table().indexes()[index];
  if (row == nullptr || !definition.HasEntry(row->fields)) return entry;
  entry.present = true;
  const std::string_view prefix = sink.EntryPrefix(index);
  entry.key.reserve(prefix.size() + row->key.size() + kLikelyExtraBytes);
  entry.key = prefix;
  RETURN_IF_ERROR(definition.EncodeEntry(*row, &entry.key, &entry.value));
  return entry;
}

std::string Describe(const EntrySink& sink, size_t index,
                     std::string_view key) {
  const IndexDefinition& definition = sink.table().indexes()[index];
  key.remove_prefix(sink.EntryPrefix(index).size());
  return absl::StrCat("table=", sink.table().name(),
                      " index=", definition.name(), " ",
                      definition.layout().DebugString(key).value_or(
                          absl::StrCat("key=", Quote(key))));
}

}  // namespace

ObserverTraits IndexMaintenance::traits() const {
  ObserverTraits traits;
  traits.name = "index_maintenance";
  traits.hooks =
      kPrePut | kPreDelete | kPreBatchMutate | kPostBatchMutateIndispensably;
  return traits;
}

absl::Status IndexMaintenance::PrePut(HookContext& ctx,
                                      const RowChange& change) {
  return Maintain(*ctx.entry_sink(), change.added_by);
}

absl::Status IndexMaintenance::PreDelete(HookContext& ctx,
                                         const RowChange& change) {
  return Maintain(*ctx.entry_sink(), change.added_by);
}

absl::Status IndexMaintenance::Maintain(EntrySink& sink,
                                        std::string_view added_by) {
  const EncodedRow* old_row = sink.old_row();
  const EncodedRow* new_row = sink.new_row();
  const std::vector<IndexDefinition>& indexes = sink.table().indexes();
  for (size_t i = 0; i < indexes.size(); ++i) {
    if (!sink.Maintains(i)) continue;
    if (!indexes[i].plain()) [[unlikely]] {
      RETURN_IF_ERROR(MaintainMany(sink, i));
      continue;
    }
    if (old_row != nullptr && new_row != nullptr &&
        indexes[i].SameEntry(*old_row, *new_row)) {
      if (indexes[i].HasEntry(new_row->fields)) sink.KeepEntry(i);
      continue;
    }
    ASSIGN_OR_RETURN(RowEntry before, EntryOf(sink, i, old_row));
    ASSIGN_OR_RETURN(RowEntry after, EntryOf(sink, i, new_row));
    const bool same_key =
        before.present && after.present && before.key == after.key;
    if (same_key && before.value == after.value) {
      sink.KeepEntry(i);
      continue;
    }
    if (!indexes[i].unique()) {
      if (before.present && !same_key && !SeededBug("skip_entry_delete")) {
        sink.DeleteEntry(i, std::move(before.key));
      }
      if (after.present && !SeededBug("skip_entry_put")) {
        RETURN_IF_ERROR(
            sink.PutEntry(i, std::move(after.key), std::move(after.value)));
      }
      continue;
    }
    if (SeededBug("put_before_delete") && before.present && after.present) {
      RETURN_IF_ERROR(PutUnique(sink, i, after.key, after.value, added_by));
      sink.DeleteEntry(i, std::move(before.key));
      continue;
    }
    if (before.present && !SeededBug("skip_unique_delete")) {
      RETURN_IF_ERROR(
          DeleteUnique(sink, i, std::move(before.key), before.value));
    }
    if (after.present) {
      RETURN_IF_ERROR(PutUnique(sink, i, std::move(after.key),
                                std::move(after.value), added_by));
    }
  }
  return absl::OkStatus();
}

absl::Status IndexMaintenance::MaintainMany(EntrySink& sink, size_t index) {
  const EncodedRow* old_row = sink.old_row();
  const EncodedRow* new_row = sink.new_row();
  ASSIGN_OR_RETURN(std::optional<EntryDiff> diff,
                   DiffEntriesOf(sink, index, old_row, new_row));
  if (!diff.has_value()) {
    sink.KeepEntry(index);
    return absl::OkStatus();
  }
  if (sink.table().indexes()[index].aggregates()) {
    return ApplyToGroups(sink, index, old_row, new_row, *std::move(diff));
  }
  for (IndexDefinition::Entry& entry : diff->go) {
    sink.DeleteEntry(index, std::move(entry.key));
  }
  for (IndexDefinition::Entry& entry : diff->come) {
    RETURN_IF_ERROR(
        sink.PutEntry(index, std::move(entry.key), std::move(entry.value)));
  }
  return absl::OkStatus();
}

absl::Status IndexMaintenance::PutUnique(EntrySink& sink, size_t index,
                                         std::string key, std::string value,
                                         std::string_view added_by) {
  ASSIGN_OR_RETURN(const std::optional<std::string> owner, sink.ReadEntry(key));
  if (owner.has_value()) {
    Contested& contested = contested_[key];
    if (contested.what.empty()) contested.what = Describe(sink, index, key);
    contested.added_by = std::string(added_by);
    contested.displaced.push_back({*owner});
  }
  return sink.PutEntry(index, std::move(key), std::move(value));
}

bool IndexMaintenance::IsDisplaced(ContestedMap::const_iterator contested,
                                   std::string_view value) const {
  if (contested == contested_.end()) return false;
  const std::vector<Displaced>& displaced = contested->second.displaced;
  return std::any_of(displaced.begin(), displaced.end(),
                     [value](const Displaced& d) { return d.value == value; });
}

absl::Status IndexMaintenance::DeleteUnique(EntrySink& sink, size_t index,
                                            std::string key,
                                            const std::string& value) {
  const auto contested = contested_.find(key);
  if (sink.IsBuilding(index)) {
    // The build may not have come to this row, and the entry be another's.
    ASSIGN_OR_RETURN(const std::optional<std::string> owner,
                     sink.ReadEntry(key));
    if (owner != value && !IsDisplaced(contested, value)) {
      return absl::OkStatus();
    }
  }
  if (contested == contested_.end() || SeededBug("displaced_owner_lost")) {
    sink.DeleteEntry(index, std::move(key));
    return absl::OkStatus();
  }
  // The row gives up a value that others claim too: take back its note, or,
  // if it is the owner, let the one displaced last own the entry again.
  std::vector<Displaced>& displaced = contested->second.displaced;
  const auto own =
      std::find_if(displaced.begin(), displaced.end(),
                   [&value](const Displaced& d) { return d.value == value; });
  if (own != displaced.end()) {
    displaced.erase(own);
  } else {
    std::string next = std::move(displaced.back().value);
    displaced.pop_back();
    RETURN_IF_ERROR(sink.PutEntry(index, key, std::move(next)));
  }
  if (displaced.empty()) contested_.erase(contested);
  return absl::OkStatus();
}

absl::Status IndexMaintenance::Violation(const Contested& contested) {
  return absl::AlreadyExistsError(absl::StrCat(
      "unique violation, another row has these values: ", contested.what,
      contested.added_by.empty() ? "" : " added_by_observer=",
      contested.added_by));
}

absl::Status IndexMaintenance::CheckSettled(
    std::string_view entry_prefix) const {
  for (const auto& [key, contested] : contested_) {
    if (SeededBug("lost_unique_check")) break;
    if (key.starts_with(entry_prefix)) return Violation(contested);
  }
  return absl::OkStatus();
}

absl::Status IndexMaintenance::PreBatchMutate(HookContext&,
                                              const std::vector<RowChange>&) {
  return CheckSettled({});
}

void IndexMaintenance::PostBatchMutateIndispensably(const absl::Status&) {
  contested_.clear();
}

}  // namespace dovetail

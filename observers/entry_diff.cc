// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "observers/entry_diff.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/status_macros.h"

namespace dovetail {
namespace {

using Entry = IndexDefinition::Entry;

// Leaves in both what the other has not.
void RemoveCommon(std::vector<Entry>* a, std::vector<Entry>* b) {
  std::vector<Entry> only_a;
  std::vector<Entry> only_b;
  std::set_difference(a->begin(), a->end(), b->begin(), b->end(),
                      std::back_inserter(only_a));
  std::set_difference(b->begin(), b->end(), a->begin(), a->end(),
                      std::back_inserter(only_b));
  *a = std::move(only_a);
  *b = std::move(only_b);
}

}  // namespace

absl::StatusOr<std::optional<EntryDiff>> DiffEntriesOf(
    const internal::EntrySink& sink, size_t index, const EncodedRow* old_row,
    const EncodedRow* new_row) {
  const IndexDefinition& definition = sink.table().indexes()[index];
  if (old_row != nullptr && new_row != nullptr &&
      definition.SameEntries(*old_row, *new_row) &&
      !(definition.aggregates() && sink.IsBuilding(index))) {
    return std::optional<EntryDiff>();
  }
  EntryDiff diff;
  const std::string_view prefix = sink.EntryPrefix(index);
  if (old_row != nullptr) {
    RETURN_IF_ERROR(definition.EncodeEntries(*old_row, prefix, &diff.go));
  }
  if (new_row != nullptr) {
    RETURN_IF_ERROR(definition.EncodeEntries(*new_row, prefix, &diff.come));
  }
  if (!definition.aggregates()) RemoveCommon(&diff.go, &diff.come);
  return std::optional<EntryDiff>(std::move(diff));
}

absl::Status ApplyToGroups(internal::EntrySink& sink, size_t index,
                           const EncodedRow* old_row, const EncodedRow* new_row,
                           EntryDiff diff) {
  const IndexDefinition& definition = sink.table().indexes()[index];
  if (!diff.go.empty()) {
    const GroupValue was = definition.Contribution(old_row->fields);
    for (Entry& entry : diff.go) {
      RETURN_IF_ERROR(sink.AddToGroup(index, std::move(entry.key), old_row->key,
                                      /*there=*/false, was));
    }
  }
  if (!diff.come.empty()) {
    const GroupValue is = definition.Contribution(new_row->fields);
    for (Entry& entry : diff.come) {
      RETURN_IF_ERROR(sink.AddToGroup(index, std::move(entry.key), new_row->key,
                                      /*there=*/true, is));
    }
  }
  return absl::OkStatus();
}

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What a row change does to an index in which a row may have several entries,
// one for each element of a repeated field, or a share of entries of groups.

#pragma once

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "observers/entry_sink.h"

namespace dovetail {

// Entries with whole store keys. Of a fan-out index those to delete and those
// to put, none of one key. Of an aggregate: the groups that the old and the new
// row are in.
struct EntryDiff {
  std::vector<IndexDefinition::Entry> go;
  std::vector<IndexDefinition::Entry> come;
};

// Either row may be null. nullopt if the change does not touch the index.
// InvalidArgument if the new row has too many elements.
absl::StatusOr<std::optional<EntryDiff>> DiffEntriesOf(
    const internal::EntrySink& sink, size_t index, const EncodedRow* old_row,
    const EncodedRow* new_row);

// Takes the old row out of its groups, and puts the new one into its own.
absl::Status ApplyToGroups(internal::EntrySink& sink, size_t index,
                           const EncodedRow* old_row, const EncodedRow* new_row,
                           EntryDiff diff);

}  // namespace dovetail

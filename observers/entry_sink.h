// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What index maintenance may do beyond other observers: see a row's compiled
// form, and write index entries into the commit.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "index/compiled_table.h"

namespace dovetail::internal {

// Of the change whose hook is running. Keys are whole store keys, made by
// appending to EntryPrefix.
class EntrySink {
 public:
  virtual ~EntrySink() = default;

  virtual const CompiledTable& table() const = 0;
  // Null where the row did not, or will not, exist.
  virtual const EncodedRow* old_row() const = 0;
  virtual const EncodedRow* new_row() const = 0;

  // False for an index that is disabled.
  virtual bool Maintains(size_t index) const = 0;
  // Whether rows may lack their entry, because the build has not come to them.
  virtual bool IsBuilding(size_t index) const = 0;
  virtual std::string_view EntryPrefix(size_t index) const = 0;
  // The entry's value as the request sees it; nullopt if there is none.
  virtual absl::StatusOr<std::optional<std::string>> ReadEntry(
      std::string_view key) = 0;
  // `replaced` is the value that the key has now, null if there is no such
  // entry. InvalidArgument if the key is over its limit.
  virtual absl::Status PutEntry(size_t index, std::string key,
                                std::string value,
                                const std::string* replaced) = 0;
  // The entry with this value.
  virtual void DeleteEntry(size_t index, std::string key,
                           std::string_view value) = 0;
  // The row under `row_key` comes into the group (`there`), or goes, with what
  // it is in it. A COUNT or SUM index that is being built takes only what the
  // build has come to. InvalidArgument if the key is over its limit.
  virtual absl::Status AddToGroup(size_t index, std::string key,
                                  std::string_view row_key, bool there,
                                  const GroupValue& value) = 0;
  // Counts an entry that the change leaves as it is.
  virtual void KeepEntry(size_t index) = 0;
};

}  // namespace dovetail::internal

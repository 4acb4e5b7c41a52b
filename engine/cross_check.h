// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The cross-check: does what a request leaves in the group's batch hold
// together? From the rows the batch changes, before and after, it derives
// which entries must change, and compares with the entries that do. Fields are
// read by Protobuf's own parser and reflection, and each entry is decoded back
// to its row's key (counters: compared with how many rows came and went), so
// that neither the extractor nor the decision of what to
// touch is taken on trust from index maintenance.
//
// It is for tests, and for whoever doubts: several times slower than a write,
// and for each request as much work as the group has keys.

#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/schema_state.h"
#include "engine/serial_view.h"

namespace dovetail {

namespace internal {

// Changes what a request has left, behind index maintenance and before the
// cross-check: for tests that plant a fault in the engine.
class PendingTamper {
 public:
  virtual ~PendingTamper() = default;
  virtual void Tamper(SequenceNumber sequence, Overlay& pending) = 0;
};

}  // namespace internal

// Used by one thread at a time.
class CrossCheck {
 public:
  CrossCheck();
  ~CrossCheck();

  // A new group begins under this schema: nothing is pending.
  void Begin(const std::shared_ptr<const SchemaState>& schema);

  // What the request has added to `view` since the last Accept. Internal,
  // naming the request and the first difference.
  absl::Status Check(const SerialView& view, SequenceNumber sequence);
  // The request stays in the group.
  void Accept(const SerialView& view);

 private:
  class Parser;
  using Value = std::optional<std::string>;  // nullopt: deleted.
  // By key without the prefix of its space.
  using Changes = absl::btree_map<std::string, Value>;
  using Entry = std::pair<std::string, std::string>;  // Key and value.
  // Of one index: what the rows had, and what they have.
  struct EntryDiff {
    std::set<Entry> go;
    std::set<Entry> come;
    // Of a COUNT or SUM index: what each group gains or loses.
    absl::btree_map<std::string, GroupValue> groups;
  };
  struct TableChanges {
    Changes rows;
    std::vector<Changes> entries;  // By position of the index.
  };

  absl::StatusOr<std::vector<TableChanges>> ChangesSinceLast(
      const SerialView& view) const;
  // The value under a whole store key before the request.
  absl::StatusOr<Value> Before(const SerialView& view,
                               const std::string& key) const;
  absl::Status CheckTable(const TableState& table, const TableChanges& changes,
                          const SerialView& view);
  absl::Status CheckIndex(const TableState& table, size_t index,
                          const EntryDiff& diff, const Changes& changes,
                          const SerialView& view) const;

  absl::Status CheckGroups(const TableState& table, size_t index,
                           const EntryDiff& diff, const Changes& changes,
                           const SerialView& view) const;
  absl::StatusOr<GroupValue> Counted(const IndexDefinition& index,
                                     const Value& value) const;

  // What the requests before left pending, by whole store key.
  absl::flat_hash_map<std::string, Value> checked_;
  std::shared_ptr<const SchemaState> schema_;
  // By table; they refer to the schema.
  absl::flat_hash_map<std::string, std::unique_ptr<Parser>> parsers_;
};

}  // namespace dovetail

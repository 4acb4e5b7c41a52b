// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Observers: user code on the write and read paths, in the vocabulary of
// HBase's coprocessors. Index maintenance itself is one, always the last.
//
//   class NoRefundAfterYear : public Observer {
//    public:
//     ObserverTraits traits() const override {
//       return {.name = "no_refund_after_year", .hooks = kPrePut};
//     }
//     absl::Status PrePut(HookContext& ctx, const RowChange& c) override {
//       ... return absl::FailedPreconditionError("refund too late");
//     }
//   };
//
// One request runs as
//   for each mutation:  PrePut or PreDelete of every observer, by priority
//   once:               PreBatchMutate of every observer, by priority
//   (the commit)
//   for each mutation:  PostPut or PostDelete
//   once:               PostBatchMutate
//   always, also after a veto or a failed commit: PostBatchMutateIndispensably
// all requests in commit order, one at a time, on whichever thread leads the
// commit group.
//
// Failure contract. A pre hook that returns an error, throws, adds a mutation
// the engine refuses, or (if strict) overruns its budget fails the whole
// request before the store is touched; the error names the observer. The
// observer stays registered. A post hook that fails cannot undo the commit:
// Commit::post_commit reports it. A hook that calls the engine it observes
// is refused with FailedPrecondition (a read or a write from inside the
// serial section would wait for itself).

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/write_batch.h"

namespace dovetail {

class Query;
class RegionMap;
struct RowView;

namespace internal {
class EntrySink;
}  // namespace internal

// Bits of ObserverTraits::hooks.
enum Hooks : uint32_t {
  kPrePut = 1 << 0,
  kPostPut = 1 << 1,
  kPreDelete = 1 << 2,
  kPostDelete = 1 << 3,
  kPreBatchMutate = 1 << 4,
  kPostBatchMutate = 1 << 5,
  kPostBatchMutateIndispensably = 1 << 6,
  kPreGet = 1 << 7,
  kPostGet = 1 << 8,
  kPreScan = 1 << 9,
  kPostScan = 1 << 10,
  kPreOpen = 1 << 11,
  kPostOpen = 1 << 12,
  kPreClose = 1 << 13,
  kPostClose = 1 << 14,
  kRowRead = 1 << 15,
  kRegionsChanged = 1 << 16,
};

struct ObserverTraits {
  // For errors and statistics; unique among the engine's observers.
  std::string name = {};
  // Which hooks to call; the others cost nothing.
  uint32_t hooks = 0;
  // Lower runs first; equal priorities run in registration order. Index
  // maintenance is after every priority.
  int32_t priority = 0;
  // Tables whose rows the hooks read and to which they add mutations. Others
  // are refused with PermissionDenied.
  std::vector<std::string> reads = {};
  std::vector<std::string> writes = {};
  // Time one hook call may take. An overrun is counted in Stats; of a strict
  // observer it also fails the request (DeadlineExceeded) once the hook has
  // returned: a running hook is never interrupted. 0: no budget.
  int64_t budget_micros = 0;
  bool strict = false;
};

// One row before and after. Views live as long as the hook runs.
struct RowChange {
  std::string_view table;
  // Encoded row keys; they differ if the row moves, which is one change.
  std::string_view old_key;
  std::string_view new_key;
  // Serialized records; nullopt where the row did not, or will not, exist.
  std::optional<std::string_view> old_record;
  std::optional<std::string_view> new_record;
  // The observer that added this change, empty for the caller's own.
  std::string_view added_by;
};

// What a write hook may do. Valid while the hook runs; not thread-safe.
class HookContext {
 public:
  virtual ~HookContext() = default;

  // The row as the request sees it so far, earlier requests of the commit
  // group and earlier mutations of this one included. NotFound if absent.
  // PermissionDenied unless traits().reads names the table.
  virtual absl::StatusOr<std::string> ReadRow(
      std::string_view table, const std::vector<Value>& key) = 0;
  // The same by index values: the records of all rows that match.
  virtual absl::StatusOr<std::vector<std::string>> ReadBy(
      std::string_view table, std::string_view index,
      const std::vector<Value>& values) = 0;

  // Adds a mutation to the same commit. Fires no user hooks, but is indexed
  // like any other. Only pre hooks may add. An error fails the request even
  // if the hook ignores it.
  virtual absl::Status Add(Mutation mutation) = 0;

  // Attaches a word to the request; Commit::annotations returns it.
  virtual void Annotate(std::string_view note) = 0;

  // The sequence the request will have, or has, committed under.
  virtual SequenceNumber sequence() const = 0;

  // For the engine's own index maintenance; null for every other observer.
  virtual internal::EntrySink* entry_sink() { return nullptr; }
};

// Read hooks see what was asked for; they may refuse it.
struct ReadEvent {
  std::string_view table;
  std::string_view index;  // Empty: the row key.
  const std::vector<Value>& values;
  uint64_t rows = 0;             // Post hooks: how many were returned.
  const Query* query = nullptr;  // What was asked for, if it was a query.
};

// Implementations must be safe for concurrent read hooks; write hooks are
// never concurrent with each other. The default of each hook does nothing.
class Observer {
 public:
  virtual ~Observer() = default;

  // Called once, when the engine opens.
  virtual ObserverTraits traits() const = 0;

  virtual absl::Status PrePut(HookContext&, const RowChange&) { return {}; }
  virtual absl::Status PostPut(HookContext&, const RowChange&) { return {}; }
  virtual absl::Status PreDelete(HookContext&, const RowChange&) { return {}; }
  virtual absl::Status PostDelete(HookContext&, const RowChange&) { return {}; }

  // All changes of the request, in order, added ones included.
  virtual absl::Status PreBatchMutate(HookContext&,
                                      const std::vector<RowChange>&) {
    return {};
  }
  virtual absl::Status PostBatchMutate(HookContext&,
                                       const std::vector<RowChange>&) {
    return {};
  }
  // Called for every request that had its turn, with its outcome; also if it
  // failed before any other hook ran.
  virtual void PostBatchMutateIndispensably(const absl::Status& outcome) {
    (void)outcome;
  }

  virtual absl::Status PreGet(const ReadEvent&) { return {}; }
  virtual absl::Status PostGet(const ReadEvent&) { return {}; }
  virtual absl::Status PreScan(const ReadEvent&) { return {}; }
  virtual absl::Status PostScan(const ReadEvent&) { return {}; }
  // Of each row that a read returns, between its pre and its post hook, on the
  // reading thread. Cannot refuse it; what it throws is counted in Stats.
  virtual void RowRead(const ReadEvent&, const RowView&) {}

  // The regions of a table: of each table as the engine opens, before PostOpen,
  // then behind each change of them, in their order. See regions.h.
  virtual void RegionsChanged(std::string_view table,
                              const std::shared_ptr<const RegionMap>& map) {
    (void)table;
    (void)map;
  }

  // Before the store is opened and after; an error fails Engine::Open.
  virtual absl::Status PreOpen() { return {}; }
  virtual absl::Status PostOpen() { return {}; }
  // Around Engine::Close; errors are reported by it, and it closes anyway.
  virtual absl::Status PreClose() { return {}; }
  virtual absl::Status PostClose() { return {}; }
};

}  // namespace dovetail

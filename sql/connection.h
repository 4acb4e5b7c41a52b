// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What all tables of one SQLite connection share: how stores are opened, the
// state that a statement reads, and the work it has done.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "dovetail/engine.h"

namespace dovetail::sql {

using StoreOpener =
    std::function<absl::StatusOr<std::shared_ptr<Engine>>(const std::string&)>;

// Of one plan of one table.
struct PlanWork : Work {
  uint64_t rows = 0;   // Handed to SQLite.
  uint64_t scans = 0;  // Calls of xFilter.
  uint64_t pages = 0;  // Reads of the engine.
};

// Used by one thread at a time, as the SQLite connection is.
class Connection {
 public:
  explicit Connection(StoreOpener open) : open_(std::move(open)) {}

  absl::StatusOr<std::shared_ptr<Engine>> Open(const std::string& path) const {
    return open_(path);
  }

  // A cursor opens and closes. SQLite opens those of a statement as it gets to
  // them and closes them at its end, so that no cursor being open is the end
  // of a statement. Statements that overlap read one state.
  void CursorOpens();
  void CursorCloses();

  // The state of `engine` that this statement reads: that of its first read.
  absl::StatusOr<const Snapshot*> SnapshotOf(Engine* engine);

  // To be added to. Valid until the next statement's first cursor opens.
  PlanWork* WorkOf(const std::string& table, const std::string& plan) {
    return &work_[{table, plan}];
  }
  // Of the statement that runs, or ran last, by table and plan.
  using WorkMap = std::map<std::pair<std::string, std::string>, PlanWork>;
  const WorkMap& work() const { return work_; }

 private:
  const StoreOpener open_;
  uint64_t cursors_ = 0;
  std::map<Engine*, Snapshot> snapshots_;
  WorkMap work_;
};

// Opens a store for reading, once per process however many connections ask
// for it, since it can be open only once. Closed when the last table that
// reads it is gone. Thread-safe.
absl::StatusOr<std::shared_ptr<Engine>> OpenShared(const std::string& path);

}  // namespace dovetail::sql

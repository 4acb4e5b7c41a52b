// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The life of indexes: each transition a change of the catalog, builds and the
// emptying of dropped spaces in short steps between the writers' groups.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "dovetail/environment.h"
#include "dovetail/index_admin.h"
#include "dovetail/limits.h"
#include "engine/committer.h"
#include "engine/storage/store.h"

namespace dovetail {

// Thread-safe. What the constructor is given must outlive it.
class IndexAdmin {
 public:
  IndexAdmin(Committer* committer, Store* store, const Limits* limits,
             Clock* clock);
  ~IndexAdmin();

  // Starts the thread that finishes builds and empties dropped spaces.
  void StartBackgroundWork();
  // Ends the thread, and running builds, which return Cancelled.
  void Stop();

  absl::Status Add(std::string_view table, const v1::IndexSchema& index);
  absl::StatusOr<BuildReport> Build(std::string_view table,
                                    std::string_view index,
                                    const BuildOptions& options);
  absl::Status Hide(std::string_view table, std::string_view index);
  absl::Status Show(std::string_view table, std::string_view index);
  absl::Status Drop(std::string_view table, std::string_view index);
  absl::StatusOr<std::vector<IndexInfo>> List() const;

  // There is a build to do, or a space to empty.
  void Wake();

 private:
  bool stopping() const { return stopping_.load(std::memory_order_acquire); }
  absl::Status CheckRunning() const;
  absl::Status Move(std::string_view table, std::string_view index,
                    v1::IndexState from, v1::IndexState to);
  absl::Status StartAnew(std::string_view table, std::string_view index);
  absl::StatusOr<BuildReport> BuildLocked(std::string_view table,
                                          std::string_view index,
                                          const BuildOptions& options)
      REQUIRES(work_mu_);
  absl::Status EmptyDropped() REQUIRES(work_mu_);
  // Returns after so long, or when Stop is called.
  void Rest(std::chrono::microseconds time);
  void BackgroundLoop();
  absl::Status WorkInBackground();

  Committer* const committer_;
  Store* const store_;
  const Limits* const limits_;
  Clock* const clock_;
  std::atomic<bool> stopping_{false};

  // Held by whoever builds or empties: one at a time. Outermost.
  Mutex work_mu_;
  std::atomic<int> callers_{0};  // That wait for it, and are served first.

  Mutex mu_;
  CondVar wake_;
  bool work_to_do_ GUARDED_BY(mu_) = false;
  std::thread thread_;
};

IndexState ToIndexState(v1::IndexState state);

// For the opening of a database: finds indexes whose entries might no longer
// be what this program makes of the rows, compares them, and returns the
// catalog with those that differ disabled, naming the first difference.
// nullopt if there is nothing to change.
absl::StatusOr<std::optional<v1::Catalog>> CheckFingerprints(
    std::shared_ptr<Store> store, std::shared_ptr<const SchemaState> schema,
    SequenceNumber sequence);

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "sql/connection.h"

#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/errors.h"

namespace dovetail::sql {
namespace {

// LevelDB locks a directory for the process, so this has to be one for the
// process too. A store that closes is in the map until it is closed, and
// whoever wants to open it waits for that.
struct SharedStores {
  Mutex mu;
  CondVar closed;
  std::map<std::string, std::weak_ptr<Engine>> by_path ABSL_GUARDED_BY(mu);
};

SharedStores& Stores() {
  static SharedStores* const stores = new SharedStores();
  return *stores;
}

void Forget(const std::string& key) {
  SharedStores& stores = Stores();
  const MutexLock lock(stores.mu);
  stores.by_path.erase(key);
  stores.closed.SignalAll();
}

absl::Status ExplainOpen(const std::string& path, const absl::Status& status) {
  const std::optional<int64_t> holder = InUseByProcess(status);
  const std::string hint =
      holder.has_value()
          ? "; a store can be open in one process at a time: close it there, "
            "or read a checkpoint of it"
          : "";
  return absl::Status(
      status.code(),
      absl::StrCat("cannot open the store: path=", ToAbsl(Quote(path, 1024)),
                   ": ", status.message(), hint));
}

}  // namespace

void Connection::CursorOpens() {
  if (cursors_++ == 0) work_.clear();
}

void Connection::CursorCloses() {
  if (--cursors_ == 0) snapshots_.clear();
}

absl::StatusOr<const Snapshot*> Connection::SnapshotOf(Engine* engine) {
  const auto found = snapshots_.find(engine);
  if (found != snapshots_.end()) return &found->second;
  ASSIGN_OR_RETURN(Snapshot snapshot, engine->GetSnapshot());
  return &snapshots_.emplace(engine, std::move(snapshot)).first->second;
}

absl::StatusOr<std::shared_ptr<Engine>> OpenShared(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error) {
    return absl::NotFoundError(
        absl::StrCat("cannot open the store: path=", ToAbsl(Quote(path, 1024)),
                     ": ", error.message()));
  }
  const std::string key = real.string();
  SharedStores& stores = Stores();
  const MutexLock lock(stores.mu);
  for (auto found = stores.by_path.find(key); found != stores.by_path.end();
       found = stores.by_path.find(key)) {
    if (std::shared_ptr<Engine> engine = found->second.lock()) return engine;
    stores.closed.Wait(stores.mu);
  }
  Options options;
  options.create_if_missing = false;
  options.read_only = true;
  options.background_work = false;
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      Engine::Open(key, Schema(), std::move(options));
  if (!engine.ok()) return ExplainOpen(path, engine.status());
  std::shared_ptr<Engine> shared(engine->release(), [key](Engine* last) {
    delete last;
    Forget(key);
  });
  stores.by_path[key] = shared;
  return shared;
}

}  // namespace dovetail::sql

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/replay_position.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/limits.h"
#include "engine/keyspace.h"

namespace dovetail {
namespace {

absl::StatusOr<v1::ReplayPosition> Decode(std::string_view source,
                                          std::string_view bytes) {
  v1::ReplayPosition position;
  if (!position.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError(
        absl::StrCat("the place of a replayed source does not parse: source=",
                     Quote(source)));
  }
  return position;
}

}  // namespace

absl::Status CheckSourceName(std::string_view source) {
  if (!source.empty() && source.size() <= kNameBytesMax) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a source's name has 1 to ", kNameBytesMax,
                   " bytes: name=", Quote(source)));
}

absl::StatusOr<std::optional<v1::ReplayPosition>> LoadReplayPosition(
    const Committer& committer, std::string_view source) {
  const auto state = committer.published();
  StoreReadOptions options;
  options.snapshot = state->snapshot.get();
  std::string bytes;
  ASSIGN_OR_RETURN(
      const bool found,
      state->store->Get(options, ReplayPositionKey(source), &bytes));
  if (!found) return std::optional<v1::ReplayPosition>();
  ASSIGN_OR_RETURN(v1::ReplayPosition position, Decode(source, bytes));
  return std::optional<v1::ReplayPosition>(std::move(position));
}

absl::Status StoreReplayPosition(Committer& committer, std::string_view source,
                                 const v1::ReplayPosition& position,
                                 bool sync) {
  const auto body = [&](const SchemaState&, SerialView& view) -> absl::Status {
    view.overlay().Put(ReplayPositionKey(source), position.SerializeAsString());
    return absl::OkStatus();
  };
  return committer.RunMaintenance(body, sync ? Committer::Leaves::kSyncedChanges
                                             : Committer::Leaves::kChanges);
}

absl::StatusOr<std::vector<ReplayedSource>> ListReplayPositions(
    const Committer& committer) {
  const auto state = committer.published();
  const std::string prefix = ReplayPositionKey("");
  std::vector<ReplayedSource> sources;
  StoreReadOptions options;
  options.snapshot = state->snapshot.get();
  const auto it = state->store->NewIterator(options);
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix);
       it->Next()) {
    const std::string_view name = it->key().substr(prefix.size());
    ASSIGN_OR_RETURN(const v1::ReplayPosition position,
                     Decode(name, it->value()));
    sources.push_back({std::string(name), position.source_id(),
                       position.position(), position.applied(),
                       position.rejected(), position.keeps_sequences()});
  }
  RETURN_IF_ERROR(it->status());
  return sources;
}

absl::Status DropReplayPosition(Committer& committer, std::string_view source) {
  RETURN_IF_ERROR(CheckSourceName(source));
  const auto body = [&](const SchemaState&, SerialView& view) -> absl::Status {
    const std::string key = ReplayPositionKey(source);
    ASSIGN_OR_RETURN(const std::optional<std::string> stored, view.Read(key));
    if (!stored.has_value()) {
      return absl::NotFoundError(absl::StrCat(
          "nothing has been replayed under this name: source=", Quote(source)));
    }
    view.overlay().Delete(key);
    return absl::OkStatus();
  };
  return committer.RunMaintenance(body, Committer::Leaves::kSyncedChanges);
}

}  // namespace dovetail

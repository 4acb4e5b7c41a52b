// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/change_feed.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/coding.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/limits.h"
#include "engine/committer.h"
#include "engine/keyspace.h"

namespace dovetail {
namespace {

constexpr size_t kConsumersMax = 1000;

absl::Status Off() {
  return absl::FailedPreconditionError(
      "the database has no change feed; call Engine::EnableChangeFeed");
}

absl::Status CheckName(std::string_view consumer) {
  if (!consumer.empty() && consumer.size() <= kNameBytesMax) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a consumer's name has 1 to ", kNameBytesMax,
                   " bytes: name=", Quote(consumer)));
}

std::string EncodeCursor(SequenceNumber sequence) {
  v1::FeedCursor cursor;
  cursor.set_sequence(static_cast<uint64_t>(sequence));
  return cursor.SerializeAsString();
}

absl::StatusOr<SequenceNumber> DecodeCursor(std::string_view bytes) {
  v1::FeedCursor cursor;
  if (!cursor.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("a change feed cursor does not parse");
  }
  return SequenceNumber{cursor.sequence()};
}

// The oldest sequence that is kept, once `newest` is the newest.
uint64_t OldestKept(const v1::ChangeFeedState& feed, SequenceNumber newest) {
  const auto n = static_cast<uint64_t>(newest);
  if (feed.commits_max() == 0 || n < feed.commits_max()) {
    return feed.first_sequence();
  }
  return std::max(feed.first_sequence(), n - feed.commits_max() + 1);
}

}  // namespace

std::string FeedKey(std::string_view prefix, SequenceNumber sequence) {
  std::string key(prefix);
  AppendBigEndian(static_cast<uint64_t>(sequence), 8, &key);
  return key;
}

absl::Status EnableChangeFeed(Committer& committer,
                              const ChangeFeedOptions& options) {
  // Alone in its group: no commit is under way, and the next one is the first
  // that is recorded.
  const auto body = [&](const SchemaState& schema,
                        SerialView&) -> absl::StatusOr<v1::Catalog> {
    v1::Catalog catalog = schema.catalog();
    if (catalog.has_feed()) {
      return absl::AlreadyExistsError("the change feed is on");
    }
    v1::ChangeFeedState& feed = *catalog.mutable_feed();
    feed.mutable_space()->set_kind(v1::CHANGE_FEED);
    feed.mutable_space()->set_number(catalog.next_space());
    catalog.set_next_space(catalog.next_space() + 1);
    feed.set_first_sequence(
        static_cast<uint64_t>(committer.published()->sequence) + 1);
    feed.set_commits_max(options.commits_max);
    return catalog;
  };
  return committer.ChangeCatalog(body);
}

absl::Status DisableChangeFeed(Committer& committer) {
  const auto body = [&](const SchemaState& schema,
                        SerialView& view) -> absl::StatusOr<v1::Catalog> {
    v1::Catalog catalog = schema.catalog();
    if (!catalog.has_feed()) return Off();
    v1::DroppedIndex& dropped = *catalog.add_dropped();
    dropped.set_name("change feed");
    *dropped.mutable_space() = catalog.feed().space();
    catalog.clear_feed();
    const std::string prefix = FeedCursorKey("");
    std::vector<SerialView::KeyValue> cursors;
    RETURN_IF_ERROR(view.Scan(prefix, {KeyRange()}, kConsumersMax, &cursors));
    for (const SerialView::KeyValue& cursor : cursors) {
      view.overlay().Delete(prefix + cursor.key);
    }
    return catalog;
  };
  return committer.ChangeCatalog(body);
}

absl::StatusOr<SequenceNumber> OpenFeedCursor(Committer& committer,
                                              std::string_view consumer,
                                              FeedStart start) {
  RETURN_IF_ERROR(CheckName(consumer));
  SequenceNumber place{};
  const auto body = [&](const SchemaState& schema,
                        SerialView& view) -> absl::Status {
    if (schema.feed_prefix().empty()) return Off();
    const std::string key = FeedCursorKey(consumer);
    ASSIGN_OR_RETURN(const std::optional<std::string> stored, view.Read(key));
    if (stored.has_value()) {
      ASSIGN_OR_RETURN(place, DecodeCursor(*stored));
      return absl::OkStatus();
    }
    std::vector<SerialView::KeyValue> others;
    RETURN_IF_ERROR(
        view.Scan(FeedCursorKey(""), {KeyRange()}, kConsumersMax, &others));
    if (others.size() >= kConsumersMax) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the change feed has too many consumers: max=", kConsumersMax));
    }
    const SequenceNumber newest = committer.published()->sequence;
    place =
        start == FeedStart::kNow
            ? newest
            : SequenceNumber{OldestKept(schema.catalog().feed(), newest) - 1};
    view.overlay().Put(key, EncodeCursor(place));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(
      committer.RunMaintenance(body, Committer::Leaves::kSyncedChanges));
  return place;
}

absl::Status DropFeedCursor(Committer& committer, std::string_view consumer) {
  RETURN_IF_ERROR(CheckName(consumer));
  const auto body = [&](const SchemaState&, SerialView& view) -> absl::Status {
    const std::string key = FeedCursorKey(consumer);
    ASSIGN_OR_RETURN(const std::optional<std::string> stored, view.Read(key));
    if (!stored.has_value()) {
      return absl::NotFoundError(absl::StrCat(
          "the change feed has no such consumer: name=", Quote(consumer)));
    }
    view.overlay().Delete(key);
    return absl::OkStatus();
  };
  return committer.RunMaintenance(body, Committer::Leaves::kSyncedChanges);
}

absl::StatusOr<std::vector<FeedConsumer>> ListFeedConsumers(
    Committer& committer) {
  const auto state = committer.published();
  if (state->schema->feed_prefix().empty()) return Off();
  const std::string prefix = FeedCursorKey("");
  std::vector<FeedConsumer> consumers;
  StoreReadOptions options;
  options.snapshot = state->snapshot.get();
  const auto it = state->store->NewIterator(options);
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix);
       it->Next()) {
    ASSIGN_OR_RETURN(const SequenceNumber place, DecodeCursor(it->value()));
    consumers.push_back({std::string(it->key().substr(prefix.size())), place});
  }
  RETURN_IF_ERROR(it->status());
  return consumers;
}

absl::StatusOr<bool> ChangeFeed::Next(v1::WriteLogRecord* change,
                                      std::chrono::microseconds timeout) {
  const auto state = committer_->WaitForCommit(returned_, timeout);
  if (state->schema->feed_prefix().empty()) return Off();
  if (state->sequence <= returned_) return false;
  const SequenceNumber next{static_cast<uint64_t>(returned_) + 1};
  StoreReadOptions options;
  options.snapshot = state->snapshot.get();
  options.fill_cache = false;
  std::string bytes;
  ASSIGN_OR_RETURN(
      const bool found,
      state->store->Get(options, FeedKey(state->schema->feed_prefix(), next),
                        &bytes));
  if (!found) {
    const uint64_t oldest =
        OldestKept(state->schema->catalog().feed(), state->sequence);
    if (static_cast<uint64_t>(next) < oldest) {
      return absl::OutOfRangeError(absl::StrCat(
          "the change feed no longer has this commit; start again from a copy "
          "of the database: consumer=",
          Quote(consumer_), " sequence=", static_cast<uint64_t>(next),
          " oldest=", oldest));
    }
    return absl::DataLossError(
        absl::StrCat("the change feed lacks a commit: sequence=",
                     static_cast<uint64_t>(next)));
  }
  if (!change->ParseFromString(bytes)) {
    return absl::DataLossError(
        absl::StrCat("a commit in the change feed does not parse: sequence=",
                     static_cast<uint64_t>(next)));
  }
  returned_ = next;
  return true;
}

absl::Status ChangeFeed::Acknowledge(SequenceNumber sequence, bool sync) {
  if (sequence > returned_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a commit is acknowledged that was not returned: sequence=",
        static_cast<uint64_t>(sequence),
        " returned=", static_cast<uint64_t>(returned_)));
  }
  if (sequence <= acknowledged_) return absl::OkStatus();
  const auto body = [&](const SchemaState& schema,
                        SerialView& view) -> absl::Status {
    if (schema.feed_prefix().empty()) return Off();
    view.overlay().Put(FeedCursorKey(consumer_), EncodeCursor(sequence));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(
      committer_->RunMaintenance(body, sync ? Committer::Leaves::kSyncedChanges
                                            : Committer::Leaves::kChanges));
  acknowledged_ = sequence;
  return absl::OkStatus();
}

}  // namespace dovetail

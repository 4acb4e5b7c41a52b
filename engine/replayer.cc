// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A run is a loop of two steps. Fill takes items from the source until the
// batch is full, or something has to happen before the next item: the source
// ends, the stop is reached, the item is bad, it was recorded under another
// schema. Settle commits the batch as one group. If an item of it is refused,
// what was before it is committed, the item is rejected, and the rest is tried
// again.
//
//   position_   the place behind everything that is settled; what the last
//               commit holds, but for items that ask for nothing
//   next_       the item behind the batch, if it was read already

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/replay.h"
#include "engine/committer.h"
#include "engine/replay_position.h"
#include "engine/replay_rejects.h"
#include "engine/replay_request.h"

namespace dovetail {
namespace {

using Kind = ReplayItem::Kind;
using std::chrono::microseconds;

// While the rate is limited: so many batches a second.
constexpr uint64_t kBatchesPerSecond = 20;
// How often in a row a store that is behind on compaction is waited for.
constexpr int kStallsMax = 60;

size_t BytesOf(const ReplayItem& item) {
  size_t bytes = item.raw.size();
  if (item.kind == Kind::kRequest) {
    for (const Mutation& mutation : item.batch.mutations()) {
      bytes += mutation.record.size();
    }
    return bytes;
  }
  for (const v1::RowEffect& effect : item.record.effects()) {
    bytes += effect.record().size() + effect.new_key().size() +
             effect.old_key().size() + effect.old_fields().size();
  }
  return bytes;
}

// The record as requests that ask for it.
absl::StatusOr<WriteBatch> AsRequest(const SchemaState& schema,
                                     const v1::WriteLogRecord& record) {
  WriteBatch batch;
  for (const v1::RowEffect& effect : record.effects()) {
    if (!effect.added_by().empty()) continue;
    const absl::StatusOr<const TableState*> table = schema.Find(effect.table());
    if (!table.ok()) {
      return absl::InvalidArgumentError(table.status().message());
    }
    const CompiledTable& compiled = *(*table)->compiled;
    if (compiled.row_key().salt_count() > 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a table with salts cannot be replayed with observers, since its "
          "rows would get other keys: table=",
          compiled.name()));
    }
    if (!effect.has_record()) {
      batch.Delete(effect.table(), RowRef::EncodedKey(effect.new_key()));
      continue;
    }
    // The identity finds the row that moves.
    if (!effect.old_key().empty() && compiled.identity() < 0) {
      batch.Delete(effect.table(), RowRef::EncodedKey(effect.old_key()));
    }
    batch.Put(effect.table(), effect.record());
  }
  return batch;
}

}  // namespace

class Replayer::Impl {
 public:
  Impl(Engine* engine, Committer* committer, ReplaySource* source,
       ReplayOptions options)
      : engine_(engine),
        committer_(*committer),
        source_(*source),
        options_(std::move(options)) {}

  absl::Status Open();
  absl::Status Run(const ReplayStop& stop);
  const ReplayReport& report() const { return report_; }

 private:
  enum class Why { kBatch, kEnd, kStop, kBad };

  absl::Status CheckOptions() const;
  absl::Status BeginSource();
  absl::Status OpenRejects();

  absl::Status RunUntil(const ReplayStop& stop);
  absl::StatusOr<Why> Fill(const ReplayStop& stop);
  absl::StatusOr<bool> ReadNext();
  absl::Status CheckNext();
  bool IsBeyond(const ReplayStop& stop) const;

  absl::Status Settle();
  // Commits items from first_ on, up to the first that is refused; `*refused`
  // tells whether the error is that.
  absl::Status Commit(bool* refused);
  absl::Status MakeRequest(ReplayItem& item, ReplayRequest* request);
  absl::Status CommitRequests();
  std::string PlaceBehind(const ReplayRequest& last) const;
  void Advance(const ReplayItem& item);
  absl::Status Reject(const ReplayItem& item, const absl::Status& cause);
  absl::Status CommitPlace(const ReplayItem& item);
  absl::Status StorePlace();
  void SetOldRows();

  // False if the run is to end.
  bool Tell(bool now);
  bool SleepUntil(std::chrono::steady_clock::time_point time);
  bool Throttle();

  Engine* const engine_;
  Committer& committer_;
  ReplaySource& source_;
  const ReplayOptions options_;

  OldFieldsCoverage coverage_;
  uint64_t schema_version_ = 0;  // That coverage_ has.
  bool schema_known_ = false;
  ReplayRun run_;
  std::unique_ptr<ReplayRejects> rejects_;

  v1::ReplayPosition position_;
  bool unstored_ = false;  // position_ is ahead of the database.

  // The batch is [first_, count_); the rest is memory for reuse.
  std::vector<ReplayItem> items_;
  size_t first_ = 0;
  size_t count_ = 0;
  std::vector<ReplayRequest> requests_;
  std::vector<size_t> request_items_;  // Of each request, its item.

  ReplayItem next_;
  bool have_next_ = false;
  absl::Status next_status_;    // Why next_ is no request.
  absl::Status source_failed_;  // It did not go on as it should.

  ReplayReport report_;
  bool cancelled_ = false;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point told_;
  int64_t elapsed_before_us_ = 0;
  uint64_t settled_ = 0;  // Items, in this run.
};

absl::Status Replayer::Impl::CheckOptions() const {
  RETURN_IF_ERROR(CheckSourceName(options_.source));
  if (options_.batch_items == 0) {
    return absl::InvalidArgumentError("a batch has at least one item");
  }
  if (options_.sequences == ReplaySequences::kKeep && !source_.is_numbered()) {
    return absl::InvalidArgumentError(
        "only the sequences of a write log can be kept");
  }
  if (options_.rerun_observers && !source_.is_numbered()) {
    return absl::InvalidArgumentError(
        "the items of this source run with observers anyway");
  }
  return absl::OkStatus();
}

absl::Status Replayer::Impl::Open() {
  RETURN_IF_ERROR(CheckOptions());
  if (!options_.dry_run) RETURN_IF_ERROR(committer_.CheckWritable());
  const auto sequence = static_cast<uint64_t>(committer_.published()->sequence);
  ASSIGN_OR_RETURN(std::optional<v1::ReplayPosition> stored,
                   LoadReplayPosition(committer_, options_.source));
  if (!stored.has_value()) {
    RETURN_IF_ERROR(BeginSource());
  } else {
    position_ = *std::move(stored);
    const bool keeps = position_.keeps_sequences();
    if (options_.sequences != ReplaySequences::kAuto &&
        keeps != (options_.sequences == ReplaySequences::kKeep)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the source was begun ", keeps ? "with" : "without",
                       " keeping its sequences, and goes on so: source=",
                       Quote(options_.source)));
    }
  }
  if (position_.keeps_sequences() && position_.position() != sequence) {
    return absl::FailedPreconditionError(absl::StrCat(
        "somebody else has written to the database since this source was "
        "replayed, so it does not continue the log's history any more: source=",
        Quote(options_.source), " position=", position_.position(),
        " database_sequence=", sequence));
  }
  RETURN_IF_ERROR(
      source_.Start({position_.position(), position_.fingerprint()}));
  run_.coverage = &coverage_;
  run_.source = options_.source;
  run_.place_key = ReplayPositionKey(options_.source);
  SetOldRows();
  report_.position = position_.position();
  report_.applied_total = position_.applied();
  report_.rejected_total = position_.rejected();
  return OpenRejects();
}

absl::Status Replayer::Impl::BeginSource() {
  const auto sequence = static_cast<uint64_t>(committer_.published()->sequence);
  bool keep = options_.sequences == ReplaySequences::kKeep;
  if (options_.sequences == ReplaySequences::kAuto && source_.is_numbered()) {
    if (sequence > 0) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the database has commits, and nothing was replayed from this "
          "source; say whether they are the log's, and its sequences are to be "
          "kept, or not: source=",
          Quote(options_.source), " database_sequence=", sequence));
    }
    keep = true;
  }
  position_.set_keeps_sequences(keep);
  if (keep) position_.set_position(sequence);
  return absl::OkStatus();
}

absl::Status Replayer::Impl::OpenRejects() {
  if (options_.rejects_path.empty() || options_.dry_run) {
    return absl::OkStatus();
  }
  FileSystem* files = options_.file_system != nullptr ? options_.file_system
                                                      : FileSystem::Posix();
  ASSIGN_OR_RETURN(
      rejects_, ReplayRejects::Open(files, options_.rejects_path, position_));
  if (position_.rejects_path() == rejects_->path()) return absl::OkStatus();
  // So that whatever gets into the file is known to be ours.
  position_.set_rejects_path(rejects_->path());
  position_.set_rejects_bytes(0);
  return StorePlace();
}

void Replayer::Impl::SetOldRows() {
  run_.old_rows = options_.old_rows;
  if (options_.old_rows != ReplayOldRows::kTrust) return;
  if (position_.rejected() > 0) {
    run_.old_rows = ReplayOldRows::kReplace;
  } else if (!position_.keeps_sequences()) {
    run_.old_rows = ReplayOldRows::kCheck;
  }
}

absl::Status Replayer::Impl::Run(const ReplayStop& stop) {
  RETURN_IF_ERROR(engine_->UsableCommitter().status());
  started_ = told_ = std::chrono::steady_clock::now();
  elapsed_before_us_ = report_.elapsed_us;
  settled_ = 0;
  cancelled_ = false;
  report_.end = ReplayReport::End::kRunning;
  absl::Status status = RunUntil(stop);
  if (unstored_ && OutcomeOf(status) != WriteOutcome::kUnknown) {
    status.Update(StorePlace());
  }
  if (rejects_ != nullptr) status.Update(rejects_->Sync());
  if (cancelled_ && absl::IsCancelled(status)) status = absl::OkStatus();
  if (!status.ok()) {
    report_.end = ReplayReport::End::kError;
  } else if (cancelled_) {
    report_.end = ReplayReport::End::kCancelled;
  }
  Tell(/*now=*/true);
  return status;
}

absl::Status Replayer::Impl::RunUntil(const ReplayStop& stop) {
  RETURN_IF_ERROR(Settle());  // What an earlier run has left.
  while (!cancelled_) {
    const absl::StatusOr<Why> why = Fill(stop);
    RETURN_IF_ERROR(Settle());
    RETURN_IF_ERROR(why.status());
    if (*why == Why::kStop) {
      report_.end = ReplayReport::End::kStop;
      return absl::OkStatus();
    }
    if (*why == Why::kBad) {
      RETURN_IF_ERROR(Reject(next_, next_status_));
      have_next_ = false;
    }
    if (*why == Why::kEnd) {
      if (!options_.follow) {
        report_.end = ReplayReport::End::kEnd;
        return absl::OkStatus();
      }
      SleepUntil(std::chrono::steady_clock::now() +
                 microseconds(options_.poll_interval_us));
    }
    if (Tell(/*now=*/false)) Throttle();
  }
  return absl::OkStatus();
}

absl::StatusOr<Replayer::Impl::Why> Replayer::Impl::Fill(
    const ReplayStop& stop) {
  size_t items_max = options_.batch_items;
  if (options_.items_per_second > 0) {
    items_max = std::min<size_t>(
        items_max,
        std::max<uint64_t>(1, options_.items_per_second / kBatchesPerSecond));
  }
  size_t bytes = 0;
  while (count_ < items_max && bytes < options_.batch_bytes) {
    if (!have_next_) {
      ASSIGN_OR_RETURN(have_next_, ReadNext());
      if (!have_next_) return Why::kEnd;
    }
    if (IsBeyond(stop)) return Why::kStop;
    if (!next_status_.ok()) return Why::kBad;
    if (!schema_known_ || schema_version_ != source_.schema_version()) {
      if (count_ > 0) return Why::kBatch;
      coverage_.SetSource(source_.schema());
      schema_version_ = source_.schema_version();
      schema_known_ = true;
    }
    if (items_.size() == count_) items_.emplace_back();
    std::swap(items_[count_], next_);
    have_next_ = false;
    bytes += BytesOf(items_[count_++]);
  }
  return Why::kBatch;
}

absl::StatusOr<bool> Replayer::Impl::ReadNext() {
  RETURN_IF_ERROR(source_failed_);
  next_.kind = Kind::kNothing;
  next_.fingerprint = 0;
  next_.time_us.reset();
  next_.raw.clear();
  const absl::StatusOr<bool> found = source_.Next(&next_);
  next_status_ = found.status();
  if (found.ok() && !*found) return false;
  if (!found.ok() && !absl::IsInvalidArgument(found.status())) {
    return found.status();
  }
  source_failed_ = CheckNext();
  RETURN_IF_ERROR(source_failed_);
  return true;
}

// That next_ follows on what was read before.
absl::Status Replayer::Impl::CheckNext() {
  const std::string id = source_.id();
  if (!id.empty() && !position_.source_id().empty() &&
      id != position_.source_id()) {
    return absl::FailedPreconditionError(
        absl::StrCat("another source was begun under this name: source=",
                     Quote(options_.source), " id=", Quote(id),
                     " begun=", Quote(position_.source_id())));
  }
  if (!id.empty()) position_.set_source_id(id);
  const uint64_t last =
      count_ > 0 ? items_[count_ - 1].position : position_.position();
  if (next_.position <= last) {
    return absl::FailedPreconditionError(
        absl::StrCat("the source steps back: source=", Quote(options_.source),
                     " position=", next_.position, " last=", last));
  }
  if (position_.keeps_sequences() && next_.position != last + 1) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the write log does not go on where the database ends: source=",
        Quote(options_.source), " record=", next_.position, " due=", last + 1));
  }
  return absl::OkStatus();
}

bool Replayer::Impl::IsBeyond(const ReplayStop& stop) const {
  if (stop.to_position.has_value() && next_.position > *stop.to_position) {
    return true;
  }
  return stop.to_time_us.has_value() && next_.time_us.has_value() &&
         *next_.time_us > *stop.to_time_us;
}

absl::Status Replayer::Impl::Settle() {
  while (first_ < count_) {
    bool refused = false;
    const absl::Status status = Commit(&refused);
    if (status.ok()) break;
    if (!refused) return status;
    RETURN_IF_ERROR(Reject(items_[first_], status));
    ++first_;
  }
  first_ = count_ = 0;
  return absl::OkStatus();
}

absl::Status Replayer::Impl::Commit(bool* refused) {
  requests_.clear();
  request_items_.clear();
  absl::Status bad;
  size_t end = first_;
  for (; end < count_; ++end) {
    if (items_[end].kind == Kind::kNothing) continue;
    ReplayRequest request;
    bad = MakeRequest(items_[end], &request);
    if (!bad.ok()) break;
    requests_.push_back(std::move(request));
    request_items_.push_back(end);
  }
  RETURN_IF_ERROR(CommitRequests());
  for (size_t i = 0; i < requests_.size(); ++i) {
    const ReplayRequest& request = requests_[i];
    // Up to the item, those before it that ask for nothing.
    const size_t stop = request_items_[i];
    for (; first_ < stop; ++first_) Advance(items_[first_]);
    if (!request.status.ok()) {
      *refused = request.refused;
      return request.status;
    }
    report_.rows += request.rows;
    report_.rows_were_read |= request.rows_were_read;
    Advance(items_[first_++]);
  }
  unstored_ = unstored_ && requests_.empty();
  for (; first_ < end; ++first_) Advance(items_[first_]);
  *refused = !bad.ok();
  return bad;
}

absl::Status Replayer::Impl::MakeRequest(ReplayItem& item,
                                         ReplayRequest* request) {
  request->run = &run_;
  request->position = item.position;
  if (position_.keeps_sequences()) {
    request->sequence = SequenceNumber{item.position};
  }
  if (item.kind == Kind::kRequest) {
    request->batch = &item.batch;
  } else if (options_.rerun_observers) {
    ASSIGN_OR_RETURN(item.batch,
                     AsRequest(*committer_.published()->schema, item.record));
    request->batch = &item.batch;
  } else {
    request->record = &item.record;
    // What was left out before, or need not have been as the log says, makes
    // for other rows.
    request->check_digests =
        options_.check_digests && position_.keeps_sequences() &&
        position_.rejected() == 0 && run_.old_rows != ReplayOldRows::kReplace;
  }
  return absl::OkStatus();
}

// Leaves the outcomes in requests_; an error is one of waiting for the store.
absl::Status Replayer::Impl::CommitRequests() {
  if (requests_.empty()) return absl::OkStatus();
  if (options_.dry_run) {
    bool failed = false;
    for (ReplayRequest& request : requests_) {
      request.status = failed ? absl::CancelledError("not tried")
                              : committer_.CheckReplay(&request);
      request.refused = !request.status.ok();
      failed = failed || request.refused;
    }
    return absl::OkStatus();
  }
  absl::Status writable = committer_.WaitUntilWritable();
  for (int i = 0; absl::IsUnavailable(writable) && i < kStallsMax; ++i) {
    if (!Tell(/*now=*/false)) return absl::CancelledError("cancelled");
    writable = committer_.WaitUntilWritable();
  }
  RETURN_IF_ERROR(writable);
  committer_.Replay(
      {.sync = options_.sync}, absl::MakeSpan(requests_),
      [this](const ReplayRequest& last) { return PlaceBehind(last); });
  return absl::OkStatus();
}

// Runs in the serial section, while the thread of Run waits.
std::string Replayer::Impl::PlaceBehind(const ReplayRequest& last) const {
  const size_t index = static_cast<size_t>(&last - requests_.data());
  v1::ReplayPosition place = position_;
  const ReplayItem& item = items_[request_items_[index]];
  place.set_position(item.position);
  place.set_fingerprint(item.fingerprint);
  place.set_applied(position_.applied() + index + 1);
  return place.SerializeAsString();
}

void Replayer::Impl::Advance(const ReplayItem& item) {
  position_.set_position(item.position);
  position_.set_fingerprint(item.fingerprint);
  report_.position = item.position;
  if (item.time_us.has_value()) report_.time_us = item.time_us;
  ++settled_;
  if (item.kind == Kind::kNothing) {
    ++report_.nothing;
    unstored_ = true;
    return;
  }
  position_.set_applied(position_.applied() + 1);
  ++report_.applied;
  ++report_.applied_total;
}

absl::Status Replayer::Impl::Reject(const ReplayItem& item,
                                    const absl::Status& cause) {
  const absl::Status named(
      cause.code(),
      absl::StrCat("an item cannot be applied: source=", Quote(options_.source),
                   " position=", item.position, ": ", cause.message()));
  if (options_.on_error == ReplayOnError::kStop) return named;
  if (rejects_ != nullptr) {
    RETURN_IF_ERROR(rejects_->Add(item, ToStd(cause.message())));
    if (options_.sync) RETURN_IF_ERROR(rejects_->Sync());
    position_.set_rejects_bytes(rejects_->bytes());
  }
  position_.set_position(item.position);
  position_.set_fingerprint(item.fingerprint);
  position_.set_rejected(position_.rejected() + 1);
  RETURN_IF_ERROR(CommitPlace(item));
  SetOldRows();
  report_.position = item.position;
  if (report_.rejected++ == 0) {
    report_.first_reject = std::string(named.message());
  }
  ++report_.rejected_total;
  ++settled_;
  return absl::OkStatus();
}

// The place behind a rejected item. Where sequences are kept, its sequence is
// that of a commit without changes.
absl::Status Replayer::Impl::CommitPlace(const ReplayItem& item) {
  if (!position_.keeps_sequences() || options_.dry_run) return StorePlace();
  requests_.clear();
  request_items_.clear();
  ReplayRequest& request = requests_.emplace_back();
  request.run = &run_;
  request.position = item.position;
  request.sequence = SequenceNumber{item.position};
  committer_.Replay(
      {.sync = options_.sync}, absl::MakeSpan(requests_),
      [this](const ReplayRequest&) { return position_.SerializeAsString(); });
  return request.status;
}

absl::Status Replayer::Impl::StorePlace() {
  unstored_ = false;
  if (options_.dry_run) return absl::OkStatus();
  return StoreReplayPosition(committer_, options_.source, position_,
                             options_.sync);
}

bool Replayer::Impl::Tell(bool now) {
  const auto time = std::chrono::steady_clock::now();
  if (!now && time - told_ < microseconds(options_.progress_interval_us)) {
    return !cancelled_;
  }
  told_ = time;
  report_.elapsed_us =
      elapsed_before_us_ +
      std::chrono::duration_cast<microseconds>(time - started_).count();
  report_.sequence = committer_.published()->sequence;
  report_.bytes_read = source_.bytes_read();
  report_.bytes_total = std::max(source_.bytes_total(), report_.bytes_read);
  if (options_.progress != nullptr && !cancelled_) {
    cancelled_ = !options_.progress(report_);
  }
  return !cancelled_;
}

bool Replayer::Impl::SleepUntil(std::chrono::steady_clock::time_point time) {
  const microseconds step(options_.progress_interval_us);
  for (auto now = std::chrono::steady_clock::now(); now < time;
       now = std::chrono::steady_clock::now()) {
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(
        time - now, std::max(step, microseconds(1000))));
    if (!Tell(/*now=*/false)) return false;
  }
  return true;
}

bool Replayer::Impl::Throttle() {
  if (options_.items_per_second == 0) return true;
  return SleepUntil(started_ + microseconds(settled_ * 1'000'000 /
                                            options_.items_per_second));
}

Replayer::Replayer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Replayer::~Replayer() = default;

absl::StatusOr<std::unique_ptr<Replayer>> Replayer::Open(
    Engine* engine, ReplaySource* source, ReplayOptions options) {
  ASSIGN_OR_RETURN(Committer* const committer, engine->UsableCommitter());
  auto impl =
      std::make_unique<Impl>(engine, committer, source, std::move(options));
  RETURN_IF_ERROR(impl->Open());
  return std::unique_ptr<Replayer>(new Replayer(std::move(impl)));
}

absl::Status Replayer::Run(const ReplayStop& stop) { return impl_->Run(stop); }

const ReplayReport& Replayer::report() const { return impl_->report(); }

absl::StatusOr<std::vector<ReplayedSource>> Replayer::ListSources(
    Engine* engine) {
  ASSIGN_OR_RETURN(Committer* const committer, engine->UsableCommitter());
  return ListReplayPositions(*committer);
}

absl::Status Replayer::ForgetSource(Engine* engine, std::string_view source) {
  ASSIGN_OR_RETURN(Committer* const committer, engine->UsableCommitter());
  return DropReplayPosition(*committer, source);
}

}  // namespace dovetail

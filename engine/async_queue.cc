// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/async_queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "engine/request.h"

namespace dovetail {
namespace {

// A group of tiny requests ends here: past it, the sync is shared by so many
// that one more gains nothing, and all of them wait for the last.
constexpr size_t kGroupRequestsMax = 1024;

// Memory, roughly. Never less than what the committer counts, so that what is
// taken at once fits one commit group.
size_t QueuedBytes(const WriteBatch& batch) {
  size_t bytes = 0;
  for (const Mutation& m : batch.mutations()) {
    bytes += sizeof(Mutation) + m.table.size() + RequestBytes(m) +
             m.target.values().size() * sizeof(Value);
    for (const std::string& field : m.fields) {
      bytes += sizeof(field) + field.size();
    }
    for (const Precondition& condition : m.conditions) {
      bytes += sizeof(condition) + condition.path.size();
      if (condition.value.kind() == Value::Kind::kString) {
        bytes += condition.value.as_string().size();
      }
    }
  }
  return bytes;
}

}  // namespace

void AsyncQueue::Operation::Refuse(const absl::Status& why) {
  if (done) {
    done(why);
  } else {
    read(why);
  }
}

AsyncQueue::AsyncQueue(AsyncOptions options, const Services& services)
    : options_(std::move(options)), services_(services) {
  if (options_.executor == nullptr) {
    workers_ = std::make_unique<WorkerPool>(Width(kWrites) + Width(kReads));
  }
}

AsyncQueue::~AsyncQueue() { DOVETAIL_CHECK(finished_.load()); }

int AsyncQueue::Width(Kind kind) const {
  return kind == kWrites ? 1 : std::max(1, options_.reads_running_max);
}

uint64_t AsyncQueue::NextId() {
  return next_id_.fetch_add(1, std::memory_order_relaxed);
}

int64_t AsyncQueue::NowMicros() const {
  return services_.clock->MonotonicMicros();
}

void AsyncQueue::Write(uint64_t id, const AsyncWriteOptions& options,
                       WriteBatch batch, WriteDone done) {
  Operation operation;
  operation.deadline_micros = options.deadline_micros;
  operation.options.sync = options.sync;
  operation.bytes = QueuedBytes(batch);
  operation.batch = std::move(batch);
  operation.done = std::move(done);
  Accept(kWrites, id, std::move(operation));
}

void AsyncQueue::Read(uint64_t id, std::optional<int64_t> deadline_micros,
                      ReadTask task) {
  Operation operation;
  operation.deadline_micros = deadline_micros;
  operation.read = std::move(task);
  Accept(kReads, id, std::move(operation));
}

void AsyncQueue::Accept(Kind kind, uint64_t id, Operation operation) {
  absl::Status refused;
  bool post = false;
  {
    MutexLock lock(mu_);
    refused = CheckRoom(kind, operation.bytes);
    if (refused.ok()) {
      Lane& lane = lanes_[kind];
      lane.bytes += operation.bytes;
      lane.waiting.emplace(id, std::move(operation));
      post = lane.scheduled < Width(kind);
      if (post) ++lane.scheduled;
    }
  }
  if (!refused.ok()) operation.Refuse(refused);
  if (post) Post(kind);
}

absl::Status AsyncQueue::CheckRoom(Kind kind, size_t bytes) const {
  const Lane& lane = lanes_[kind];
  if (closed_) return absl::FailedPreconditionError("async engine is closed");
  if (options_.when_full == AsyncOptions::WhenFull::kWait) {
    return absl::OkStatus();
  }
  const size_t count_max =
      kind == kWrites ? options_.writes_queued_max : options_.reads_queued_max;
  if (lane.waiting.size() + 1 > count_max) {
    return absl::ResourceExhaustedError(
        absl::StrCat("async queue is full: queued=", lane.waiting.size(),
                     " max=", count_max));
  }
  if (lane.bytes + bytes > options_.write_bytes_queued_max) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "async queue is full: queued_bytes=", lane.bytes, " bytes=", bytes,
        " max_bytes=", options_.write_bytes_queued_max));
  }
  return absl::OkStatus();
}

AsyncQueue::Operation AsyncQueue::Remove(
    Lane& lane, std::map<uint64_t, Operation>::iterator it) {
  Operation operation = std::move(it->second);
  lane.waiting.erase(it);
  lane.bytes -= operation.bytes;
  return operation;
}

void AsyncQueue::Cancel(uint64_t id) {
  std::optional<Operation> cancelled;
  {
    MutexLock lock(mu_);
    for (Lane& lane : lanes_) {
      const auto it = lane.waiting.find(id);
      if (it != lane.waiting.end()) cancelled = Remove(lane, it);
    }
    if (!cancelled.has_value()) return;
    ++cancelling_;
  }
  cancelled->Refuse(absl::CancelledError("cancelled before it began"));
  MutexLock lock(mu_);
  --cancelling_;
  stepped_.SignalAll();
}

void AsyncQueue::Post(Kind kind) {
  // Weak: a task that the executor keeps for ever keeps nothing else.
  auto task = [self = weak_from_this(), kind] {
    if (const auto queue = self.lock()) queue->RunTask(kind);
  };
  if (workers_ != nullptr) {
    workers_->Post(std::move(task));
  } else {
    options_.executor(std::move(task));
  }
}

// One step, then to the back of the executor's queue: it may be shared.
void AsyncQueue::RunTask(Kind kind) {
  Step(kind);
  {
    MutexLock lock(mu_);
    Lane& lane = lanes_[kind];
    if (lane.waiting.empty() || closed_) {
      --lane.scheduled;
      return;
    }
  }
  Post(kind);
}

// False if there is nothing to do, or nothing that may be done now.
bool AsyncQueue::Step(Kind kind) {
  {
    MutexLock lock(mu_);
    Lane& lane = lanes_[kind];
    if (lane.waiting.empty() || lane.running == Width(kind)) return false;
    ++lane.running;
  }
  if (kind == kWrites) {
    StepWrites();
  } else {
    StepReads();
  }
  MutexLock lock(mu_);
  --lanes_[kind].running;
  stepped_.SignalAll();
  return true;
}

void AsyncQueue::StepWrites() {
  // May take seconds, in which those that wait can still be cancelled.
  const absl::Status ready = services_.committer->WaitUntilWritable();
  Operations group =
      Take(kWrites, kGroupRequestsMax, services_.group_bytes_max);
  if (!ready.ok()) {
    for (Operation& operation : group) operation.Refuse(ready);
    return;
  }
  std::vector<Committer::Request> requests;
  requests.reserve(group.size());
  for (const Operation& operation : group) {
    requests.push_back({operation.options, &operation.batch});
  }
  std::vector<absl::StatusOr<Commit>> results =
      services_.committer->WriteAll(requests);
  for (size_t i = 0; i < group.size(); ++i) {
    group[i].done(std::move(results[i]));
  }
}

void AsyncQueue::StepReads() {
  for (Operation& operation : Take(kReads, 1, 0)) {
    operation.read(absl::OkStatus());
  }
}

// Takes operations from the front, at least one if there is one whose deadline
// has not passed, and completes those whose deadline has.
AsyncQueue::Operations AsyncQueue::Take(Kind kind, size_t count_max,
                                        size_t bytes_max) {
  Operations taken;
  Operations late;
  const int64_t now = NowMicros();
  {
    MutexLock lock(mu_);
    Lane& lane = lanes_[kind];
    size_t bytes = 0;
    while (!lane.waiting.empty() && taken.size() < count_max) {
      const auto front = lane.waiting.begin();
      const std::optional<int64_t> deadline = front->second.deadline_micros;
      if (deadline.has_value() && *deadline <= now) {
        late.push_back(Remove(lane, front));
        continue;
      }
      bytes += front->second.bytes;
      if (!taken.empty() && bytes > bytes_max) break;
      taken.push_back(Remove(lane, front));
    }
  }
  for (Operation& operation : late) {
    operation.Refuse(
        absl::DeadlineExceededError("deadline passed before it began"));
  }
  return taken;
}

void AsyncQueue::CancelAll() {
  std::map<uint64_t, Operation> cancelled;
  {
    MutexLock lock(mu_);
    for (Lane& lane : lanes_) {
      cancelled.merge(lane.waiting);
      lane.bytes = 0;
    }
    ++cancelling_;
  }
  for (auto& [id, operation] : cancelled) {
    operation.Refuse(absl::CancelledError("closed before it began"));
  }
  MutexLock lock(mu_);
  --cancelling_;
  stepped_.SignalAll();
}

absl::Status AsyncQueue::Close(AsyncOptions::OnClose on_close) {
  if (finished_.load(std::memory_order_acquire)) return absl::OkStatus();
  if (services_.observers->InHook()) {
    return absl::FailedPreconditionError(
        "a hook closed the async engine that waits for it");
  }
  {
    MutexLock lock(mu_);
    closed_ = true;
  }
  if (on_close == AsyncOptions::OnClose::kCancel) CancelAll();
  while (true) {
    if (Step(kWrites) || Step(kReads)) continue;
    MutexLock lock(mu_);
    const Lane& writes = lanes_[kWrites];
    const Lane& reads = lanes_[kReads];
    if (writes.running + reads.running + cancelling_ > 0) {
      stepped_.Wait(mu_);
    } else if (writes.waiting.empty() && reads.waiting.empty()) {
      break;
    }
  }
  if (workers_ != nullptr) {
    std::call_once(stop_workers_, [this] { workers_->Stop(); });
  }
  finished_.store(true, std::memory_order_release);
  return absl::OkStatus();
}

AsyncStats AsyncQueue::GetStats() const {
  MutexLock lock(mu_);
  const Lane& writes = lanes_[kWrites];
  return {writes.waiting.size(), writes.bytes, lanes_[kReads].waiting.size()};
}

}  // namespace dovetail

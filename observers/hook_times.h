// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// When what ends in a post hook began, for observers that time reads and
// requests.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "dovetail/observer.h"

namespace dovetail::internal {

// When the reads that run on this thread began. Pre and post hooks of a read
// are called on one thread, and a scan's visitor may read in between, so they
// nest. A read that fails leaves its start behind: the ring forgets the
// oldest, which is also the fate of a start with more reads nested in it than
// the ring is long.
class ReadStarts {
 public:
  struct Start {
    const void* observer = nullptr;
    const void* values = nullptr;
    int64_t micros = 0;
    // For the observer's own use.
    uint64_t rows = 0;
    std::shared_ptr<void> place = nullptr;
  };

  void Push(const void* observer, const ReadEvent& event, int64_t now) {
    ++top_;
    ring_[top_ % ring_.size()] = {observer, &event.values, now};
  }
  // The innermost read by `observer` with the event's values, or null. Valid
  // until the next Push.
  Start* Find(const void* observer, const ReadEvent& event) {
    for (size_t depth = 0; depth < ring_.size(); ++depth) {
      Start& start = ring_[(top_ - depth) % ring_.size()];
      if (start.observer == observer && start.values == &event.values) {
        return &start;
      }
    }
    return nullptr;
  }
  // The same, taken out.
  std::optional<Start> Pop(const void* observer, const ReadEvent& event) {
    Start* const found = Find(observer, event);
    if (found == nullptr) return std::nullopt;
    found->observer = nullptr;
    return std::move(*found);
  }

 private:
  std::array<Start, 16> ring_;
  size_t top_ = 0;  // Wraps; the ring's length divides its range.
};

inline thread_local ReadStarts read_starts;

// When requests passed their last pre hook. For the write hooks of one
// observer, which are never concurrent.
class RequestStarts {
 public:
  // What was noted of a request that failed later has the sequence that this
  // one has now.
  void Push(SequenceNumber sequence, int64_t now) {
    while (!pending_.empty() && pending_.back().sequence >= sequence) {
      pending_.pop_back();
    }
    pending_.push_back({sequence, now});
  }
  std::optional<int64_t> Pop(SequenceNumber sequence) {
    while (!pending_.empty() && pending_.front().sequence <= sequence) {
      const Pending first = pending_.front();
      pending_.pop_front();
      if (first.sequence == sequence) return first.start;
    }
    return std::nullopt;
  }

 private:
  struct Pending {
    SequenceNumber sequence;
    int64_t start;
  };
  // Ascending sequences; never more than one commit group.
  std::deque<Pending> pending_;
};

}  // namespace dovetail::internal

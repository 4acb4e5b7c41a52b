// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/query/row_streams.h"

#include <utility>

namespace dovetail {
namespace {

using Reads = std::vector<std::unique_ptr<ReadStream>>;

Reads MakeReads(const internal::PublishedState& state, const TableState& table,
                const Plan& plan, QueryWork* work) {
  Reads reads;
  for (const PlanRead& read : plan.reads) {
    reads.push_back(
        std::make_unique<ReadStream>(state, table, plan, read, work));
  }
  return reads;
}

absl::Status StatusOf(const Reads& reads) {
  absl::Status status;
  for (const auto& read : reads) status.Update(read->status());
  return status;
}

QueryPlace PlaceOf(const Plan& plan, ReadStream& read, size_t branch) {
  QueryPlace place;
  if (!plan.ordered) {
    place.row.row_key = read.natural_place();
    place.branch = static_cast<uint32_t>(branch);
  } else if (const RowPlace* row = read.place(); row != nullptr) {
    place.row = *row;
  }
  return place;
}

class EmptyStream final : public RowStream {
 public:
  void Start(const QueryPlace*) override {}
  bool Valid() const override { return false; }
  void Next() override {}
  absl::Status status() const override { return absl::OkStatus(); }
  ReadStream& current() override { return *none_; }
  QueryPlace place() override { return {}; }

 private:
  std::unique_ptr<ReadStream> none_;  // Never asked for: never valid.
};

// Read after read. A single one is the most frequent plan.
class ChainStream final : public RowStream {
 public:
  ChainStream(const Plan& plan, Reads reads)
      : plan_(plan), reads_(std::move(reads)) {}

  void Start(const QueryPlace* from) override {
    if (from != nullptr && !plan_.ordered) at_ = from->branch;
    if (at_ >= reads_.size()) return;
    reads_[at_]->Start(from);
    SkipEnded();
  }
  bool Valid() const override {
    return at_ < reads_.size() && reads_[at_]->Valid();
  }
  void Next() override {
    reads_[at_]->Next();
    SkipEnded();
  }
  absl::Status status() const override { return StatusOf(reads_); }
  ReadStream& current() override { return *reads_[at_]; }
  QueryPlace place() override { return PlaceOf(plan_, *reads_[at_], at_); }

 private:
  void SkipEnded() {
    while (!reads_[at_]->Valid() && reads_[at_]->status().ok() &&
           at_ + 1 < reads_.size()) {
      reads_[++at_]->Start(nullptr);
    }
  }

  const Plan& plan_;
  Reads reads_;
  size_t at_ = 0;
};

// The reads are few, so the least head is looked for among all of them.
class UnionStream final : public RowStream {
 public:
  UnionStream(const Plan& plan, Reads reads)
      : plan_(plan), reads_(std::move(reads)) {}

  void Start(const QueryPlace* from) override {
    for (const auto& read : reads_) read->Start(from);
    FindLeast();
  }
  bool Valid() const override { return least_ != nullptr; }
  void Next() override {
    const RowPlace done = *least_->place();
    // Every read that has the row leaves it.
    for (const auto& read : reads_) {
      if (!read->Valid()) continue;
      const RowPlace* place = read->place();
      if (place != nullptr && *place == done) read->Next();
    }
    FindLeast();
  }
  absl::Status status() const override { return StatusOf(reads_); }
  ReadStream& current() override { return *least_; }
  QueryPlace place() override { return PlaceOf(plan_, *least_, 0); }

 private:
  void FindLeast() {
    least_ = nullptr;
    for (const auto& read : reads_) {
      if (!read->status().ok()) break;
      if (!read->Valid()) continue;
      if (read->place() == nullptr) break;
      if (least_ == nullptr || *read->place() < *least_->place()) {
        least_ = read.get();
      }
    }
    if (!StatusOf(reads_).ok()) least_ = nullptr;
  }

  const Plan& plan_;
  Reads reads_;
  ReadStream* least_ = nullptr;
};

// Zig-zag: whichever read is behind the furthest one seeks to its place.
class IntersectStream final : public RowStream {
 public:
  IntersectStream(const Plan& plan, Reads reads, StopCheck stop)
      : plan_(plan), reads_(std::move(reads)), stop_(std::move(stop)) {}

  void Start(const QueryPlace* from) override {
    for (const auto& read : reads_) read->Start(from);
    Align();
  }
  bool Valid() const override { return valid_; }
  void Next() override {
    reads_[0]->Next();
    Align();
  }
  absl::Status status() const override { return StatusOf(reads_); }
  ReadStream& current() override {
    // What is there already need not be fetched.
    for (const auto& read : reads_) {
      if (!Plan::TwoHop(read->read())) return *read;
    }
    return *reads_[0];
  }
  QueryPlace place() override { return PlaceOf(plan_, *reads_[0], 0); }
  std::optional<QueryPlace> paused() const override { return paused_; }

 private:
  void Align() {
    valid_ = false;
    for (bool first = true;; first = false) {
      const RowPlace* furthest = nullptr;
      bool same = true;
      for (const auto& read : reads_) {
        if (!read->Valid()) return;
        const RowPlace* place = read->place();
        if (place == nullptr) return;
        same = same && (furthest == nullptr || *place == *furthest);
        if (furthest == nullptr || *furthest < *place) furthest = place;
      }
      if (same) {
        valid_ = true;
        return;
      }
      const RowPlace target = *furthest;
      // One step at least, so that every page gets on.
      if (!first && stop_()) {
        paused_ = QueryPlace{target, 0, false};
        return;
      }
      for (const auto& read : reads_) {
        if (read->Valid() && *read->place() < target) read->SeekTo(target);
      }
    }
  }

  const Plan& plan_;
  Reads reads_;
  StopCheck stop_;
  bool valid_ = false;
  std::optional<QueryPlace> paused_;
};

}  // namespace

std::unique_ptr<RowStream> MakeRowStream(const internal::PublishedState& state,
                                         const TableState& table,
                                         const Plan& plan, QueryWork* work,
                                         StopCheck stop) {
  Reads reads = MakeReads(state, table, plan, work);
  switch (plan.shape.kind) {
    case Plan::Kind::kEmpty:
      return std::make_unique<EmptyStream>();
    case Plan::Kind::kRead:
      return std::make_unique<ChainStream>(plan, std::move(reads));
    case Plan::Kind::kIntersect:
      return std::make_unique<IntersectStream>(plan, std::move(reads),
                                               std::move(stop));
    case Plan::Kind::kUnion:
      if (!plan.ordered) {
        return std::make_unique<ChainStream>(plan, std::move(reads));
      }
      return std::make_unique<UnionStream>(plan, std::move(reads));
  }
  return std::make_unique<EmptyStream>();
}

}  // namespace dovetail

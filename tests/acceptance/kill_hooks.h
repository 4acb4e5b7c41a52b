// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Points at which a process can die (kill_points.h) where the engine calls
// back.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "dovetail/observer.h"
#include "dovetail/replay.h"
#include "tests/acceptance/kill_points.h"

namespace dovetail::test {

// Reaches a point in each hook that there is around a write.
class PointObserver final : public Observer {
 public:
  explicit PointObserver(KillPoints* points) : points_(*points) {}

  ObserverTraits traits() const override {
    return {.name = "points",
            .hooks = kPrePut | kPostPut | kPreDelete | kPostDelete |
                     kPreBatchMutate | kPostBatchMutate |
                     kPostBatchMutateIndispensably | kPreOpen | kPostOpen |
                     kPreClose | kPostClose};
  }
  absl::Status PrePut(HookContext&, const RowChange&) override {
    return Reach("pre-put");
  }
  absl::Status PostPut(HookContext&, const RowChange&) override {
    return Reach("post-put");
  }
  absl::Status PreDelete(HookContext&, const RowChange&) override {
    return Reach("pre-delete");
  }
  absl::Status PostDelete(HookContext&, const RowChange&) override {
    return Reach("post-delete");
  }
  absl::Status PreBatchMutate(HookContext&,
                              const std::vector<RowChange>&) override {
    return Reach("pre-batch-mutate");
  }
  absl::Status PostBatchMutate(HookContext&,
                               const std::vector<RowChange>&) override {
    return Reach("post-batch-mutate");
  }
  void PostBatchMutateIndispensably(const absl::Status&) override {
    Reach("post-batch-mutate-indispensably").IgnoreError();
  }
  absl::Status PreOpen() override { return Reach("pre-open"); }
  absl::Status PostOpen() override { return Reach("post-open"); }
  absl::Status PreClose() override { return Reach("pre-close"); }
  absl::Status PostClose() override { return Reach("post-close"); }

 private:
  absl::Status Reach(std::string_view hook) {
    points_.Reach(absl::StrCat("observer ", ToAbsl(hook)));
    return absl::OkStatus();
  }

  KillPoints& points_;
};

// Reaches a point before each item of `source` and behind it.
class PointSource final : public ReplaySource {
 public:
  PointSource(KillPoints* points, std::unique_ptr<ReplaySource> source)
      : points_(*points), source_(std::move(source)) {}

  absl::Status Start(const ReplayPlace& place) override {
    return source_->Start(place);
  }
  absl::StatusOr<bool> Next(ReplayItem* item) override {
    points_.Reach("replay item before");
    absl::StatusOr<bool> more = source_->Next(item);
    points_.Reach("replay item after");
    return more;
  }
  std::string id() const override { return source_->id(); }
  bool is_numbered() const override { return source_->is_numbered(); }
  const v1::Schema* schema() const override { return source_->schema(); }
  uint64_t schema_version() const override { return source_->schema_version(); }

 private:
  KillPoints& points_;
  const std::unique_ptr<ReplaySource> source_;
};

}  // namespace dovetail::test

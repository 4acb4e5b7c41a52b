// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The reads of a plan put together: alone, intersected or united.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/query/read_stream.h"

namespace dovetail {

// Whether what is being done has to stop here: the budget is used up.
using StopCheck = std::function<bool()>;

// Rows in the order of a plan. Thread-compatible. After an error it is not
// valid.
class RowStream {
 public:
  virtual ~RowStream() = default;

  virtual void Start(const QueryPlace* from) = 0;
  virtual bool Valid() const = 0;
  virtual void Next() = 0;  // REQUIRES: Valid().
  virtual absl::Status status() const = 0;
  // A read that is at the present row. REQUIRES: Valid().
  virtual ReadStream& current() = 0;
  // That of the present row; unspecified after an error. REQUIRES: Valid().
  virtual QueryPlace place() = 0;
  // Not valid, and no error, because it was stopped between two rows: where to
  // go on. nullopt: it is at its end.
  virtual std::optional<QueryPlace> paused() const { return std::nullopt; }
};

std::unique_ptr<RowStream> MakeRowStream(const internal::PublishedState& state,
                                         const TableState& table,
                                         const Plan& plan, QueryWork* work,
                                         StopCheck stop);

}  // namespace dovetail

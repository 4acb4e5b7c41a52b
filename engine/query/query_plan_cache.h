// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Queries that are asked again and again, each with its plan: making a plan
// takes longer than reading twenty rows.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "dovetail/v1/query.pb.h"
#include "engine/query/read_stream.h"
#include "engine/schema_state.h"
#include "index/query/checked_query.h"
#include "index/query/normal_form.h"
#include "index/query/plan.h"
#include "index/query/plan_template.h"

namespace dovetail {

// A query between its check and its run. Immutable once it is made.
struct PreparedQuery {
  std::shared_ptr<const SchemaState> schema;
  v1::Query proto;                    // If the query is kept.
  const TableState* table = nullptr;  // Of the schema.
  CheckedQuery query;                 // Of `proto`, or of the caller's.
  NormalForm form;
  uint64_t fingerprint = 0;
  std::optional<QueryPlace> from;
  Plan plan;
  // Of `query` and `plan`, if the query is kept.
  std::optional<PlanTemplate> for_others;
};

// Finds a query by its bytes or by its shape (plan_template.h), for as long as
// the schema is the same, the states of indexes included. Keeps only plans that
// follow from the query and the schema, not those preferred by the sizes that
// the store had just then.
//
// Thread-safe. Has kSlots queries at most, in each slot the last one that fell
// into it, each of at most kQueryBytesMax and kRangesMax ranges: some MiB.
class QueryPlanCache {
 public:
  // nullptr if it is not there. A key is the bytes of a query or its shape, and
  // one byte that says which.
  std::shared_ptr<const PreparedQuery> Find(
      std::string_view key, const std::shared_ptr<const SchemaState>& schema);
  void Insert(std::string_view key, std::shared_ptr<const PreparedQuery> query);

  // Whether a query of so many bytes may be kept.
  static bool Takes(size_t bytes) { return bytes <= kQueryBytesMax; }

 private:
  static constexpr size_t kSlots = 1024;
  static constexpr size_t kLocks = 16;
  static constexpr size_t kQueryBytesMax = 1024;
  static constexpr size_t kRangesMax = 32;

  struct Slot {
    std::string key;
    std::shared_ptr<const PreparedQuery> query;
  };
  // Slots that share a lock: those of equal number modulo kLocks.
  struct Shard {
    Mutex mu;
    std::array<Slot, kSlots / kLocks> slots GUARDED_BY(mu);
  };

  Shard shards_[kLocks];
};

}  // namespace dovetail

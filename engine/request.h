// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A request on its way through the pipeline, and its admission: everything
// about it that can be checked and computed before it is its turn, on the
// caller's own thread.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "dovetail/engine.h"
#include "dovetail/limits.h"
#include "dovetail/write_batch.h"
#include "engine/schema_state.h"
#include "index/extractor.h"
#include "index/wire_patch.h"

namespace dovetail {

struct AdmittedCondition {
  Precondition::Kind kind;
  SequenceNumber version{};
  // kFieldEquals: reads the field, and what it must be (a view of the
  // batch's own value).
  std::shared_ptr<const Extractor> extractor;
  FieldValue value;
  std::string path;
};

struct AdmittedMutation {
  const Mutation* mutation = nullptr;  // In the batch, or with the observer's.
  const TableState* table = nullptr;
  EncodedRow row;                          // kInsert, kPut: fields, no key.
  int index = -1;                          // kPatch, kDelete: -1 for row key.
  std::shared_ptr<const WirePatch> patch;  // kPatch
  std::vector<AdmittedCondition> conditions;
  std::optional<std::string> delete_order;  // kDelete with `as_of`.
};

// Compiled patches and condition readers, kept because callers send the same
// few field lists again and again. Bounded. Thread-safe.
class PlanCache {
 public:
  absl::StatusOr<std::shared_ptr<const WirePatch>> Patch(
      const TableState& table, const std::vector<std::string>& fields);
  absl::StatusOr<std::shared_ptr<const Extractor>> Field(
      const TableState& table, const std::string& path);

 private:
  Mutex mu_;
  absl::flat_hash_map<std::string, std::shared_ptr<const WirePatch>> patches_
      GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::shared_ptr<const Extractor>> fields_
      GUARDED_BY(mu_);
};

// Checks `mutation` and prepares it; it must outlive the result.
absl::StatusOr<AdmittedMutation> AdmitMutation(const SchemaState& schema,
                                               const Limits& limits,
                                               PlanCache& plans,
                                               const Mutation& mutation);

// All mutations of `batch`, and the request's limits. The error names the
// mutation by its position, counted from 1.
absl::StatusOr<std::vector<AdmittedMutation>> AdmitBatch(
    const SchemaState& schema, const Limits& limits, PlanCache& plans,
    const WriteBatch& batch);

// Bytes that count against Limits::request_bytes_max.
size_t RequestBytes(const Mutation& mutation);

}  // namespace dovetail

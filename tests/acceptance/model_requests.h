// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The schema of core_model and its random requests. Keys come from small
// pools that are made to collide: values that begin others, zero and 0xFF
// bytes, empty texts, equal times.

#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "dovetail/observer.h"
#include "dovetail/read.h"
#include "dovetail/schema.h"
#include "dovetail/write_batch.h"
#include "dovetail/testing/model.h"

namespace dovetail::test {

// orders   the seller orders preset
// splits   the split orders preset
// assets   any bytes as keys, nullable columns, two unique indexes, no
//          identity, indexes without a hash in front
// places   row key by place, identity by tag: puts move rows
// audit    one row per request, added by AuditObserver
Schema ModelSchema();
Model NewModel();

// Vetoes records whose note is "veto".
class VetoObserver : public Observer {
 public:
  ObserverTraits traits() const override;
  absl::Status PrePut(HookContext& ctx, const RowChange& change) override;
};

// Adds an audit row, keyed by the sequence, to each request that changes
// something.
class AuditObserver : public Observer {
 public:
  ObserverTraits traits() const override;
  absl::Status PreBatchMutate(HookContext& ctx,
                              const std::vector<RowChange>& changes) override;
};

// Applies to the model what Engine::Write does with `batch`, observers
// included.
absl::StatusOr<std::vector<uint64_t>> ApplyObserved(const WriteBatch& batch,
                                                    uint64_t sequence,
                                                    Model* model);

// For messages.
std::string Describe(const WriteBatch& batch);
std::string Describe(const ScanRequest& request);

// Thread-compatible.
class RequestMaker {
 public:
  explicit RequestMaker(uint64_t seed) : random_(seed) {}

  // One to a few mutations of mixed kinds.
  WriteBatch RandomRequest();
  // Two assets exchange their tags; `read` finds what they are now.
  using ReadAsset = std::function<absl::StatusOr<Row>(const std::string& id)>;
  WriteBatch RandomSwap(const ReadAsset& read);
  // A read of any form: of rows or an index, with some of equal, any_of and
  // range given.
  ScanRequest RandomScan(const Model& model);

  // Values for the first `count` columns of a layout.
  Tuple RandomValues(const Model& model, std::string_view table,
                     std::string_view index, size_t count);

  uint64_t Below(uint64_t n) { return random_() % n; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }

 private:
  std::string RandomTable();
  std::string RandomRecord(std::string_view table);
  Value RandomValue(std::string_view table, std::string_view column);
  // `alone`: it is the request's only mutation.
  void AddPatch(std::string_view table, bool alone, WriteBatch* batch);
  void AddConditions(std::string_view table, WriteBatch* batch);
  RowRef RandomTarget(std::string_view table);

  std::mt19937_64 random_;
};

}  // namespace dovetail::test

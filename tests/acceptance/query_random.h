// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Random tables, records and queries over dovetail.test.Anything. Values come
// from small domains with the borders of each type in them, so that equal
// values, empty ranges and long ties are frequent.

#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "dovetail/query.h"
#include "dovetail/schema.h"
#include "tests/support/records.pb.h"

namespace dovetail::test {

// Thread-compatible. The same seed gives the same sequence.
class QueryRandom {
 public:
  explicit QueryRandom(uint64_t seed) : rng_(seed) {}

  // A table "t": row key and up to five indexes of any kind.
  TableBuilder Table();
  // With an id below `ids`.
  Anything Record(int ids);
  // The filter, order and selection of a query on "t"; no limit or allowance.
  v1::Query Query();
  // The same question about other values.
  v1::Query WithOtherValues(v1::Query query);

  uint64_t Below(uint64_t n) { return rng_() % n; }
  bool Chance(uint64_t in) { return Below(in) == 0; }

 private:
  Part PartOf(const std::string& path);
  std::vector<Part> KeyParts(size_t at_most);
  std::vector<std::string> Covering(size_t at_most);
  const std::string& Field();
  v1::Literal Literal(const std::string& path);
  v1::Expression Expression(int depth);
  v1::Expression Test(const std::string& path);
  void ChangeValues(v1::Expression* e);
  // Made for an index or the row key of the last table: its first fields get
  // values, the next ones are the order.
  void FitIndex(v1::Query* query);
  void FitIndexes(v1::Query* query);
  v1::Query AllFields();
  void Select(v1::Query* query);

  std::mt19937_64 rng_;
  v1::TableSchema table_;         // The last one.
  std::vector<std::string> hot_;  // Fields that most of it is about.
};

}  // namespace dovetail::test

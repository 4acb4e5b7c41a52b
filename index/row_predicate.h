// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The predicate of a partial index: which rows have an entry. A conjunction of
// tests on single fields, compiled so that it can be evaluated for every row
// that is written, and read by whoever has to find out whether a query implies
// it.

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/v1/schema.pb.h"
#include "google/protobuf/descriptor.h"
#include "index/extractor.h"
#include "index/field_value.h"

namespace dovetail {

// Less, equal or greater as a key orders the two, neither of them null: text
// by its bytes, -0.0 as 0.0, NaN above infinity.
int CompareAsKeys(const FieldValue& a, const FieldValue& b, FieldType type);

// Thread-compatible.
class RowPredicate {
 public:
  struct Bound {
    FieldValue value;
    bool inclusive = true;
  };
  // What a test allows: null, or the values within the bounds that are in the
  // list, if there is one, and begin with the prefix.
  struct Test {
    int field = 0;  // Position in the table's list of fields.
    FieldType type = FieldType::kBool;
    bool null = false;  // Null alone is allowed; the rest does not count.
    std::optional<std::vector<FieldValue>> any_of = {};  // Sorted, distinct.
    std::optional<Bound> min = {};
    std::optional<Bound> max = {};
    std::string_view prefix = {};
  };

  RowPredicate() = default;
  RowPredicate(RowPredicate&&) = default;
  RowPredicate& operator=(RowPredicate&&) = default;

  // `fields` are the table's, of its record type. InvalidArgument says which
  // test is wrong and why.
  static absl::StatusOr<RowPredicate> Compile(
      const google::protobuf::RepeatedPtrField<v1::IndexSchema::Test>& tests,
      const google::protobuf::Descriptor& record,
      std::span<const FieldInfo> fields);

  // Without tests it holds for every row.
  bool empty() const { return tests_.empty(); }
  const std::vector<Test>& tests() const { return tests_; }

  bool Holds(std::span<const FieldValue> fields) const;

 private:
  friend class PredicateCompiler;

  std::vector<Test> tests_;
  // What the texts in the tests view; moves leave its strings where they are.
  std::vector<std::unique_ptr<const std::string>> texts_;
};

}  // namespace dovetail

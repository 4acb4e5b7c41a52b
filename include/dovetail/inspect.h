// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Keys and values as they lie on disk, and what they mean: for tools that show
// a database to people. docs/format.md specifies the bytes.
//
//   auto keys = KeyInspector::Create(table_schema);
//   engine->ForEachStored({}, "orders", "by_status", "", [&](auto& stored) {
//     auto parts = keys->Explain("by_status", stored.key);
//     ...
//   });

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/read.h"
#include "dovetail/v1/schema.pb.h"

namespace dovetail {

// A key and its value, without the number of their space. The views hold until
// the call they are passed to returns.
struct StoredPair {
  std::string_view key;
  std::string_view value;
};
// Sees one after the other; false ends it. Must not throw.
using StoredVisitor = absl::FunctionRef<bool(const StoredPair&)>;

// One part of a key.
struct ExplainedPart {
  std::string fields;     // "seller_id"; several with commas; empty: a salt.
  std::string transform;  // "hash", "covering"; empty: the value itself.
  bool descending = false;
  // Behind an index's own parts: what the entry has of the row key besides.
  bool of_row_key = false;
  std::string value;  // In words; of a hash, its bytes in hexadecimal.
  std::string bytes;
};

// Keys of one table. Thread-safe, movable.
class KeyInspector {
 public:
  // InvalidArgument if the schema is not valid.
  static absl::StatusOr<KeyInspector> Create(const v1::TableSchema& table);
  KeyInspector(KeyInspector&&) noexcept;
  KeyInspector& operator=(KeyInspector&&) noexcept;
  ~KeyInspector();

  // An empty `index` is the row key, here and below; NotFound if there is no
  // such index. Of an entry of a UNIQUE index the parts of the row key are in
  // its value; see ExplainValue. A key that ends between two parts, such as
  // Encode makes of some columns, has fewer. InvalidArgument, naming the part,
  // if `key` is not one of this layout.
  absl::StatusOr<std::vector<ExplainedPart>> Explain(
      std::string_view index, std::string_view key) const;
  // An entry's value: parts of the row key, covering fields; count and sum.
  absl::StatusOr<std::vector<ExplainedPart>> ExplainValue(
      std::string_view index, std::string_view value) const;

  // What the keys of rows with these values in the first columns begin with:
  // the whole key if all are given, but for what an entry has besides. Several
  // if a salt, or a bucket of columns that are not given, leaves it open.
  absl::StatusOr<std::vector<std::string>> Encode(
      std::string_view index, const std::vector<Value>& values) const;

  // The key of the row that an entry is of. InvalidArgument if it is none.
  absl::StatusOr<std::string> RowKeyOf(std::string_view index,
                                       const StoredPair& entry) const;

  // The record and version in a row's value. DataLoss if it is no row.
  static absl::StatusOr<RowView> RowOf(const StoredPair& row);

 private:
  struct State;
  explicit KeyInspector(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

}  // namespace dovetail

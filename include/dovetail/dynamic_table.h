// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// One table seen through the descriptors in the database's own catalog: for
// tools that do not know its record type when they are built. Slower than
// Table<T>, which parses with generated code.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/engine.h"
#include "google/protobuf/message.h"

namespace dovetail {

// Thread-safe; the engine must outlive it, and it must outlive the messages
// it makes.
class DynamicTable {
 public:
  // NotFound if there is no such table.
  static absl::StatusOr<DynamicTable> Bind(Engine* engine,
                                           std::string_view name);
  DynamicTable(DynamicTable&&) noexcept;
  DynamicTable& operator=(DynamicTable&&) noexcept;
  ~DynamicTable();

  const std::string& name() const;
  const v1::TableSchema& schema() const;
  const google::protobuf::Descriptor* record_type() const;

  // An empty record.
  std::unique_ptr<google::protobuf::Message> NewRecord() const;
  // DataLoss if the bytes are no record.
  absl::StatusOr<std::unique_ptr<google::protobuf::Message>> Parse(
      const Row& row) const;

  // proto3 JSON, field names as in the .proto file. InvalidArgument names
  // what in the JSON does not fit the record type.
  absl::StatusOr<std::string> ToJson(const Row& row) const;
  absl::StatusOr<std::string> FromJson(std::string_view json) const;

  // The columns, in order, that values are given for: of the row key (index
  // empty) or of an index. NotFound if there is no such index.
  absl::StatusOr<std::vector<std::string>> Columns(
      std::string_view index) const;
  // A value for the column, from text: numbers, enum names or numbers, true
  // and false, RFC 3339 times, other text as it is, "\N" for null.
  absl::StatusOr<Value> ParseValue(std::string_view column,
                                   std::string_view text) const;

 private:
  struct State;
  explicit DynamicTable(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// One table's part of a mapping, compiled: from a change of a foreign row to
// the mutation of a row here.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/change_stream.h"
#include "dovetail/dynamic_table.h"
#include "dovetail/v1/change_mapping.pb.h"
#include "dovetail/value.h"
#include "dovetail/write_batch.h"
#include "engine/changes/field_source.h"
#include "engine/changes/field_target.h"
#include "google/protobuf/message.h"

namespace dovetail::changes {

// Thread-compatible; the engine must outlive it.
class TableMapping {
 public:
  static absl::StatusOr<std::unique_ptr<TableMapping>> Compile(
      Engine* engine, const v1::TableMapping& mapping);

  // Whether changes of that foreign table are for this mapping.
  bool Fits(const ForeignChange& change) const;

  // Adds what the change asks for to `batch`. InvalidArgument: it cannot be
  // done; the message ends with column and byte.
  absl::StatusOr<ChangeOutcome> Add(const ForeignChange& change,
                                    WriteBatch* batch) const;

 private:
  struct Field {
    FieldSource source;
    FieldTarget target;
    std::optional<std::string> default_value;
  };
  // A row image as a record, and which of the fields it had.
  struct Filled {
    std::unique_ptr<google::protobuf::Message> record;
    std::vector<bool> present;

    bool complete() const;
  };

  TableMapping(DynamicTable table, v1::TableMapping mapping)
      : table_(std::move(table)), mapping_(std::move(mapping)) {}

  absl::Status CompileFields();
  absl::Status CompileKey();

  absl::StatusOr<ChangeKind> KindOf(const ForeignChange& change) const;
  absl::StatusOr<ChangeOutcome> AddPut(const ForeignValue& row,
                                       WriteBatch* batch) const;
  absl::StatusOr<ChangeOutcome> AddUpdate(const ForeignChange& change,
                                          WriteBatch* batch) const;
  absl::StatusOr<ChangeOutcome> AddDelete(const ForeignChange& change,
                                          WriteBatch* batch) const;
  absl::StatusOr<ChangeOutcome> AddMerge(const ForeignChange& change,
                                         WriteBatch* batch) const;

  // Of a row to insert: what is not there has its default.
  absl::StatusOr<Filled> Fill(const ForeignValue& row, bool insert) const;
  absl::Status FillOne(const Field& field, const FieldSource::Found& found,
                       google::protobuf::Message* record) const;
  // The values that find a row; absent if the image lacks a column of them.
  absl::StatusOr<std::optional<std::vector<Value>>> KeyOf(
      const ForeignValue& image) const;
  RowRef Target(std::vector<Value> key) const;
  std::vector<std::string> PathsOf(const Filled& filled) const;
  absl::Status NoKey(const ForeignChange& change) const;

  DynamicTable table_;
  v1::TableMapping mapping_;
  std::vector<Field> fields_;
  std::vector<size_t> key_;  // Of find_by's columns, in fields_.
};

}  // namespace dovetail::changes

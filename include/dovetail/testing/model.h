// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The engine's semantics once more, as plainly as they can be said: tables
// are std::maps from the values of the row key's columns to records, indexes
// are std::maps beside them. Fields are read by Protobuf reflection, keys are
// compared value by value. Nothing here is shared with the engine but the
// types of the public interface, so whoever compares the two compares two
// opinions.
//
//   auto model = Model::Of(schema);
//   auto predicted = model->Apply(batch, sequence);
//   auto commit = engine->Write({}, batch);
//   // predicted and commit->rows_changed agree, or the codes of both errors.
//   auto page = engine->Scan({}, request);
//   absl::Status same = model->CheckScan(request, page->rows);
//
// It knows the parts of keys that order rows by a field's value: plain,
// VARINT, DECIMAL, TIME32 and ENUM ones; and leaves out those that only spread
// them: hashes, buckets, sub-buckets and salts. Covered reads of a fan-out
// index are compared without its field, and any_of must not bind a column in
// front of that field. It does not know limits, values that a transform
// refuses, REVERSE, TEXT row keys, observers (but see SetPrePut) or mutations
// addressed by an encoded key.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/read.h"
#include "dovetail/schema.h"
#include "dovetail/testing/model_fields.h"
#include "dovetail/write_batch.h"
#include "google/protobuf/message.h"

namespace dovetail::test {

struct ModelRow {
  Tuple key;
  std::string record;
  uint64_t version = 0;
};

// Thread-compatible; a copy is a snapshot. Pointers to rows are valid until
// the next call that is not const. REQUIRES, of every read: tables and indexes
// that there are, and values of their columns' kinds.
class Model {
 public:
  // Stands for the pre hooks of an engine's observers: called for each put
  // and patch with the record to be, in the place of PrePut.
  using PrePut = std::function<absl::Status(std::string_view table,
                                            std::string_view record)>;

  Model() = default;

  // Of all tables of a schema, whose records are messages of this program.
  //   NotFound        a record type is none; see AddTable
  //   Unimplemented   a key has a part that the model does not know
  static absl::StatusOr<Model> Of(const Schema& schema);

  // `prototype`, a message of the table's record type, must outlive the model.
  // InvalidArgument if it lacks a field of a key; Unimplemented as above.
  absl::Status AddTable(const v1::TableSchema& schema,
                        const google::protobuf::Message& prototype);
  void SetPrePut(PrePut hook) { pre_put_ = std::move(hook); }

  // Applies all of `batch`, or nothing. Returns Commit::rows_changed, or an
  // error of the code that Engine::Write is to return. `sequence` becomes the
  // version of the rows.
  absl::StatusOr<std::vector<uint64_t>> Apply(const WriteBatch& batch,
                                              uint64_t sequence);

  std::vector<std::string> TableNames() const;
  uint64_t RowCount(std::string_view table) const;
  // Entries of the whole table: of each index, rows without a null part if
  // the index is unique.
  uint64_t EntryCount(std::string_view table) const;
  // Names of the table's indexes that lead to rows, in schema order; and of
  // those that count them.
  std::vector<std::string> IndexNames(std::string_view table) const;
  std::vector<std::string> CountingIndexNames(std::string_view table) const;
  // Of the row key (index empty) or an index.
  const std::vector<ModelColumn>& Columns(std::string_view table,
                                          std::string_view index) const;

  // How many of them are the layout's own; an index's are followed by the
  // rest of the row key's.
  size_t OwnColumns(std::string_view table, std::string_view index) const;

  // In row-key order.
  std::vector<const ModelRow*> Rows(std::string_view table) const;
  // Null if absent.
  const ModelRow* Get(std::string_view table, const Tuple& key) const;
  std::vector<const ModelRow*> GetBy(std::string_view table,
                                     std::string_view index,
                                     const Tuple& values) const;
  // All rows of the range; limit and continuation are not looked at. Rows of
  // different any_of values that are equal behind them come in an order that
  // the engine does not promise.
  std::vector<const ModelRow*> Scan(const ScanRequest& request) const;
  // OK if `rows` are all rows of the range in an order that the engine may
  // return, records and versions included; else says what is wrong. Of a
  // covered request the records are compared as messages.
  absl::Status CheckScan(const ScanRequest& request,
                         const std::vector<Row>& rows) const;

  // The groups of a COUNT or SUM index whose first columns have these values,
  // in index order.
  std::vector<Group> Groups(std::string_view table, std::string_view index,
                            const Tuple& values) const;

  // The values of a layout's columns in a record; null for a repeated field.
  Tuple ValuesOf(std::string_view table, std::string_view index,
                 std::string_view record) const;

 private:
  struct Index {
    std::string name;
    bool unique = false;
    size_t declared = 0;  // How many of the columns are the index's own.
    std::vector<ModelColumn> columns;  // Then the rest of the row key's.
    v1::IndexSchema schema;
    std::vector<FieldPath> covering;
    FieldPath sum;                              // Of a SUM index.
    std::map<Tuple, Tuple, TupleLess> entries;  // To row keys.
    std::map<Tuple, Group, TupleLess> groups;   // Of a COUNT or SUM index.
    bool counts() const {
      return schema.kind() == v1::IndexSchema::COUNT ||
             schema.kind() == v1::IndexSchema::SUM;
    }
  };
  struct TableState {
    const google::protobuf::Message* prototype;
    std::vector<ModelColumn> columns;
    std::map<Tuple, ModelRow, TupleLess> rows;
    std::vector<Index> indexes;
    int identity = -1;  // Position of the identity index.
  };
  // What a request did so far, to be taken back or checked at its end.
  struct Request {
    struct Step {
      TableState* table;
      Tuple key;
      std::optional<ModelRow> before;
    };
    uint64_t sequence = 0;
    std::vector<Step> steps;
  };
  using Keys = std::vector<Tuple>;

  TableState* Find(std::string_view table);
  const TableState* Find(std::string_view table) const;
  // The values of a layout; InvalidArgument if they are not its columns'.
  static absl::StatusOr<Tuple> ReadValues(
      const Tuple& values, const std::vector<ModelColumn>& columns);
  static const Index* FindIndex(const TableState& table, std::string_view name);

  absl::StatusOr<uint64_t> ApplyMutation(const Mutation& m, Request* request);
  absl::StatusOr<uint64_t> ApplyPut(const Mutation& m, TableState& table,
                                    Request* request);
  absl::StatusOr<uint64_t> ApplyToTargets(const Mutation& m, TableState& table,
                                          Request* request);
  absl::Status PatchRow(const Mutation& m, TableState& table, const Tuple& key,
                        Request* request);

  // The columns behind equal and any_of, which order a merge.
  Tuple MergeTail(const ScanRequest& request, std::string_view record) const;

  // The tuples of the record's entries: none if the index is not of it, one for
  // each distinct element of a fan-out field.
  static std::vector<Tuple> EntriesOf(const Index& index,
                                      const google::protobuf::Message& record);
  // What a covered read of the index returns of the record.
  static std::string CoveredPart(const TableState& table, const Index& index,
                                 std::string_view record);
  static void Count(const google::protobuf::Message& record, bool there,
                    Index* index);

  static absl::Status CheckConditions(const Mutation& m,
                                      const TableState& table,
                                      const ModelRow* row);
  static absl::Status CheckUnique(const Request& request);
  static std::optional<Tuple> IdentityOwner(const TableState& table,
                                            const Tuple& identity);
  static absl::StatusOr<Keys> Resolve(const TableState& table,
                                      const RowRef& target);

  // Writes or, with nullopt, removes a row and its entries.
  static void SetRow(TableState& table, const Tuple& key,
                     std::optional<ModelRow> row);
  static void Change(TableState& table, const Tuple& key,
                     std::optional<std::string> record, Request* request);

  std::map<std::string, TableState, std::less<>> tables_;
  PrePut pre_put_;
};

}  // namespace dovetail::test

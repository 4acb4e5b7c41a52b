// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A request: mutations over one or more tables that commit together or not
// at all.
//
//   WriteBatch batch;
//   batch.Put("orders", order.SerializeAsString());
//   batch.Patch("orders", RowRef::By("by_order_id", {"o-17"}),
//               change.SerializeAsString(), {"status"});
//   batch.If(Precondition::FieldEquals("status", v1::CREATED));  // the patch's
//
// Mutations apply in order; each sees what the earlier ones did. Nothing is
// checked before Engine::Write. Thread-compatible, copyable.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dovetail/value.h"

namespace dovetail {

// The engine's own count of committed requests; a row's version is the
// sequence of the request that last wrote it.
enum class SequenceNumber : uint64_t {};

// Which rows a patch or delete is about.
class RowRef {
 public:
  enum class Match {
    kOne,  // More than one matching row fails the request.
    kAll,  // Every matching row, none included.
  };

  // The row whose row key has these values, one per column, in the layout's
  // order; columns are the distinct fields of the layout (a hash is computed,
  // not given).
  static RowRef Key(std::vector<Value> values) {
    return RowRef({}, std::move(values), Match::kOne);
  }
  // The row under this encoded key, as Row::key and the change feed have it.
  static RowRef EncodedKey(std::string_view key) {
    RowRef row({}, {}, Match::kOne);
    row.encoded_key_ = std::string(key);
    return row;
  }
  // The rows whose entry in `index` starts with these column values.
  static RowRef By(std::string_view index, std::vector<Value> values,
                   Match match = Match::kOne) {
    return RowRef(std::string(index), std::move(values), match);
  }

  const std::string& index() const { return index_; }  // Empty: the row key.
  const std::vector<Value>& values() const { return values_; }
  const std::string& encoded_key() const { return encoded_key_; }
  Match match() const { return match_; }

 private:
  RowRef(std::string index, std::vector<Value> values, Match match)
      : index_(std::move(index)), values_(std::move(values)), match_(match) {}

  std::string index_;
  std::vector<Value> values_;
  std::string encoded_key_;  // Not empty: instead of values.
  Match match_;
};

// What must hold for the row a mutation is about, as the mutation finds it;
// else the whole request fails with FailedPrecondition and leaves no trace.
struct Precondition {
  enum class Kind { kAbsent, kExists, kVersionEquals, kFieldEquals };

  static Precondition Absent() { return {Kind::kAbsent, {}, {}, {}}; }
  static Precondition Exists() { return {Kind::kExists, {}, {}, {}}; }
  static Precondition VersionEquals(SequenceNumber version) {
    return {Kind::kVersionEquals, version, {}, {}};
  }
  // `path` as in a key part. An absent row fails.
  static Precondition FieldEquals(std::string_view path, Value value) {
    return {Kind::kFieldEquals, {}, std::string(path), std::move(value)};
  }

  Kind kind;
  SequenceNumber version;
  std::string path;
  Value value;
};

struct Mutation {
  enum class Kind {
    kInsert,  // AlreadyExists if the row, or its identity, is there.
    kPut,     // Insert or replace.
    kPatch,   // Replace the named fields of existing rows.
    kDelete,  // No error if nothing matches.
  };

  Kind kind;
  std::string table;
  std::string record;  // kInsert, kPut: the record; kPatch: values.
  RowRef target = RowRef::Key({});  // kPatch, kDelete.
  std::vector<std::string> fields;  // kPatch: paths of the fields to replace.
  std::vector<Precondition> conditions;
  // kPatch with Match::kOne: insert `record` where no row matches.
  bool create_if_absent = false;
  // kDelete: of a row that is not newer than this; see DeleteAsOf.
  std::optional<Value> as_of = {};
};

class WriteBatch {
 public:
  // `record` is a serialized message of the table's record type; bytes that
  // are not one are refused by Write.
  WriteBatch& Insert(std::string_view table, std::string record) {
    return Add({Mutation::Kind::kInsert,
                std::string(table),
                std::move(record),
                RowRef::Key({}),
                {},
                {}});
  }
  WriteBatch& Put(std::string_view table, std::string record) {
    return Add({Mutation::Kind::kPut,
                std::string(table),
                std::move(record),
                RowRef::Key({}),
                {},
                {}});
  }
  // Replaces each field of `fields` by its value in `values`, a serialized
  // message of the record type; a field that is not set there is cleared.
  // Everything else in the row is kept, fields unknown to the schema
  // included. NotFound if Match::kOne finds no row.
  WriteBatch& Patch(std::string_view table, RowRef target, std::string values,
                    std::vector<std::string> fields) {
    return Add({Mutation::Kind::kPatch,
                std::string(table),
                std::move(values),
                std::move(target),
                std::move(fields),
                {}});
  }
  // As Patch, but where no row matches, `values` is put as a record of its
  // own: for streams whose updates name only what changed.
  WriteBatch& PatchOrPut(std::string_view table, RowRef target,
                         std::string values, std::vector<std::string> fields) {
    Patch(table, std::move(target), std::move(values), std::move(fields));
    mutations_.back().create_if_absent = true;
    return *this;
  }
  WriteBatch& Delete(std::string_view table, RowRef target) {
    return Add({Mutation::Kind::kDelete,
                std::string(table),
                {},
                std::move(target),
                {},
                {}});
  }
  // Deletes the row as it was at `order`, a value of the field that orders the
  // table's changes: a newer row stays, and a change that is not newer will
  // not bring the row back, whichever arrives first. The table must remember
  // deletes, and the target name the row key or the identity in full.
  WriteBatch& DeleteAsOf(std::string_view table, RowRef target, Value order) {
    Delete(table, std::move(target));
    mutations_.back().as_of = std::move(order);
    return *this;
  }
  // Adds a precondition to the mutation added last. REQUIRES: !empty().
  WriteBatch& If(Precondition condition) {
    mutations_.back().conditions.push_back(std::move(condition));
    return *this;
  }
  WriteBatch& Add(Mutation mutation) {
    mutations_.push_back(std::move(mutation));
    return *this;
  }

  void Clear() { mutations_.clear(); }
  bool empty() const { return mutations_.empty(); }
  size_t count() const { return mutations_.size(); }
  const std::vector<Mutation>& mutations() const { return mutations_; }

 private:
  std::vector<Mutation> mutations_;
};

}  // namespace dovetail

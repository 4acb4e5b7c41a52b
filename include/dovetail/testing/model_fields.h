// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What the reference model knows of records and their fields: by Protobuf
// reflection, value by value, without bytes of keys.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/v1/schema.pb.h"
#include "dovetail/value.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace dovetail::test {

using Tuple = std::vector<Value>;
using FieldPath = std::vector<const google::protobuf::FieldDescriptor*>;

// A column of a layout: a field, and how its values are ordered.
struct ModelColumn {
  std::string name;
  FieldPath path;
  bool descending = false;
  bool nulls_last = false;  // In scan order.
};

// Column by column; a tuple comes before those it is the beginning of.
class TupleLess {
 public:
  explicit TupleLess(const std::vector<ModelColumn>& columns);
  // Below zero, zero or above zero; over the columns that both have.
  int Compare(const Tuple& a, const Tuple& b) const;
  bool operator()(const Tuple& a, const Tuple& b) const;

 private:
  std::vector<std::pair<bool, bool>> orders_;  // descending, nulls_last
};

// The fields from the record down to the one that `path` names.
// InvalidArgument if there is none.
absl::StatusOr<FieldPath> ResolvePath(const google::protobuf::Descriptor* type,
                                      const std::string& path);

// The elements of a repeated field of scalars, as the record has them.
Tuple ElementsOf(const google::protobuf::Message& record,
                 const FieldPath& path);
void ClearIfRepeated(const FieldPath& path, google::protobuf::Message* record);

// Null if the field, or a message on its path, is absent, and of a repeated
// field.
Value FieldOf(const google::protobuf::Message& record, const FieldPath& path);

// `value` with the kind that FieldOf gives the field.
Value Normalize(const Value& value,
                const google::protobuf::FieldDescriptor* field);
Tuple NormalizeAll(const Tuple& values,
                   const std::vector<ModelColumn>& columns);

// Below zero, zero or above zero. REQUIRES: of one kind.
int CompareValues(const Value& a, const Value& b);

Tuple ReadColumns(const google::protobuf::Message& record,
                  const std::vector<ModelColumn>& columns);

// Null if the bytes are no record.
std::unique_ptr<google::protobuf::Message> ParseRecord(
    const google::protobuf::Message& prototype, std::string_view record);

// The fields of a layout that order it, each once. InvalidArgument if the
// record lacks one, Unimplemented for a part that the model does not know.
absl::StatusOr<std::vector<ModelColumn>> ReadLayout(
    const google::protobuf::RepeatedPtrField<v1::KeyPart>& parts,
    const google::protobuf::Descriptor* type);

// Whether the record passes a test of an index's predicate.
absl::StatusOr<bool> Passes(const v1::IndexSchema::Test& test,
                            const google::protobuf::Message& record);

// Sets the field that `path` names in `record` to what it is in `values`.
void CopyField(const FieldPath& path, const google::protobuf::Message& values,
               google::protobuf::Message* record);

}  // namespace dovetail::test

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What a write log keeps of a row's old image: a record of the table's type
// with just the fields that keys and indexes read. From it a replay finds the
// row's entries without reading the row.
//
// It is made from the values that the extractor has read, not by copying
// pieces of the record: oneofs are decided and messages merged by then, so the
// smallest record with these values is simply written. Elements of repeated
// fields follow, in their order. Equal values give equal bytes. Required fields
// of proto2 that no key reads are left out, so it is read with
// Extractor::ExtractPartial.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "index/extractor.h"
#include "index/field_value.h"

namespace dovetail {

// Thread-compatible.
class OldFieldsEncoder {
 public:
  // `fields` are those of an extractor that was compiled for `record`, which
  // need not outlive the result.
  static absl::StatusOr<OldFieldsEncoder> Compile(
      const google::protobuf::Descriptor& record,
      std::span<const FieldInfo> fields);

  // Appends the record to `out`.
  // REQUIRES: one value per field of Compile, in that order.
  void Encode(std::span<const FieldValue> values, std::string* out) const;
  // One of them; nothing if it is null, or the default of a field that cannot
  // be null.
  void EncodeField(size_t i, const FieldValue& value, std::string* out) const;

 private:
  struct Field {
    google::protobuf::FieldDescriptor::Type type;
    uint32_t tag = 0;
    bool is_timestamp = false;
    // The default value is that of an absent field.
    bool implicit = false;
    // Of the messages around it, from the innermost out.
    std::vector<uint32_t> around;
  };

  static void AppendLeaf(const Field& field, const FieldValue& value,
                         std::string* out);

  std::vector<Field> fields_;
};

}  // namespace dovetail

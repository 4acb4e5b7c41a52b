// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A table's schema, checked and compiled: all that is needed to turn records
// into keys and back.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/v1/schema.pb.h"
#include "index/change_order.h"
#include "index/descriptors.h"
#include "index/extractor.h"
#include "index/index_definition.h"
#include "index/key_layout.h"
#include "index/old_fields.h"

namespace dovetail {

// Immutable, thread-safe.
class CompiledTable {
 public:
  // InvalidArgument names the table, the place in it, and what is wrong there.
  static absl::StatusOr<std::unique_ptr<const CompiledTable>> Compile(
      const v1::TableSchema& schema);

  const std::string& name() const { return schema_.name(); }
  const v1::TableSchema& schema() const { return schema_; }
  const google::protobuf::Descriptor& record_type() const {
    return *record_type_.descriptor;
  }
  // Every field that keys and indexes read, each once.
  const std::vector<FieldInfo>& fields() const { return extractor_.fields(); }
  const KeyLayout& row_key() const { return row_key_; }
  const std::vector<IndexDefinition>& indexes() const { return indexes_; }
  // Position in indexes(), or -1.
  int FindIndex(std::string_view name) const;
  int identity() const { return identity_; }
  // Null if the table declares none.
  const ChangeOrder* change_order() const { return change_order_.get(); }

  // Whether rows of one row key always have one identity: the row key holds
  // every field of the identity. A put that finds no owner of its identity
  // then knows, without reading, that there is no row under its key either.
  bool identity_follows_from_row_key() const {
    return identity_follows_from_row_key_;
  }

  // Reads and checks the record: out->fields and elements, without the key.
  // InvalidArgument if the bytes are no record of the table's type.
  absl::Status ExtractFields(std::string_view record, EncodedRow* out) const;
  // What a write log keeps of a row, and the way back, which leaves fields and
  // elements in `out`; see old_fields.h.
  void EncodeOldFields(const EncodedRow& row, std::string* out) const;
  absl::Status ExtractOldFields(std::string_view old_fields,
                                EncodedRow* out) const;
  // What an entry holds of its row, as a record of these fields alone.
  // InvalidArgument if the bytes are no entry of the index.
  absl::Status RecordOfEntry(size_t index, std::string_view entry_key,
                             std::string_view entry_value,
                             std::string* record) const;
  // Makes out->key and its offsets from out->fields.
  absl::Status EncodeKey(uint32_t salt, EncodedRow* out) const;
  // The salt of an encoded row key, 0 if the layout has none.
  absl::StatusOr<uint32_t> SaltOf(std::string_view row_key) const;

 private:
  CompiledTable(v1::TableSchema schema, RecordType record_type,
                Extractor extractor, OldFieldsEncoder old_fields);

  v1::TableSchema schema_;
  RecordType record_type_;
  Extractor extractor_;
  OldFieldsEncoder old_fields_;
  KeyLayout row_key_;
  std::vector<IndexDefinition> indexes_;
  std::unique_ptr<const ChangeOrder> change_order_;
  int identity_ = -1;
  bool identity_follows_from_row_key_ = false;
  bool has_lists_ = false;  // Some field is repeated.
};

}  // namespace dovetail

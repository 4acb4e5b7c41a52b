// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Where in a record a value is: what "ship_to.country" names.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace dovetail::cli {

// A singular field of a record, possibly inside singular messages.
class FieldPath {
 public:
  // `path` is as in a key part: "seller_id", "ship_to.country". NotFound
  // lists the fields that exist; InvalidArgument for what no text can be put
  // into: repeated fields, and messages other than Timestamp.
  static absl::StatusOr<FieldPath> Resolve(
      const google::protobuf::Descriptor* record, std::string_view path);

  const std::string& path() const { return path_; }
  const google::protobuf::FieldDescriptor* leaf() const {
    return fields_.back();
  }
  bool is_timestamp() const;
  bool is_text() const;     // A string or bytes field.
  bool is_integer() const;  // A signed or unsigned one, no enum or bool.

  // The message the leaf is in, created if absent.
  google::protobuf::Message* Parent(google::protobuf::Message* record) const;
  // Whether the leaf is a string or bytes field that is not null and has not
  // a byte in it.
  bool IsEmptyText(const google::protobuf::Message& record) const;

 private:
  std::string path_;
  std::vector<const google::protobuf::FieldDescriptor*> fields_;
};

// Valid UTF-8, as Protobuf's string fields must be.
bool IsUtf8(std::string_view text);

// google.protobuf.Timestamp.
bool IsTimestamp(const google::protobuf::FieldDescriptor* field);

}  // namespace dovetail::cli

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A field of a record that values of a foreign stream are put into.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "dovetail/change_stream.h"
#include "dovetail/v1/change_mapping.pb.h"
#include "dovetail/value.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace dovetail::changes {

// Thread-compatible; the record type must outlive it.
class FieldTarget {
 public:
  // InvalidArgument if there is no such field, it is repeated or a message,
  // or the mapping's conversion makes nothing that fits it.
  static absl::StatusOr<FieldTarget> Compile(
      const google::protobuf::Descriptor& record,
      const v1::FieldMapping& mapping);

  const std::string& path() const { return path_; }

  // Sets the field. InvalidArgument says what of the value does not fit.
  absl::Status Set(const ForeignValue& value,
                   google::protobuf::Message* record) const;
  // The same for the mapping's default, which is text, whatever form the
  // stream's own values have.
  absl::Status SetDefault(std::string_view text,
                          google::protobuf::Message* record) const;
  // Clears it, to null or to the empty text. InvalidArgument if the field can
  // be neither.
  absl::Status SetNull(google::protobuf::Message* record) const;
  // What is in it, as a column's value.
  Value Get(const google::protobuf::Message& record) const;

 private:
  FieldTarget() = default;

  absl::Status CheckConversion() const;
  google::protobuf::Message* Parent(google::protobuf::Message* record) const;
  absl::Status SetDecoded(const ForeignValue& value,
                          google::protobuf::Message* record) const;
  absl::Status SetText(const ForeignValue& value, std::string_view text,
                       google::protobuf::Message* parent) const;
  absl::Status SetNumber(std::string_view text, int32_t scale,
                         google::protobuf::Message* parent) const;
  absl::Status SetTime(const ForeignValue& value,
                       google::protobuf::Message* parent) const;
  absl::Status SetEnum(std::string_view text,
                       google::protobuf::Message* parent) const;
  std::string NameOf(std::string_view text) const;

  std::string path_;
  std::vector<const google::protobuf::FieldDescriptor*> fields_;
  v1::FieldMapping mapping_;
  absl::TimeZone zone_;
};

}  // namespace dovetail::changes

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The required fields of proto2: does a record set all of them, in every
// message that its parsed form has? Records without such fields, that is most
// of them, need no check and pay nothing.

#pragma once

#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"

namespace dovetail {

// Thread-compatible.
class RequiredFields {
 public:
  // Null if no message that can occur in `record` has a required field.
  // `record` need not outlive the result.
  static std::unique_ptr<const RequiredFields> Compile(
      const google::protobuf::Descriptor& record);
  ~RequiredFields();

  // InvalidArgument, with the message type and the field's name, if a field
  // is missing.
  // REQUIRES: `record` is otherwise a valid message of the type.
  absl::Status Check(std::string_view record) const;

 private:
  struct Plan;
  class Checker;
  explicit RequiredFields(std::unique_ptr<const Plan> plan);

  std::unique_ptr<const Plan> plan_;
};

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Where in a row image the value of a field comes from.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/change_stream.h"
#include "dovetail/v1/change_mapping.pb.h"

namespace dovetail::changes {

// Thread-compatible.
class FieldSource {
 public:
  // InvalidArgument if the mapping names no source, or a malformed one.
  static absl::StatusOr<FieldSource> Compile(const v1::FieldMapping& mapping,
                                             bool ignore_case);

  // What an image has for the field.
  struct Found {
    bool present = false;  // False: a column that it comes from is not there.
    ForeignValue value;    // Null if the columns are, or say so in words.
  };
  // InvalidArgument if a column cannot be split, or has no text. The error is
  // followed by column and byte.
  absl::StatusOr<Found> Read(const ForeignValue& image) const;

  // The columns it reads; none for a constant.
  const std::vector<std::string>& columns() const { return columns_; }
  // Whether every column it reads begins with one of `prefixes`, and it reads
  // one.
  bool IsWithin(const std::vector<std::string>& prefixes) const;

  // `cause` with what place `value` has.
  absl::Status Blame(const absl::Status& cause,
                     const ForeignValue& value) const;

 private:
  const ForeignValue* FindColumn(const ForeignValue& image,
                                 std::string_view name) const;
  bool SaysNull(const ForeignValue& value) const;
  absl::Status Split(ForeignValue* value) const;

  v1::FieldMapping mapping_;
  bool ignore_case_ = false;
  // The source as literals_[0] columns_[0] literals_[1] ...; one column
  // without text around it is the column itself.
  std::vector<std::string> literals_;
  std::vector<std::string> columns_;
};

}  // namespace dovetail::changes

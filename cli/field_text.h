// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Text into fields of a record, and back: what a CSV cell, a command-line
// argument or a box on the terminal says.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/field_path.h"
#include "cli/time_text.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace dovetail::cli {

// How text becomes a value.
struct Conversion {
  enum class Kind {
    kPlain,  // By the field's type; times as in kTime.
    kTime,   // Into a Timestamp or a count of units since 1970.
    kCents,  // Decimal text into an integer of hundredths, exactly.
    kUpper,  // ASCII letters in upper case, then as kPlain.
    kEnum,   // An enum by name in any case, or by number.
  };
  using Unit = TimeUnit;

  Kind kind = Kind::kPlain;
  // kTime into an integer field. By name: "_s", "_us", else milliseconds.
  Unit unit = Unit::kByName;
  // kTime: absl::ParseTime formats, tried in order. Empty: ISO 8601 forms.
  std::vector<std::string> formats;
};

// From "time", "time_s", "time_ms", "time_us", each also with "(FORMAT)" or
// "(FORMAT|FORMAT)", "cents", "upper", "enum". NotFound: no such conversion.
absl::StatusOr<Conversion> ParseConversion(std::string_view text);

// InvalidArgument if the conversion makes nothing that fits the field.
absl::Status CheckConversion(const FieldPath& field,
                             const Conversion& conversion);

// Sets the field. InvalidArgument names the text and what is wrong with it;
// the record may then have an empty parent message more.
absl::Status SetFromText(const FieldPath& field, const Conversion& conversion,
                         std::string_view text,
                         google::protobuf::Message* record);

// Clears the field to null. InvalidArgument if it cannot be null.
absl::Status SetNull(const FieldPath& field, google::protobuf::Message* record);

// The field for people: bytes as \xNN, enums by name, times in RFC 3339,
// messages and repeated fields in Protobuf's text format. Empty if null.
std::string FieldText(const google::protobuf::Message& record,
                      const google::protobuf::FieldDescriptor* field);

}  // namespace dovetail::cli

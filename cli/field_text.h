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
#include "absl/time/time.h"
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

// How text becomes a value.
struct Conversion {
  enum class Kind {
    kPlain,  // By the field's type; times as in kTime.
    kTime,   // Into a Timestamp or a count of units since 1970.
    kCents,  // Decimal text into an integer of hundredths, exactly.
    kUpper,  // ASCII letters in upper case, then as kPlain.
    kEnum,   // An enum by name in any case, or by number.
  };
  enum class Unit { kByName, kSeconds, kMillis, kMicros };

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

// An instant, UTC where the text names no zone. The first format that takes
// the whole text counts. InvalidArgument: none does.
absl::StatusOr<absl::Time> ParseTimeText(
    std::string_view text, const std::vector<std::string>& formats);

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

// A date or time in the field's own form: a count in its unit for an integer
// field, RFC 3339 for a Timestamp. Any other text, and text for any other
// field, as it is. For arguments such as "2026-11-30" that mean a column of
// milliseconds.
std::string TimeArgument(const FieldPath& field, std::string_view text);

// Valid UTF-8, as Protobuf's string fields must be.
bool IsUtf8(std::string_view text);

}  // namespace dovetail::cli

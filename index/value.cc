// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/value.h"

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/strings.h"
#include "index/field_value.h"

namespace dovetail {
namespace {

// The shortest of the usual forms that reads back as the same double.
std::string DoubleString(double v) {
  std::string text = absl::StrCat(v);  // Six digits.
  double back = 0;
  const bool exact = absl::SimpleAtod(text, &back) && back == v;
  return exact || v != v ? text : absl::StrFormat("%.17g", v);
}

std::string TimestampString(TimestampValue t) {
  if (!IsValidTimestamp(t.seconds, t.nanos)) {
    return absl::StrCat("timestamp(", t.seconds, "s, ", t.nanos, "ns)");
  }
  const absl::Time time =
      absl::FromUnixSeconds(t.seconds) + absl::Nanoseconds(t.nanos);
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%E*SZ", time, absl::UTCTimeZone());
}

}  // namespace

std::string Value::DebugString() const {
  switch (kind()) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return as_bool() ? "true" : "false";
    case Kind::kInt:
      return absl::StrCat(as_int());
    case Kind::kUint:
      return absl::StrCat(as_uint());
    case Kind::kDouble:
      return DoubleString(as_double());
    case Kind::kString:
      return Quote(as_string());
    case Kind::kTimestamp:
      return TimestampString(as_timestamp());
  }
  return "";
}

}  // namespace dovetail

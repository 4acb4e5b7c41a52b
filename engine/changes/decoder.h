// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A format whose entries are lines is one function: from a line to the
// changes in it. This is what those functions share.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/json.h"
#include "dovetail/change_stream.h"

namespace dovetail::changes {

// One line on its way. `at` is the place of the last Error.
class Line {
 public:
  Line(std::string_view text, const JsonLimits& limits)
      : text_(text), limits_(limits) {}

  std::string_view text() const { return text_; }
  const JsonLimits& limits() const { return limits_; }
  size_t at() const { return at_; }

  absl::Status Error(size_t at, std::string_view cause);
  // The same for a column or member.
  absl::Status Error(const ForeignValue& value, std::string_view cause);

  // The value that begins at byte `from`; `*end` is then the byte behind it.
  absl::StatusOr<ForeignValue> Json(size_t from, size_t* end);
  // All of the line, an object.
  absl::StatusOr<ForeignValue> JsonObject();

 private:
  std::string_view text_;
  const JsonLimits& limits_;
  size_t at_ = 0;
};

// InvalidArgument, made by line->Error: the line is no entry.
using DecodeFunction = absl::Status (*)(Line* line,
                                        std::vector<ForeignChange>* changes);

absl::Status DecodeCanal(Line* line, std::vector<ForeignChange>* changes);
absl::Status DecodeDebezium(Line* line, std::vector<ForeignChange>* changes);
absl::Status DecodeJsonLine(Line* line, std::vector<ForeignChange>* changes);
absl::Status DecodeMaxwell(Line* line, std::vector<ForeignChange>* changes);

// The text of a member; empty if there is none, or it is null. An error if it
// is no text.
absl::StatusOr<std::string> TextOf(Line* line, const ForeignValue& object,
                                   std::string_view member);
// Whether the member is there and not null.
bool Has(const ForeignValue& object, std::string_view member);
// The member as an object; nullptr if it is null or not there. An error if it
// is anything else.
absl::StatusOr<const ForeignValue*> ObjectOf(Line* line,
                                             const ForeignValue& object,
                                             std::string_view member);

// A member that counts `per_second` units from 1970, number or text, in
// microseconds. Absent if it is not there, or no moment from 1900 to 2200: the
// time of a change is told, not relied upon.
std::optional<int64_t> TimeOf(const ForeignValue& object,
                              std::string_view member, int64_t per_second);

// `row` with the members of `changed` in place of its own.
ForeignValue Overlay(const ForeignValue& row, const ForeignValue& changed);

}  // namespace dovetail::changes

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/time_text.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/strings.h"

namespace dovetail::cli {

using google::protobuf::FieldDescriptor;

TimeUnit UnitOf(const FieldDescriptor* field, TimeUnit unit) {
  if (unit != TimeUnit::kByName) return unit;
  const std::string& name = field->name();
  if (absl::EndsWith(name, "_us")) return TimeUnit::kMicros;
  if (absl::EndsWith(name, "_s")) return TimeUnit::kSeconds;
  return TimeUnit::kMillis;
}

int64_t CountOf(absl::Time time, TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSeconds:
      return absl::ToUnixSeconds(time);
    case TimeUnit::kMicros:
      return absl::ToUnixMicros(time);
    default:
      return absl::ToUnixMillis(time);
  }
}

std::string Rfc3339(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", time, absl::UTCTimeZone());
}

absl::StatusOr<absl::Time> ParseTimeText(
    std::string_view text, const std::vector<std::string>& formats) {
  static const auto* const kIso =
      new std::vector<std::string>{"%Y-%m-%dT%H:%M:%E*S%Ez",
                                   "%Y-%m-%d %H:%M:%E*S%Ez",
                                   "%Y-%m-%dT%H:%M:%E*S",
                                   "%Y-%m-%d %H:%M:%E*S",
                                   "%Y-%m-%dT%H:%M",
                                   "%Y-%m-%d %H:%M",
                                   "%Y-%m-%d"};
  for (const std::string& format : formats.empty() ? *kIso : formats) {
    absl::Time time;
    std::string error;
    if (absl::ParseTime(format, ToAbsl(text), absl::UTCTimeZone(), &time,
                        &error) &&
        time != absl::InfiniteFuture() && time != absl::InfinitePast()) {
      return time;
    }
  }
  if (!formats.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a time of the format: value=", ToAbsl(Quote(text)),
                     " format=\"", absl::StrJoin(formats, "|"), "\""));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "not a time: value=", ToAbsl(Quote(text)),
      " formats=\"2006-01-02T15:04:05Z 2006-01-02 15:04:05 2006-01-02\"; "
      "give others with :time(%m-%d-%y)"));
}

std::string TimeArgument(const FieldPath& field, std::string_view text) {
  int64_t number = 0;
  const bool takes_time = field.is_timestamp() || field.is_integer();
  if (!takes_time || absl::SimpleAtoi(ToAbsl(text), &number)) {
    return std::string(text);
  }
  const absl::StatusOr<absl::Time> time = ParseTimeText(text, {});
  if (!time.ok()) return std::string(text);
  if (field.is_timestamp()) return Rfc3339(*time);
  return absl::StrCat(CountOf(*time, UnitOf(field.leaf(), TimeUnit::kByName)));
}

}  // namespace dovetail::cli

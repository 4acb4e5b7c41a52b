// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/changes/moment.h"

#include <limits>
#include <string>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/changes/decimal.h"

namespace dovetail::changes {
namespace {

using Time = v1::FieldMapping::Time;
using Kind = ForeignValue::Kind;
using Unit = ForeignValue::Unit;

constexpr int kYearMin = 1900;
constexpr int kYearMax = 2199;
constexpr int64_t kDaysMax = 100'000'000;

Time::Unit UnitOf(Unit unit) {
  switch (unit) {
    case Unit::kDays:
      return Time::DAYS;
    case Unit::kMillis:
      return Time::MILLISECONDS;
    case Unit::kMicros:
      return Time::MICROSECONDS;
    case Unit::kNanos:
      return Time::NANOSECONDS;
    case Unit::kUnknown:
      break;
  }
  return Time::UNIT_UNSPECIFIED;
}

absl::StatusOr<absl::Time> FromNumber(const ForeignValue& value,
                                      const Time& time) {
  const Time::Unit told = UnitOf(value.unit);
  const Time::Unit unit =
      time.unit() == Time::UNIT_UNSPECIFIED ? told : time.unit();
  if (told != Time::UNIT_UNSPECIFIED && told != unit) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the stream and the mapping give the number different units: stream=",
        Time::Unit_Name(told), " mapping=", Time::Unit_Name(unit)));
  }
  ASSIGN_OR_RETURN(int64_t count, ScaledInt64(value.text, 0));
  if (time.taken_from() != 0) {
    const absl::int128 left = absl::int128(time.taken_from()) - count;
    if (left > std::numeric_limits<int64_t>::max() ||
        left < std::numeric_limits<int64_t>::min()) {
      return absl::InvalidArgumentError(
          absl::StrCat("out of range: number=", count));
    }
    count = static_cast<int64_t>(left);
  }
  switch (unit) {
    case Time::DAYS:
      if (count > kDaysMax || count < -kDaysMax) {
        return absl::InvalidArgumentError(
            absl::StrCat("out of range: days=", count));
      }
      return absl::FromUnixSeconds(count * 86'400);
    case Time::SECONDS:
      return absl::FromUnixSeconds(count);
    case Time::MILLISECONDS:
      return absl::FromUnixMillis(count);
    case Time::MICROSECONDS:
      return absl::FromUnixMicros(count);
    case Time::NANOSECONDS:
      return absl::FromUnixNanos(count);
    default:
      return absl::InvalidArgumentError(absl::StrCat(
          "a number that nobody gives a unit; say time { unit: ... }: number=",
          count));
  }
}

absl::StatusOr<absl::Time> FromText(std::string_view text, const Time& time,
                                    const absl::TimeZone& zone) {
  static constexpr const char* kIso[] = {
      "%Y-%m-%dT%H:%M:%E*S%Ez",
      "%Y-%m-%d %H:%M:%E*S%Ez",
      "%Y-%m-%dT%H:%M:%E*S",
      "%Y-%m-%d %H:%M:%E*S",
      "%Y-%m-%d",
  };
  absl::Time moment;
  std::string error;
  const auto parses = [&](absl::string_view format) {
    return absl::ParseTime(format, ToAbsl(text), zone, &moment, &error) &&
           moment != absl::InfiniteFuture() && moment != absl::InfinitePast();
  };
  for (const std::string& format : time.formats()) {
    if (parses(format)) return moment;
  }
  if (time.formats().empty()) {
    for (const char* format : kIso) {
      if (parses(format)) return moment;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("not a time: value=", ToAbsl(Quote(text))));
}

bool IsDigits(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

absl::StatusOr<absl::Time> MomentOf(const ForeignValue& value, const Time& time,
                                    const absl::TimeZone& zone) {
  const bool number =
      value.kind == Kind::kNumber ||
      (time.unit() != Time::UNIT_UNSPECIFIED && IsDigits(value.text));
  ASSIGN_OR_RETURN(
      const absl::Time moment,
      number ? FromNumber(value, time) : FromText(value.text, time, zone));
  const int first = time.year_min() == 0 ? kYearMin : time.year_min();
  const int last = time.year_max() == 0 ? kYearMax : time.year_max();
  const absl::TimeZone utc = absl::UTCTimeZone();
  if (moment < absl::FromCivil(absl::CivilYear(first), utc) ||
      moment >= absl::FromCivil(absl::CivilYear(last + 1), utc)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a moment outside the years that the mapping allows: value=",
        ToAbsl(Quote(value.text)), " year_min=", first, " year_max=", last));
  }
  return moment;
}

int64_t CountOf(absl::Time moment, const Time& time, std::string_view field) {
  Time::Unit unit = time.field_unit();
  if (unit == Time::UNIT_UNSPECIFIED) {
    unit = field.ends_with("_ns")   ? Time::NANOSECONDS
           : field.ends_with("_us") ? Time::MICROSECONDS
           : field.ends_with("_s")  ? Time::SECONDS
                                    : Time::MILLISECONDS;
  }
  switch (unit) {
    case Time::DAYS:
      return absl::ToInt64Hours(
                 absl::Floor(moment - absl::UnixEpoch(), absl::Hours(24))) /
             24;
    case Time::SECONDS:
      return absl::ToUnixSeconds(moment);
    case Time::MICROSECONDS:
      return absl::ToUnixMicros(moment);
    case Time::NANOSECONDS:
      return absl::ToUnixNanos(moment);
    default:
      return absl::ToUnixMillis(moment);
  }
}

}  // namespace dovetail::changes

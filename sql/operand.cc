// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "sql/operand.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "google/protobuf/descriptor.h"

namespace dovetail::sql {
namespace {

// 2^63 and 2^64, which doubles hold exactly.
constexpr double kTwo63 = 9223372036854775808.0;
constexpr double kTwo64 = 18446744073709551616.0;

bool IsLower(Comparison comparison) {
  return comparison == Comparison::kAbove || comparison == Comparison::kAtLeast;
}
bool IsStrict(Comparison comparison) {
  return comparison == Comparison::kAbove || comparison == Comparison::kBelow;
}

// Of a comparison with what is above (below) every value of the column.
Operand WithAbove(Comparison comparison) {
  return comparison == Comparison::kBelow || comparison == Comparison::kAtMost
             ? Operand::Anything()
             : Operand::Nothing();
}
Operand WithBelow(Comparison comparison) {
  return IsLower(comparison) ? Operand::Anything() : Operand::Nothing();
}

std::string_view TextOf(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  const int bytes = sqlite3_value_bytes(value);
  return {text == nullptr ? "" : text, static_cast<size_t>(bytes)};
}

std::string_view BlobOf(sqlite3_value* value) {
  const auto* blob = static_cast<const char*>(sqlite3_value_blob(value));
  const int bytes = sqlite3_value_bytes(value);
  return {blob == nullptr ? "" : blob, static_cast<size_t>(bytes)};
}

// The values of an integer column.
struct Span {
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
};

Span SpanOf(Column::Kind kind) {
  switch (kind) {
    case Column::Kind::kBool:
      return {0, 1};
    case Column::Kind::kInt32:
      return {std::numeric_limits<int32_t>::min(),
              std::numeric_limits<int32_t>::max()};
    case Column::Kind::kUint32:
      return {0, std::numeric_limits<uint32_t>::max()};
    case Column::Kind::kUint64:
      return {0, std::numeric_limits<int64_t>::max()};
    default:
      return {};
  }
}

Operand BoundOf(Column::Kind kind, int64_t number, bool inclusive) {
  if (kind == Column::Kind::kBool)
    return Operand::Bound(number != 0, inclusive);
  return Operand::Bound(number, inclusive);
}

Operand IntegerWith(Column::Kind kind, Comparison comparison, int64_t number) {
  const Span span = SpanOf(kind);
  if (number < span.min) return WithBelow(comparison);
  if (number > span.max) return WithAbove(comparison);
  return BoundOf(kind, number, !IsStrict(comparison));
}

// Numbers above 2^63 - 1 show as a REAL, many as the same one.
Operand LargeWith(Comparison comparison, double number) {
  if (number > kTwo64) return WithAbove(comparison);
  if (comparison == Comparison::kEqual) return Operand::Anything();
  // Half a step of the REALs there is 1024.
  constexpr uint64_t kStep = 4096;
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  const uint64_t near = number >= kTwo64 ? kMax : static_cast<uint64_t>(number);
  if (IsLower(comparison)) return Operand::Bound(near - kStep);
  return Operand::Bound(near > kMax - kStep ? kMax : near + kStep);
}

Operand IntegerWith(Column::Kind kind, Comparison comparison, double number) {
  const double floor = std::floor(number);
  if (number < -kTwo63) return WithBelow(comparison);
  if (number >= kTwo63) {
    return kind == Column::Kind::kUint64 ? LargeWith(comparison, number)
                                         : WithAbove(comparison);
  }
  const auto below = static_cast<int64_t>(floor);
  if (floor == number) return IntegerWith(kind, comparison, below);
  // Between two integers.
  if (comparison == Comparison::kEqual) return Operand::Nothing();
  return IntegerWith(
      kind, IsLower(comparison) ? Comparison::kAbove : Comparison::kAtMost,
      below);
}

Operand RealWith(Column::Kind kind, Comparison comparison, double number,
                 bool exact) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (comparison == Comparison::kEqual) {
    if (!exact) return Operand::Nothing();
    if (kind == Column::Kind::kFloat &&
        static_cast<double>(static_cast<float>(number)) != number) {
      return Operand::Nothing();
    }
    return Operand::Bound(number);
  }
  // To the next value outwards: the given one may be rounded already.
  double outwards =
      std::nextafter(number, IsLower(comparison) ? -kInfinity : kInfinity);
  if (kind == Column::Kind::kFloat) {
    outwards = std::nextafter(static_cast<float>(outwards),
                              IsLower(comparison)
                                  ? -std::numeric_limits<float>::infinity()
                                  : std::numeric_limits<float>::infinity());
  }
  return Operand::Bound(outwards);
}

Operand NumberWith(const Column& column, Comparison comparison,
                   sqlite3_value* value) {
  // As SQLite does for the other side of a numeric column. In a copy, since
  // the value may stand in several comparisons, of texts too.
  const std::unique_ptr<sqlite3_value, void (*)(sqlite3_value*)> copy(
      sqlite3_value_dup(value), sqlite3_value_free);
  if (copy == nullptr) return Operand::Anything();
  switch (sqlite3_value_numeric_type(copy.get())) {
    case SQLITE_INTEGER: {
      const int64_t number = sqlite3_value_int64(copy.get());
      if (!column.is_real())
        return IntegerWith(column.kind, comparison, number);
      const auto real = static_cast<double>(number);
      const bool exact = real < kTwo63 && static_cast<int64_t>(real) == number;
      return RealWith(column.kind, comparison, real, exact);
    }
    case SQLITE_FLOAT: {
      const double number = sqlite3_value_double(copy.get());
      return column.is_real() ? RealWith(column.kind, comparison, number, true)
                              : IntegerWith(column.kind, comparison, number);
    }
    default:
      return WithAbove(comparison);  // Texts and blobs are above all numbers.
  }
}

// Up to the first of the characters that stand between upper and lower case.
std::string UpperFloor(std::string_view text) {
  const size_t end = std::min(text.size(), text.find_first_of("[\\]^_`"));
  return absl::AsciiStrToUpper(ToAbsl(text.substr(0, end)));
}

// The other side may have a numeric affinity, and texts that are numbers are
// then below all others. Those begin with a digit, a sign or a blank.
Operand TextUpper(std::string_view text, bool inclusive, bool literal) {
  constexpr char kBehindDigits = ':';
  if (literal || (!text.empty() && text[0] > '9')) {
    return Operand::Bound(text, inclusive);
  }
  return Operand::Bound(std::string(1, kBehindDigits), false);
}

Operand TextWith(Comparison comparison, Collation collation, bool literal,
                 sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_TEXT:
      break;
    case SQLITE_BLOB:
      return WithAbove(comparison);
    default:
      // As a number or as a text? That is for the other side to say.
      return Operand::Anything();
  }
  const std::string_view text = TextOf(value);
  if (comparison == Comparison::kEqual) {
    return collation == Collation::kBinary ? Operand::Bound(text)
                                           : Operand::Anything();
  }
  const bool inclusive = !IsStrict(comparison);
  if (IsLower(comparison)) {
    if (collation == Collation::kNoCase)
      return Operand::Bound(UpperFloor(text));
    return Operand::Bound(text, inclusive);
  }
  if (collation == Collation::kNoCase) {
    return TextUpper(absl::AsciiStrToLower(ToAbsl(text)), inclusive, literal);
  }
  return TextUpper(text, inclusive, literal);
}

Operand EnumWith(const Column& column, Comparison comparison,
                 sqlite3_value* value) {
  if (comparison != Comparison::kEqual) return Operand::Anything();
  int32_t number = 0;
  switch (sqlite3_value_type(value)) {
    case SQLITE_TEXT: {
      const std::string text(TextOf(value));
      const auto& type = *column.fields.back()->enum_type();
      const auto* known = type.FindValueByName(text);
      if (known != nullptr) return Operand::Bound(known->number());
      return absl::SimpleAtoi(text, &number) ? Operand::Bound(number)
                                             : Operand::Nothing();
    }
    case SQLITE_INTEGER:
    case SQLITE_FLOAT: {
      // Only the text of a number without a name can equal one.
      const double real = sqlite3_value_double(value);
      if (real < std::numeric_limits<int32_t>::min() ||
          real > std::numeric_limits<int32_t>::max() ||
          real != std::floor(real)) {
        return Operand::Nothing();
      }
      return Operand::Bound(static_cast<int32_t>(real));
    }
    default:
      return Operand::Nothing();
  }
}

Operand BytesWith(Comparison comparison, sqlite3_value* value) {
  if (sqlite3_value_type(value) != SQLITE_BLOB) return WithBelow(comparison);
  return Operand::Bound(BlobOf(value), !IsStrict(comparison));
}

Operand TimeWith(Comparison comparison, Collation collation,
                 sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_TEXT:
      break;
    case SQLITE_BLOB:
      return WithAbove(comparison);
    default:
      return Operand::Anything();
  }
  if (collation != Collation::kBinary) return Operand::Anything();
  TimestampValue time;
  bool exact = false;
  const std::string_view text = TextOf(value);
  if (!ParseTimestampText(text, &time, &exact)) {
    const bool no_time = text.empty() || text[0] != '{';
    return comparison == Comparison::kEqual && no_time ? Operand::Nothing()
                                                       : Operand::Anything();
  }
  if (exact) return Operand::Bound(time, !IsStrict(comparison));
  // A text in front of all texts of that time and later ones.
  if (comparison == Comparison::kEqual) return Operand::Nothing();
  return Operand::Bound(time, IsLower(comparison));
}

}  // namespace

Operand OperandOf(const Column& column, Comparison comparison,
                  Collation collation, bool literal, sqlite3_value* value) {
  if (sqlite3_value_type(value) == SQLITE_NULL) return Operand::Nothing();
  switch (column.kind) {
    case Column::Kind::kBool:
    case Column::Kind::kInt32:
    case Column::Kind::kInt64:
    case Column::Kind::kUint32:
    case Column::Kind::kUint64:
    case Column::Kind::kFloat:
    case Column::Kind::kDouble:
      return NumberWith(column, comparison, value);
    case Column::Kind::kEnum:
      return collation == Collation::kBinary
                 ? EnumWith(column, comparison, value)
                 : Operand::Anything();
    case Column::Kind::kString:
      return TextWith(comparison, collation, literal, value);
    case Column::Kind::kBytes:
      return BytesWith(comparison, value);
    case Column::Kind::kTimestamp:
      return TimeWith(comparison, collation, value);
    default:
      return Operand::Anything();
  }
}

bool MayBeUnbounded(const Column& column) {
  switch (column.kind) {
    case Column::Kind::kString:
    case Column::Kind::kUint64:
    case Column::Kind::kTimestamp:
      return true;
    default:
      return false;
  }
}

}  // namespace dovetail::sql

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/row_predicate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/limits.h"
#include "index/field_path.h"
#include "index/key_body.h"

namespace dovetail {
namespace {

using google::protobuf::FieldDescriptor;
using Literal = v1::IndexSchema::Literal;

template <typename T>
int Compare(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

int CompareFloats(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) {
    return Compare(std::isnan(a), std::isnan(b));
  }
  return Compare(a, b);
}

}  // namespace

int CompareAsKeys(const FieldValue& a, const FieldValue& b, FieldType type) {
  switch (type) {
    case FieldType::kString:
    case FieldType::kBytes:
      return Compare(a.text.compare(b.text), 0);
    case FieldType::kFloat:
      return CompareFloats(std::bit_cast<float>(static_cast<uint32_t>(a.bits)),
                           std::bit_cast<float>(static_cast<uint32_t>(b.bits)));
    case FieldType::kDouble:
      return CompareFloats(std::bit_cast<double>(a.bits),
                           std::bit_cast<double>(b.bits));
    case FieldType::kBool:
    case FieldType::kUint32:
    case FieldType::kUint64:
      return Compare(a.bits, b.bits);
    case FieldType::kTimestamp:
      if (a.bits == b.bits) return Compare(a.nanos, b.nanos);
      break;
    default:
      break;
  }
  return Compare(static_cast<int64_t>(a.bits), static_cast<int64_t>(b.bits));
}

// Of one index's predicate.
class PredicateCompiler {
 public:
  PredicateCompiler(const google::protobuf::Descriptor& record,
                    std::span<const FieldInfo> fields, RowPredicate* out)
      : record_(record), fields_(fields), out_(*out) {}

  absl::Status Add(const v1::IndexSchema::Test& proto) {
    const auto info = std::find_if(
        fields_.begin(), fields_.end(),
        [&](const FieldInfo& field) { return field.path == proto.field(); });
    if (info == fields_.end()) {
      return absl::InvalidArgumentError("the record has no such field");
    }
    RowPredicate::Test test;
    test.field = static_cast<int>(info - fields_.begin());
    test.type = info->type;
    switch (proto.kind_case()) {
      case v1::IndexSchema::Test::kEqual: {
        ASSIGN_OR_RETURN(const FieldValue value, Read(proto.equal(), *info));
        test.any_of.emplace(1, value);
        break;
      }
      case v1::IndexSchema::Test::kIn:
        RETURN_IF_ERROR(AddValues(proto.in(), *info, &test));
        break;
      case v1::IndexSchema::Test::kRange:
        RETURN_IF_ERROR(AddBounds(proto.range(), *info, &test));
        break;
      case v1::IndexSchema::Test::kPrefix: {
        if (!IsText(info->type)) {
          return absl::InvalidArgumentError(
              absl::StrCat("only strings and bytes have a prefix: type=",
                           ToAbsl(FieldTypeName(info->type))));
        }
        ASSIGN_OR_RETURN(test.prefix, Keep(proto.prefix()));
        break;
      }
      case v1::IndexSchema::Test::kIsNull:
        if (!info->nullable) {
          return absl::InvalidArgumentError("the field is never null");
        }
        test.null = proto.is_null();
        break;
      case v1::IndexSchema::Test::KIND_NOT_SET:
        return absl::InvalidArgumentError("the test is of no kind");
    }
    out_.tests_.push_back(std::move(test));
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<std::string_view> Keep(const std::string& text) {
    bytes_ += text.size();
    if (bytes_ > kIndexTestBytesMax) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the predicate's texts are too long: max=", kIndexTestBytesMax));
    }
    out_.texts_.push_back(std::make_unique<const std::string>(text));
    return std::string_view(*out_.texts_.back());
  }

  absl::StatusOr<FieldValue> Read(const Literal& literal,
                                  const FieldInfo& info) {
    if (++values_ > kIndexTestValuesMax) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the predicate has too many values: max=", kIndexTestValuesMax));
    }
    switch (literal.value_case()) {
      case Literal::kBoolValue:
        return ToFieldValue(Value(literal.bool_value()), info.type);
      case Literal::kIntValue:
        return ToFieldValue(Value(literal.int_value()), info.type);
      case Literal::kUintValue:
        return ToFieldValue(Value(literal.uint_value()), info.type);
      case Literal::kDoubleValue:
        return ToFieldValue(Value(literal.double_value()), info.type);
      case Literal::kStringValue:
        if (info.type == FieldType::kEnum) {
          return EnumValue(literal.string_value(), info);
        }
        return TextValue(literal.string_value(), info);
      case Literal::kTimestampValue:
        return ToFieldValue(
            Value(TimestampValue{literal.timestamp_value().seconds(),
                                 literal.timestamp_value().nanos()}),
            info.type);
      case Literal::VALUE_NOT_SET:
        break;
    }
    return absl::InvalidArgumentError("a value is missing");
  }

  absl::StatusOr<FieldValue> TextValue(const std::string& text,
                                       const FieldInfo& info) {
    // For its checks; the view has to be of what is kept.
    RETURN_IF_ERROR(ToFieldValue(Value(text), info.type).status());
    FieldValue value;
    value.is_null = false;
    ASSIGN_OR_RETURN(value.text, Keep(text));
    return value;
  }

  absl::StatusOr<FieldValue> EnumValue(const std::string& name,
                                       const FieldInfo& info) const {
    ASSIGN_OR_RETURN(const std::vector<const FieldDescriptor*> path,
                     ResolvePath(record_, info.path));
    const auto* value = path.back()->enum_type()->FindValueByName(name);
    if (value != nullptr) {
      return ToFieldValue(Value(value->number()), FieldType::kEnum);
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "the enum has no such value: enum=",
        path.back()->enum_type()->full_name(), " value=", Quote(name)));
  }

  absl::Status AddValues(const v1::IndexSchema::Test::Values& in,
                         const FieldInfo& info, RowPredicate::Test* test) {
    if (in.values().empty()) {
      return absl::InvalidArgumentError("no value is in an empty list");
    }
    std::vector<FieldValue>& values = test->any_of.emplace();
    for (const Literal& literal : in.values()) {
      ASSIGN_OR_RETURN(const FieldValue value, Read(literal, info));
      values.push_back(value);
    }
    const auto compare = [&](const FieldValue& a, const FieldValue& b) {
      return CompareAsKeys(a, b, info.type);
    };
    std::sort(values.begin(), values.end(),
              [&](const auto& a, const auto& b) { return compare(a, b) < 0; });
    values.erase(std::unique(values.begin(), values.end(),
                             [&](const auto& a, const auto& b) {
                               return compare(a, b) == 0;
                             }),
                 values.end());
    return absl::OkStatus();
  }

  absl::Status AddBounds(const v1::IndexSchema::Test::Range& range,
                         const FieldInfo& info, RowPredicate::Test* test) {
    if (!range.has_min() && !range.has_max()) {
      return absl::InvalidArgumentError("the range has no bound");
    }
    if (range.has_min()) {
      ASSIGN_OR_RETURN(const FieldValue min, Read(range.min(), info));
      test->min = {min, !range.min_exclusive()};
    }
    if (range.has_max()) {
      ASSIGN_OR_RETURN(const FieldValue max, Read(range.max(), info));
      test->max = {max, !range.max_exclusive()};
    }
    if (!test->min.has_value() || !test->max.has_value())
      return absl::OkStatus();
    const int order =
        CompareAsKeys(test->min->value, test->max->value, info.type);
    const bool both = test->min->inclusive && test->max->inclusive;
    if (order < 0 || (order == 0 && both)) return absl::OkStatus();
    return absl::InvalidArgumentError("no value is in an empty range");
  }

  const google::protobuf::Descriptor& record_;
  const std::span<const FieldInfo> fields_;
  RowPredicate& out_;
  size_t values_ = 0;
  size_t bytes_ = 0;
};

namespace {

bool Allows(const RowPredicate::Test& test, const FieldValue& value) {
  if (test.null || value.is_null) return test.null && value.is_null;
  const auto compare = [&](const FieldValue& other) {
    return CompareAsKeys(value, other, test.type);
  };
  if (test.any_of.has_value()) {
    return std::any_of(
        test.any_of->begin(), test.any_of->end(),
        [&](const FieldValue& other) { return compare(other) == 0; });
  }
  if (test.min.has_value()) {
    const int order = compare(test.min->value);
    if (order < 0 || (order == 0 && !test.min->inclusive)) return false;
  }
  if (test.max.has_value()) {
    const int order = compare(test.max->value);
    if (order > 0 || (order == 0 && !test.max->inclusive)) return false;
  }
  return test.prefix.empty() || value.text.starts_with(test.prefix);
}

}  // namespace

absl::StatusOr<RowPredicate> RowPredicate::Compile(
    const google::protobuf::RepeatedPtrField<v1::IndexSchema::Test>& tests,
    const google::protobuf::Descriptor& record,
    std::span<const FieldInfo> fields) {
  RowPredicate predicate;
  if (static_cast<size_t>(tests.size()) > kIndexTestsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("the predicate has too many tests: tests=", tests.size(),
                     " max=", kIndexTestsMax));
  }
  PredicateCompiler compiler(record, fields, &predicate);
  for (int i = 0; i < tests.size(); ++i) {
    const absl::Status status = compiler.Add(tests[i]);
    if (status.ok()) continue;
    return absl::Status(
        status.code(),
        absl::StrCat("predicate, test ", i + 1, ": ", status.message(),
                     " field=", Quote(tests[i].field())));
  }
  return predicate;
}

bool RowPredicate::Holds(std::span<const FieldValue> fields) const {
  return std::all_of(tests_.begin(), tests_.end(), [&](const Test& test) {
    return Allows(test, fields[static_cast<size_t>(test.field)]);
  });
}

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// From values of fields to values of SQL.

#include <cmath>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "base/strings.h"
#include "google/protobuf/util/field_mask_util.h"
#include "google/protobuf/util/json_util.h"
#include "sql/columns.h"

namespace dovetail::sql {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// The years 1 to 9999, all that google.protobuf.Timestamp covers and that have
// a text of this form.
constexpr int64_t kSecondsMin = -62'135'596'800;
constexpr int64_t kSecondsMax = 253'402'300'799;
constexpr std::string_view kEarliest = "0001-01-01T00:00:00.000000000Z";

void SetReal(double value, sqlite3_context* context) {
  // SQLite's own tables keep no negative zero either. It makes NaN NULL.
  sqlite3_result_double(context, value == 0 ? 0 : value);
}

void SetEnum(const google::protobuf::EnumDescriptor& type, int number,
             sqlite3_context* context) {
  const auto* value = type.FindValueByNumber(number);
  SetText(value == nullptr ? absl::StrCat(number) : value->name(), context);
}

google::protobuf::util::JsonPrintOptions JsonOptions() {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  return options;
}

absl::Status SetJson(const Message& message, const FieldDescriptor& field,
                     sqlite3_context* context) {
  const Reflection& reflection = *message.GetReflection();
  std::string json;
  google::protobuf::util::Status status;
  if (!field.is_repeated()) {
    status = google::protobuf::util::MessageToJsonString(
        reflection.GetMessage(message, &field), &json, JsonOptions());
  } else if (reflection.FieldSize(message, &field) == 0) {
    json = field.is_map() ? "{}" : "[]";
  } else {
    // A message of this field alone is {"name":JSON}.
    const std::unique_ptr<Message> alone(message.New());
    google::protobuf::FieldMask mask;
    mask.add_paths(field.name());
    google::protobuf::util::FieldMaskUtil::MergeMessageTo(
        message, mask, google::protobuf::util::FieldMaskUtil::MergeOptions(),
        alone.get());
    status = google::protobuf::util::MessageToJsonString(*alone, &json,
                                                         JsonOptions());
    if (status.ok()) {
      json = json.substr(json.find(':') + 1);
      json.pop_back();
    }
  }
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("field has no JSON form: field=", field.full_name(), ": ",
                     std::string(status.message())));
  }
  SetText(json, context);
  return absl::OkStatus();
}

void SetTimestamp(const Message& time, sqlite3_context* context) {
  const auto& type = *time.GetDescriptor();
  const Reflection& reflection = *time.GetReflection();
  SetText(TimestampText(reflection.GetInt64(time, type.FindFieldByNumber(1)),
                        reflection.GetInt32(time, type.FindFieldByNumber(2))),
          context);
}

}  // namespace

void SetText(std::string_view text, sqlite3_context* context) {
  sqlite3_result_text64(context, text.data() == nullptr ? "" : text.data(),
                        text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void SetBlob(std::string_view bytes, sqlite3_context* context) {
  // A null pointer would be NULL.
  sqlite3_result_blob64(context, bytes.empty() ? "" : bytes.data(),
                        bytes.size(), SQLITE_TRANSIENT);
}

void SetResult(uint64_t number, sqlite3_context* context) {
  if (number <= static_cast<uint64_t>(INT64_MAX)) {
    sqlite3_result_int64(context, static_cast<int64_t>(number));
  } else {
    sqlite3_result_double(context, static_cast<double>(number));
  }
}

void SetResult(absl::int128 sum, sqlite3_context* context) {
  if (sum >= INT64_MIN && sum <= INT64_MAX) {
    sqlite3_result_int64(context, static_cast<int64_t>(sum));
  } else {
    sqlite3_result_double(context, static_cast<double>(sum));
  }
}

absl::Status SetResult(const Column& column, const Message& record,
                       sqlite3_context* context) {
  const Message* message = &record;
  for (size_t i = 0; i + 1 < column.fields.size(); ++i) {
    const Reflection& reflection = *message->GetReflection();
    if (!reflection.HasField(*message, column.fields[i])) {
      sqlite3_result_null(context);
      return absl::OkStatus();
    }
    message = &reflection.GetMessage(*message, column.fields[i]);
  }
  const FieldDescriptor* field = column.fields.back();
  const Reflection& reflection = *message->GetReflection();
  if (!field->is_repeated() && field->has_presence() &&
      !reflection.HasField(*message, field)) {
    sqlite3_result_null(context);
    return absl::OkStatus();
  }
  switch (column.kind) {
    case Column::Kind::kBool:
      sqlite3_result_int(context, reflection.GetBool(*message, field) ? 1 : 0);
      break;
    case Column::Kind::kInt32:
      sqlite3_result_int(context, reflection.GetInt32(*message, field));
      break;
    case Column::Kind::kInt64:
      sqlite3_result_int64(context, reflection.GetInt64(*message, field));
      break;
    case Column::Kind::kUint32:
      sqlite3_result_int64(context, reflection.GetUInt32(*message, field));
      break;
    case Column::Kind::kUint64:
      SetResult(uint64_t{reflection.GetUInt64(*message, field)}, context);
      break;
    case Column::Kind::kFloat:
      SetReal(reflection.GetFloat(*message, field), context);
      break;
    case Column::Kind::kDouble:
      SetReal(reflection.GetDouble(*message, field), context);
      break;
    case Column::Kind::kEnum:
      SetEnum(*field->enum_type(), reflection.GetEnumValue(*message, field),
              context);
      break;
    case Column::Kind::kString: {
      std::string scratch;
      SetText(reflection.GetStringReference(*message, field, &scratch),
              context);
      break;
    }
    case Column::Kind::kBytes: {
      std::string scratch;
      SetBlob(reflection.GetStringReference(*message, field, &scratch),
              context);
      break;
    }
    case Column::Kind::kTimestamp:
      SetTimestamp(reflection.GetMessage(*message, field), context);
      break;
    case Column::Kind::kJson:
      return SetJson(*message, *field, context);
    default:
      sqlite3_result_null(context);
  }
  return absl::OkStatus();
}

void SetResult(const Column& column, const Value& value,
               sqlite3_context* context) {
  const bool is_enum = column.kind == Column::Kind::kEnum;
  switch (value.kind()) {
    case Value::Kind::kNull:
      sqlite3_result_null(context);
      return;
    case Value::Kind::kBool:
      sqlite3_result_int(context, value.as_bool() ? 1 : 0);
      return;
    case Value::Kind::kInt:
      if (is_enum) {
        SetEnum(*column.fields.back()->enum_type(),
                static_cast<int>(value.as_int()), context);
      } else {
        sqlite3_result_int64(context, value.as_int());
      }
      return;
    case Value::Kind::kUint:
      SetResult(value.as_uint(), context);
      return;
    case Value::Kind::kDouble:
      SetReal(value.as_double(), context);
      return;
    case Value::Kind::kString:
      if (column.kind == Column::Kind::kBytes) {
        SetBlob(value.as_string(), context);
      } else {
        SetText(value.as_string(), context);
      }
      return;
    case Value::Kind::kTimestamp:
      SetText(TimestampText(value.as_timestamp().seconds,
                            value.as_timestamp().nanos),
              context);
      return;
  }
}

std::string TimestampText(int64_t seconds, int32_t nanos) {
  if (seconds < kSecondsMin || seconds > kSecondsMax || nanos < 0 ||
      nanos > 999'999'999) {
    return absl::StrCat("{\"seconds\":", seconds, ",\"nanos\":", nanos, "}");
  }
  const absl::CivilSecond at = absl::CivilSecond(1970, 1, 1, 0, 0, 0) + seconds;
  return absl::StrFormat("%04d-%02d-%02dT%02d:%02d:%02d.%09dZ", at.year(),
                         at.month(), at.day(), at.hour(), at.minute(),
                         at.second(), nanos);
}

bool ParseTimestampText(std::string_view text, TimestampValue* time,
                        bool* exact) {
  // Behind a part of a year, a month or a day the least digit that can follow
  // depends on what is there.
  const size_t size = text.size();
  if (size < 4 || size == 6 || size == 9 || size > kEarliest.size()) {
    return false;
  }
  *exact = text.size() == kEarliest.size();
  std::string whole(text);
  whole += kEarliest.substr(text.size());
  absl::Time at;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, whole, &at, &error)) return false;
  time->seconds = absl::ToUnixSeconds(at);
  time->nanos = static_cast<int32_t>(
      absl::ToInt64Nanoseconds(at - absl::FromUnixSeconds(time->seconds)));
  // What is no text of a time, such as a 31st of June, is one in other words.
  return TimestampText(time->seconds, time->nanos) == whole;
}

}  // namespace dovetail::sql

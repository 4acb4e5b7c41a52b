// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/dynamic_table.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/table.h"
#include "google/protobuf/dynamic_message.h"
#include "google/protobuf/util/json_util.h"
#include "index/compiled_table.h"

namespace dovetail {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

absl::Status NotOfType(std::string_view column, std::string_view type,
                       std::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("not a value of the column's type: column=", ToAbsl(column),
                   " type=", ToAbsl(type), " text=", Quote(text)));
}

const EnumDescriptor* EnumOf(const Descriptor& record, const FieldInfo& field) {
  const Descriptor* message = &record;
  const FieldDescriptor* leaf = nullptr;
  for (const int number : field.numbers) {
    leaf = message->FindFieldByNumber(number);
    message = leaf->message_type();
  }
  return leaf->enum_type();
}

absl::StatusOr<Value> ParseEnum(const EnumDescriptor& type,
                                std::string_view column,
                                std::string_view text) {
  const std::string upper = absl::AsciiStrToUpper(ToAbsl(text));
  for (int i = 0; i < type.value_count(); ++i) {
    if (absl::AsciiStrToUpper(type.value(i)->name()) == upper) {
      return Value(type.value(i)->number());
    }
  }
  int32_t number = 0;
  if (absl::SimpleAtoi(ToAbsl(text), &number)) return Value(number);
  return NotOfType(column, type.full_name(), text);
}

}  // namespace

struct DynamicTable::State {
  std::string name;
  std::unique_ptr<const CompiledTable> compiled;
  // Makes messages; keeps prototypes, so it must outlive them.
  std::unique_ptr<google::protobuf::DynamicMessageFactory> factory;
  const Message* prototype = nullptr;
};

DynamicTable::DynamicTable(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
DynamicTable::DynamicTable(DynamicTable&&) noexcept = default;
DynamicTable& DynamicTable::operator=(DynamicTable&&) noexcept = default;
DynamicTable::~DynamicTable() = default;

absl::StatusOr<DynamicTable> DynamicTable::Bind(Engine* engine,
                                                std::string_view name) {
  ASSIGN_OR_RETURN(const v1::Schema schema, engine->GetSchema());
  for (const v1::TableSchema& table : schema.tables()) {
    if (table.name() != name) continue;
    auto state = std::make_unique<State>();
    state->name = table.name();
    ASSIGN_OR_RETURN(state->compiled, CompiledTable::Compile(table));
    state->factory =
        std::make_unique<google::protobuf::DynamicMessageFactory>();
    state->prototype =
        state->factory->GetPrototype(&state->compiled->record_type());
    return DynamicTable(std::move(state));
  }
  return absl::NotFoundError(absl::StrCat(
      "no such table: table=", Quote(name), " tables=",
      absl::StrJoin(schema.tables(), ",",
                    [](std::string* out, const v1::TableSchema& t) {
                      out->append(t.name());
                    })));
}

const std::string& DynamicTable::name() const { return state_->name; }
const v1::TableSchema& DynamicTable::schema() const {
  return state_->compiled->schema();
}
const Descriptor* DynamicTable::record_type() const {
  return &state_->compiled->record_type();
}

std::unique_ptr<Message> DynamicTable::NewRecord() const {
  return std::unique_ptr<Message>(state_->prototype->New());
}

absl::StatusOr<std::unique_ptr<Message>> DynamicTable::Parse(
    const Row& row) const {
  std::unique_ptr<Message> record = NewRecord();
  if (!record->ParseFromString(row.record)) {
    return internal::RecordDoesNotParse(name(), row.key);
  }
  return record;
}

absl::StatusOr<std::string> DynamicTable::ToJson(const Row& row) const {
  ASSIGN_OR_RETURN(const std::unique_ptr<Message> record, Parse(row));
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(*record, &json, options);
  if (!status.ok()) {
    return absl::DataLossError(
        absl::StrCat("record has no JSON form: table=", name(), ": ",
                     std::string(status.message())));
  }
  return json;
}

absl::StatusOr<std::string> DynamicTable::FromJson(
    std::string_view json) const {
  const std::unique_ptr<Message> record = NewRecord();
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), record.get());
  if (!status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "not the JSON form of the record: record_type=",
        record_type()->full_name(), ": ", std::string(status.message())));
  }
  return record->SerializeAsString();
}

absl::StatusOr<std::vector<std::string>> DynamicTable::Columns(
    std::string_view index) const {
  const int at = state_->compiled->FindIndex(index);
  if (!index.empty() && at < 0) {
    return absl::NotFoundError(absl::StrCat(
        "no such index: table=", name(), " index=", Quote(index), " indexes=",
        absl::StrJoin(state_->compiled->indexes(), ",",
                      [](std::string* out, const IndexDefinition& i) {
                        out->append(i.name());
                      })));
  }
  const KeyLayout& layout = index.empty()
                                ? state_->compiled->row_key()
                                : state_->compiled->indexes()[at].layout();
  std::vector<std::string> columns;
  for (const Column& column : layout.columns()) columns.push_back(column.path);
  return columns;
}

absl::StatusOr<Value> DynamicTable::ParseValue(std::string_view column,
                                               std::string_view text) const {
  ASSIGN_OR_RETURN(const FieldInfo field, ResolveField(*record_type(), column));
  const auto bad = [&] {
    return NotOfType(column, FieldTypeName(field.type), text);
  };
  if (text == "\\N") return Value();
  switch (field.type) {
    case FieldType::kBool:
      if (text == "true" || text == "1") return Value(true);
      if (text == "false" || text == "0") return Value(false);
      return bad();
    case FieldType::kInt32:
    case FieldType::kInt64: {
      int64_t v = 0;
      if (!absl::SimpleAtoi(ToAbsl(text), &v)) return bad();
      return Value(v);
    }
    case FieldType::kUint32:
    case FieldType::kUint64: {
      uint64_t v = 0;
      if (!absl::SimpleAtoi(ToAbsl(text), &v)) return bad();
      return Value(v);
    }
    case FieldType::kFloat:
    case FieldType::kDouble: {
      double v = 0;
      if (!absl::SimpleAtod(ToAbsl(text), &v)) return bad();
      return Value(v);
    }
    case FieldType::kEnum:
      return ParseEnum(*EnumOf(*record_type(), field), column, text);
    case FieldType::kString:
    case FieldType::kBytes:
      return Value(text);
    case FieldType::kTimestamp: {
      absl::Time time;
      std::string error;
      if (!absl::ParseTime(absl::RFC3339_full, ToAbsl(text), &time, &error)) {
        return bad();
      }
      const int64_t seconds = absl::ToUnixSeconds(time);
      return Value(
          TimestampValue{seconds, static_cast<int32_t>(absl::ToInt64Nanoseconds(
                                      time - absl::FromUnixSeconds(seconds)))});
    }
  }
  return bad();
}

}  // namespace dovetail

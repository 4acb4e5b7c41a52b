// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The extractor's promise as a property of any bytes: what it accepts, and
// what it reads, is what the generated class accepts and holds.

#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/strings.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/timestamp.pb.h"
#include "index/extractor.h"

namespace dovetail::test {

inline const std::vector<std::string>& WireRecordPaths() {
  static const auto* const paths =
      new std::vector<std::string>{"flag",
                                   "i32",
                                   "i64",
                                   "u32",
                                   "u64",
                                   "s32",
                                   "s64",
                                   "f32",
                                   "f64",
                                   "sf32",
                                   "sf64",
                                   "real",
                                   "wide",
                                   "text",
                                   "blob",
                                   "color",
                                   "at",
                                   "at.nanos",
                                   "opt_i32",
                                   "opt_text",
                                   "opt_color",
                                   "opt_flag",
                                   "middle.name",
                                   "middle.leaf.text",
                                   "middle.leaf.number",
                                   "middle.leaf.at",
                                   "middle.count",
                                   "middle.other.text",
                                   "middle.label",
                                   "child.child.text",
                                   "child.at.seconds",
                                   "as_text",
                                   "as_number",
                                   "as_middle.name",
                                   "as_middle.leaf.number",
                                   "as_middle.other.at",
                                   "as_time",
                                   "as_color",
                                   "as_blob",
                                   "far_text",
                                   "farther",
                                   "text"};
  return *paths;
}

inline const std::vector<std::string>& LegacyRecordPaths() {
  static const auto* const paths =
      new std::vector<std::string>{"id",
                                   "level",
                                   "number",
                                   "text",
                                   "flag",
                                   "wide",
                                   "opt_level",
                                   "at",
                                   "part.text",
                                   "part.number",
                                   "part.inner.level",
                                   "loose.number",
                                   "loose.inner.text",
                                   "detail.note",
                                   "detail.count",
                                   "detail.loose.number",
                                   "as_text",
                                   "as_level",
                                   "as_part.number",
                                   "as_part.level",
                                   "pick.weight",
                                   "as_loose.text"};
  return *paths;
}

// Repeated fields of scalars, some of them where a oneof may clear them.
inline const std::vector<std::string>& WireRecordLists() {
  static const auto* const paths =
      new std::vector<std::string>{"packed_ints",
                                   "loose_ints",
                                   "packed_words",
                                   "packed_reals",
                                   "packed_flags",
                                   "packed_colors",
                                   "texts",
                                   "blobs",
                                   "middle.leaf.numbers",
                                   "middle.other.numbers",
                                   "as_middle.leaf.numbers",
                                   "as_middle.other.numbers"};
  return *paths;
}

inline const std::vector<std::string>& LegacyRecordLists() {
  static const auto* const paths =
      new std::vector<std::string>{"levels", "packed_levels", "loose.levels",
                                   "detail.loose.levels", "as_loose.levels"};
  return *paths;
}

// One element as the parsed message has it.
inline FieldValue ElementOf(const google::protobuf::Message& message,
                            const google::protobuf::FieldDescriptor& field,
                            int i, std::string* scratch) {
  using google::protobuf::FieldDescriptor;
  const auto* r = message.GetReflection();
  FieldValue value;
  value.is_null = false;
  const auto sign_extended = [](int64_t v) { return static_cast<uint64_t>(v); };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      value.bits = r->GetRepeatedBool(message, &field, i);
      break;
    case FieldDescriptor::CPPTYPE_INT32:
      value.bits = sign_extended(r->GetRepeatedInt32(message, &field, i));
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      value.bits = sign_extended(r->GetRepeatedInt64(message, &field, i));
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      value.bits = r->GetRepeatedUInt32(message, &field, i);
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      value.bits = sign_extended(r->GetRepeatedEnumValue(message, &field, i));
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      const double v = r->GetRepeatedDouble(message, &field, i);
      std::memcpy(&value.bits, &v, sizeof(v));
      break;
    }
    case FieldDescriptor::CPPTYPE_STRING:
      value.text = r->GetRepeatedStringReference(message, &field, i, scratch);
      break;
    default:
      value.is_null = true;  // None of the lists above.
  }
  return value;
}

// One leaf as the parsed message has it. Strings are views of `message`.
inline FieldValue ValueOf(const google::protobuf::Message& message,
                          const google::protobuf::FieldDescriptor& field,
                          std::string* scratch) {
  using google::protobuf::FieldDescriptor;
  const auto* reflection = message.GetReflection();
  FieldValue value;
  if (field.has_presence() && !reflection->HasField(message, &field)) {
    return value;
  }
  value.is_null = false;
  const auto sign_extended = [](int64_t v) { return static_cast<uint64_t>(v); };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      value.bits = reflection->GetBool(message, &field);
      break;
    case FieldDescriptor::CPPTYPE_INT32:
      value.bits = sign_extended(reflection->GetInt32(message, &field));
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      value.bits = sign_extended(reflection->GetInt64(message, &field));
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      value.bits = reflection->GetUInt32(message, &field);
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      value.bits = reflection->GetUInt64(message, &field);
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      value.bits = sign_extended(reflection->GetEnumValue(message, &field));
      break;
    case FieldDescriptor::CPPTYPE_FLOAT: {
      const float v = reflection->GetFloat(message, &field);
      std::memcpy(&value.bits, &v, sizeof(v));
      break;
    }
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      const double v = reflection->GetDouble(message, &field);
      std::memcpy(&value.bits, &v, sizeof(v));
      break;
    }
    case FieldDescriptor::CPPTYPE_STRING:
      value.text = reflection->GetStringReference(message, &field, scratch);
      break;
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      const auto& at = static_cast<const google::protobuf::Timestamp&>(
          reflection->GetMessage(message, &field));
      value.bits = sign_extended(at.seconds());
      value.nanos = at.nanos();
    }
  }
  return value;
}

inline FieldValue ValueAt(const google::protobuf::Message& record,
                          std::string_view path, std::string* scratch) {
  const google::protobuf::Message* message = &record;
  const std::vector<std::string> names = absl::StrSplit(ToAbsl(path), '.');
  for (size_t i = 0;; ++i) {
    const auto* field = message->GetDescriptor()->FindFieldByName(names[i]);
    if (i + 1 == names.size()) return ValueOf(*message, *field, scratch);
    const auto* reflection = message->GetReflection();
    if (!reflection->HasField(*message, field)) return FieldValue();
    message = &reflection->GetMessage(*message, field);
  }
}

// Whether the elements of the field are those of the parsed record.
inline bool SameElements(const google::protobuf::Message& record,
                         std::string_view path, size_t field,
                         const std::vector<ListElement>& elements) {
  std::vector<FieldValue> values;
  for (const ListElement& element : elements) {
    if (element.field == field) values.push_back(element.value);
  }
  const google::protobuf::Message* message = &record;
  const std::vector<std::string> names = absl::StrSplit(ToAbsl(path), '.');
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    const auto* part = message->GetDescriptor()->FindFieldByName(names[i]);
    if (!message->GetReflection()->HasField(*message, part)) {
      return values.empty();
    }
    message = &message->GetReflection()->GetMessage(*message, part);
  }
  const auto* list = message->GetDescriptor()->FindFieldByName(names.back());
  const int size = message->GetReflection()->FieldSize(*message, list);
  if (values.size() != static_cast<size_t>(size)) return false;
  std::string scratch;
  for (int i = 0; i < size; ++i) {
    if (values[static_cast<size_t>(i)] !=
        ElementOf(*message, *list, i, &scratch)) {
      return false;
    }
  }
  return true;
}

struct ExtractorVerdict {
  bool accepted = false;
  std::string problem;  // Empty if the extractor keeps its promise.
};

inline ExtractorVerdict CheckExtractor(
    const Extractor& extractor, const google::protobuf::Message& prototype,
    std::string_view bytes) {
  // A copy of its own, so that a sanitizer sees a read beyond the end.
  const std::unique_ptr<char[]> exact(new char[bytes.size()]);
  if (!bytes.empty()) std::memcpy(exact.get(), bytes.data(), bytes.size());
  const std::string_view record(exact.get(), bytes.size());
  const std::unique_ptr<google::protobuf::Message> parsed(prototype.New());
  ExtractorVerdict verdict;
  verdict.accepted = parsed->ParsePartialFromArray(
                         bytes.data(), static_cast<int>(bytes.size())) &&
                     parsed->IsInitialized();
  std::vector<FieldValue> values(extractor.fields().size());
  std::vector<ListElement> elements;
  const absl::Status status = extractor.Extract(record, values, &elements);
  if (status.ok() != verdict.accepted) {
    verdict.problem = absl::StrCat("parser accepts=", verdict.accepted,
                                   " extractor=", status.ToString(),
                                   " bytes=", Quote(bytes, bytes.size()));
    return verdict;
  }
  for (size_t i = 0; verdict.accepted && i < values.size(); ++i) {
    std::string scratch;
    const std::string& path = extractor.fields()[i].path;
    const bool same = extractor.fields()[i].repeated
                          ? SameElements(*parsed, path, i, elements)
                          : values[i] == ValueAt(*parsed, path, &scratch);
    if (!same) {
      verdict.problem = absl::StrCat("value differs path=", path,
                                     " bytes=", Quote(bytes, bytes.size()));
    }
  }
  return verdict;
}

}  // namespace dovetail::test

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/field_path.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/strings.h"

namespace dovetail::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr char kTimestamp[] = "google.protobuf.Timestamp";

std::string FieldNames(const Descriptor* message) {
  std::vector<std::string> names;
  for (int i = 0; i < message->field_count(); ++i) {
    names.push_back(message->field(i)->name());
  }
  return absl::StrJoin(names, " ");
}

}  // namespace

bool IsTimestamp(const FieldDescriptor* field) {
  return field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
         field->message_type()->full_name() == kTimestamp;
}

absl::StatusOr<FieldPath> FieldPath::Resolve(const Descriptor* record,
                                             std::string_view path) {
  FieldPath result;
  result.path_ = std::string(path);
  const Descriptor* message = record;
  for (absl::string_view name : absl::StrSplit(ToAbsl(path), '.')) {
    if (message == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("the field has no fields: field=", result.leaf()->name(),
                       " path=", ToAbsl(Quote(path))));
    }
    const FieldDescriptor* field = message->FindFieldByName(std::string(name));
    if (field == nullptr) {
      return absl::NotFoundError(absl::StrCat(
          "no such field: field=", ToAbsl(Quote(ToStd(name))), " message=",
          message->full_name(), " fields=\"", FieldNames(message), "\""));
    }
    if (field->is_repeated()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a repeated field cannot be set from text: field=",
                       field->full_name()));
    }
    result.fields_.push_back(field);
    message = IsTimestamp(field) ? nullptr : field->message_type();
  }
  if (message != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the field is a message; name one of its fields: field=",
        ToAbsl(Quote(path)), " fields=\"", FieldNames(message), "\""));
  }
  return result;
}

bool FieldPath::is_timestamp() const { return IsTimestamp(leaf()); }

bool FieldPath::is_text() const {
  return leaf()->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
}

bool FieldPath::is_integer() const {
  switch (leaf()->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
      return true;
    default:
      return false;
  }
}

Message* FieldPath::Parent(Message* record) const {
  for (size_t i = 0; i + 1 < fields_.size(); ++i) {
    record = record->GetReflection()->MutableMessage(record, fields_[i]);
  }
  return record;
}

bool FieldPath::IsEmptyText(const Message& record) const {
  if (!is_text()) return false;
  const Message* message = &record;
  for (size_t i = 0; i + 1 < fields_.size(); ++i) {
    message = &message->GetReflection()->GetMessage(*message, fields_[i]);
  }
  if (leaf()->has_presence() &&
      !message->GetReflection()->HasField(*message, leaf())) {
    return false;
  }
  std::string scratch;
  return message->GetReflection()
      ->GetStringReference(*message, leaf(), &scratch)
      .empty();
}

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto byte = [&](size_t at) {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
    };
    const unsigned first = byte(i);
    const size_t size = first < 0x80                     ? 1
                        : first >= 0xc2 && first <= 0xdf ? 2
                        : first >= 0xe0 && first <= 0xef ? 3
                        : first >= 0xf0 && first <= 0xf4 ? 4
                                                         : 0;
    if (size == 0) return false;
    for (size_t k = 1; k < size; ++k) {
      if ((byte(i + k) & 0xc0) != 0x80) return false;
    }
    // Overlong forms, surrogates, and what is above U+10FFFF.
    if ((first == 0xe0 && byte(i + 1) < 0xa0) ||
        (first == 0xed && byte(i + 1) >= 0xa0) ||
        (first == 0xf0 && byte(i + 1) < 0x90) ||
        (first == 0xf4 && byte(i + 1) >= 0x90)) {
      return false;
    }
    i += size;
  }
  return true;
}

}  // namespace dovetail::cli

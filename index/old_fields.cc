// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/old_fields.h"

#include <utility>

#include "base/check.h"
#include "base/coding.h"
#include "base/status_macros.h"
#include "index/field_path.h"
#include "index/wire_format.h"

namespace dovetail {
namespace {

using google::protobuf::FieldDescriptor;

uint32_t TagOf(const FieldDescriptor& field) {
  return wire::MakeTag(field.number(), wire::WireTypeOf(field));
}

uint64_t ZigZag(uint64_t v) {
  return v << 1 ^ (0 - (v >> 63));  // Of a sign-extended integer of any width.
}

void AppendFixed(uint64_t v, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) {
    out->push_back(static_cast<char>(v >> (8 * i)));
  }
}

void AppendText(std::string_view text, std::string* out) {
  AppendVarint(text.size(), out);
  out->append(text);
}

// A google.protobuf.Timestamp, whose fields have no presence.
void AppendTimestamp(const FieldValue& value, std::string* out) {
  std::string body;
  if (value.bits != 0) {
    AppendVarint(wire::MakeTag(1, wire::kVarint), &body);
    AppendVarint(value.bits, &body);
  }
  if (value.nanos != 0) {
    AppendVarint(wire::MakeTag(2, wire::kVarint), &body);
    AppendVarint(static_cast<uint64_t>(int64_t{value.nanos}), &body);
  }
  AppendText(body, out);
}

}  // namespace

absl::StatusOr<OldFieldsEncoder> OldFieldsEncoder::Compile(
    const google::protobuf::Descriptor& record,
    std::span<const FieldInfo> fields) {
  OldFieldsEncoder encoder;
  for (const FieldInfo& info : fields) {
    ASSIGN_OR_RETURN(const std::vector<const FieldDescriptor*> path,
                     ResolvePath(record, info.path));
    const FieldDescriptor& leaf = *path.back();
    Field field;
    field.type = leaf.type();
    field.tag = TagOf(leaf);
    field.is_timestamp = info.type == FieldType::kTimestamp;
    field.implicit =
        path.size() == 1 && !leaf.has_presence() && !leaf.is_repeated();
    for (size_t i = path.size() - 1; i > 0; --i) {
      field.around.push_back(TagOf(*path[i - 1]));
    }
    encoder.fields_.push_back(std::move(field));
  }
  return encoder;
}

void OldFieldsEncoder::Encode(std::span<const FieldValue> values,
                              std::string* out) const {
  DOVETAIL_CHECK(values.size() == fields_.size());
  for (size_t i = 0; i < fields_.size(); ++i) EncodeField(i, values[i], out);
}

void OldFieldsEncoder::EncodeField(size_t i, const FieldValue& value,
                                   std::string* out) const {
  const Field& field = fields_[i];
  if (value.is_null) return;
  if (field.implicit && value.bits == 0 && value.text.empty()) return;
  if (field.around.empty()) return AppendLeaf(field, value, out);
  // Each leaf in messages of its own: a reader merges what is one message.
  std::string body;
  AppendLeaf(field, value, &body);
  for (const uint32_t tag : field.around) {
    std::string message;
    AppendVarint(tag, &message);
    if (wire::TypeOfTag(tag) == wire::kStartGroup) {
      message.append(body);
      AppendVarint(wire::MakeTag(static_cast<int>(wire::NumberOfTag(tag)),
                                 wire::kEndGroup),
                   &message);
    } else {
      AppendText(body, &message);
    }
    body = std::move(message);
  }
  out->append(body);
}

void OldFieldsEncoder::AppendLeaf(const Field& field, const FieldValue& value,
                                  std::string* out) {
  AppendVarint(field.tag, out);
  if (field.is_timestamp) return AppendTimestamp(value, out);
  switch (field.type) {
    case FieldDescriptor::TYPE_STRING:
    case FieldDescriptor::TYPE_BYTES:
      return AppendText(value.text, out);
    case FieldDescriptor::TYPE_DOUBLE:
    case FieldDescriptor::TYPE_FIXED64:
    case FieldDescriptor::TYPE_SFIXED64:
      return AppendFixed(value.bits, 8, out);
    case FieldDescriptor::TYPE_FLOAT:
    case FieldDescriptor::TYPE_FIXED32:
    case FieldDescriptor::TYPE_SFIXED32:
      return AppendFixed(value.bits, 4, out);
    case FieldDescriptor::TYPE_SINT32:
      return AppendVarint(static_cast<uint32_t>(ZigZag(value.bits)), out);
    case FieldDescriptor::TYPE_SINT64:
      return AppendVarint(ZigZag(value.bits), out);
    default:
      return AppendVarint(value.bits, out);
  }
}

}  // namespace dovetail

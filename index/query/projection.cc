// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/query/projection.h"

#include <algorithm>

#include "base/coding.h"
#include "base/status_macros.h"
#include "index/field_path.h"
#include "index/wire_format.h"

namespace dovetail {

absl::StatusOr<Projection> Projection::Compile(
    const google::protobuf::Descriptor& record,
    const std::vector<std::string>& paths) {
  Projection projection;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const auto fields, ResolvePath(record, path));
    Node* node = &projection.root_;
    for (const google::protobuf::FieldDescriptor* field : fields) {
      const auto number = static_cast<uint32_t>(field->number());
      auto at = std::find_if(node->fields.begin(), node->fields.end(),
                             [&](const Node& n) { return n.number == number; });
      if (at == node->fields.end()) {
        at = node->fields.insert(at, Node{number, false, {}});
      }
      node = &*at;
      // Groups are kept whole: their end is not known in front.
      if (field->type() == google::protobuf::FieldDescriptor::TYPE_GROUP) break;
    }
    node->whole = true;
  }
  return projection;
}

bool Projection::Copy(const Node& node, std::string_view message,
                      std::string* out) {
  const char* p = message.data();
  const char* const end = p + message.size();
  while (p < end) {
    const char* const start = p;
    uint32_t tag = 0;
    p = wire::ReadTag(p, end, &tag);
    if (p == nullptr) return false;
    const char* const value = p;
    p = wire::SkipValue(p, end, tag, wire::kDepthMax);
    if (p == nullptr) return false;
    const auto kept = std::find_if(
        node.fields.begin(), node.fields.end(),
        [&](const Node& n) { return n.number == wire::NumberOfTag(tag); });
    if (kept == node.fields.end()) continue;
    const bool part_of_it =
        !kept->whole && wire::TypeOfTag(tag) == wire::kLengthDelimited;
    if (!part_of_it) {
      out->append(start, static_cast<size_t>(p - start));
      continue;
    }
    size_t length = 0;
    const char* const body = wire::ReadLength(value, end, &length);
    if (body == nullptr) return false;
    std::string inner;
    if (!Copy(*kept, {body, length}, &inner)) return false;
    AppendVarint(tag, out);
    AppendVarint(inner.size(), out);
    out->append(inner);
  }
  return true;
}

absl::Status Projection::Apply(std::string_view record,
                               std::string* out) const {
  out->clear();
  if (Copy(root_, record, out)) return absl::OkStatus();
  return absl::DataLossError("stored record does not parse; run verify");
}

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/extract_plan.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "index/field_path.h"
#include "index/wire_format.h"

namespace dovetail::internal {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

// A tracked path, seen from a message on it: path[depth] is a field of that
// message, or, one step behind the end, the message is the leaf Timestamp.
struct Leaf {
  const FieldPath* path;
  uint32_t slot;
};

bool NeedsUtf8(const FieldDescriptor& field) {
  return field.type() == FieldDescriptor::TYPE_STRING &&
         !field.is_extension() &&
         field.file()->syntax() ==
             google::protobuf::FileDescriptor::SYNTAX_PROTO3;
}

FieldOp CheckingOp(const FieldDescriptor& field) {
  switch (wire::WireTypeOf(field)) {
    case wire::kFixed32:
      return FieldOp::kSkipFixed32;
    case wire::kFixed64:
      return FieldOp::kSkipFixed64;
    case wire::kStartGroup:
      return FieldOp::kGroup;
    case wire::kLengthDelimited:
      if (field.message_type() != nullptr) return FieldOp::kMessage;
      return NeedsUtf8(field) ? FieldOp::kCheckUtf8 : FieldOp::kSkipBytes;
    default:
      return FieldOp::kSkipVarint;
  }
}

FieldOp ReadingOp(const FieldDescriptor& field) {
  switch (field.type()) {
    case FieldDescriptor::TYPE_BOOL:
      return FieldOp::kBool;
    case FieldDescriptor::TYPE_INT32:
      return FieldOp::kInt32;
    case FieldDescriptor::TYPE_UINT32:
      return FieldOp::kUint32;
    case FieldDescriptor::TYPE_INT64:
    case FieldDescriptor::TYPE_UINT64:
      return FieldOp::kVarint64;
    case FieldDescriptor::TYPE_SINT32:
      return FieldOp::kZigZag32;
    case FieldDescriptor::TYPE_SINT64:
      return FieldOp::kZigZag64;
    case FieldDescriptor::TYPE_ENUM:
      return wire::IsClosedEnum(field) ? FieldOp::kClosedEnum : FieldOp::kInt32;
    case FieldDescriptor::TYPE_FLOAT:
    case FieldDescriptor::TYPE_FIXED32:
      return FieldOp::kFixed32;
    case FieldDescriptor::TYPE_SFIXED32:
      return FieldOp::kSfixed32;
    case FieldDescriptor::TYPE_DOUBLE:
    case FieldDescriptor::TYPE_FIXED64:
    case FieldDescriptor::TYPE_SFIXED64:
      return FieldOp::kFixed64;
    case FieldDescriptor::TYPE_STRING:
      return NeedsUtf8(field) ? FieldOp::kUtf8 : FieldOp::kBytes;
    case FieldDescriptor::TYPE_BYTES:
      return FieldOp::kBytes;
    case FieldDescriptor::TYPE_MESSAGE:
      return FieldOp::kMessage;
    case FieldDescriptor::TYPE_GROUP:
      return FieldOp::kGroup;
  }
  return FieldOp::kUnknown;
}

class Compiler {
 public:
  ExtractPlan Run(const Descriptor& record,
                  const std::vector<FieldPath>& paths) {
    std::vector<Leaf> leaves;
    for (size_t i = 0; i < paths.size(); ++i) {
      leaves.push_back({&paths[i], static_cast<uint32_t>(i)});
    }
    AddMessage(record, leaves, 0);
    // Types to validate are compiled one after the other, not inside each
    // other: a schema may chain any number of them.
    while (!queue_.empty()) {
      const Descriptor* type = queue_.back();
      queue_.pop_back();
      plan_.messages[shared_.at(type)] = Compile(*type, {}, 0);
    }
    return std::move(plan_);
  }

 private:
  // The plan of a message at one place of the paths. Recursion is as deep as
  // the paths are long.
  uint32_t AddMessage(const Descriptor& type, const std::vector<Leaf>& leaves,
                      size_t depth) {
    const auto index = static_cast<uint32_t>(plan_.messages.size());
    plan_.messages.emplace_back();
    MessagePlan message = Compile(type, leaves, depth);
    plan_.messages[index] = std::move(message);
    return index;
  }

  uint32_t SharedMessage(const Descriptor& type) {
    const auto index = static_cast<uint32_t>(plan_.messages.size());
    const auto [it, added] = shared_.try_emplace(&type, index);
    if (added) {
      plan_.messages.emplace_back();
      queue_.push_back(&type);
    }
    return it->second;
  }

  MessagePlan Compile(const Descriptor& type, const std::vector<Leaf>& leaves,
                      size_t depth) {
    MessagePlan message;
    message.type_name = type.full_name();
    for (const Leaf& leaf : leaves) {
      const bool is_timestamp = depth == leaf.path->size();
      const bool is_plain = depth + 1 == leaf.path->size() &&
                            !(*leaf.path)[depth]->has_presence() &&
                            !(*leaf.path)[depth]->is_repeated();
      if (is_timestamp || is_plain) message.entered.push_back(leaf.slot);
    }
    std::vector<const FieldDescriptor*> fields = KnownFields(type);
    std::sort(fields.begin(), fields.end(),
              [](const FieldDescriptor* a, const FieldDescriptor* b) {
                return a->number() < b->number();
              });
    for (const FieldDescriptor* field : fields) {
      message.fields.Add(CompileField(*field, leaves, depth));
    }
    return message;
  }

  FieldPlan CompileField(const FieldDescriptor& field,
                         const std::vector<Leaf>& leaves, size_t depth) {
    FieldPlan plan;
    plan.tag = wire::MakeTag(field.number(), wire::WireTypeOf(field));
    plan.packable = field.is_packable();
    plan.targets.begin = static_cast<uint32_t>(plan_.targets.size());
    plan.clears.begin = static_cast<uint32_t>(plan_.clears.size());
    std::vector<Leaf> below;
    for (const Leaf& leaf : leaves) {
      if (depth == leaf.path->size()) {
        if (field.number() > 2) continue;
        plan_.targets.push_back({leaf.slot, field.number() == 1
                                                ? SlotPart::kSeconds
                                                : SlotPart::kNanos});
      } else if ((*leaf.path)[depth] == &field) {
        if (field.message_type() != nullptr) {
          below.push_back(leaf);
        } else {
          plan_.targets.push_back({leaf.slot, SlotPart::kValue});
        }
      } else if (field.real_containing_oneof() != nullptr &&
                 field.real_containing_oneof() ==
                     (*leaf.path)[depth]->real_containing_oneof()) {
        plan_.clears.push_back(leaf.slot);
      }
    }
    plan.targets.end = static_cast<uint32_t>(plan_.targets.size());
    plan.clears.end = static_cast<uint32_t>(plan_.clears.size());
    const bool is_read = plan.targets.begin != plan.targets.end ||
                         plan.clears.begin != plan.clears.end;
    plan.op = is_read ? ReadingOp(field) : CheckingOp(field);
    if (field.message_type() != nullptr) {
      plan.child = below.empty()
                       ? SharedMessage(*field.message_type())
                       : AddMessage(*field.message_type(), below, depth + 1);
    } else if (plan.op == FieldOp::kClosedEnum) {
      plan.child = static_cast<uint32_t>(plan_.enums.size());
      plan_.enums.push_back(ValuesOf(*field.enum_type()));
    }
    return field.is_repeated() && is_read ? ElementPlan(plan) : plan;
  }

  FieldPlan ElementPlan(const FieldPlan& element) {
    FieldPlan list;
    list.tag = element.tag;
    list.op = FieldOp::kElement;
    list.packable = element.packable;
    list.child = static_cast<uint32_t>(plan_.elements.size());
    plan_.elements.push_back(element);
    return list;
  }

  ExtractPlan plan_;
  absl::flat_hash_map<const Descriptor*, uint32_t> shared_;
  std::vector<const Descriptor*> queue_;
};

}  // namespace

EnumValues ValuesOf(const EnumDescriptor& type) {
  EnumValues values;
  for (int i = 0; i < type.value_count(); ++i) {
    values.push_back(type.value(i)->number());
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

bool Contains(const EnumValues& values, int32_t v) {
  // Most enums count from 0 or 1 without gaps.
  if (v < values.front() || v > values.back()) return false;
  const auto offset = static_cast<size_t>(int64_t{v} - values.front());
  if (offset < values.size() && values[offset] == v) return true;
  return std::binary_search(values.begin(), values.end(), v);
}

ExtractPlan CompileExtractPlan(const Descriptor& record,
                               const std::vector<FieldPath>& paths) {
  return Compiler().Run(record, paths);
}

}  // namespace dovetail::internal

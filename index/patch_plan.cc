// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/patch_plan.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "index/wire_format.h"

namespace dovetail::internal {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

VarintForm FormOf(const FieldDescriptor& field) {
  switch (field.type()) {
    case FieldDescriptor::TYPE_BOOL:
      return VarintForm::kBool;
    case FieldDescriptor::TYPE_INT32:
    case FieldDescriptor::TYPE_ENUM:
      return VarintForm::kSigned32;
    case FieldDescriptor::TYPE_UINT32:
    case FieldDescriptor::TYPE_SINT32:
      return VarintForm::kUnsigned32;
    default:
      return VarintForm::k64;
  }
}

class Compiler {
 public:
  PatchPlan Run(const Descriptor& record, const std::vector<FieldPath>& paths) {
    std::vector<const FieldPath*> all;
    for (const FieldPath& path : paths) all.push_back(&path);
    AddMessage(record, all, 0);
    while (!queue_.empty()) {
      const Descriptor* type = queue_.back();
      queue_.pop_back();
      plan_.messages[shared_.at(type)] = Compile(*type, {}, 0);
    }
    return std::move(plan_);
  }

 private:
  uint32_t AddMessage(const Descriptor& type,
                      const std::vector<const FieldPath*>& paths,
                      size_t depth) {
    const auto index = static_cast<uint32_t>(plan_.messages.size());
    plan_.messages.emplace_back();
    PatchMessage message = Compile(type, paths, depth);
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

  PatchMessage Compile(const Descriptor& type,
                       const std::vector<const FieldPath*>& paths,
                       size_t depth) {
    PatchMessage message;
    message.type_name = type.full_name();
    message.oneof_count = static_cast<size_t>(type.real_oneof_decl_count());
    std::vector<const FieldDescriptor*> fields;
    for (int i = 0; i < type.field_count(); ++i) {
      fields.push_back(type.field(i));
    }
    std::sort(fields.begin(), fields.end(),
              [](const FieldDescriptor* a, const FieldDescriptor* b) {
                return a->number() < b->number();
              });
    for (const FieldDescriptor* field : fields) {
      message.fields.Add(CompileField(*field, paths, depth));
    }
    return message;
  }

  PatchField CompileField(const FieldDescriptor& field,
                          const std::vector<const FieldPath*>& paths,
                          size_t depth) {
    PatchField plan;
    std::vector<const FieldPath*> below;
    for (const FieldPath* path : paths) {
      if ((*path)[depth] != &field) continue;
      plan.role = PatchRole::kTaken;
      if (depth + 1 < path->size()) below.push_back(path);
    }
    plan.tag = wire::MakeTag(field.number(), wire::WireTypeOf(field));
    plan.form = FormOf(field);
    plan.is_message = field.message_type() != nullptr;
    plan.is_repeated = field.is_repeated();
    plan.is_packable = field.is_packable();
    plan.has_presence = field.has_presence();
    plan.is_map = field.is_map();
    const FieldDescriptor& value =
        field.is_map() ? *field.message_type()->map_value() : field;
    if (wire::IsClosedEnum(value)) {
      plan.closed_enum = static_cast<int>(plan_.enums.size());
      plan_.enums.push_back(ValuesOf(*value.enum_type()));
    }
    if (field.real_containing_oneof() != nullptr) {
      plan.oneof = field.real_containing_oneof()->index();
    }
    if (!below.empty()) {
      plan.role = PatchRole::kMixed;
      plan.child = AddMessage(*field.message_type(), below, depth + 1);
    } else if (plan.is_message && !plan.is_repeated) {
      plan.child = SharedMessage(*field.message_type());
    }
    return plan;
  }

  PatchPlan plan_;
  absl::flat_hash_map<const Descriptor*, uint32_t> shared_;
  std::vector<const Descriptor*> queue_;
};

}  // namespace

PatchPlan CompilePatchPlan(const Descriptor& record,
                           const std::vector<FieldPath>& paths) {
  return Compiler().Run(record, paths);
}

}  // namespace dovetail::internal

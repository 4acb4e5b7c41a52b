// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/extractor.h"

#include <algorithm>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "index/extract_plan.h"
#include "index/field_path.h"
#include "index/required_fields.h"
#include "index/utf8.h"
#include "index/wire_format.h"

namespace dovetail {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using internal::ExtractPlan;
using internal::FieldOp;
using internal::FieldPlan;
using internal::MessagePlan;
using internal::Range;
using internal::SlotPart;
using internal::Target;

FieldType TypeOf(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return FieldType::kBool;
    case FieldDescriptor::CPPTYPE_INT32:
      return FieldType::kInt32;
    case FieldDescriptor::CPPTYPE_INT64:
      return FieldType::kInt64;
    case FieldDescriptor::CPPTYPE_UINT32:
      return FieldType::kUint32;
    case FieldDescriptor::CPPTYPE_UINT64:
      return FieldType::kUint64;
    case FieldDescriptor::CPPTYPE_FLOAT:
      return FieldType::kFloat;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return FieldType::kDouble;
    case FieldDescriptor::CPPTYPE_ENUM:
      return FieldType::kEnum;
    case FieldDescriptor::CPPTYPE_STRING:
      return field.type() == FieldDescriptor::TYPE_BYTES ? FieldType::kBytes
                                                         : FieldType::kString;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return FieldType::kTimestamp;
}

absl::Status CheckLeaf(const FieldDescriptor& leaf, std::string_view path) {
  std::string_view problem;
  if (leaf.is_map()) {
    problem = "the field is a map: a key part takes single values";
  } else if (leaf.is_repeated()) {
    problem = "the field is repeated: a key part takes single values";
  } else if (leaf.message_type() != nullptr &&
             !IsTimestamp(*leaf.message_type())) {
    problem =
        "the field is a message: name one of its fields, or a "
        "google.protobuf.Timestamp";
  } else {
    return absl::OkStatus();
  }
  const Descriptor* type = leaf.message_type();
  return absl::InvalidArgumentError(absl::StrCat(
      ToAbsl(problem), " path=", Quote(path), " segment=", Quote(leaf.name()),
      " message=", leaf.containing_type()->full_name(), " type=",
      type == nullptr ? std::string(leaf.type_name()) : type->full_name()));
}

FieldInfo MakeInfo(const internal::FieldPath& fields, std::string_view path) {
  FieldInfo info{std::string(path), TypeOf(*fields.back()), false, {}};
  for (const FieldDescriptor* field : fields) {
    info.nullable |= field->has_presence() && !field->is_required();
    info.numbers.push_back(field->number());
  }
  info.repeated = fields.back()->is_repeated();
  if (info.repeated) info.nullable = false;
  return info;
}

absl::StatusOr<internal::FieldPath> ResolveList(const Descriptor& record,
                                                std::string_view path) {
  ASSIGN_OR_RETURN(internal::FieldPath fields, ResolvePath(record, path));
  const FieldDescriptor& leaf = *fields.back();
  if (leaf.is_repeated() && leaf.message_type() == nullptr) return fields;
  return absl::InvalidArgumentError(absl::StrCat(
      "the field is not a repeated field of scalars: path=", Quote(path)));
}

absl::StatusOr<internal::FieldPath> ResolveLeaf(const Descriptor& record,
                                                std::string_view path) {
  ASSIGN_OR_RETURN(internal::FieldPath fields, ResolvePath(record, path));
  RETURN_IF_ERROR(CheckLeaf(*fields.back(), path));
  return fields;
}

// One extraction. The Read functions return the position behind what they
// read, or null after Fail.
class Extraction {
 public:
  // `elements` may be null.
  Extraction(const ExtractPlan& plan, std::string_view record,
             std::span<FieldValue> out, std::vector<ListElement>* elements)
      : plan_(plan), begin_(record.data()), out_(out), elements_(elements) {}

  void Enter(const MessagePlan& message) {
    for (const uint32_t slot : message.entered) {
      // What is null has never been set, so the rest of it is the default.
      out_[slot].is_null = false;
    }
  }

  // Reads fields up to `end`, or, in a group, up to the end tag.
  // `depth_left` is how many messages may still be opened inside this one.
  const char* ReadFields(const MessagePlan& message, const char* p,
                         const char* end, int depth_left, uint32_t end_tag);

  // At the end: takes out elements that a later member of a oneof has cleared.
  void DropCleared() {
    if (cleared_.empty()) return;
    size_t i = 0;
    std::erase_if(*elements_, [&](const ListElement& element) {
      const size_t at = i++;
      return std::any_of(cleared_.begin(), cleared_.end(),
                         [&](const std::pair<uint32_t, size_t>& cleared) {
                           return cleared.first == element.field &&
                                  at < cleared.second;
                         });
    });
  }

  // REQUIRES: a Read function returned null.
  absl::Status error() const {
    return absl::InvalidArgumentError(absl::StrCat(
        "the record is not a valid message: ", error_text_,
        " offset=", error_at_ - begin_, " field=", wire::NumberOfTag(tag_),
        " message=", message_->type_name));
  }

 private:
  // Its one caller is the loop over the fields.
  ABSL_ATTRIBUTE_ALWAYS_INLINE
  const char* ReadField(const MessagePlan& message, const FieldPlan& field,
                        const char* start, const char* p, const char* end,
                        int depth_left);
  const char* ReadUnusual(const MessagePlan& message, const FieldPlan& field,
                          uint32_t tag, const char* start, const char* p,
                          const char* end, int depth_left);
  const char* ReadChild(const MessagePlan& message, const FieldPlan& field,
                        const char* start, const char* p, const char* end,
                        int depth_left);
  const char* ReadElement(const MessagePlan& message, const FieldPlan& element,
                          const char* start, const char* p, const char* end);
  const char* ReadPacked(const MessagePlan& message, const FieldPlan& element,
                         const char* start, const char* p, const char* end);

  void Clear(Range slots) {
    for (uint32_t i = slots.begin; i < slots.end; ++i) {
      out_[plan_.clears[i]] = FieldValue();
      if (elements_ != nullptr) [[unlikely]]
        ClearElements(plan_.clears[i]);
    }
  }

  // Those read so far, if the slot is a list's.
  void ClearElements(uint32_t slot) {
    if (elements_->empty()) return;
    for (auto& [cleared, before] : cleared_) {
      if (cleared != slot) continue;
      before = elements_->size();
      return;
    }
    cleared_.emplace_back(slot, elements_->size());
  }

  void SetBits(const FieldPlan& field, uint64_t bits) {
    for (uint32_t i = field.targets.begin; i < field.targets.end; ++i) {
      const Target target = plan_.targets[i];
      FieldValue& value = out_[target.slot];
      if (target.part == SlotPart::kNanos) {
        value.nanos = static_cast<int32_t>(bits);
      } else {
        value.bits = bits;
        value.is_null = false;
      }
    }
    Clear(field.clears);
  }

  void SetText(const FieldPlan& field, std::string_view text) {
    for (uint32_t i = field.targets.begin; i < field.targets.end; ++i) {
      FieldValue& value = out_[plan_.targets[i].slot];
      value.text = text;
      value.is_null = false;
    }
    Clear(field.clears);
  }

  // Records what is wrong at `at`, in the field with `tag`.
  const char* Fail(const MessagePlan& message, uint32_t tag, const char* at,
                   const char* text) {
    message_ = &message;
    tag_ = tag;
    error_at_ = at;
    error_text_ = text;
    return nullptr;
  }

  const ExtractPlan& plan_;
  const char* const begin_;
  const std::span<FieldValue> out_;
  std::vector<ListElement>* const elements_;
  // By slot: how many elements there were when it was cleared last.
  std::vector<std::pair<uint32_t, size_t>> cleared_;

  const MessagePlan* message_ = nullptr;
  uint32_t tag_ = 0;
  const char* error_at_ = nullptr;
  const char* error_text_ = "";
};

uint64_t SignExtend(uint64_t v) {
  return static_cast<uint64_t>(int64_t{static_cast<int32_t>(v)});
}

inline const char* Extraction::ReadField(const MessagePlan& message,
                                         const FieldPlan& field,
                                         const char* start, const char* p,
                                         const char* end, int depth_left) {
  static constexpr char kBadVarint[] = "integer cut off or too long";
  static constexpr char kShort[] = "value cut off";
  static constexpr char kBadLength[] = "length beyond the end";
  uint64_t v = 0;
  switch (field.op) {
    case FieldOp::kUnknown:
      return Fail(message, 0, start, "tag 0");
    case FieldOp::kSkipVarint:
      p = wire::ReadVarint(p, end, &v);
      return p != nullptr ? p : Fail(message, field.tag, start, kBadVarint);
    case FieldOp::kSkipFixed32:
      p = wire::SkipFixed(p, end, 4);
      return p != nullptr ? p : Fail(message, field.tag, start, kShort);
    case FieldOp::kSkipFixed64:
      p = wire::SkipFixed(p, end, 8);
      return p != nullptr ? p : Fail(message, field.tag, start, kShort);
    case FieldOp::kMessage:
    case FieldOp::kGroup:
      return ReadChild(message, field, start, p, end, depth_left);
    case FieldOp::kFixed32:
    case FieldOp::kSfixed32:
      p = wire::SkipFixed(p, end, 4);
      if (p == nullptr) return Fail(message, field.tag, start, kShort);
      v = wire::LoadFixed32(p - 4);
      SetBits(field, field.op == FieldOp::kFixed32 ? v : SignExtend(v));
      return p;
    case FieldOp::kFixed64:
      p = wire::SkipFixed(p, end, 8);
      if (p == nullptr) return Fail(message, field.tag, start, kShort);
      SetBits(field, wire::LoadFixed64(p - 8));
      return p;
    case FieldOp::kSkipBytes:
    case FieldOp::kCheckUtf8:
    case FieldOp::kBytes:
    case FieldOp::kUtf8: {
      size_t length;
      p = wire::ReadLength(p, end, &length);
      if (p == nullptr) return Fail(message, field.tag, start, kBadLength);
      const std::string_view text(p, length);
      const bool is_utf8 =
          field.op == FieldOp::kUtf8 || field.op == FieldOp::kCheckUtf8;
      if (is_utf8 && !IsValidUtf8(text)) {
        return Fail(message, field.tag, start, "string is not UTF-8");
      }
      SetText(field, text);
      return p + length;
    }
    case FieldOp::kElement:
      return ReadElement(message, plan_.elements[field.child], start, p, end);
    default:
      break;
  }
  p = wire::ReadVarint(p, end, &v);
  if (p == nullptr) return Fail(message, field.tag, start, kBadVarint);
  switch (field.op) {
    case FieldOp::kBool:
      v = v != 0;
      break;
    case FieldOp::kInt32:
      v = SignExtend(v);
      break;
    case FieldOp::kUint32:
      v = static_cast<uint32_t>(v);
      break;
    case FieldOp::kZigZag32:
      v = SignExtend(wire::DecodeZigZag32(static_cast<uint32_t>(v)));
      break;
    case FieldOp::kZigZag64:
      v = static_cast<uint64_t>(wire::DecodeZigZag64(v));
      break;
    case FieldOp::kClosedEnum:
      v = SignExtend(v);
      if (!internal::Contains(plan_.enums[field.child],
                              static_cast<int32_t>(v))) {
        return p;
      }
      break;
    default:
      break;
  }
  SetBits(field, v);
  return p;
}

const char* Extraction::ReadFields(const MessagePlan& message, const char* p,
                                   const char* end, int depth_left,
                                   uint32_t end_tag) {
  while (p < end) {
    const char* const start = p;
    uint32_t tag;
    p = wire::ReadTag(p, end, &tag);
    if (p == nullptr) {
      return Fail(message, 0, start, "tag cut off or too long");
    }
    const FieldPlan& field = message.fields.Find(wire::NumberOfTag(tag));
    if (field.tag == tag) [[likely]] {
      p = ReadField(message, field, start, p, end, depth_left);
    } else if (wire::TypeOfTag(tag) == wire::kEndGroup) {
      if (tag == end_tag) return p;
      return Fail(message, tag, start, "end of a group that was not begun");
    } else {
      p = ReadUnusual(message, field, tag, start, p, end, depth_left);
    }
    if (p == nullptr) return nullptr;
  }
  if (end_tag != 0) return Fail(message, end_tag, end, "group without end");
  return p;
}

const char* Extraction::ReadChild(const MessagePlan& message,
                                  const FieldPlan& field, const char* start,
                                  const char* p, const char* end,
                                  int depth_left) {
  if (depth_left == 0) {
    return Fail(message, field.tag, start, "messages nest too deep");
  }
  const MessagePlan& child = plan_.messages[field.child];
  uint32_t end_tag = 0;
  if (field.op == FieldOp::kMessage) {
    size_t length;
    p = wire::ReadLength(p, end, &length);
    if (p == nullptr) {
      return Fail(message, field.tag, start, "length beyond the end");
    }
    end = p + length;
  } else {
    end_tag = field.tag + 1;
  }
  Clear(field.clears);
  Enter(child);
  return ReadFields(child, p, end, depth_left - 1, end_tag);
}

// One element, read into the slot and taken out of it.
const char* Extraction::ReadElement(const MessagePlan& message,
                                    const FieldPlan& element, const char* start,
                                    const char* p, const char* end) {
  p = ReadField(message, element, start, p, end, 0);
  const uint32_t slot = plan_.targets[element.targets.begin].slot;
  if (p == nullptr || out_[slot].is_null) return p;
  for (uint32_t i = element.targets.begin; i < element.targets.end; ++i) {
    FieldValue& value = out_[plan_.targets[i].slot];
    if (elements_ != nullptr) {
      elements_->push_back({plan_.targets[i].slot, value});
    }
    value = FieldValue();
  }
  return p;
}

const char* Extraction::ReadPacked(const MessagePlan& message,
                                   const FieldPlan& element, const char* start,
                                   const char* p, const char* end) {
  while (p < end) {
    p = ReadElement(message, element, p, p, end);
    if (p == nullptr) {
      return Fail(message, element.tag, start, "packed values end inside one");
    }
  }
  return p;
}

// A packed value of a field of numbers, or a field that is unknown or has
// another wire type than declared.
const char* Extraction::ReadUnusual(const MessagePlan& message,
                                    const FieldPlan& field, uint32_t tag,
                                    const char* start, const char* p,
                                    const char* end, int depth_left) {
  const char* const value = p;
  p = wire::SkipValue(p, end, tag, depth_left);
  if (p == nullptr) {
    return Fail(message, tag, start, "malformed value, tag or group");
  }
  if (!field.packable || wire::TypeOfTag(tag) != wire::kLengthDelimited) {
    return p;
  }
  size_t length = 0;
  const char* const elements = wire::ReadLength(value, p, &length);
  if (field.op == FieldOp::kElement) {
    return ReadPacked(message, plan_.elements[field.child], start, elements, p);
  }
  const bool is_whole = field.op == FieldOp::kSkipFixed32 ? length % 4 == 0
                        : field.op == FieldOp::kSkipFixed64
                            ? length % 8 == 0
                            : wire::IsPackedVarints(elements, p);
  return is_whole ? p
                  : Fail(message, tag, start, "packed values end inside one");
}

}  // namespace

absl::StatusOr<FieldInfo> ResolveField(const Descriptor& record,
                                       std::string_view path) {
  ASSIGN_OR_RETURN(const internal::FieldPath fields, ResolveLeaf(record, path));
  return MakeInfo(fields, path);
}

struct Extractor::Plan {
  ExtractPlan extract;
  std::unique_ptr<const RequiredFields> required;
};

Extractor::Extractor(std::vector<FieldInfo> fields,
                     std::unique_ptr<const Plan> plan)
    : fields_(std::move(fields)), plan_(std::move(plan)) {}
Extractor::Extractor(Extractor&&) noexcept = default;
Extractor& Extractor::operator=(Extractor&&) noexcept = default;
Extractor::~Extractor() = default;

absl::StatusOr<Extractor> Extractor::Compile(
    const Descriptor& record, const std::vector<std::string>& paths,
    const std::vector<std::string>& lists) {
  RETURN_IF_ERROR(CheckNoMessageSet(record));
  std::vector<FieldInfo> infos;
  std::vector<internal::FieldPath> resolved;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(internal::FieldPath fields, ResolveLeaf(record, path));
    infos.push_back(MakeInfo(fields, path));
    resolved.push_back(std::move(fields));
  }
  for (const std::string& path : lists) {
    ASSIGN_OR_RETURN(internal::FieldPath fields, ResolveList(record, path));
    infos.push_back(MakeInfo(fields, path));
    resolved.push_back(std::move(fields));
  }
  auto plan = std::make_unique<Plan>();
  plan->extract = internal::CompileExtractPlan(record, resolved);
  plan->required = RequiredFields::Compile(record);
  return Extractor(std::move(infos), std::move(plan));
}

absl::Status Extractor::Extract(std::string_view record,
                                std::span<FieldValue> out,
                                std::vector<ListElement>* elements) const {
  RETURN_IF_ERROR(ExtractPartial(record, out, elements));
  if (plan_->required != nullptr) return plan_->required->Check(record);
  return absl::OkStatus();
}

absl::Status Extractor::ExtractPartial(
    std::string_view record, std::span<FieldValue> out,
    std::vector<ListElement>* elements) const {
  DOVETAIL_CHECK(out.size() == fields_.size());
  if (record.size() > wire::kMessageBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the record is longer than a message can be size=", record.size()));
  }
  for (FieldValue& value : out) value = FieldValue();
  if (record.data() == nullptr) record = "";  // Null means failure below.
  Extraction extraction(plan_->extract, record, out, elements);
  const MessagePlan& root = plan_->extract.messages[0];
  extraction.Enter(root);
  if (extraction.ReadFields(root, record.data(), record.data() + record.size(),
                            wire::kDepthMax, 0) == nullptr) {
    return extraction.error();
  }
  extraction.DropCleared();
  return absl::OkStatus();
}

}  // namespace dovetail

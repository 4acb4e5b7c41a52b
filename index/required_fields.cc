// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What counts is the message as parsed, not the bytes: occurrences of a
// singular message are one message whose required fields may be spread over
// them, a later oneof member removes an earlier one with all its faults, and
// so does a later map entry with an equal key. Each message is therefore
// checked as the list of its parts, in order.

#include "index/required_fields.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "index/extract_plan.h"
#include "index/field_path.h"
#include "index/wire_format.h"

namespace dovetail {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

enum class Kind : uint8_t { kScalar, kSingle, kRepeated, kMap };

// The bytes of one message, in as many parts as it was written in.
using Parts = std::vector<std::string_view>;

struct KnownField {
  uint32_t tag = 0;
  Kind kind = Kind::kScalar;
  // Index in `required` of the message, or -1.
  int required = -1;
  // Index of the oneof in its message, or -1.
  int oneof = -1;
  // Of a message that has to be checked; of a map entry's value.
  uint32_t child = 0;
  bool is_closed_enum = false;
  internal::EnumValues enum_values;
  FieldDescriptor::Type key_type = FieldDescriptor::TYPE_STRING;
};

struct Message {
  std::string type_name;
  std::vector<std::string> required;  // Names.
  absl::flat_hash_map<uint32_t, KnownField>
      fields;  // By tag; those that matter.
};

// One field of the wire.
struct Token {
  uint32_t tag = 0;
  uint64_t varint = 0;
  std::string_view body;  // Of a string, message or group.
};

// REQUIRES: [p, end) begins with a valid field.
const char* ReadToken(const char* p, const char* end, Token* token) {
  p = wire::ReadTag(p, end, &token->tag);
  DOVETAIL_CHECK(p != nullptr);
  switch (wire::TypeOfTag(token->tag)) {
    case wire::kVarint:
      p = wire::ReadVarint(p, end, &token->varint);
      break;
    case wire::kFixed32:
      p = wire::SkipFixed(p, end, 4);
      if (p != nullptr) token->varint = wire::LoadFixed32(p - 4);
      break;
    case wire::kFixed64:
      p = wire::SkipFixed(p, end, 8);
      if (p != nullptr) token->varint = wire::LoadFixed64(p - 8);
      break;
    case wire::kLengthDelimited: {
      size_t length = 0;
      p = wire::ReadLength(p, end, &length);
      if (p == nullptr) break;
      token->body = std::string_view(p, length);
      p += length;
      break;
    }
    default: {
      const char* body = p;
      const char* body_end = p;
      p = wire::SkipGroup(p, end, token->tag, wire::kDepthMax, &body_end);
      token->body =
          std::string_view(body, static_cast<size_t>(body_end - body));
    }
  }
  DOVETAIL_CHECK(p != nullptr);
  return p;
}

// A map key as bytes, equal for equal keys.
std::string KeyBytes(const Token& token, FieldDescriptor::Type type) {
  switch (type) {
    case FieldDescriptor::TYPE_STRING:
      return std::string(token.body);
    case FieldDescriptor::TYPE_BOOL:
      return token.varint != 0 ? "1" : "0";
    case FieldDescriptor::TYPE_INT32:
    case FieldDescriptor::TYPE_UINT32:
    case FieldDescriptor::TYPE_SINT32:
      return absl::StrCat(static_cast<uint32_t>(token.varint));
    default:
      return absl::StrCat(token.varint);
  }
}

// The types from which a required field can be reached, and so are worth
// descending into.
absl::flat_hash_set<const Descriptor*> TypesToCheck(const Descriptor& record) {
  absl::flat_hash_set<const Descriptor*> seen = {&record};
  std::vector<const Descriptor*> queue = {&record};
  std::vector<const Descriptor*> found;
  absl::flat_hash_map<const Descriptor*, std::vector<const Descriptor*>> users;
  while (!queue.empty()) {
    const Descriptor* type = queue.back();
    queue.pop_back();
    bool has_required = false;
    for (const FieldDescriptor* field : KnownFields(*type)) {
      has_required |= field->is_required();
      const Descriptor* child = field->message_type();
      if (child == nullptr) continue;
      users[child].push_back(type);
      if (seen.insert(child).second) queue.push_back(child);
    }
    if (has_required) found.push_back(type);
  }
  absl::flat_hash_set<const Descriptor*> result(found.begin(), found.end());
  while (!found.empty()) {
    const Descriptor* type = found.back();
    found.pop_back();
    for (const Descriptor* user : users[type]) {
      if (result.insert(user).second) found.push_back(user);
    }
  }
  return result;
}

KnownField MakeField(const FieldDescriptor& field, bool is_checked) {
  KnownField out;
  out.tag = wire::MakeTag(field.number(), wire::WireTypeOf(field));
  if (is_checked) {
    out.kind = field.is_map()        ? Kind::kMap
               : field.is_repeated() ? Kind::kRepeated
                                     : Kind::kSingle;
  }
  if (field.is_map()) {
    out.key_type = field.message_type()->map_key()->type();
  }
  if (field.real_containing_oneof() != nullptr) {
    out.oneof = field.real_containing_oneof()->index();
  }
  if (wire::IsClosedEnum(field)) {
    out.is_closed_enum = true;
    out.enum_values = internal::ValuesOf(*field.enum_type());
  }
  return out;
}

}  // namespace

struct RequiredFields::Plan {
  std::vector<Message> messages;  // [0] is the record.
};

class RequiredFields::Checker {
 public:
  explicit Checker(const Plan& plan) : plan_(plan) {}

  absl::Status Check(uint32_t index, const Parts& parts) const {
    const Message& message = plan_.messages[index];
    std::vector<bool> is_set(message.required.size());
    std::map<const KnownField*, Parts> singles;
    std::map<const KnownField*, std::map<std::string, Parts>> maps;
    for (const std::string_view part : parts) {
      const char* const end = part.data() + part.size();
      for (const char* p = part.data(); p < end;) {
        Token token;
        p = ReadToken(p, end, &token);
        const auto it = message.fields.find(token.tag);
        if (it == message.fields.end()) continue;
        const KnownField& field = it->second;
        if (field.is_closed_enum &&
            !internal::Contains(field.enum_values,
                                static_cast<int32_t>(token.varint))) {
          continue;
        }
        if (field.required >= 0) is_set[field.required] = true;
        if (field.oneof >= 0) DropOtherMembers(field, &singles);
        if (field.kind == Kind::kSingle) {
          singles[&field].push_back(token.body);
        } else if (field.kind == Kind::kRepeated) {
          RETURN_IF_ERROR(Check(field.child, {token.body}));
        } else if (field.kind == Kind::kMap) {
          auto [key, value] = SplitEntry(field, token.body);
          maps[&field][std::move(key)] = std::move(value);
        }
      }
    }
    const auto missing = std::find(is_set.begin(), is_set.end(), false);
    if (missing != is_set.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the record lacks a required field message=", message.type_name,
          " field=", message.required[missing - is_set.begin()]));
    }
    for (const auto& [field, body] : singles) {
      RETURN_IF_ERROR(Check(field->child, body));
    }
    for (const auto& [field, entries] : maps) {
      for (const auto& [key, value] : entries) {
        RETURN_IF_ERROR(Check(field->child, value));
      }
    }
    return absl::OkStatus();
  }

 private:
  static void DropOtherMembers(const KnownField& field,
                               std::map<const KnownField*, Parts>* singles) {
    std::erase_if(*singles, [&](const auto& entry) {
      return entry.first != &field && entry.first->oneof == field.oneof;
    });
  }

  static std::pair<std::string, Parts> SplitEntry(const KnownField& field,
                                                  std::string_view entry) {
    const char* const end = entry.data() + entry.size();
    std::string key = KeyBytes(Token(), field.key_type);
    Parts value;
    for (const char* p = entry.data(); p < end;) {
      Token token;
      p = ReadToken(p, end, &token);
      if (wire::NumberOfTag(token.tag) == 1 &&
          wire::TypeOfTag(token.tag) == KeyWireType(field.key_type)) {
        key = KeyBytes(token, field.key_type);
      } else if (token.tag == wire::MakeTag(2, wire::kLengthDelimited)) {
        value.push_back(token.body);
      }
    }
    return {std::move(key), std::move(value)};
  }

  static wire::WireType KeyWireType(FieldDescriptor::Type type) {
    switch (type) {
      case FieldDescriptor::TYPE_STRING:
        return wire::kLengthDelimited;
      case FieldDescriptor::TYPE_FIXED32:
      case FieldDescriptor::TYPE_SFIXED32:
        return wire::kFixed32;
      case FieldDescriptor::TYPE_FIXED64:
      case FieldDescriptor::TYPE_SFIXED64:
        return wire::kFixed64;
      default:
        return wire::kVarint;
    }
  }

  const Plan& plan_;
};

RequiredFields::RequiredFields(std::unique_ptr<const Plan> plan)
    : plan_(std::move(plan)) {}
RequiredFields::~RequiredFields() = default;

std::unique_ptr<const RequiredFields> RequiredFields::Compile(
    const Descriptor& record) {
  const auto types = TypesToCheck(record);
  if (!types.contains(&record)) return nullptr;
  auto plan = std::make_unique<Plan>();
  absl::flat_hash_map<const Descriptor*, uint32_t> index = {{&record, 0}};
  std::vector<const Descriptor*> order = {&record};
  for (size_t i = 0; i < order.size(); ++i) {
    Message message;
    message.type_name = order[i]->full_name();
    for (const FieldDescriptor* field : KnownFields(*order[i])) {
      const Descriptor* child = field->message_type();
      if (field->is_map()) child = child->map_value()->message_type();
      const bool is_checked = child != nullptr && types.contains(child);
      KnownField out = MakeField(*field, is_checked);
      if (is_checked) {
        const auto next = static_cast<uint32_t>(order.size());
        const auto [it, added] = index.try_emplace(child, next);
        if (added) order.push_back(child);
        out.child = it->second;
      }
      if (field->is_required()) {
        out.required = static_cast<int>(message.required.size());
        message.required.push_back(field->name());
      }
      if (is_checked || out.required >= 0 || out.oneof >= 0) {
        message.fields.emplace(out.tag, std::move(out));
      }
    }
    plan->messages.push_back(std::move(message));
  }
  return std::unique_ptr<const RequiredFields>(
      new RequiredFields(std::move(plan)));
}

absl::Status RequiredFields::Check(std::string_view record) const {
  return Checker(*plan_).Check(0, {record});
}

}  // namespace dovetail

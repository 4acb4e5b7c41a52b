// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "observers/status_rules.h"

#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/coding.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "index/field_path.h"

namespace dovetail::internal {
namespace {

bool CanBeStatus(FieldType type) {
  switch (type) {
    case FieldType::kEnum:
    case FieldType::kInt32:
    case FieldType::kInt64:
    case FieldType::kUint32:
    case FieldType::kUint64:
    case FieldType::kString:
      return true;
    default:
      return false;
  }
}

absl::Status Refuse(const StatusRules& rules, std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("status rules are not valid: ", ToAbsl(what),
                   " table=", rules.table, " field=", rules.field));
}

}  // namespace

absl::StatusOr<CompiledStatusRules> CompiledStatusRules::Compile(
    const google::protobuf::Descriptor& record, const StatusRules& rules) {
  std::vector<std::string> paths = {rules.field};
  paths.insert(paths.end(), rules.identity.begin(), rules.identity.end());
  absl::StatusOr<Extractor> extractor = Extractor::Compile(record, paths);
  if (!extractor.ok())
    return Refuse(rules, ToStd(extractor.status().message()));
  const FieldType type = extractor->fields()[0].type;
  if (!CanBeStatus(type)) {
    return Refuse(rules, absl::StrCat("a status is an enum, an integer or a "
                                      "string, not a ",
                                      ToAbsl(FieldTypeName(type))));
  }
  if (rules.initial.empty()) return Refuse(rules, "no status is initial");

  CompiledStatusRules compiled(*std::move(extractor));
  if (type == FieldType::kEnum) {
    ASSIGN_OR_RETURN(const auto fields, ResolvePath(record, rules.field));
    const google::protobuf::EnumDescriptor& values =
        *fields.back()->enum_type();
    for (int i = 0; i < values.value_count(); ++i) {
      const google::protobuf::EnumValueDescriptor& value = *values.value(i);
      compiled.enum_names_.try_emplace(value.number(), value.name());
      compiled.enum_numbers_.try_emplace(value.name(), value.number());
    }
  }
  if (const absl::Status s = compiled.DeclareAll(rules); !s.ok()) {
    return Refuse(rules, ToStd(s.message()));
  }
  return compiled;
}

absl::Status CompiledStatusRules::DeclareAll(const StatusRules& rules) {
  allow_unknown_ = rules.allow_unknown;
  any_deletable_ = !rules.deletable.has_value();
  for (const Value& status : rules.initial) {
    ASSIGN_OR_RETURN(const size_t i, Declare(status));
    declared_[i].initial = true;
  }
  std::vector<std::pair<size_t, size_t>> moves;
  for (const StatusRules::Move& move : rules.moves) {
    ASSIGN_OR_RETURN(const size_t from, Declare(move.from));
    for (const Value& status : move.to) {
      ASSIGN_OR_RETURN(const size_t to, Declare(status));
      moves.emplace_back(from, to);
    }
  }
  std::vector<size_t> deletable;
  if (rules.deletable.has_value()) {
    for (const Value& status : *rules.deletable) {
      ASSIGN_OR_RETURN(const size_t i, Declare(status));
      deletable.push_back(i);
    }
  }
  for (Declared& d : declared_) {
    d.to.resize(declared_.size());
    d.deletable = any_deletable_;
  }
  for (const auto& [from, to] : moves) declared_[from].to[to] = true;
  for (const size_t i : deletable) declared_[i].deletable = true;
  return absl::OkStatus();
}

absl::StatusOr<size_t> CompiledStatusRules::Declare(const Value& status) {
  const FieldInfo& field = extractor_.fields()[0];
  Value number;
  const Value* given = &status;
  if (field.type == FieldType::kEnum && status.kind() == Value::Kind::kString) {
    const auto found = enum_numbers_.find(status.as_string());
    if (found == enum_numbers_.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the enum has no such value: value=", Quote(status.as_string())));
    }
    number = found->second;
    given = &number;
  }
  if (given->is_null() && !field.nullable) {
    return absl::InvalidArgumentError("the field is never null");
  }
  ASSIGN_OR_RETURN(FieldValue value, ToFieldValue(*given, field.type));
  if (const int i = Find(value); i >= 0) return static_cast<size_t>(i);
  Declared declared;
  declared.text = std::string(value.text);
  value.text = {};
  declared.value = value;
  declared_.push_back(std::move(declared));
  return declared_.size() - 1;
}

// Rules have a handful of statuses; a table of hashes would be slower.
int CompiledStatusRules::Find(const FieldValue& status) const {
  for (size_t i = 0; i < declared_.size(); ++i) {
    if (declared_[i].Is(status)) return static_cast<int>(i);
  }
  return -1;
}

absl::StatusOr<CompiledStatusRules::Image> CompiledStatusRules::Read(
    std::string_view bytes) const {
  Image image;
  image.fields.resize(extractor_.fields().size());
  const absl::Status extracted = extractor_.Extract(
      bytes, std::span<FieldValue>(image.fields.data(), image.fields.size()));
  if (!extracted.ok()) {
    return absl::DataLossError(absl::StrCat(
        "record does not parse; run verify: ", extracted.message()));
  }
  image.declared = Find(image.status());
  return image;
}

bool CompiledStatusRules::MayBegin(const Image& image) const {
  return image.declared < 0 ? allow_unknown_
                            : declared_[image.declared].initial;
}

bool CompiledStatusRules::MayMove(const Image& from, const Image& to) const {
  if (from.status() == to.status()) return true;
  if (!KnowsBoth(from, to)) return allow_unknown_;
  return declared_[from.declared].to[to.declared];
}

bool CompiledStatusRules::MayEnd(const Image& image) const {
  if (image.declared >= 0) return declared_[image.declared].deletable;
  return allow_unknown_ || any_deletable_;
}

std::string CompiledStatusRules::NameOf(const Image& image) const {
  const FieldType type = extractor_.fields()[0].type;
  if (type == FieldType::kEnum && !image.status().is_null) {
    const auto name =
        enum_names_.find(static_cast<int64_t>(image.status().bits));
    if (name != enum_names_.end()) return name->second;
  }
  return ToValue(image.status(), type).DebugString();
}

std::string CompiledStatusRules::DescribeIdentity(const Image& image) const {
  std::string out;
  for (size_t i = 1; i < image.fields.size(); ++i) {
    const FieldInfo& field = extractor_.fields()[i];
    absl::StrAppend(&out, " ", field.path, "=",
                    ToValue(image.fields[i], field.type).DebugString());
  }
  return out;
}

std::string CompiledStatusRules::IdentityOf(const Image& image) const {
  std::string out;
  for (size_t i = 1; i < image.fields.size(); ++i) {
    const FieldValue& v = image.fields[i];
    out.push_back(v.is_null ? 0 : 1);
    AppendVarint(v.bits, &out);
    AppendVarint(static_cast<uint32_t>(v.nanos), &out);
    AppendVarint(v.text.size(), &out);
    out.append(v.text);
  }
  return out;
}

}  // namespace dovetail::internal

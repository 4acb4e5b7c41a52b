// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/changes/field_source.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail::changes {
namespace {

using Kind = ForeignValue::Kind;

// What Debezium puts where the database did not log a large column.
constexpr std::string_view kUnavailable = "__debezium_unavailable_value";

absl::Status BadTemplate(std::string_view text, std::string_view cause) {
  return absl::InvalidArgumentError(
      absl::StrCat(ToAbsl(cause), ": template=", ToAbsl(Quote(text))));
}

absl::Status ParseTemplate(std::string_view text,
                           std::vector<std::string>* literals,
                           std::vector<std::string>* columns) {
  literals->emplace_back();
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '{' && c != '}') {
      literals->back() += c;
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == c) {
      literals->back() += c;
      ++i;
      continue;
    }
    const size_t close = text.find('}', i);
    if (c == '}' || close == std::string_view::npos || close == i + 1) {
      return BadTemplate(text,
                         "a brace without its partner, or without a column; "
                         "write {{ or }} for one as text");
    }
    columns->emplace_back(text.substr(i + 1, close - i - 1));
    literals->emplace_back();
    i = close;
  }
  if (columns->empty()) {
    return BadTemplate(text, "a template without a column; use constant");
  }
  return {};
}

}  // namespace

absl::StatusOr<FieldSource> FieldSource::Compile(
    const v1::FieldMapping& mapping, bool ignore_case) {
  FieldSource source;
  source.mapping_ = mapping;
  source.ignore_case_ = ignore_case;
  switch (mapping.source_case()) {
    case v1::FieldMapping::kColumn:
      source.literals_ = {"", ""};
      source.columns_ = {mapping.column()};
      break;
    case v1::FieldMapping::kConstant:
      source.literals_ = {mapping.constant()};
      break;
    case v1::FieldMapping::kTemplate:
      RETURN_IF_ERROR(ParseTemplate(mapping.template_(), &source.literals_,
                                    &source.columns_));
      break;
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("a field without column, constant or template: field=",
                       mapping.field()));
  }
  if (mapping.has_split() &&
      (mapping.split().separator().empty() ||
       mapping.split().part() >= mapping.split().parts())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a split needs a separator, and a part of its parts: field=",
        mapping.field()));
  }
  return source;
}

bool FieldSource::IsWithin(const std::vector<std::string>& prefixes) const {
  return !columns_.empty() &&
         std::all_of(columns_.begin(), columns_.end(),
                     [&](const std::string& column) {
                       return std::any_of(prefixes.begin(), prefixes.end(),
                                          [&](const std::string& prefix) {
                                            return column.starts_with(prefix);
                                          });
                     });
}

absl::Status FieldSource::Blame(const absl::Status& cause,
                                const ForeignValue& value) const {
  const std::string columns = absl::StrJoin(columns_, ",");
  return absl::InvalidArgumentError(absl::StrCat(
      cause.message(), ": field=", mapping_.field(),
      columns.empty() ? "" : " column=",
      columns.empty() ? "" : ToAbsl(Quote(columns)), " byte=", value.at));
}

const ForeignValue* FieldSource::FindColumn(const ForeignValue& image,
                                            std::string_view name) const {
  const ForeignValue* other_case = nullptr;
  for (const ForeignValue& member : image.members) {
    if (member.name == name) return &member;
    if (ignore_case_ && absl::EqualsIgnoreCase(member.name, ToAbsl(name))) {
      other_case = &member;
    }
  }
  if (other_case != nullptr) return other_case;
  // Members of members.
  for (size_t dot = name.find('.'); dot != std::string_view::npos;
       dot = name.find('.', dot + 1)) {
    const ForeignValue* parent = image.Find(name.substr(0, dot));
    if (parent == nullptr || parent->kind != Kind::kObject) continue;
    return FindColumn(*parent, name.substr(dot + 1));
  }
  return nullptr;
}

bool FieldSource::SaysNull(const ForeignValue& value) const {
  if (value.is_null()) return true;
  const auto& words = mapping_.null_texts();
  return std::find(words.begin(), words.end(), value.text) != words.end() &&
         value.members.empty();
}

absl::Status FieldSource::Split(ForeignValue* value) const {
  const v1::FieldMapping::Split& split = mapping_.split();
  const std::vector<std::string> parts =
      absl::StrSplit(value->text, split.separator());
  if (parts.size() != split.parts()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a text of another number of parts: parts=", parts.size(),
        " wanted=", split.parts(), " value=", ToAbsl(Quote(value->text))));
  }
  value->text = parts[split.part()];
  return {};
}

absl::StatusOr<FieldSource::Found> FieldSource::Read(
    const ForeignValue& image) const {
  Found found;
  found.present = true;
  found.value.kind = Kind::kString;
  found.value.text = literals_[0];
  const bool plain = mapping_.source_case() == v1::FieldMapping::kColumn;
  bool null = !columns_.empty();
  for (size_t i = 0; i < columns_.size(); ++i) {
    const ForeignValue* column = FindColumn(image, columns_[i]);
    if (column == nullptr ||
        (column->kind == Kind::kString && column->text == kUnavailable)) {
      return Found();
    }
    if (i == 0) found.value.at = column->at;
    const bool says_null = SaysNull(*column);
    null &= says_null;
    if (plain && !says_null) {
      found.value = *column;
    } else if (!says_null) {
      if (!column->members.empty()) {
        return Blame(
            absl::InvalidArgumentError("an object or array in a template"),
            *column);
      }
      absl::StrAppend(&found.value.text, column->text);
    }
    if (!plain) found.value.text += literals_[i + 1];
  }
  if (null) {
    const size_t at = found.value.at;
    found.value = ForeignValue();
    found.value.at = at;
    return found;
  }
  if (mapping_.has_split()) {
    if (absl::Status status = Split(&found.value); !status.ok()) {
      return Blame(status, found.value);
    }
  }
  return found;
}

}  // namespace dovetail::changes

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/column_map.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/exit_code.h"

namespace dovetail::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Message;

std::string ColumnNames(const std::vector<std::string>& columns) {
  constexpr size_t kShown = 40;
  std::vector<std::string> names;
  for (size_t i = 0; i < columns.size() && i < kShown; ++i) {
    names.push_back(Quote(columns[i]));
  }
  if (columns.size() > kShown) {
    names.push_back(absl::StrCat("and ", columns.size() - kShown, " more"));
  }
  return absl::StrJoin(names, " ");
}

// Adds which option the error is about, and makes it one of usage.
absl::Status InOption(std::string_view option, std::string_view spec,
                      const absl::Status& status) {
  return WithExitCode(
      WithContext(absl::StrCat(ToAbsl(option), " ", ToAbsl(Quote(spec, 256))),
                  status),
      ExitCode::kUsage);
}

}  // namespace

absl::Status SplitAssignment(std::string_view option, std::string_view text,
                             std::string* left, std::string* right) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return UsageError(absl::StrCat(ToAbsl(option), " ", ToAbsl(Quote(text)),
                                   ": write it as FIELD=..."));
  }
  *left = std::string(text.substr(0, equals));
  *right = std::string(text.substr(equals + 1));
  return {};
}

absl::StatusOr<ColumnMap> ColumnMap::Bind(
    const Message& prototype, const ColumnMapOptions& options,
    const std::vector<std::string>* columns) {
  const Descriptor* type = prototype.GetDescriptor();
  ColumnMap map;
  if (columns != nullptr) map.columns_ = *columns;
  for (const std::string& spec : options.maps) {
    RETURN_IF_ERROR(map.AddMap(type, spec, columns == nullptr));
  }
  if (options.maps.empty()) RETURN_IF_ERROR(map.AddSameNames(type));
  for (const std::string& spec : options.defaults) {
    RETURN_IF_ERROR(map.AddDefault(prototype, spec));
  }
  RETURN_IF_ERROR(map.AddKeys(type, options));
  if (columns != nullptr) map.ListUnused();
  return map;
}

absl::Status ColumnMap::AddMap(const Descriptor* type, std::string_view spec,
                               bool any_column) {
  std::string path, text;
  RETURN_IF_ERROR(SplitAssignment("--map", spec, &path, &text));
  absl::StatusOr<FieldPath> field = FieldPath::Resolve(type, path);
  if (!field.ok()) return InOption("--map", spec, field.status());
  if (FindSource(path) != nullptr) {
    return InOption("--map", spec,
                    absl::InvalidArgumentError(absl::StrCat(
                        "the field is mapped twice: field=", path)));
  }
  Source source{*std::move(field), {}, {}, {}};
  absl::Status status = ParseSource(text, any_column, &source);
  if (status.ok()) status = CheckConversion(source.field, source.conversion);
  if (!status.ok()) return InOption("--map", spec, status);
  sources_.push_back(std::move(source));
  return {};
}

absl::Status ColumnMap::AddSameNames(const Descriptor* type) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (type->FindFieldByName(columns_[i]) == nullptr) continue;
    ASSIGN_OR_RETURN(FieldPath field, FieldPath::Resolve(type, columns_[i]));
    ASSIGN_OR_RETURN(const size_t column, FindColumn(columns_[i], false));
    sources_.push_back(Source{std::move(field), {}, {Piece{"", column}}, {}});
  }
  if (!sources_.empty()) return {};
  std::vector<std::string> fields;
  for (int i = 0; i < type->field_count(); ++i) {
    fields.push_back(type->field(i)->name());
  }
  return WithExitCode(
      WithHint(absl::InvalidArgumentError(
                   absl::StrCat("no column has the name of a field: columns=[",
                                ColumnNames(columns_), "] fields=\"",
                                absl::StrJoin(fields, " "), "\"")),
               "Say which column fills which field: --map FIELD=COLUMN"),
      ExitCode::kUsage);
}

absl::Status ColumnMap::AddDefault(const Message& prototype,
                                   std::string_view spec) {
  std::string path, text;
  RETURN_IF_ERROR(SplitAssignment("--default", spec, &path, &text));
  Source* source = FindSource(path);
  if (source == nullptr) {
    absl::StatusOr<FieldPath> field =
        FieldPath::Resolve(prototype.GetDescriptor(), path);
    if (!field.ok()) return InOption("--default", spec, field.status());
    sources_.push_back(Source{*std::move(field), {}, {}, {}});
    source = &sources_.back();
  } else if (source->default_text.has_value()) {
    return InOption("--default", spec,
                    absl::InvalidArgumentError("the field has two defaults"));
  }
  const std::unique_ptr<Message> scratch(prototype.New());
  const absl::Status status =
      SetFromText(source->field, source->conversion, text, scratch.get());
  if (!status.ok()) return InOption("--default", spec, status);
  source->default_text = std::move(text);
  return {};
}

absl::Status ColumnMap::AddKeys(const Descriptor* type,
                                const ColumnMapOptions& options) {
  for (const std::string& path : options.key_fields) {
    if (FindSource(path) != nullptr) continue;
    ASSIGN_OR_RETURN(const FieldPath field, FieldPath::Resolve(type, path));
    if (field.leaf()->has_presence()) continue;
    return WithExitCode(
        WithHint(absl::InvalidArgumentError(absl::StrCat(
                     "no column fills a field that keys are made of: field=",
                     path, " columns=[", ColumnNames(columns_), "]")),
                 absl::StrCat("Add --map ", path, "=COLUMN, or --default ",
                              path, "=VALUE")),
        ExitCode::kUsage);
  }
  if (options.allow_empty_keys) return {};
  ASSIGN_OR_RETURN(keys_, TextKeys(type, options.key_fields));
  return {};
}

// "column", "column:conversion" or a template, which a brace makes it. A
// colon that no conversion follows belongs to the column's name.
absl::Status ColumnMap::ParseSource(std::string_view text, bool any_column,
                                    Source* source) {
  absl::Status no_conversion;
  const bool whole = !any_column && std::find(columns_.begin(), columns_.end(),
                                              text) != columns_.end();
  // Formats may hold colons, so the first one that works counts.
  for (size_t colon = text.find(':'); !whole && colon != text.npos;
       colon = text.find(':', colon + 1)) {
    absl::StatusOr<Conversion> conversion =
        ParseConversion(text.substr(colon + 1));
    if (conversion.ok()) {
      source->conversion = *std::move(conversion);
      text = text.substr(0, colon);
      no_conversion = absl::OkStatus();
      break;
    }
    if (no_conversion.ok()) no_conversion = conversion.status();
  }
  if (!whole && text.find_first_of("{}") != text.npos) {
    return ParseTemplate(text, any_column, &source->pieces);
  }
  absl::StatusOr<size_t> column = FindColumn(text, any_column);
  if (!column.ok()) {
    return no_conversion.ok() ? column.status() : no_conversion;
  }
  source->pieces.push_back(Piece{"", *column});
  return {};
}

absl::Status ColumnMap::ParseTemplate(std::string_view text, bool any_column,
                                      std::vector<Piece>* pieces) {
  Piece piece;
  bool has_column = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '{' && c != '}') {
      piece.literal += c;
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == c) {
      piece.literal += c;
      ++i;
      continue;
    }
    const size_t close = text.find('}', i);
    if (c == '}' || close == std::string_view::npos) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a brace without its partner in the template; write {{ or }} for "
          "one as text: offset=",
          i));
    }
    ASSIGN_OR_RETURN(piece.column,
                     FindColumn(text.substr(i + 1, close - i - 1), any_column));
    pieces->push_back(std::move(piece));
    piece = Piece();
    has_column = true;
    i = close;
  }
  if (!piece.literal.empty()) pieces->push_back(std::move(piece));
  if (has_column) return {};
  return absl::InvalidArgumentError(
      "the template names no column; use --default FIELD=VALUE for a fixed "
      "value");
}

absl::StatusOr<size_t> ColumnMap::FindColumn(std::string_view name,
                                             bool any_column) {
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  const size_t index = static_cast<size_t>(found - columns_.begin());
  if (any_column && found == columns_.end()) {
    columns_.emplace_back(name);
    return index;
  }
  if (found == columns_.end()) {
    return absl::NotFoundError(
        absl::StrCat("no such column: column=", ToAbsl(Quote(name)),
                     " columns=[", ColumnNames(columns_), "]"));
  }
  const auto again = std::find(found + 1, columns_.end(), name);
  if (!any_column && again != columns_.end()) {
    return WithExitCode(
        absl::InvalidArgumentError(
            absl::StrCat("two columns have the same name; rename one: column=",
                         ToAbsl(Quote(name)), " first=", index + 1,
                         " second=", again - columns_.begin() + 1)),
        ExitCode::kUsage);
  }
  return index;
}

ColumnMap::Source* ColumnMap::FindSource(std::string_view path) {
  for (Source& source : sources_) {
    if (source.field.path() == path) return &source;
  }
  return nullptr;
}

void ColumnMap::ListUnused() {
  std::vector<bool> used(columns_.size());
  for (const Source& source : sources_) {
    for (const Piece& piece : source.pieces) {
      if (piece.column.has_value()) used[*piece.column] = true;
    }
  }
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (!used[i]) unused_.push_back(columns_[i]);
  }
}

ColumnMap::Filled ColumnMap::Fill(const std::vector<Cell>& cells,
                                  Message* record) const {
  for (const Source& source : sources_) {
    Filled filled = FillOne(source, cells, record);
    if (!filled.status.ok()) return filled;
  }
  for (const FieldPath& key : keys_) {
    absl::Status status = CheckKeys({key}, *record);
    if (status.ok()) continue;
    for (const Source& source : sources_) {
      if (source.field.path() != key.path() || source.pieces.empty()) continue;
      return {std::move(status), source.pieces.front().column};
    }
    return {std::move(status), std::nullopt};
  }
  return {};
}

ColumnMap::Filled ColumnMap::FillOne(const Source& source,
                                     const std::vector<Cell>& cells,
                                     Message* record) const {
  std::string text;
  bool null = true;
  std::optional<size_t> blame;
  for (const Piece& piece : source.pieces) {
    text += piece.literal;
    if (!piece.column.has_value()) continue;
    if (!blame.has_value()) blame = piece.column;
    text += cells[*piece.column].text;
    null &= cells[*piece.column].null;
  }
  const FieldPath& field = source.field;
  if (source.pieces.empty() || null || text.empty()) {
    if (source.default_text.has_value()) {
      text = *source.default_text;
    } else if (field.leaf()->has_presence()) {
      return {};
    } else if (!field.is_text()) {
      return {absl::InvalidArgumentError(
                  absl::StrCat("no value; give empty cells one with --default ",
                               field.path(), "=VALUE")),
              blame};
    }
  }
  return {SetFromText(field, source.conversion, text, record), blame};
}

absl::StatusOr<std::vector<FieldPath>> TextKeys(
    const Descriptor* type, const std::vector<std::string>& paths) {
  std::vector<FieldPath> keys;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(FieldPath field, FieldPath::Resolve(type, path));
    if (field.is_text()) keys.push_back(std::move(field));
  }
  return keys;
}

absl::Status CheckKeys(const std::vector<FieldPath>& keys,
                       const Message& record) {
  for (const FieldPath& key : keys) {
    if (!key.IsEmptyText(record)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("empty, but keys are made of it: field=", key.path(),
                     "; --allow-empty-keys takes it as it is"));
  }
  return {};
}

}  // namespace dovetail::cli

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/changes/hbase_wal.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail::changes {
namespace {

using Kind = ForeignValue::Kind;

constexpr std::string_view kEdit = "Sequence=";
constexpr std::string_view kCell = "row=";
constexpr std::string_view kColumn = ", column=";
constexpr std::string_view kType = ", type=";
constexpr std::string_view kTable = ", table=";
constexpr std::string_view kRegion = ", region=";
constexpr std::string_view kValue = "    value: ";
constexpr std::string_view kTag = "    tag: ";
constexpr std::string_view kNoise[] = {
    "Writer Classes: ", "Cell Codec Class: ",    "edit heap size: ",
    "position: ",       "cell total size sum: ",
};
constexpr size_t kCutMax = 64 << 10;

bool IsNoise(std::string_view text) {
  return std::any_of(
      std::begin(kNoise), std::end(kNoise),
      [text](std::string_view noise) { return text.starts_with(noise); });
}

// Behind what joins the objects of the array.
size_t SkipJoints(std::string_view line) {
  return std::min(line.find_first_not_of("[], \t"), line.size());
}

absl::StatusOr<HBaseCell> CellOf(Line* line, const ForeignValue& action) {
  if (action.kind != Kind::kObject) {
    return line->Error(action.at, "an action that is no object");
  }
  HBaseCell cell;
  cell.at = action.at;
  ASSIGN_OR_RETURN(cell.family, TextOf(line, action, "family"));
  ASSIGN_OR_RETURN(cell.qualifier, TextOf(line, action, "qualifier"));
  ASSIGN_OR_RETURN(cell.type, TextOf(line, action, "type"));
  const ForeignValue* row = action.Find("row");
  if (row == nullptr || row->kind != Kind::kString) {
    return line->Error(action.at, "an action without its row");
  }
  absl::StatusOr<std::string> bytes = FromStringBinary(row->text);
  if (!bytes.ok()) return line->Error(*row, ToStd(bytes.status().message()));
  cell.row = *std::move(bytes);
  if (const ForeignValue* time = action.Find("timestamp")) {
    int64_t millis = 0;
    if (absl::SimpleAtoi(time->text, &millis)) cell.timestamp = millis;
  }
  const ForeignValue* value = action.Find("value");
  const ForeignValue* length = action.Find("vlen");
  if (value != nullptr && value->kind == Kind::kString) {
    bytes = FromStringBinary(value->text);
    if (!bytes.ok()) {
      return line->Error(*value, ToStd(bytes.status().message()));
    }
    cell.value = *std::move(bytes);
  } else if (length != nullptr && length->text == "0") {
    cell.value.emplace();
  }
  return cell;
}

// A dump of a TableName object, or the name itself.
std::string_view TableNameOf(const ForeignValue& edit) {
  const ForeignValue* table = edit.Find("table");
  if (table == nullptr) return {};
  if (table->kind == Kind::kString) return table->text;
  const ForeignValue* name = table->Find("nameAsString");
  return name == nullptr ? std::string_view() : name->text;
}

}  // namespace

HBaseWalReader::HBaseWalReader(ReadFunction read,
                               const ChangeReaderOptions& options)
    : options_(options),
      json_limits_{options.depth_max, options.entry_values_max},
      source_(std::move(read)),
      lines_(&source_, options.entry_bytes_max) {}

absl::Status HBaseWalReader::Start() { return lines_.Start(); }

absl::Status HBaseWalReader::SkipLines(uint64_t lines) {
  return lines_.SkipLines(lines);
}

absl::StatusOr<bool> HBaseWalReader::Advance() {
  if (std::exchange(held_, false)) return true;
  return lines_.Next();
}

HBaseWalReader::LineKind HBaseWalReader::KindOf(std::string_view line) {
  if (line.starts_with(kEdit)) return LineKind::kEdit;
  if (line.starts_with(kCell)) return LineKind::kCell;
  if (line.starts_with(kValue) || line.starts_with(kTag)) {
    return LineKind::kDetail;
  }
  const std::string_view rest = line.substr(SkipJoints(line));
  if (rest.empty()) return LineKind::kBlank;
  if (rest[0] == '{') return LineKind::kJson;
  return IsNoise(rest) ? LineKind::kNoise : LineKind::kUnknown;
}

absl::StatusOr<bool> HBaseWalReader::Next(ChangeEntry* entry) {
  *entry = ChangeEntry();
  raw_.clear();
  for (;;) {
    const absl::StatusOr<bool> more = Advance();
    if (edit_.open && absl::IsInvalidArgument(more.status())) {
      edit_.error.Update(ErrorHere(0, ToStd(more.status().message())));
      continue;
    }
    if (!more.ok() || !*more) return AtEnd(more, entry);
    const LineKind kind = KindOf(lines_.text());
    if (edit_.open && IsInside(kind)) {
      AddToEdit(kind);
      continue;
    }
    if (edit_.open) {  // The line belongs to what comes next.
      held_ = true;
      return CloseEdit(lines_.line() - 1, entry);
    }
    if (kind == LineKind::kNoise || kind == LineKind::kBlank) continue;
    entry->line = entry->last_line = lines_.line();
    entry->offset = lines_.offset();
    if (kind == LineKind::kEdit) {
      OpenEdit();
      continue;
    }
    raw_ = std::string(lines_.text());
    if (kind == LineKind::kJson) return TakeJson(entry);
    return ErrorHere(0, "a line that the printer does not write");
  }
}

absl::StatusOr<bool> HBaseWalReader::AtEnd(const absl::StatusOr<bool>& more,
                                           ChangeEntry* entry) {
  if (more.ok() && edit_.open) return CloseEdit(lines_.line(), entry);
  if (!absl::IsInvalidArgument(more.status())) return more;
  entry->line = entry->last_line = lines_.line();
  entry->offset = lines_.offset();
  raw_ = std::string(lines_.text());
  return ErrorHere(0, ToStd(more.status().message()));
}

absl::StatusOr<bool> HBaseWalReader::TakeJson(ChangeEntry* entry) {
  Line line(lines_.text(), json_limits_);
  const absl::Status status = DecodeJson(&line, entry);
  if (status.ok()) return true;
  entry->changes.clear();
  return ErrorHere(line.at(), ToStd(status.message()));
}

absl::Status HBaseWalReader::DecodeJson(Line* line, ChangeEntry* entry) {
  size_t end = 0;
  ASSIGN_OR_RETURN(const ForeignValue edit,
                   line->Json(SkipJoints(line->text()), &end));
  std::string_view rest = line->text().substr(end);
  rest.remove_prefix(SkipJoints(rest));
  if (!rest.empty() && !IsNoise(rest)) {
    return line->Error(line->text().size() - rest.size(),
                       "text behind the edit");
  }
  const ForeignValue* actions = edit.Find("actions");
  if (actions == nullptr || actions->kind != Kind::kArray) {
    return line->Error(edit.at, "an edit without actions");
  }
  std::vector<HBaseCell> cells;
  for (const ForeignValue& action : actions->members) {
    ASSIGN_OR_RETURN(HBaseCell cell, CellOf(line, action));
    cells.push_back(std::move(cell));
  }
  ForeignChange common;
  SetHBaseTable(TableNameOf(edit), &common);
  return AppendHBaseChanges(line, common, cells, &entry->changes);
}

void HBaseWalReader::OpenEdit() {
  edit_ = Edit();
  edit_.open = true;
  edit_.offset = lines_.offset();
  AppendRaw();
  const std::string_view text = lines_.text();
  const size_t table = text.find(kTable);
  const size_t region = text.rfind(kRegion);
  if (table == std::string_view::npos || region == std::string_view::npos ||
      region < table) {
    return;
  }
  const size_t begin = table + kTable.size();
  SetHBaseTable(text.substr(begin, region - begin), &edit_.common);
}

void HBaseWalReader::AppendRaw() {
  if (raw_.size() >= kCutMax) return;
  if (!raw_.empty()) raw_ += '\n';
  raw_.append(lines_.text().substr(0, kCutMax - raw_.size()));
}

bool HBaseWalReader::IsInside(LineKind kind) {
  return kind == LineKind::kCell || kind == LineKind::kDetail ||
         kind == LineKind::kNoise || kind == LineKind::kBlank;
}

void HBaseWalReader::AddToEdit(LineKind kind) {
  AppendRaw();
  const std::string_view text = lines_.text();
  edit_.bytes += text.size();
  if (edit_.bytes > options_.entry_bytes_max ||
      edit_.cells.size() >= options_.entry_values_max) {
    edit_.error.Update(ErrorHere(0, "an edit that is too large"));
    edit_.cells.clear();
  } else if (kind == LineKind::kCell) {
    edit_.error.Update(AddCell(text));
  } else if (text.starts_with(kValue)) {
    edit_.error.Update(AddValue(text.substr(kValue.size())));
  }
}

absl::Status HBaseWalReader::AddValue(std::string_view text) {
  absl::StatusOr<std::string> value = FromStringBinary(text);
  if (!value.ok() || edit_.cells.empty()) {
    return ErrorHere(0, "a value that is none of a cell");
  }
  edit_.cells.back().value = *std::move(value);
  return {};
}

// Any byte but a backslash stands for itself, so that a row may hold the words
// that end it: only what can be read one way is read.
absl::Status HBaseWalReader::AddCell(std::string_view text) {
  const size_t column = text.find(kColumn);
  if (column == std::string_view::npos || text.rfind(kColumn) != column) {
    return ErrorHere(0, "a cell that can be read in several ways; use -j");
  }
  const size_t type = text.rfind(kType);
  const bool typed = type != std::string_view::npos && type > column;
  const size_t name = column + kColumn.size();
  const std::string_view full =
      text.substr(name, typed ? type - name : std::string_view::npos);
  const size_t colon = full.find(':');
  absl::StatusOr<std::string> row =
      FromStringBinary(text.substr(kCell.size(), column - kCell.size()));
  if (!row.ok() || colon == std::string_view::npos) {
    return ErrorHere(0, "a cell without row or column");
  }
  HBaseCell& cell = edit_.cells.emplace_back();
  cell.at = lines_.offset() - edit_.offset;
  cell.row = *std::move(row);
  cell.family = std::string(full.substr(0, colon));
  cell.qualifier = std::string(full.substr(colon + 1));
  if (typed) cell.type = std::string(text.substr(type + kType.size()));
  return {};
}

absl::StatusOr<bool> HBaseWalReader::CloseEdit(uint64_t last_line,
                                               ChangeEntry* entry) {
  entry->last_line = last_line;
  edit_.open = false;
  RETURN_IF_ERROR(edit_.error);
  Line line({}, json_limits_);
  const absl::Status status =
      AppendHBaseChanges(&line, edit_.common, edit_.cells, &entry->changes);
  if (status.ok()) return true;
  entry->changes.clear();
  return absl::InvalidArgumentError(absl::StrCat(
      status.message(), ": line=", entry->line, " byte=", line.at()));
}

absl::Status HBaseWalReader::ErrorHere(size_t at,
                                       std::string_view cause) const {
  return absl::InvalidArgumentError(
      absl::StrCat(ToAbsl(cause), ": line=", lines_.line(), " byte=", at));
}

}  // namespace dovetail::changes

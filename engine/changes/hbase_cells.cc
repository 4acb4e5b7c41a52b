// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/changes/hbase_cells.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail::changes {
namespace {

using Kind = ForeignValue::Kind;

constexpr std::string_view kMetaFamily = "METAFAMILY";
constexpr std::string_view kMetaRow = "METAROW";
// The year 2200. HBase's own "latest" is the largest int64.
constexpr int64_t kTimeMsMax = 7'258'118'400'000;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// What the cells of one row come to. Without timestamps the later cell wins.
class RowEdit {
 public:
  RowEdit(std::string row, size_t at) : row_(std::move(row)), at_(at) {}

  const std::string& row() const { return row_; }

  absl::Status Add(Line* line, const HBaseCell& cell) {
    ++cells_;
    time_ms_ = std::max(time_ms_, cell.timestamp);
    if (cell.type == "Put") return Put(line, cell);
    if (cell.type == "DeleteColumn") {
      Apply(cell, std::nullopt);
      return {};
    }
    if (cell.type == "DeleteFamily") {
      DeleteFamily(cell);
      return {};
    }
    if (cell.type == "Delete" || cell.type == "DeleteFamilyVersion") {
      return line->Error(
          cell.at, absl::StrCat("a delete of one version, which brings back "
                                "the version before: type=",
                                cell.type));
    }
    return line->Error(
        cell.at, cell.type.empty()
                     ? "a cell without its type: this printer does not say "
                       "whether it is a put or a delete; use -j"
                     : absl::StrCat("a cell of a type that is not known: type=",
                                    ToAbsl(Quote(cell.type))));
  }

  ForeignChange Finish(const ForeignChange& common) const {
    ForeignChange change = common;
    change.kind = ChangeKind::kMerge;
    change.at = at_;
    if (time_ms_ > 0 && time_ms_ < kTimeMsMax) {
      change.time_us = *time_ms_ * 1000;
    }
    for (const auto& [family, deleted] : families_) {
      change.cleared.push_back(absl::StrCat(family, ":"));
    }
    ForeignValue& after = change.after.emplace();
    after.kind = Kind::kObject;
    after.at = at_;
    Append("row", row_, at_, &after);
    for (const auto& [name, column] : columns_) {
      if (IsHidden(column)) continue;
      Append(name, column.value, column.at, &after);
    }
    return change;
  }

 private:
  struct Column {
    std::optional<std::string> value;
    std::string family;
    std::optional<int64_t> timestamp;
    size_t cell = 0;  // The number of the cell that set it.
    size_t at = 0;
  };
  struct Deleted {  // A family.
    std::optional<int64_t> timestamp;
    size_t cell = 0;
  };

  static void Append(std::string_view name,
                     const std::optional<std::string>& value, size_t at,
                     ForeignValue* object) {
    ForeignValue& member = object->members.emplace_back();
    member.name = std::string(name);
    member.name_at = member.at = at;
    if (!value.has_value()) return;
    member.kind = Kind::kBytes;
    member.text = *value;
  }

  // Whether `cell` changes nothing of what something at `timestamp` did.
  static bool IsOlder(const HBaseCell& cell, std::optional<int64_t> timestamp,
                      bool by_delete) {
    if (!cell.timestamp.has_value() || !timestamp.has_value()) return false;
    return *cell.timestamp < *timestamp ||
           (by_delete && *cell.timestamp == *timestamp);
  }

  absl::Status Put(Line* line, const HBaseCell& cell) {
    if (!cell.value.has_value()) {
      return line->Error(cell.at,
                         "a put without its value; have the printer show "
                         "values with -p");
    }
    Apply(cell, cell.value);
    return {};
  }

  void Apply(const HBaseCell& cell, const std::optional<std::string>& value) {
    Column& column = columns_[absl::StrCat(cell.family, ":", cell.qualifier)];
    const bool was_delete = !column.value.has_value();
    if (IsOlder(cell, column.timestamp, was_delete)) return;
    column = {value, cell.family, cell.timestamp, cells_, cell.at};
  }

  void DeleteFamily(const HBaseCell& cell) {
    Deleted& deleted = families_[cell.family];
    deleted.timestamp = std::max(deleted.timestamp, cell.timestamp);
    deleted.cell = cells_;
  }

  bool IsHidden(const Column& column) const {
    const auto family = families_.find(column.family);
    if (family == families_.end()) return false;
    const Deleted& deleted = family->second;
    return column.timestamp.has_value() && deleted.timestamp.has_value()
               ? *column.timestamp <= *deleted.timestamp
               : column.cell < deleted.cell;
  }

  std::string row_;
  size_t at_;
  size_t cells_ = 0;  // So far.
  std::optional<int64_t> time_ms_;
  std::map<std::string, Deleted> families_;
  std::map<std::string, Column> columns_;
};

}  // namespace

absl::StatusOr<std::string> FromStringBinary(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
      continue;
    }
    const int high = i + 3 < text.size() ? HexDigit(text[i + 2]) : -1;
    const int low = high >= 0 ? HexDigit(text[i + 3]) : -1;
    if (low < 0 || text[i + 1] != 'x') {
      return absl::InvalidArgumentError(absl::StrCat(
          "a backslash without xHH behind it: text=", ToAbsl(Quote(text))));
    }
    bytes += static_cast<char>(high << 4 | low);
    i += 3;
  }
  return bytes;
}

void SetHBaseTable(std::string_view name, ForeignChange* change) {
  const size_t colon = name.find(':');
  const bool has_namespace = colon != std::string_view::npos;
  change->database = has_namespace ? std::string(name.substr(0, colon)) : "";
  change->table = std::string(has_namespace ? name.substr(colon + 1) : name);
}

absl::Status AppendHBaseChanges(Line* line, const ForeignChange& common,
                                const std::vector<HBaseCell>& cells,
                                std::vector<ForeignChange>* changes) {
  std::vector<RowEdit> rows;
  std::map<std::string_view, size_t> places;
  for (const HBaseCell& cell : cells) {
    if (cell.family == kMetaFamily || cell.row == kMetaRow) continue;
    const auto [place, is_new] = places.try_emplace(cell.row, rows.size());
    if (is_new) rows.emplace_back(cell.row, cell.at);
    RETURN_IF_ERROR(rows[place->second].Add(line, cell));
  }
  for (const RowEdit& row : rows) changes->push_back(row.Finish(common));
  if (!rows.empty()) return {};
  changes->push_back(common);
  changes->back().kind = ChangeKind::kInternal;
  return {};
}

}  // namespace dovetail::changes

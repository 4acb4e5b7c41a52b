// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/database.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/exit_code.h"
#include "cli/field_text.h"
#include "cli/suggest.h"
#include "dovetail/errors.h"

namespace dovetail::cli {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// What the process is called; empty if that cannot be read.
std::string ProcessName(int64_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/comm"));
  std::string name;
  std::getline(file, name);
  return name;
}

absl::Status InUseError(const std::string& path, int64_t pid) {
  const std::string name = pid == 0 ? "" : ProcessName(pid);
  const std::string who =
      pid == 0
          ? "another process, which has not said which one it is"
          : absl::StrCat("process ", pid,
                         name.empty() ? "" : absl::StrCat(" (", name, ")"));
  return WithHint(
      WithExitCode(absl::FailedPreconditionError(
                       absl::StrCat("the database ", ToAbsl(Quote(path, 1024)),
                                    " is in use by ", who)),
                   ExitCode::kInUse),
      "One process at a time can have it open. Wait for the other one, or "
      "end it, and try again.");
}

std::vector<std::string> TableNames(const v1::Schema& schema) {
  std::vector<std::string> names;
  for (const v1::TableSchema& table : schema.tables()) {
    names.push_back(table.name());
  }
  return names;
}

}  // namespace

absl::Status ExplainOpen(const std::string& path, const absl::Status& status) {
  const absl::Status named = WithContext(
      absl::StrCat("cannot open the database ", ToAbsl(Quote(path, 1024))),
      status);
  const std::optional<int64_t> holder = InUseByProcess(status);
  if (holder.has_value()) return InUseError(path, *holder);
  switch (status.code()) {
    case absl::StatusCode::kFailedPrecondition:
      return named;
    case absl::StatusCode::kNotFound:
      return WithHint(named,
                      absl::StrCat("Check the path, or create it: dovetail "
                                   "init ",
                                   path, " --preset seller_orders"));
    case absl::StatusCode::kPermissionDenied:
      return WithHint(named,
                      "Even reading needs write access, for the lock and for "
                      "recovery. Check owner and mode of the directory.");
    case absl::StatusCode::kDataLoss:
      return WithHint(named,
                      "Acknowledged data is damaged; nothing was changed. "
                      "Copy the directory away as it is, then restore a "
                      "backup.");
    case absl::StatusCode::kResourceExhausted:
      return WithHint(named, "Free some disk space, then try again.");
    default:
      return WithHint(named,
                      "Check that the path is the directory of a database, "
                      "and that this user may write there.");
  }
}

absl::StatusOr<std::unique_ptr<Engine>> OpenDatabase(
    const std::string& path, const Console& console, bool background_work,
    const std::optional<WriteLogOptions>& write_log) {
  Options options;
  options.write_log = write_log;
  options.create_if_missing = false;
  options.background_work = background_work;
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      Engine::Open(path, Schema(), std::move(options));
  if (!engine.ok()) return ExplainOpen(path, engine.status());
  const OpenReport& report = (*engine)->open_report();
  if (report.log_bytes_cut > 0) {
    Note(console,
         absl::StrCat("recovered: a write that never became durable was cut "
                      "off and kept in lost/: bytes=",
                      report.log_bytes_cut, " detail=", report.log_cut));
  }
  for (const WriteLogCut& cut : report.write_log_cuts) {
    Note(console,
         absl::StrCat("recovered: the write log was cut: file=", cut.file,
                      " offset=", cut.offset, " bytes=", cut.bytes,
                      " reason=", cut.reason, " kept=", cut.kept_as));
  }
  return engine;
}

absl::StatusOr<DynamicTable> OpenTable(Engine* engine, std::string_view name) {
  absl::StatusOr<DynamicTable> table = DynamicTable::Bind(engine, name);
  if (table.ok() || !absl::IsNotFound(table.status())) return table;
  ASSIGN_OR_RETURN(const v1::Schema schema, engine->GetSchema());
  const std::vector<std::string> names = TableNames(schema);
  return WithHint(
      absl::NotFoundError(
          absl::StrCat("no such table: table=", ToAbsl(Quote(name)))),
      names.empty()
          ? std::string("The database has no table; dovetail init adds some.")
          : absl::StrCat(DidYouMean(name, names),
                         "The database has: ", absl::StrJoin(names, " ")));
}

absl::StatusOr<std::vector<std::string>> IndexColumns(const DynamicTable& table,
                                                      std::string_view index) {
  absl::StatusOr<std::vector<std::string>> columns = table.Columns(index);
  if (columns.ok() || !absl::IsNotFound(columns.status())) return columns;
  std::vector<std::string> names;
  for (const v1::IndexSchema& other : table.schema().indexes()) {
    names.push_back(other.name());
  }
  return WithHint(
      absl::NotFoundError(
          absl::StrCat("no such index: index=", ToAbsl(Quote(index)))),
      absl::StrCat(DidYouMean(index, names), "Table ", table.name(), " has: ",
                   names.empty() ? "none" : absl::StrJoin(names, " ")));
}

absl::StatusOr<std::string> Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const std::string_view rest = text.substr(i + 1);
    if (rest.starts_with('\\')) {
      out += '\\';
      ++i;
      continue;
    }
    const bool hex = rest.size() >= 3 && rest[0] == 'x' &&
                     HexDigit(rest[1]) >= 0 && HexDigit(rest[2]) >= 0;
    if (!hex) {
      return UsageError(absl::StrCat(
          "unknown escape in an argument; \\xNN is a byte, \\\\ a backslash, "
          "\\N alone null: argument=",
          ToAbsl(text)));
    }
    out += static_cast<char>(HexDigit(rest[1]) * 16 + HexDigit(rest[2]));
    i += 3;
  }
  return out;
}

absl::StatusOr<Value> ParseWord(const DynamicTable& table,
                                std::string_view column,
                                std::string_view word) {
  if (word == "\\N") return Value();
  ASSIGN_OR_RETURN(std::string text, Unescape(word));
  ASSIGN_OR_RETURN(const FieldPath field,
                   FieldPath::Resolve(table.record_type(), column));
  if (field.is_text()) return Value(std::move(text));
  absl::StatusOr<Value> value =
      table.ParseValue(column, TimeArgument(field, text));
  if (value.ok()) return value;
  return UsageError(
      absl::StrCat("column ", ToAbsl(column), ": ", value.status().message()));
}

absl::StatusOr<std::vector<Value>> ParseWords(
    const DynamicTable& table, const std::vector<std::string>& columns,
    const std::vector<std::string>& words, size_t at_least) {
  if (words.size() < at_least || words.size() > columns.size()) {
    const std::string range =
        at_least == columns.size()
            ? absl::StrCat(at_least)
            : absl::StrCat(at_least, " to ", columns.size());
    return UsageError(absl::StrCat(
        "wrong number of values: given=", words.size(), " needed=", range,
        " columns=\"", absl::StrJoin(columns, " "), "\""));
  }
  std::vector<Value> values;
  for (size_t i = 0; i < words.size(); ++i) {
    ASSIGN_OR_RETURN(Value value, ParseWord(table, columns[i], words[i]));
    values.push_back(std::move(value));
  }
  return values;
}

absl::StatusOr<std::vector<std::string>> KeyFields(const DynamicTable& table) {
  ASSIGN_OR_RETURN(std::vector<std::string> fields, table.Columns(""));
  for (const v1::IndexSchema& index : table.schema().indexes()) {
    if (index.kind() != v1::IndexSchema::UNIQUE) continue;
    ASSIGN_OR_RETURN(const std::vector<std::string> more,
                     table.Columns(index.name()));
    for (const std::string& field : more) {
      if (std::find(fields.begin(), fields.end(), field) == fields.end()) {
        fields.push_back(field);
      }
    }
  }
  return fields;
}

}  // namespace dovetail::cli

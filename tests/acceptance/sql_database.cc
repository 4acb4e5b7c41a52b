// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "tests/acceptance/sql_database.h"

#include <cstdlib>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/strings.h"

namespace dovetail::test {
namespace {

int Bind(sqlite3_stmt* statement, int at, const SqlValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return sqlite3_bind_int64(statement, at, *number);
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return sqlite3_bind_double(statement, at, *real);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return sqlite3_bind_text(statement, at, text->data(),
                             static_cast<int>(text->size()), SQLITE_TRANSIENT);
  }
  if (const auto* blob = std::get_if<SqlBlob>(&value)) {
    return sqlite3_bind_blob(statement, at, blob->bytes.c_str(),
                             static_cast<int>(blob->bytes.size()),
                             SQLITE_TRANSIENT);
  }
  return sqlite3_bind_null(statement, at);
}

std::string CellText(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return absl::StrCat("i", sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      return absl::StrFormat("r%.17g",
                             sqlite3_column_double(statement, column));
    case SQLITE_NULL:
      return "null";
    case SQLITE_TEXT: {
      const auto* text = sqlite3_column_text(statement, column);
      return absl::StrCat(
          "'",
          absl::CEscape(absl::string_view(
              reinterpret_cast<const char*>(text),
              static_cast<size_t>(sqlite3_column_bytes(statement, column)))),
          "'");
    }
    default: {
      const void* blob = sqlite3_column_blob(statement, column);
      const auto bytes =
          static_cast<size_t>(sqlite3_column_bytes(statement, column));
      return absl::StrCat(
          "x", absl::BytesToHexString(absl::string_view(
                   bytes == 0 ? "" : static_cast<const char*>(blob), bytes)));
    }
  }
}

}  // namespace

SqlDatabase::SqlDatabase() {
  if (sqlite3_open(":memory:", &db_) != SQLITE_OK) std::abort();
}

SqlDatabase::~SqlDatabase() { sqlite3_close(db_); }

absl::StatusOr<std::vector<std::string>> SqlDatabase::Run(
    std::string_view sql, const std::vector<SqlValue>& parameters) {
  sqlite3_stmt* statement = nullptr;
  const auto failed = [&] {
    const absl::Status status = absl::InvalidArgumentError(sqlite3_errmsg(db_));
    sqlite3_finalize(statement);
    return status;
  };
  if (sqlite3_prepare_v2(db_, sql.data(), static_cast<int>(sql.size()),
                         &statement, nullptr) != SQLITE_OK) {
    return failed();
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (Bind(statement, static_cast<int>(i) + 1, parameters[i]) != SQLITE_OK) {
      return failed();
    }
  }
  std::vector<std::string> rows;
  int code = sqlite3_step(statement);
  for (; code == SQLITE_ROW; code = sqlite3_step(statement)) {
    std::string row;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      absl::StrAppend(&row, i == 0 ? "" : "|", CellText(statement, i));
    }
    rows.push_back(std::move(row));
  }
  if (code != SQLITE_DONE) return failed();
  sqlite3_finalize(statement);
  return rows;
}

absl::StatusOr<std::string> SqlDatabase::Plan(std::string_view sql) {
  const auto lines = Run(absl::StrCat("EXPLAIN QUERY PLAN ", ToAbsl(sql)));
  if (!lines.ok()) return lines.status();
  std::string text;
  for (const std::string& line : *lines) {
    absl::StrAppend(&text, line.substr(line.rfind('|') + 1), "\n");
  }
  return text;
}

}  // namespace dovetail::test

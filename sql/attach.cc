// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "sql/columns.h"
#include "sql/module.h"

namespace dovetail::sql {
namespace {

std::string QuoteText(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += c;
  }
  return out + "'";
}

absl::Status Create(sqlite3* db, const std::string& name,
                    const std::vector<std::string>& arguments) {
  std::string statement = absl::StrCat("CREATE VIRTUAL TABLE temp.",
                                       QuoteName(name), " USING dovetail(");
  for (const std::string& argument : arguments) {
    absl::StrAppend(&statement, &argument == &arguments[0] ? "" : ", ",
                    QuoteText(argument));
  }
  statement += ")";
  char* error = nullptr;
  if (sqlite3_exec(db, statement.c_str(), nullptr, nullptr, &error) ==
      SQLITE_OK) {
    return absl::OkStatus();
  }
  const absl::Status status = absl::InvalidArgumentError(
      absl::StrCat("cannot attach a table: table=", name, ": ",
                   error == nullptr ? "" : error));
  sqlite3_free(error);
  return status;
}

}  // namespace

absl::StatusOr<int> AttachStore(sqlite3* db, Connection* connection,
                                const std::string& path) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Engine> engine,
                   connection->Open(path));
  ASSIGN_OR_RETURN(const v1::Schema schema, engine->GetSchema());
  ASSIGN_OR_RETURN(const std::vector<IndexInfo> indexes, engine->ListIndexes());
  // SQL does not tell names apart by their case.
  std::set<std::string> taken;
  for (const v1::TableSchema& table : schema.tables()) {
    if (!taken.insert(absl::AsciiStrToLower(table.name())).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "two tables differ in case only; name them yourself with CREATE "
          "VIRTUAL TABLE: table=",
          table.name()));
    }
  }
  int count = 0;
  for (const v1::TableSchema& table : schema.tables()) {
    RETURN_IF_ERROR(Create(db, table.name(), {path, table.name()}));
    ++count;
  }
  for (const IndexInfo& index : indexes) {
    if (index.state != IndexState::kReadable ||
        (index.kind != v1::IndexSchema::COUNT &&
         index.kind != v1::IndexSchema::SUM)) {
      continue;
    }
    std::string name = absl::StrCat(index.table, "_", index.index);
    if (!taken.insert(absl::AsciiStrToLower(name)).second) {
      name = absl::StrCat(index.table, ".", index.index);
    }
    RETURN_IF_ERROR(Create(db, name, {path, index.table, index.index}));
    ++count;
  }
  return count;
}

}  // namespace dovetail::sql

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <memory>

#include "base/status_macros.h"
#include "cli/sql.h"
#include "cli/verb.h"

namespace dovetail::cli {

void AddSqlVerbs(VerbList* verbs) {
  const auto options = std::make_shared<SqlOptions>();
  Verb& verb = verbs->Add("sql", kData, "DB [STATEMENT...]",
                          "Ask in SQL, through SQLite; nothing is changed");
  verb.Details(
      "Each table of the database is a table, and each COUNT or SUM index one "
      "named TABLE_INDEX. Without a statement they are read from standard "
      "input, each up to its semicolon. docs/sql.md has the types.");
  verb.Example(
          "dovetail sql ./db \"SELECT status, count(*) FROM orders WHERE "
          "seller_id = 's-1' GROUP BY status\"")
      .Example("dovetail sql ./db --json < report.sql");
  verb.Flag("--explain", &options->explain,
            "SQLite's plan and what the statement read, instead of its rows");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->db));
    options->statements = words.TakeRest();
    return RunSql(*options, console);
  };
}

}  // namespace dovetail::cli

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/sql.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/page.h"
#include "dovetail/environment.h"
#include "sql/module.h"

namespace dovetail::cli {
namespace {

// Rows that one box on a terminal holds; the next ones are in another.
constexpr size_t kBoxRows = 1000;
constexpr size_t kChunkRows = 256;
constexpr size_t kStatementBytesMax = 1 << 20;
// SQLite looks whether it was interrupted once in so many steps.
constexpr int kStepsPerLook = 10'000;

struct Close {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
  void operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
  }
};
using Database = std::unique_ptr<sqlite3, Close>;
using Prepared = std::unique_ptr<sqlite3_stmt, Close>;

absl::Status SqlError(sqlite3* db, int code) {
  if (code == SQLITE_INTERRUPT) return InterruptedError("interrupted");
  const std::string message = sqlite3_errmsg(db);
  return code == SQLITE_CORRUPT_VTAB ? absl::DataLossError(message)
                                     : absl::InvalidArgumentError(message);
}

std::string TextOf(sqlite3_stmt* statement, int column) {
  const auto* text = sqlite3_column_text(statement, column);
  const int bytes = sqlite3_column_bytes(statement, column);
  return text == nullptr ? ""
                         : std::string(reinterpret_cast<const char*>(text),
                                       static_cast<size_t>(bytes));
}

// Numbers as they are, blobs in hexadecimal.
std::string JsonOf(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
      return "null";
    case SQLITE_INTEGER:
      return TextOf(statement, column);
    case SQLITE_FLOAT: {
      const double number = sqlite3_column_double(statement, column);
      // JSON has no infinity.
      if (number - number != 0) return JsonQuote(TextOf(statement, column));
      return absl::StrFormat("%.17g", number);
    }
    case SQLITE_BLOB:
      return JsonQuote(absl::BytesToHexString(TextOf(statement, column)));
    default:
      return JsonQuote(TextOf(statement, column));
  }
}

// Rows as they come, in as much memory as a few of them take.
class RowPrinter {
 public:
  RowPrinter(sqlite3_stmt* statement, const Console& console)
      : statement_(statement), console_(console), table_(Header()) {}

  void Add() {
    ++rows_;
    const int columns = sqlite3_column_count(statement_);
    if (console_.format == OutputFormat::kJson) {
      std::string line = "{";
      for (int i = 0; i < columns; ++i) {
        absl::StrAppend(&line, i == 0 ? "" : ",",
                        JsonQuote(sqlite3_column_name(statement_, i)), ":",
                        JsonOf(statement_, i));
      }
      Print(line + "}\n");
      return;
    }
    std::vector<std::string> cells;
    for (int i = 0; i < columns; ++i) cells.push_back(TextOf(statement_, i));
    table_.Add(std::move(cells));
    const bool box = console_.format == OutputFormat::kBox;
    if (table_.rows() == (box ? kBoxRows : kChunkRows)) Flush();
  }

  void Finish() {
    if (console_.format == OutputFormat::kJson) return;
    if (table_.rows() > 0 || rows_ == 0) Flush();
  }

  uint64_t rows() const { return rows_; }

 private:
  std::vector<std::string> Header() const {
    std::vector<std::string> names;
    for (int i = 0; i < sqlite3_column_count(statement_); ++i) {
      names.push_back(sqlite3_column_name(statement_, i));
    }
    return names;
  }

  void Flush() {
    Print(console_.format == OutputFormat::kBox ? table_.Box(console_.color_out)
                                                : table_.Tsv(!header_printed_));
    header_printed_ = true;
    table_ = TextTable(Header());
  }

  sqlite3_stmt* const statement_;
  const Console& console_;
  TextTable table_;
  bool header_printed_ = false;
  uint64_t rows_ = 0;
};

class Session {
 public:
  Session(std::shared_ptr<Engine> engine, const SqlOptions& options,
          const Console& console)
      : engine_(std::move(engine)), options_(options), console_(console) {}

  absl::Status Open() {
    sqlite3* db = nullptr;
    const int code = sqlite3_open(":memory:", &db);
    db_.reset(db);
    if (code != SQLITE_OK) return SqlError(db, code);
    RETURN_IF_ERROR(sql::RegisterModule(
        db, {.open = [this](const std::string&) { return engine_; },
             .direct_only = false}));
    InstallInterruptHandler();
    sqlite3_progress_handler(
        db, kStepsPerLook, [](void*) { return Interrupted() ? 1 : 0; },
        nullptr);
    const int attached = sqlite3_exec(db, "SELECT dovetail_attach('')", nullptr,
                                      nullptr, nullptr);
    return attached == SQLITE_OK ? absl::OkStatus() : SqlError(db, attached);
  }

  // Every statement of the text.
  absl::Status Run(std::string_view text) {
    while (!text.empty()) {
      sqlite3_stmt* raw = nullptr;
      const char* rest = nullptr;
      const int code = sqlite3_prepare_v2(
          db_.get(), text.data(), static_cast<int>(text.size()), &raw, &rest);
      const Prepared statement(raw);
      if (code != SQLITE_OK) return SqlError(db_.get(), code);
      text.remove_prefix(static_cast<size_t>(rest - text.data()));
      if (statement == nullptr) continue;  // A comment.
      RETURN_IF_ERROR(options_.explain ? Explain(statement.get())
                                       : RunOne(statement.get()));
    }
    return FlushOutput();
  }

  // A statement may have many lines. On a terminal an error ends only the
  // statement that has it.
  absl::Status RunInput() {
    const bool terminal = isatty(STDIN_FILENO) != 0;
    std::string statement;
    absl::Status status;
    if (terminal) {
      Note(console_,
           "Statements end with a semicolon, the session with Ctrl-D.");
    }
    char* line = nullptr;
    size_t capacity = 0;
    while (status.ok()) {
      if (terminal) Prompt(statement.empty() ? "sql> " : "...> ");
      const ssize_t bytes = getline(&line, &capacity, stdin);
      if (bytes < 0) break;
      statement.append(line, static_cast<size_t>(bytes));
      if (statement.size() > kStatementBytesMax) {
        status = UsageError(
            absl::StrCat("a statement is too long: max=", kStatementBytesMax));
      } else if (sqlite3_complete(statement.c_str()) != 0) {
        status = Run(statement);
        statement.clear();
        if (terminal && !status.ok() && !absl::IsCancelled(status)) {
          PrintError(console_, status);
          status = absl::OkStatus();
        }
      }
    }
    std::free(line);
    return status.ok() ? Run(statement) : status;
  }

 private:
  static void Prompt(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  }

  absl::Status RunOne(sqlite3_stmt* statement) {
    RowPrinter printer(statement, console_);
    const int64_t start = Clock::System()->MonotonicMicros();
    int code = sqlite3_step(statement);
    for (; code == SQLITE_ROW; code = sqlite3_step(statement)) printer.Add();
    if (code != SQLITE_DONE) return SqlError(db_.get(), code);
    const int64_t micros = Clock::System()->MonotonicMicros() - start;
    if (sqlite3_column_count(statement) == 0) return absl::OkStatus();
    printer.Finish();
    sqlite3_reset(statement);  // Closes its cursors.
    ASSIGN_OR_RETURN(const Work work, WorkOfLast());
    NoteWork(printer.rows(), &work, micros, console_);
    return absl::OkStatus();
  }

  absl::StatusOr<Work> WorkOfLast() {
    ASSIGN_OR_RETURN(const Prepared statement,
                     Prepare("SELECT coalesce(sum(seeks), 0), "
                             "coalesce(sum(entries), 0), coalesce(sum(gets), "
                             "0) FROM dovetail_work"));
    if (sqlite3_step(statement.get()) != SQLITE_ROW) {
      return absl::InternalError(sqlite3_errmsg(db_.get()));
    }
    const auto number = [&](int i) {
      return static_cast<uint64_t>(sqlite3_column_int64(statement.get(), i));
    };
    Work work;
    work.seeks = number(0);
    work.entries = number(1);
    work.gets = number(2);
    return work;
  }

  absl::StatusOr<Prepared> Prepare(const std::string& sql) {
    sqlite3_stmt* raw = nullptr;
    const int code = sqlite3_prepare_v2(
        db_.get(), sql.c_str(), static_cast<int>(sql.size()), &raw, nullptr);
    Prepared statement(raw);
    if (code != SQLITE_OK) return SqlError(db_.get(), code);
    return statement;
  }

  // SQLite's tree of steps, indented.
  absl::StatusOr<std::string> PlanOf(sqlite3_stmt* of) {
    ASSIGN_OR_RETURN(
        const Prepared statement,
        Prepare(absl::StrCat("EXPLAIN QUERY PLAN ", sqlite3_sql(of))));
    std::map<int, size_t> depths;
    std::string text;
    while (sqlite3_step(statement.get()) == SQLITE_ROW) {
      const auto parent = depths.find(sqlite3_column_int(statement.get(), 1));
      const size_t depth = parent == depths.end() ? 0 : parent->second + 1;
      depths[sqlite3_column_int(statement.get(), 0)] = depth;
      absl::StrAppend(&text, std::string(2 * depth, ' '),
                      TextOf(statement.get(), 3), "\n");
    }
    return text;
  }

  absl::Status Explain(sqlite3_stmt* statement) {
    ASSIGN_OR_RETURN(const std::string plan, PlanOf(statement));
    int code = sqlite3_step(statement);
    uint64_t rows = 0;
    for (; code == SQLITE_ROW; code = sqlite3_step(statement)) ++rows;
    if (code != SQLITE_DONE) return SqlError(db_.get(), code);
    sqlite3_reset(statement);
    ASSIGN_OR_RETURN(const Prepared work,
                     Prepare("SELECT * FROM dovetail_work"));
    if (console_.format == OutputFormat::kJson) {
      Print(absl::StrCat("{\"plan\":", JsonQuote(plan), ",\"rows\":", rows,
                         "}\n"));
    } else {
      Print(plan);
    }
    RowPrinter printer(work.get(), console_);
    while (sqlite3_step(work.get()) == SQLITE_ROW) printer.Add();
    printer.Finish();
    return absl::OkStatus();
  }

  const std::shared_ptr<Engine> engine_;
  const SqlOptions& options_;
  const Console& console_;
  Database db_;
};

}  // namespace

absl::Status RunSql(const SqlOptions& options, const Console& console) {
  ASSIGN_OR_RETURN(std::shared_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  Session session(std::move(engine), options, console);
  RETURN_IF_ERROR(session.Open());
  if (options.statements.empty()) return session.RunInput();
  for (const std::string& statement : options.statements) {
    RETURN_IF_ERROR(session.Run(statement));
  }
  return absl::OkStatus();
}

}  // namespace dovetail::cli

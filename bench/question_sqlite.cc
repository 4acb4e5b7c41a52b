// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <sqlite3.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "bench/question.h"

namespace dovetail::bench {
namespace {

constexpr char kColumns[] =
    "seller, ts, id, status, buyer, amount, currency, items, note";

// Clustered as the engine's rows are; the second index answers the questions
// by status and, without reading rows, the counts.
constexpr char kSchema[] =
    "CREATE TABLE orders(seller TEXT NOT NULL, ts INTEGER NOT NULL, id TEXT "
    "NOT NULL, status INTEGER NOT NULL, buyer TEXT, amount INTEGER, currency "
    "TEXT, items INTEGER, note TEXT, PRIMARY KEY(seller, ts DESC, id)) WITHOUT "
    "ROWID;"
    "CREATE UNIQUE INDEX by_id ON orders(id);"
    "CREATE INDEX by_status ON orders(seller, status, ts DESC, id);";

class Statement {
 public:
  ~Statement() { sqlite3_finalize(statement_); }

  absl::Status Prepare(sqlite3* db, const std::string& sql) {
    db_ = db;
    return Check(sqlite3_prepare_v3(
        db, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr));
  }
  void Bind(int at, const std::string& value) {
    sqlite3_bind_text(statement_, at, value.data(),
                      static_cast<int>(value.size()), SQLITE_STATIC);
  }
  void Bind(int at, int64_t value) {
    sqlite3_bind_int64(statement_, at, value);
  }

  // Runs to the end, `row` for each row, and makes ready for the next time.
  template <typename Row>
  absl::Status Run(Row row) {
    int step;
    while ((step = sqlite3_step(statement_)) == SQLITE_ROW) row(*this);
    const absl::Status status = Check(step);
    sqlite3_reset(statement_);
    return status;
  }
  absl::Status Run() {
    return Run([](const Statement&) {});
  }

  int64_t Int(int column) const {
    return sqlite3_column_int64(statement_, column);
  }
  void Text(int column, std::string* out) const {
    const auto* text =
        reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    out->assign(text == nullptr ? "" : text,
                static_cast<size_t>(sqlite3_column_bytes(statement_, column)));
  }

 private:
  absl::Status Check(int code) const {
    if (code == SQLITE_OK || code == SQLITE_DONE) return absl::OkStatus();
    return absl::UnknownError(sqlite3_errmsg(db_));
  }

  sqlite3* db_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
};

class SqliteQuestions : public QuestionStore {
 public:
  ~SqliteQuestions() override {
    // Statements end before their connection.
    statements_.reset();
    sqlite3_close(db_);
  }

  absl::Status Open(const QuestionStoreOptions& options) {
    RETURN_IF_ERROR(
        Check(sqlite3_open((options.directory + ".db").c_str(), &db_)));
    for (const std::string& sql :
         {std::string("PRAGMA journal_mode=WAL"),
          std::string("PRAGMA synchronous=NORMAL"),
          absl::StrCat("PRAGMA cache_size=-", options.cache_bytes >> 10),
          std::string(kSchema)}) {
      RETURN_IF_ERROR(
          Check(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr)));
    }
    statements_ = std::make_unique<Statements>();
    Statements& s = *statements_;
    const std::string columns =
        absl::StrCat("SELECT ", kColumns, " FROM orders ");
    const std::string select = columns + "WHERE seller=? ";
    // Left to itself it walks all of the seller's orders.
    const std::string by_status =
        columns + "INDEXED BY by_status WHERE seller=? ";
    const std::string newest =
        absl::StrCat(" ORDER BY ts DESC, id LIMIT ", kNewest);
    RETURN_IF_ERROR(s.begin.Prepare(db_, "BEGIN"));
    RETURN_IF_ERROR(s.commit.Prepare(db_, "COMMIT"));
    RETURN_IF_ERROR(
        s.insert.Prepare(db_, absl::StrCat("INSERT INTO orders(", kColumns,
                                           ") VALUES(?,?,?,?,?,?,?,?,?)")));
    RETURN_IF_ERROR(
        s.update.Prepare(db_, "UPDATE orders SET status=? WHERE id=?"));
    RETURN_IF_ERROR(s.top.Prepare(db_, select + newest));
    RETURN_IF_ERROR(s.status.Prepare(db_, by_status + "AND status=?" + newest));
    RETURN_IF_ERROR(
        s.three.Prepare(db_, by_status + "AND status IN (?,?,?)" + newest));
    RETURN_IF_ERROR(s.filter.Prepare(
        db_, select + "AND ts>=? AND ts<? AND amount>?" + newest));
    return s.counts.Prepare(db_,
                            "SELECT status, count(*) FROM orders INDEXED BY "
                            "by_status WHERE seller=? GROUP BY status");
  }

  absl::Status Insert(const std::vector<BenchOrder>& orders) override {
    RETURN_IF_ERROR(statements_->begin.Run());
    Statement& s = statements_->insert;
    for (const BenchOrder& order : orders) {
      s.Bind(1, order.seller());
      s.Bind(2, order.ts_us());
      s.Bind(3, order.id());
      s.Bind(4, order.status());
      s.Bind(5, order.buyer());
      s.Bind(6, order.amount());
      s.Bind(7, order.currency());
      s.Bind(8, order.items());
      s.Bind(9, order.note());
      RETURN_IF_ERROR(s.Run());
    }
    return statements_->commit.Run();
  }

  absl::Status SetStatus(const std::string& id, int32_t status) override {
    statements_->update.Bind(1, status);
    statements_->update.Bind(2, id);
    return statements_->update.Run();
  }

  absl::Status Ask(const Question& question, Answer* answer) override {
    if (question.kind == Question::Kind::kCounts) {
      Statement& s = statements_->counts;
      s.Bind(1, question.seller);
      return s.Run([&](const Statement& row) {
        answer->AddCount(static_cast<int32_t>(row.Int(0)),
                         static_cast<uint64_t>(row.Int(1)));
      });
    }
    Statement& s = StatementOf(question);
    s.Bind(1, question.seller);
    for (size_t i = 0; i < question.statuses.size(); ++i) {
      s.Bind(static_cast<int>(i) + 2, question.statuses[i]);
    }
    if (question.kind == Question::Kind::kFilter) {
      s.Bind(2, question.from_us);
      s.Bind(3, question.to_us);
      s.Bind(4, question.amount);
    }
    return s.Run([&](const Statement& row) {
      BenchOrder* order = answer->AddRow();
      row.Text(0, order->mutable_seller());
      order->set_ts_us(row.Int(1));
      row.Text(2, order->mutable_id());
      order->set_status(static_cast<int32_t>(row.Int(3)));
      row.Text(4, order->mutable_buyer());
      order->set_amount(row.Int(5));
      row.Text(6, order->mutable_currency());
      order->set_items(static_cast<int32_t>(row.Int(7)));
      row.Text(8, order->mutable_note());
    });
  }

 private:
  struct Statements {
    Statement begin, commit, insert, update, top, status, three, filter, counts;
  };

  absl::Status Check(int code) const {
    if (code == SQLITE_OK) return absl::OkStatus();
    return absl::UnknownError(db_ == nullptr ? "out of memory"
                                             : sqlite3_errmsg(db_));
  }
  Statement& StatementOf(const Question& question) {
    if (question.kind == Question::Kind::kFilter) return statements_->filter;
    if (question.statuses.empty()) return statements_->top;
    return question.statuses.size() == 1 ? statements_->status
                                         : statements_->three;
  }

  sqlite3* db_ = nullptr;
  std::unique_ptr<Statements> statements_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<QuestionStore>> OpenSqliteQuestions(
    const QuestionStoreOptions& options) {
  auto store = std::make_unique<SqliteQuestions>();
  RETURN_IF_ERROR(store->Open(options));
  return store;
}

}  // namespace dovetail::bench

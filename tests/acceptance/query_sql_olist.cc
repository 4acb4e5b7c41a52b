// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/engine.h"
#include "sql/module.h"
#include "tests/acceptance/olist.pb.h"
#include "tests/acceptance/query_sql.h"
#include "tests/acceptance/sql_database.h"
#include "tests/support/data.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

constexpr size_t kBatch = 500;
constexpr char kOrdersFile[] = "olist/orders.csv.xz";
constexpr char kItemsFile[] = "olist/order_items.csv.xz";
constexpr char kShell[] = "/usr/bin/sqlite3";
constexpr char kPython[] = "/usr/bin/python3";

struct Question {
  const char* name;
  const char* sql;
};

// Results are integers and texts, so that every program prints them alike.
constexpr Question kQuestions[] = {
    {"monthly revenue per seller",
     "SELECT i.seller_id, strftime('%Y-%m', o.order_purchase_timestamp) AS "
     "month, sum(i.price_cents), count(*) FROM items i JOIN orders o ON "
     "o.order_id = i.order_id GROUP BY 1, 2 ORDER BY 1, 2"},
    {"share of cancelled orders per seller",
     "WITH sold AS (SELECT DISTINCT seller_id, order_id FROM items) "
     "SELECT s.seller_id, printf('%.4f', avg(o.order_status = 'canceled')), "
     "count(*) FROM sold s JOIN orders o ON o.order_id = s.order_id "
     "GROUP BY 1 ORDER BY 2 DESC, 1"},
    {"median days from approval to delivery",
     "WITH d AS (SELECT julianday(order_delivered_customer_date) - "
     "julianday(order_approved_at) AS days FROM orders WHERE "
     "order_delivered_customer_date IS NOT NULL AND order_approved_at IS NOT "
     "NULL), r AS (SELECT days, row_number() OVER (ORDER BY days) AS place, "
     "count(*) OVER () AS all_of_them FROM d) "
     "SELECT printf('%.6f', avg(days)), max(all_of_them) FROM r WHERE place IN "
     "((all_of_them + 1) / 2, all_of_them / 2 + 1)"},
    {"sellers whose last order is over 90 days old",
     "WITH last AS (SELECT i.seller_id, max(o.order_purchase_timestamp) AS at "
     "FROM items i JOIN orders o ON o.order_id = i.order_id GROUP BY 1) "
     "SELECT seller_id, strftime('%Y-%m-%d', at) FROM last WHERE "
     "julianday((SELECT max(order_purchase_timestamp) FROM orders)) - "
     "julianday(at) > 90 ORDER BY 1"},
    {"orders of several sellers",
     "SELECT order_id, count(DISTINCT seller_id) AS sellers FROM items "
     "GROUP BY order_id HAVING sellers > 1 ORDER BY 1"},
    {"revenue of the ten largest sellers, by the SUM index",
     "SELECT seller_id, \"count\", \"sum\" FROM items_revenue "
     "ORDER BY \"sum\" DESC, 1 LIMIT 10"},
    {"orders by status, by the COUNT index",
     "SELECT order_status, \"count\" FROM orders_states ORDER BY 1"},
};

Schema OlistSchema() {
  Schema schema;
  schema.Add(
      TableBuilder("orders", OlistOrder::descriptor())
          .RowKey({Hash({"order_id"}), Field("order_id")})
          .Add(IndexBuilder::Value("by_purchase",
                                   {Field("order_purchase_timestamp").Desc()})
                   .Covering({"order_status"}))
          .Add(IndexBuilder::Count("states", {Field("order_status")})));
  schema.Add(TableBuilder("items", OlistItem::descriptor())
                 .RowKey({Hash({"seller_id"}), Field("seller_id"),
                          Field("order_id"), Field("order_item_id")})
                 .Add(IndexBuilder::Unique(
                          "by_order", {Hash({"order_id"}), Field("order_id"),
                                       Field("order_item_id")})
                          .Covering({"price_cents"}))
                 .Add(IndexBuilder::Sum("revenue", {Field("seller_id")},
                                        "price_cents")));
  return schema;
}

// The files once as rows of the store and once as rows of plain tables, with
// SQLite's own notion of a time.
class Import {
 public:
  Import(Engine* engine, SqlDatabase* plain, uint64_t orders)
      : engine_(*engine), plain_(*plain), orders_max_(orders) {}

  absl::Status Run() {
    RETURN_IF_ERROR(plain_.Do(
        "CREATE TABLE orders(order_id TEXT PRIMARY KEY, order_status TEXT, "
        "order_purchase_timestamp TEXT, order_approved_at TEXT, "
        "order_delivered_customer_date TEXT)"));
    RETURN_IF_ERROR(plain_.Do(
        "CREATE TABLE items(order_id TEXT, order_item_id INTEGER, seller_id "
        "TEXT, price REAL, price_cents INTEGER)"));
    RETURN_IF_ERROR(plain_.Do("BEGIN"));
    RETURN_IF_ERROR(
        ReadCsv(SharedData(kOrdersFile),
                {"order_id", "order_status", "order_purchase_timestamp",
                 "order_approved_at", "order_delivered_customer_date"},
                [this](auto& row) { return AddOrder(row); }));
    RETURN_IF_ERROR(Flush());
    RETURN_IF_ERROR(ReadCsv(SharedData(kItemsFile),
                            {"order_id", "order_item_id", "seller_id", "price"},
                            [this](auto& row) { return AddItem(row); }));
    RETURN_IF_ERROR(Flush());
    RETURN_IF_ERROR(plain_.Do("COMMIT"));
    RETURN_IF_ERROR(plain_.Do("CREATE INDEX items_order ON items(order_id)"));
    RETURN_IF_ERROR(
        plain_.Do("CREATE VIEW items_revenue AS SELECT seller_id, count(*) AS "
                  "\"count\", sum(price_cents) AS \"sum\" FROM items "
                  "GROUP BY 1"));
    return plain_.Do(
        "CREATE VIEW orders_states AS SELECT order_status, count(*) AS "
        "\"count\" FROM orders GROUP BY 1");
  }

 private:
  static absl::Status SetTime(const std::string& text,
                              google::protobuf::Timestamp* out) {
    ASSIGN_OR_RETURN(const int64_t millis, ParseTimeMs(text));
    out->set_seconds(millis / 1000);
    return absl::OkStatus();
  }

  absl::Status AddOrder(const std::vector<std::string>& row) {
    if (orders_.size() == orders_max_) return absl::OkStatus();
    orders_.insert(row[0]);
    OlistOrder order;
    order.set_order_id(row[0]);
    OlistOrder::Status status;
    if (!OlistOrder::Status_Parse(row[1], &status)) {
      return absl::InvalidArgumentError("status=" + row[1]);
    }
    order.set_order_status(status);
    RETURN_IF_ERROR(SetTime(row[2], order.mutable_order_purchase_timestamp()));
    if (!row[3].empty()) {
      RETURN_IF_ERROR(SetTime(row[3], order.mutable_order_approved_at()));
    }
    if (!row[4].empty()) {
      RETURN_IF_ERROR(
          SetTime(row[4], order.mutable_order_delivered_customer_date()));
    }
    RETURN_IF_ERROR(plain_.Do(
        "INSERT INTO orders VALUES (?, ?, ?, nullif(?, ''), nullif(?, ''))",
        {row[0], row[1], row[2], row[3], row[4]}));
    return Put("orders", order);
  }

  absl::Status AddItem(const std::vector<std::string>& row) {
    if (orders_.count(row[0]) == 0) return absl::OkStatus();
    OlistItem item;
    item.set_order_id(row[0]);
    int32_t number = 0;
    double price = 0;
    if (!absl::SimpleAtoi(row[1], &number) ||
        !absl::SimpleAtod(row[3], &price)) {
      return absl::InvalidArgumentError("item=" + row[1]);
    }
    item.set_order_item_id(number);
    item.set_seller_id(row[2]);
    item.set_price(price);
    item.set_price_cents(static_cast<int64_t>(price * 100 + 0.5));
    RETURN_IF_ERROR(plain_.Do(
        "INSERT INTO items VALUES (?1, ?2, ?3, ?4, CAST(round(?4 * 100) AS "
        "INTEGER))",
        {row[0], row[1], row[2], row[3]}));
    return Put("items", item);
  }

  absl::Status Put(std::string_view table,
                   const google::protobuf::Message& record) {
    batch_.Put(table, record.SerializeAsString());
    return batch_.count() < kBatch ? absl::OkStatus() : Flush();
  }
  absl::Status Flush() {
    if (batch_.empty()) return absl::OkStatus();
    RETURN_IF_ERROR(engine_.Write({}, std::move(batch_)).status());
    batch_ = WriteBatch();
    return absl::OkStatus();
  }

  Engine& engine_;
  SqlDatabase& plain_;
  const uint64_t orders_max_;
  std::unordered_set<std::string> orders_;
  WriteBatch batch_;
};

double MillisOf(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

void CompareAnswers(SqlDatabase* plain, SqlDatabase* dovetail, Checks* checks) {
  for (const Question& question : kQuestions) {
    absl::StatusOr<std::vector<std::string>> expected, actual;
    const double plain_ms =
        MillisOf([&] { expected = plain->Run(question.sql); });
    const double ms = MillisOf([&] { actual = dovetail->Run(question.sql); });
    if (!checks->Ok(expected.status(), question.name) ||
        !checks->Ok(actual.status(), question.name)) {
      continue;
    }
    std::printf("%-55s %6zu rows  %8.1f ms, plain SQLite %8.1f ms\n",
                question.name, actual->size(), ms, plain_ms);
    checks->That(*actual == *expected, question.name);
    checks->That(!expected->empty(),
                 absl::StrCat(question.name, ": there are rows"));
  }
}

// What a statement must read at most, and how SQLite says that it will.
struct Pushdown {
  const char* sql;
  const char* plan;
  uint64_t scans;
  uint64_t seeks;
  uint64_t entries;
  uint64_t gets;
};

constexpr Pushdown kPushdowns[] = {
    {"SELECT * FROM orders WHERE order_id = "
     "'2e7a8482f6fb09756ca50c10d7bfc047'",
     "row key(order_id=literal)", 1, 1, 1, 0},
    {"SELECT * FROM orders WHERE order_id IN "
     "('2e7a8482f6fb09756ca50c10d7bfc047', "
     "'e5fa5a7210941f7d56d0208e4e071d35', 'no such order')",
     "row key(order_id IN ?)", 1, 3, 2, 0},
    {"SELECT order_id, order_status FROM orders ORDER BY "
     "order_purchase_timestamp DESC LIMIT 20",
     "by_purchase covering order by order_purchase_timestamp desc limit", 1, 1,
     20, 0},
    {"SELECT * FROM orders ORDER BY order_purchase_timestamp DESC LIMIT 5 "
     "OFFSET 2",
     "by_purchase order by order_purchase_timestamp desc limit offset", 1, 8, 7,
     7},
    {"SELECT order_id FROM orders WHERE order_purchase_timestamp >= "
     "'2016-09-04' AND order_purchase_timestamp < '2016-09-05'",
     "by_purchase(order_purchase_timestamp>=literal AND "
     "order_purchase_timestamp<literal) covering",
     1, 1, 1, 0},
    {"SELECT max(order_purchase_timestamp) FROM orders",
     "by_purchase covering order by order_purchase_timestamp desc", 1, 1, 32,
     0},
    {"SELECT price_cents FROM items WHERE order_id = "
     "'2e7a8482f6fb09756ca50c10d7bfc047'",
     "by_order(order_id=literal) covering", 1, 1, 2, 0},
    {"SELECT order_id FROM items WHERE seller_id = "
     "'cc419e0650a3c5ba77189a1882b7556a' AND order_id GLOB 'ab*'",
     "row key(seller_id=literal AND order_id>=literal AND order_id<literal)", 1,
     1, 20, 0},
    {"SELECT order_id FROM items WHERE seller_id = "
     "'cc419e0650a3c5ba77189a1882b7556a' AND order_id LIKE 'ab%'",
     "row key(seller_id=literal AND order_id>=literal nocase AND "
     "order_id<literal nocase)",
     1, 5, 200, 0},
    {"SELECT \"sum\" FROM items_revenue WHERE seller_id = "
     "'cc419e0650a3c5ba77189a1882b7556a'",
     "revenue(seller_id=literal)", 1, 1, 1, 0},
};

void CheckPushdowns(SqlDatabase* dovetail, Checks* checks) {
  for (const Pushdown& each : kPushdowns) {
    const auto plan = dovetail->Plan(each.sql);
    checks->That(plan.ok() && absl::StrContains(*plan, each.plan),
                 absl::StrCat("plan of ", each.sql, ": ", plan.value_or("")));
    checks->Ok(dovetail->Do(each.sql), each.sql);
    const auto work = dovetail->Run(absl::StrCat(
        "SELECT sum(scans) <= ", each.scans, ", sum(seeks) <= ", each.seeks,
        ", sum(entries) <= ", each.entries, ", sum(gets) <= ", each.gets,
        ", count(*), sum(scans), "
        "sum(seeks), sum(entries), sum(gets) FROM dovetail_work"));
    checks->That(work.ok() && absl::StartsWith(work->front(), "i1|i1|i1|i1|i1"),
                 absl::StrCat("work of ", each.sql, ": ", work->front()));
  }
}

absl::Status Write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file.good()) return absl::OkStatus();
  return absl::UnknownError("cannot write path=" + path);
}

absl::StatusOr<std::string> Output(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return absl::UnknownError("popen");
  std::string out;
  char buffer[1 << 16];
  for (size_t n = fread(buffer, 1, sizeof(buffer), pipe); n > 0;
       n = fread(buffer, 1, sizeof(buffer), pipe)) {
    out.append(buffer, n);
  }
  const int code = pclose(pipe);
  if (code == 0) return out;
  return absl::UnknownError(absl::StrCat("command=", command, " code=", code));
}

// The same statements by programs that load the extension.
class OtherPrograms {
 public:
  OtherPrograms(const TempDir& dir, std::string extension, std::string store)
      : dir_(dir), extension_(std::move(extension)), store_(std::move(store)) {}

  absl::Status Run(SqlDatabase* plain, Checks* checks) {
    const std::string file = dir_.Sub("plain.db");
    RETURN_IF_ERROR(plain->Do(absl::StrCat("VACUUM INTO '", file, "'")));
    std::string statements;
    for (const Question& question : kQuestions) {
      absl::StrAppend(&statements, question.sql, ";\n");
    }
    if (access(kShell, X_OK) != 0) {
      std::printf("skipped: no %s\n", kShell);
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(Write(dir_.Sub("plain.sql"), statements));
    RETURN_IF_ERROR(
        Write(dir_.Sub("shell.sql"),
              absl::StrCat(".load ", extension_, "\n.output ",
                           dir_.Sub("attached"), "\nSELECT dovetail_attach('",
                           store_, "');\n.output\n", statements)));
    ASSIGN_OR_RETURN(
        const std::string expected,
        Output(absl::StrCat(kShell, " ", file, " < ", dir_.Sub("plain.sql"))));
    ASSIGN_OR_RETURN(
        const std::string shell,
        Output(absl::StrCat(kShell, " :memory: < ", dir_.Sub("shell.sql"))));
    checks->That(shell == expected && expected.size() > 1000,
                 absl::StrCat("the sqlite3 shell: bytes=", shell.size(),
                              " expected=", expected.size()));
    std::printf("sqlite3 shell: %zu bytes of answers, as plain SQLite's\n",
                shell.size());
    return RunPython(expected, checks);
  }

 private:
  absl::Status RunPython(const std::string& expected, Checks* checks) {
    if (access(kPython, X_OK) != 0) {
      std::printf("skipped: no %s\n", kPython);
      return absl::OkStatus();
    }
    std::string script = absl::StrCat(
        "import sqlite3\n"
        "db = sqlite3.connect(':memory:')\n"
        "db.enable_load_extension(True)\n"
        "db.load_extension('",
        extension_,
        "')\n"
        "db.execute(\"SELECT dovetail_attach(?)\", ('",
        store_,
        "',)).fetchall()\n"
        "for sql in open('",
        dir_.Sub("plain.sql"),
        "'):\n"
        "    for row in db.execute(sql):\n"
        "        print('|'.join(str(cell) for cell in row))\n");
    RETURN_IF_ERROR(Write(dir_.Sub("ask.py"), script));
    ASSIGN_OR_RETURN(const std::string python,
                     Output(absl::StrCat(kPython, " ", dir_.Sub("ask.py"))));
    checks->That(python == expected,
                 absl::StrCat("Debian's Python: bytes=", python.size(),
                              " expected=", expected.size()));
    std::printf("Python: %zu bytes of answers, as plain SQLite's\n",
                python.size());
    return absl::OkStatus();
  }

  const TempDir& dir_;
  const std::string extension_;
  const std::string store_;
};

}  // namespace

absl::Status CompareOlist(const std::string& extension, uint64_t orders,
                          Checks* checks) {
  if (!HasSharedData(kOrdersFile)) {
    std::printf("skipped: no data set %s; set DOVETAIL_SHARED_DATA\n",
                SharedData(kOrdersFile).c_str());
    return absl::OkStatus();
  }
  TempDir dir;
  const std::string store = dir.Sub("checkpoint");
  SqlDatabase plain;
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                     Engine::Open(dir.Sub("db"), OlistSchema()));
    RETURN_IF_ERROR(Import(engine.get(), &plain, orders).Run());
    RETURN_IF_ERROR(engine->Checkpoint(store, {}).status());
    RETURN_IF_ERROR(engine->Close());
  }
  {
    // Two connections of one process, on one store.
    SqlDatabase first, second;
    for (SqlDatabase* db : {&first, &second}) {
      RETURN_IF_ERROR(sql::RegisterModule(db->get(), {}));
      ASSIGN_OR_RETURN(const auto tables,
                       db->Run("SELECT dovetail_attach(?)", {SqlValue(store)}));
      checks->Equal(tables.front(), "i4", "tables attached");
    }
    CompareAnswers(&plain, &first, checks);
    CheckPushdowns(&second, checks);
  }
  if (extension.empty()) {
    std::printf("skipped: other programs, in an instrumented build\n");
    return absl::OkStatus();
  }
  return OtherPrograms(dir, extension, store).Run(&plain, checks);
}

}  // namespace dovetail::test

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/engine.h"
#include "sql/module.h"
#include "tests/acceptance/query_random.h"
#include "tests/acceptance/query_sql.h"
#include "tests/acceptance/sql_random.h"

namespace dovetail::test {
namespace {

constexpr uint64_t kStatementsPerTable = 50;
constexpr int kIds = 60;
constexpr uint64_t kRecords = 120;

// As docs/sql.md says that records look in SQL, and not by the code that does
// it.
SqlValue Signed(int64_t number) { return number; }
SqlValue Unsigned(uint64_t number) {
  if (number > static_cast<uint64_t>(INT64_MAX)) {
    return static_cast<double>(number);
  }
  return static_cast<int64_t>(number);
}
SqlValue EnumName(Anything::Color color) {
  const std::string& name = Anything::Color_Name(color);
  return name.empty() ? absl::StrCat(static_cast<int>(color)) : name;
}
SqlValue Time(const google::protobuf::Timestamp& at) {
  // The seconds are -1 to 2 only.
  const std::string second =
      at.seconds() < 0 ? "1969-12-31T23:59:59"
                       : absl::StrCat("1970-01-01T00:00:0", at.seconds());
  return absl::StrCat(second, at.nanos() == 0 ? ".000000000Z" : ".999999999Z");
}

constexpr char kPlain[] =
    "CREATE TABLE p(id TEXT, text TEXT, tag TEXT, raw BLOB, small INTEGER, "
    "large INTEGER, count INTEGER, total INTEGER, ratio REAL, amount REAL, "
    "flag INTEGER, maybe INTEGER, color TEXT, shade TEXT, at TEXT, "
    "\"inner.city\" TEXT, \"inner.zip\" INTEGER)";

std::vector<SqlValue> PlainRow(const Anything& r) {
  const SqlValue null;
  return {
      r.id(),
      r.text(),
      r.has_tag() ? SqlValue(r.tag()) : null,
      SqlBlob{r.raw()},
      Signed(r.small()),
      r.has_large() ? Signed(r.large()) : null,
      Signed(r.count()),
      r.has_total() ? Unsigned(r.total()) : null,
      static_cast<double>(r.ratio()),
      r.has_amount() ? SqlValue(r.amount()) : null,
      Signed(r.flag()),
      r.has_maybe() ? Signed(r.maybe()) : null,
      EnumName(r.color()),
      r.has_shade() ? EnumName(r.shade()) : null,
      r.has_at() ? Time(r.at()) : null,
      r.has_inner() && r.inner().has_city() ? SqlValue(r.inner().city()) : null,
      r.has_inner() ? Signed(r.inner().zip()) : null};
}

// Values of several types under several affinities.
constexpr char kMixed[] =
    "CREATE TABLE mixed(i INTEGER, t TEXT, n NUMERIC, b);"
    "INSERT INTO mixed VALUES (1, '1', 1, 1), (0, 'a', 'abc', 'a'),"
    "(-3, '01', 1.5, x'ff'), ('x', 'AB', '7x', '1'), (NULL, NULL, NULL, NULL),"
    "(3, 'RED', '1970-01-01T00:00:00.000000000Z', 0.5),"
    "(2147483647, 'r7', 9e18, 'r3'), (0.5, '_', 'b', x'')";

class RandomTable {
 public:
  RandomTable(uint64_t seed, Checks* checks, RandomFigures* figures)
      : seed_(seed),
        checks_(*checks),
        figures_(*figures),
        tables_(seed),
        statements_(seed + 1) {}

  absl::Status Run(uint64_t statements) {
    RETURN_IF_ERROR(Fill());
    for (uint64_t i = 0; i < statements; ++i) {
      RETURN_IF_ERROR(Compare(statements_.Next(), i));
    }
    return absl::OkStatus();
  }

 private:
  TableBuilder MakeTable() {
    TableBuilder table = tables_.Table();
    // Fields that tell apart in SQL what keys tell apart.
    static const char* const kGroupFields[] = {"text", "tag",   "small", "raw",
                                               "flag", "color", "at",    "id"};
    std::vector<Part> parts;
    const uint64_t first = tables_.Below(std::size(kGroupFields));
    const uint64_t count = 1 + tables_.Below(3);
    for (uint64_t i = 0; i < count; ++i) {
      Part part = Field(kGroupFields[(first + i) % std::size(kGroupFields)]);
      if (tables_.Chance(2)) part = std::move(part).Desc();
      parts.push_back(std::move(part));
    }
    table.Add(IndexBuilder::Sum("g", parts, "small"));
    // Entries that hold much, so that many statements need nothing else.
    const Part wide = Field("small");
    table.Add(IndexBuilder::Value("wide", {wide, Field("text")})
                  .Covering({"tag", "color", "at", "flag", "large"}));
    return table;
  }

  absl::Status Fill() {
    const TableBuilder table = MakeTable();
    Schema schema;
    schema.Add(table);
    Options options;
    options.in_memory = true;
    ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine,
                     Engine::Open("random", schema, options));
    engine_ = std::move(engine);
    statements_.UseTable(table.proto());
    RETURN_IF_ERROR(sql::RegisterModule(
        db_.get(), {.open = [this](const std::string&) { return engine_; },
                    .direct_only = false}));
    RETURN_IF_ERROR(db_.Do(kPlain));
    RETURN_IF_ERROR(db_.Do("CREATE UNIQUE INDEX p_id ON p(id)"));
    for (absl::string_view each : absl::StrSplit(kMixed, ';')) {
      RETURN_IF_ERROR(db_.Do(ToStd(each)));
    }
    for (uint64_t i = 0; i < kRecords; ++i) {
      Anything record = tables_.Record(kIds);
      statements_.Spice(&record);
      WriteBatch batch;
      batch.Put("t", record.SerializeAsString());
      const absl::Status put = engine_->Write({}, std::move(batch)).status();
      // A value that a key of this table cannot hold.
      if (absl::IsInvalidArgument(put) || absl::IsAlreadyExists(put)) continue;
      RETURN_IF_ERROR(put);
      RETURN_IF_ERROR(
          db_.Do("INSERT OR REPLACE INTO p VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
                 "?,?,?)",
                 PlainRow(record)));
    }
    RETURN_IF_ERROR(db_.Do("SELECT dovetail_attach('')"));
    ASSIGN_OR_RETURN(const auto rows, db_.Run("SELECT count(*) FROM p"));
    ASSIGN_OR_RETURN(const auto read, db_.Run("SELECT count(*) FROM t"));
    checks_.Equal(read.front(), rows.front(), Where("rows"));
    return MakeGroups(table.proto());
  }

  absl::Status MakeGroups(const v1::TableSchema& table) {
    for (const v1::IndexSchema& index : table.indexes()) {
      if (index.name() != "g") continue;
      std::vector<std::string> fields;
      for (const v1::KeyPart& part : index.parts()) {
        fields.push_back(absl::StrCat("\"", part.fields(0), "\""));
      }
      const std::string by = absl::StrJoin(fields, ", ");
      RETURN_IF_ERROR(db_.Do(absl::StrCat(
          "CREATE TABLE pg AS SELECT ", by,
          ", count(*) AS \"count\", sum(small) AS \"sum\" FROM p GROUP BY ",
          by)));
    }
    return absl::OkStatus();
  }

  std::string Where(std::string_view what) const {
    return absl::StrCat("seed ", seed_, ": ", ToAbsl(what));
  }

  absl::Status Compare(const Statement& statement, uint64_t number) {
    const auto text = [&](const char* table, const char* groups) {
      return absl::StrReplaceAll(statement.sql,
                                 {{"$T", table}, {"$G", groups}});
    };
    const std::string sql = text("t", "t_g");
    auto expected = db_.Run(text("p", "pg"), statement.parameters);
    auto actual = db_.Run(sql, statement.parameters);
    std::string what = absl::StrCat(Where(absl::StrCat("#", number, " ", sql)));
    for (const SqlValue& value : statement.parameters) {
      absl::StrAppend(&what, " ?", value.index());
      if (const auto* t = std::get_if<std::string>(&value)) {
        absl::StrAppend(&what, *t);
      }
    }
    ++figures_.statements;
    ++figures_.forms[statement.form];
    if (!expected.ok() || !actual.ok()) {
      ++figures_.refused;
      checks_.That(expected.status() == actual.status(),
                   absl::StrCat(what, ": ", actual.status().ToString(), " and ",
                                expected.status().ToString()));
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(CountPlans());
    figures_.rows += expected->size();
    if (!statement.ordered) {
      std::sort(expected->begin(), expected->end());
      std::sort(actual->begin(), actual->end());
    }
    if (*expected != *actual) {
      checks_.That(
          false,
          absl::StrCat(what, "\n  is        ", absl::StrJoin(*actual, " ; "),
                       "\n  should be ", absl::StrJoin(*expected, " ; ")));
    } else {
      checks_.That(true, what);
    }
    return absl::OkStatus();
  }

  absl::Status CountPlans() {
    ASSIGN_OR_RETURN(const auto plans,
                     db_.Run("SELECT plan FROM dovetail_work"));
    for (const std::string& plan : plans) {
      ++figures_.plans;
      if (absl::StrContains(plan, "(")) ++figures_.bound;
      if (absl::StrContains(plan, " covering")) ++figures_.covering;
      if (absl::StrContains(plan, " order by ")) ++figures_.ordered;
      if (absl::StrContains(plan, " IN ")) ++figures_.lists;
    }
    return absl::OkStatus();
  }

  const uint64_t seed_;
  Checks& checks_;
  RandomFigures& figures_;
  QueryRandom tables_;
  SqlRandom statements_;
  std::shared_ptr<Engine> engine_;
  SqlDatabase db_;
};

}  // namespace

absl::Status CompareRandom(uint64_t statements, uint64_t seed, Checks* checks) {
  RandomFigures figures;
  uint64_t tables = 0;
  while (figures.statements < statements) {
    RandomTable table(seed + 2 * tables++, checks, &figures);
    RETURN_IF_ERROR(table.Run(
        std::min(kStatementsPerTable, statements - figures.statements)));
  }
  const auto u = [](uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf(
      "random: %llu statements on %llu tables, %llu rows, %llu errors in both\n"
      "plans: %llu, of them %llu bind values, %llu a list, %llu covering, %llu "
      "in order\n",
      u(figures.statements), u(tables), u(figures.rows), u(figures.refused),
      u(figures.plans), u(figures.bound), u(figures.lists), u(figures.covering),
      u(figures.ordered));
  std::string forms;
  for (const auto& [form, count] : figures.forms) {
    absl::StrAppend(&forms, forms.empty() ? "" : ", ", form, " ", count);
  }
  std::printf("forms: %s\n", forms.c_str());
  return absl::OkStatus();
}

}  // namespace dovetail::test

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "tests/acceptance/sql_random.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/strings.h"

namespace dovetail::test {
namespace {

const std::vector<std::string>& Fields() {
  static const auto* const kFields = new std::vector<std::string>{
      "id",    "text",  "tag",   "raw",        "small",    "large",
      "count", "total", "ratio", "amount",     "flag",     "maybe",
      "color", "shade", "at",    "inner.city", "inner.zip"};
  return *kFields;
}

enum class Type { kText, kBlob, kInteger, kReal, kEnum, kTime };

Type TypeOf(const std::string& field) {
  if (field == "raw") return Type::kBlob;
  if (field == "ratio" || field == "amount") return Type::kReal;
  if (field == "color" || field == "shade") return Type::kEnum;
  if (field == "at") return Type::kTime;
  if (field == "id" || field == "text" || field == "tag" ||
      field == "inner.city") {
    return Type::kText;
  }
  return Type::kInteger;
}

const std::vector<std::string>& Spices() {
  static const auto* const kSpices =
      new std::vector<std::string>{"1", "01", "1.0", " 1", "-3", "1e0", "9",
                                   "A", "aB", "AB",  "_",  "Z",  "a_b"};
  return *kSpices;
}

// Of every type; a field's own come first.
std::vector<std::string> LiteralsOf(Type type) {
  switch (type) {
    case Type::kText:
      return {"''",
              "'a'",
              "'ab'",
              "'abc'",
              "'b'",
              "'AB'",
              "'aB'",
              "'1'",
              "'01'",
              "' 1'",
              "'1.0'",
              "'9'",
              "'_'",
              "'Z'",
              "CAST(x'610062' AS TEXT)",
              "CAST(x'01' AS TEXT)",
              "'r7'",
              "'r42'"};
    case Type::kBlob:
      return {"x''", "x'ff'", "x'ffff'", "x'61ff'", "x'00'", "x'62'", "x'31'"};
    case Type::kInteger:
      return {"0",
              "1",
              "-1",
              "2",
              "3",
              "-3",
              "2147483647",
              "-2147483648",
              "4294967295",
              "4294967296",
              "9223372036854775807",
              "(-9223372036854775807-1)",
              "9223372036854775808",
              "18446744073709551612",
              "18446744073709551615",
              "TRUE"};
    case Type::kReal:
      return {"0.0",
              "-0.0",
              "0.5",
              "-2.0",
              "1.5",
              "9e999",
              "-9e999",
              "1e300",
              "3.4028234663852886e+38",
              "0.1",
              "9223372036854775808.0",
              "1.0",
              "-0.5"};
    case Type::kEnum:
      return {"'RED'", "'NONE'", "'BLUE'", "'red'", "'4'", "'1'", "'GREEN'"};
    case Type::kTime:
      return {"'1970-01-01T00:00:00.000000000Z'",
              "'1970-01-01T00:00:00.999999999Z'",
              "'1969-12-31T23:59:59.999999999Z'",
              "'1970'",
              "'1970-01'",
              "'1970-01-01'",
              "'1970-01-01T00:00:01'",
              "'197'",
              "'1970-1'",
              "'1969-12-31T23:59:59.9'",
              "'2000-02-31'"};
  }
  return {};
}

constexpr Type kTypes[] = {Type::kText, Type::kBlob, Type::kInteger,
                           Type::kReal, Type::kEnum, Type::kTime};

std::string Quoted(const std::string& name) {
  return absl::StrCat("\"", name, "\"");
}

}  // namespace

void SqlRandom::UseTable(const v1::TableSchema& table) {
  table_ = table;
  keys_.clear();
  group_fields_.clear();
  keys_.emplace_back(table.row_key().parts().begin(),
                     table.row_key().parts().end());
  for (const v1::IndexSchema& index : table.indexes()) {
    if (index.kind() == v1::IndexSchema::COUNT ||
        index.kind() == v1::IndexSchema::SUM) {
      for (const v1::KeyPart& part : index.parts()) {
        if (part.fields_size() == 1 && !part.has_hash()) {
          group_fields_.push_back(part.fields(0));
        }
      }
      continue;
    }
    keys_.emplace_back(index.parts().begin(), index.parts().end());
  }
}

void SqlRandom::Spice(Anything* record) {
  const auto pick = [&] { return Spices()[Below(Spices().size())]; };
  if (Chance(3)) record->set_text(pick());
  if (Chance(4)) record->set_tag(pick());
  if (Chance(4)) record->mutable_inner()->set_city(pick());
}

const std::string& SqlRandom::Field() {
  return Fields()[Below(Fields().size())];
}

// Mostly one of the same type.
const std::string& SqlRandom::Field(const std::string& like) {
  for (int i = 0; i < 40; ++i) {
    const std::string& field = Field();
    if (TypeOf(field) == TypeOf(like)) return field;
  }
  return Field();
}

std::string SqlRandom::Name(const std::string& table,
                            const std::string& field) const {
  return absl::StrCat(table, table.empty() ? "" : ".", Quoted(field));
}

std::string SqlRandom::Literal(const std::string& field) {
  if (Chance(25)) return "NULL";
  const Type type =
      Chance(6) ? kTypes[Below(std::size(kTypes))] : TypeOf(field);
  const std::vector<std::string> literals = LiteralsOf(type);
  return literals[Below(literals.size())];
}

SqlValue SqlRandom::Parameter(const std::string& field) {
  if (Chance(25)) return std::monostate();
  const Type type =
      Chance(6) ? kTypes[Below(std::size(kTypes))] : TypeOf(field);
  switch (type) {
    case Type::kInteger:
      return static_cast<int64_t>(Below(8)) - 4;
    case Type::kReal: {
      constexpr double kReals[] = {0, 0.5, -2, 1.5, 1e300, 1, 9.3e18, 1.9e19};
      return kReals[Below(std::size(kReals))];
    }
    case Type::kBlob: {
      static const std::string kBlobs[] = {"", "\xff", "a\xff", "b",
                                           std::string(1, '\0')};
      return SqlBlob{kBlobs[Below(std::size(kBlobs))]};
    }
    case Type::kText: {
      if (field == "id") return absl::StrCat("r", Below(60));
      static const std::string kTexts[] = {"",
                                           "a",
                                           "ab",
                                           "abc",
                                           "b",
                                           "1",
                                           "01",
                                           "9",
                                           "AB",
                                           "_",
                                           std::string("a\0b", 3)};
      return kTexts[Below(std::size(kTexts))];
    }
    case Type::kEnum: {
      static const std::string kNames[] = {"RED", "NONE", "GREEN", "4"};
      return kNames[Below(std::size(kNames))];
    }
    case Type::kTime: {
      static const std::string kTimes[] = {"1970-01-01T00:00:00.000000000Z",
                                           "1970-01-01", "1970-01-01T00:00:01"};
      return kTimes[Below(std::size(kTimes))];
    }
  }
  return std::monostate();
}

std::string SqlRandom::Operand(const std::string& field, Statement* out) {
  if (Chance(3)) {
    out->parameters.push_back(Parameter(field));
    return absl::StrCat("?", out->parameters.size());
  }
  if (field == "id" && !Chance(4)) return absl::StrCat("'r", Below(60), "'");
  return Literal(field);
}

std::string SqlRandom::Equal(const std::string& table, const std::string& field,
                             Statement* out) {
  const std::string name = Name(table, field);
  switch (Below(8)) {
    case 0:
      return absl::StrCat(name, " IS ", Operand(field, out));
    case 1:
      return absl::StrCat(name, " IS NULL");
    case 2:
    case 3: {
      std::vector<std::string> values;
      const uint64_t count = 1 + Below(4);
      for (uint64_t i = 0; i < count; ++i) {
        values.push_back(Operand(field, out));
      }
      return absl::StrCat(name, " IN (", absl::StrJoin(values, ", "), ")");
    }
    default:
      return absl::StrCat(name, " = ", Operand(field, out));
  }
}

std::string SqlRandom::Test(const std::string& table, const std::string& field,
                            Statement* out) {
  const std::string name = Name(table, field);
  static const char* const kOperators[] = {"<",  "<=", ">",
                                           ">=", "<>", "IS NOT"};
  switch (Below(14)) {
    case 0:
    case 1:
    case 2:
      return Equal(table, field, out);
    case 3:
    case 4:
    case 5:
    case 6: {
      const std::string op = kOperators[Below(std::size(kOperators))];
      return absl::StrCat(name, " ", op, " ", Operand(field, out));
    }
    case 7: {
      const std::string low = Operand(field, out);
      return absl::StrCat(name, " BETWEEN ", low, " AND ", Operand(field, out));
    }
    case 8: {
      static const char* const kPatterns[] = {"a%", "A%", "ab%",   "1%",
                                              "0%", "%b", "_%",    "r1%",
                                              "Z%", "R%", "1970%", "\\_%"};
      return absl::StrCat(name, " LIKE '",
                          kPatterns[Below(std::size(kPatterns))], "'",
                          Chance(6) ? " ESCAPE '\\'" : "");
    }
    case 9: {
      static const char* const kPatterns[] = {
          "a*", "A*", "ab*", "1*", "*b", "r1*", "[ab]*", "R*", "197*"};
      return absl::StrCat(name, " GLOB '",
                          kPatterns[Below(std::size(kPatterns))], "'");
    }
    case 10: {
      const std::string op = kOperators[Below(4)];
      static const char* const kCollations[] = {"NOCASE", "RTRIM", "BINARY"};
      return absl::StrCat(name, Chance(3) ? " = " : absl::StrCat(" ", op, " "),
                          Operand(field, out), " COLLATE ",
                          kCollations[Below(std::size(kCollations))]);
    }
    case 11:
      return absl::StrCat(name, Chance(2) ? " = " : " >= ",
                          Name(table, Chance(3) ? Field() : Field(field)));
    case 12: {
      static const char* const kMixed[] = {"i", "t", "n", "b"};
      const std::string mixed = kMixed[Below(std::size(kMixed))];
      return absl::StrCat(name, Chance(2) ? " IN " : " NOT IN ", "(SELECT ",
                          mixed, " FROM mixed WHERE ", mixed, " IS NOT NULL)");
    }
    default:
      return absl::StrCat(name, " IS NOT NULL");
  }
}

std::string SqlRandom::Condition(const std::string& table, int depth,
                                 Statement* out) {
  const uint64_t form = depth == 0 ? 9 : Below(10);
  if (form < 5) {
    const std::string left = Condition(table, depth - 1, out);
    return absl::StrCat("(", left, form < 3 ? " AND " : " OR ",
                        Condition(table, depth - 1, out), ")");
  }
  if (form == 5) return absl::StrCat("NOT ", Condition(table, depth - 1, out));
  return absl::StrCat("(", Test(table, Field(), out), ")");
}

std::string SqlRandom::Fit(const std::string& table, Statement* out,
                           std::vector<std::string>* order) {
  const std::vector<v1::KeyPart>& key = keys_[Below(keys_.size())];
  std::vector<std::string> conditions;
  const uint64_t bound = Below(4);
  const bool other_way = Chance(12);
  uint64_t seen = 0;
  std::vector<std::string> fields;
  for (const v1::KeyPart& part : key) {
    if (part.fields_size() != 1 || part.has_hash() || part.has_bucket()) {
      continue;
    }
    const std::string& field = part.fields(0);
    if (std::find(fields.begin(), fields.end(), field) != fields.end()) {
      continue;
    }
    fields.push_back(field);
    if (seen++ < bound) {
      conditions.push_back(Equal(table, field, out));
      continue;
    }
    if (Chance(3)) conditions.push_back(Test(table, field, out));
    if (Chance(4)) break;
    const bool descending = (part.order() == v1::KeyPart::DESC) != other_way;
    order->push_back(
        absl::StrCat(Name(table, field), descending ? " DESC" : ""));
  }
  if (Chance(3)) conditions.push_back(Condition(table, 1, out));
  return conditions.empty() ? "1" : absl::StrJoin(conditions, " AND ");
}

std::string SqlRandom::Where(const std::string& table, Statement* out,
                             std::vector<std::string>* order) {
  if (Chance(10)) return "1";
  if (!Chance(3)) return Fit(table, out, order);
  if (Chance(2)) {
    order->push_back(absl::StrCat(Name(table, Field()),
                                  Chance(2) ? " DESC" : "",
                                  Chance(5) ? " NULLS LAST" : ""));
  }
  return Condition(table, 2, out);
}

std::string SqlRandom::LimitOffset() {
  if (Chance(3)) return "";
  const std::string limit = absl::StrCat(" LIMIT ", Below(12));
  return Chance(2) ? limit : absl::StrCat(limit, " OFFSET ", Below(5));
}

namespace {

// What is selected: the id, and some fields that an entry may hold or not.
std::string Select(const std::string& table,
                   const std::vector<std::string>& fields) {
  std::vector<std::string> items;
  for (const std::string& field : fields) {
    items.push_back(
        absl::StrCat(table, table.empty() ? "" : ".", Quoted(field)));
  }
  return absl::StrJoin(items, ", ");
}

}  // namespace

Statement SqlRandom::Rows() {
  Statement s;
  s.form = "rows";
  std::vector<std::string> order;
  const std::string where = Where("", &s, &order);
  std::vector<std::string> fields = {"id"};
  const uint64_t more = Below(3);
  for (uint64_t i = 0; i < more; ++i) fields.push_back(Field());
  s.sql = absl::StrCat("SELECT ", Select("", fields), " FROM $T WHERE ", where);
  if (Chance(4)) return s;
  // The id makes the order total.
  order.push_back(Chance(3) ? "id DESC" : "id");
  s.ordered = true;
  absl::StrAppend(&s.sql, " ORDER BY ", absl::StrJoin(order, ", "),
                  LimitOffset());
  return s;
}

Statement SqlRandom::Paging() {
  Statement s;
  s.form = "paging";
  std::vector<std::string> order;
  const std::string where = Fit("", &s, &order);
  const std::string& by = Field();
  const bool down = Chance(2);
  const std::string from = Operand(by, &s);
  s.sql =
      absl::StrCat("SELECT id, ", Quoted(by), " FROM $T WHERE (", Quoted(by),
                   ", id) ", down ? "<" : ">", " (", from, ", 'r", Below(60),
                   "') AND ", where, " ORDER BY ", Quoted(by),
                   down ? " DESC, id DESC" : ", id", " LIMIT ", 1 + Below(6));
  s.ordered = true;
  return s;
}

Statement SqlRandom::Grouped() {
  Statement s;
  s.form = "group by";
  std::vector<std::string> order;
  const std::string where = Where("", &s, &order);
  std::vector<std::string> by = {Quoted(Field())};
  const auto& key = keys_[Below(keys_.size())];
  if (Chance(2) && key.back().fields_size() == 1) {
    by = {Quoted(key.front().fields_size() > 0 ? key.front().fields(0)
                                               : Field())};
  }
  if (Chance(3)) by.push_back(Quoted(Field()));
  s.sql = absl::StrCat("SELECT ", absl::StrJoin(by, ", "),
                       ", count(*), min(id), max(small), sum(count), "
                       "count(DISTINCT text) FROM $T WHERE ",
                       where, " GROUP BY ", absl::StrJoin(by, ", "));
  if (Chance(3)) absl::StrAppend(&s.sql, " HAVING count(*) > 1");
  if (Chance(2)) {
    absl::StrAppend(&s.sql, " ORDER BY ", absl::StrJoin(by, ", "),
                    LimitOffset());
    s.ordered = true;
  }
  return s;
}

Statement SqlRandom::Distinct() {
  Statement s;
  s.form = "distinct";
  std::vector<std::string> order;
  const std::string where = Where("", &s, &order);
  const auto& key = keys_[Below(keys_.size())];
  std::vector<std::string> fields = {
      Quoted(key.front().fields_size() > 0 ? key.front().fields(0) : Field())};
  if (Chance(2)) fields.push_back(Quoted(Field()));
  s.sql = absl::StrCat("SELECT DISTINCT ", absl::StrJoin(fields, ", "),
                       " FROM $T WHERE ", where);
  if (Chance(2)) {
    absl::StrAppend(&s.sql, " ORDER BY ", absl::StrJoin(fields, ", "),
                    LimitOffset());
    s.ordered = true;
  }
  return s;
}

Statement SqlRandom::Compound() {
  Statement s;
  s.form = "compound";
  std::vector<std::string> order;
  const std::string field = Quoted(Field());
  const std::string first = Where("", &s, &order);
  const std::string second = Where("", &s, &order);
  static const char* const kKinds[] = {" UNION ALL ", " UNION ALL ", " UNION ",
                                       " EXCEPT ", " INTERSECT "};
  const std::string kind = kKinds[Below(std::size(kKinds))];
  const std::string all =
      absl::StrCat("SELECT id, ", field, " FROM $T WHERE ", first, kind,
                   "SELECT id, ", field, " FROM $T WHERE ", second);
  const std::string limit =
      absl::StrCat(" LIMIT ", Below(20), " OFFSET ", Below(6));
  if (Chance(3)) {
    // Which rows these are is open, but not how many.
    s.sql = absl::StrCat("SELECT count(*) FROM (", all, limit, ")");
    return s;
  }
  s.sql = all;
  if (Chance(2)) {
    absl::StrAppend(&s.sql, " ORDER BY 1, 2", limit);
    s.ordered = true;
  }
  return s;
}

Statement SqlRandom::Join() {
  Statement s;
  s.form = "join";
  std::vector<std::string> order;
  const std::string where = Where("a", &s, &order);
  const auto& key = keys_[Below(keys_.size())];
  const std::string inner = Chance(2) || key.front().fields_size() == 0
                                ? Field()
                                : key.front().fields(0);
  static const char* const kOuter[] = {"LEFT ", "LEFT ", "RIGHT ", "FULL "};
  const std::string outer =
      Chance(3) ? kOuter[Below(std::size(kOuter))] : std::string();
  const std::string op = Chance(4) ? " >= " : Chance(8) ? " < " : " = ";
  if (Chance(3)) {
    static const char* const kMixed[] = {"i", "t", "n", "b"};
    s.sql = absl::StrCat("SELECT a.id, m.rowid FROM mixed m ", outer,
                         "JOIN $T a ON a.", Quoted(inner), op, "m.",
                         kMixed[Below(4)], " AND ", where);
    return s;
  }
  s.sql = absl::StrCat("SELECT a.id, b.id, b.", Quoted(Field()), " FROM $T a ",
                       outer, "JOIN $T b ON b.", Quoted(inner), op, "a.",
                       Quoted(Chance(4) ? Field() : Field(inner)));
  if (Chance(3)) absl::StrAppend(&s.sql, " AND ", Test("b", Field(), &s));
  absl::StrAppend(&s.sql, " WHERE ", where);
  if (Chance(4)) absl::StrAppend(&s.sql, " AND ", Test("b", Field(), &s));
  return s;
}

Statement SqlRandom::Window() {
  Statement s;
  s.form = "window";
  std::vector<std::string> order;
  const std::string where = Where("", &s, &order);
  s.sql = absl::StrCat("SELECT id, row_number() OVER (PARTITION BY ",
                       Quoted(Field()), " ORDER BY ", Quoted(Field()),
                       Chance(2) ? " DESC" : "",
                       ", id), count(*) OVER (PARTITION BY ", Quoted(Field()),
                       ") FROM $T WHERE ", where);
  return s;
}

Statement SqlRandom::Extreme() {
  Statement s;
  s.form = "min, max";
  std::vector<std::string> order;
  const std::string where = Where("", &s, &order);
  s.sql = absl::StrCat("SELECT ", Chance(2) ? "max" : "min", "(",
                       Quoted(Field()), ")", Chance(2) ? ", count(*)" : "",
                       " FROM $T WHERE ", where);
  return s;
}

Statement SqlRandom::Subquery() {
  Statement s;
  s.form = "subquery";
  std::vector<std::string> order;
  const std::string& field = Field();
  const std::string& like = Field(field);
  const std::string where = Where("a", &s, &order);
  std::vector<std::string> unused;
  const std::string inner = Where("b", &s, &unused);
  switch (Below(3)) {
    case 0:
      s.sql = absl::StrCat("SELECT a.id FROM $T a WHERE ", where,
                           " AND EXISTS (SELECT 1 FROM $T b WHERE b.",
                           Quoted(field), " = a.", Quoted(like), " AND ", inner,
                           ")");
      break;
    case 1:
      s.sql =
          absl::StrCat("SELECT a.id FROM $T a WHERE ", where, " AND a.",
                       Quoted(field), Chance(4) ? " NOT" : "", " IN (SELECT b.",
                       Quoted(like), " FROM $T b WHERE ", inner, ")");
      break;
    default:
      s.sql = absl::StrCat("SELECT a.id, (SELECT count(*) FROM $T b WHERE b.",
                           Quoted(field), " <= a.", Quoted(like), " AND ",
                           inner, ") FROM $T a WHERE ", where);
  }
  return s;
}

Statement SqlRandom::Groups() {
  Statement s;
  s.form = "groups";
  std::vector<std::string> conditions = {"1"};
  const uint64_t bound = Below(3);
  for (uint64_t i = 0; i < group_fields_.size() && i < bound; ++i) {
    conditions.push_back(Chance(2) ? Equal("", group_fields_[i], &s)
                                   : Test("", group_fields_[i], &s));
  }
  const std::string from =
      absl::StrCat(" FROM $G WHERE ", absl::StrJoin(conditions, " AND "));
  switch (Below(3)) {
    case 0:
      s.sql = absl::StrCat("SELECT *", from);
      break;
    case 1:
      s.sql = absl::StrCat(
          "SELECT ", Quoted(group_fields_.back()), ", sum(g.\"",
          "rows_\"), max(g.\"sum_\") FROM (SELECT *, ", Quoted("count"),
          " AS rows_, ", Quoted("sum"), " AS sum_", from, ") g GROUP BY 1");
      break;
    default:
      s.sql = absl::StrCat("SELECT *", from, " ORDER BY ");
      for (const std::string& field : group_fields_) {
        absl::StrAppend(&s.sql, Quoted(field), ", ");
      }
      absl::StrAppend(&s.sql, Quoted("count"), LimitOffset());
      s.ordered = true;
  }
  return s;
}

Statement SqlRandom::Next() {
  switch (Below(14)) {
    case 0:
    case 1:
    case 2:
      return Rows();
    case 3:
    case 4:
      return Paging();
    case 5:
      return Grouped();
    case 6:
      return Distinct();
    case 7:
      return Compound();
    case 8:
    case 9:
      return Join();
    case 10:
      return Window();
    case 11:
      return Extreme();
    case 12:
      return group_fields_.empty() ? Rows() : Groups();
    default:
      return Subquery();
  }
}

}  // namespace dovetail::test

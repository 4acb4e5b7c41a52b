// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Random statements in SQL over a table of dovetail.test.Anything: the same
// text, with another table's name, is put to Dovetail and to plain SQLite.
// Conditions and orders often follow an index; values often have the wrong
// type, another collation, or the border of a type.

#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "dovetail/v1/schema.pb.h"
#include "tests/acceptance/sql_database.h"
#include "tests/support/records.pb.h"

namespace dovetail::test {

struct Statement {
  std::string form;  // "paging", "join", ...: for figures.
  std::string sql;   // "$T" stands for the table, "$G" for its groups.
  std::vector<SqlValue> parameters;
  bool ordered = false;  // The order of all rows is given.
};

// Thread-compatible. The same seed gives the same sequence.
class SqlRandom {
 public:
  explicit SqlRandom(uint64_t seed) : rng_(seed) {}

  void UseTable(const v1::TableSchema& table);
  // Texts that look like numbers, or differ in case only, here and there.
  void Spice(Anything* record);
  Statement Next();

  uint64_t Below(uint64_t n) { return rng_() % n; }
  bool Chance(uint64_t in) { return Below(in) == 0; }

 private:
  const std::string& Field();
  const std::string& Field(const std::string& like);
  std::string Name(const std::string& table, const std::string& field) const;
  // A value for the field, as a literal or a parameter.
  std::string Operand(const std::string& field, Statement* out);
  std::string Literal(const std::string& field);
  SqlValue Parameter(const std::string& field);
  std::string Test(const std::string& table, const std::string& field,
                   Statement* out);
  std::string Condition(const std::string& table, int depth, Statement* out);
  std::string Equal(const std::string& table, const std::string& field,
                    Statement* out);
  // Conditions on the first fields of an index, and its next ones.
  std::string Fit(const std::string& table, Statement* out,
                  std::vector<std::string>* order);
  std::string Where(const std::string& table, Statement* out,
                    std::vector<std::string>* order);
  std::string LimitOffset();

  Statement Rows();
  Statement Paging();
  Statement Grouped();
  Statement Distinct();
  Statement Compound();
  Statement Join();
  Statement Window();
  Statement Extreme();
  Statement Subquery();
  Statement Groups();

  std::mt19937_64 rng_;
  v1::TableSchema table_;
  std::vector<std::vector<v1::KeyPart>> keys_;
  std::vector<std::string> group_fields_;
};

}  // namespace dovetail::test

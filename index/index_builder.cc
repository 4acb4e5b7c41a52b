// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The builders of indexes and of their predicates.

#include <string>
#include <utility>

#include "dovetail/schema.h"

namespace dovetail {
namespace {

using Literal = v1::IndexSchema::Literal;

v1::IndexSchema::Test TestOf(std::string_view path) {
  v1::IndexSchema::Test test;
  test.set_field(std::string(path));
  return test;
}

// Of null nothing is set, which the engine refuses.
void Set(const Value& value, Literal* literal) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return;
    case Value::Kind::kBool:
      return literal->set_bool_value(value.as_bool());
    case Value::Kind::kInt:
      return literal->set_int_value(value.as_int());
    case Value::Kind::kUint:
      return literal->set_uint_value(value.as_uint());
    case Value::Kind::kDouble:
      return literal->set_double_value(value.as_double());
    case Value::Kind::kString:
      return literal->set_string_value(value.as_string());
    case Value::Kind::kTimestamp:
      literal->mutable_timestamp_value()->set_seconds(
          value.as_timestamp().seconds);
      literal->mutable_timestamp_value()->set_nanos(value.as_timestamp().nanos);
      return;
  }
}

v1::IndexSchema IndexOf(v1::IndexSchema::Kind kind, std::string_view name,
                        const std::vector<Part>& parts) {
  v1::IndexSchema index;
  index.set_name(std::string(name));
  index.set_kind(kind);
  for (const Part& part : parts) *index.add_parts() = part.proto();
  return index;
}

}  // namespace

RowTest RowTest::Equal(std::string_view path, const Value& value) {
  v1::IndexSchema::Test test = TestOf(path);
  Set(value, test.mutable_equal());
  return RowTest(std::move(test));
}

RowTest RowTest::In(std::string_view path, const std::vector<Value>& values) {
  v1::IndexSchema::Test test = TestOf(path);
  test.mutable_in();
  for (const Value& value : values) Set(value, test.mutable_in()->add_values());
  return RowTest(std::move(test));
}

RowTest RowTest::Between(std::string_view path, const Range& range) {
  v1::IndexSchema::Test test = TestOf(path);
  v1::IndexSchema::Test::Range& proto = *test.mutable_range();
  if (range.min.has_value()) Set(*range.min, proto.mutable_min());
  if (range.max.has_value()) Set(*range.max, proto.mutable_max());
  proto.set_min_exclusive(!range.min_inclusive);
  proto.set_max_exclusive(!range.max_inclusive);
  return RowTest(std::move(test));
}

RowTest RowTest::Prefix(std::string_view path, std::string_view prefix) {
  v1::IndexSchema::Test test = TestOf(path);
  test.set_prefix(std::string(prefix));
  return RowTest(std::move(test));
}

RowTest RowTest::IsNull(std::string_view path) {
  v1::IndexSchema::Test test = TestOf(path);
  test.set_is_null(true);
  return RowTest(std::move(test));
}

RowTest RowTest::IsNotNull(std::string_view path) {
  v1::IndexSchema::Test test = TestOf(path);
  test.set_is_null(false);
  return RowTest(std::move(test));
}

IndexBuilder IndexBuilder::Value(std::string_view name,
                                 std::vector<Part> parts) {
  return IndexBuilder(IndexOf(v1::IndexSchema::VALUE, name, parts));
}

IndexBuilder IndexBuilder::Unique(std::string_view name,
                                  std::vector<Part> parts) {
  return IndexBuilder(IndexOf(v1::IndexSchema::UNIQUE, name, parts));
}

IndexBuilder IndexBuilder::Count(std::string_view name,
                                 std::vector<Part> parts) {
  return IndexBuilder(IndexOf(v1::IndexSchema::COUNT, name, parts));
}

IndexBuilder IndexBuilder::Sum(std::string_view name, std::vector<Part> parts,
                               std::string_view of) {
  v1::IndexSchema index = IndexOf(v1::IndexSchema::SUM, name, parts);
  index.set_sum(std::string(of));
  return IndexBuilder(std::move(index));
}

IndexBuilder& IndexBuilder::Covering(std::vector<std::string> paths) {
  for (std::string& path : paths) proto_.add_covering(std::move(path));
  return *this;
}

IndexBuilder& IndexBuilder::Where(std::vector<RowTest> tests) {
  for (const RowTest& test : tests) *proto_.add_predicate() = test.proto();
  return *this;
}

IndexBuilder& IndexBuilder::FanOut(std::string_view path, uint32_t max) {
  proto_.set_fan_out(std::string(path));
  proto_.set_fan_out_max(max);
  return *this;
}

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "tests/acceptance/query_random.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace dovetail::test {
namespace {

// Every field that a key, a filter or an order can name.
const std::vector<std::string>& Fields() {
  static const auto* const kFields = new std::vector<std::string>{
      "id",    "text",  "tag",   "raw",        "small",    "large",
      "count", "total", "ratio", "amount",     "flag",     "maybe",
      "color", "shade", "at",    "inner.city", "inner.zip"};
  return *kFields;
}

bool IsText(const std::string& path) {
  return path == "id" || path == "text" || path == "tag" || path == "raw" ||
         path == "inner.city";
}

const std::vector<std::string>& Texts() {
  static const auto* const kTexts = new std::vector<std::string>{
      "", "a", std::string("a\0b", 3), "ab", "abc", "b", "\x01", "\x7f\x7f"};
  return *kTexts;
}

const std::vector<std::string>& RawTexts() {
  static const auto* const kTexts = new std::vector<std::string>{
      "", "\xff", "\xff\xff", "a\xff", std::string("\0", 1), "b"};
  return *kTexts;
}

template <typename T>
T IntOf(uint64_t n) {
  switch (n) {
    case 0:
      return std::numeric_limits<T>::min();
    case 1:
      return std::numeric_limits<T>::max();
    default:
      return static_cast<T>(n - 4);
  }
}

template <typename T>
T FloatOf(uint64_t n) {
  const T values[] = {T{0},
                      -T{0},
                      T{0.5},
                      -T{2},
                      std::numeric_limits<T>::infinity(),
                      std::numeric_limits<T>::quiet_NaN(),
                      std::numeric_limits<T>::max()};
  return values[n];
}

constexpr uint64_t kInts = 8;
constexpr uint64_t kFloats = 7;

google::protobuf::Timestamp MomentOf(uint64_t n) {
  google::protobuf::Timestamp t;
  t.set_seconds(static_cast<int64_t>(n / 2) - 1);
  t.set_nanos(n % 2 == 0 ? 0 : 999'999'999);
  return t;
}

}  // namespace

const std::string& QueryRandom::Field() {
  if (!hot_.empty() && !Chance(5)) return hot_[Below(hot_.size())];
  return Fields()[Below(Fields().size())];
}

Part QueryRandom::PartOf(const std::string& path) {
  Part part = dovetail::Field(path);
  if ((path == "small" || path == "count" || path == "large" ||
       path == "color" || path == "total") &&
      Chance(3)) {
    part = Varint(path);
  } else if (IsText(path) && path != "raw" && Chance(8)) {
    part = Reverse(path);
  }
  if (Chance(2)) part = std::move(part).Desc();
  if (Chance(4)) part = std::move(part).NullsFirst();
  if (Chance(4)) part = std::move(part).NullsLast();
  return part;
}

// Distinct fields, sometimes with a computed part of one in front.
std::vector<Part> QueryRandom::KeyParts(size_t at_most) {
  if (Chance(3)) at_most = 1;
  std::vector<Part> parts;
  std::vector<std::string> fields;
  const size_t wanted = 1 + Below(at_most);
  while (fields.size() < wanted) {
    const std::string& path = Field();
    if (std::find(fields.begin(), fields.end(), path) != fields.end()) continue;
    fields.push_back(path);
    if (Chance(5)) parts.push_back(Hash({path}, v1::XXH3, 1));
    if (Chance(8)) parts.push_back(Bucket({path}, v1::MURMUR3, 3));
    parts.push_back(PartOf(path));
  }
  return parts;
}

// Distinct fields, often none.
std::vector<std::string> QueryRandom::Covering(size_t at_most) {
  std::vector<std::string> fields;
  if (Chance(2)) return fields;
  for (uint64_t left = 1 + Below(at_most); left > 0; --left) {
    const std::string& path = Field();
    if (std::find(fields.begin(), fields.end(), path) == fields.end()) {
      fields.push_back(path);
    }
  }
  return fields;
}

TableBuilder QueryRandom::Table() {
  hot_.clear();
  while (hot_.size() < 6) hot_.push_back(Fields()[Below(Fields().size())]);
  TableBuilder table("t", Anything::descriptor());
  std::vector<Part> row_key;
  if (Chance(5)) row_key.push_back(Salt(1 + static_cast<uint32_t>(Below(3))));
  if (!Chance(5)) {
    for (Part& part : KeyParts(3)) row_key.push_back(std::move(part));
  }
  if (Chance(6)) {
    row_key.push_back(SubBucket("text", {"a", "b"}, {"id"}, 2));
    row_key.push_back(dovetail::Field("text"));
  }
  const bool has_id =
      std::any_of(row_key.begin(), row_key.end(), [](const Part& part) {
        return part.proto().fields_size() == 1 &&
               part.proto().fields(0) == "id" && !part.proto().has_hash() &&
               !part.proto().has_bucket();
      });
  if (!has_id) row_key.push_back(PartOf("id"));
  table.RowKey(std::move(row_key));
  // So that a put finds its row in whichever salt or place it is.
  table.Unique("by_id", {dovetail::Field("id")}).Identity("by_id");
  const uint64_t indexes = Below(6);
  for (uint64_t i = 0; i < indexes; ++i) {
    std::vector<Part> parts = KeyParts(4);
    const std::string name = absl::StrCat("i", i);
    if (Chance(5)) {
      parts.push_back(dovetail::Field("id"));
      table.Add(
          IndexBuilder::Unique(name, std::move(parts)).Covering(Covering(3)));
    } else {
      table.Add(
          IndexBuilder::Value(name, std::move(parts)).Covering(Covering(3)));
    }
  }
  table_ = table.proto();
  return table;
}

Anything QueryRandom::Record(int ids) {
  Anything r;
  r.set_id(absl::StrCat("r", Below(static_cast<uint64_t>(ids))));
  r.set_text(Texts()[Below(Texts().size())]);
  if (!Chance(3)) r.set_tag(Texts()[Below(Texts().size())]);
  r.set_raw(RawTexts()[Below(RawTexts().size())]);
  r.set_small(IntOf<int32_t>(Below(kInts)));
  if (!Chance(3)) r.set_large(IntOf<int64_t>(Below(kInts)));
  r.set_count(IntOf<uint32_t>(Below(kInts)));
  if (!Chance(3)) r.set_total(IntOf<uint64_t>(Below(kInts)));
  r.set_ratio(FloatOf<float>(Below(kFloats)));
  if (!Chance(3)) r.set_amount(FloatOf<double>(Below(kFloats)));
  r.set_flag(Chance(2));
  if (!Chance(3)) r.set_maybe(Chance(2));
  r.set_color(static_cast<Anything::Color>(Below(5)));
  if (!Chance(3)) r.set_shade(static_cast<Anything::Color>(Below(5)));
  if (!Chance(3)) *r.mutable_at() = MomentOf(Below(6));
  if (!Chance(3)) {
    if (!Chance(3)) r.mutable_inner()->set_city(Texts()[Below(Texts().size())]);
    r.mutable_inner()->set_zip(IntOf<int32_t>(Below(kInts)));
  }
  if (Chance(2)) r.add_labels("x");
  return r;
}

// The value that a random record has in the field; never null.
v1::Literal QueryRandom::Literal(const std::string& path) {
  v1::Literal l;
  if (path == "id") {
    l.set_string(absl::StrCat("r", Below(60)));
  } else if (path == "raw") {
    l.set_bytes(RawTexts()[Below(RawTexts().size())]);
  } else if (IsText(path)) {
    l.set_string(Texts()[Below(Texts().size())]);
  } else if (path == "small" || path == "inner.zip") {
    l.set_int_(IntOf<int32_t>(Below(kInts)));
  } else if (path == "large") {
    l.set_int_(IntOf<int64_t>(Below(kInts)));
  } else if (path == "count") {
    l.set_uint(IntOf<uint32_t>(Below(kInts)));
  } else if (path == "total") {
    l.set_uint(IntOf<uint64_t>(Below(kInts)));
  } else if (path == "ratio") {
    l.set_double_(FloatOf<float>(Below(kFloats)));
  } else if (path == "amount") {
    l.set_double_(FloatOf<double>(Below(kFloats)));
  } else if (path == "flag" || path == "maybe") {
    l.set_bool_(Chance(2));
  } else if (path == "at") {
    *l.mutable_timestamp() = MomentOf(Below(6));
  } else if (Chance(2)) {
    l.set_string(Anything::Color_Name(static_cast<int>(Below(4))));
  } else {
    l.set_int_(static_cast<int64_t>(Below(5)));
  }
  return l;
}

v1::Expression QueryRandom::Test(const std::string& path) {
  v1::Expression e;
  switch (Below(8)) {
    case 0:
    case 1:
    case 2:
      e.mutable_equal()->set_field(path);
      *e.mutable_equal()->mutable_value() = Literal(path);
      break;
    case 3: {
      e.mutable_in()->set_field(path);
      const uint64_t values = Below(4);
      for (uint64_t i = 0; i < values; ++i) {
        *e.mutable_in()->add_values() = Literal(path);
      }
      break;
    }
    case 4:
      e.mutable_is_null()->set_field(path);
      break;
    case 5:
      if (IsText(path)) {
        e.mutable_prefix()->set_field(path);
        *e.mutable_prefix()->mutable_prefix() = Literal(path);
        break;
      }
      [[fallthrough]];
    default: {
      v1::Expression::Range* range = e.mutable_range();
      range->set_field(path);
      if (!Chance(3)) *range->mutable_min() = Literal(path);
      if (!Chance(3)) *range->mutable_max() = Literal(path);
      range->set_min_exclusive(Chance(2));
      range->set_max_exclusive(Chance(2));
      break;
    }
  }
  return e;
}

v1::Query QueryRandom::WithOtherValues(v1::Query query) {
  if (query.has_where()) ChangeValues(query.mutable_where());
  return query;
}

void QueryRandom::ChangeValues(v1::Expression* e) {
  switch (e->kind_case()) {
    case v1::Expression::kAnd:
      for (v1::Expression& of : *e->mutable_and_()->mutable_of()) {
        ChangeValues(&of);
      }
      break;
    case v1::Expression::kOr:
      for (v1::Expression& of : *e->mutable_or_()->mutable_of()) {
        ChangeValues(&of);
      }
      break;
    case v1::Expression::kNot:
      ChangeValues(e->mutable_not_());
      break;
    case v1::Expression::kEqual:
      *e->mutable_equal()->mutable_value() = Literal(e->equal().field());
      break;
    case v1::Expression::kIn:
      for (v1::Literal& value : *e->mutable_in()->mutable_values()) {
        value = Literal(e->in().field());
      }
      break;
    case v1::Expression::kRange: {
      v1::Expression::Range* range = e->mutable_range();
      if (range->has_min()) *range->mutable_min() = Literal(range->field());
      if (range->has_max()) *range->mutable_max() = Literal(range->field());
      break;
    }
    case v1::Expression::kPrefix:
      *e->mutable_prefix()->mutable_prefix() = Literal(e->prefix().field());
      break;
    default:
      break;
  }
}

v1::Expression QueryRandom::Expression(int depth) {
  v1::Expression e;
  const uint64_t form = depth == 0 ? 9 : Below(10);
  if (form < 4) {
    const uint64_t inputs = 1 + Below(3);
    for (uint64_t i = 0; i < inputs; ++i) {
      *e.mutable_and_()->add_of() = Expression(depth - 1);
    }
    return e;
  }
  if (form < 6) {
    const uint64_t inputs = 1 + Below(3);
    for (uint64_t i = 0; i < inputs; ++i) {
      *e.mutable_or_()->add_of() = Expression(depth - 1);
    }
    return e;
  }
  if (form == 6) {
    *e.mutable_not_() = Expression(depth - 1);
    return e;
  }
  return Test(Field());
}

void QueryRandom::FitIndex(v1::Query* query) {
  const auto at = Below(static_cast<uint64_t>(table_.indexes_size()) + 1);
  const auto& parts = at == 0
                          ? table_.row_key().parts()
                          : table_.indexes(static_cast<int>(at) - 1).parts();
  v1::Expression::All* all = query->mutable_where()->mutable_and_();
  const uint64_t bound = Below(3);
  const bool other_way = Chance(10);
  uint64_t seen = 0;
  for (const v1::KeyPart& part : parts) {
    if (part.fields_size() != 1 || part.has_hash() || part.has_bucket()) {
      continue;
    }
    const std::string& path = part.fields(0);
    if (seen++ < bound) {
      *all->add_of() = Test(path);
      continue;
    }
    if (Chance(4)) *all->add_of() = Test(path);
    if (Chance(3)) break;
    v1::OrderBy* by = query->add_order_by();
    by->set_field(path);
    by->set_descending((part.order() == v1::KeyPart::DESC) != other_way);
    by->set_nulls(static_cast<v1::OrderBy::Nulls>(part.nulls()));
  }
  if (Chance(3)) *all->add_of() = Expression(1);
}

// What several indexes serve together: all of their conditions, or any.
void QueryRandom::FitIndexes(v1::Query* query) {
  if (table_.indexes_size() == 0) return;
  const bool all = Chance(2);
  const uint64_t indexes = 2 + Below(2);
  v1::Expression* where = query->mutable_where();
  // One value per field, or no row could match all.
  std::map<std::string, v1::Literal> values;
  for (uint64_t i = 0; i < indexes; ++i) {
    const v1::IndexSchema& index = table_.indexes(
        static_cast<int>(Below(static_cast<uint64_t>(table_.indexes_size()))));
    v1::Expression* each =
        all ? where->mutable_and_()->add_of() : where->mutable_or_()->add_of();
    if (!all) values.clear();
    for (const v1::KeyPart& part : index.parts()) {
      const std::string& path = part.fields(0);
      if (values.count(path) == 0) values[path] = Literal(path);
      v1::Expression* test = each->mutable_and_()->add_of();
      test->mutable_equal()->set_field(path);
      *test->mutable_equal()->mutable_value() = values[path];
      if (Chance(8)) break;
    }
  }
  query->set_order_by_row_key(Chance(2));
}

// Some fields of an index, which its entries may then answer alone, or of any.
void QueryRandom::Select(v1::Query* query) {
  if (table_.indexes_size() == 0 || Chance(4)) {
    for (const char* path : {"id", "inner.city", "labels", "at", "ratio"}) {
      if (Chance(2)) query->add_select(path);
    }
    return;
  }
  const v1::IndexSchema& index = table_.indexes(
      static_cast<int>(Below(static_cast<uint64_t>(table_.indexes_size()))));
  const auto add = [&](const std::string& path) {
    const auto& paths = query->select();
    const bool known = path.find('.') == std::string::npos ||
                       path == "inner.city";  // The oracle's.
    if (known && !Chance(3) &&
        std::find(paths.begin(), paths.end(), path) == paths.end()) {
      query->add_select(path);
    }
  };
  for (const v1::KeyPart& part : index.parts()) add(part.fields(0));
  for (const v1::KeyPart& part : table_.row_key().parts()) {
    if (part.fields_size() == 1) add(part.fields(0));
  }
  for (const std::string& path : index.covering()) add(path);
}

v1::Query QueryRandom::Query() {
  v1::Query query = AllFields();
  if (Chance(3)) Select(&query);
  return query;
}

v1::Query QueryRandom::AllFields() {
  v1::Query query;
  query.set_table("t");
  if (Chance(4)) {
    FitIndexes(&query);
    return query;
  }
  if (Chance(2)) {
    FitIndex(&query);
    return query;
  }
  if (!Chance(12)) *query.mutable_where() = Expression(3);
  switch (Below(4)) {
    case 0:
      break;
    case 1:
      query.set_order_by_row_key(true);
      break;
    default: {
      const uint64_t fields = 1 + Below(2);
      for (uint64_t i = 0; i < fields; ++i) {
        v1::OrderBy* by = query.add_order_by();
        by->set_field(Field());
        by->set_descending(Chance(2));
        by->set_nulls(static_cast<v1::OrderBy::Nulls>(Below(3)));
      }
    }
  }
  return query;
}

}  // namespace dovetail::test

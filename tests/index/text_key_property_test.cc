// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Random TEXT layouts over random records: what a layout accepts and what a
// key accepts is unique, reads back, lies in exactly the ranges it should, and
// is rebuilt from every index's entry.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "index/index_definition.h"
#include "tests/index/text_key_test_util.h"
#include "tests/support/status_matchers.h"

namespace dovetail::test {
namespace {

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  uint64_t Pick(uint64_t n) { return random_() % n; }
  template <size_t N>
  std::string OneOf(const char* const (&choices)[N]) {
    return choices[Pick(N)];
  }

  std::string Separator() {
    return OneOf({"-", "|", "_", "::", "", "\xff", "#-#"});
  }

  // Of the row key: "fields: ... text { ... }".
  std::string Part() {
    const std::string type = OneOf({"int32", "int64", "uint32", "enum"});
    const std::string name = (Pick(4) == 0 ? "opt_" : "") + type;
    switch (Pick(11)) {
      case 0:
      case 1:
        return absl::StrCat("fields: '", name, "' ",
                            Pick(2) == 0 ? "order: DESC " : "", "text { ",
                            Width(5),
                            OneOf({"", "digits: HEX ", "digits: HEX_UPPER "}),
                            Null(name), Joined(), "}");
      case 2:
        return absl::StrCat("fields: '", name, "' order: DESC text { ",
                            Pick(2) == 0 ? "width: 19 " : "desc_from: 99 ",
                            Null(name), Joined(), "}");
      case 3:
      case 4: {
        const std::string text =
            OneOf({"string", "bytes", "opt_string", "opt_bytes"});
        return absl::StrCat("fields: '", text, "' ",
                            Pick(3) == 0 ? "reverse {} " : "", "text { ",
                            Width(2), Null(text), Joined(), "}");
      }
      case 5:
        return absl::StrCat("fields: '", name, "' reverse {} text { ", Width(4),
                            Null(name), Joined(), "}");
      case 6:
        return absl::StrCat(
            "fields: 'timestamp' ", Pick(2) == 0 ? "order: DESC " : "",
            "text { ", Width(19), OneOf({"", "unit: SECONDS "}), Joined(), "}");
      case 7:
        return absl::StrCat("fields: 'string' decimal { digits: 2 } text { ",
                            Joined(), "}");
      case 8:
        return absl::StrCat(
            "fields: '", OneOf({"string", "opt_bytes", "int64", "bool"}),
            "' hash { algorithm: ",
            OneOf({"XXH3", "MURMUR3", "JAVA_STRING", "CRC32"}),
            " bytes: 4 } text { null_as: 'n' ",
            OneOf({"", "digits: DECIMAL ", "digits: HEX_UNPADDED "}), Joined(),
            "}");
      case 9:
        return absl::StrCat(
            "fields: 'bool' fields: '", name,
            "' bucket { algorithm: ", OneOf({"XXH3", "MURMUR3", "JAVA_STRING"}),
            " count: 20 } text { ", Width(3),
            OneOf({"", "form: ABS_MOD ", "form: MASK_MOD "}), "joiner: '+' ",
            Null(name), Joined(), "}");
      default:
        return absl::StrCat("fields: 'bool' text { ", Joined(), "}");
    }
  }

  std::string Layout() {
    std::string parts;
    if (Pick(5) == 0) parts = "parts { salt { count: 12 } text { width: 2 } }";
    for (uint64_t n = Pick(4) + 1; n > 0; --n) {
      absl::StrAppend(&parts, "parts { ", Part(), " }");
    }
    return parts;
  }

  std::string Index() {
    std::string parts;
    for (uint64_t n = Pick(3) + 1; n > 0; --n) {
      absl::StrAppend(
          &parts, "parts { ",
          OneOf({"fields: 'string'", "fields: 'opt_bytes' order: DESC",
                 "fields: 'int64' varint {}", "fields: 'int32' order: DESC",
                 "fields: 'bool'", "fields: 'opt_enum'", "fields: 'timestamp'",
                 "fields: 'string' hash { algorithm: MD5 bytes: 2 }"}),
          " }");
    }
    return parts;
  }

  FieldMap Record() {
    const auto text = [this] {
      std::string letters;
      for (uint64_t n = Pick(4); n > 0; --n) {
        letters += OneOf({"a", "b", "-", "|", ":", "_", "#", "0", "7", "!"});
      }
      return letters;
    };
    const auto bytes = [&] { return text() + (Pick(4) == 0 ? "\xff" : ""); };
    const auto number = [this](int64_t least) -> int64_t {
      switch (Pick(4)) {
        case 0:
          return static_cast<int64_t>(Pick(3));
        case 1:
          return std::max<int64_t>(least, -static_cast<int64_t>(Pick(100)));
        default:
          return static_cast<int64_t>(Pick(120'000));
      }
    };
    FieldMap fields;
    fields["bool"] = Pick(2) == 0;
    fields["string"] = text();
    fields["bytes"] = bytes();
    fields["timestamp"] = TimestampValue{number(-100) * 10, 0};
    for (const char* name : {"int32", "int64", "enum"}) {
      fields[name] = number(-100);
      fields[absl::StrCat("opt_", name)] = Optional(number(-100));
    }
    fields["uint32"] = number(0);
    fields["opt_uint32"] = Optional(number(0));
    fields["opt_string"] = Optional(text());
    fields["opt_bytes"] = Optional(bytes());
    return fields;
  }

 private:
  std::string Width(int width) {
    return Pick(2) == 0 ? absl::StrCat("width: ", width, " ") : "";
  }
  std::string Joined() { return Pick(4) == 0 ? "joined: true " : ""; }
  std::string Null(const std::string& name) {
    if (name.substr(0, 4) != "opt_") return "";
    return OneOf({"", "null_as: '' ", "null_as: 'null' ", "null_as: 'nu' ",
                  "null_as: 'null!' "});
  }
  Value Optional(Value value) {
    return Pick(3) == 0 ? Value() : std::move(value);
  }

  std::mt19937_64 random_;
};

uint64_t Seed() {
  const char* given = std::getenv("DOVETAIL_TEST_SEED");
  const uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : 20261201;
  std::cout << "DOVETAIL_TEST_SEED=" << seed << "\n";
  return seed;
}

struct Stored {
  FieldMap fields;
  uint32_t salt;
  std::string key;
};

// The record's values of the columns, as a text that is equal where they are.
std::string ColumnsText(const KeyLayout& layout, const Stored& row,
                        size_t columns, bool readable_only) {
  std::string text;
  for (size_t i = 0; i < columns; ++i) {
    const Column& column = layout.columns()[i];
    if (readable_only && column.part < 0) continue;
    absl::StrAppend(&text, row.fields.at(column.path).DebugString(), " ");
  }
  return text;
}

// Whether a value of the first `columns` columns is only hashed: rows of an
// equal hash are then found with it.
bool OnlyHashes(const KeyLayout& layout, size_t columns) {
  return std::any_of(
      layout.columns().begin(),
      layout.columns().begin() + static_cast<std::ptrdiff_t>(columns),
      [](const Column& c) { return c.part < 0; });
}

// Below zero, zero or above it. REQUIRES: the same kind, not null.
int Compare(const Value& a, const Value& b) {
  switch (a.kind()) {
    case Value::Kind::kInt:
      return a.as_int() < b.as_int() ? -1 : a.as_int() > b.as_int();
    case Value::Kind::kTimestamp:
      return Compare(a.as_timestamp().seconds, b.as_timestamp().seconds);
    default:
      return a.as_string().compare(b.as_string());
  }
}

bool InRange(const Value& v, const Range& range) {
  if (v.is_null()) return false;
  if (range.min.has_value()) {
    const int order = Compare(v, *range.min);
    if (order < 0 || (order == 0 && !range.min_inclusive)) return false;
  }
  if (range.max.has_value()) {
    const int order = Compare(v, *range.max);
    if (order > 0 || (order == 0 && !range.max_inclusive)) return false;
  }
  return true;
}

std::vector<std::string> Found(const std::vector<Stored>& rows,
                               const std::vector<KeyRange>& ranges) {
  std::vector<std::string> keys;
  for (const Stored& row : rows) {
    for (const KeyRange& r : ranges) {
      if (row.key >= r.begin && (r.end.empty() || row.key < r.end)) {
        keys.push_back(row.key);
      }
    }
  }
  return keys;
}

void CheckReadsBack(const KeyLayout& layout, const Stored& row) {
  const absl::StatusOr<KeyOffsets> offsets = layout.Split(row.key);
  ASSERT_THAT(offsets, IsOk());
  size_t begin = 0;
  for (size_t i = 0; i < layout.parts().size(); ++i) {
    const KeyPart& part = layout.parts()[i];
    const std::string bytes = row.key.substr(begin, (*offsets)[i] - begin);
    begin = (*offsets)[i];
    const absl::StatusOr<Value> value = DecodeKeyPart(part, bytes);
    ASSERT_THAT(value, IsOk());
    if (part.computed()) continue;
    const auto a = ToFieldValue(*value, part.type());
    const auto b =
        ToFieldValue(row.fields.at(part.input_paths[0]), part.type());
    ASSERT_THAT(a, IsOk());
    ASSERT_EQ(*a, *b) << part.input_paths[0];
  }
}

class Counts {
 public:
  uint64_t layouts = 0;
  uint64_t rows = 0;
  uint64_t prefixes = 0;
  uint64_t ranges = 0;
  uint64_t ordered = 0;
  uint64_t entries = 0;
};

void CheckPrefix(const KeyLayout& layout, const std::vector<Stored>& rows,
                 const Stored& like, size_t columns, Counts* counts) {
  std::vector<Value> equal;
  for (size_t i = 0; i < columns; ++i) {
    equal.push_back(like.fields.at(layout.columns()[i].path));
  }
  const auto ranges = layout.Ranges(equal, {}, std::nullopt, 1000);
  if (!ranges.ok()) return;  // The columns do not lead the key.
  if (OnlyHashes(layout, columns)) {
    const std::vector<std::string> found = Found(rows, *ranges);
    ASSERT_TRUE(std::count(found.begin(), found.end(), like.key) == 1);
    return;
  }
  std::vector<std::string> expected;
  for (const Stored& row : rows) {
    if (ColumnsText(layout, row, columns, false) ==
        ColumnsText(layout, like, columns, false)) {
      expected.push_back(row.key);
    }
  }
  ASSERT_EQ(Found(rows, *ranges), expected);
  ++counts->prefixes;
}

void CheckRange(Generator& generator, const KeyLayout& layout,
                const std::vector<Stored>& rows, size_t columns,
                Counts* counts) {
  const Stored& like = rows[generator.Pick(rows.size())];
  const std::string& path = layout.columns()[columns].path;
  std::vector<Value> equal;
  for (size_t i = 0; i < columns; ++i) {
    equal.push_back(like.fields.at(layout.columns()[i].path));
  }
  Range range;
  const auto bound = [&] {
    return rows[generator.Pick(rows.size())].fields.at(path);
  };
  if (generator.Pick(4) != 0) range.min = bound();
  if (generator.Pick(4) != 0) range.max = bound();
  range.min_inclusive = generator.Pick(2) == 0;
  range.max_inclusive = generator.Pick(2) == 0;
  const auto ranges = layout.Ranges(equal, {}, range, 1000);
  if (!ranges.ok() || OnlyHashes(layout, columns)) return;
  std::vector<std::string> expected;
  for (const Stored& row : rows) {
    if (ColumnsText(layout, row, columns, false) ==
            ColumnsText(layout, like, columns, false) &&
        InRange(row.fields.at(path), range)) {
      expected.push_back(row.key);
    }
  }
  ASSERT_EQ(Found(rows, *ranges), expected) << path;
  ++counts->ranges;
  // A range that is served is in order: the prefix being equal, and so the
  // column's own order, or the opposite one.
  const bool descending =
      layout.parts()[static_cast<size_t>(layout.columns()[columns].part)]
          .descending;
  if (ranges->size() != 1) return;
  std::vector<const Stored*> sorted;
  for (const Stored& row : rows) {
    if (std::find(expected.begin(), expected.end(), row.key) !=
        expected.end()) {
      sorted.push_back(&row);
    }
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Stored* a, const Stored* b) { return a->key < b->key; });
  for (size_t i = 1; i < sorted.size(); ++i) {
    const int order =
        Compare(sorted[i - 1]->fields.at(path), sorted[i]->fields.at(path));
    ASSERT_TRUE(descending ? order >= 0 : order <= 0) << path;
    ++counts->ordered;
  }
}

void CheckIndexes(Generator& generator, const KeyLayout& layout,
                  const std::vector<Stored>& rows, Counts* counts) {
  v1::IndexSchema schema;
  const std::string text = generator.Index();
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &schema));
  schema.set_name("i");
  if (generator.Pick(2) == 0) schema.set_kind(v1::IndexSchema::UNIQUE);
  // Of the record type only predicates and covering fields are looked at.
  const auto index = IndexDefinition::Compile(
      schema, *v1::IndexSchema::descriptor(), layout, AllFields());
  if (!index.ok()) {  // Hashes alone.
    ASSERT_THAT(index, StatusIs(absl::StatusCode::kInvalidArgument));
    return;
  }
  for (const Stored& row : rows) {
    EncodedRow encoded;
    encoded.fields = RecordOf(row.fields);
    ASSERT_THAT(
        layout.Encode(encoded.fields, row.salt, &encoded.key, &encoded.offsets),
        IsOk());
    if (!index->HasEntry(encoded.fields)) continue;
    std::string key;
    std::string value;
    std::string row_key;
    ASSERT_THAT(index->EncodeEntry(encoded, &key, &value), IsOk());
    ASSERT_THAT(index->RowKeyOf(key, value, &row_key), IsOk()) << text;
    ASSERT_EQ(row_key, row.key) << text;
    ++counts->entries;
    // Any bytes give an error or a key.
    const size_t cut = generator.Pick(key.size() + 1);
    (void)index->RowKeyOf(key.substr(0, cut), value, &row_key);
    if (!key.empty()) {
      key[generator.Pick(key.size())] ^= static_cast<char>(generator.Pick(256));
      (void)index->RowKeyOf(key, value, &row_key);
    }
  }
}

void CheckLayout(Generator& generator, const KeyLayout& layout,
                 Counts* counts) {
  std::vector<Stored> rows;
  std::map<std::string, std::string> by_key;
  for (int i = 0; i < 40; ++i) {
    Stored row{generator.Record(), 0, {}};
    if (layout.salt_count() != 0) {
      row.salt = static_cast<uint32_t>(generator.Pick(layout.salt_count()));
    }
    const absl::StatusOr<std::string> key = KeyOf(layout, row.fields, row.salt);
    if (!key.ok()) continue;
    row.key = *key;
    CheckReadsBack(layout, row);
    const std::string columns =
        ColumnsText(layout, row, layout.columns().size(), true);
    const auto [at, fresh] = by_key.emplace(row.key, columns);
    ASSERT_EQ(at->second, columns) << "two rows have one key";
    if (!fresh) continue;
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return;
  ++counts->layouts;
  counts->rows += rows.size();
  for (const Stored& row : rows) {
    CheckPrefix(layout, rows, row, generator.Pick(layout.columns().size() + 1),
                counts);
  }
  for (int i = 0; i < 20; ++i) {
    CheckRange(generator, layout, rows, generator.Pick(layout.columns().size()),
               counts);
  }
  for (int i = 0; i < 3; ++i) CheckIndexes(generator, layout, rows, counts);
}

TEST(TextKeyPropertyTest, KeysAreUniqueAndLieInExactlyTheirRanges) {
  Generator generator(Seed());
  Counts counts;
  for (int i = 0; i < 4000; ++i) {
    const std::string text = generator.Layout();
    const std::string separator = generator.Separator();
    const absl::StatusOr<KeyLayout> layout = CompileLayout(text, separator);
    if (!layout.ok()) {
      ASSERT_THAT(layout, StatusIs(absl::StatusCode::kInvalidArgument));
      continue;
    }
    CheckLayout(generator, *layout, &counts);
    if (HasFatalFailure()) {
      FAIL() << "layout " << i << ": " << text << " separator=" << separator;
    }
  }
  std::cout << "layouts=" << counts.layouts << " rows=" << counts.rows
            << " prefixes=" << counts.prefixes << " ranges=" << counts.ranges
            << " ordered=" << counts.ordered << " entries=" << counts.entries
            << "\n";
  EXPECT_GT(counts.layouts, 500u);
  EXPECT_GT(counts.rows, 5000u);
  EXPECT_GT(counts.prefixes, 2000u);
  EXPECT_GT(counts.ranges, 500u);
  EXPECT_GT(counts.ordered, 500u);
  EXPECT_GT(counts.entries, 5000u);
}

TEST(TextKeyPropertyTest, AnyBytesAreAKeyOrAnError) {
  Generator generator(Seed());
  uint64_t keys = 0;
  for (int i = 0; i < 2000; ++i) {
    const absl::StatusOr<KeyLayout> layout =
        CompileLayout(generator.Layout(), generator.Separator());
    if (!layout.ok()) continue;
    for (int k = 0; k < 20; ++k) {
      std::string bytes;
      for (uint64_t n = generator.Pick(12); n > 0; --n) {
        bytes += generator.OneOf({"-", "|", "0", "1", "7", "f", "a", "null",
                                  "_", "::", "-1", "true", "\xff"});
      }
      const auto text = layout->DebugString(bytes);
      if (text.ok()) {
        ++keys;
        EXPECT_THAT(layout->Split(bytes), IsOk());
      }
    }
  }
  EXPECT_GT(keys, 100u);
}

}  // namespace
}  // namespace dovetail::test

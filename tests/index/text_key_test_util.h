// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// TEXT row keys over the fields of key_part_test_util.h, written as text:
//
//   const KeyLayout layout = LayoutOf("parts { fields: 'string' }"
//                                     "parts { fields: 'int64' }");
//   KeyOf(layout, {{"string", "s"}, {"int64", 7}})    "s-7"

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "index/key_layout.h"
#include "tests/index/key_part_test_util.h"

namespace dovetail::test {

// By path; fields that are not named are null.
using FieldMap = std::map<std::string, Value>;

inline absl::StatusOr<KeyLayout> CompileLayout(std::string_view parts,
                                               std::string_view separator) {
  v1::RowKeyLayout proto;
  EXPECT_TRUE(
      google::protobuf::TextFormat::ParseFromString(std::string(parts), &proto))
      << parts;
  proto.set_encoding(v1::RowKeyLayout::TEXT);
  proto.set_separator(std::string(separator));
  return KeyLayout::CompileRowKey(proto, AllFields());
}

// The same for a layout that must compile.
inline KeyLayout LayoutOf(std::string_view parts,
                          std::string_view separator = "-") {
  absl::StatusOr<KeyLayout> layout = CompileLayout(parts, separator);
  EXPECT_TRUE(layout.ok()) << parts << ": " << layout.status();
  return layout.ok() ? *std::move(layout) : KeyLayout();
}

// The fields of a record; views of `fields`.
inline std::vector<FieldValue> RecordOf(const FieldMap& fields) {
  std::vector<FieldValue> record(AllFields().size());
  size_t found = 0;
  for (size_t i = 0; i < record.size(); ++i) {
    const auto field = fields.find(AllFields()[i].path);
    if (field == fields.end()) continue;
    ++found;
    const absl::StatusOr<FieldValue> value =
        ToFieldValue(field->second, AllFields()[i].type);
    EXPECT_TRUE(value.ok()) << value.status();
    if (value.ok()) record[i] = *value;
  }
  EXPECT_EQ(found, fields.size());
  return record;
}

inline absl::StatusOr<std::string> KeyOf(const KeyLayout& layout,
                                         const FieldMap& fields,
                                         uint32_t salt = 0) {
  std::string key;
  RETURN_IF_ERROR(layout.Encode(RecordOf(fields), salt, &key, nullptr));
  return key;
}

}  // namespace dovetail::test

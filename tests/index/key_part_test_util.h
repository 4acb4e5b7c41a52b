// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A table with one field of each type, and parts over it written as text.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "index/key_part.h"

namespace dovetail::test {

inline constexpr FieldType kFieldTypes[] = {
    FieldType::kBool,   FieldType::kInt32,    FieldType::kInt64,
    FieldType::kUint32, FieldType::kUint64,   FieldType::kFloat,
    FieldType::kDouble, FieldType::kEnum,     FieldType::kString,
    FieldType::kBytes,  FieldType::kTimestamp};

// "int64" and "opt_int64" for each type; the second kind is nullable.
inline const std::vector<FieldInfo>& AllFields() {
  static const std::vector<FieldInfo>* const fields = [] {
    auto* list = new std::vector<FieldInfo>;
    int number = 0;
    for (const FieldType type : kFieldTypes) {
      const std::string name(FieldTypeName(type));
      list->push_back({name, type, /*nullable=*/false, {++number}});
      list->push_back({"opt_" + name, type, /*nullable=*/true, {++number}});
    }
    return list;
  }();
  return *fields;
}

// `text` is a v1::KeyPart: "fields: 'string' reverse {} order: DESC".
inline absl::StatusOr<KeyPart> CompileText(std::string_view text) {
  v1::KeyPart proto;
  EXPECT_TRUE(
      google::protobuf::TextFormat::ParseFromString(std::string(text), &proto))
      << text;
  return CompileKeyPart(proto, AllFields());
}

// The same for a part that must compile.
inline KeyPart PartOf(std::string_view text) {
  absl::StatusOr<KeyPart> part = CompileText(text);
  EXPECT_TRUE(part.ok()) << text << ": " << part.status();
  return part.ok() ? *std::move(part) : KeyPart();
}

// A row whose fields are null, but for the part's inputs, which are `values`
// and must outlive the row.
inline std::vector<FieldValue> RowOf(const KeyPart& part,
                                     const std::vector<Value>& values) {
  std::vector<FieldValue> row(AllFields().size());
  EXPECT_EQ(values.size(), part.inputs.size());
  for (size_t i = 0; i < part.inputs.size(); ++i) {
    const absl::StatusOr<FieldValue> field =
        ToFieldValue(values[i], part.input_types[i]);
    EXPECT_TRUE(field.ok()) << field.status();
    if (field.ok()) row[static_cast<size_t>(part.inputs[i])] = *field;
  }
  return row;
}

}  // namespace dovetail::test

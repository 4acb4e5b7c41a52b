// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What holds for keys, as properties of any values and of any bytes: bytes
// order like values, decoding is the inverse of encoding, and accepts nothing
// else. For random values, and for a fuzzer's.

#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "index/key_layout.h"
#include "tests/index/key_part_test_util.h"

namespace dovetail::test {

// --- Parts ---

// Every part that holds a field, without direction and nulls.
inline std::vector<std::string> Bodies(bool nullable) {
  const std::string prefix = nullable ? "fields: 'opt_" : "fields: '";
  std::vector<std::string> bodies;
  const auto add = [&](std::string_view type, std::string_view transform) {
    bodies.push_back(
        absl::StrCat(prefix, ToAbsl(type), "' ", ToAbsl(transform)));
  };
  for (const FieldType type : kFieldTypes) add(FieldTypeName(type), "");
  for (const char* type : {"string", "bytes"}) add(type, "reverse {}");
  for (const char* digits : {"1", "3", "19", "20", "38"}) {
    add("string", absl::StrCat("decimal { digits: ", digits, " }"));
  }
  for (const char* type : {"int32", "int64", "uint32", "uint64"}) {
    for (const char* unit : {"SECONDS", "MILLISECONDS", "MICROSECONDS"}) {
      add(type, absl::StrCat("time32 { unit: ", unit, " }"));
    }
  }
  add("timestamp", "time32 {}");
  for (const char* type : {"int32", "int64", "uint32", "uint64", "enum"}) {
    for (const char* bytes : {"1", "2", "3", "4"}) {
      add(type, absl::StrCat("enum_bytes { bytes: ", bytes, " }"));
    }
    add(type, "varint {}");
  }
  return bodies;
}

// In both directions and with nulls at either end.
inline const std::vector<KeyPart>& FieldParts() {
  static const std::vector<KeyPart>* const parts = [] {
    auto* list = new std::vector<KeyPart>;
    for (const bool nullable : {false, true}) {
      for (const std::string& body : Bodies(nullable)) {
        for (const char* order : {" order: ASC", " order: DESC"}) {
          list->push_back(PartOf(body + order));
          if (!nullable) continue;
          list->push_back(PartOf(body + order + " nulls: NULLS_FIRST"));
          list->push_back(PartOf(body + order + " nulls: NULLS_LAST"));
        }
      }
    }
    return list;
  }();
  return *parts;
}

// And those that are computed.
inline std::vector<KeyPart> AllParts() {
  std::vector<KeyPart> parts = FieldParts();
  for (const char* order : {" order: ASC", " order: DESC"}) {
    for (const char* text :
         {"fields: 'string' hash { algorithm: MD5 bytes: 3 }",
          "fields: 'string' bucket { algorithm: XXH3 count: 16 }",
          "fields: 'string' bucket { algorithm: XXH3 count: 256 }",
          "fields: 'string' bucket { algorithm: XXH3 count: 65535 }",
          "salt { count: 1 }", "salt { count: 257 }",
          "fields: 'string' fields: 'int64' sub_bucket { algorithm: XXH3 "
          "count: 255 }",
          "fields: 'string' fields: 'int64' sub_bucket { algorithm: XXH3 "
          "count: 256 }"}) {
      parts.push_back(PartOf(std::string(text) + order));
    }
  }
  return parts;
}

inline std::string Describe(const KeyPart& part) {
  return absl::StrCat(part.input_paths.empty() ? "" : part.input_paths[0],
                      " transform=", static_cast<int>(part.transform),
                      " desc=", part.descending,
                      " nulls_last=", part.nulls_last);
}

// --- The logical order, written down once more ---

template <typename T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

inline int OrderOfDoubles(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) {
    return Order(std::isnan(a), std::isnan(b));
  }
  return Order(a, b);
}

inline std::string Reversed(const std::string& text, FieldType type) {
  std::string out;
  for (size_t end = text.size(); end > 0;) {
    size_t start = end - 1;
    while (type == FieldType::kString &&
           (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) {
      --start;
    }
    out += text.substr(start, end - start);
    end = start;
  }
  return out;
}

inline int OrderOfValues(const KeyPart& part, const Value& a, const Value& b) {
  switch (a.kind()) {
    case Value::Kind::kBool:
      return Order(a.as_bool(), b.as_bool());
    case Value::Kind::kInt:
      return Order(a.as_int(), b.as_int());
    case Value::Kind::kUint:
      return Order(a.as_uint(), b.as_uint());
    case Value::Kind::kDouble:
      return OrderOfDoubles(a.as_double(), b.as_double());
    case Value::Kind::kString:
      if (part.transform == KeyPart::Transform::kReverse) {
        return Order(Reversed(a.as_string(), part.type()),
                     Reversed(b.as_string(), part.type()));
      }
      return Order(a.as_string(), b.as_string());
    case Value::Kind::kTimestamp: {
      const TimestampValue x = a.as_timestamp();
      const TimestampValue y = b.as_timestamp();
      return Order(std::pair(x.seconds, x.nanos),
                   std::pair(y.seconds, y.nanos));
    }
    case Value::Kind::kNull:
      break;
  }
  return 0;
}

// In scan order.
inline int LogicalOrder(const KeyPart& part, const Value& a, const Value& b) {
  if (a.is_null() || b.is_null()) {
    const int order = Order(a.is_null(), b.is_null());
    return part.nulls_last ? order : -order;
  }
  const int order = OrderOfValues(part, a, b);
  return part.descending ? -order : order;
}

inline int ByteOrder(std::string_view a, std::string_view b) {
  const int order = a.compare(b);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

// --- The properties. Each returns what does not hold, or nothing. ---

inline std::string Hex(std::string_view bytes) {
  return absl::BytesToHexString(ToAbsl(bytes));
}

// The part's bytes for what they decode to.
inline absl::StatusOr<std::string> EncodeDecoded(const KeyPart& part,
                                                 const Value& value) {
  std::string out;
  if (!part.computed()) {
    ASSIGN_OR_RETURN(const FieldValue field, ToFieldValue(value, part.type()));
    RETURN_IF_ERROR(AppendKeyPartValue(part, field, &out));
  } else if (part.transform == KeyPart::Transform::kHash) {
    out = value.as_string();
    for (char& c : out) c = static_cast<char>(part.descending ? ~c : c);
  } else {
    AppendKeyPartNumber(part, static_cast<uint32_t>(value.as_uint()), &out);
  }
  return out;
}

// Of any bytes: they are refused, or what the encoder writes; the parts that
// are taken off their front decode to themselves, too.
inline std::string CheckPartBytes(const KeyPart& part, std::string_view bytes) {
  const auto same = [&part](std::string_view piece) -> std::string {
    const absl::StatusOr<Value> value = DecodeKeyPart(part, piece);
    if (!value.ok()) {
      return absl::IsInvalidArgument(value.status())
                 ? ""
                 : absl::StrCat("not a decoder's error: ",
                                value.status().ToString());
    }
    const absl::StatusOr<std::string> again = EncodeDecoded(part, *value);
    if (!again.ok()) return again.status().ToString();
    if (*again == piece) return "";
    return absl::StrCat(Describe(part), " ", value->DebugString(), ": is ",
                        Hex(piece), ", encoded ", Hex(*again));
  };
  std::string problem = same(bytes);
  std::string_view rest = bytes;
  const absl::StatusOr<std::string_view> first = ConsumeKeyPart(part, &rest);
  if (!problem.empty() || !first.ok()) return problem;
  if (first->data() != bytes.data() ||
      first->size() + rest.size() != bytes.size()) {
    return absl::StrCat(Describe(part), ": what is taken off is no front");
  }
  return same(*first);
}

// Of any two values of the part's type. One that has no encoding is refused.
inline std::string CheckPartValues(const KeyPart& part, const FieldValue& a,
                                   const FieldValue& b) {
  const FieldValue* const fields[] = {&a, &b};
  std::string keys[2];
  Value values[2];
  for (int i = 0; i < 2; ++i) {
    const absl::Status status = AppendKeyPartValue(part, *fields[i], &keys[i]);
    if (absl::IsInvalidArgument(status)) return "";
    if (!status.ok()) return status.ToString();
    const absl::StatusOr<Value> back = DecodeKeyPart(part, keys[i]);
    if (!back.ok()) {
      return absl::StrCat(Describe(part), " key=", Hex(keys[i]), ": ",
                          back.status().ToString());
    }
    values[i] = ToValue(*fields[i], part.type());
    if (back->kind() != values[i].kind() ||
        LogicalOrder(part, *back, values[i]) != 0) {
      return absl::StrCat(Describe(part), ": is ", values[i].DebugString(),
                          ", comes back as ", back->DebugString());
    }
    const std::string behind = keys[i] + "\xff\x01";
    std::string_view rest = behind;
    const absl::StatusOr<std::string_view> first = ConsumeKeyPart(part, &rest);
    if (!first.ok() || *first != keys[i]) {
      return absl::StrCat(Describe(part), " ", values[i].DebugString(),
                          ": its end is not found");
    }
  }
  if (ByteOrder(keys[0], keys[1]) == LogicalOrder(part, values[0], values[1])) {
    return "";
  }
  return absl::StrCat(Describe(part), ": bytes do not order like ",
                      values[0].DebugString(), " and ",
                      values[1].DebugString());
}

// Of any bytes as a whole key.
inline std::string CheckLayoutBytes(const KeyLayout& layout,
                                    std::string_view key) {
  const auto is_error = [](const absl::Status& status) {
    return status.ok() || absl::IsInvalidArgument(status);
  };
  const auto words = layout.DebugString(key);
  if (!is_error(words.status())) return words.status().ToString();
  const absl::StatusOr<KeyOffsets> ends = layout.Split(key);
  if (!is_error(ends.status())) return ends.status().ToString();
  if (!ends.ok()) return "";
  if (ends->size() != layout.parts().size() || ends->back() != key.size()) {
    return "a key that is split does not end at its end";
  }
  std::vector<Value> values;
  uint32_t begin = 0;
  for (size_t i = 0; i < ends->size(); ++i) {
    if ((*ends)[i] < begin) return "parts that overlap";
    const absl::StatusOr<Value> value =
        DecodeKeyPart(layout.parts()[i], key.substr(begin, (*ends)[i] - begin));
    if (!is_error(value.status())) return value.status().ToString();
    // What is computed is made again from the other values.
    if (!value.ok() || layout.parts()[i].computed()) return "";
    begin = (*ends)[i];
    values.push_back(*value);
  }
  std::string again;
  const absl::Status status = layout.EncodeColumns(values, &again);
  if (!status.ok()) {
    return absl::StrCat("a key that is read is not written: key=", Hex(key),
                        " ", status.ToString());
  }
  return again == key ? ""
                      : absl::StrCat("is ", Hex(key), ", encoded ", Hex(again));
}

}  // namespace dovetail::test

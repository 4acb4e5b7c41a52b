// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Keys. The first byte chooses what the others are: the bytes of a part, two
// values of a part, or a whole key of a layout; the next two bytes choose which
// part or layout.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "google/protobuf/text_format.h"
#include "tests/index/key_part_property.h"

namespace dovetail::test {
namespace {

KeyLayout LayoutOf(const std::string& text) {
  v1::RowKeyLayout proto;
  if (google::protobuf::TextFormat::ParseFromString(text, &proto)) {
    absl::StatusOr<KeyLayout> layout =
        KeyLayout::CompileRowKey(proto, AllFields());
    if (layout.ok()) return *std::move(layout);
    std::fprintf(stderr, "%s\n", layout.status().ToString().c_str());
  }
  std::fprintf(stderr, "no layout: %s\n", text.c_str());
  std::abort();
}

const std::vector<KeyLayout>& Layouts() {
  static const auto* const layouts = new std::vector<KeyLayout>{
      LayoutOf("parts { fields: 'string' hash { algorithm: XXH3 bytes: 2 } }"
               "parts { fields: 'string' }"
               "parts { fields: 'int64' order: DESC }"
               "parts { fields: 'bytes' }"),
      LayoutOf("parts { fields: 'opt_string' order: DESC nulls: NULLS_LAST }"
               "parts { fields: 'opt_int64' varint {} }"
               "parts { fields: 'double' }"
               "parts { fields: 'opt_timestamp' }"
               "parts { fields: 'bool' }"),
      LayoutOf("parts { salt { count: 300 } } parts { fields: 'string' }"),
      LayoutOf("encoding: TEXT separator: '-'"
               "parts { fields: 'string' hash { algorithm: MD5 bytes: 2 } }"
               "parts { fields: 'string' }"
               "parts { fields: 'int64' order: DESC text { width: 19 } }"
               "parts { fields: 'bytes' }"),
      LayoutOf("encoding: TEXT separator: '#-#'"
               "parts { fields: 'opt_int32' text { null_as: 'null' } }"
               "parts { fields: 'enum' text { digits: HEX width: 8 } }"
               "parts { fields: 'timestamp' text { unit: SECONDS } }"
               "parts { fields: 'string' reverse {} }"),
      LayoutOf("encoding: TEXT separator: ''"
               "parts { fields: 'string' decimal { digits: 4 } }"
               "parts { fields: 'uint32' order: DESC text { desc_from: 99"
               "                                             width: 2 } }"
               "parts { fields: 'bool' }"),
  };
  return *layouts;
}

// Takes values off the front of the input; what is beyond its end is zero.
class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}

  uint64_t Take(size_t bytes) {
    uint64_t number = 0;
    const size_t n = std::min(bytes, rest_.size());
    std::memcpy(&number, rest_.data(), n);
    rest_.remove_prefix(n);
    return number;
  }
  std::string_view TakeText() {
    const size_t n = std::min<size_t>(Take(1), rest_.size());
    const std::string_view text = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return text;
  }
  std::string_view rest() const { return rest_; }

  // One that a record can have.
  FieldValue TakeField(const KeyPart& part) {
    FieldValue field;
    field.is_null = part.nullable() && Take(1) % 4 == 0;
    if (field.is_null) return field;
    switch (part.type()) {
      case FieldType::kBool:
        field.bits = Take(1) % 2;
        break;
      case FieldType::kInt32:
      case FieldType::kEnum:
        field.bits = static_cast<uint64_t>(
            int64_t{static_cast<int32_t>(static_cast<uint32_t>(Take(4)))});
        break;
      case FieldType::kUint32:
      case FieldType::kFloat:
        field.bits = Take(4);
        break;
      case FieldType::kInt64:
      case FieldType::kUint64:
      case FieldType::kDouble:
        field.bits = Take(8);
        break;
      case FieldType::kString:
      case FieldType::kBytes:
        field.text = TakeText();
        break;
      case FieldType::kTimestamp:
        // Five bytes reach all years that there are, and some more.
        field.bits = Take(5) + static_cast<uint64_t>(kTimestampSecondsMin);
        field.nanos = static_cast<int32_t>(static_cast<uint32_t>(Take(4)));
        break;
    }
    return field;
  }

 private:
  std::string_view rest_;
};

std::string Check(std::string_view bytes) {
  static const auto* const parts = new std::vector<KeyPart>(AllParts());
  Input input(bytes);
  const uint64_t what = input.Take(1) % 3;
  const uint64_t which = input.Take(2);
  if (what == 0) {
    return CheckPartBytes((*parts)[which % parts->size()], input.rest());
  }
  if (what == 1) {
    const KeyPart& part = FieldParts()[which % FieldParts().size()];
    const FieldValue first = input.TakeField(part);
    return CheckPartValues(part, first, input.TakeField(part));
  }
  return CheckLayoutBytes(Layouts()[which % Layouts().size()], input.rest());
}

}  // namespace
}  // namespace dovetail::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string problem = dovetail::test::Check(
      std::string_view(reinterpret_cast<const char*>(data), size));
  if (problem.empty()) return 0;
  std::fprintf(stderr, "%s\n", problem.c_str());
  std::abort();
}

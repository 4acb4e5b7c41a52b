// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What holds for all keys: bytes order like values, decoding is the inverse of
// encoding and accepts nothing else. DOVETAIL_TEST_SEED=<n> repeats a run.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "index/key_part.h"
#include "tests/index/key_part_property.h"

namespace dovetail {
namespace {

using test::AllParts;
using test::ByteOrder;
using test::Describe;
using test::FieldParts;
using test::LogicalOrder;
using test::PartOf;
using Transform = KeyPart::Transform;

uint64_t Seed() {
  static const uint64_t seed = [] {
    const char* text = std::getenv("DOVETAIL_TEST_SEED");
    const uint64_t s = text != nullptr ? std::strtoull(text, nullptr, 10)
                                       : std::random_device()();
    std::printf("DOVETAIL_TEST_SEED=%llu\n",
                static_cast<unsigned long long>(s));
    return s;
  }();
  return seed;
}

// --- Values, with a liking for the edges ---

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  uint64_t Below(uint64_t count) { return random_() % count; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }

  // A value that the part has an encoding for.
  Value ValueOf(const KeyPart& part) {
    if (part.nullable() && OneIn(5)) return Value();
    switch (part.transform) {
      case Transform::kDecimal:
        return Digits(part.digits);
      case Transform::kTime32:
        return Time(part);
      case Transform::kEnum:
        return Integer(part.type(), 0,
                       std::min(IntegerMax(part.type()),
                                (uint64_t{1} << (8 * part.bytes)) - 1));
      default:
        return Plain(part.type());
    }
  }

  // One that is close to `value` in order, to meet neighbours often.
  Value Near(const KeyPart& part, const Value& value) {
    if (part.transform != Transform::kNone &&
        part.transform != Transform::kVarint) {
      return OneIn(2) ? value : ValueOf(part);
    }
    switch (value.kind()) {
      case Value::Kind::kString:
        return OneIn(2) ? value.as_string() + Character(part.type())
                        : value.as_string().substr(0, Below(6));
      case Value::Kind::kInt:
        return value.as_int() < INT32_MAX ? Value(value.as_int() + 1) : value;
      case Value::Kind::kUint:
        return value.as_uint() > 0 ? Value(value.as_uint() - 1) : value;
      default:
        return OneIn(2) ? value : ValueOf(part);
    }
  }

  std::string Character(FieldType type) {
    static const std::string_view kCharacters[] = {
        {"\0", 1}, "\x01",     "\x02",         "a",
        "\x7F",    "\xC3\xA9", "\xE4\xB8\xAD", "\xF4\x8F\xBF\xBF"};
    static const std::string_view kBytes[] = {
        {"\0", 1}, "\x01", "\x02", "a", "\x7F", "\x80", "\xFE", "\xFF"};
    return std::string(type == FieldType::kString ? kCharacters[Below(8)]
                                                  : kBytes[Below(8)]);
  }

 private:
  static uint64_t IntegerMax(FieldType type) {
    switch (type) {
      case FieldType::kInt64:
        return std::numeric_limits<int64_t>::max();
      case FieldType::kUint32:
        return std::numeric_limits<uint32_t>::max();
      case FieldType::kUint64:
        return std::numeric_limits<uint64_t>::max();
      default:
        return std::numeric_limits<int32_t>::max();
    }
  }

  // Of any number of bits, so that every length of a varint turns up, and
  // often at the edge of one.
  uint64_t Magnitude(uint64_t max) {
    uint64_t v = random_() >> Below(64);
    if (OneIn(3)) v = (uint64_t{1} << Below(64)) + 120 - Below(3);
    if (OneIn(8)) v = max - Below(3);
    return max == std::numeric_limits<uint64_t>::max() ? v : v % (max + 1);
  }

  // Negative, from -max - 1 up, if `sign` is; else from 0 to `max`.
  Value Integer(FieldType type, int sign, uint64_t max) {
    const uint64_t v = Magnitude(max);
    if (type == FieldType::kUint32 || type == FieldType::kUint64) return v;
    const auto number = static_cast<int64_t>(v);
    return sign < 0 ? -1 - number : number;
  }

  Value Digits(uint32_t digits) {
    std::string text;
    const bool nines = OneIn(4);
    while (text.size() < digits) {
      text += nines ? '9' : static_cast<char>('0' + Below(OneIn(2) ? 2 : 10));
    }
    return text;
  }

  Value Time(const KeyPart& part) {
    uint64_t units = 1;
    if (part.unit == v1::KeyPart::Time32::MILLISECONDS) units = 1000;
    if (part.unit == v1::KeyPart::Time32::MICROSECONDS) units = 1'000'000;
    uint64_t max = std::numeric_limits<uint32_t>::max();
    if (part.type() == FieldType::kTimestamp) {
      return TimestampValue{static_cast<int64_t>(Magnitude(max)), 0};
    }
    max = std::min(max, IntegerMax(part.type()) / units);
    const uint64_t time = Magnitude(max) * units;
    const FieldType type = part.type();
    if (type == FieldType::kUint32 || type == FieldType::kUint64) return time;
    return static_cast<int64_t>(time);
  }

  double Double() {
    static constexpr double kEdges[] = {
        0.0,
        -0.0,
        1.0,
        -1.0,
        std::numeric_limits<float>::denorm_min(),
        -std::numeric_limits<float>::denorm_min(),
        std::numeric_limits<float>::max(),
        std::numeric_limits<float>::lowest(),
        std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()};
    if (OneIn(2)) return kEdges[Below(std::size(kEdges))];
    const auto whole = static_cast<double>(static_cast<int64_t>(random_()));
    return std::ldexp(whole, static_cast<int>(Below(120)) - 120);
  }

  std::string Text(FieldType type) {
    std::string text;
    for (uint64_t left = Below(OneIn(4) ? 20 : 4); left > 0; --left) {
      text += OneIn(4) ? std::string(8, 'p') : Character(type);
    }
    return text;
  }

  Value Plain(FieldType type) {
    switch (type) {
      case FieldType::kBool:
        return OneIn(2);
      case FieldType::kFloat:
        return static_cast<float>(Double());
      case FieldType::kDouble:
        return Double();
      case FieldType::kString:
      case FieldType::kBytes:
        return Text(type);
      case FieldType::kTimestamp: {
        const uint64_t range =
            static_cast<uint64_t>(kTimestampSecondsMax - kTimestampSecondsMin);
        return TimestampValue{
            kTimestampSecondsMin + static_cast<int64_t>(Magnitude(range)),
            static_cast<int32_t>(OneIn(2) ? Below(2) : Below(1'000'000'000))};
      }
      default:
        return Integer(type, OneIn(2) ? -1 : 0, IntegerMax(type));
    }
  }

  std::mt19937_64 random_;
};

// --- Encoding through the public functions ---

std::string Encode(const KeyPart& part, const Value& value) {
  std::string out;
  const absl::StatusOr<FieldValue> field = ToFieldValue(value, part.type());
  EXPECT_TRUE(field.ok()) << field.status();
  if (!field.ok()) return out;
  const absl::Status status = AppendKeyPartValue(part, *field, &out);
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

// Decoders accept nothing but what the encoder writes.
void ExpectErrorOrSameBytes(const KeyPart& part, std::string_view bytes) {
  EXPECT_EQ(test::CheckPartBytes(part, bytes), "");
}

// --- The properties ---

TEST(KeyPartPropertyTest, BytesOrderLikeValues) {
  Generator generator(Seed());
  for (const KeyPart& part : FieldParts()) {
    for (int i = 0; i < 200; ++i) {
      const Value a = generator.ValueOf(part);
      const Value b = generator.OneIn(2) ? generator.Near(part, a)
                                         : generator.ValueOf(part);
      ASSERT_EQ(ByteOrder(Encode(part, a), Encode(part, b)),
                LogicalOrder(part, a, b))
          << Describe(part) << " a=" << a.DebugString()
          << " b=" << b.DebugString();
    }
  }
}

TEST(KeyPartPropertyTest, DecodingIsTheInverse) {
  Generator generator(Seed());
  for (const KeyPart& part : FieldParts()) {
    for (int i = 0; i < 100; ++i) {
      const Value value = generator.ValueOf(part);
      const std::string key = Encode(part, value);
      const absl::StatusOr<Value> back = DecodeKeyPart(part, key);
      ASSERT_TRUE(back.ok()) << Describe(part) << back.status();
      ASSERT_EQ(back->kind(), value.kind());
      ASSERT_EQ(LogicalOrder(part, *back, value), 0)
          << Describe(part) << " value=" << value.DebugString()
          << " back=" << back->DebugString();
    }
  }
}

// Parts follow each other without separators: the first that differs decides,
// and each is found again.
TEST(KeyPartPropertyTest, SequencesOrderLikeTuples) {
  Generator generator(Seed());
  for (int i = 0; i < 30'000; ++i) {
    std::string key_a;
    std::string key_b;
    int order = 0;
    std::vector<std::pair<const KeyPart*, Value>> tuple;
    for (uint64_t left = 1 + generator.Below(4); left > 0; --left) {
      const KeyPart& part = FieldParts()[generator.Below(FieldParts().size())];
      const Value a = generator.ValueOf(part);
      const Value b = generator.OneIn(2) ? a : generator.Near(part, a);
      key_a += Encode(part, a);
      key_b += Encode(part, b);
      if (order == 0) order = LogicalOrder(part, a, b);
      tuple.emplace_back(&part, a);
    }
    ASSERT_EQ(ByteOrder(key_a, key_b), order)
        << absl::BytesToHexString(key_a) << " "
        << absl::BytesToHexString(key_b);
    std::string_view rest = key_a;
    for (const auto& [part, value] : tuple) {
      const absl::StatusOr<std::string_view> bytes =
          ConsumeKeyPart(*part, &rest);
      ASSERT_TRUE(bytes.ok()) << bytes.status();
      ASSERT_EQ(*bytes, Encode(*part, value));
    }
    ASSERT_EQ(rest, "");
  }
}

TEST(KeyPartPropertyTest, NoTruncationIsAPart) {
  Generator generator(Seed());
  for (const KeyPart& part : FieldParts()) {
    for (int i = 0; i < 20; ++i) {
      const std::string key = Encode(part, generator.ValueOf(part));
      for (size_t size = 0; size < key.size(); ++size) {
        std::string_view cut = std::string_view(key).substr(0, size);
        ASSERT_FALSE(DecodeKeyPart(part, cut).ok()) << Describe(part);
        ASSERT_FALSE(ConsumeKeyPart(part, &cut).ok()) << Describe(part);
        ASSERT_EQ(cut.size(), size);
      }
    }
  }
}

TEST(KeyPartPropertyTest, EveryChangedByteIsAnErrorOrAnotherValue) {
  Generator generator(Seed());
  for (const KeyPart& part : FieldParts()) {
    std::string key = Encode(part, generator.ValueOf(part));
    for (size_t i = 0; i < key.size(); ++i) {
      for (int change = 1; change < 256; ++change) {
        key[i] = static_cast<char>(key[i] ^ change);
        ExpectErrorOrSameBytes(part, key);
        key[i] = static_cast<char>(key[i] ^ change);
      }
    }
    ExpectErrorOrSameBytes(part, key);
  }
}

TEST(KeyPartPropertyTest, AnyBytesAreAnErrorOrAValue) {
  Generator generator(Seed());
  for (const KeyPart& part : AllParts()) {
    for (int i = 0; i < 1000; ++i) {
      std::string bytes;
      for (uint64_t left = generator.Below(14); left > 0; --left) {
        bytes += generator.OneIn(4) ? static_cast<char>(generator.Below(256))
                                    : generator.Character(FieldType::kBytes)[0];
      }
      ExpectErrorOrSameBytes(part, bytes);
    }
  }
}

// The range [prefix, PrefixEnd(prefix)) holds the keys that start with the
// prefix and no other: over all short strings of the bytes that matter.
TEST(KeyPartPropertyTest, PrefixEndBoundsExactlyThePrefix) {
  std::vector<std::string> strings = {""};
  for (size_t i = 0; strings[i].size() < 3; ++i) {
    for (const char c : {'\x00', '\x01', '\x7F', '\x80', '\xFE', '\xFF'}) {
      strings.push_back(strings[i] + c);
    }
  }
  for (const std::string& prefix : strings) {
    const std::string end = PrefixEnd(prefix);
    for (const std::string& key : strings) {
      ASSERT_EQ(key >= prefix && (end.empty() || key < end),
                key.starts_with(prefix))
          << absl::BytesToHexString(prefix) << " "
          << absl::BytesToHexString(key);
    }
  }
}

}  // namespace
}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A field's value as callers write it: engine.GetBy("orders", "by_order_id",
// {"o-17"}). The engine converts it to the type of the field it is meant for
// and refuses, with InvalidArgument, what does not fit that type exactly.

#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace dovetail {

// A google.protobuf.Timestamp.
struct TimestampValue {
  int64_t seconds = 0;  // Since 1970; nanos count forward from it.
  int32_t nanos = 0;    // [0, 999'999'999]

  friend bool operator==(const TimestampValue&,
                         const TimestampValue&) = default;
};

// Thread-compatible value type.
class Value {
 public:
  enum class Kind { kNull, kBool, kInt, kUint, kDouble, kString, kTimestamp };

  Value() = default;                          // Null.
  Value(std::nullptr_t) {}                    // NOLINT: implicit on purpose,
  Value(std::string v) : v_(std::move(v)) {}  // NOLINT: all of these.
  Value(std::string_view v) : v_(std::string(v)) {}  // NOLINT
  Value(const char* v) : v_(std::string(v)) {}       // NOLINT
  Value(TimestampValue v) : v_(v) {}                 // NOLINT
  template <std::integral T>
  Value(T v) {  // NOLINT
    if constexpr (std::is_same_v<T, bool>) {
      v_ = v;
    } else if constexpr (std::is_signed_v<T>) {
      v_ = static_cast<int64_t>(v);
    } else {
      v_ = static_cast<uint64_t>(v);
    }
  }
  template <typename T>
  requires std::is_enum_v<T> Value(T v)
      : v_(static_cast<int64_t>(v)) {}  // NOLINT
  template <std::floating_point T>
  Value(T v) : v_(static_cast<double>(v)) {}  // NOLINT

  Kind kind() const { return static_cast<Kind>(v_.index()); }
  bool is_null() const { return kind() == Kind::kNull; }

  // REQUIRES: kind() is the accessor's.
  bool as_bool() const { return std::get<bool>(v_); }
  int64_t as_int() const { return std::get<int64_t>(v_); }
  uint64_t as_uint() const { return std::get<uint64_t>(v_); }
  double as_double() const { return std::get<double>(v_); }
  const std::string& as_string() const { return std::get<std::string>(v_); }
  TimestampValue as_timestamp() const { return std::get<TimestampValue>(v_); }

  // For messages and logs: strings quoted, other bytes escaped.
  std::string DebugString() const;

  // Same kind and same value; 1 and 1u differ.
  friend bool operator==(const Value&, const Value&) = default;

 private:
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string,
               TimestampValue>
      v_;
};

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// GoogleTest matchers for absl::Status and absl::StatusOr<T>:
//
//   ASSERT_THAT(engine->Write({}, batch), IsOk());
//   EXPECT_THAT(table.Get({"o-1"}), IsOkAndHolds(EqualsProto(order)));
//   EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, "orders"));

#pragma once

#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"

namespace dovetail::test {

inline const absl::Status& StatusOf(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

MATCHER(IsOk, negation ? "is an error" : "is OK") {
  if (StatusOf(arg).ok()) return true;
  *result_listener << "which is " << StatusOf(arg);
  return false;
}

// `substring` must be part of the message; empty fits every message.
MATCHER_P2(StatusIs, code, substring,
           std::string(negation ? "is not " : "is ") +
               absl::StatusCodeToString(code) + " with \"" + substring +
               "\" in its message") {
  const absl::Status& status = StatusOf(arg);
  *result_listener << "which is " << status;
  return status.code() == code &&
         std::string(status.message()).find(substring) != std::string::npos;
}
inline auto StatusIs(absl::StatusCode code) { return StatusIs(code, ""); }

// An OK absl::StatusOr<T> whose value matches `inner`.
template <typename Inner>
class IsOkAndHoldsMatcher {
 public:
  explicit IsOkAndHoldsMatcher(Inner inner) : inner_(std::move(inner)) {}

  template <typename Result>
  operator ::testing::Matcher<Result>() const {  // NOLINT: as gmock does.
    return ::testing::Matcher<Result>(new Impl<Result>(inner_));
  }

 private:
  template <typename Result>
  class Impl : public ::testing::MatcherInterface<Result> {
   public:
    using Held =
        typename std::remove_cv_t<std::remove_reference_t<Result>>::value_type;

    explicit Impl(const Inner& inner)
        : inner_(::testing::SafeMatcherCast<const Held&>(inner)) {}

    void DescribeTo(std::ostream* os) const override {
      *os << "is OK and holds a value that ";
      inner_.DescribeTo(os);
    }
    void DescribeNegationTo(std::ostream* os) const override {
      *os << "is an error or holds a value that ";
      inner_.DescribeNegationTo(os);
    }
    bool MatchAndExplain(
        Result result,
        ::testing::MatchResultListener* listener) const override {
      if (!result.ok()) {
        *listener << "which is " << result.status();
        return false;
      }
      return inner_.MatchAndExplain(*result, listener);
    }

   private:
    const ::testing::Matcher<const Held&> inner_;
  };

  const Inner inner_;
};

template <typename Inner>
IsOkAndHoldsMatcher<std::decay_t<Inner>> IsOkAndHolds(Inner&& inner) {
  return IsOkAndHoldsMatcher<std::decay_t<Inner>>(std::forward<Inner>(inner));
}

}  // namespace dovetail::test

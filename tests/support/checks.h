// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Checks of a program that is not built on a test framework: counts them,
// prints those that fail, and ends with one line,
//
//   core-olist: 57 passed, 0 failed

#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace dovetail::test {

// Thread-compatible.
class Checks {
 public:
  explicit Checks(std::string_view program) : program_(program) {}

  // Returns `holds`. `what` says what is checked, and the figures.
  bool That(bool holds, std::string_view what) {
    if (holds) {
      ++passed_;
    } else if (++failed_ <= kPrintedMax) {
      std::printf("FAILED %.*s\n", static_cast<int>(what.size()), what.data());
      std::fflush(stdout);
    }
    return holds;
  }
  bool Ok(const absl::Status& status, std::string_view what) {
    if (status.ok()) return That(true, what);
    return That(false, absl::StrCat(ToAbsl(what), ": ", status.ToString()));
  }
  template <typename A, typename B>
  bool Equal(const A& actual, const B& expected, std::string_view what) {
    if (actual == expected) return That(true, what);
    return That(false, absl::StrCat(ToAbsl(what), ": is ", actual,
                                    ", should be ", expected));
  }

  uint64_t failed() const { return failed_; }

  // Prints the last line and returns the program's exit code.
  int Finish() const {
    std::printf("%s: %llu passed, %llu failed\n", program_.c_str(),
                static_cast<unsigned long long>(passed_),
                static_cast<unsigned long long>(failed_));
    return failed_ == 0 && passed_ > 0 ? 0 : 1;
  }

 private:
  // A broken engine fails thousands of them in the same way.
  static constexpr uint64_t kPrintedMax = 50;

  std::string program_;
  uint64_t passed_ = 0;
  uint64_t failed_ = 0;
};

}  // namespace dovetail::test

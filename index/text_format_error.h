// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What is wrong with a message in Protobuf's text format, and where.

#pragma once

#include <string>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/tokenizer.h"

namespace dovetail {

// Keeps the first error of a text-format parse.
class FirstTextError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text_.empty()) return;
    text_ =
        absl::StrCat("line ", line + 1, " column ", column + 1, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/words.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "cli/exit_code.h"

namespace dovetail::cli {

bool IsTableName(std::string_view word) {
  return !word.empty() &&
         word.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyz"
             "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string_view::npos;
}

absl::Status Words::TakeDb(bool table_follows, std::string* db) {
  const char* env = std::getenv("DOVETAIL_DB");
  const bool has_env = env != nullptr && *env != '\0';
  if (has_env && (empty() || (table_follows && IsTableName(front())))) {
    *db = env;
    return {};
  }
  if (empty()) {
    return UsageError("DB is missing; give its directory, or set DOVETAIL_DB");
  }
  *db = words_[at_++];
  return {};
}

absl::Status Words::Take(std::string_view name, std::string* word) {
  if (empty()) return UsageError(absl::StrCat(ToAbsl(name), " is missing"));
  *word = words_[at_++];
  return {};
}

std::vector<std::string> Words::TakeRest() {
  const auto from = words_.begin() + static_cast<std::ptrdiff_t>(at_);
  at_ = words_.size();
  return {from, words_.end()};
}

absl::Status Words::End() const {
  if (empty()) return {};
  return UsageError(
      absl::StrCat("one word too many: ", ToAbsl(Quote(front()))));
}

}  // namespace dovetail::cli

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The words of a command line behind its verb that are no options, taken from
// the front.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace dovetail::cli {

// Thread-compatible.
class Words {
 public:
  explicit Words(std::vector<std::string> words) : words_(std::move(words)) {}

  bool empty() const { return at_ == words_.size(); }
  // The next word. REQUIRES: !empty().
  const std::string& front() const { return words_[at_]; }

  // With DOVETAIL_DB set, a first word that could be a table's name is one
  // where `table_follows`; any other word there is, is the database.
  absl::Status TakeDb(bool table_follows, std::string* db);
  // UsageError if there is none.
  absl::Status Take(std::string_view name, std::string* word);
  std::vector<std::string> TakeRest();
  // UsageError if there is one more.
  absl::Status End() const;

 private:
  std::vector<std::string> words_;
  size_t at_ = 0;
};

// Whether a word has the form of a table's name, not of a path.
bool IsTableName(std::string_view word);

}  // namespace dovetail::cli

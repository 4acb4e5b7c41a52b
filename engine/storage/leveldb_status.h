// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// LevelDB's types beside ours: the one place where a status is translated,
// and the bridges between string views.
//
// LevelDB knows five kinds of errors. A status of ours that has no kind of its
// own there travels through LevelDB as an IOError whose message begins with
// the name of our code, and comes out with that code again.

#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "leveldb/slice.h"
#include "leveldb/status.h"

namespace dovetail {

inline leveldb::Slice ToSlice(std::string_view s) {
  return leveldb::Slice(s.data(), s.size());
}
inline std::string_view ToStd(const leveldb::Slice& s) {
  return std::string_view(s.data(), s.size());
}

// Corruption is DataLoss, IOError is Internal unless it carries a code.
absl::Status FromLevelDb(const leveldb::Status& status);

leveldb::Status ToLevelDb(const absl::Status& status);

}  // namespace dovetail

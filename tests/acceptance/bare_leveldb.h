// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The control of log_faults: what LevelDB itself, with its default options,
// loses in a power cut.

#pragma once

#include <string>

namespace dovetail::test {

struct BareHole {
  bool found = false;
  std::string in_words;
};

// Writes into a database in `directory`, the last write synced just behind a
// change of logs, and opens what a power cut then leaves: the old log was never
// synced, the new one was. A hole is a write that is there while one before it
// is not.
BareHole FindHoleOfBareLevelDb(const std::string& directory);

}  // namespace dovetail::test

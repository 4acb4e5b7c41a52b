// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Reads what is intact of a table file, block by block, and tells what is not.
//
// Blocks carry checksums, so a damaged one is known and is passed over. A
// table whose index is damaged is searched for blocks by their checksums: a
// block is a run of bytes, a byte that says how it is compressed, and the
// masked CRC-32C of both.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/file_system.h"

namespace dovetail {

// A part of a table that cannot be read, and the user keys around it. What was
// in it lies between them, both of which may occur in it too: versions of a
// key can be spread over two blocks.
struct TableGap {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::string reason;
  std::string after_key;   // Empty: nothing intact before.
  std::string before_key;  // Empty: nothing intact behind.
};

// Goes through the intact entries in the order of internal keys.
// Thread-compatible.
class SalvagedTable {
 public:
  // Errors are those of opening the file; what cannot be read of it is a gap.
  static absl::StatusOr<std::unique_ptr<SalvagedTable>> Open(
      FileSystem& file_system, const std::string& path);
  ~SalvagedTable();

  bool Valid() const;
  // REQUIRES: Valid().
  void Next();
  std::string_view user_key() const;
  // (sequence << 8 | type).
  uint64_t trailer() const;
  std::string_view value() const;

  // Once not Valid: all of them.
  const std::vector<TableGap>& gaps() const;
  // The table had to be searched for its blocks.
  bool index_lost() const;

 private:
  class Impl;
  explicit SalvagedTable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace dovetail

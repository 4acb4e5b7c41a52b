// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Finds the blocks of a table whose index is lost.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dovetail {

struct TableBlock {
  uint64_t offset = 0;
  uint64_t bytes = 0;  // Without the trailer.
};

// A block's trailer: how it is compressed, and the checksum.
inline constexpr size_t kBlockTrailerBytes = 5;

// The intact blocks of `table`, a whole table file, that hold entries, in
// their order. Behind a damaged place the next block is looked for at every
// byte, if it is not longer than 64 KiB.
std::vector<TableBlock> FindDataBlocks(std::string_view table);

// The end of a table file that has these blocks and is otherwise like one of
// `table_bytes`: an index of them and a footer. The keys in the index count
// up from 0 and are good for nothing but to be passed over.
std::string MakeTableEnd(const std::vector<TableBlock>& blocks,
                         uint64_t table_bytes);

}  // namespace dovetail

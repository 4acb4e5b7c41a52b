// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A table file:
//
//   data block*, filter block, metaindex block, index block, footer
//
// The footer is 48 bytes: the places of metaindex and index as pairs of
// varints, zeros, and a magic number. A block of entries ends in the offsets of
// its restart points and their number, each a fixed32.

#include "engine/storage/leveldb_block_search.h"

#include <algorithm>
#include <optional>

#include "base/coding.h"
#include "base/crc32c.h"
#include "engine/storage/leveldb_coding.h"

namespace dovetail {
namespace {

constexpr size_t kFooterBytes = 48;
constexpr uint64_t kMagic = 0xdb4775248b80fb57;
constexpr uint64_t kBlockBytesMin = 8;
constexpr uint64_t kSearchBytesMax = 64 << 10;
constexpr char kSnappy = 1;
// With which the metaindex names the filter.
constexpr std::string_view kFilterName = "filter.";
// Filter, metaindex and index.
constexpr size_t kOtherBlocks = 3;

// The shortest intact block at `offset` of up to `bytes_max` bytes.
std::optional<TableBlock> BlockAt(std::string_view table, uint64_t offset,
                                  uint64_t bytes_max) {
  const std::string_view rest = table.substr(offset);
  if (rest.size() < kBlockBytesMin + kBlockTrailerBytes) return std::nullopt;
  const uint64_t end =
      std::min<uint64_t>(bytes_max, rest.size() - kBlockTrailerBytes);
  uint32_t crc = Crc32c(rest.substr(0, kBlockBytesMin));
  for (uint64_t n = kBlockBytesMin; n <= end; ++n) {
    const char type = rest[n];
    if (type >= 0 && type <= kSnappy) {
      const uint32_t stored = DecodeFixed32(rest.data() + n + 1);
      const uint32_t found = ExtendCrc32c(crc, rest.substr(n, 1));
      if (stored == MaskCrc32c(found)) return TableBlock{offset, n};
    }
    crc = ExtendCrc32c(crc, rest.substr(n, 1));
  }
  return std::nullopt;
}

// Where the metaindex begins, from the footer.
std::optional<uint64_t> MetaindexOffset(std::string_view table) {
  if (table.size() < kFooterBytes) return std::nullopt;
  std::string_view footer = table.substr(table.size() - kFooterBytes);
  if (DecodeFixed64(footer.data() + kFooterBytes - 8) != kMagic) {
    return std::nullopt;
  }
  uint64_t offset;
  if (!ConsumeVarint(&footer, &offset) || offset > table.size()) {
    return std::nullopt;
  }
  return offset;
}

void AppendFixed32(uint32_t v, std::string* out) {
  for (int i = 0; i < 4; ++i) out->push_back(static_cast<char>(v >> (8 * i)));
}

void AppendBlockTrailer(size_t begin, std::string* out) {
  out->push_back(0);
  const uint32_t crc = Crc32c(std::string_view(*out).substr(begin));
  AppendFixed32(MaskCrc32c(crc), out);
}

// Takes the blocks off the end that hold no entries.
void DropOtherBlocks(std::string_view table, std::vector<TableBlock>* blocks) {
  std::optional<uint64_t> metaindex = MetaindexOffset(table);
  for (size_t i = blocks->size(); !metaindex.has_value() && i-- > 0;) {
    const TableBlock& block = (*blocks)[i];
    if (blocks->size() - i <= kOtherBlocks &&
        table.substr(block.offset, block.bytes).find(kFilterName) !=
            std::string_view::npos) {
      metaindex = block.offset;
    }
  }
  if (!metaindex.has_value()) {
    // Which of the last blocks they are, if they are there, nobody can tell.
    blocks->resize(blocks->size() - std::min(blocks->size(), kOtherBlocks));
    return;
  }
  while (!blocks->empty() && blocks->back().offset >= *metaindex) {
    blocks->pop_back();
  }
  // The filter ends where the metaindex begins.
  if (!blocks->empty() &&
      blocks->back().offset + blocks->back().bytes + kBlockTrailerBytes ==
          *metaindex) {
    blocks->pop_back();
  }
}

}  // namespace

std::vector<TableBlock> FindDataBlocks(std::string_view table) {
  std::vector<TableBlock> blocks;
  bool lost = false;
  for (uint64_t at = 0; at < table.size();) {
    const auto block =
        BlockAt(table, at, lost ? kSearchBytesMax : table.size());
    lost = !block.has_value();
    if (lost) {
      ++at;
      continue;
    }
    at += block->bytes + kBlockTrailerBytes;
    blocks.push_back(*block);
  }
  DropOtherBlocks(table, &blocks);
  return blocks;
}

std::string MakeTableEnd(const std::vector<TableBlock>& blocks,
                         uint64_t table_bytes) {
  std::string out;
  // An empty metaindex: one restart point.
  AppendFixed32(0, &out);
  AppendFixed32(1, &out);
  const uint64_t metaindex_bytes = out.size();
  AppendBlockTrailer(0, &out);

  const size_t index = out.size();
  for (size_t i = 0; i < blocks.size(); ++i) {
    std::string handle;
    AppendVarint(blocks[i].offset, &handle);
    AppendVarint(blocks[i].bytes, &handle);
    AppendVarint(0, &out);  // Bytes shared with the key before.
    AppendVarint(kInternalKeyTrailerBytes, &out);
    AppendVarint(handle.size(), &out);
    AppendBigEndian(i, 8, &out);
    out.append(handle);
  }
  AppendFixed32(0, &out);
  AppendFixed32(1, &out);
  const uint64_t index_bytes = out.size() - index;
  AppendBlockTrailer(index, &out);

  std::string footer;
  AppendVarint(table_bytes, &footer);
  AppendVarint(metaindex_bytes, &footer);
  AppendVarint(table_bytes + index, &footer);
  AppendVarint(index_bytes, &footer);
  footer.resize(kFooterBytes - 8, '\0');
  AppendFixed32(static_cast<uint32_t>(kMagic), &footer);
  AppendFixed32(static_cast<uint32_t>(kMagic >> 32), &footer);
  return out.append(footer);
}

}  // namespace dovetail

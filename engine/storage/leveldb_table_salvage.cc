// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/storage/leveldb_table_salvage.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/crc32c.h"
#include "base/status_macros.h"
#include "engine/storage/leveldb_block_search.h"
#include "engine/storage/leveldb_coding.h"
#include "engine/storage/leveldb_internal_key.h"
#include "leveldb/env.h"
#include "leveldb/iterator.h"
#include "leveldb/options.h"
#include "leveldb/table.h"

namespace dovetail {
namespace {

// A table that is to be searched is held in memory.
constexpr uint64_t kSearchedBytesMax = 1 << 30;

// The file under LevelDB's table reader: looks at every block that is read,
// and can end otherwise than the file does.
class WatchedFile final : public leveldb::RandomAccessFile {
 public:
  WatchedFile(std::unique_ptr<dovetail::RandomAccessFile> file, uint64_t size)
      : file_(std::move(file)), size_(size) {}

  // From now on the file is `contents` with another end, and the gaps, which
  // are in order, are found as they are passed.
  void Replace(std::string contents, std::vector<TableGap> gaps) {
    contents_ = std::move(contents);
    known_gaps_ = std::move(gaps);
  }
  // From now on reads are of blocks with entries.
  void Watch() { watching_ = true; }

  leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice* result,
                       char* scratch) const noexcept override {
    if (contents_.has_value()) {
      *result = ToSlice(
          std::string_view(*contents_)
              .substr(std::min<uint64_t>(offset, contents_->size()), n));
    } else {
      const auto read = file_->Read(offset, n, scratch);
      if (!read.ok()) {
        if (watching_) {
          passed_.push_back(
              {offset,
               n,
               absl::StrCat("read failed: ", read.status().message()),
               {},
               {}});
        }
        return ToLevelDb(read.status());
      }
      *result = ToSlice(*read);
    }
    if (watching_) Look(offset, n, ToStd(*result));
    return leveldb::Status::OK();
  }

  // The gaps passed since the last call.
  std::vector<TableGap> TakeGaps() { return std::exchange(passed_, {}); }
  void PassAllGaps() {
    for (; next_gap_ < known_gaps_.size(); ++next_gap_) {
      passed_.push_back(known_gaps_[next_gap_]);
    }
  }
  void PassGap(TableGap gap) { passed_.push_back(std::move(gap)); }
  // Of the last block that was read.
  uint64_t last_offset() const { return last_offset_; }
  uint64_t last_bytes() const { return last_bytes_; }

  uint64_t size() const { return size_; }

 private:
  void Look(uint64_t offset, size_t n, std::string_view block) const {
    last_offset_ = offset;
    last_bytes_ = n;
    for (; next_gap_ < known_gaps_.size() &&
           known_gaps_[next_gap_].offset < offset;
         ++next_gap_) {
      passed_.push_back(known_gaps_[next_gap_]);
    }
    if (block.size() < n || n < kBlockTrailerBytes) {
      passed_.push_back({offset, n, "the file ends within the block", {}, {}});
      return;
    }
    const uint32_t stored = DecodeFixed32(block.data() + n - 4);
    if (MaskCrc32c(Crc32c(block.substr(0, n - 4))) != stored) {
      passed_.push_back({offset, n, "block checksum mismatch", {}, {}});
    }
  }

  const std::unique_ptr<dovetail::RandomAccessFile> file_;
  const uint64_t size_;
  std::optional<std::string> contents_;
  std::vector<TableGap> known_gaps_;
  bool watching_ = false;
  // Read is const in LevelDB.
  mutable size_t next_gap_ = 0;
  mutable std::vector<TableGap> passed_;
  mutable uint64_t last_offset_ = 0;
  mutable uint64_t last_bytes_ = 0;
};

// What lies between the blocks, up to where entries end.
std::vector<TableGap> GapsBetween(const std::vector<TableBlock>& blocks,
                                  uint64_t size) {
  std::vector<TableGap> gaps;
  uint64_t at = 0;
  const auto add = [&](uint64_t end) {
    if (at < end) {
      gaps.push_back({at, end - at, "no intact block found", {}, {}});
    }
  };
  for (const TableBlock& block : blocks) {
    add(block.offset);
    at = block.offset + block.bytes + kBlockTrailerBytes;
  }
  add(size);
  return gaps;
}

}  // namespace

class SalvagedTable::Impl {
 public:
  Impl(std::unique_ptr<dovetail::RandomAccessFile> file, uint64_t size)
      : file_(std::move(file), size) {}

  absl::Status Open() {
    if (!OpenTable(file_.size()).ok()) {
      index_lost_ = true;
      RETURN_IF_ERROR(Search());
    }
    file_.Watch();
    leveldb::ReadOptions read;
    read.verify_checksums = true;
    iterator_.reset(table_->NewIterator(read));
    iterator_->SeekToFirst();
    Settle();
    return absl::OkStatus();
  }

  bool Valid() const { return valid_; }
  void Next() {
    last_key_.assign(internal_key_);
    iterator_->Next();
    Settle();
  }
  std::string_view internal_key() const { return internal_key_; }
  std::string_view value() const { return ToStd(iterator_->value()); }
  const std::vector<TableGap>& gaps() const { return gaps_; }
  bool index_lost() const { return index_lost_; }

 private:
  absl::Status OpenTable(uint64_t size) {
    leveldb::Options options;
    options.comparator = &order_;
    options.paranoid_checks = true;
    leveldb::Table* table = nullptr;
    const leveldb::Status status =
        leveldb::Table::Open(options, &file_, size, &table);
    table_.reset(table);
    return FromLevelDb(status);
  }

  // Finds the blocks without the index, and makes another one. None, if the
  // file cannot be read at all.
  absl::Status Search() {
    std::string contents;
    if (file_.size() <= kSearchedBytesMax) {
      contents.resize(file_.size());
      leveldb::Slice read;
      file_.Read(0, contents.size(), &read, contents.data());
      contents = read.ToString();
    }
    const std::vector<TableBlock> blocks = FindDataBlocks(contents);
    std::vector<TableGap> gaps = GapsBetween(blocks, file_.size());
    const std::string end = MakeTableEnd(blocks, contents.size());
    contents.append(end);
    const uint64_t size = contents.size();
    file_.Replace(std::move(contents), std::move(gaps));
    return OpenTable(size);
  }

  // Moves on until there is an entry that belongs where it is, and closes the
  // gaps that were passed on the way.
  void Settle() {
    for (;; iterator_->Next()) {
      valid_ = iterator_->Valid();
      if (!valid_) break;
      internal_key_ = ToStd(iterator_->key());
      if (internal_key_.size() >= kInternalKeyTrailerBytes &&
          (last_key_.empty() ||
           order_.Compare(ToSlice(last_key_), iterator_->key()) < 0)) {
        break;
      }
      file_.PassGap({file_.last_offset(),
                     file_.last_bytes(),
                     "keys are out of order in the block",
                     {},
                     {}});
    }
    if (!valid_) {
      internal_key_ = {};
      file_.PassAllGaps();
      // Damage that no checksum tells: a block that does not parse.
      if (gaps_.empty() && !iterator_->status().ok()) {
        file_.PassGap({file_.last_offset(),
                       file_.last_bytes(),
                       iterator_->status().ToString(),
                       {},
                       {}});
      }
    }
    for (TableGap& gap : file_.TakeGaps()) {
      if (!gaps_.empty() && gaps_.back().offset == gap.offset) continue;
      if (!last_key_.empty()) gap.after_key = UserKey(last_key_);
      if (valid_) gap.before_key = UserKey(internal_key_);
      gaps_.push_back(std::move(gap));
    }
  }

  const InternalKeyOrder order_;
  WatchedFile file_;
  bool index_lost_ = false;
  // In the order in which they need each other.
  std::unique_ptr<leveldb::Table> table_;
  std::unique_ptr<leveldb::Iterator> iterator_;
  bool valid_ = false;
  std::string_view internal_key_;
  std::string last_key_;
  std::vector<TableGap> gaps_;
};

absl::StatusOr<std::unique_ptr<SalvagedTable>> SalvagedTable::Open(
    FileSystem& file_system, const std::string& path) {
  ASSIGN_OR_RETURN(const uint64_t size, file_system.Size(path));
  ASSIGN_OR_RETURN(std::unique_ptr<dovetail::RandomAccessFile> file,
                   file_system.NewRandomAccessFile(path));
  auto impl = std::make_unique<Impl>(std::move(file), size);
  RETURN_IF_ERROR(impl->Open());
  return std::unique_ptr<SalvagedTable>(new SalvagedTable(std::move(impl)));
}

SalvagedTable::SalvagedTable(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
SalvagedTable::~SalvagedTable() = default;

bool SalvagedTable::Valid() const { return impl_->Valid(); }
void SalvagedTable::Next() { impl_->Next(); }
std::string_view SalvagedTable::user_key() const {
  return UserKey(impl_->internal_key());
}
uint64_t SalvagedTable::trailer() const {
  return Trailer(impl_->internal_key());
}
std::string_view SalvagedTable::value() const { return impl_->value(); }
const std::vector<TableGap>& SalvagedTable::gaps() const {
  return impl_->gaps();
}
bool SalvagedTable::index_lost() const { return impl_->index_lost(); }

}  // namespace dovetail

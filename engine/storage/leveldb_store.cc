// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/storage/leveldb_store.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/storage/leveldb_checkpoint.h"
#include "engine/storage/leveldb_env.h"
#include "engine/storage/leveldb_files.h"
#include "engine/storage/leveldb_open_check.h"
#include "engine/storage/leveldb_status.h"
#include "leveldb/cache.h"
#include "leveldb/db.h"
#include "leveldb/filter_policy.h"
#include "leveldb/iterator.h"
#include "leveldb/write_batch.h"

namespace dovetail {
namespace {

constexpr int kBloomBitsPerKey = 10;

class LevelDbBatch final : public StoreBatch {
 public:
  void Put(std::string_view key, std::string_view value) override {
    batch_.Put(ToSlice(key), ToSlice(value));
  }
  void Delete(std::string_view key) override { batch_.Delete(ToSlice(key)); }
  void Clear() override { batch_.Clear(); }
  size_t ApproximateBytes() const override { return batch_.ApproximateSize(); }

  leveldb::WriteBatch* batch() { return &batch_; }

 private:
  leveldb::WriteBatch batch_;
};

class LevelDbSnapshot final : public StoreSnapshot {
 public:
  explicit LevelDbSnapshot(leveldb::DB* db)
      : db_(db), snapshot_(db->GetSnapshot()) {}
  ~LevelDbSnapshot() override { db_->ReleaseSnapshot(snapshot_); }

  const leveldb::Snapshot* snapshot() const { return snapshot_; }

 private:
  leveldb::DB* const db_;
  const leveldb::Snapshot* const snapshot_;
};

class LevelDbIterator final : public StoreIterator {
 public:
  explicit LevelDbIterator(leveldb::Iterator* it) : it_(it) {}

  void Seek(std::string_view key) override {
    it_->Seek(ToSlice(key));
    Update();
  }
  void Next() override {
    it_->Next();
    Update();
  }
  bool Valid() const override { return valid_; }
  std::string_view key() const override { return key_; }
  std::string_view value() const override { return ToStd(it_->value()); }
  absl::Status status() const override { return FromLevelDb(it_->status()); }

 private:
  // LevelDB goes through four layers for each; a merge asks again and again.
  void Update() {
    valid_ = it_->Valid();
    if (valid_) key_ = ToStd(it_->key());
  }

  const std::unique_ptr<leveldb::Iterator> it_;
  bool valid_ = false;
  std::string_view key_;
};

// From LevelDB's list of its table files:
//   --- level 1 ---
//    17:123['a' .. 'd']
std::vector<StoreStats::Level> LevelsOf(std::string_view list) {
  std::vector<StoreStats::Level> levels;
  for (const absl::string_view line :
       absl::StrSplit(ToAbsl(list), '\n', absl::SkipEmpty())) {
    absl::string_view rest = line;
    if (absl::ConsumePrefix(&rest, "--- level ")) {
      int level = 0;
      rest = rest.substr(0, rest.find(' '));
      if (absl::SimpleAtoi(rest, &level)) levels.push_back({level, 0, 0});
      continue;
    }
    const size_t colon = rest.find(':');
    const size_t bracket = rest.find('[');
    uint64_t bytes = 0;
    if (levels.empty() || colon >= bracket ||
        bracket == absl::string_view::npos ||
        !absl::SimpleAtoi(rest.substr(colon + 1, bracket - colon - 1),
                          &bytes)) {
      continue;
    }
    ++levels.back().files;
    levels.back().bytes += bytes;
  }
  std::erase_if(levels, [](const auto& level) { return level.files == 0; });
  return levels;
}

// LevelDB compacts level 0 from four files on, and level n from 10^n MiB on.
uint64_t PendingBytes(const std::vector<StoreStats::Level>& levels) {
  constexpr uint64_t kLevel0Files = 4;
  uint64_t pending = 0;
  for (const StoreStats::Level& level : levels) {
    if (level.level == 0) {
      pending += level.files >= kLevel0Files ? level.bytes : 0;
      continue;
    }
    uint64_t target = 1 << 20;
    for (int i = 0; i < level.level; ++i) target *= 10;
    pending += level.bytes > target ? level.bytes - target : 0;
  }
  return pending;
}

class LevelDbStore final : public Store {
 public:
  LevelDbStore(const LevelDbStoreOptions& options,
               std::unique_ptr<FileLock> lock)
      : options_(options),
        lock_(std::move(lock)),
        env_(options.file_system, options.before_sync),
        cache_(leveldb::NewLRUCache(options.block_cache_bytes)),
        filter_(leveldb::NewBloomFilterPolicy(kBloomBitsPerKey)) {}

  absl::Status Open(const std::string& directory, bool create) {
    directory_ = directory;
    leveldb::Options opened_with = MakeLevelDbOptions(options_);
    opened_with.env = &env_;
    opened_with.block_cache = cache_.get();
    opened_with.filter_policy = filter_.get();
    // What is in the directory was seen before. LevelDB, which cannot tell a
    // missing file from one that it failed to look at, must not decide.
    opened_with.create_if_missing = create;
    opened_with.error_if_exists = create;
    leveldb::DB* db = nullptr;
    const leveldb::Status status =
        leveldb::DB::Open(opened_with, directory, &db);
    db_.reset(db);
    RETURN_IF_ERROR(FromLevelDb(status));
    return env_.FirstFailure();
  }

  std::unique_ptr<StoreBatch> NewBatch() override {
    return std::make_unique<LevelDbBatch>();
  }

  absl::Status Write(StoreBatch& batch, bool sync) override {
    leveldb::WriteOptions options;
    options.sync = sync;
    return FromLevelDb(
        db_->Write(options, static_cast<LevelDbBatch&>(batch).batch()));
  }

  absl::StatusOr<bool> Get(const StoreReadOptions& options,
                           std::string_view key, std::string* value) override {
    const leveldb::Status status =
        db_->Get(MakeLevelDbReadOptions(options), ToSlice(key), value);
    if (status.ok()) return true;
    if (!status.IsNotFound()) return FromLevelDb(status);
    return false;
  }

  std::unique_ptr<StoreIterator> NewIterator(
      const StoreReadOptions& options) override {
    return std::make_unique<LevelDbIterator>(
        db_->NewIterator(MakeLevelDbReadOptions(options)));
  }

  std::unique_ptr<StoreSnapshot> GetSnapshot() override {
    return std::make_unique<LevelDbSnapshot>(db_.get());
  }

  uint64_t ApproximateSize(std::string_view begin,
                           std::string_view end) override {
    const leveldb::Range range(ToSlice(begin), ToSlice(end));
    uint64_t size = 0;
    db_->GetApproximateSizes(&range, 1, &size);
    return size;
  }

  void CompactAll() override { db_->CompactRange(nullptr, nullptr); }

  void Compact(std::string_view begin, std::string_view end) override {
    const leveldb::Slice from = ToSlice(begin);
    const leveldb::Slice to = ToSlice(end);
    db_->CompactRange(begin.empty() ? nullptr : &from,
                      end.empty() ? nullptr : &to);
  }

  absl::StatusOr<std::unique_ptr<StoreCheckpoint>> BeginCheckpoint() override {
    return BeginLevelDbCheckpoint(directory_, options_, &env_);
  }

  int Level0Files() override {
    std::string text;
    int count = 0;
    const bool known = db_->GetProperty("leveldb.num-files-at-level0", &text) &&
                       absl::SimpleAtoi(text, &count);
    DOVETAIL_CHECK(known);
    return count;
  }

  StoreStats GetStats() override {
    StoreStats stats;
    stats.level0_files = static_cast<uint64_t>(Level0Files());
    std::string text;
    db_->GetProperty("leveldb.approximate-memory-usage", &text);
    const bool known = absl::SimpleAtoi(text, &stats.memory_bytes);
    DOVETAIL_CHECK(known);
    // What LevelDB counts beside the cache is its memtables.
    const uint64_t cached = cache_->TotalCharge();
    stats.write_buffer_bytes =
        stats.memory_bytes - std::min(stats.memory_bytes, cached);
    db_->GetProperty("leveldb.sstables", &text);
    stats.levels = LevelsOf(text);
    stats.compaction_pending_bytes = PendingBytes(stats.levels);
    return stats;
  }

  std::string Report() override {
    std::string stats;
    std::string memory;
    db_->GetProperty("leveldb.stats", &stats);
    db_->GetProperty("leveldb.approximate-memory-usage", &memory);
    return absl::StrCat(stats, "memory_bytes=", memory, "\n");
  }

 private:
  const LevelDbStoreOptions options_;
  std::string directory_;
  // In the order in which they need each other; the lock goes last.
  const std::unique_ptr<FileLock> lock_;
  LevelDbEnv env_;
  const std::unique_ptr<leveldb::Cache> cache_;
  const std::unique_ptr<const leveldb::FilterPolicy> filter_;
  std::unique_ptr<leveldb::DB> db_;
};

enum class Contents {
  kNothing,  // Or what a creation left that never came to an end.
  kDatabase,
};

// What a creation that was cut short may leave: the manifest that every
// database begins with, but no CURRENT, and therefore no data.
bool IsOfCreation(std::string_view name) {
  using Kind = LevelDbFileKind;
  const LevelDbFileName file = ParseLevelDbFileName(name);
  switch (file.kind) {
    case Kind::kLock:
    case Kind::kInfoLog:
      return true;
    case Kind::kManifest:
    case Kind::kTemporary:
      return file.number == 1;
    default:
      return name == kStoreLockName || name == kLostDirectory;
  }
}

absl::StatusOr<Contents> LookAt(FileSystem& files,
                                const std::string& directory) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(directory));
  if (std::find(names.begin(), names.end(), "CURRENT") != names.end()) {
    return Contents::kDatabase;
  }
  const auto foreign =
      std::find_if_not(names.begin(), names.end(), IsOfCreation);
  if (foreign == names.end()) return Contents::kNothing;
  for (const std::string& name : names) {
    const LevelDbFileKind kind = ParseLevelDbFileName(name).kind;
    if (kind != LevelDbFileKind::kOther && !IsOfCreation(name)) {
      return absl::DataLossError(absl::StrCat(
          "the database is damaged: file=CURRENT reason=the file is missing"
          " present=",
          ToAbsl(Quote(name)), " directory=", ToAbsl(Quote(directory, 1024))));
    }
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the directory holds something other than a database: directory=",
      ToAbsl(Quote(directory, 1024)), " file=", ToAbsl(Quote(*foreign))));
}

absl::Status NoDatabase(const std::string& directory) {
  return absl::NotFoundError(absl::StrCat("there is no database: directory=",
                                          ToAbsl(Quote(directory, 1024))));
}

// Makes sure of the directory, and tells what is in it.
absl::StatusOr<Contents> PrepareDirectory(FileSystem& files,
                                          const std::string& directory,
                                          bool create) {
  ASSIGN_OR_RETURN(const bool exists, files.Exists(directory));
  if (!exists) {
    if (!create) return NoDatabase(directory);
    const std::string parent = DirectoryOf(directory);
    ASSIGN_OR_RETURN(const bool parent_exists, files.Exists(parent));
    if (!parent_exists) {
      return absl::NotFoundError(
          absl::StrCat("the parent directory does not exist: directory=",
                       ToAbsl(Quote(directory, 1024))));
    }
    RETURN_IF_ERROR(files.CreateDirectory(directory));
    RETURN_IF_ERROR(files.SyncDirectory(parent));
  }
  ASSIGN_OR_RETURN(const Contents contents, LookAt(files, directory));
  if (contents == Contents::kNothing && !create) return NoDatabase(directory);
  return contents;
}

}  // namespace

leveldb::Options MakeLevelDbOptions(const LevelDbStoreOptions& options) {
  leveldb::Options result;
  result.paranoid_checks = true;
  result.reuse_logs = false;
  result.write_buffer_size = options.write_buffer_bytes;
  result.max_open_files = options.open_files_max;
  result.compression =
      options.compress ? leveldb::kSnappyCompression : leveldb::kNoCompression;
  // Larger tables mean fewer files to keep open and fewer compactions that
  // reads set off; but level 1 holds 10 MiB, and should hold a whole one.
  result.max_file_size =
      std::clamp<size_t>(options.write_buffer_bytes / 4, 2 << 20, 8 << 20);
  return result;
}

leveldb::ReadOptions MakeLevelDbReadOptions(const StoreReadOptions& options) {
  leveldb::ReadOptions result;
  result.verify_checksums = true;
  result.fill_cache = options.fill_cache;
  if (options.snapshot != nullptr) {
    result.snapshot =
        static_cast<const LevelDbSnapshot*>(options.snapshot)->snapshot();
  }
  return result;
}

absl::StatusOr<std::unique_ptr<Store>> OpenLevelDbStore(
    const std::string& directory, const LevelDbStoreOptions& options,
    StoreOpenReport* report) {
  DOVETAIL_CHECK(options.file_system != nullptr);
  *report = StoreOpenReport();
  FileSystem& files = *options.file_system;
  // Once before the lock file is put into a directory that may not be ours,
  // and once under the lock, for what counts.
  RETURN_IF_ERROR(
      PrepareDirectory(files, directory, options.create_if_missing).status());
  ASSIGN_OR_RETURN(std::unique_ptr<FileLock> lock,
                   files.Lock(JoinPath(directory, kStoreLockName)));
  ASSIGN_OR_RETURN(
      const Contents contents,
      PrepareDirectory(files, directory, options.create_if_missing));
  report->created = contents == Contents::kNothing;
  if (!report->created) {
    RETURN_IF_ERROR(CheckLevelDbBeforeOpen(directory, options, report));
  }
  auto store = std::make_unique<LevelDbStore>(options, std::move(lock));
  RETURN_IF_ERROR(store->Open(directory, report->created));
  return store;
}

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/storage/leveldb_table_mark.h"

#include <memory>

#include "base/status_macros.h"
#include "engine/storage/leveldb_env.h"
#include "engine/storage/leveldb_files.h"
#include "engine/storage/leveldb_internal_key.h"
#include "engine/storage/leveldb_status.h"
#include "leveldb/iterator.h"
#include "leveldb/options.h"
#include "leveldb/table.h"

namespace dovetail {
namespace {

// The entry with the highest sequence seen so far.
struct Newest {
  uint64_t trailer = 0;
  std::string value;
};

absl::Status LookInto(leveldb::Env* env, const std::string& path, uint64_t size,
                      std::string_view key, Newest* newest) {
  const InternalKeyOrder order;
  leveldb::Options options;
  options.env = env;
  options.comparator = &order;
  options.paranoid_checks = true;

  leveldb::RandomAccessFile* file = nullptr;
  RETURN_IF_ERROR(FromLevelDb(env->NewRandomAccessFile(path, &file)));
  const std::unique_ptr<leveldb::RandomAccessFile> owned_file(file);
  leveldb::Table* table = nullptr;
  RETURN_IF_ERROR(
      FromLevelDb(leveldb::Table::Open(options, file, size, &table)));
  const std::unique_ptr<leveldb::Table> owned_table(table);

  leveldb::ReadOptions read;
  read.verify_checksums = true;
  const std::unique_ptr<leveldb::Iterator> it(table->NewIterator(read));
  const std::string target =
      std::string(key) + std::string(kInternalKeyTrailerBytes, '\xff');
  it->Seek(ToSlice(target));
  RETURN_IF_ERROR(FromLevelDb(it->status()));
  if (!it->Valid()) return absl::OkStatus();
  const std::string_view found = ToStd(it->key());
  if (found.size() < kInternalKeyTrailerBytes || UserKey(found) != key ||
      Trailer(found) < newest->trailer) {
    return absl::OkStatus();
  }
  newest->trailer = Trailer(found);
  newest->value = it->value().ToString();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<std::string>> NewestValueInTables(
    FileSystem& file_system, const std::string& directory,
    const LevelDbManifest& manifest, std::string_view key) {
  LevelDbEnv env(&file_system);
  Newest newest;
  for (const auto& [level_and_number, table] : manifest.tables) {
    if (key < table.smallest || key > table.largest) continue;
    const uint64_t number = level_and_number.second;
    std::string path = JoinPath(directory, TableName(number));
    ASSIGN_OR_RETURN(const bool is_new_name, file_system.Exists(path));
    if (!is_new_name) path = JoinPath(directory, OldTableName(number));
    RETURN_IF_ERROR(LookInto(&env, path, table.size, key, &newest));
  }
  if ((newest.trailer & 0xff) != kPutType) {
    return std::optional<std::string>();
  }
  return std::optional<std::string>(std::move(newest.value));
}

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "bench/question_lsm.h"
#include "leveldb/cache.h"
#include "leveldb/db.h"
#include "leveldb/filter_policy.h"
#include "leveldb/write_batch.h"

namespace dovetail::bench {
namespace {

struct LevelDbApi {
  using Slice = leveldb::Slice;
  using Iterator = leveldb::Iterator;
  using WriteBatch = leveldb::WriteBatch;

  static absl::Status FromStatus(const leveldb::Status& status) {
    if (status.ok()) return absl::OkStatus();
    return absl::UnknownError(status.ToString());
  }
  absl::Status Get(const std::string& key, std::string* value) {
    return FromStatus(db->Get(read_options, key, value));
  }

  std::unique_ptr<leveldb::Cache> cache;
  std::unique_ptr<const leveldb::FilterPolicy> filter;
  std::unique_ptr<leveldb::DB> db;
  leveldb::ReadOptions read_options;
};

}  // namespace

absl::StatusOr<std::unique_ptr<QuestionStore>> OpenLevelDbQuestions(
    const QuestionStoreOptions& options) {
  auto api = std::make_unique<LevelDbApi>();
  api->cache.reset(leveldb::NewLRUCache(options.cache_bytes));
  api->filter.reset(leveldb::NewBloomFilterPolicy(10));
  api->read_options.verify_checksums = true;
  leveldb::Options db_options;
  db_options.create_if_missing = true;
  db_options.paranoid_checks = true;
  db_options.write_buffer_size = options.write_buffer_bytes;
  db_options.block_cache = api->cache.get();
  db_options.filter_policy = api->filter.get();
  leveldb::DB* db = nullptr;
  const leveldb::Status opened =
      leveldb::DB::Open(db_options, options.directory, &db);
  if (!opened.ok()) return LevelDbApi::FromStatus(opened);
  api->db.reset(db);
  return std::make_unique<LsmQuestions<LevelDbApi>>(std::move(api));
}

}  // namespace dovetail::bench

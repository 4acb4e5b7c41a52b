// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "bench/question_lsm.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "rocksdb/write_batch.h"

namespace dovetail::bench {
namespace {

struct RocksDbApi {
  using Slice = rocksdb::Slice;
  using Iterator = rocksdb::Iterator;
  using WriteBatch = rocksdb::WriteBatch;

  static absl::Status FromStatus(const rocksdb::Status& status) {
    if (status.ok()) return absl::OkStatus();
    return absl::UnknownError(status.ToString());
  }
  absl::Status Get(const std::string& key, std::string* value) {
    return FromStatus(db->Get(read_options, key, value));
  }

  std::unique_ptr<rocksdb::DB> db;
  rocksdb::ReadOptions read_options;
};

}  // namespace

absl::StatusOr<std::unique_ptr<QuestionStore>> OpenRocksDbQuestions(
    const QuestionStoreOptions& options) {
  auto api = std::make_unique<RocksDbApi>();
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(options.cache_bytes);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  rocksdb::Options db_options;
  db_options.create_if_missing = true;
  db_options.write_buffer_size = options.write_buffer_bytes;
  db_options.compression = rocksdb::kSnappyCompression;
  db_options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened =
      rocksdb::DB::Open(db_options, options.directory, &db);
  if (!opened.ok()) return RocksDbApi::FromStatus(opened);
  api->db.reset(db);
  return std::make_unique<LsmQuestions<RocksDbApi>>(std::move(api));
}

}  // namespace dovetail::bench

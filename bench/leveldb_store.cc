// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Indexes on LevelDB as one writes them by hand for this one table. One
// database, three key ranges:
//
//   m hash(seller):4 seller 0 ~ts:8 id            -> record
//   o id                                          -> key of the row
//   s hash(seller):4 seller 0 status:1 ~ts:8 id   -> key of the row
//
// A commit is one WriteBatch. Between the read of an old row and the commit
// the order is locked, one of many mutexes by the hash of its id; keys that
// do not change are not written again. A lookup of two hops reads from one
// snapshot.

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "bench/order_store.h"
#include "leveldb/cache.h"
#include "leveldb/db.h"
#include "leveldb/filter_policy.h"
#include "leveldb/write_batch.h"
#include "xxhash.h"

namespace dovetail::bench {
namespace {

constexpr char kRows = 'm';
constexpr char kById = 'o';
constexpr char kByStatus = 's';
constexpr int kBloomBits = 10;
constexpr int kOpenFilesMax = 1000;
constexpr size_t kStripes = 1024;

absl::Status FromLevelDb(const leveldb::Status& status) {
  if (status.ok()) return absl::OkStatus();
  if (status.IsNotFound()) return absl::NotFoundError(status.ToString());
  if (status.IsCorruption()) return absl::DataLossError(status.ToString());
  return absl::UnknownError(status.ToString());
}

void AppendBigEndian(uint64_t value, int bytes, std::string* key) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    key->push_back(static_cast<char>(value >> shift));
  }
}

void AssignSellerPrefix(char range, const std::string& seller,
                        std::string* key) {
  key->assign(1, range);
  AppendBigEndian(XXH32(seller.data(), seller.size(), 0), 4, key);
  key->append(seller);
  key->push_back('\0');
}

void AppendTimeAndId(const BenchOrder& order, std::string* key) {
  AppendBigEndian(~static_cast<uint64_t>(order.ts_us()), 8, key);
  key->append(order.id());
}

void AssignRowKey(const BenchOrder& order, std::string* key) {
  AssignSellerPrefix(kRows, order.seller(), key);
  AppendTimeAndId(order, key);
}

void AssignStatusKey(const BenchOrder& order, std::string* key) {
  AssignSellerPrefix(kByStatus, order.seller(), key);
  key->push_back(static_cast<char>(order.status()));
  AppendTimeAndId(order, key);
}

void AssignIdKey(const std::string& id, std::string* key) {
  key->assign(1, kById);
  key->append(id);
}

absl::Status DanglingEntry(const leveldb::Slice& row_key) {
  return absl::DataLossError(
      absl::StrCat("entry without a row: row_key=",
                   Quote(std::string_view(row_key.data(), row_key.size()))));
}

// What LevelDB is given, in the order of destruction that it needs.
struct Database {
  std::unique_ptr<leveldb::Cache> cache;
  std::unique_ptr<const leveldb::FilterPolicy> filter;
  std::unique_ptr<leveldb::DB> db;
  leveldb::ReadOptions read_options;
  leveldb::WriteOptions write_options;
  std::mutex stripes[kStripes];

  std::mutex* StripeOf(const std::string& id) {
    return &stripes[XXH64(id.data(), id.size(), 0) % kStripes];
  }
};

class ScopedSnapshot {
 public:
  explicit ScopedSnapshot(Database* database)
      : db_(database->db.get()), options_(database->read_options) {
    options_.snapshot = db_->GetSnapshot();
  }
  ~ScopedSnapshot() { db_->ReleaseSnapshot(options_.snapshot); }
  ScopedSnapshot(const ScopedSnapshot&) = delete;
  ScopedSnapshot& operator=(const ScopedSnapshot&) = delete;

  const leveldb::ReadOptions& options() const { return options_; }

 private:
  leveldb::DB* db_;
  leveldb::ReadOptions options_;
};

// Locks in the order of addresses, each once, so that two batches cannot wait
// for each other.
class StripeLocks {
 public:
  StripeLocks(Database* database, const std::vector<BenchOrder>& orders) {
    mutexes_.reserve(orders.size());
    for (const BenchOrder& order : orders) {
      mutexes_.push_back(database->StripeOf(order.id()));
    }
    std::sort(mutexes_.begin(), mutexes_.end());
    mutexes_.erase(std::unique(mutexes_.begin(), mutexes_.end()),
                   mutexes_.end());
    for (std::mutex* mutex : mutexes_) mutex->lock();
  }
  ~StripeLocks() {
    for (std::mutex* mutex : mutexes_) mutex->unlock();
  }
  StripeLocks(const StripeLocks&) = delete;
  StripeLocks& operator=(const StripeLocks&) = delete;

 private:
  std::vector<std::mutex*> mutexes_;
};

class LevelDbSession : public OrderSession {
 public:
  explicit LevelDbSession(Database* database) : database_(database) {}

  absl::Status Put(const std::vector<BenchOrder>& orders) override {
    StripeLocks locks(database_, orders);
    batch_.Clear();
    for (const BenchOrder& order : orders) RETURN_IF_ERROR(AddPut(order));
    return Commit();
  }

  absl::Status SetStatus(const std::string& id, int32_t status) override {
    std::lock_guard<std::mutex> lock(*database_->StripeOf(id));
    RETURN_IF_ERROR(ReadById(database_->read_options, id, &old_));
    batch_.Clear();
    if (old_.status() != status) {
      AssignStatusKey(old_, &key_);
      batch_.Delete(key_);
      old_.set_status(status);
      AssignStatusKey(old_, &key_);
      batch_.Put(key_, row_key_);
    }
    old_.SerializeToString(&record_);
    batch_.Put(row_key_, record_);
    return Commit();
  }

  absl::Status Get(const std::string& id, BenchOrder* order) override {
    ScopedSnapshot snapshot(database_);
    return ReadById(snapshot.options(), id, order);
  }

  absl::StatusOr<size_t> Newest(const std::string& seller, int32_t status,
                                size_t limit,
                                std::vector<BenchOrder>* orders) override {
    AssignSellerPrefix(status == 0 ? kRows : kByStatus, seller, &prefix_);
    if (status != 0) prefix_.push_back(static_cast<char>(status));
    ScopedSnapshot snapshot(database_);
    std::unique_ptr<leveldb::Iterator> it(
        database_->db->NewIterator(snapshot.options()));
    size_t count = 0;
    for (it->Seek(prefix_);
         count < limit && it->Valid() && it->key().starts_with(prefix_);
         it->Next(), ++count) {
      if (orders->size() == count) orders->emplace_back();
      BenchOrder* order = &(*orders)[count];
      if (status == 0) {
        RETURN_IF_ERROR(Parse(it->value(), order));
      } else {
        RETURN_IF_ERROR(ReadRow(snapshot.options(), it->value(), order));
      }
    }
    RETURN_IF_ERROR(FromLevelDb(it->status()));
    return count;
  }

 private:
  // Adds to batch_ what turns the order's old state, if any, into `order`.
  absl::Status AddPut(const BenchOrder& order) {
    const absl::Status read =
        ReadById(database_->read_options, order.id(), &old_);
    if (!read.ok() && !absl::IsNotFound(read)) return read;
    const bool exists = read.ok();
    AssignRowKey(order, &new_row_key_);
    AssignStatusKey(order, &new_key_);
    if (exists) AssignStatusKey(old_, &key_);
    const bool moved = !exists || row_key_ != new_row_key_;
    const bool new_status = !exists || key_ != new_key_;
    if (exists && moved) batch_.Delete(row_key_);
    if (exists && new_status) batch_.Delete(key_);
    if (new_status) batch_.Put(new_key_, new_row_key_);
    if (moved) {
      AssignIdKey(order.id(), &key_);
      batch_.Put(key_, new_row_key_);
    }
    order.SerializeToString(&record_);
    batch_.Put(new_row_key_, record_);
    return absl::OkStatus();
  }

  absl::Status Commit() {
    return FromLevelDb(database_->db->Write(database_->write_options, &batch_));
  }

  // Leaves the key of the row in row_key_.
  absl::Status ReadById(const leveldb::ReadOptions& options,
                        const std::string& id, BenchOrder* order) {
    AssignIdKey(id, &key_);
    RETURN_IF_ERROR(FromLevelDb(database_->db->Get(options, key_, &row_key_)));
    return ReadRow(options, row_key_, order);
  }

  absl::Status ReadRow(const leveldb::ReadOptions& options,
                       const leveldb::Slice& row_key, BenchOrder* order) {
    const leveldb::Status status =
        database_->db->Get(options, row_key, &record_);
    if (status.IsNotFound()) return DanglingEntry(row_key);
    RETURN_IF_ERROR(FromLevelDb(status));
    return Parse(record_, order);
  }

  static absl::Status Parse(const leveldb::Slice& record, BenchOrder* order) {
    if (order->ParseFromArray(record.data(), static_cast<int>(record.size()))) {
      return absl::OkStatus();
    }
    return absl::DataLossError("row is no order");
  }

  Database* database_;  // Not owned.

  // Kept from call to call for their memory.
  leveldb::WriteBatch batch_;
  BenchOrder old_;
  std::string key_, row_key_, record_, prefix_, new_key_, new_row_key_;
};

class LevelDbOrderStore : public OrderStore {
 public:
  explicit LevelDbOrderStore(std::unique_ptr<Database> database)
      : database_(std::move(database)) {}

  std::unique_ptr<OrderSession> NewSession() override {
    return std::make_unique<LevelDbSession>(database_.get());
  }

  // Every row has its two entries and there are no others.
  absl::StatusOr<uint64_t> Check() override {
    uint64_t rows = 0;
    uint64_t entries = 0;
    std::string key, value;
    BenchOrder order;
    leveldb::ReadOptions options = database_->read_options;
    options.fill_cache = false;
    std::unique_ptr<leveldb::Iterator> it(database_->db->NewIterator(options));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      if (it->key()[0] != kRows) {
        ++entries;
        continue;
      }
      ++rows;
      const std::string row_key = it->key().ToString();
      if (!order.ParseFromString(it->value().ToString())) {
        return absl::DataLossError("row is no order");
      }
      for (const bool by_status : {false, true}) {
        by_status ? AssignStatusKey(order, &key)
                  : AssignIdKey(order.id(), &key);
        RETURN_IF_ERROR(FromLevelDb(database_->db->Get(options, key, &value)));
        if (value != row_key) return DanglingEntry(value);
      }
    }
    RETURN_IF_ERROR(FromLevelDb(it->status()));
    if (entries == 2 * rows) return rows;
    return absl::DataLossError(absl::StrCat("entries without rows: rows=", rows,
                                            " entries=", entries));
  }

 private:
  std::unique_ptr<Database> database_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<OrderStore>> OpenLevelDbOrderStore(
    const OrderStoreOptions& options, bool checked) {
  auto database = std::make_unique<Database>();
  database->cache.reset(leveldb::NewLRUCache(options.cache_bytes));
  database->filter.reset(leveldb::NewBloomFilterPolicy(kBloomBits));
  database->read_options.verify_checksums = checked;
  database->write_options.sync = options.sync;

  leveldb::Options db_options;
  db_options.create_if_missing = true;
  db_options.paranoid_checks = checked;
  db_options.write_buffer_size = options.write_buffer_bytes;
  db_options.max_open_files = kOpenFilesMax;
  db_options.block_cache = database->cache.get();
  db_options.filter_policy = database->filter.get();
  db_options.compression =
      options.compress ? leveldb::kSnappyCompression : leveldb::kNoCompression;
  leveldb::DB* db = nullptr;
  RETURN_IF_ERROR(
      FromLevelDb(leveldb::DB::Open(db_options, options.directory, &db)));
  database->db.reset(db);
  return std::make_unique<LevelDbOrderStore>(std::move(database));
}

}  // namespace dovetail::bench

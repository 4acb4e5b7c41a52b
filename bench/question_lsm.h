// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The questions answered by hand on a store of LevelDB's interface, as an
// application without an engine would: rows by seller and time, and an index
// by seller, status and time whose entries are row keys.

#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/question.h"
#include "xxhash.h"

namespace dovetail::bench {

// `Api` names the types of the store: Db, Slice, Iterator, ReadOptions,
// WriteBatch, WriteOptions; and has FromStatus and, for point reads, Get.
template <typename Api>
class LsmQuestions : public QuestionStore {
 public:
  using Slice = typename Api::Slice;

  explicit LsmQuestions(std::unique_ptr<Api> api) : api_(std::move(api)) {}

  absl::Status Insert(const std::vector<BenchOrder>& orders) override {
    typename Api::WriteBatch batch;
    for (const BenchOrder& order : orders) {
      const std::string row_key = RowKey(order);
      batch.Put(row_key, order.SerializeAsString());
      batch.Put('o' + order.id(), row_key);
      batch.Put(StatusKey(order), row_key);
    }
    return Api::FromStatus(api_->db->Write({}, &batch));
  }

  absl::Status SetStatus(const std::string& id, int32_t status) override {
    std::string row_key, record;
    BenchOrder order;
    if (absl::Status s = api_->Get('o' + id, &row_key); !s.ok()) return s;
    if (absl::Status s = api_->Get(row_key, &record); !s.ok()) return s;
    if (!order.ParseFromString(record)) return NoOrder();
    typename Api::WriteBatch batch;
    batch.Delete(StatusKey(order));
    order.set_status(status);
    batch.Put(StatusKey(order), row_key);
    batch.Put(row_key, order.SerializeAsString());
    return Api::FromStatus(api_->db->Write({}, &batch));
  }

  absl::Status Ask(const Question& question, Answer* answer) override {
    const std::unique_ptr<typename Api::Iterator> it(
        api_->db->NewIterator(api_->read_options));
    switch (question.kind) {
      case Question::Kind::kTop:
      case Question::Kind::kFilter:
        return AskRows(question, it.get(), answer);
      case Question::Kind::kStatus:
        return AskStatuses(question, it.get(), answer);
      case Question::Kind::kCounts:
        break;
    }
    const std::string prefix = Prefix('s', question.seller);
    for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix);
         it->Next()) {
      answer->AddCount(it->key()[prefix.size()], 1);
    }
    return Api::FromStatus(it->status());
  }

 private:
  struct Entry {
    std::string time_and_id;
    std::string row_key;
  };

  static absl::Status NoOrder() {
    return absl::DataLossError("row is no order");
  }
  static void AppendBigEndian(uint64_t value, int bytes, std::string* key) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
      key->push_back(static_cast<char>(value >> shift));
    }
  }
  static std::string Prefix(char space, const std::string& seller) {
    std::string key(1, space);
    AppendBigEndian(XXH32(seller.data(), seller.size(), 0), 4, &key);
    key.append(seller).push_back('\0');
    return key;
  }
  static std::string TimeAndId(const BenchOrder& order) {
    std::string key;
    AppendBigEndian(~static_cast<uint64_t>(order.ts_us()), 8, &key);
    return key.append(order.id());
  }
  static std::string RowKey(const BenchOrder& order) {
    return Prefix('m', order.seller()).append(TimeAndId(order));
  }
  static std::string StatusKey(const BenchOrder& order) {
    std::string key = Prefix('s', order.seller());
    key.push_back(static_cast<char>(order.status()));
    return key.append(TimeAndId(order));
  }

  static absl::Status AskRows(const Question& question,
                              typename Api::Iterator* it, Answer* answer) {
    const std::string prefix = Prefix('m', question.seller);
    const bool filter = question.kind == Question::Kind::kFilter;
    std::string begin = prefix;
    if (filter) {
      AppendBigEndian(~static_cast<uint64_t>(question.to_us - 1), 8, &begin);
    }
    for (it->Seek(begin); answer->rows() < kNewest && it->Valid() &&
                          it->key().starts_with(prefix);
         it->Next()) {
      BenchOrder* order = answer->AddRow();
      const Slice record = it->value();
      if (!order->ParseFromArray(record.data(),
                                 static_cast<int>(record.size()))) {
        return NoOrder();
      }
      if (!filter) continue;
      const bool before = order->ts_us() < question.from_us;
      if (before || order->amount() <= question.amount) answer->DropRow();
      if (before) break;
    }
    return Api::FromStatus(it->status());
  }

  // The newest entries of each status; of these the newest, and their rows.
  absl::Status AskStatuses(const Question& question, typename Api::Iterator* it,
                           Answer* answer) {
    std::vector<Entry> entries;
    for (const int32_t status : question.statuses) {
      std::string prefix = Prefix('s', question.seller);
      prefix.push_back(static_cast<char>(status));
      size_t left = kNewest;
      for (it->Seek(prefix);
           left > 0 && it->Valid() && it->key().starts_with(prefix);
           it->Next(), --left) {
        const std::string key = it->key().ToString();
        entries.push_back({key.substr(prefix.size()), it->value().ToString()});
      }
    }
    if (question.statuses.size() > 1) {
      std::sort(entries.begin(), entries.end(),
                [](const Entry& a, const Entry& b) {
                  return a.time_and_id < b.time_and_id;
                });
    }
    if (entries.size() > kNewest) entries.resize(kNewest);
    for (const Entry& entry : entries) {
      if (absl::Status s = api_->Get(entry.row_key, &record_); !s.ok()) {
        return s;
      }
      if (!answer->AddRow()->ParseFromString(record_)) return NoOrder();
    }
    return Api::FromStatus(it->status());
  }

  std::unique_ptr<Api> api_;
  std::string record_;
};

}  // namespace dovetail::bench

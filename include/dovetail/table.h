// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// One table seen through its record type.
//
//   auto orders = dovetail::Table<dovetail::v1::Order>::Bind(engine, "orders");
//   orders->Put(order);
//   orders->GetBy("by_order_id", {"o-17"});   // vector<Order>
//   orders->Scan({.equal = {"seller-1"}, .limit = 20});

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/engine.h"

namespace dovetail {

namespace internal {
// OK if `table` exists and holds records of the named type.
absl::Status CheckRecordType(Engine& engine, std::string_view table,
                             std::string_view full_name);
// DataLoss: the stored bytes of `row` are not a record of its table.
absl::Status RecordDoesNotParse(std::string_view table,
                                std::string_view row_key);
}  // namespace internal

// A page of records; see Page.
template <typename T>
struct RecordPage {
  std::vector<T> records;
  std::string continuation;
  Work work;
};

// T is a generated message class. Thread-safe; the engine must outlive it.
template <typename T>
class Table {
 public:
  // NotFound if there is no such table, InvalidArgument if its records are of
  // another type.
  static absl::StatusOr<Table> Bind(Engine* engine, std::string_view name) {
    absl::Status status =
        internal::CheckRecordType(*engine, name, T::descriptor()->full_name());
    if (!status.ok()) return status;
    return Table(engine, std::string(name));
  }

  absl::StatusOr<Commit> Put(const T& record, const WriteOptions& o = {}) {
    return engine_->Write(o,
                          WriteBatch().Put(name_, record.SerializeAsString()));
  }
  absl::StatusOr<Commit> Insert(const T& record, const WriteOptions& o = {}) {
    return engine_->Write(
        o, WriteBatch().Insert(name_, record.SerializeAsString()));
  }
  // Replaces `fields` of the rows by their values in `values`.
  absl::StatusOr<Commit> Patch(RowRef target, const T& values,
                               std::vector<std::string> fields,
                               const WriteOptions& o = {}) {
    return engine_->Write(
        o, WriteBatch().Patch(name_, std::move(target),
                              values.SerializeAsString(), std::move(fields)));
  }
  absl::StatusOr<Commit> Delete(RowRef target, const WriteOptions& o = {}) {
    return engine_->Write(o, WriteBatch().Delete(name_, std::move(target)));
  }

  absl::StatusOr<T> Get(const std::vector<Value>& key,
                        const ReadOptions& o = {}) const {
    absl::StatusOr<Row> row = engine_->Get(o, name_, key);
    if (!row.ok()) return row.status();
    T record;
    absl::Status parsed = Parse(row->key, row->record, &record);
    if (!parsed.ok()) return parsed;
    return record;
  }
  absl::StatusOr<std::vector<T>> GetBy(std::string_view index,
                                       const std::vector<Value>& values,
                                       const ReadOptions& o = {}) const {
    auto rows = engine_->GetBy(o, name_, index, values);
    if (!rows.ok()) return rows.status();
    std::vector<T> records(rows->size());
    for (size_t i = 0; i < records.size(); ++i) {
      absl::Status parsed =
          Parse((*rows)[i].key, (*rows)[i].record, &records[i]);
      if (!parsed.ok()) return parsed;
    }
    return records;
  }
  // `request.table` is filled in.
  absl::StatusOr<RecordPage<T>> Scan(ScanRequest request,
                                     const ReadOptions& o = {}) const {
    request.table = name_;
    RecordPage<T> page;
    absl::Status parsed;
    size_t bytes = 0;
    absl::StatusOr<ScanEnd> end =
        engine_->ForEach(o, request, [&](const RowView& row) {
          parsed = Parse(row.key, row.record, &page.records.emplace_back());
          bytes += row.record.size() + sizeof(T);
          return parsed.ok() && bytes < engine_->limits().page_bytes_max;
        });
    if (!end.ok()) return end.status();
    if (!parsed.ok()) return parsed;
    page.continuation = std::move(end->continuation);
    page.work = end->work;
    return page;
  }
  // Sees one record after the other; false ends the scan behind this one.
  // Parses into one object, so keep what you need of it.
  absl::StatusOr<ScanEnd> ForEach(ScanRequest request,
                                  absl::FunctionRef<bool(const T&)> visit,
                                  const ReadOptions& o = {}) const {
    request.table = name_;
    T record;
    absl::Status parsed;
    absl::StatusOr<ScanEnd> end =
        engine_->ForEach(o, request, [&](const RowView& row) {
          parsed = Parse(row.key, row.record, &record);
          return parsed.ok() && visit(record);
        });
    return parsed.ok() ? std::move(end) : parsed;
  }

  const std::string& name() const { return name_; }

 private:
  Table(Engine* engine, std::string name)
      : engine_(engine), name_(std::move(name)) {}

  absl::Status Parse(std::string_view row_key, std::string_view bytes,
                     T* record) const {
    if (record->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return absl::OkStatus();
    }
    return internal::RecordDoesNotParse(name_, row_key);
  }

  Engine* engine_;  // Not owned.
  std::string name_;
};

}  // namespace dovetail

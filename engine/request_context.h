// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What hooks get in hand: the context of user observers, and the entry sink of
// index maintenance. Internal to request_runner.cc.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/request_runner.h"

namespace dovetail {

// Lives as long as one hook call. Remembers the first refusal, so that a hook
// which ignores it does not get its request through.
class RequestRunner::Context final : public HookContext {
 public:
  // `observer` is a position in the chain, or -1 for index maintenance, which
  // alone gets a sink.
  Context(RequestRunner* runner, int observer, internal::EntrySink* sink)
      : runner_(runner), observer_(observer), sink_(sink) {}

  absl::StatusOr<std::string> ReadRow(std::string_view table,
                                      const std::vector<Value>& key) override;
  absl::StatusOr<std::vector<std::string>> ReadBy(
      std::string_view table, std::string_view index,
      const std::vector<Value>& values) override;
  absl::Status Add(Mutation mutation) override;
  void Annotate(std::string_view note) override;
  SequenceNumber sequence() const override { return runner_->sequence_; }
  internal::EntrySink* entry_sink() override { return sink_; }

  // The first refusal of Add, or OK.
  const absl::Status& error() const { return error_; }
  // From now on Add is refused: the commit is done.
  void ForbidAdding() { may_add_ = false; }

 private:
  absl::StatusOr<std::vector<CurrentRow>> Find(
      std::string_view table, std::string_view index,
      const std::vector<Value>& values);
  absl::Status TryAdd(Mutation mutation);
  absl::Status CheckDeclared(const std::vector<std::string>& declared,
                             std::string_view what,
                             std::string_view table) const;

  RequestRunner* const runner_;
  const int observer_;
  internal::EntrySink* const sink_;
  bool may_add_ = true;
  absl::Status error_;
};

// Of one row change.
class RequestRunner::Sink final : public internal::EntrySink {
 public:
  Sink(RequestRunner* runner, const TableState& table)
      : runner_(runner), table_(table) {}

  // Compiles the old image into `storage`, which must outlive the sink.
  absl::Status SetOld(const CurrentRow& old, EncodedRow* storage);
  void SetNew(const EncodedRow* row) { new_row_ = row; }

  const CompiledTable& table() const override { return *table_.compiled; }
  const EncodedRow* old_row() const override { return old_row_; }
  const EncodedRow* new_row() const override { return new_row_; }
  bool Maintains(size_t index) const override {
    return table_.Maintains(index);
  }
  bool IsBuilding(size_t index) const override {
    return table_.state(index) == v1::INDEX_BUILDING;
  }
  std::string_view EntryPrefix(size_t index) const override {
    return table_.entry_prefixes[index];
  }
  absl::StatusOr<std::optional<std::string>> ReadEntry(
      std::string_view key) override;
  absl::Status PutEntry(size_t index, std::string key, std::string value,
                        const std::string* replaced) override;
  void DeleteEntry(size_t index, std::string key,
                   std::string_view value) override;
  absl::Status AddToGroup(size_t index, std::string key,
                          std::string_view row_key, bool there,
                          const GroupValue& value) override;
  void KeepEntry(size_t index) override;

 private:
  RequestRunner* const runner_;
  const TableState& table_;
  const EncodedRow* old_row_ = nullptr;
  const EncodedRow* new_row_ = nullptr;
};

}  // namespace dovetail

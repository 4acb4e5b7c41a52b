// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What readers see: one immutable state of the whole database.

#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "dovetail/write_batch.h"
#include "engine/iterator_pool.h"
#include "engine/live_view.h"
#include "engine/schema_state.h"
#include "engine/storage/store.h"

namespace dovetail {
class LiveKeeper;
class RowCache;
}  // namespace dovetail

namespace dovetail::internal {

// Made by the commit that it is the result of, shared by all readers of it.
struct PublishedState {
  // The order matters: a snapshot goes before its store.
  std::shared_ptr<Store> store;
  std::shared_ptr<StoreSnapshot> snapshot;
  std::shared_ptr<const SchemaState> schema;
  SequenceNumber sequence{};
  // What is known of the store in this state; null: nothing. The number is
  // that of the state, and `live`, which may be null, takes what scans find.
  std::shared_ptr<const LiveView> view;
  uint64_t version = 0;
  LiveKeeper* live = nullptr;
  RowCache* rows = nullptr;  // Null: none are kept.
  // Of the snapshot; goes before it.
  mutable IteratorPool iterators;

  // An iterator on this state, to be given back with ReturnIterator.
  std::unique_ptr<StoreIterator> BorrowIterator() const {
    std::unique_ptr<StoreIterator> it = iterators.Take();
    if (it != nullptr) return it;
    StoreReadOptions options;
    options.snapshot = snapshot.get();
    return store->NewIterator(options);
  }
  void ReturnIterator(std::unique_ptr<StoreIterator> it) const {
    iterators.Give(std::move(it));
  }
};

}  // namespace dovetail::internal

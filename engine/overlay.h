// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What a commit group has done so far and the store does not have yet: the
// newest value of every key touched. Requests read through it, and at the end
// it is the store batch, each key once.
//
// Mark and RollBackTo undo one request without its neighbours.
//
// Point reads and writes go through a hash table, or, in the small groups that
// are most of them, along the few keys there are. The order of keys costs more
// than all of that, and few groups ask for it, so it is kept only from the
// first scan on.

#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "engine/known_keys.h"
#include "engine/storage/store.h"

namespace dovetail {

// Thread-compatible.
class Overlay {
 public:
  struct Pending {
    std::string key;
    std::optional<std::string> value;  // nullopt: deleted.
    bool dropped = false;              // Rolled back: as if not there.
  };
  // By key, so that a view of a key finds its place.
  struct ByKey {
    using is_transparent = void;
    static std::string_view Key(const Pending* p) { return p->key; }
    static std::string_view Key(std::string_view key) { return key; }
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return Key(a) < Key(b);
    }
  };
  using Ordered = absl::btree_set<const Pending*, ByKey>;

  // The pending value of the key (nullopt: deleted), or null if the group has
  // not touched it. Valid until the next change.
  const std::optional<std::string>* Find(std::string_view key) const {
    const Pending* pending = Locate(key);
    return pending == nullptr ? nullptr : &pending->value;
  }

  void Put(std::string key, std::string value) {
    Set(std::move(key), std::move(value));
  }
  void Delete(std::string key) { Set(std::move(key), std::nullopt); }

  // What is pending, ordered by key. Valid until the next change.
  const Ordered& InOrder() {
    if (!keep_order_) {
      for (const Pending& pending : pending_) {
        if (!pending.dropped) ordered_.insert(&pending);
      }
      keep_order_ = true;
    }
    return ordered_;
  }

  // The state to roll back to. Until the next Mark changes are undone to here
  // at the earliest, so what an empty overlay gets needs no undo records.
  size_t Mark() {
    undoable_ = live_ > 0;
    return undo_.size();
  }
  void RollBackTo(size_t mark) {
    if (!undoable_) {
      Clear();
      return;
    }
    for (; undo_.size() > mark; undo_.pop_back()) {
      Undo& undo = undo_.back();
      if (undo.before.has_value()) {
        undo.pending->value = *std::move(undo.before);
        continue;
      }
      if (hashed_) by_key_.erase(undo.pending->key);
      --live_;
      if (keep_order_) ordered_.erase(undo.pending);
      undo.pending->dropped = true;
    }
  }

  void Clear() {
    keys_before_ = pending_.size();
    by_key_.clear();  // Gives its memory back where it is large.
    ordered_.clear();
    pending_.clear();
    undo_.clear();
    live_ = 0;
    bytes_ = 0;
    undoable_ = false;
    hashed_ = false;
    keep_order_ = false;
  }
  // Of keys and values put, roughly: changes that were undone still count.
  size_t bytes() const { return bytes_; }

  // Calls visit(key, value) for each key, in no order; a value of nullopt is a
  // deletion.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const Pending& pending : pending_) {
      if (!pending.dropped) visit(pending.key, pending.value);
    }
  }

  // `known`, which may be null, is told of the keys that are put.
  void AppendTo(StoreBatch* batch, KnownKeys* known) const {
    for (const Pending& pending : pending_) {
      if (pending.dropped) continue;
      if (pending.value.has_value()) {
        if (known != nullptr) known->Add(pending.key);
        batch->Put(pending.key, *pending.value);
      } else {
        batch->Delete(pending.key);
      }
    }
  }

 private:
  struct Undo {
    Pending* pending;
    // What the key had before: nullopt if it was not in the overlay.
    std::optional<std::optional<std::string>> before;
  };

  // Keys up to which looking along them beats hashing.
  static constexpr size_t kSmall = 12;

  const Pending* Locate(std::string_view key) const {
    if (hashed_) {
      const auto it = by_key_.find(key);
      return it == by_key_.end() ? nullptr : it->second;
    }
    for (const Pending& pending : pending_) {
      if (!pending.dropped && pending.key == key) return &pending;
    }
    return nullptr;
  }
  Pending* Locate(std::string_view key) {
    return const_cast<Pending*>(std::as_const(*this).Locate(key));
  }

  void Set(std::string key, std::optional<std::string> value) {
    bytes_ += key.size() + (value ? value->size() : 0);
    if (Pending* pending = Locate(key); pending != nullptr) {
      if (undoable_) undo_.push_back({pending, std::move(pending->value)});
      pending->value = std::move(value);
      return;
    }
    Pending* pending =
        &pending_.emplace_back(Pending{std::move(key), std::move(value)});
    ++live_;
    if (hashed_) {
      by_key_.emplace(pending->key, pending);
    } else if (pending_.size() > kSmall) {
      hashed_ = true;
      by_key_.reserve(keys_before_);
      for (Pending& p : pending_) {
        if (!p.dropped) by_key_.emplace(p.key, &p);
      }
    }
    if (keep_order_) ordered_.insert(pending);
    if (undoable_) undo_.push_back({pending, std::nullopt});
  }

  std::deque<Pending> pending_;  // In order of arrival; addresses are stable.
  absl::flat_hash_map<std::string_view, Pending*> by_key_;  // If hashed_.
  Ordered ordered_;  // Only if keep_order_.
  std::vector<Undo> undo_;
  size_t keys_before_ = 0;  // Of the group before: this one's likely size.
  size_t live_ = 0;         // Keys that are not dropped.
  size_t bytes_ = 0;
  bool undoable_ = false;
  bool hashed_ = false;
  bool keep_order_ = false;
};

}  // namespace dovetail

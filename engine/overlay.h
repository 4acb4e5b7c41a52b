// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What a commit group has done so far and the store does not have yet: the
// newest value of every key touched. Requests read through it, and at the end
// it is the store batch, each key once.
//
// Mark and RollBackTo undo one request without its neighbours.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "base/strings.h"
#include "engine/storage/store.h"

namespace dovetail {

// Thread-compatible.
class Overlay {
 public:
  // By key; nullopt is a deletion. Transparent, so that views find strings.
  struct Less {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const {
      return a < b;
    }
  };
  using Map = absl::btree_map<std::string, std::optional<std::string>, Less>;

  // The pending value of the key (nullopt: deleted), or null if the group has
  // not touched it. Valid until the next change.
  const std::optional<std::string>* Find(std::string_view key) const {
    if (pending_.empty()) return nullptr;
    const auto it = pending_.find(key);
    return it == pending_.end() ? nullptr : &it->second;
  }

  void Put(std::string key, std::string value) {
    Set(std::move(key), std::move(value));
  }
  void Delete(std::string key) { Set(std::move(key), std::nullopt); }

  // The state to roll back to. Until the next Mark changes are undone to here
  // at the earliest, so what an empty overlay gets needs no undo records.
  size_t Mark() {
    undoable_ = !pending_.empty();
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
        pending_[undo.key] = *std::move(undo.before);
      } else {
        pending_.erase(undo.key);
      }
    }
  }

  void Clear() {
    pending_.clear();
    undo_.clear();
    bytes_ = 0;
    undoable_ = false;
  }
  bool empty() const { return pending_.empty(); }
  const Map& pending() const { return pending_; }
  // Of keys and values put, roughly: changes that were undone still count.
  size_t bytes() const { return bytes_; }

  void AppendTo(StoreBatch* batch) const {
    for (const auto& [key, value] : pending_) {
      if (value.has_value()) {
        batch->Put(key, *value);
      } else {
        batch->Delete(key);
      }
    }
  }

 private:
  struct Undo {
    std::string key;
    // What the key had before: nullopt if it was not in the overlay.
    std::optional<std::optional<std::string>> before;
  };

  void Set(std::string key, std::optional<std::string> value) {
    bytes_ += key.size() + (value ? value->size() : 0);
    const auto [it, fresh] = pending_.try_emplace(std::move(key));
    if (!undoable_) {
      // An empty overlay is the state to go back to.
    } else if (fresh) {
      undo_.push_back({it->first, std::nullopt});
    } else {
      undo_.push_back({it->first, std::move(it->second)});
    }
    it->second = std::move(value);
  }

  Map pending_;
  std::vector<Undo> undo_;
  bool undoable_ = false;
  size_t bytes_ = 0;
};

}  // namespace dovetail

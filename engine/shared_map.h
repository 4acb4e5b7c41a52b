// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// An ordered map of strings whose copies share what they have in common: one
// thread changes its copy while others read theirs. A copy costs nothing, a
// change the copy of one chunk of items and of the list of chunks.

#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dovetail {

// Thread-compatible: a copy may be read by many threads. Items are valid as
// long as a map that has them, unchanged, is there.
template <typename V>
class SharedMap {
 public:
  struct Item {
    std::string key;
    V value;
  };

 private:
  using Chunk = std::vector<Item>;  // Never empty.
  using Root = std::vector<std::shared_ptr<const Chunk>>;

 public:
  // A place in a map, which must stay as it is.
  class Iterator {
   public:
    Iterator() = default;
    bool Valid() const { return root_ != nullptr && chunk_ < root_->size(); }
    const Item& operator*() const { return (*(*root_)[chunk_])[item_]; }
    const Item* operator->() const { return &**this; }
    void Next() {
      if (++item_ < (*root_)[chunk_]->size()) return;
      ++chunk_;
      item_ = 0;
    }

   private:
    friend class SharedMap;
    Iterator(const Root* root, size_t chunk, size_t item)
        : root_(root), chunk_(chunk), item_(item) {}

    const Root* root_ = nullptr;
    size_t chunk_ = 0;
    size_t item_ = 0;
  };

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  Iterator Begin() const { return Iterator(root_.get(), 0, 0); }
  // The first item whose key is at least `key`.
  Iterator AtLeast(std::string_view key) const {
    if (empty()) return {};
    const size_t chunk = ChunkOf(key);
    const Chunk& items = *(*root_)[chunk];
    Iterator it(root_.get(), chunk, Lower(items, key) - 1);
    it.Next();  // From the one before, or from the end of a chunk.
    return it;
  }
  // The last item whose key is at most `key`; null if there is none.
  const Item* AtMost(std::string_view key) const {
    if (empty()) return nullptr;
    const Chunk& items = *(*root_)[ChunkOf(key)];
    const size_t at = Lower(items, key);
    if (at < items.size() && items[at].key == key) return &items[at];
    return at == 0 ? nullptr : &items[at - 1];
  }

  void Put(std::string key, V value) {
    if (empty()) {
      Chunk only;
      only.push_back({std::move(key), std::move(value)});
      root_ = std::make_shared<Root>(
          Root{std::make_shared<const Chunk>(std::move(only))});
      size_ = 1;
      return;
    }
    const size_t chunk = ChunkOf(key);
    Chunk items = *(*root_)[chunk];
    const size_t at = Lower(items, key);
    if (at < items.size() && items[at].key == key) {
      items[at].value = std::move(value);
    } else {
      items.insert(items.begin() + static_cast<std::ptrdiff_t>(at),
                   {std::move(key), std::move(value)});
      ++size_;
    }
    Replace(chunk, std::move(items));
  }

  void Erase(std::string_view key) {
    if (empty()) return;
    const size_t chunk = ChunkOf(key);
    const size_t at = Lower(*(*root_)[chunk], key);
    if (at == (*root_)[chunk]->size()) return;
    if ((*(*root_)[chunk])[at].key != key) return;
    Chunk items = *(*root_)[chunk];
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
    --size_;
    Replace(chunk, std::move(items));
  }

  // Keeps the items for which `keep`, which may change the value, is true.
  template <typename Keep>
  void Filter(Keep keep) {
    Root root;
    Chunk items;
    size_t size = 0;
    for (Iterator it = Begin(); it.Valid(); it.Next()) {
      Item item = *it;
      if (!keep(&item)) continue;
      items.push_back(std::move(item));
      ++size;
      if (items.size() < kChunkMax / 2) continue;
      root.push_back(std::make_shared<const Chunk>(std::move(items)));
      items = {};
    }
    if (!items.empty()) {
      root.push_back(std::make_shared<const Chunk>(std::move(items)));
    }
    root_ = std::make_shared<Root>(std::move(root));
    size_ = size;
  }

 private:
  static constexpr size_t kChunkMax = 64;

  static size_t Lower(const Chunk& items, std::string_view key) {
    return static_cast<size_t>(
        std::lower_bound(items.begin(), items.end(), key,
                         [](const Item& item, std::string_view wanted) {
                           return item.key < wanted;
                         }) -
        items.begin());
  }

  // The last chunk that begins at or before the key, or the first one.
  size_t ChunkOf(std::string_view key) const {
    const auto after = std::upper_bound(
        root_->begin(), root_->end(), key,
        [](std::string_view wanted, const std::shared_ptr<const Chunk>& chunk) {
          return wanted < chunk->front().key;
        });
    const auto n = static_cast<size_t>(after - root_->begin());
    return n == 0 ? 0 : n - 1;
  }

  void Replace(size_t chunk, Chunk items) {
    Root root = *root_;
    const auto at = root.begin() + static_cast<std::ptrdiff_t>(chunk);
    if (items.empty()) {
      root.erase(at);
    } else if (items.size() <= kChunkMax) {
      *at = std::make_shared<const Chunk>(std::move(items));
    } else {
      const auto middle =
          items.begin() + static_cast<std::ptrdiff_t>(items.size() / 2);
      Chunk second(std::make_move_iterator(middle),
                   std::make_move_iterator(items.end()));
      items.erase(middle, items.end());
      *at = std::make_shared<const Chunk>(std::move(items));
      root.insert(at + 1, std::make_shared<const Chunk>(std::move(second)));
    }
    root_ = std::make_shared<Root>(std::move(root));
  }

  std::shared_ptr<const Root> root_;
  size_t size_ = 0;
};

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "observers/space_saving.h"

#include <utility>

namespace dovetail::internal {

void SpaceSaving::Add(std::string_view key, double weight) {
  total_ += weight;
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    found->second->count += weight;
    SiftDown(found->second->place);
    return;
  }
  if (nodes_.size() < counters_max_) {
    Node* const node = nodes_.emplace_back(std::make_unique<Node>()).get();
    node->key = std::string(key);
    node->count = weight;
    node->place = heap_.size();
    heap_.push_back(node);
    by_key_.emplace(node->key, node);
    SiftUp(node->place);
    return;
  }
  Node* const smallest = heap_.front();
  by_key_.erase(smallest->key);
  smallest->key = std::string(key);
  by_key_.emplace(smallest->key, smallest);
  smallest->error = smallest->count;
  smallest->count += weight;
  SiftDown(0);
}

void SpaceSaving::Scale(double factor) {
  total_ *= factor;
  for (Node* const node : heap_) {
    node->count *= factor;
    node->error *= factor;
  }
}

std::vector<SpaceSaving::Counter> SpaceSaving::Counters() const {
  std::vector<Counter> all;
  all.reserve(heap_.size());
  for (const Node* const node : heap_) all.push_back(*node);
  return all;
}

void SpaceSaving::Swap(size_t a, size_t b) {
  std::swap(heap_[a], heap_[b]);
  heap_[a]->place = a;
  heap_[b]->place = b;
}

void SpaceSaving::SiftUp(size_t place) {
  while (place > 0 && Less(place, (place - 1) / 2)) {
    Swap(place, (place - 1) / 2);
    place = (place - 1) / 2;
  }
}

void SpaceSaving::SiftDown(size_t place) {
  while (true) {
    size_t least = place;
    for (size_t child = 2 * place + 1; child <= 2 * place + 2; ++child) {
      if (child < heap_.size() && Less(child, least)) least = child;
    }
    if (least == place) return;
    Swap(place, least);
    place = least;
  }
}

}  // namespace dovetail::internal

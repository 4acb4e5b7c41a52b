// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Field plans by field number: an array for the small numbers, which are
// nearly all there are, and a sorted list for the others.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "index/wire_format.h"

namespace dovetail::internal {

// T has a member `tag`: that of the field's number, 0 in a default T.
template <typename T>
class NumberTable {
 public:
  // REQUIRES: numbers ascend from call to call.
  void Add(T field) {
    const size_t number = wire::NumberOfTag(field.tag);
    if (number < kDenseMax) {
      dense_.resize(number + 1);
      dense_[number] = std::move(field);
    } else {
      sparse_.push_back(std::move(field));
    }
  }

  // A default T, with tag 0, for a number that was not added.
  const T& Find(uint32_t number) const {
    if (number < dense_.size()) [[likely]]
      return dense_[number];
    return FindSparse(number);
  }

 private:
  static constexpr size_t kDenseMax = 128;

  const T& FindSparse(uint32_t number) const {
    static constexpr T kNone;
    const auto it =
        std::lower_bound(sparse_.begin(), sparse_.end(), number,
                         [](const T& field, uint32_t wanted) {
                           return wire::NumberOfTag(field.tag) < wanted;
                         });
    const bool found =
        it != sparse_.end() && wire::NumberOfTag(it->tag) == number;
    return found ? *it : kNone;
  }

  std::vector<T> dense_;   // By field number, from 0.
  std::vector<T> sparse_;  // The others, by ascending number.
};

}  // namespace dovetail::internal

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The level of a message that a patch works on, as items: one for each field
// on the wire, read, reduced to what counts in the parsed message, and written
// again. Internal to WirePatch.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "index/patch_plan.h"
#include "index/wire_format.h"

namespace dovetail::internal {

struct Item {
  uint32_t number() const { return wire::NumberOfTag(tag); }
  bool is_single() const { return field != nullptr && !field->is_repeated; }

  uint32_t tag = 0;
  // Members of a oneof count if the generation is the oneof's last one.
  uint32_t generation = 0;
  // Null if the parser takes it for unknown: no such number, another wire
  // type, or a value that a closed enum does not have.
  const PatchField* field = nullptr;
  // The value: an integer, or a text, or what is inside a message or group.
  uint64_t bits = 0;
  std::string_view body;
  // All of it, tag included, if it was written in the shortest form and
  // without bits that a parser drops or changes; else empty.
  std::string_view whole;
};

using Items = absl::InlinedVector<Item, 16>;

// The bytes of one message, in as many parts as it was written in.
using Parts = absl::InlinedVector<std::string_view, 2>;

// The order of items in the result. Known ones go before unknown ones of the
// same number, whatever the order they came in: that has no meaning to a
// parser.
inline bool Precedes(const Item& a, const Item& b) {
  if (a.number() != b.number()) return a.number() < b.number();
  return a.field != nullptr && b.field == nullptr;
}

template <typename Predicate>
void EraseIf(Items* items, Predicate predicate) {
  items->erase(std::remove_if(items->begin(), items->end(), predicate),
               items->end());
}

// Which of the two messages of a patch the parts are of.
enum class PatchSide : uint8_t {
  kRecord,  // All but kTaken fields are wanted.
  kValues,  // Known fields that are kTaken or kMixed are wanted.
};

// Replaces `items` by the wanted ones of a message, in the order of Precedes:
// no scalar that a later one replaces, no oneof member that a later one
// clears, nothing that sets nothing. InvalidArgument, with the offset in its
// part, for a field that is malformed.
absl::Status ReadItems(const PatchPlan& plan, const PatchMessage& message,
                       PatchSide side, std::span<const std::string_view> parts,
                       Items* items);

// Appends items to a string, and neighbours on the wire in one piece.
class ItemWriter {
 public:
  explicit ItemWriter(std::string* out) : out_(*out) {}

  void Write(const Item& item) {
    if (item.whole.empty()) {
      Flush();
      WriteAnew(item);
    } else if (run_.data() + run_.size() == item.whole.data()) {
      run_ = std::string_view(run_.data(), run_.size() + item.whole.size());
    } else {
      Flush();
      run_ = item.whole;
    }
  }

  // To be called before others append to the string, and at the end.
  void Flush() {
    if (!run_.empty()) out_.append(run_);
    run_ = std::string_view();
  }

 private:
  void WriteAnew(const Item& item);

  std::string& out_;
  std::string_view run_;
};

}  // namespace dovetail::internal

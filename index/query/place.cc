// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A search walks the order field by field, then the row key part by part. What
// the range has the same value for in all its keys is compared with the place:
// if it differs, all keys that start like the key so far are before the place
// or behind it. What the range has not fixed extends the key by the place's
// value.

#include "index/query/place.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/status_macros.h"

namespace dovetail {
namespace {

using Transform = KeyPart::Transform;

}  // namespace

absl::Status ReadPlaces::OrderKeyOf(std::string_view key,
                                    std::string* out) const {
  out->clear();
  if (order_.empty()) return absl::OkStatus();
  const std::vector<const KeyPart*>& parts = read_.access.entry_parts;
  const std::vector<int>& at = read_.order.parts;
  const int last = *std::max_element(at.begin(), at.end());
  absl::InlinedVector<std::string_view, 12> slices;
  for (int i = 0; i <= last; ++i) {
    ASSIGN_OR_RETURN(const std::string_view bytes,
                     ConsumeKeyPart(*parts[static_cast<size_t>(i)], &key));
    slices.push_back(bytes);
  }
  for (size_t k = 0; k < order_.size(); ++k) {
    if (at[k] < 0) {
      out->append(read_.constants[k]);
      continue;
    }
    const auto part = static_cast<size_t>(at[k]);
    ASSIGN_OR_RETURN(const Value value,
                     DecodeKeyPart(*parts[part], slices[part]));
    ASSIGN_OR_RETURN(const FieldValue field,
                     ToFieldValue(value, parts[part]->type()));
    AppendSortKey(order_[k].sort, field, out);
  }
  return absl::OkStatus();
}

absl::Status ReadPlaces::RowKeyOf(std::string_view key, std::string_view value,
                                  std::string* out) const {
  if (read_.access.index < 0) {
    out->assign(key);
    return absl::OkStatus();
  }
  return table_.indexes()[static_cast<size_t>(read_.access.index)].RowKeyOf(
      key, value, out);
}

// One search in one range.
class ReadPlaces::Search {
 public:
  Search(const ReadPlaces& places, const AccessRange& range)
      : table_(places.table_),
        order_(places.order_),
        read_(places.read_),
        parts_(places.read_.access.entry_parts),
        range_(range),
        key_(range.keys.prefix),
        next_(range.parts_bound) {
    values_.resize(table_.fields().size());
    known_.assign(table_.fields().size(), false);
  }

  absl::StatusOr<std::optional<std::string>> Run(const RowPlace& place) {
    RETURN_IF_ERROR(DecodePrefix());
    RETURN_IF_ERROR(WalkOrder(place.order_key));
    if (!done_) {
      RETURN_IF_ERROR(WalkRowKey(place.row_key));
    }
    if (nothing_) return std::nullopt;
    return std::move(key_);
  }

 private:
  absl::Status Know(int field, FieldType type, Value value) {
    storage_.push_back(std::move(value));
    const auto f = static_cast<size_t>(field);
    ASSIGN_OR_RETURN(values_[f], ToFieldValue(storage_.back(), type));
    known_[f] = true;
    return absl::OkStatus();
  }

  absl::Status DecodePrefix() {
    std::string_view rest = range_.keys.prefix;
    for (size_t i = 0; i < range_.parts_bound; ++i) {
      ASSIGN_OR_RETURN(const std::string_view bytes,
                       ConsumeKeyPart(*parts_[i], &rest));
      prefix_parts_.push_back(bytes);
      if (parts_[i]->computed()) continue;
      ASSIGN_OR_RETURN(Value value, DecodeKeyPart(*parts_[i], bytes));
      RETURN_IF_ERROR(
          Know(parts_[i]->inputs[0], parts_[i]->type(), std::move(value)));
    }
    return absl::OkStatus();
  }

  // All keys that start with `key_` are on one side of the place.
  void Decide(int order) {
    done_ = true;
    if (order > 0) return;
    key_ = PrefixEnd(key_);
    nothing_ = key_.empty();
  }

  bool Determined(const KeyPart& part) const {
    return part.transform != Transform::kSalt && !part.inputs.empty() &&
           std::all_of(part.inputs.begin(), part.inputs.end(), [&](int f) {
             return f >= 0 && known_[static_cast<size_t>(f)];
           });
  }

  // False: the key ends here, which is before the place.
  bool AppendDetermined() {
    for (; next_ < parts_.size() && Determined(*parts_[next_]); ++next_) {
      if (!AppendKeyPart(*parts_[next_], values_, 0, &key_).ok()) return false;
    }
    return next_ < parts_.size();
  }

  absl::Status WalkOrder(std::string_view order_key) {
    for (size_t k = 0; k < order_.size() && !done_; ++k) {
      const SortField& sort = order_[k].sort;
      const std::string_view before = order_key;
      FieldValue wanted;
      texts_.emplace_back();
      RETURN_IF_ERROR(
          ConsumeSortKey(sort, &order_key, &wanted, &texts_.back()));
      const std::string_view wanted_bytes =
          before.substr(0, before.size() - order_key.size());
      const int part = read_.order.parts[k];
      if (part < 0) {
        CompareFixed(read_.constants[k], wanted_bytes);
        continue;
      }
      const KeyPart& at = *parts_[static_cast<size_t>(part)];
      const auto field = static_cast<size_t>(at.inputs[0]);
      if (known_[field]) {
        std::string bytes;
        AppendSortKey(sort, values_[field], &bytes);
        CompareFixed(bytes, wanted_bytes);
        continue;
      }
      if (!AppendDetermined()) {
        done_ = true;
        return absl::OkStatus();
      }
      std::string longer = key_;
      if (!AppendKeyPartValue(*parts_[next_], wanted, &longer).ok()) {
        // A value that this part has no form for: a place from another read.
        done_ = true;
        return absl::OkStatus();
      }
      key_ = std::move(longer);
      ++next_;
      values_[field] = wanted;
      known_[field] = true;
    }
    return absl::OkStatus();
  }

  void CompareFixed(std::string_view have, std::string_view wanted) {
    const int order = have.compare(wanted);
    if (order != 0) Decide(order);
  }

  absl::Status WalkRowKey(std::string_view row_key) {
    const std::vector<KeyPart>& row_parts = table_.row_key().parts();
    for (size_t r = 0; r < row_parts.size() && !done_; ++r) {
      ASSIGN_OR_RETURN(const std::string_view wanted,
                       ConsumeKeyPart(row_parts[r], &row_key));
      std::string have;
      if (FixedPart(row_parts[r], &have)) {
        CompareFixed(have, wanted);
        continue;
      }
      if (!AppendDetermined()) {
        done_ = true;
        continue;
      }
      RETURN_IF_ERROR(AppendRowPart(row_parts[r], wanted));
    }
    return absl::OkStatus();
  }

  // The part's bytes where all keys of the range have the same.
  bool FixedPart(const KeyPart& row_part, std::string* out) const {
    for (size_t i = 0; i < range_.parts_bound; ++i) {
      if (*parts_[i] == row_part) {
        out->assign(prefix_parts_[i]);
        return true;
      }
    }
    return Determined(row_part) &&
           AppendKeyPart(row_part, values_, 0, out).ok();
  }

  // Appends the place's value of a row-key part, in the form it has here.
  absl::Status AppendRowPart(const KeyPart& row_part, std::string_view bytes) {
    const KeyPart& part = *parts_[next_++];
    if (!row_part.computed()) {
      ASSIGN_OR_RETURN(Value value, DecodeKeyPart(row_part, bytes));
      RETURN_IF_ERROR(
          Know(row_part.inputs[0], row_part.type(), std::move(value)));
    }
    if (part == row_part) {
      key_.append(bytes);
      return absl::OkStatus();
    }
    std::string longer = key_;
    if (row_part.computed() ||
        !AppendKeyPartValue(
             part, values_[static_cast<size_t>(row_part.inputs[0])], &longer)
             .ok()) {
      done_ = true;
      return absl::OkStatus();
    }
    key_ = std::move(longer);
    return absl::OkStatus();
  }

  const CompiledTable& table_;
  const std::vector<OrderField>& order_;
  const PlanRead& read_;
  const std::vector<const KeyPart*>& parts_;
  const AccessRange& range_;

  std::string key_;
  size_t next_;  // The part behind `key_`.
  bool done_ = false;
  bool nothing_ = false;
  std::vector<std::string_view> prefix_parts_;
  // What all keys that start with `key_` have, by field.
  std::vector<FieldValue> values_;
  std::vector<bool> known_;
  std::deque<Value> storage_;  // What values_ view.
  std::deque<std::string> texts_;
};

absl::StatusOr<std::optional<std::string>> ReadPlaces::Find(
    const AccessRange& range, const RowPlace& place) const {
  return Search(*this, range).Run(place);
}

}  // namespace dovetail

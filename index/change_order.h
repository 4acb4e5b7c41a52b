// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Changes that arrive late, twice or out of order: which parts of a row and of
// a change to it are the newer ones. Whatever the order in which a set of
// changes arrives, the row comes to be the same, byte for byte.
//
// Each group of fields is a register whose last writer wins: the larger value
// of its ordering field; of equal ones, so that it is decided, the group with
// the larger bytes.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/v1/schema.pb.h"
#include "dovetail/value.h"
#include "google/protobuf/descriptor.h"
#include "index/extractor.h"
#include "index/wire_patch.h"

namespace dovetail {

// Immutable, thread-safe.
class ChangeOrder {
 public:
  // InvalidArgument names what is wrong. `record` need not outlive it.
  static absl::StatusOr<ChangeOrder> Compile(
      const google::protobuf::Descriptor& record, const v1::ChangeOrder& order);

  // The row that has the newer of each group; nullopt if `change` has nothing
  // newer. Both must be records of the type.
  absl::StatusOr<std::optional<std::string>> Merge(
      std::string_view stored, std::string_view change) const;
  // `record` with its fields in the order of a merged one.
  absl::StatusOr<std::string> Canonical(std::string_view record) const;

  // InvalidArgument if a patch of these paths changes fields of a group and
  // not the field that orders it.
  absl::Status CheckPatch(const std::vector<std::string>& paths) const;

  bool remembers_deletes() const { return remembers_deletes_; }
  // Of the whole record: bytes that compare as the values of the ordering
  // field do; empty if it is null.
  absl::StatusOr<std::string> OrderOf(std::string_view record) const;
  // The same of a value of that field. InvalidArgument if it is none.
  absl::StatusOr<std::string> OrderOf(const Value& value) const;

 private:
  struct Group {
    std::string order_by;
    std::vector<std::string> fields;
    WirePatch patch;  // Takes the group's fields, the ordering one included.
  };

  ChangeOrder(Extractor orders, WirePatch canonical);

  absl::StatusOr<std::vector<std::string>> OrdersOf(
      std::string_view record) const;
  // What no group has.
  absl::StatusOr<std::string> Rest(std::string_view record) const;
  // Whether `change` has the newer group, by its order or else its bytes.
  absl::StatusOr<bool> IsNewer(const std::string& stored_order,
                               const std::string& change_order,
                               const Group* group, std::string_view stored,
                               std::string_view change) const;

  Extractor orders_;     // Of the whole record, then of each group.
  WirePatch canonical_;  // Takes a field from where it is already.
  std::string order_by_;
  std::vector<Group> groups_;
  std::optional<WirePatch> grouped_;  // Takes all groups' fields; if any.
  bool remembers_deletes_ = false;
};

}  // namespace dovetail

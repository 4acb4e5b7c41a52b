// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// StatusRules, compiled: what a record says, and what may follow what. Knows
// nothing of hooks and requests.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/observers.h"
#include "google/protobuf/descriptor.h"
#include "index/extractor.h"
#include "index/field_value.h"

namespace dovetail::internal {

// Thread-compatible.
class CompiledStatusRules {
 public:
  // `record` need not outlive the result. Errors as StatusGuard::Create's.
  static absl::StatusOr<CompiledStatusRules> Compile(
      const google::protobuf::Descriptor& record, const StatusRules& rules);

  // What the rules need to know of one record. Texts view the record.
  struct Image {
    const FieldValue& status() const { return fields[0]; }
    int declared = -1;  // The status's place in the rules; -1: in none.
    // The status, then the identity.
    absl::InlinedVector<FieldValue, 4> fields;
  };
  // DataLoss if `bytes` are no record.
  absl::StatusOr<Image> Read(std::string_view bytes) const;

  bool MayBegin(const Image& image) const;
  bool MayMove(const Image& from, const Image& to) const;
  bool MayEnd(const Image& image) const;
  bool KnowsBoth(const Image& from, const Image& to) const {
    return from.declared >= 0 && to.declared >= 0;
  }
  bool allow_unknown() const { return allow_unknown_; }

  // "SHIPPED", "17", "null".
  std::string NameOf(const Image& image) const;
  // `order_id="o-7"`, with a space in front; empty without an identity.
  std::string DescribeIdentity(const Image& image) const;

  bool has_identity() const { return extractor_.fields().size() > 1; }
  // Equal for two images if and only if their identities are.
  std::string IdentityOf(const Image& image) const;

 private:
  struct Declared {
    bool Is(const FieldValue& v) const {
      return value.is_null == v.is_null && value.bits == v.bits &&
             text == v.text;
    }
    FieldValue value;  // Its text is empty.
    std::string text;
    bool initial = false;
    bool deletable = true;
    std::vector<bool> to = {};  // By place of the other status.
  };

  explicit CompiledStatusRules(Extractor extractor)
      : extractor_(std::move(extractor)) {}

  // The place of `status`, which is added if it is new.
  absl::StatusOr<size_t> Declare(const Value& status);
  absl::Status DeclareAll(const StatusRules& rules);
  int Find(const FieldValue& status) const;

  Extractor extractor_;
  bool allow_unknown_ = false;
  bool any_deletable_ = true;
  std::vector<Declared> declared_;
  // Of an enum; by number, the first of several.
  absl::flat_hash_map<int64_t, std::string> enum_names_;
  absl::flat_hash_map<std::string, int64_t> enum_numbers_;
};

}  // namespace dovetail::internal

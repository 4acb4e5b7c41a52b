// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Field values as bytes that compare like the values: what filters test, and
// what a query's order is made of. Unlike a key part's encoding it takes every
// value a record can hold.

#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "index/field_value.h"

namespace dovetail {

// The bytes of a value: of strings their own, of others 1 to 12 in `*buffer`,
// which the result may view. Bytewise order is the order of the values: -0.0
// is 0.0, every NaN one value above infinity.
// REQUIRES: !value.is_null.
std::string_view SortableBytes(FieldType type, const FieldValue& value,
                               std::string* buffer);

// The way back; strings view `bytes`. InvalidArgument for bytes that
// SortableBytes does not make.
absl::StatusOr<FieldValue> FromSortableBytes(FieldType type,
                                             std::string_view bytes);

// One field of an order.
struct SortField {
  FieldType type = FieldType::kBool;
  bool descending = false;
  bool nulls_last = false;  // In scan order.
};

// Appends the field to a sort key: self-delimiting, so that keys of several
// fields compare field by field.
void AppendSortKey(const SortField& field, const FieldValue& value,
                   std::string* out);

// Takes one field from the front of a sort key; strings go to `*storage`,
// which the value then views. InvalidArgument if it is not of this form.
absl::Status ConsumeSortKey(const SortField& field, std::string_view* key,
                            FieldValue* value, std::string* storage);

}  // namespace dovetail

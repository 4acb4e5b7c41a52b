// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The numbers that stand for values in TEXT keys: integers, enums and times.
// Internal to the key codec.

#pragma once

#include "absl/status/statusor.h"
#include "index/field_value.h"
#include "index/key_part.h"
#include "index/ordered_codec.h"

namespace dovetail {

// Whether the part's text is the number of one field, in its order or in the
// opposite one.
bool IsTextNumber(const KeyPart& part);

// The number of a value of `type`, not yet that of a DESC part. InvalidArgument
// if the part's unit of time has none.
absl::StatusOr<SignedMagnitude> TextNumberOf(const KeyPart& part,
                                             FieldType type,
                                             const FieldValue& value);

// From the number in the key, that of a DESC part included, to the part's
// field; false if no value has it.
bool FromTextNumber(const KeyPart& part, SignedMagnitude v, Value* value);

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Ranges over a column of a TEXT row key.

#pragma once

#include "absl/status/status.h"
#include "dovetail/read.h"
#include "index/key_layout.h"

namespace dovetail {

// Narrows `out`, the keys that start with out->prefix, to those whose next
// part, `part`, holds a value in `range`. InvalidArgument if the part's texts
// do not sort like its values (the message says what would), or if a bound has
// no text.
// REQUIRES: part.is_text, and it holds `column`.
absl::Status ApplyTextRange(const Range& range, const KeyPart& part,
                            const Column& column, KeyRange* out);

// Whether the part's texts sort like its values. REQUIRES: part.is_text.
bool TextKeepsOrder(const KeyPart& part);

}  // namespace dovetail

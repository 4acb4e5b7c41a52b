// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The parts of a key in one line, as people write them:
//
//   hash(seller_id) seller_id ts_ms:desc order_id
//
//   FIELD                                 the value itself
//   reverse(FIELD)                        its characters reversed
//   hash(FIELD,...[;ALGORITHM][;BYTES])   without them xxh3 and 4 bytes
//   bucket(FIELD,...[;ALGORITHM];COUNT)
//   salt(COUNT)
//   sub_bucket(FIELD,FIELD,...[;ALGORITHM];COUNT;VALUE|VALUE|...)
//   decimal(FIELD;DIGITS)
//   time32(FIELD[;s|ms|us])               without it s
//   enum(FIELD[;BYTES])                   without it 1
//   varint(FIELD)
//
// each followed by any of :desc :asc :nulls_first :nulls_last. Parts stand
// apart by spaces or commas. In a listed VALUE, a backslash stands before each
// of | ; ) and \. proto/dovetail/v1/schema.proto says what the forms mean.

#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/v1/schema.pb.h"

namespace dovetail::cli {

using KeyParts = google::protobuf::RepeatedPtrField<v1::KeyPart>;

// UsageError names the part and what is wrong with it. Fields and numbers are
// for the engine to check.
absl::StatusOr<KeyParts> ParseKeyText(std::string_view text);

// Parses back to the same parts.
std::string KeyText(const KeyParts& parts);

// "value", "unique", "count" or "sum".
std::string_view KindName(v1::IndexSchema::Kind kind);

}  // namespace dovetail::cli

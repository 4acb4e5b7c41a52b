// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Every limit of the engine in one place. What is at the limit is accepted,
// what is one over it is refused with the code named here, and leaves no
// trace.

#pragma once

#include <cstddef>
#include <cstdint>

namespace dovetail {

struct Limits {
  // Encoded row key or index entry key. InvalidArgument.
  size_t key_bytes_max = 4096;
  // Keys longer than this are counted in Stats as a warning: they cost memory
  // in every entry and every cache.
  size_t key_bytes_warn = 100;
  // One serialized record. InvalidArgument.
  size_t record_bytes_max = 1 << 20;
  // Keys and records of one request, before the engine adds index entries.
  // ResourceExhausted.
  size_t request_bytes_max = 4 << 20;
  // Mutations in one request, those added by observers included.
  // ResourceExhausted.
  size_t request_mutations_max = 10'000;
  // Rows that one mutation addressed by index values may match.
  // ResourceExhausted.
  size_t match_rows_max = 10'000;
  // Requests are grouped into one commit until it holds this many bytes.
  size_t group_bytes_max = 1 << 20;
  // Values in ScanRequest::any_of times salts: streams of one merge.
  // InvalidArgument.
  size_t merge_streams_max = 1024;
  // Rows of one page are cut at this many bytes, whatever the limit.
  size_t page_bytes_max = 16 << 20;
};

// Bounds of the schema language. InvalidArgument.
inline constexpr size_t kTablesMax = 1000;
inline constexpr size_t kIndexesPerTableMax = 64;
inline constexpr size_t kKeyPartsMax = 32;
inline constexpr size_t kNameBytesMax = 64;
inline constexpr size_t kIndexTestsMax = 32;         // Of one predicate.
inline constexpr size_t kIndexTestValuesMax = 1000;  // In all of them.
inline constexpr size_t kIndexTestBytesMax = 64 << 10;
inline constexpr size_t kCoveringFieldsMax = 64;
inline constexpr size_t kFanOutDefault = 100;  // Elements of one row.
inline constexpr size_t kFanOutMax = 10'000;

}  // namespace dovetail

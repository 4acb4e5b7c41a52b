// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The hash functions of schema.proto's HashAlgorithm. Their output is part of
// the format on disk: golden vectors in tests/index/hash_test.cc pin it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dovetail/v1/schema.pb.h"

namespace dovetail {

// Bytes the algorithm produces; 0 for an unspecified or unknown one, and for
// one that the cryptography library is configured not to offer. Schemas that
// name such an algorithm must be refused before anything is hashed.
size_t HashSize(v1::HashAlgorithm algorithm);

// Appends the first `bytes` bytes of the hash of `data`, integers big-endian.
// `data` may be a view of `*out`.
// REQUIRES: 1 <= bytes <= HashSize(algorithm).
void AppendHash(v1::HashAlgorithm algorithm, std::string_view data,
                size_t bytes, std::string* out);

// The hash of `data` modulo `count`, in [0, count) for every input: the first
// eight (or all, if fewer) bytes as an unsigned big-endian integer, except
// JAVA_STRING, which is Math.floorMod(hashCode, count).
// REQUIRES: count >= 1 and HashSize(algorithm) > 0.
uint32_t HashBucket(v1::HashAlgorithm algorithm, std::string_view data,
                    uint32_t count);

// The bucket that Java code of the usual forms computes; see BucketForm. In
// [0, count), but for ABS_MOD of the least int or long, which gives
// LeastAbsMod.
// REQUIRES: count >= 1; HashSize(algorithm) is 4 or 8 for the forms that take
// Java's integer, and not 0 for the others.
int64_t HashBucketAs(v1::KeyPart::Text::BucketForm form,
                     v1::HashAlgorithm algorithm, std::string_view data,
                     uint32_t count);

// What Math.abs(h) % count is where Math.abs(h) is negative; 0 if that cannot
// be.
int64_t LeastAbsMod(v1::HashAlgorithm algorithm, uint32_t count);

// java.lang.String.hashCode over the UTF-16 form of UTF-8 `text`; an invalid
// byte sequence counts as U+FFFD, as Java's decoder has it.
int32_t JavaStringHash(std::string_view text);

}  // namespace dovetail

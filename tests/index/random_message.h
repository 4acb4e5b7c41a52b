// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Random messages and random wire bytes of any message type, for tests that
// compare what reads bytes with the generated parsers.

#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace dovetail::test {

using Random = std::mt19937_64;

// DOVETAIL_SEED, or `fallback`; printed.
uint64_t SeedFromEnvironment(uint64_t fallback);

// In [0, bound). REQUIRES: bound > 0.
uint64_t Uniform(Random& random, uint64_t bound);
bool OneIn(Random& random, uint64_t n);

// Sets about half of the fields, required ones always.
void FillRandom(Random& random, google::protobuf::Message* message,
                int depth_max = 3);

// Fields of the type, most of them as declared, in any order and number, with
// overlong integers, other wire types, unknown fields and texts that are not
// UTF-8 among them.
std::string RandomWire(Random& random, const google::protobuf::Descriptor& type,
                       int depth);

// Flips, cuts, inserts, repeats or moves some bytes.
void DamageBytes(Random& random, std::string* bytes);

// The fields of the top level, each with its tag. Empty if malformed.
std::vector<std::string> SplitFields(std::string_view bytes);

// The message's bytes, the same in every run; required fields may be missing.
std::string Serialize(const google::protobuf::Message& message);

// Equal for messages that hold the same, unknown fields included. Of those
// only the order among equal numbers counts.
std::string Fingerprint(const google::protobuf::Message& message);

}  // namespace dovetail::test

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What an error of the engine says besides its code, for programs. The message
// says the same to people; its words may change.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace dovetail {

// The position in its batch, from 0, of the mutation that Engine::Write
// refused. nullopt if the request was refused as a whole.
std::optional<size_t> FailedMutation(const absl::Status& status);

// The message without the words that say which mutation it was.
std::string MutationCause(const absl::Status& status);

// Engine::Open: the database is open already. The process that has it, 0 if
// that is not known; nullopt for any other error.
std::optional<int64_t> InUseByProcess(const absl::Status& status);

}  // namespace dovetail

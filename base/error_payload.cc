// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "base/error_payload.h"

#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/optional.h"
#include "dovetail/errors.h"

namespace dovetail {
namespace {

constexpr char kMutation[] = "dovetail/failed_mutation";
constexpr char kHolder[] = "dovetail/holder_pid";

template <typename T>
std::optional<T> NumberIn(const absl::Status& status, const char* payload) {
  const absl::optional<absl::Cord> text = status.GetPayload(payload);
  T number = 0;
  if (!text.has_value() || !absl::SimpleAtoi(std::string(*text), &number)) {
    return std::nullopt;
  }
  return number;
}

// People count from 1.
std::string Prefix(size_t position) {
  return absl::StrCat("mutation ", position + 1, ": ");
}

}  // namespace

absl::Status FailedMutationError(const absl::Status& cause, size_t position) {
  absl::Status status(cause.code(),
                      absl::StrCat(Prefix(position), cause.message()));
  status.SetPayload(kMutation, absl::Cord(absl::StrCat(position)));
  return status;
}

absl::Status WithHolder(absl::Status status, int64_t pid) {
  status.SetPayload(kHolder, absl::Cord(absl::StrCat(pid)));
  return status;
}

std::optional<size_t> FailedMutation(const absl::Status& status) {
  return NumberIn<size_t>(status, kMutation);
}

std::string MutationCause(const absl::Status& status) {
  absl::string_view message = status.message();
  const std::optional<size_t> position = FailedMutation(status);
  if (position.has_value()) absl::ConsumePrefix(&message, Prefix(*position));
  return std::string(message);
}

std::optional<int64_t> InUseByProcess(const absl::Status& status) {
  return NumberIn<int64_t>(status, kHolder);
}

}  // namespace dovetail

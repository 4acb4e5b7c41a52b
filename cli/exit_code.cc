// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/exit_code.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "base/strings.h"

namespace dovetail::cli {
namespace {

constexpr char kPayload[] = "dovetail.cli/exit_code";

absl::Status WithMessage(const absl::Status& status, std::string message) {
  absl::Status changed(status.code(), message);
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    changed.SetPayload(url, payload);
  });
  return changed;
}

}  // namespace

absl::Status WithExitCode(absl::Status status, ExitCode code) {
  status.SetPayload(kPayload, absl::Cord(absl::StrCat(static_cast<int>(code))));
  return status;
}

absl::Status WithHint(const absl::Status& status, std::string_view hint) {
  return WithMessage(status,
                     absl::StrCat(status.message(), "\n  ", ToAbsl(hint)));
}

absl::Status WithContext(std::string_view context, const absl::Status& status) {
  return WithMessage(status,
                     absl::StrCat(ToAbsl(context), ": ", status.message()));
}

absl::Status UsageError(std::string_view message) {
  return WithExitCode(absl::InvalidArgumentError(ToAbsl(message)),
                      ExitCode::kUsage);
}

absl::Status InterruptedError(std::string_view message) {
  return WithExitCode(absl::CancelledError(ToAbsl(message)),
                      ExitCode::kInterrupted);
}

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return ExitCode::kDone;
  int code = 0;
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayload);
  if (payload.has_value() && absl::SimpleAtoi(std::string(*payload), &code)) {
    return static_cast<ExitCode>(code);
  }
  return ExitCode::kFailed;
}

}  // namespace dovetail::cli

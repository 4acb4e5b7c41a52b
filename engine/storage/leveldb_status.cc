// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/storage/leveldb_status.h"

#include <string>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/strings.h"

namespace dovetail {
namespace {

// The codes that travel inside an IOError.
constexpr absl::StatusCode kCarried[] = {
    absl::StatusCode::kPermissionDenied,
    absl::StatusCode::kResourceExhausted,
    absl::StatusCode::kFailedPrecondition,
    absl::StatusCode::kUnavailable,
};

absl::Status FromIoError(absl::string_view message) {
  absl::ConsumePrefix(&message, "IO error: ");
  for (const absl::StatusCode code : kCarried) {
    absl::string_view rest = message;
    if (absl::ConsumePrefix(&rest, absl::StatusCodeToString(code)) &&
        absl::ConsumePrefix(&rest, ": ")) {
      return absl::Status(code, rest);
    }
  }
  return absl::InternalError(message);
}

}  // namespace

absl::Status FromLevelDb(const leveldb::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const std::string message = status.ToString();
  if (status.IsCorruption()) return absl::DataLossError(message);
  if (status.IsNotFound()) return absl::NotFoundError(message);
  if (status.IsInvalidArgument()) return absl::InvalidArgumentError(message);
  if (status.IsNotSupportedError()) return absl::UnimplementedError(message);
  return FromIoError(message);
}

leveldb::Status ToLevelDb(const absl::Status& status) {
  if (status.ok()) return leveldb::Status::OK();
  const leveldb::Slice message = ToSlice(ToStd(status.message()));
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return leveldb::Status::NotFound(message);
    case absl::StatusCode::kDataLoss:
      return leveldb::Status::Corruption(message);
    case absl::StatusCode::kInvalidArgument:
      return leveldb::Status::InvalidArgument(message);
    case absl::StatusCode::kUnimplemented:
      return leveldb::Status::NotSupported(message);
    default:
      break;
  }
  for (const absl::StatusCode code : kCarried) {
    if (status.code() != code) continue;
    return leveldb::Status::IOError(absl::StatusCodeToString(code), message);
  }
  return leveldb::Status::IOError(message);
}

}  // namespace dovetail

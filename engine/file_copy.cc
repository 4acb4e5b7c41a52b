// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/file_copy.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail {
namespace {

constexpr uint64_t kChunkBytes = 1 << 20;

absl::Status RemoveFiles(FileSystem* file_system, const std::string& directory,
                         int levels) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names,
                   file_system->List(directory));
  for (const std::string& name : names) {
    const std::string path = absl::StrCat(directory, "/", name);
    absl::Status removed = file_system->Delete(path);
    if (!removed.ok() && levels > 0) {
      removed = RemoveFiles(file_system, path, levels - 1);
    }
    RETURN_IF_ERROR(removed);
  }
  return file_system->DeleteDirectory(directory);
}

}  // namespace

absl::StatusOr<uint64_t> CopyFile(FileSystem* file_system,
                                  const std::string& from,
                                  const std::string& to,
                                  std::optional<uint64_t> bytes) {
  ASSIGN_OR_RETURN(const auto in, file_system->NewSequentialFile(from));
  ASSIGN_OR_RETURN(const auto out, file_system->NewWritableFile(to));
  const auto buffer = std::make_unique<char[]>(kChunkBytes);
  uint64_t done = 0;
  while (!bytes.has_value() || done < *bytes) {
    const uint64_t wanted =
        bytes.has_value() ? std::min(kChunkBytes, *bytes - done) : kChunkBytes;
    ASSIGN_OR_RETURN(const size_t got, in->Read(wanted, buffer.get()));
    if (got == 0) break;
    RETURN_IF_ERROR(out->Append({buffer.get(), got}));
    done += got;
  }
  if (bytes.has_value() && done < *bytes) {
    return absl::DataLossError(absl::StrCat(
        "a file ends before it should: file=", ToAbsl(Quote(from, 1024)),
        " bytes=", done, " expected=", *bytes));
  }
  RETURN_IF_ERROR(out->Sync());
  RETURN_IF_ERROR(out->Close());
  return done;
}

absl::Status RemoveDirectory(FileSystem* file_system,
                             const std::string& directory) {
  ASSIGN_OR_RETURN(const bool exists, file_system->Exists(directory));
  if (!exists) return absl::OkStatus();
  return RemoveFiles(file_system, directory, /*levels=*/1);
}

}  // namespace dovetail

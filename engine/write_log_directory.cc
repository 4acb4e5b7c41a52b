// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/write_log_directory.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/write_log_format.h"

namespace dovetail {
namespace {

constexpr char kLost[] = "lost";
constexpr size_t kLogCopyBytes = 64 << 10;

// A name that is not taken below lost/, which it creates.
absl::StatusOr<std::string> NameInLost(FileSystem* file_system,
                                       const std::string& directory,
                                       uint64_t first_sequence,
                                       uint64_t offset) {
  const std::string lost = absl::StrCat(directory, "/", kLost);
  RETURN_IF_ERROR(file_system->CreateDirectory(lost));
  RETURN_IF_ERROR(file_system->SyncDirectory(directory));
  const std::string base =
      absl::StrCat(kLost, "/", WriteLogFileName(first_sequence), ".", offset);
  std::string name = base;
  for (uint64_t n = 1;; ++n) {
    ASSIGN_OR_RETURN(const bool taken,
                     file_system->Exists(absl::StrCat(directory, "/", name)));
    if (!taken) return name;
    name = absl::StrCat(base, ".", n);
  }
}

absl::Status CopyFrom(FileSystem* file_system, const std::string& from,
                      uint64_t offset, const std::string& to) {
  ASSIGN_OR_RETURN(const auto in, file_system->NewSequentialFile(from));
  RETURN_IF_ERROR(in->Skip(offset));
  ASSIGN_OR_RETURN(const auto out, file_system->NewWritableFile(to));
  const auto buffer = std::make_unique<char[]>(kLogCopyBytes);
  while (true) {
    ASSIGN_OR_RETURN(const size_t got, in->Read(kLogCopyBytes, buffer.get()));
    if (got == 0) break;
    RETURN_IF_ERROR(out->Append({buffer.get(), got}));
  }
  RETURN_IF_ERROR(out->Sync());
  return out->Close();
}

// Truncation and all that came before it.
absl::Status TruncateDurably(FileSystem* file_system, const std::string& path,
                             uint64_t size) {
  RETURN_IF_ERROR(file_system->Truncate(path, size));
  ASSIGN_OR_RETURN(const auto file, file_system->NewAppendableFile(path));
  RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

}  // namespace

std::string WriteLogPath(const std::string& directory,
                         uint64_t first_sequence) {
  return absl::StrCat(directory, "/", WriteLogFileName(first_sequence));
}

absl::StatusOr<std::vector<uint64_t>> ListWriteLogFiles(
    FileSystem* file_system, const std::string& directory) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names,
                   file_system->List(directory));
  std::vector<uint64_t> files;
  for (const std::string& name : names) {
    const std::optional<uint64_t> first = ParseWriteLogFileName(name);
    if (first.has_value()) files.push_back(*first);
  }
  std::sort(files.begin(), files.end());
  return files;
}

absl::StatusOr<std::string> CutWriteLogFile(FileSystem* file_system,
                                            const std::string& directory,
                                            uint64_t first_sequence,
                                            uint64_t offset) {
  const std::string path = WriteLogPath(directory, first_sequence);
  ASSIGN_OR_RETURN(std::string kept_as,
                   NameInLost(file_system, directory, first_sequence, offset));
  const std::string kept_path = absl::StrCat(directory, "/", kept_as);
  const std::string lost = absl::StrCat(directory, "/", kLost);
  if (offset == 0) {
    RETURN_IF_ERROR(file_system->Rename(path, kept_path));
    RETURN_IF_ERROR(file_system->SyncDirectory(lost));
    // At once, not after the last of several: a name that comes back while an
    // older one stays away would be a hole in the log.
    RETURN_IF_ERROR(file_system->SyncDirectory(directory));
    return kept_as;
  }
  RETURN_IF_ERROR(CopyFrom(file_system, path, offset, kept_path));
  RETURN_IF_ERROR(file_system->SyncDirectory(lost));
  RETURN_IF_ERROR(TruncateDurably(file_system, path, offset));
  return kept_as;
}

}  // namespace dovetail

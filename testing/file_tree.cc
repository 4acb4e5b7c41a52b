// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "testing/file_tree.h"

#include <memory>
#include <vector>

#include "base/status_macros.h"

namespace dovetail::test {
namespace {

// Only a directory can be listed.
bool IsDirectory(FileSystem* files, const std::string& path) {
  return files->List(path).ok();
}

}  // namespace

absl::StatusOr<std::string> ReadWhole(FileSystem* files,
                                      const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, files->NewSequentialFile(path));
  std::string bytes;
  std::string buffer(1 << 16, '\0');
  while (true) {
    ASSIGN_OR_RETURN(const size_t got,
                     file->Read(buffer.size(), buffer.data()));
    if (got == 0) return bytes;
    bytes.append(buffer, 0, got);
  }
}

absl::Status WriteWhole(FileSystem* files, const std::string& path,
                        std::string_view bytes) {
  ASSIGN_OR_RETURN(const auto file, files->NewWritableFile(path));
  RETURN_IF_ERROR(file->Append(bytes));
  return file->Close();
}

absl::Status CopyTree(FileSystem* files, const std::string& from,
                      const std::string& to) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files->List(from));
  RETURN_IF_ERROR(files->CreateDirectory(to));
  for (const std::string& name : names) {
    const std::string source = from + "/" + name;
    const std::string target = to + "/" + name;
    if (IsDirectory(files, source)) {
      RETURN_IF_ERROR(CopyTree(files, source, target));
      continue;
    }
    ASSIGN_OR_RETURN(const std::string bytes, ReadWhole(files, source));
    RETURN_IF_ERROR(WriteWhole(files, target, bytes));
  }
  return absl::OkStatus();
}

absl::Status RemoveTree(FileSystem* files, const std::string& directory) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names,
                   files->List(directory));
  for (const std::string& name : names) {
    const std::string path = directory + "/" + name;
    RETURN_IF_ERROR(IsDirectory(files, path) ? RemoveTree(files, path)
                                             : files->Delete(path));
  }
  return files->DeleteDirectory(directory);
}

}  // namespace dovetail::test

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The names of the files in a LevelDB directory.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dovetail {

// The lock that we hold beside LevelDB's own, from before the open check until
// the store is destroyed.
inline constexpr char kStoreLockName[] = "DOVETAIL.lock";

enum class LevelDbFileKind {
  kOther,  // Not LevelDB's.
  kCurrent,
  kLock,
  kInfoLog,
  kManifest,
  kLog,
  kTable,
  kTemporary,
};

struct LevelDbFileName {
  LevelDbFileKind kind = LevelDbFileKind::kOther;
  uint64_t number = 0;  // Of a manifest, log, table or temporary file.
};

// Of a name without its directory. A number in another form than LevelDB
// writes makes the file kOther.
LevelDbFileName ParseLevelDbFileName(std::string_view name);

std::string ManifestName(uint64_t number);
std::string LogName(uint64_t number);
// Written by LevelDB since 1.14, and before.
std::string TableName(uint64_t number);
std::string OldTableName(uint64_t number);

std::string JoinPath(std::string_view directory, std::string_view name);
// "." for a path without one, "/" for the root's children. Trailing slashes
// do not count.
std::string DirectoryOf(std::string_view path);
std::string_view BaseName(std::string_view path);

}  // namespace dovetail

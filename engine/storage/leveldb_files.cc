// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/storage/leveldb_files.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/strings.h"

namespace dovetail {
namespace {

std::string Numbered(uint64_t number, std::string_view suffix) {
  return absl::StrFormat("%06u.%s", number, suffix);
}

}  // namespace

LevelDbFileName ParseLevelDbFileName(std::string_view name) {
  using Kind = LevelDbFileKind;
  if (name == "CURRENT") return {Kind::kCurrent, 0};
  if (name == "LOCK") return {Kind::kLock, 0};
  if (name == "LOG" || name == "LOG.old") return {Kind::kInfoLog, 0};

  constexpr std::string_view kManifestPrefix = "MANIFEST-";
  const bool manifest =
      name.substr(0, kManifestPrefix.size()) == kManifestPrefix;
  std::string_view digits = name.substr(0, name.find('.'));
  if (manifest) digits = name.substr(kManifestPrefix.size());
  uint64_t number = 0;
  if (!absl::SimpleAtoi(ToAbsl(digits), &number)) return {};

  // Writing the number back refuses signs, blanks and missing zeros.
  if (manifest) {
    if (name != ManifestName(number)) return {};
    return {Kind::kManifest, number};
  }
  if (name == LogName(number)) return {Kind::kLog, number};
  if (name == TableName(number)) return {Kind::kTable, number};
  if (name == OldTableName(number)) return {Kind::kTable, number};
  if (name == Numbered(number, "dbtmp")) return {Kind::kTemporary, number};
  return {};
}

std::string ManifestName(uint64_t number) {
  return absl::StrFormat("MANIFEST-%06u", number);
}
std::string LogName(uint64_t number) { return Numbered(number, "log"); }
std::string TableName(uint64_t number) { return Numbered(number, "ldb"); }
std::string OldTableName(uint64_t number) { return Numbered(number, "sst"); }

std::string JoinPath(std::string_view directory, std::string_view name) {
  return absl::StrCat(ToAbsl(directory), "/", ToAbsl(name));
}

std::string DirectoryOf(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The file: 4 bytes of masked CRC-32C, then WriteLogSettings, serialized.

#include "engine/write_log_settings.h"

#include <array>
#include <memory>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/coding.h"
#include "base/crc32c.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail {
namespace {

constexpr uint32_t kSettingsVersion = 1;
constexpr size_t kChecksumBytes = 4;
// A path and a few numbers.
constexpr size_t kFileBytesMax = 64 << 10;
// "LOG" is a file of LevelDB's; where case does not count, "log" is the same.
constexpr char kDefaultDirectory[] = "write-log";

std::string PathOf(const std::string& database) {
  return absl::StrCat(database, "/", kWriteLogSettingsName);
}

absl::Status Damaged(const std::string& path, std::string_view reason) {
  return absl::DataLossError(absl::StrCat(
      "the write log's settings are damaged: reason=", ToAbsl(reason),
      " file=", ToAbsl(Quote(path, 1024)),
      "; without the file the database does not record"));
}

absl::StatusOr<std::string> ReadAll(FileSystem* file_system,
                                    const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, file_system->NewSequentialFile(path));
  std::string bytes;
  std::array<char, 4096> chunk;
  while (bytes.size() <= kFileBytesMax) {
    ASSIGN_OR_RETURN(const size_t got, file->Read(chunk.size(), chunk.data()));
    if (got == 0) return bytes;
    bytes.append(chunk.data(), got);
  }
  return Damaged(path, "too large");
}

}  // namespace

absl::StatusOr<std::optional<v1::WriteLogSettings>> ReadWriteLogSettings(
    FileSystem* file_system, const std::string& database) {
  const std::string path = PathOf(database);
  ASSIGN_OR_RETURN(const bool exists, file_system->Exists(path));
  if (!exists) return std::optional<v1::WriteLogSettings>();
  ASSIGN_OR_RETURN(const std::string bytes, ReadAll(file_system, path));
  if (bytes.size() < kChecksumBytes) return Damaged(path, "cut off");
  std::string_view rest = bytes;
  const auto checksum =
      static_cast<uint32_t>(DecodeBigEndian(rest.data(), kChecksumBytes));
  rest.remove_prefix(kChecksumBytes);
  if (MaskCrc32c(Crc32c(rest)) != checksum) return Damaged(path, "checksum");
  v1::WriteLogSettings settings;
  if (!settings.ParseFromArray(rest.data(), static_cast<int>(rest.size()))) {
    return Damaged(path, "does not parse");
  }
  if (settings.format_version() != kSettingsVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the write log's settings have a format that this program does not "
        "know: format=",
        settings.format_version(), " known=", kSettingsVersion,
        " file=", ToAbsl(Quote(path, 1024))));
  }
  return std::optional<v1::WriteLogSettings>(std::move(settings));
}

absl::Status StoreWriteLogSettings(FileSystem* file_system,
                                   const std::string& database,
                                   const v1::WriteLogSettings& settings) {
  const std::string message = settings.SerializeAsString();
  std::string bytes;
  AppendBigEndian(MaskCrc32c(Crc32c(message)), kChecksumBytes, &bytes);
  bytes += message;
  const std::string path = PathOf(database);
  const std::string unfinished = path + ".unfinished";
  ASSIGN_OR_RETURN(const auto file, file_system->NewWritableFile(unfinished));
  RETURN_IF_ERROR(file->Append(bytes));
  RETURN_IF_ERROR(file->Sync());
  RETURN_IF_ERROR(file->Close());
  RETURN_IF_ERROR(file_system->Rename(unfinished, path));
  return file_system->SyncDirectory(database);
}

absl::Status RemoveWriteLogSettings(FileSystem* file_system,
                                    const std::string& database) {
  RETURN_IF_ERROR(file_system->Delete(PathOf(database)));
  return file_system->SyncDirectory(database);
}

v1::WriteLogSettings MakeWriteLogSettings(const WriteLogOptions& options,
                                          SequenceNumber recorded_above) {
  v1::WriteLogSettings settings;
  settings.set_format_version(kSettingsVersion);
  settings.set_directory(options.directory.empty() ? kDefaultDirectory
                                                   : options.directory);
  settings.set_file_bytes_max(options.file_bytes_max);
  const WriteLogRetention& retention = options.retention;
  if (retention.bytes_max.has_value()) {
    settings.set_retention_bytes_max(*retention.bytes_max);
  }
  if (retention.age_max_us.has_value()) {
    settings.set_retention_age_us(*retention.age_max_us);
  }
  settings.set_recorded_above(static_cast<uint64_t>(recorded_above));
  return settings;
}

WriteLogSetup SetupOf(const std::string& database,
                      const v1::WriteLogSettings& settings) {
  WriteLogSetup setup;
  setup.directory = settings.directory().starts_with('/')
                        ? settings.directory()
                        : absl::StrCat(database, "/", settings.directory());
  setup.file_bytes_max = settings.file_bytes_max();
  if (settings.has_retention_bytes_max()) {
    setup.retention.bytes_max = settings.retention_bytes_max();
  }
  if (settings.has_retention_age_us()) {
    setup.retention.age_max_us = settings.retention_age_us();
  }
  setup.recorded_above = SequenceNumber{settings.recorded_above()};
  return setup;
}

absl::StatusOr<WriteLogSetup> FindWriteLog(FileSystem* file_system,
                                           const std::string& database) {
  ASSIGN_OR_RETURN(const std::optional<v1::WriteLogSettings> settings,
                   ReadWriteLogSettings(file_system, database));
  if (!settings.has_value()) {
    return absl::NotFoundError(
        absl::StrCat("there is no database that records: directory=",
                     ToAbsl(Quote(database, 1024))));
  }
  return SetupOf(database, *settings);
}

}  // namespace dovetail

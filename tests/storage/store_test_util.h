// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Batches, marks and contents for the tests of stores.

#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/coding.h"
#include "engine/storage/store.h"
#include "gtest/gtest.h"

namespace dovetail::test {

using Entries = std::map<std::string, std::string>;

inline constexpr char kMarkKey[] = "mark";

// A mark as these tests write it: two 8-byte numbers.
inline std::string MarkValue(uint64_t sequence, uint64_t synced_sequence) {
  std::string value;
  AppendBigEndian(sequence, 8, &value);
  AppendBigEndian(synced_sequence, 8, &value);
  return value;
}

inline LevelDbStoreOptions StoreOptions(FileSystem* files) {
  LevelDbStoreOptions options;
  options.file_system = files;
  options.mark_key = kMarkKey;
  options.parse_mark = [](std::string_view value)
      -> absl::StatusOr<LevelDbStoreOptions::BatchMark> {
    if (value.size() != 16) return absl::DataLossError("not a mark");
    return LevelDbStoreOptions::BatchMark{DecodeBigEndian(value.data(), 8),
                                          DecodeBigEndian(value.data() + 8, 8)};
  };
  return options;
}

inline absl::StatusOr<std::unique_ptr<Store>> OpenStore(
    const std::string& directory, const LevelDbStoreOptions& options,
    StoreOpenReport* report = nullptr) {
  StoreOpenReport ignored;
  return OpenLevelDbStore(directory, options,
                          report == nullptr ? &ignored : report);
}

inline absl::Status Put(Store& store, std::string_view key,
                        std::string_view value, bool sync = false) {
  const std::unique_ptr<StoreBatch> batch = store.NewBatch();
  batch->Put(key, value);
  return store.Write(*batch, sync);
}

// Writes "key<n>" with a mark for sequence `n`.
inline absl::Status PutMarked(Store& store, uint64_t n, uint64_t synced,
                              bool sync = false, size_t value_bytes = 8) {
  const std::unique_ptr<StoreBatch> batch = store.NewBatch();
  batch->Put("key" + std::to_string(n),
             std::string(value_bytes, static_cast<char>('a' + n % 26)));
  batch->Put(kMarkKey, MarkValue(n, synced));
  return store.Write(*batch, sync);
}

inline std::optional<std::string> GetValue(
    Store& store, std::string_view key, const StoreReadOptions& options = {}) {
  std::string value;
  const absl::StatusOr<bool> found = store.Get(options, key, &value);
  EXPECT_TRUE(found.ok()) << found.status();
  if (!found.ok() || !*found) return std::nullopt;
  return value;
}

inline absl::StatusOr<Entries> ReadAll(Store& store,
                                       const StoreReadOptions& options = {}) {
  Entries entries;
  const std::unique_ptr<StoreIterator> it = store.NewIterator(options);
  for (it->Seek(""); it->Valid(); it->Next()) {
    entries.emplace(it->key(), it->value());
  }
  if (!it->status().ok()) return it->status();
  return entries;
}

inline std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

inline void WriteFile(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Names in `directory` that end in `suffix`, sorted.
inline std::vector<std::string> NamesWith(const std::string& directory,
                                          std::string_view suffix) {
  std::map<std::string, int> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.size() >= suffix.size() &&
        name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0) {
      names[name];
    }
  }
  std::vector<std::string> sorted;
  for (const auto& [name, unused] : names) sorted.push_back(name);
  return sorted;
}

// Every file below `directory`, but for locks and LevelDB's account of its
// own work: what must be as it was when an open is refused.
inline Entries FilesOf(const std::string& directory) {
  Entries files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name == "LOG" || name == "LOG.old" ||
        name == "LOCK" || name == "DOVETAIL.lock") {
      continue;
    }
    files[std::filesystem::relative(entry.path(), directory).string()] =
        ReadFile(entry.path().string());
  }
  return files;
}

inline void WriteFiles(const std::string& directory, const Entries& files) {
  std::filesystem::create_directories(directory);
  for (const auto& [name, bytes] : files) {
    const std::filesystem::path path = std::filesystem::path(directory) / name;
    std::filesystem::create_directories(path.parent_path());
    WriteFile(path.string(), bytes);
  }
}

}  // namespace dovetail::test

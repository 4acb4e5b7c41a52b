// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "tests/acceptance/bare_leveldb.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "leveldb/db.h"
#include "leveldb/env.h"

namespace dovetail::test {
namespace {

// Puts compactions off: the moment between a change of logs and the end of
// the compaction that it starts is short otherwise.
class SlowEnv final : public leveldb::EnvWrapper {
 public:
  SlowEnv() : EnvWrapper(leveldb::Env::Default()) {}
  void Schedule(void (*work)(void*), void* argument) override {
    put_off_.emplace_back(work, argument);
  }
  void CatchUp() {
    while (!put_off_.empty()) {
      const auto [work, argument] = put_off_.back();
      put_off_.pop_back();
      work(argument);
    }
  }

 private:
  std::vector<std::pair<void (*)(void*), void*>> put_off_;
};

std::vector<std::filesystem::path> Logs(const std::string& directory) {
  std::vector<std::filesystem::path> logs;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".log") logs.push_back(entry.path());
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

std::unique_ptr<leveldb::DB> Open(const std::string& directory,
                                  leveldb::Env* env) {
  leveldb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 64 << 10;
  if (env != nullptr) options.env = env;
  leveldb::DB* db = nullptr;
  if (!leveldb::DB::Open(options, directory, &db).ok()) return nullptr;
  return std::unique_ptr<leveldb::DB>(db);
}

std::string KeyOf(int n) { return absl::StrCat("key", 100'000 + n); }

}  // namespace

BareHole FindHoleOfBareLevelDb(const std::string& directory) {
  BareHole hole;
  SlowEnv env;
  std::unique_ptr<leveldb::DB> db = Open(directory, &env);
  if (db == nullptr) return {false, "does not open"};
  int written = 0;
  const auto write = [&](bool sync) {
    leveldb::WriteOptions options;
    options.sync = sync;
    return db->Put(options, KeyOf(++written), std::string(1000, 'x')).ok();
  };
  while (Logs(directory).size() < 2 && written < 1000) {
    if (!write(false)) return {false, "does not write"};
  }
  if (!write(true)) return {false, "does not write"};
  // No sync has covered the old log; the last write has synced the new one.
  const std::string left = directory + ".left";
  std::filesystem::copy(directory, left,
                        std::filesystem::copy_options::recursive);
  std::filesystem::resize_file(Logs(left).front(), 0);
  env.CatchUp();
  db.reset();

  db = Open(left, nullptr);
  if (db == nullptr) return {false, "what is left does not open"};
  int there = 0;
  std::string value;
  for (int n = 1; n <= written; ++n) {
    there += db->Get({}, KeyOf(n), &value).ok();
  }
  const bool last = db->Get({}, KeyOf(written), &value).ok();
  hole.found = last && there < written;
  hole.in_words = absl::StrCat("of ", written, " writes ", there,
                               " are left, the last one ",
                               last ? "among them: a hole" : "not among them");
  return hole;
}

}  // namespace dovetail::test

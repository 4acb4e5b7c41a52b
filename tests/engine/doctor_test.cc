// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/doctor.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kOrders = 900;  // Instrumented code is that much slower.
constexpr size_t kPlaces = 5;
#else
constexpr int kOrders = 3000;
constexpr size_t kPlaces = 23;
#endif

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class DoctorTest : public EngineTest {
 protected:
  void SetUp() override {
    options_.background_work = false;
    options_.compress = false;  // So that damage is where the test puts it.
  }

  static v1::Order Numbered(int i, v1::OrderStatus status = v1::CREATED) {
    return MakeOrder("o-" + std::to_string(10'000 + i),
                     "s-" + std::to_string(i % 40), 1000 + i, status);
  }

  // All orders in tables, by a reopen; and some changes in the log.
  void Fill(bool sync_last = false) {
    WriteBatch batch;
    for (int i = 0; i < kOrders; ++i) batch.Put("orders", Bytes(Numbered(i)));
    ASSERT_THAT(engine().Write({}, std::move(batch)), IsOk());
    Open();
    for (int i = 0; i < 50; ++i) {
      WriteBatch change;
      change.Put("orders", Bytes(Numbered(i * 7, v1::INVOICED)));
      ASSERT_THAT(engine().Write({.sync = sync_last && i == 49}, change),
                  IsOk());
    }
    engine_.reset();
    for (int i = 0; i < kOrders; ++i) {
      const bool changed = i % 7 == 0 && i / 7 < 50;
      expected_[Numbered(i).order_id()] =
          Bytes(Numbered(i, changed ? v1::INVOICED : v1::CREATED));
    }
  }

  std::string Db() { return dir_.Sub("db"); }
  std::string FileWith(std::string_view suffix) {
    std::string found;
    uintmax_t size = 0;
    for (const auto& file : std::filesystem::directory_iterator(Db())) {
      const std::string name = file.path().filename();
      if (name.ends_with(suffix) && file.file_size() >= size) {
        found = name;
        size = file.file_size();
      }
    }
    EXPECT_NE(found, "") << suffix;
    return found;
  }
  std::string FileNamed(std::string_view prefix) {
    for (const auto& [name, bytes] : FilesNow()) {
      if (name.starts_with(prefix)) return name;
    }
    ADD_FAILURE() << prefix;
    return {};
  }
  void Damage(const std::string& name,
              const std::function<void(std::string*)>& change) {
    const std::string path = Db() + "/" + name;
    std::string bytes = ReadFile(path);
    change(&bytes);
    WriteFile(path, bytes);
  }
  std::map<std::string, std::string> FilesNow() {
    std::map<std::string, std::string> files;
    for (const auto& file : std::filesystem::directory_iterator(Db())) {
      if (file.is_regular_file()) {
        files[file.path().filename()] = ReadFile(file.path());
      }
    }
    return files;
  }

  // Rescues, and reads every order of the new database, which must be clean.
  RescueReport RescueAndRead() {
    const auto before = FilesNow();
    const std::string to = dir_.Sub("rescued");
    std::filesystem::remove_all(to);
    auto report = Rescue(Db(), to, {});
    EXPECT_THAT(report, IsOk());
    auto after = FilesNow();
    after.erase("DOVETAIL.lock");
    for (const auto& [name, bytes] : after) EXPECT_EQ(before.at(name), bytes);
    rescued_.clear();
    if (!report.ok()) return {};
    auto opened = Engine::Open(to, schema_, options_);
    EXPECT_THAT(opened, IsOk());
    if (!opened.ok()) return *report;
    const auto verified = (*opened)->Verify({});
    EXPECT_THAT(verified, IsOk());
    EXPECT_TRUE(verified->clean()) << verified->Summary();
    EXPECT_EQ(verified->rows, report->rows);
    const auto visited = (*opened)->ForEachStored(
        {}, "orders", "", "", [&](const StoredPair& pair) {
          const auto key = (*opened)->DecodeKey("orders", pair.key);
          EXPECT_THAT(key, IsOk());
          rescued_keys_.insert(key.ok() ? *key : "");
          return true;
        });
    EXPECT_THAT(visited, IsOk());
    for (const auto& [id, bytes] : expected_) {
      const auto rows = (*opened)->GetBy({}, "orders", "by_order_id", {id});
      EXPECT_THAT(rows, IsOk());
      if (rows.ok() && !rows->empty()) rescued_[id] = (*rows)[0].record;
    }
    return *report;
  }

  std::map<std::string, std::string> expected_;
  std::map<std::string, std::string> rescued_;
  std::set<std::string> rescued_keys_;
};

TEST_F(DoctorTest, ASoundDatabaseIsSoundAndRescuedWhole) {
  Fill();
  const auto found = Diagnose(Db(), {});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->verdict, Diagnosis::Verdict::kSound);
  EXPECT_EQ(found->damage_count, 0);
  ASSERT_EQ(found->spaces.size(), 3);
  for (const auto& space : found->spaces) EXPECT_EQ(space.keys, kOrders);
  const RescueReport report = RescueAndRead();
  EXPECT_EQ(report.rows, kOrders);
  EXPECT_EQ(report.lost_count + report.doubtful_count, 0);
  EXPECT_EQ(report.entries_added + report.entries_removed, 0);
  EXPECT_EQ(rescued_, expected_);
}

// Whatever byte of a table is damaged: what is not lost is what was written,
// or is named as doubtful; and every row that is lost is named.
TEST_F(DoctorTest, OfADamagedTableAllButTheDamagedBlockIsSaved) {
  Fill();
  const std::string table = FileWith(".ldb");
  const std::string whole = ReadFile(Db() + "/" + table);
  for (size_t at = 10; at < whole.size(); at += whole.size() / kPlaces) {
    Damage(table, [&](std::string* bytes) {
      *bytes = whole;
      (*bytes)[at] = static_cast<char>((*bytes)[at] ^ 0x10);
    });
    const RescueReport report = RescueAndRead();
    EXPECT_LE(report.found.damage_count, 1) << at;
    EXPECT_EQ(rescued_.size() + report.lost_count, kOrders) << at;
    EXPECT_LT(report.lost_count, 200) << at;
    std::set<std::string> doubtful;
    for (const NamedRow& row : report.doubtful) doubtful.insert(row.key);
    for (const auto& [id, bytes] : rescued_) {
      if (bytes == expected_[id]) continue;
      EXPECT_GT(report.doubtful_count, 0) << at;
    }
    if (report.found.damage_count == 0) continue;
    EXPECT_EQ(report.found.verdict, Diagnosis::Verdict::kDamaged);
    EXPECT_EQ(report.found.damage[0].file, table);
    EXPECT_LE(report.found.damage[0].offset, at);
    EXPECT_GT(report.found.damage[0].offset + report.found.damage[0].bytes, at);
  }
}

TEST_F(DoctorTest, ATableWithoutItsIndexIsSearchedForBlocks) {
  Fill();
  const std::string table = FileWith(".ldb");
  const std::string whole = ReadFile(Db() + "/" + table);
  for (const size_t cut : {1u, 48u, 100u}) {
    Damage(table, [&](std::string* bytes) {
      *bytes = whole.substr(0, whole.size() - cut);
    });
    const RescueReport report = RescueAndRead();
    EXPECT_EQ(report.found.tables_without_index, 1);
    EXPECT_THAT(report.found.refusal, HasSubstr("wrong size"));
    EXPECT_EQ(rescued_, expected_) << cut;
    EXPECT_EQ(report.lost_count, 0);
  }
  Damage(table, [&](std::string* bytes) {
    *bytes = whole.substr(0, whole.size() - 20);
    (*bytes)[20'000] = static_cast<char>((*bytes)[20'000] ^ 1);
  });
  const RescueReport report = RescueAndRead();
  EXPECT_EQ(rescued_.size() + report.lost_count, kOrders);
  EXPECT_LT(report.lost_count, 200);
}

TEST_F(DoctorTest, AMissingTableIsNamedWithItsKeys) {
  Fill();
  const std::string table = FileWith(".ldb");
  std::filesystem::remove(Db() + "/" + table);
  const auto found = Diagnose(Db(), {});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->verdict, Diagnosis::Verdict::kDamaged);
  EXPECT_THAT(found->refusal, HasSubstr("the file is missing"));
  ASSERT_EQ(found->damage.size(), 1);
  EXPECT_EQ(found->damage[0].file, table);
  EXPECT_TRUE(found->catalog_lost);
  EXPECT_THAT(Rescue(Db(), dir_.Sub("rescued"), {}),
              StatusIs(absl::StatusCode::kDataLoss, "catalog"));
  EXPECT_FALSE(std::filesystem::exists(dir_.Sub("rescued")));
  EXPECT_FALSE(std::filesystem::exists(dir_.Sub("rescued.unfinished")));
}

TEST_F(DoctorTest, WithoutManifestOrCurrentAllTablesCount) {
  Fill();
  const auto whole = FilesNow();
  for (const std::string& name :
       {std::string("CURRENT"), FileNamed("MANIFEST")}) {
    std::filesystem::remove(Db() + "/" + name);
    const RescueReport report = RescueAndRead();
    EXPECT_THAT(report.found.manifest_damage, Not(IsEmpty()));
    EXPECT_EQ(rescued_, expected_) << name;
    WriteFile(Db() + "/" + name, whole.at(name));
  }
}

TEST_F(DoctorTest, OfABrokenLogThePrefixIsSaved) {
  Fill(/*sync_last=*/true);
  const std::string log = FileWith(".log");
  const std::string whole = ReadFile(Db() + "/" + log);
  Damage(log, [&](std::string* bytes) {
    char& byte = (*bytes)[bytes->size() / 2];
    byte = static_cast<char>(byte ^ 1);
  });
  const auto found = Diagnose(Db(), {});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->damage_count, 1);
  EXPECT_GT(found->behind_break, found->last_sequence);
  EXPECT_EQ(found->behind_break, SequenceNumber{51});
  const RescueReport report = RescueAndRead();
  EXPECT_EQ(rescued_.size(), kOrders);
  // A prefix of the changes: once one is missing, all later ones are.
  bool missing = false;
  int kept = 0;
  for (int i = 0; i < 50; ++i) {
    const std::string id = Numbered(i * 7).order_id();
    const bool changed = rescued_[id] == expected_[id];
    EXPECT_FALSE(changed && missing) << i;
    missing = missing || !changed;
    kept += changed ? 1 : 0;
  }
  EXPECT_GT(kept, 10);
  EXPECT_LT(kept, 40);
  EXPECT_EQ(report.found.last_sequence, SequenceNumber(1 + kept));
}

TEST_F(DoctorTest, ATornTailIsToldFromDamage) {
  Fill();
  Damage(FileWith(".log"),
         [](std::string* bytes) { bytes->resize(bytes->size() - 3); });
  const auto found = Diagnose(Db(), {});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->verdict, Diagnosis::Verdict::kTornTail);
  EXPECT_THAT(found->refusal, IsEmpty());
}

TEST_F(DoctorTest, RefusesADatabaseInUseAndADestinationThatExists) {
  Fill();
  EXPECT_THAT(Rescue(Db(), dir_.path(), {}),
              StatusIs(absl::StatusCode::kAlreadyExists));
  Open();
  EXPECT_THAT(Diagnose(Db(), {}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(Diagnose(dir_.Sub("nothing"), {}),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace dovetail::test

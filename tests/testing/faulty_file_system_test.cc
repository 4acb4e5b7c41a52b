// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The faults that tests are made with do what they say.

#include "dovetail/testing/faulty_file_system.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

using ::absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using Fate = PowerCutOptions::Fate;

class FaultyFileSystemTest : public ::testing::Test {
 protected:
  std::string Path(std::string_view name) const { return dir_.Sub(name); }

  std::unique_ptr<WritableFile> Create(std::string_view name) {
    auto file = files_.NewWritableFile(Path(name));
    EXPECT_THAT(file, IsOk());
    return *std::move(file);
  }
  // A file with `synced` on the disk for certain, and `rest` behind it.
  void Write(std::string_view name, std::string_view synced,
             std::string_view rest = "") {
    const auto file = Create(name);
    EXPECT_THAT(file->Append(synced), IsOk());
    if (!synced.empty()) {
      EXPECT_THAT(file->Sync(), IsOk());
    }
    EXPECT_THAT(file->Append(rest), IsOk());
    EXPECT_THAT(file->Close(), IsOk());
  }
  absl::StatusOr<std::string> Read(FileSystem* files, const std::string& path) {
    auto file = files->NewSequentialFile(path);
    if (!file.ok()) return file.status();
    std::string bytes;
    char buffer[1000];
    while (true) {
      const auto got = (*file)->Read(sizeof(buffer), buffer);
      if (!got.ok()) return got.status();
      if (*got == 0) return bytes;
      bytes.append(buffer, *got);
    }
  }
  // The files of a directory, and what is in them.
  std::map<std::string, std::string> Content(const std::string& directory) {
    std::map<std::string, std::string> content;
    const auto names = FileSystem::Posix()->List(directory);
    EXPECT_THAT(names, IsOk());
    for (const std::string& name : *names) {
      const auto bytes = Read(FileSystem::Posix(), directory + "/" + name);
      if (bytes.ok()) content[name] = *bytes;
    }
    return content;
  }
  std::map<std::string, std::string> Content() { return Content(dir_.path()); }

  TempDir dir_;
  FaultyFileSystem files_{FileSystem::Posix(), /*seed=*/7};
};

TEST_F(FaultyFileSystemTest, APowerCutTakesWhatNoSyncHasCovered) {
  Write("kept", "abc", "def");
  ASSERT_THAT(files_.SyncDirectory(dir_.path()), IsOk());
  Write("unnamed", "abc");
  files_.PowerCut();
  EXPECT_THAT(Content(), ElementsAre(Pair("kept", "abc")));
}

TEST_F(FaultyFileSystemTest, APowerCutMayKeepEverything) {
  Write("a", "abc", "def");
  ASSERT_THAT(files_.PowerCut({.bytes = Fate::kKept, .names = Fate::kKept}),
              IsOk());
  EXPECT_THAT(Content(), ElementsAre(Pair("a", "abcdef")));
}

TEST_F(FaultyFileSystemTest, ALostRenameBringsBackWhatItReplaced) {
  Write("current", "old");
  ASSERT_THAT(files_.SyncDirectory(dir_.path()), IsOk());
  Write("new", "new");
  ASSERT_THAT(files_.Rename(Path("new"), Path("current")), IsOk());
  files_.PowerCut();
  EXPECT_THAT(Content(), ElementsAre(Pair("current", "old")));
}

TEST_F(FaultyFileSystemTest, LostNamesOfARenamedDirectory) {
  ASSERT_THAT(files_.CreateDirectory(Path("a")), IsOk());
  Write("a/synced", "s");
  ASSERT_THAT(files_.SyncDirectory(Path("a")), IsOk());
  Write("a/lost", "l");
  ASSERT_THAT(files_.Rename(Path("a"), Path("b")), IsOk());
  ASSERT_THAT(files_.SyncDirectory(dir_.path()), IsOk());
  files_.PowerCut();
  EXPECT_THAT(Content(Path("b")), ElementsAre(Pair("synced", "s")));
}

TEST_F(FaultyFileSystemTest, ADeletionIsLostOnlyIfAskedFor) {
  for (const bool can_be_lost : {false, true}) {
    Write("a", "abc");
    ASSERT_THAT(files_.SyncDirectory(dir_.path()), IsOk());
    files_.SetDeletionsCanBeLost(can_be_lost);
    ASSERT_THAT(files_.Delete(Path("a")), IsOk());
    files_.PowerCut();
    EXPECT_EQ(Content().count("a"), can_be_lost ? 1u : 0u);
  }
}

// Each outcome that the options promise comes up, and no byte that was synced
// is ever lost.
TEST_F(FaultyFileSystemTest, OneMomentHasManyOutcomes) {
  ASSERT_THAT(files_.CreateDirectory(Path("db")), IsOk());
  const std::string synced(5000, 's');
  const std::string rest(20'000, 'r');
  Write("db/a", synced, rest);
  ASSERT_THAT(files_.SyncDirectory(Path("db")), IsOk());
  bool lost = false, kept = false, torn = false, zeroed = false,
       spoiled = false;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const std::string to = Path("left" + std::to_string(seed));
    ASSERT_THAT(files_.PowerCutInto(Path("db"), to,
                                    {.bytes = Fate::kByChance, .seed = seed}),
                IsOk());
    const std::string left = Content(to)["a"];
    ASSERT_EQ(left.substr(0, synced.size()), synced);
    const std::string behind = left.substr(synced.size());
    const bool whole = behind.find_first_not_of('r') == std::string::npos;
    lost |= behind.empty();
    kept |= behind == rest;
    torn |= whole && !behind.empty() && behind.size() < rest.size();
    zeroed |= behind.find(std::string(100, '\0')) != std::string::npos;
    spoiled |=
        behind.find_first_not_of(std::string("r\0", 2)) != std::string::npos;
  }
  EXPECT_TRUE(lost && kept && torn && zeroed && spoiled)
      << lost << kept << torn << zeroed << spoiled;
  EXPECT_EQ(Content(Path("db"))["a"], synced + rest);  // Untouched.
}

// A name is kept with the changes it builds on, or not at all.
TEST_F(FaultyFileSystemTest, NamesAreLostByChanceButInASensibleOrder) {
  ASSERT_THAT(files_.CreateDirectory(Path("db")), IsOk());
  Write("db/current", "1");
  ASSERT_THAT(files_.SyncDirectory(Path("db")), IsOk());
  files_.SetDeletionsCanBeLost(true);
  Write("db/next", "2");
  ASSERT_THAT(files_.Rename(Path("db/next"), Path("db/current")), IsOk());
  Write("db/other", "3");
  std::set<std::map<std::string, std::string>> outcomes;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const std::string to = Path("left" + std::to_string(seed));
    ASSERT_THAT(files_.PowerCutInto(Path("db"), to,
                                    {.names = Fate::kByChance, .seed = seed}),
                IsOk());
    outcomes.insert(Content(to));
  }
  using Files = std::map<std::string, std::string>;
  EXPECT_THAT(
      outcomes,
      UnorderedElementsAre(
          Files{{"current", "1"}}, Files{{"current", "1"}, {"other", "3"}},
          Files{{"current", "1"}, {"next", "2"}},
          Files{{"current", "1"}, {"next", "2"}, {"other", "3"}},
          Files{{"current", "2"}}, Files{{"current", "2"}, {"other", "3"}}));
}

TEST_F(FaultyFileSystemTest, OneCallFailsOrAllFromOneOn) {
  files_.FailCall(2, absl::InternalError("on purpose"));
  EXPECT_THAT(files_.Exists(Path("a")), IsOk());
  EXPECT_THAT(files_.Exists(Path("b")), StatusIs(StatusCode::kInternal));
  EXPECT_THAT(files_.Exists(Path("c")), IsOk());
  EXPECT_EQ(files_.FailedCall(), "exists b");
  files_.FailCall(1, absl::InternalError("on purpose"), true);
  EXPECT_FALSE(files_.FaultReached());
  EXPECT_THAT(files_.Exists(Path("d")), StatusIs(StatusCode::kInternal));
  EXPECT_THAT(files_.Exists(Path("e")), StatusIs(StatusCode::kInternal));
  EXPECT_EQ(files_.FailedCall(), "exists d");
}

TEST_F(FaultyFileSystemTest, AFailingAppendMayHaveWrittenAPart) {
  files_.SetFailuresArePartial(true);
  std::set<size_t> sizes;
  for (int i = 0; i < 50; ++i) {
    const auto file = Create("a");
    files_.FailCall(1, absl::InternalError("on purpose"));
    EXPECT_THAT(file->Append("0123456789"), StatusIs(StatusCode::kInternal));
    EXPECT_THAT(file->Close(), IsOk());
    sizes.insert(Content()["a"].size());
  }
  EXPECT_THAT(sizes, ::testing::Contains(0));
  EXPECT_THAT(sizes, ::testing::Contains(10));
  EXPECT_GT(sizes.size(), 5u);
}

TEST_F(FaultyFileSystemTest, ADiskIsFullBehindItsLastByte) {
  files_.SetFreeBytes(5);
  const auto file = Create("a");
  EXPECT_THAT(file->Append("012"), IsOk());
  EXPECT_THAT(file->Append("3456"), StatusIs(StatusCode::kResourceExhausted));
  EXPECT_THAT(file->Append("7"), StatusIs(StatusCode::kResourceExhausted));
  EXPECT_THAT(file->Close(), IsOk());
  EXPECT_THAT(Content(), ElementsAre(Pair("a", "01234")));
  ASSERT_THAT(files_.Delete(Path("a")), IsOk());
  EXPECT_THAT(Create("b")->Append("01234"), IsOk());
}

TEST_F(FaultyFileSystemTest, BitsFlipAtRestAndInReads) {
  Write("a", "abc");
  EXPECT_THAT(files_.FlipBit(Path("a"), 8), IsOk());
  EXPECT_THAT(Content(), ElementsAre(Pair("a", "acc")));
  EXPECT_THAT(files_.FlipBit(Path("a"), 24), StatusIs(StatusCode::kOutOfRange));
  files_.SetReadFlips(1);
  const auto read = Read(&files_, Path("a"));
  ASSERT_THAT(read, IsOk());
  int bits = 0;
  for (size_t i = 0; i < read->size(); ++i) {
    bits +=
        __builtin_popcount(static_cast<unsigned char>((*read)[i] ^ "acc"[i]));
  }
  EXPECT_EQ(bits, 1);
}

TEST_F(FaultyFileSystemTest, ReadsAreShort) {
  Write("a", "0123456789");
  files_.SetReadBytesMax(3);
  const auto file = files_.NewSequentialFile(Path("a"));
  ASSERT_THAT(file, IsOk());
  char buffer[10];
  EXPECT_THAT((*file)->Read(10, buffer), IsOkAndHolds(3u));
}

}  // namespace
}  // namespace dovetail::test

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "dovetail/file_system.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

using ::testing::UnorderedElementsAre;

class PosixFileSystemTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, std::string_view bytes) {
    auto file = files_.NewWritableFile(path);
    ASSERT_THAT(file, IsOk());
    ASSERT_THAT((*file)->Append(bytes), IsOk());
    ASSERT_THAT((*file)->Close(), IsOk());
  }
  std::string Read(const std::string& path) {
    auto file = files_.NewSequentialFile(path);
    EXPECT_THAT(file, IsOk());
    std::string bytes;
    char buffer[1000];
    while (file.ok()) {
      const absl::StatusOr<size_t> got = (*file)->Read(sizeof(buffer), buffer);
      EXPECT_THAT(got, IsOk());
      if (!got.ok() || *got == 0) break;
      bytes.append(buffer, *got);
    }
    return bytes;
  }

  TempDir dir_;
  const std::string path_ = dir_.Sub("file");
  FileSystem& files_ = *FileSystem::Posix();
};

TEST_F(PosixFileSystemTest, AppendsOfAnySizeArriveInOrder) {
  auto file = files_.NewWritableFile(path_);
  ASSERT_THAT(file, IsOk());
  std::string expected;
  for (const size_t size : {0u, 1u, 65535u, 1u, 65536u, 3u, 200000u, 65537u}) {
    const std::string bytes(size, static_cast<char>('a' + expected.size() % 7));
    ASSERT_THAT((*file)->Append(bytes), IsOk());
    expected += bytes;
  }
  ASSERT_THAT((*file)->Flush(), IsOk());
  EXPECT_TRUE(Read(path_) == expected);
  ASSERT_THAT((*file)->Append("end"), IsOk());
  ASSERT_THAT((*file)->Sync(), IsOk());
  EXPECT_EQ(Read(path_).size(), expected.size() + 3);
  EXPECT_THAT((*file)->Close(), IsOk());
  EXPECT_THAT((*file)->Close(), IsOk());
}

TEST_F(PosixFileSystemTest, AFileIsAppendedToOrBegunAgain) {
  Write(path_, "one");
  {
    auto file = files_.NewAppendableFile(path_);
    ASSERT_THAT(file, IsOk());
    ASSERT_THAT((*file)->Append("two"), IsOk());
  }
  EXPECT_EQ(Read(path_), "onetwo");
  Write(path_, "x");
  EXPECT_EQ(Read(path_), "x");
}

TEST_F(PosixFileSystemTest, SyncMayRunBesideAppends) {
  auto file = files_.NewWritableFile(path_);
  ASSERT_THAT(file, IsOk());
  std::thread syncing([&] {
    for (int i = 0; i < 20; ++i) EXPECT_THAT((*file)->Sync(), IsOk());
  });
  std::string expected;
  for (int i = 0; i < 2000; ++i) {
    const std::string bytes = std::to_string(i) + ",";
    EXPECT_THAT((*file)->Append(bytes), IsOk());
    if (i % 3 == 0) {
      EXPECT_THAT((*file)->Flush(), IsOk());
    }
    expected += bytes;
  }
  syncing.join();
  ASSERT_THAT((*file)->Close(), IsOk());
  EXPECT_EQ(Read(path_), expected);
}

TEST_F(PosixFileSystemTest, RandomReadsStopAtTheEnd) {
  Write(path_, "0123456789");
  auto file = files_.NewRandomAccessFile(path_);
  ASSERT_THAT(file, IsOk());
  char scratch[20];
  EXPECT_THAT((*file)->Read(0, 4, scratch), IsOkAndHolds("0123"));
  EXPECT_THAT((*file)->Read(7, 20, scratch), IsOkAndHolds("789"));
  EXPECT_THAT((*file)->Read(10, 1, scratch), IsOkAndHolds(""));
  EXPECT_THAT((*file)->Read(UINT64_MAX, 1, scratch), IsOkAndHolds(""));

  Write(path_, "");
  file = files_.NewRandomAccessFile(path_);
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT((*file)->Read(0, 4, scratch), IsOkAndHolds(""));
}

// One file may be mapped any number of times; beyond the cap it is read.
TEST_F(PosixFileSystemTest, ReadsGoOnBeyondTheCapOnMappings) {
  constexpr int kMappingsMax = 4096;
  Write(path_, "0123456789");
  std::vector<std::unique_ptr<RandomAccessFile>> open;
  for (int i = 0; i < kMappingsMax + 10; ++i) {
    auto file = files_.NewRandomAccessFile(path_);
    ASSERT_THAT(file, IsOk()) << i;
    open.push_back(*std::move(file));
  }
  char scratch[4];
  const auto mapped = open.front()->Read(3, 4, scratch);
  const auto read = open.back()->Read(3, 4, scratch);
  ASSERT_THAT(mapped, IsOkAndHolds("3456"));
  ASSERT_THAT(read, IsOkAndHolds("3456"));
  EXPECT_NE(mapped->data(), scratch);
  EXPECT_EQ(read->data(), scratch);
  EXPECT_THAT(open.back()->Read(8, 4, scratch), IsOkAndHolds("89"));

  open.clear();
  auto again = files_.NewRandomAccessFile(path_);
  ASSERT_THAT(again, IsOk());
  EXPECT_NE((*again)->Read(0, 1, scratch)->data(), scratch);
}

TEST_F(PosixFileSystemTest, SequentialReadsSkip) {
  Write(path_, "0123456789");
  auto file = files_.NewSequentialFile(path_);
  ASSERT_THAT(file, IsOk());
  char scratch[4];
  ASSERT_THAT((*file)->Skip(6), IsOk());
  ASSERT_THAT((*file)->Read(2, scratch), IsOkAndHolds(2u));
  EXPECT_EQ(std::string_view(scratch, 2), "67");
  ASSERT_THAT((*file)->Skip(100), IsOk());
  EXPECT_THAT((*file)->Read(1, scratch), IsOkAndHolds(0u));
}

TEST_F(PosixFileSystemTest, NamesAndSizes) {
  const std::string sub = dir_.Sub("sub");
  EXPECT_THAT(files_.CreateDirectory(sub), IsOk());
  EXPECT_THAT(files_.CreateDirectory(sub), IsOk());
  EXPECT_THAT(files_.List(sub), IsOkAndHolds(UnorderedElementsAre()));
  Write(sub + "/a", "12345");
  Write(sub + "/.b", "");
  EXPECT_THAT(files_.List(sub), IsOkAndHolds(UnorderedElementsAre("a", ".b")));
  EXPECT_THAT(files_.Size(sub + "/a"), IsOkAndHolds(5u));
  EXPECT_THAT(files_.Truncate(sub + "/a", 2), IsOk());
  EXPECT_EQ(Read(sub + "/a"), "12");
  EXPECT_THAT(files_.Rename(sub + "/a", sub + "/.b"), IsOk());
  EXPECT_THAT(files_.Exists(sub + "/a"), IsOkAndHolds(false));
  EXPECT_THAT(files_.Exists(sub + "/.b"), IsOkAndHolds(true));
  EXPECT_THAT(files_.SyncDirectory(sub), IsOk());
  EXPECT_THAT(files_.Delete(sub + "/.b"), IsOk());
  EXPECT_THAT(files_.DeleteDirectory(sub), IsOk());
  EXPECT_THAT(files_.Exists(sub), IsOkAndHolds(false));
}

TEST_F(PosixFileSystemTest, AHardLinkIsASecondNameOfTheFile) {
  Write(path_, "one");
  const std::string link = dir_.Sub("link");
  ASSERT_THAT(files_.HardLink(path_, link), IsOk());
  EXPECT_THAT(files_.HardLink(path_, link),
              StatusIs(absl::StatusCode::kInternal, link));
  ASSERT_THAT(files_.Delete(path_), IsOk());
  EXPECT_EQ(Read(link), "one");
}

TEST_F(PosixFileSystemTest, NoHardLinkReachesAnotherDevice) {
  Write(path_, "one");
  const std::string link =
      "/dev/shm/dovetail." + std::to_string(::getpid()) + ".link";
  struct stat here;
  struct stat there;
  if (::stat(path_.c_str(), &here) != 0 || ::stat("/dev/shm", &there) != 0 ||
      here.st_dev == there.st_dev) {
    GTEST_SKIP() << "this system has no other device at /dev/shm";
  }
  EXPECT_THAT(files_.HardLink(path_, link),
              StatusIs(absl::StatusCode::kUnimplemented, link));
  EXPECT_THAT(files_.Exists(link), IsOkAndHolds(false));
}

TEST_F(PosixFileSystemTest, ErrorsNameThePathAndTheCause) {
  using Code = absl::StatusCode;
  const std::string no = dir_.Sub("no");
  for (const absl::Status& status :
       {files_.NewSequentialFile(no).status(),
        files_.NewRandomAccessFile(no).status(),
        files_.NewWritableFile(no + "/x").status(),
        files_.NewAppendableFile(no + "/x").status(), files_.List(no).status(),
        files_.Size(no).status(), files_.Delete(no), files_.Rename(no, no),
        files_.DeleteDirectory(no), files_.CreateDirectory(no + "/x"),
        files_.HardLink(no, no), files_.Truncate(no, 0),
        files_.SyncDirectory(no), files_.Lock(no + "/x").status()}) {
    EXPECT_THAT(status, StatusIs(Code::kNotFound, no));
    EXPECT_THAT(status, StatusIs(Code::kNotFound, "No such file"));
  }
  Write(path_, "");
  EXPECT_THAT(files_.CreateDirectory(path_),
              StatusIs(Code::kFailedPrecondition, path_));
  EXPECT_THAT(files_.List(path_), StatusIs(Code::kFailedPrecondition, path_));
  EXPECT_THAT(files_.Exists(path_ + "/x"), IsOkAndHolds(false));
  EXPECT_THAT(files_.NewWritableFile(dir_.path()),
              StatusIs(Code::kInternal, dir_.path()));
}

TEST_F(PosixFileSystemTest, AFullDiskIsResourceExhausted) {
  auto full = files_.NewAppendableFile("/dev/full");
  if (!full.ok()) GTEST_SKIP() << "this system has no /dev/full";
  ASSERT_THAT((*full)->Append("x"), IsOk());
  EXPECT_THAT((*full)->Flush(),
              StatusIs(absl::StatusCode::kResourceExhausted, "/dev/full"));
}

TEST_F(PosixFileSystemTest, ALockExcludesThisProcessByAnyPath) {
  auto lock = files_.Lock(path_);
  ASSERT_THAT(lock, IsOk());
  const std::string pid = std::to_string(::getpid());
  EXPECT_EQ(Read(path_), pid + "\n");
  std::filesystem::create_symlink(path_, dir_.Sub("alias"));
  for (const std::string& path :
       {path_, dir_.path() + "/./file", dir_.Sub("alias")}) {
    EXPECT_THAT(
        files_.Lock(path),
        StatusIs(absl::StatusCode::kFailedPrecondition, "holder_pid=" + pid));
  }
  lock->reset();
  EXPECT_THAT(files_.Lock(path_), IsOk());
}

TEST_F(PosixFileSystemTest, ALockExcludesOtherProcessesUntilItsHolderEnds) {
  int ready[2];
  int finish[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(finish), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  char byte = 0;
  if (child == 0) {
    const auto lock = files_.Lock(path_);
    byte = lock.ok() ? 'y' : 'n';
    if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
    if (::read(finish[0], &byte, 1) != 1) ::_exit(1);
    ::_exit(0);
  }
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_THAT(files_.Lock(path_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "holder_pid=" + std::to_string(child)));
  ASSERT_EQ(::write(finish[1], &byte, 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(files_.Lock(path_), IsOk());
  for (const int fd : {ready[0], ready[1], finish[0], finish[1]}) ::close(fd);
}

}  // namespace
}  // namespace dovetail::test

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A fresh directory for one test, removed with everything in it at the end.

#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace dovetail::test {

// Under $TMPDIR, or /tmp. Ends the program if none can be made: nothing that
// needs one can go on.
class TempDir {
 public:
  TempDir() {
    std::error_code error;
    std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    if (error) parent = "/tmp";
    path_ = (parent / "dovetail.XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) {
      std::perror(path_.c_str());
      std::abort();
    }
  }
  ~TempDir() {
    std::error_code error;  // What cannot be removed is left to the system.
    std::filesystem::remove_all(path_, error);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string Sub(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }

 private:
  std::string path_;
};

}  // namespace dovetail::test

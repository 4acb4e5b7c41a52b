// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The dovetail program as a user runs it: real processes on real directories.

#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/json.h"
#include "gtest/gtest.h"

namespace dovetail {

struct Result {
  int code = -1;
  std::string out;
  std::string err;
};

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class CliTest : public testing::Test {
 protected:
  CliTest() {
    std::string path = absl::StrCat(testing::TempDir(), "dovetail_cli_XXXXXX");
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    dir_ = path;
    db_ = absl::StrCat(dir_, "/db");
    unsetenv("DOVETAIL_DB");
  }
  ~CliTest() override { std::filesystem::remove_all(dir_); }

  std::string Path(const std::string& name) const {
    return absl::StrCat(dir_, "/", name);
  }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
    return Path(name);
  }

  // Starts the program with its streams on files; `input` is standard input.
  pid_t Start(const std::vector<std::string>& arguments, int input) const {
    const pid_t child = fork();
    if (child != 0) return child;
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    dup2(input, STDIN_FILENO);
    dup2(open(Path("out").c_str(), flags, 0600), STDOUT_FILENO);
    dup2(open(Path("err").c_str(), flags, 0600), STDERR_FILENO);
    std::vector<char*> argv = {const_cast<char*>(DOVETAIL_BINARY)};
    for (const std::string& argument : arguments) {
      argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  Result Finish(pid_t child) const {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    Result result;
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    result.out = ReadFile(Path("out"));
    result.err = ReadFile(Path("err"));
    return result;
  }
  Result Run(const std::vector<std::string>& arguments,
             const std::string& input = "") const {
    const int fd = open(Write("in", input).c_str(), O_RDONLY);
    const Result result = Finish(Start(arguments, fd));
    close(fd);
    return result;
  }
  // Runs, expects success, returns standard output.
  std::string Out(const std::vector<std::string>& arguments) const {
    const Result result = Run(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }

  // A column of tab-separated output.
  static std::vector<std::string> Column(const std::string& tsv,
                                         const std::string& name) {
    std::vector<std::string> lines = absl::StrSplit(tsv, '\n');
    const std::vector<std::string> header = absl::StrSplit(lines[0], '\t');
    size_t column = 0;
    while (column < header.size() && header[column] != name) ++column;
    std::vector<std::string> values;
    for (size_t i = 1; i + 1 < lines.size(); ++i) {
      const std::vector<std::string> cells = absl::StrSplit(lines[i], '\t');
      values.push_back(column < cells.size() ? cells[column] : "(none)");
    }
    return values;
  }

  void Init() const { Out({"init", db_, "--preset", "seller_orders"}); }
  // Orders o-0, o-1, ... of one seller at 0, 1000, ... ms, statuses in turn.
  void InitWithOrders(int count) const {
    Init();
    static constexpr const char* kStatuses[] = {"CREATED", "SHIPPED"};
    std::string csv = "order_id,seller_id,ts_ms,status\n";
    for (int i = 0; i < count; ++i) {
      absl::StrAppend(&csv, "o-", i, ",s-1,", i * 1000, ",", kStatuses[i % 2],
                      "\n");
    }
    Out({"import", db_, "orders", Write("orders.csv", csv)});
  }
  uint64_t RowCount() const {
    std::string json = Out({"verify", db_, "--json"});
    json.resize(json.find('\n'));
    size_t at = 0;
    const auto object = ParseJsonObject(json, &at);
    EXPECT_TRUE(object.ok()) << json;
    uint64_t rows = ~uint64_t{0};
    for (const ForeignValue& member : object->members) {
      if (member.name == "rows") {
        EXPECT_TRUE(absl::SimpleAtoi(member.text, &rows));
      } else if (member.name == "clean") {
        EXPECT_EQ(member.text, "true");
      }
    }
    return rows;
  }
  // Whether every line is a JSON object, and there is one.
  static bool IsJson(const std::string& text) {
    if (text.empty() || text.back() != '\n') return false;
    const std::vector<std::string> lines =
        absl::StrSplit(text.substr(0, text.size() - 1), '\n');
    size_t at = 0;
    return std::all_of(lines.begin(), lines.end(), [&at](const auto& line) {
      return ParseJsonObject(line, &at).ok();
    });
  }

  std::string dir_;
  std::string db_;
};

}  // namespace dovetail

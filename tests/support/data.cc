// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "tests/support/data.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"

extern char** environ;

namespace dovetail::test {
namespace {

// The bytes of a file, or what xzcat makes of it.
class ByteSource {
 public:
  static absl::StatusOr<ByteSource> Open(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
      return absl::NotFoundError(
          absl::StrCat("cannot read path=", ToAbsl(Quote(path)),
                       " error=", std::strerror(errno)));
    }
    if (!absl::EndsWith(path, ".xz")) return ByteSource(file, -1);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      close(file);
      return absl::InternalError("cannot make a pipe");
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, file, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    char name[] = "xzcat";
    char* const args[] = {name, nullptr};
    pid_t child = -1;
    const int error =
        posix_spawnp(&child, name, &actions, nullptr, args, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(file);
    close(ends[1]);
    if (error != 0) {
      close(ends[0]);
      return absl::InternalError(
          absl::StrCat("cannot run xzcat error=", std::strerror(error)));
    }
    return ByteSource(ends[0], child);
  }

  ByteSource(ByteSource&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        child_(std::exchange(other.child_, -1)) {}
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  ~ByteSource() { Finish().IgnoreError(); }  // Only after an earlier error.

  // Returns how many bytes came, 0 at the end.
  absl::StatusOr<size_t> Read(char* buffer, size_t size) {
    while (true) {
      const ssize_t n = read(fd_, buffer, size);
      if (n >= 0) return static_cast<size_t>(n);
      if (errno != EINTR) return absl::InternalError("read failed");
    }
  }

  absl::Status Finish() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
    if (child_ < 0) return absl::OkStatus();
    int result = 0;
    while (waitpid(child_, &result, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    if (result == 0) return absl::OkStatus();
    return absl::DataLossError("xzcat failed");
  }

 private:
  ByteSource(int fd, pid_t child) : fd_(fd), child_(child) {}

  int fd_;
  pid_t child_;
};

// RFC 4180 as a machine of four states, fed byte by byte.
class CsvParser {
 public:
  // Takes a byte; true if it ended a record, which is then in fields().
  bool Feed(char c) {
    switch (state_) {
      case State::kFieldStart:
        if (c == '"') {
          state_ = State::kQuoted;
          return false;
        }
        state_ = State::kPlain;
        [[fallthrough]];
      case State::kPlain:
        return FeedOutside(c);
      case State::kQuoted:
        if (c == '"') {
          state_ = State::kQuoteInQuoted;
        } else {
          field_.push_back(c);
        }
        return false;
      case State::kQuoteInQuoted:
        if (c == '"') {
          field_.push_back(c);
          state_ = State::kQuoted;
          return false;
        }
        return FeedOutside(c);
    }
    return false;
  }

  // At the end of the input; true if that ended a record.
  bool FeedEnd() {
    const bool inside = state_ == State::kPlain ||
                        state_ == State::kQuoteInQuoted || !fields_.empty();
    return inside && !open_quote() ? FeedOutside('\n') : false;
  }
  bool open_quote() const { return state_ == State::kQuoted; }

  std::vector<std::string>& fields() { return fields_; }
  void NextRecord() { fields_.clear(); }

 private:
  enum class State { kFieldStart, kPlain, kQuoted, kQuoteInQuoted };

  bool FeedOutside(char c) {
    if (c != ',' && c != '\n') {
      field_.push_back(c);
      return false;
    }
    if (c == '\n' && !field_.empty() && field_.back() == '\r') {
      field_.pop_back();
    }
    fields_.push_back(std::move(field_));
    field_.clear();
    state_ = State::kFieldStart;
    return c == '\n';
  }

  State state_ = State::kFieldStart;
  std::string field_;
  std::vector<std::string> fields_;
};

// From the header row: at which positions the wanted columns are.
absl::StatusOr<std::vector<size_t>> FindColumns(
    const std::vector<std::string>& header,
    const std::vector<std::string>& columns) {
  std::vector<size_t> positions;
  for (const std::string& column : columns) {
    const auto at = std::find(header.begin(), header.end(), column);
    if (at == header.end()) {
      return absl::NotFoundError(
          absl::StrCat("no such column name=", ToAbsl(Quote(column))));
    }
    positions.push_back(static_cast<size_t>(at - header.begin()));
  }
  return positions;
}

}  // namespace

std::string SharedData(std::string_view relative) {
  const char* directory = std::getenv("DOVETAIL_SHARED_DATA");
  if (directory == nullptr || *directory == '\0') {
    directory = DOVETAIL_SOURCE_DIR "/../shared/data";
  }
  return absl::StrCat(directory, "/", ToAbsl(relative));
}

bool HasSharedData(std::string_view relative) {
  return access(SharedData(relative).c_str(), R_OK) == 0;
}

absl::Status ReadCsv(
    const std::string& path, const std::vector<std::string>& columns,
    const std::function<absl::Status(std::vector<std::string>&)>& row) {
  ASSIGN_OR_RETURN(ByteSource source, ByteSource::Open(path));
  CsvParser parser;
  std::optional<std::vector<size_t>> positions;
  size_t width = 0;
  uint64_t record = 0;
  std::vector<std::string> wanted(columns.size());
  const auto take = [&]() -> absl::Status {
    std::vector<std::string>& fields = parser.fields();
    if (!positions.has_value()) {
      ASSIGN_OR_RETURN(positions, FindColumns(fields, columns));
      width = fields.size();
    } else {
      ++record;
      if (fields.size() != width) {
        return absl::InvalidArgumentError(
            absl::StrCat("wrong number of fields record=", record,
                         " fields=", fields.size(), " header=", width));
      }
      for (size_t i = 0; i < wanted.size(); ++i) {
        wanted[i] = fields[(*positions)[i]];
      }
      RETURN_IF_ERROR(row(wanted));
    }
    parser.NextRecord();
    return absl::OkStatus();
  };
  std::vector<char> buffer(1 << 16);
  while (true) {
    ASSIGN_OR_RETURN(const size_t n, source.Read(buffer.data(), buffer.size()));
    if (n == 0) break;
    for (size_t i = 0; i < n; ++i) {
      if (parser.Feed(buffer[i])) RETURN_IF_ERROR(take());
    }
  }
  if (parser.open_quote()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a quote is not closed record=", record + 1));
  }
  if (parser.FeedEnd()) RETURN_IF_ERROR(take());
  return source.Finish();
}

absl::StatusOr<int64_t> ParseTimeMs(std::string_view text) {
  // Numbers in the order of the text: date, time, then fraction and zone.
  size_t at = 0;
  const auto number = [&](size_t digits, int* out) {
    if (at + digits > text.size()) return false;
    const bool ok = absl::SimpleAtoi(ToAbsl(text.substr(at, digits)), out);
    at += digits;
    return ok;
  };
  const auto skip = [&](char c) {
    if (at >= text.size() || text[at] != c) return false;
    ++at;
    return true;
  };
  const absl::Status bad = absl::InvalidArgumentError(
      absl::StrCat("not a time text=", ToAbsl(Quote(text))));
  int year, month, day, hour = 0, minute = 0, second = 0;
  int64_t millis = 0;
  if (!number(4, &year) || !skip('-') || !number(2, &month) || !skip('-') ||
      !number(2, &day)) {
    return bad;
  }
  if (skip(' ') || skip('T')) {
    if (!number(2, &hour) || !skip(':') || !number(2, &minute)) return bad;
    if (skip(':') && !number(2, &second)) return bad;
    if (skip('.')) {
      for (int64_t unit = 100;
           at < text.size() && text[at] >= '0' && text[at] <= '9';
           ++at, unit /= 10) {
        millis += unit * (text[at] - '0');
      }
    }
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
      const int sign = text[at++] == '+' ? 1 : -1;
      int zone_hours, zone_minutes = 0;
      if (!number(2, &zone_hours)) return bad;
      if (skip(':') && !number(2, &zone_minutes)) return bad;
      millis -= sign * (zone_hours * 60 + zone_minutes) * 60'000;
    } else {
      skip('Z');
    }
  }
  const std::chrono::year_month_day date(
      std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
      std::chrono::day(static_cast<unsigned>(day)));
  if (at != text.size() || !date.ok()) return bad;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24 + hour) * 60 + minute) * 60'000 + second * 1000 + millis;
}

}  // namespace dovetail::test

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/progress.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "dovetail/environment.h"

namespace dovetail::cli {
namespace {

constexpr int64_t kDrawEveryMicros = 1'000'000;
constexpr uint64_t kBarCells = 24;

std::string Bar(uint64_t done, uint64_t total) {
  const uint64_t full = std::min(done, total) * kBarCells / total;
  std::string bar = "[";
  bar.append(full, '#');
  bar.append(kBarCells - full, '.');
  return absl::StrCat(bar, "] ", std::min(done, total) * 100 / total, "% ");
}

}  // namespace

Progress::Progress(const Console& console)
    : shown_(console.progress),
      terminal_(console.progress_on_terminal),
      start_(Clock::System()->MonotonicMicros()),
      last_draw_(start_) {}

Progress::~Progress() { Wipe(); }

int64_t Progress::micros() const {
  return Clock::System()->MonotonicMicros() - start_;
}

void Progress::Update(std::string_view label, uint64_t done, uint64_t total,
                      std::string_view unit) {
  if (!shown_) return;
  const int64_t now = Clock::System()->MonotonicMicros();
  const int64_t passed = now - last_draw_;
  if (passed < kDrawEveryMicros) return;
  const uint64_t rate = (done < last_done_ ? done : done - last_done_) *
                        1'000'000 / static_cast<uint64_t>(passed);
  std::string line =
      absl::StrCat(terminal_ ? "\r\x1b[K" : "", ToAbsl(label), ": ",
                   total == 0 ? "" : Bar(done, total), CountText(done));
  if (total > 0) absl::StrAppend(&line, " of ", CountText(total));
  absl::StrAppend(&line, " ", ToAbsl(unit), ", ", CountText(rate), "/s");
  if (total > done && rate > 0) {
    absl::StrAppend(&line, ", ", CountText((total - done) / rate + 1),
                    " s left");
  }
  if (!terminal_) line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
  last_draw_ = now;
  last_done_ = done;
  drawn_ = true;
}

void Progress::Wipe() {
  if (drawn_ && terminal_) std::fputs("\r\x1b[K", stderr);
  drawn_ = false;
}

}  // namespace dovetail::cli

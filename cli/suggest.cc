// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/suggest.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace dovetail::cli {
namespace {

constexpr size_t kLettersMax = 100;  // The work grows with their square.

// Letters changed, added, left out, or swapped with their neighbour.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, last, now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) now[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = last;
    last = now;
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], before[j - 2] + 1);
      }
    }
  }
  return now[b.size()];
}

}  // namespace

std::string Closest(std::string_view word,
                    const std::vector<std::string>& names) {
  if (word.size() > kLettersMax) return "";
  const std::string wanted = absl::AsciiStrToLower(ToAbsl(word));
  std::string best;
  size_t least = std::max<size_t>(1, wanted.size() / 3) + 1;
  for (const std::string& name : names) {
    if (name.size() > kLettersMax) continue;
    const size_t distance = Distance(wanted, absl::AsciiStrToLower(name));
    if (distance >= least) continue;
    least = distance;
    best = name;
  }
  return best;
}

std::string DidYouMean(std::string_view word,
                       const std::vector<std::string>& names) {
  const std::string name = Closest(word, names);
  return name.empty() ? "" : absl::StrCat("Did you mean ", name, "? ");
}

}  // namespace dovetail::cli

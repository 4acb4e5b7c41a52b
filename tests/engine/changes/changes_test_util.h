// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Changes as one line of text each, to compare at once.

#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/strings.h"
#include "dovetail/change_stream.h"
#include "gtest/gtest.h"

namespace dovetail::test {

// Hands out `text`, a few bytes at a time.
inline ChangeReader::ReadFunction FromText(std::string text, size_t chunk = 7) {
  auto at = std::make_shared<size_t>(0);
  return [text = std::move(text), at, chunk](
             char* out, size_t n) -> absl::StatusOr<size_t> {
    const size_t size = std::min({n, chunk, text.size() - *at});
    std::memcpy(out, text.data() + *at, size);
    *at += size;
    return size;
  };
}

inline std::string Render(const ForeignChange& change) {
  std::string out(ToAbsl(ChangeKindName(change.kind)));
  if (!change.database.empty() || !change.table.empty()) {
    absl::StrAppend(&out, " ", change.database, ".", change.table);
  }
  const auto image = [&out](const char* name,
                            const std::optional<ForeignValue>& value) {
    if (value.has_value()) absl::StrAppend(&out, " ", name, ToJson(*value));
  };
  image("key", change.key);
  image("before", change.before);
  image("after", change.after);
  for (const std::string& family : change.cleared) {
    absl::StrAppend(&out, " without ", family);
  }
  if (change.no_primary_key) out += " no primary key";
  return out;
}

// A line a change, an error as "! message"; all that `text` holds.
inline std::vector<std::string> ReadChanges(ChangeFormat format,
                                            std::string text,
                                            ChangeReaderOptions options = {}) {
  auto reader = ChangeReader::Open(format, FromText(std::move(text)), options);
  if (!reader.ok()) return {absl::StrCat("! ", reader.status().message())};
  std::vector<std::string> out;
  ChangeEntry entry;
  for (;;) {
    const absl::StatusOr<bool> got = (*reader)->Next(&entry);
    if (!got.ok()) {
      EXPECT_TRUE(absl::IsInvalidArgument(got.status())) << got.status();
      EXPECT_TRUE(entry.changes.empty());
      out.push_back(absl::StrCat("! ", got.status().message()));
      continue;
    }
    if (!*got) return out;
    for (const ForeignChange& change : entry.changes) {
      out.push_back(Render(change));
    }
  }
}

}  // namespace dovetail::test

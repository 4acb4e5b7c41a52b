// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Any bytes as a change stream of one format, read, and mapped with the
// example mapping of that format. What must hold for all of them:
//
//  - reading ends, and each entry lies behind the one before it;
//  - what is refused is refused with InvalidArgument, which names its line;
//  - a reader that skips to the end of an entry reads what follows it.

#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dovetail/change_stream.h"
#include "dovetail/engine.h"
#include "dovetail/presets.h"
#include "dovetail/v1/change_mapping.pb.h"
#include "google/protobuf/text_format.h"
#include "tests/fuzz/require.h"

namespace dovetail::test {

inline ChangeReader::ReadFunction FromBytes(std::string_view bytes) {
  auto at = std::make_shared<size_t>(0);
  return [bytes, at](char* out, size_t n) -> absl::StatusOr<size_t> {
    const size_t size = std::min({n, size_t{512}, bytes.size() - *at});
    std::memcpy(out, bytes.data() + *at, size);
    *at += size;
    return size;
  };
}

// A mapper for an engine in memory; both live as long as the process.
inline const ChangeMapper& ExampleMapper(std::string_view example) {
  static const ChangeMapper* const mapper = [example] {
    Schema schema;
    schema.Add(presets::SellerOrders("orders"));
    auto engine = Engine::Open("memory", schema, {.in_memory = true});
    Require(engine.ok(), "no engine");
    const std::ifstream file(absl::StrCat(
        DOVETAIL_SOURCE_DIR, "/examples/changes/",
        absl::string_view(example.data(), example.size()), ".textproto"));
    std::ostringstream text;
    text << file.rdbuf();
    v1::ChangeMapping mapping;
    Require(google::protobuf::TextFormat::ParseFromString(text.str(), &mapping),
            "no mapping");
    // Of any table, so that what is read is mapped too.
    for (v1::TableMapping& table : *mapping.mutable_tables()) {
      table.clear_sources();
    }
    auto compiled = ChangeMapper::Compile(engine->release(), mapping);
    Require(compiled.ok(), "the mapping does not fit");
    return new ChangeMapper(*std::move(compiled));
  }();
  return *mapper;
}

struct ReadEntry {
  uint64_t line = 0;
  uint64_t last_line = 0;
  size_t changes = 0;
  std::string error;
};

inline std::vector<ReadEntry> ReadAllEntries(ChangeReader* reader,
                                             const ChangeMapper& mapper) {
  std::vector<ReadEntry> entries;
  ChangeEntry entry;
  for (;;) {
    const absl::StatusOr<bool> got = reader->Next(&entry);
    if (got.ok() && !*got) return entries;
    ReadEntry& read = entries.emplace_back();
    read.line = entry.line;
    read.last_line = entry.last_line;
    read.changes = entry.changes.size();
    const absl::Status status =
        got.ok() ? mapper.Map(entry).status() : got.status();
    if (status.ok()) continue;
    read.error = std::string(status.message());
    Require(absl::IsInvalidArgument(status), read.error);
    Require(read.error.find("line=") != std::string::npos, read.error);
  }
}

// Keeps freed memory: readers have buffers that malloc would give back to the
// system and ask for again, with each input.
inline void KeepMemory() {
  static const bool done [[maybe_unused]] =
      mallopt(M_MMAP_THRESHOLD, 1 << 30) != 0 &&
      mallopt(M_TRIM_THRESHOLD, 1 << 30) != 0;
}

inline int CheckChangeBytes(ChangeFormat format, std::string_view example,
                            std::string_view bytes) {
  KeepMemory();
  const ChangeMapper& mapper = ExampleMapper(example);
  ChangeReaderOptions options;
  options.entry_bytes_max = 1 << 12;
  options.entry_values_max = 1 << 10;
  auto reader = ChangeReader::Open(format, FromBytes(bytes), options);
  if (!reader.ok()) {
    Require(absl::IsInvalidArgument(reader.status()), "not InvalidArgument");
    return 0;
  }
  const std::vector<ReadEntry> entries = ReadAllEntries(reader->get(), mapper);
  for (size_t i = 1; i < entries.size(); ++i) {
    Require(entries[i].line > entries[i - 1].last_line, "entries that overlap");
  }
  if (entries.size() < 2) return 0;
  const size_t middle = entries.size() / 2;
  auto rest = ChangeReader::Open(format, FromBytes(bytes), options);
  Require(rest.ok() && (*rest)->SkipLines(entries[middle - 1].last_line).ok(),
          "lines that cannot be skipped");
  const std::vector<ReadEntry> again = ReadAllEntries(rest->get(), mapper);
  Require(again.size() == entries.size() - middle, "other entries");
  for (size_t i = 0; i < again.size(); ++i) {
    Require(again[i].line == entries[middle + i].line &&
                again[i].error == entries[middle + i].error,
            "another entry");
  }
  return 0;
}

}  // namespace dovetail::test

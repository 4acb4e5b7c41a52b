// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// All that is stored in a database, to be compared.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/coding.h"
#include "base/status_macros.h"
#include "dovetail/engine.h"
#include "engine/row_format.h"
#include "index/hash.h"

namespace dovetail::test {

enum class Versions { kCompare, kIgnore };

// Calls `visit(space, key, value)` for everything of all tables and indexes.
template <typename Visit>
absl::Status ForEachStored(Engine& engine, Versions versions, Visit visit) {
  ASSIGN_OR_RETURN(const v1::Schema schema, engine.GetSchema());
  for (const v1::TableSchema& table : schema.tables()) {
    const auto rows = [&](const StoredPair& item) {
      const absl::StatusOr<StoredRow> row = DecodeRow(item.value);
      const bool whole = versions == Versions::kCompare || !row.ok();
      visit(table.name(), item.key, whole ? item.value : row->record);
      return true;
    };
    RETURN_IF_ERROR(engine.ForEachStored({}, table.name(), {}, {}, rows));
    for (const v1::IndexSchema& index : table.indexes()) {
      const std::string space = absl::StrCat(table.name(), "/", index.name());
      const auto entries = [&](const StoredPair& item) {
        visit(space, item.key, item.value);
        return true;
      };
      RETURN_IF_ERROR(
          engine.ForEachStored({}, table.name(), index.name(), {}, entries));
    }
  }
  return absl::OkStatus();
}

using Content = std::map<std::pair<std::string, std::string>, std::string>;

inline Content ContentOf(Engine& engine,
                         Versions versions = Versions::kCompare) {
  Content content;
  const absl::Status read = ForEachStored(
      engine, versions,
      [&](std::string_view space, std::string_view key,
          std::string_view value) {
        content[{std::string(space), std::string(key)}] = std::string(value);
      });
  DOVETAIL_CHECK(read.ok());
  return content;
}

// A hash of the same; 0 if something could not be read.
inline uint64_t ContentHash(Engine& engine,
                            Versions versions = Versions::kCompare) {
  std::string state(8, '\0');
  const absl::Status read =
      ForEachStored(engine, versions,
                    [&](std::string_view space, std::string_view key,
                        std::string_view value) {
                      state = absl::StrCat(state, "/", space.size(), "/",
                                           key.size(), "/", value.size(), "/");
                      state.append(space).append(key).append(value);
                      std::string next;
                      AppendHash(v1::XXH3, state, 8, &next);
                      state = std::move(next);
                    });
  return read.ok() ? DecodeBigEndian(state.data(), 8) : 0;
}

}  // namespace dovetail::test

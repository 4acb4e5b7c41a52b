// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Write logs made from an engine's change feed, with the old fields that the
// feed leaves out; and all that is stored in a database, to be compared.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/coding.h"
#include "base/status_macros.h"
#include "dovetail/engine.h"
#include "dovetail/write_log.h"
#include "engine/row_format.h"
#include "index/compiled_table.h"
#include "index/hash.h"

namespace dovetail::test {

// Turns a feed's records, all of them from the first commit on, into those of
// a write log. Keeps every row.
class FeedLog {
 public:
  explicit FeedLog(const v1::Schema& schema) {
    for (const v1::TableSchema& table : schema.tables()) {
      auto compiled = CompiledTable::Compile(table);
      DOVETAIL_CHECK(compiled.ok());
      tables_[table.name()] = *std::move(compiled);
    }
  }

  void Complete(v1::WriteLogRecord* record) {
    record->set_schema_fingerprint(1);
    for (v1::RowEffect& effect : *record->mutable_effects()) {
      const std::string& old_key =
          effect.old_key().empty() ? effect.new_key() : effect.old_key();
      const auto row = rows_.find({effect.table(), old_key});
      if (row != rows_.end()) {
        EncodedRow fields;
        const CompiledTable& table = *tables_[effect.table()];
        DOVETAIL_CHECK(table.ExtractFields(row->second, &fields).ok());
        table.EncodeOldFields(fields.fields, effect.mutable_old_fields());
        rows_.erase(row);
      }
      if (effect.has_record()) {
        rows_[{effect.table(), effect.new_key()}] = effect.record();
      }
    }
  }

 private:
  std::map<std::string, std::unique_ptr<const CompiledTable>> tables_;
  std::map<std::pair<std::string, std::string>, std::string> rows_;
};

// Writes the feed of `engine`, which was on from the first commit on, as a log
// into `directory`.
inline absl::Status WriteFeedLog(Engine& engine, const std::string& directory,
                                 WriteLogWriterOptions options = {}) {
  ASSIGN_OR_RETURN(options.schema, engine.GetSchema());
  FeedLog completer(options.schema);
  ASSIGN_OR_RETURN(
      const std::unique_ptr<WriteLogWriter> writer,
      WriteLogWriter::Open(FileSystem::Posix(), directory, options));
  ASSIGN_OR_RETURN(const std::unique_ptr<ChangeFeed> feed,
                   engine.OpenFeed("log", FeedStart::kOldest));
  v1::WriteLogRecord record;
  while (true) {
    ASSIGN_OR_RETURN(const bool more,
                     feed->Next(&record, std::chrono::microseconds(0)));
    if (!more) break;
    completer.Complete(&record);
    RETURN_IF_ERROR(writer->Append(record));
  }
  return writer->Close();
}

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

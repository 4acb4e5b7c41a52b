// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Opening a database and a table for a verb, with errors that say what the
// user can do; and command-line words as values for its columns.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/output.h"
#include "dovetail/dynamic_table.h"
#include "dovetail/engine.h"

namespace dovetail::cli {

// Opens an existing database. NotFound if there is none; exits with kInUse if
// another process has it. Notes on standard error what recovery cut. Without
// `background_work` only what the verb does itself is done: no index is built
// and no space emptied beside it. See Options for `write_log`.
absl::StatusOr<std::unique_ptr<Engine>> OpenDatabase(
    const std::string& path, const Console& console,
    bool background_work = false,
    const std::optional<WriteLogOptions>& write_log = std::nullopt);

// What Engine::Open returned, with exit code and advice for `path`.
absl::Status ExplainOpen(const std::string& path, const absl::Status& status);

// Binds the table; NotFound lists the tables there are.
absl::StatusOr<DynamicTable> OpenTable(Engine* engine, std::string_view name);

// The columns of an index, or of the row key if empty; NotFound lists the
// indexes there are.
absl::StatusOr<std::vector<std::string>> IndexColumns(const DynamicTable& table,
                                                      std::string_view index);

// "\xNN" as that byte and "\\" as a backslash. UsageError for other escapes.
absl::StatusOr<std::string> Unescape(std::string_view text);

// A column's value from a word: "\N" is null, a date or time is one also for
// an integer column, the rest as DynamicTable::ParseValue has it. UsageError.
absl::StatusOr<Value> ParseWord(const DynamicTable& table,
                                std::string_view column, std::string_view word);

// One value per word for the first columns of an index. UsageError names the
// columns if there are more words than columns, or fewer than `at_least`.
absl::StatusOr<std::vector<Value>> ParseWords(
    const DynamicTable& table, const std::vector<std::string>& columns,
    const std::vector<std::string>& words, size_t at_least);

// Fields that the table's row key and unique indexes are made of.
absl::StatusOr<std::vector<std::string>> KeyFields(const DynamicTable& table);

}  // namespace dovetail::cli

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/set.h"

#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/column_map.h"
#include "cli/conditions.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/field_text.h"
#include "google/protobuf/message.h"

namespace dovetail::cli {
namespace {

using google::protobuf::Message;

// An assignment is a word that begins with a field's path and '='.
bool IsAssignment(const DynamicTable& table, std::string_view word) {
  const size_t equals = word.find('=');
  return equals != std::string_view::npos &&
         FieldPath::Resolve(table.record_type(), word.substr(0, equals)).ok();
}

// A word with '=' in a value's place: most likely a mistyped field.
absl::Status NotAField(const DynamicTable& table, std::string_view word) {
  const absl::Status status =
      FieldPath::Resolve(table.record_type(), word.substr(0, word.find('=')))
          .status();
  return UsageError(absl::StrCat(ToAbsl(Quote(word)), ": ", status.message()));
}

absl::Status Assign(const DynamicTable& table, const std::string& word,
                    Message* values, std::vector<std::string>* fields) {
  std::string path, text;
  RETURN_IF_ERROR(SplitAssignment("set", word, &path, &text));
  ASSIGN_OR_RETURN(const FieldPath field,
                   FieldPath::Resolve(table.record_type(), path));
  for (const std::string& other : *fields) {
    if (other == path) {
      return UsageError(absl::StrCat("the field is set twice: field=", path));
    }
  }
  fields->push_back(path);
  absl::Status status;
  if (text == "\\N") {
    status = SetNull(field, values);
  } else {
    ASSIGN_OR_RETURN(const std::string bytes, Unescape(text));
    status = SetFromText(field, {}, TimeArgument(field, bytes), values);
  }
  if (status.ok()) return {};
  return WithExitCode(WithContext(word, status), ExitCode::kUsage);
}

}  // namespace

absl::Status RunSet(const SetOptions& options, const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  ASSIGN_OR_RETURN(const DynamicTable table,
                   OpenTable(engine.get(), options.table));
  const std::string index = options.index == "-" ? "" : options.index;
  ASSIGN_OR_RETURN(const std::vector<std::string> columns,
                   IndexColumns(table, index));

  size_t assignments = options.words.size();
  while (assignments > 0 &&
         IsAssignment(table, options.words[assignments - 1])) {
    --assignments;
  }
  if (assignments == options.words.size()) {
    const bool equals = !options.words.empty() &&
                        options.words.back().find('=') != std::string::npos;
    return equals ? NotAField(table, options.words.back())
                  : UsageError("nothing to set; add FIELD=VALUE at the end");
  }
  const auto split = options.words.begin() + static_cast<long>(assignments);
  const std::vector<std::string> words(options.words.begin(), split);
  for (const std::string& word : words) {
    if (words.size() > columns.size() && word.find('=') != std::string::npos) {
      return NotAField(table, word);
    }
  }
  ASSIGN_OR_RETURN(
      std::vector<Value> values,
      ParseWords(table, columns, words, index.empty() ? columns.size() : 1));
  const std::unique_ptr<Message> record = table.NewRecord();
  std::vector<std::string> fields;
  for (auto word = split; word != options.words.end(); ++word) {
    RETURN_IF_ERROR(Assign(table, *word, record.get(), &fields));
  }

  WriteBatch batch;
  batch.Patch(options.table,
              index.empty() ? RowRef::Key(std::move(values))
                            : RowRef::By(index, std::move(values),
                                         options.all ? RowRef::Match::kAll
                                                     : RowRef::Match::kOne),
              record->SerializePartialAsString(), std::move(fields));
  RETURN_IF_ERROR(AddConditions(table, options.conditions, &batch));
  const absl::StatusOr<Commit> commit =
      engine->Write({.sync = options.sync}, batch);
  if (!commit.ok())
    return ExplainChange(commit.status(),
                         options.all || !options.conditions.empty(), "changed",
                         "change");
  RETURN_IF_ERROR(engine->Close());
  const uint64_t rows = commit->rows_changed[0];
  if (console.format == OutputFormat::kJson) {
    Print(absl::StrCat("{\"rows_changed\":", rows, "}\n"));
  }
  if (rows == 0) return absl::NotFoundError("no row matches; nothing changed");
  Note(console,
       absl::StrCat("changed ", CountText(rows), rows == 1 ? " row" : " rows"));
  return {};
}

}  // namespace dovetail::cli

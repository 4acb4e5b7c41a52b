// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/dump.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/hex.h"
#include "cli/interrupt.h"
#include "dovetail/inspect.h"

namespace dovetail::cli {
namespace {

constexpr size_t kPageRows = 1000;

// `hash(seller_id)=0x1f "s1" ...` as `field=value` words.
std::string PartsText(const std::vector<ExplainedPart>& parts) {
  std::string text;
  for (const ExplainedPart& part : parts) {
    const bool plain = part.transform.empty();
    absl::StrAppend(&text, text.empty() ? "" : " ", part.transform,
                    plain ? "" : "(", part.fields, plain ? "" : ")", "=",
                    part.value);
  }
  return text;
}

template <typename T>
std::string OrError(const absl::StatusOr<T>& parts, std::string text) {
  if (parts.ok()) return text;
  return absl::StrCat("DAMAGED: ", parts.status().message());
}

// One table or index, page by page.
class Dumper {
 public:
  Dumper(const DumpOptions& options, const Console& console, Engine* engine,
         const DynamicTable* table, const KeyInspector* keys, bool* header_done)
      : options_(options),
        console_(console),
        engine_(engine),
        table_(table),
        keys_(keys),
        header_done_(header_done) {}

  absl::Status Run(const std::string& index, std::string_view from) {
    index_ = index;
    shown_ = 0;
    absl::Status failed;
    RETURN_IF_ERROR(engine_->ForEachStored(
        {}, table_->name(), index, from, [&](const StoredPair& pair) {
          if (Interrupted()) {
            failed = InterruptedError("interrupted");
            return false;
          }
          if (options_.limit != 0 && shown_ == options_.limit) {
            next_ = ToHex(pair.key);
            return false;
          }
          Add(pair);
          ++shown_;
          if (page_.rows() == kPageRows) Flush();
          return true;
        }));
    Flush();
    if (!next_.empty()) {
      Note(console_,
           absl::StrCat("there is more of ", table_->name(),
                        index.empty() ? "" : ".", index, ": --from ", next_));
      next_.clear();
    }
    return failed;
  }

 private:
  void Add(const StoredPair& pair) {
    const auto key = keys_->Explain(index_, pair.key);
    std::string words = OrError(key, key.ok() ? PartsText(*key) : "");
    page_.Add({table_->name(), index_, std::move(words), ToHex(pair.key),
               index_.empty() ? RecordText(pair) : EntryText(pair),
               ToHex(pair.value)});
  }
  std::string RecordText(const StoredPair& pair) const {
    const absl::StatusOr<RowView> row = KeyInspector::RowOf(pair);
    if (!row.ok()) return OrError(row, "");
    const auto json = table_->ToJson(
        Row{std::string(row->key), std::string(row->record), row->version});
    return OrError(
        json, absl::StrCat("version=", static_cast<uint64_t>(row->version), " ",
                           json.value_or("")));
  }
  std::string EntryText(const StoredPair& pair) const {
    const auto value = keys_->ExplainValue(index_, pair.value);
    return OrError(value, value.ok() ? PartsText(*value) : "");
  }
  void Flush() {
    if (page_.rows() == 0) return;
    Print(console_.format == OutputFormat::kTsv ? page_.Tsv(!*header_done_)
                                                : page_.Text(console_));
    *header_done_ = true;
    page_ = Empty();
  }
  static TextTable Empty() {
    return TextTable(
        {"table", "index", "key", "key_hex", "value", "value_hex"});
  }

  const DumpOptions& options_;
  const Console& console_;
  Engine* const engine_;
  const DynamicTable* const table_;
  const KeyInspector* const keys_;
  bool* const header_done_;

  std::string index_;
  TextTable page_ = Empty();
  uint64_t shown_ = 0;
  std::string next_;
};

}  // namespace

absl::Status RunDump(const DumpOptions& options, const Console& console) {
  if (options.table.empty() && (!options.index.empty() || options.rows)) {
    return UsageError("--index and --rows need --table");
  }
  if (!options.from.empty() && options.index.empty() && !options.rows) {
    return UsageError(
        "--from needs --index, or --rows for rows: keys of "
        "different kinds do not compare");
  }
  ASSIGN_OR_RETURN(const std::string from, ParseHex(options.from));
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  ASSIGN_OR_RETURN(const v1::Schema schema, engine->GetSchema());
  bool header_done = false;  // Of TSV: one for everything.
  for (const v1::TableSchema& one : schema.tables()) {
    if (!options.table.empty() && one.name() != options.table) continue;
    ASSIGN_OR_RETURN(const DynamicTable table,
                     OpenTable(engine.get(), one.name()));
    ASSIGN_OR_RETURN(const KeyInspector keys, KeyInspector::Create(one));
    Dumper dumper(options, console, engine.get(), &table, &keys, &header_done);
    if (!options.index.empty()) {
      RETURN_IF_ERROR(IndexColumns(table, options.index).status());
      return dumper.Run(options.index, from);
    }
    RETURN_IF_ERROR(dumper.Run("", from));
    for (const v1::IndexSchema& index : one.indexes()) {
      if (!options.rows) RETURN_IF_ERROR(dumper.Run(index.name(), ""));
    }
    if (!options.table.empty()) return {};
  }
  if (options.table.empty()) return {};
  return OpenTable(engine.get(), options.table).status();
}

absl::Status RunKey(const KeyOptions& options, const Console& console) {
  if (options.hex.empty() == options.values.empty()) {
    return UsageError("give either values of the first columns or --hex KEY");
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  ASSIGN_OR_RETURN(const DynamicTable table,
                   OpenTable(engine.get(), options.table));
  ASSIGN_OR_RETURN(const std::vector<std::string> columns,
                   IndexColumns(table, options.index));
  ASSIGN_OR_RETURN(const KeyInspector keys,
                   KeyInspector::Create(table.schema()));
  std::vector<std::string> all;
  if (options.values.empty()) {
    ASSIGN_OR_RETURN(all.emplace_back(), ParseHex(options.hex));
  } else {
    ASSIGN_OR_RETURN(const std::vector<Value> values,
                     ParseWords(table, columns, options.values, 1));
    absl::StatusOr<std::vector<std::string>> encoded =
        keys.Encode(options.index, values);
    if (!encoded.ok()) {
      return WithExitCode(encoded.status(), ExitCode::kUsage);
    }
    all = *std::move(encoded);
  }
  TextTable text(
      {"part", "of", "field", "transform", "order", "value", "bytes"});
  for (const std::string& key : all) {
    const auto parts = keys.Explain(options.index, key);
    if (!parts.ok()) {
      return WithHint(
          parts.status(),
          absl::StrCat("A key of ", options.table,
                       options.index.empty() ? "" : ".", options.index,
                       " has the columns: ", absl::StrJoin(columns, " ")));
    }
    size_t number = 0;
    for (const ExplainedPart& part : *parts) {
      const bool row_key = part.of_row_key || options.index.empty();
      text.Add({absl::StrCat(++number), row_key ? "row key" : "index",
                part.fields, part.transform, part.descending ? "desc" : "asc",
                part.value, ToHex(part.bytes)});
    }
  }
  Print(text.Text(console, {"part"}));
  for (const std::string& key : all) {
    Note(console, absl::StrCat("key: ", ToHex(key), " (", key.size(),
                               key.size() == 1 ? " byte)" : " bytes)"));
  }
  return {};
}

}  // namespace dovetail::cli

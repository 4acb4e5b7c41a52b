// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/query.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/filter_text.h"
#include "cli/input_file.h"
#include "cli/page.h"
#include "dovetail/environment.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"

namespace dovetail::cli {
namespace {

constexpr size_t kFileBytesMax = 4 << 20;
constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();

// A database, one of its tables, and a query on it.
struct Opened {
  std::unique_ptr<Engine> engine;
  std::optional<DynamicTable> table;
  std::optional<Query> query;
};

absl::StatusOr<Query> ReadQuery(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadAll(file, kFileBytesMax));
  const absl::string_view trimmed = absl::StripLeadingAsciiWhitespace(text);
  absl::StatusOr<Query> query = absl::StartsWith(trimmed, "{")
                                    ? Query::FromJson(text)
                                    : Query::FromText(text);
  if (query.ok()) return query;
  return WithExitCode(WithContext(file, query.status()), ExitCode::kUsage);
}

absl::StatusOr<Query> QueryOf(const QueryWords& words,
                              const DynamicTable& table) {
  Query query(words.table);
  if (!words.where.empty()) {
    ASSIGN_OR_RETURN(Filter filter,
                     ParseFilter(words.where, [&](std::string_view field,
                                                  std::string_view word) {
                       return ParseWord(table, field, word);
                     }));
    query.Where(std::move(filter));
  }
  if (!words.order_by.empty()) {
    RETURN_IF_ERROR(ParseOrder(words.order_by, &query));
  }
  std::vector<std::string> select;
  for (const std::string& item : words.select) {
    for (absl::string_view field :
         absl::StrSplit(item, absl::ByAnyChar(", "), absl::SkipEmpty())) {
      select.emplace_back(field);
    }
  }
  query.Select(std::move(select));
  return query;
}

// What the options say beside a query of either form.
absl::Status AddOptions(const QueryWords& words, Query* query) {
  query->Limit(words.limit);
  if (!words.continuation.empty()) {
    ASSIGN_OR_RETURN(const std::string token,
                     ParseToken("--continuation", words.continuation));
    query->Continuation(token);
  }
  Query::Budget budget;
  if (words.max_entries > 0) budget.entries = words.max_entries;
  if (words.max_millis > 0) {
    budget.micros = std::min(words.max_millis, kAll / 1000) * 1000;
  }
  if (words.max_entries > 0 || words.max_millis > 0) query->WithBudget(budget);
  if (words.full_scan) query->AllowFullScan();
  if (words.sort) query->AllowSort();
  if (!words.use_index.empty()) query->UseIndex(words.use_index);
  for (const std::string& index : words.avoid_index) query->AvoidIndex(index);
  return {};
}

absl::StatusOr<Opened> OpenQuery(const QueryWords& words,
                                 const Console& console) {
  Opened opened;
  ASSIGN_OR_RETURN(opened.engine, OpenDatabase(words.db, console));
  std::string name = words.table;
  if (!words.file.empty()) {
    if (!words.where.empty() || !words.order_by.empty() ||
        !words.select.empty()) {
      return UsageError(
          "--file is a whole query; give no --where, --order-by or --select "
          "with it");
    }
    ASSIGN_OR_RETURN(opened.query, ReadQuery(words.file));
    if (opened.query->proto().table().empty()) {
      opened.query->proto().set_table(words.table);
    }
    name = opened.query->proto().table();
  }
  ASSIGN_OR_RETURN(opened.table, OpenTable(opened.engine.get(), name));
  if (!opened.query.has_value()) {
    ASSIGN_OR_RETURN(opened.query, QueryOf(words, *opened.table));
  }
  RETURN_IF_ERROR(AddOptions(words, &*opened.query));
  return opened;
}

// What to do about a refusal, in words of the command line.
absl::Status Explained(const absl::Status& status) {
  if (absl::IsInvalidArgument(status)) {
    return WithExitCode(status, ExitCode::kUsage);
  }
  if (absl::IsFailedPrecondition(status) &&
      absl::StrContains(status.message(), "has to be allowed")) {
    return WithHint(status,
                    "--full-scan and --sort allow it; `dovetail advise` "
                    "declares indexes.");
  }
  return status;
}

std::string Json(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  // Only a message with an Any in it can fail.
  (void)google::protobuf::util::MessageToJsonString(message, &json, options);
  return json;
}

// Rows of which only some fields were asked for: the others are not shown.
absl::Status PrintSelected(const DynamicTable& table,
                           const std::vector<Row>& rows, const Query& query,
                           const Console& console) {
  if (console.format == OutputFormat::kJson) {
    for (const Row& row : rows) {
      ASSIGN_OR_RETURN(const auto record, table.Parse(row));
      Print(absl::StrCat(Json(*record), "\n"));
    }
    return {};
  }
  const bool box = console.format == OutputFormat::kBox;
  ASSIGN_OR_RETURN(TextTable text, RowsTable(table, rows, /*box=*/false));
  const google::protobuf::Descriptor& record = *table.record_type();
  for (int i = record.field_count() - 1; i >= 0; --i) {
    const std::string& name = record.field(i)->name();
    const bool selected =
        std::any_of(query.proto().select().begin(),
                    query.proto().select().end(), [&](const std::string& path) {
                      return path == name || absl::StartsWith(path, name + ".");
                    });
    if (!selected) text.Drop(static_cast<size_t>(i));
  }
  Print(box ? text.Box(console.color_out) : text.Tsv());
  return {};
}

}  // namespace

absl::Status RunQuery(const QueryWords& words, const Console& console) {
  ASSIGN_OR_RETURN(Opened opened, OpenQuery(words, console));
  const int64_t start = Clock::System()->MonotonicMicros();
  const absl::StatusOr<QueryPage> page =
      opened.engine->Query({}, *opened.query);
  const int64_t micros = Clock::System()->MonotonicMicros() - start;
  if (!page.ok()) return Explained(page.status());
  if (opened.query->proto().select().empty()) {
    RETURN_IF_ERROR(PrintRows(*opened.table, page->rows, console));
  } else {
    RETURN_IF_ERROR(
        PrintSelected(*opened.table, page->rows, *opened.query, console));
  }
  NoteWork(page->rows.size(), &page->work, micros, console);
  PrintNext("--continuation", TokenText(page->continuation), console);
  return {};
}

absl::Status RunExplain(const QueryWords& words, bool run,
                        const Console& console) {
  ASSIGN_OR_RETURN(Opened opened, OpenQuery(words, console));
  const absl::StatusOr<v1::QueryPlan> plan =
      opened.engine->Explain({}, *opened.query, {.run = run});
  if (!plan.ok()) return Explained(plan.status());
  Print(console.format == OutputFormat::kJson ? absl::StrCat(Json(*plan), "\n")
                                              : PlanText(*plan));
  return {};
}

absl::Status RunCount(const QueryWords& words, const Console& console) {
  ASSIGN_OR_RETURN(Opened opened, OpenQuery(words, console));
  opened.query->Limit(kAll);
  uint64_t rows = 0;
  const int64_t start = Clock::System()->MonotonicMicros();
  const absl::StatusOr<QueryEnd> end =
      opened.engine->ForEach({}, *opened.query, [&](const RowView&) {
        ++rows;
        return true;
      });
  const int64_t micros = Clock::System()->MonotonicMicros() - start;
  if (!end.ok()) return Explained(end.status());
  if (end->stop != StopReason::kEnd) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the budget ended before the rows did: counted=", rows,
                     " entries_read=", end->work.entries,
                     " stop=", ToAbsl(StopReasonName(end->stop))));
  }
  Print(console.format == OutputFormat::kJson
            ? absl::StrCat("{\"count\":", rows, "}\n")
            : absl::StrCat(rows, "\n"));
  NoteWork(rows, &end->work, micros, console);
  return {};
}

absl::Status RunAdvise(const std::string& db, const std::string& file,
                       const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(db, console));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(file, kFileBytesMax));
  std::vector<Query> queries;
  size_t line_number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    absl::StatusOr<Query> query = Query::FromJson(ToStd(line));
    if (!query.ok()) {
      return WithExitCode(
          WithContext(absl::StrCat(file, ":", line_number), query.status()),
          ExitCode::kUsage);
    }
    queries.push_back(*std::move(query));
  }
  const auto advice = engine->Advise(queries);
  if (!advice.ok()) return Explained(advice.status());
  for (const IndexAdvice& each : *advice) {
    if (console.format == OutputFormat::kJson) {
      Print(absl::StrCat("{\"table\":", JsonQuote(each.table),
                         ",\"index\":", Json(each.index), ",\"queries\":[",
                         absl::StrJoin(each.queries, ","), "]}\n"));
      continue;
    }
    std::string declaration;
    google::protobuf::TextFormat::PrintToString(each.index, &declaration);
    Print(absl::StrCat(
        "# table ", each.table, ", for queries ",
        absl::StrJoin(each.queries, ", "), "\n", declaration, "# ",
        absl::StrJoin(absl::StrSplit(absl::StripSuffix(each.plan, "\n"), '\n'),
                      "\n# "),
        "\n\n"));
  }
  Note(console, absl::StrCat(queries.size(), " queries, ", advice->size(),
                             " indexes advised"));
  return {};
}

}  // namespace dovetail::cli

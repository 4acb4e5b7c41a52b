// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/count_groups.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/page.h"
#include "cli/time_text.h"
#include "dovetail/environment.h"

namespace dovetail::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

std::string SumText(absl::int128 sum) {
  std::ostringstream text;
  text << sum;
  return text.str();
}

// The names of the column's values, if it is an enum; else null.
const google::protobuf::EnumDescriptor* EnumOf(const DynamicTable& table,
                                               const std::string& path) {
  const Descriptor* message = table.record_type();
  const FieldDescriptor* field = nullptr;
  size_t from = 0;
  while (message != nullptr && from <= path.size()) {
    const size_t dot = std::min(path.find('.', from), path.size());
    field = message->FindFieldByName(path.substr(from, dot - from));
    message = field == nullptr ? nullptr : field->message_type();
    from = dot + 1;
  }
  return field == nullptr ? nullptr : field->enum_type();
}

std::string ValueText(const google::protobuf::EnumDescriptor* type,
                      const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return "";
    case Value::Kind::kString:
      return value.as_string();
    case Value::Kind::kTimestamp:
      return Rfc3339(absl::FromUnixSeconds(value.as_timestamp().seconds) +
                     absl::Nanoseconds(value.as_timestamp().nanos));
    case Value::Kind::kInt: {
      const auto* named =
          type == nullptr
              ? nullptr
              : type->FindValueByNumber(static_cast<int>(value.as_int()));
      if (named != nullptr) return named->name();
      return value.DebugString();
    }
    default:
      return value.DebugString();
  }
}

// Whether the index sums. UsageError if it does not even count.
absl::StatusOr<bool> IsSum(const DynamicTable& table,
                           const std::string& index) {
  for (const v1::IndexSchema& each : table.schema().indexes()) {
    if (each.name() != index) continue;
    if (each.kind() == v1::IndexSchema::SUM) return true;
    if (each.kind() == v1::IndexSchema::COUNT) return false;
  }
  return WithHint(UsageError(absl::StrCat(
                      "only COUNT and SUM indexes count: table=", table.name(),
                      " index=", ToAbsl(Quote(index)))),
                  "Rows are counted with --where.");
}

void PrintTotals(const Totals& totals, bool sum, const Console& console) {
  if (console.format == OutputFormat::kJson) {
    Print(absl::StrCat(
        "{\"count\":", totals.count,
        sum ? absl::StrCat(",\"sum\":", SumText(totals.sum)) : "", "}\n"));
  } else if (!sum) {
    Print(absl::StrCat(totals.count, "\n"));
  } else {
    TextTable text({"count", "sum"});
    text.Add({absl::StrCat(totals.count), SumText(totals.sum)});
    Print(text.Text(console));
  }
}

}  // namespace

absl::Status RunCountGroups(const CountGroupsOptions& options,
                            const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  ASSIGN_OR_RETURN(const DynamicTable table,
                   OpenTable(engine.get(), options.table));
  ASSIGN_OR_RETURN(const std::vector<std::string> columns,
                   IndexColumns(table, options.index));
  ASSIGN_OR_RETURN(const bool sum, IsSum(table, options.index));
  ASSIGN_OR_RETURN(const std::vector<Value> values,
                   ParseWords(table, columns, options.values, 0));
  const int64_t start = Clock::System()->MonotonicMicros();
  if (!options.groups) {
    GroupRange range;
    range.table = options.table;
    range.index = options.index;
    range.equal = values;
    ASSIGN_OR_RETURN(const Totals totals, engine->Aggregate({}, range));
    PrintTotals(totals, sum, console);
    NoteWork(totals.count, &totals.work,
             Clock::System()->MonotonicMicros() - start, console);
    return absl::OkStatus();
  }
  std::vector<std::string> header = columns;
  std::vector<std::string> numbers = {"count"};
  if (sum) numbers.push_back("sum");
  header.insert(header.end(), numbers.begin(), numbers.end());
  TextTable text(std::move(header));
  ScanRequest request;
  request.table = options.table;
  request.index = options.index;
  request.equal = values;
  request.limit =
      options.limit == 0 ? std::numeric_limits<uint64_t>::max() : options.limit;
  ASSIGN_OR_RETURN(const ScanEnd end,
                   engine->ForEachGroup({}, request, [&](const Group& group) {
                     std::vector<std::string> cells;
                     for (size_t i = 0; i < columns.size(); ++i) {
                       cells.push_back(ValueText(EnumOf(table, columns[i]),
                                                 group.values[i]));
                     }
                     cells.push_back(absl::StrCat(group.count));
                     if (sum) cells.push_back(SumText(group.sum));
                     text.Add(std::move(cells));
                     return true;
                   }));
  Print(text.Text(console, numbers));
  NoteWork(text.rows(), &end.work, Clock::System()->MonotonicMicros() - start,
           console);
  return absl::OkStatus();
}

}  // namespace dovetail::cli

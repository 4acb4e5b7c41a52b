// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/bisect_condition.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/column_map.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/field_path.h"
#include "cli/field_text.h"
#include "google/protobuf/util/message_differencer.h"

namespace dovetail::cli {
namespace {

constexpr char kCheck[] = "--check";

struct Where {
  std::string table;
  std::string index;  // Empty: the row key.
  std::vector<std::string> values;
};

struct Comparison {
  std::string op;
  uint64_t number = 0;
};

absl::Status Misfit(std::string_view what, std::string_view word) {
  return UsageError(
      absl::StrCat(kCheck, ": ", ToAbsl(what), ": word=", ToAbsl(Quote(word))));
}

bool Holds(uint64_t count, const Comparison& c) {
  if (c.op == "=") return count == c.number;
  if (c.op == "!=") return count != c.number;
  if (c.op == "<") return count < c.number;
  if (c.op == "<=") return count <= c.number;
  if (c.op == ">") return count > c.number;
  return count >= c.number;
}

absl::Status ParseWhere(const std::string& word, Where* where) {
  std::string values;
  RETURN_IF_ERROR(SplitAssignment(kCheck, word, &where->index, &values));
  if (where->index == "-") where->index.clear();
  where->values = absl::StrSplit(values, ',');
  return {};
}

absl::StatusOr<ScanRequest> RequestOf(const DynamicTable& table,
                                      const Where& where) {
  ScanRequest request;
  request.table = where.table;
  request.index = where.index;
  request.limit = UINT64_MAX;
  ASSIGN_OR_RETURN(const std::vector<std::string> columns,
                   IndexColumns(table, where.index));
  ASSIGN_OR_RETURN(request.equal, ParseWords(table, columns, where.values, 0));
  return request;
}

absl::Status AskCount(Engine& engine, const Where& where,
                      const Comparison& comparison) {
  ASSIGN_OR_RETURN(const DynamicTable table, OpenTable(&engine, where.table));
  ASSIGN_OR_RETURN(const ScanRequest request, RequestOf(table, where));
  uint64_t count = 0;
  RETURN_IF_ERROR(engine
                      .ForEach({}, request,
                               [&count](const RowView&) {
                                 ++count;
                                 return true;
                               })
                      .status());
  if (Holds(count, comparison)) return {};
  return absl::DataLossError(absl::StrCat(
      "count=", count, " wanted ", comparison.op, " ", comparison.number));
}

// Whether the field has the value that the text stands for.
absl::StatusOr<bool> HasValue(const google::protobuf::Message& record,
                              const std::string& path,
                              const std::string& text) {
  ASSIGN_OR_RETURN(const FieldPath field,
                   FieldPath::Resolve(record.GetDescriptor(), path));
  const std::unique_ptr<google::protobuf::Message> wanted(record.New());
  wanted->CopyFrom(record);
  if (text == "\\N") {
    RETURN_IF_ERROR(SetNull(field, wanted.get()));
  } else {
    ASSIGN_OR_RETURN(const std::string plain, Unescape(text));
    RETURN_IF_ERROR(SetFromText(field, Conversion(), plain, wanted.get()));
  }
  return google::protobuf::util::MessageDifferencer::Equals(record, *wanted);
}

using Fields = std::vector<std::pair<std::string, std::string>>;

absl::Status CheckRow(const DynamicTable& table, const RowView& view,
                      const Fields& fields) {
  const Row row{std::string(view.key), std::string(view.record), view.version};
  ASSIGN_OR_RETURN(const std::unique_ptr<google::protobuf::Message> record,
                   table.Parse(row));
  for (const auto& [path, text] : fields) {
    const absl::StatusOr<bool> has = HasValue(*record, path, text);
    if (!has.ok()) {
      return WithExitCode(WithContext(kCheck, has.status()), ExitCode::kUsage);
    }
    if (*has) continue;
    ASSIGN_OR_RETURN(const std::string json, table.ToJson(row));
    return absl::DataLossError(
        absl::StrCat("wanted ", path, "=", text, " is ", json));
  }
  return {};
}

absl::Status AskGet(Engine& engine, const Where& where, const Fields& fields) {
  ASSIGN_OR_RETURN(const DynamicTable table, OpenTable(&engine, where.table));
  ASSIGN_OR_RETURN(const ScanRequest request, RequestOf(table, where));
  absl::Status answer;
  RETURN_IF_ERROR(engine
                      .ForEach({}, request,
                               [&](const RowView& row) {
                                 answer = CheckRow(table, row, fields);
                                 return answer.ok();
                               })
                      .status());
  return answer;
}

absl::StatusOr<BisectCheck> ParseGet(const std::vector<std::string>& words) {
  if (words.size() < 4) {
    return UsageError("--check: get takes TABLE INDEX=VALUE FIELD=VALUE");
  }
  Where where;
  where.table = words[1];
  RETURN_IF_ERROR(ParseWhere(words[2], &where));
  Fields fields;
  for (size_t i = 3; i < words.size(); ++i) {
    auto& [path, text] = fields.emplace_back();
    RETURN_IF_ERROR(SplitAssignment(kCheck, words[i], &path, &text));
  }
  return BisectCheck{
      [where, fields](Engine& engine, const v1::WriteLogRecord&) {
        return AskGet(engine, where, fields);
      }};
}

absl::StatusOr<BisectCheck> ParseCount(const std::vector<std::string>& words) {
  if (words.size() != 4 && words.size() != 5) {
    return UsageError("--check: count takes TABLE [INDEX=VALUE] OP NUMBER");
  }
  Where where;
  where.table = words[1];
  if (words.size() == 5) RETURN_IF_ERROR(ParseWhere(words[2], &where));
  Comparison comparison;
  comparison.op = words[words.size() - 2];
  const std::vector<std::string> ops = {"=", "!=", "<", "<=", ">", ">="};
  if (std::find(ops.begin(), ops.end(), comparison.op) == ops.end()) {
    return Misfit(absl::StrCat("not one of ", absl::StrJoin(ops, " ")),
                  comparison.op);
  }
  if (!absl::SimpleAtoi(words.back(), &comparison.number)) {
    return Misfit("not a number", words.back());
  }
  return BisectCheck{
      [where, comparison](Engine& engine, const v1::WriteLogRecord&) {
        return AskCount(engine, where, comparison);
      }};
}

}  // namespace

absl::StatusOr<BisectCheck> ParseBisectCondition(const std::string& text) {
  const std::vector<std::string> words =
      absl::StrSplit(text, ' ', absl::SkipEmpty());
  if (words.empty()) return UsageError("--check is empty");
  const bool alone = words.size() == 1;
  if (words[0] == "verify" && alone) return VerifyIsClean();
  if (words[0] == "digest" && alone) return DigestsAreTheRecords();
  if (words[0] == "get") return ParseGet(words);
  if (words[0] == "count") return ParseCount(words);
  return Misfit("not one of verify, digest, get, count",
                alone ? words[0] : words[1]);
}

}  // namespace dovetail::cli

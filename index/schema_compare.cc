// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/schema_compare.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail {
namespace {

using enum SchemaVerdict;

constexpr std::string_view kCopy = "copy the records into a new table";
constexpr std::string_view kAnotherIndex =
    "add an index under another name, move its readers, then drop this one";
constexpr std::string_view kAnotherField =
    "add a field with another name and number";

constexpr SchemaRule kRules[] = {
    {"table-added", kAllowed, "the table is created, empty", ""},
    {"table-undeclared", kAllowed, "the database goes on serving it", ""},
    {"record-type-renamed", kRefused,
     "the rows are records of another message type", kCopy},
    {"row-key-changed", kRefused, "the rows lie under keys of another layout",
     kCopy},
    {"identity-changed", kRefused,
     "rows written so far were told apart by another index", kCopy},
    {"change-order-changed", kRefused,
     "rows written so far were merged by another order", kCopy},
    {"index-added", kNeedsOption, "the index is built while it is in use",
     "open with Options::add_indexes, or call Engine::AddIndex first"},
    {"index-undeclared", kAllowed,
     "the index is kept; Engine::DropIndex drops it", ""},
    {"index-parts-changed", kRefused, "its entries have keys of other parts",
     kAnotherIndex},
    {"index-kind-changed", kRefused, "its entries are of another kind",
     kAnotherIndex},
    {"index-predicate-changed", kRefused, "it has entries of other rows",
     kAnotherIndex},
    {"index-covering-changed", kRefused, "its entries carry other fields",
     kAnotherIndex},
    {"index-sum-changed", kRefused, "its entries are sums of another field",
     kAnotherIndex},
    {"index-fan-out-changed", kRefused,
     "its entries are of other elements, or of more of them", kAnotherIndex},
    {"field-added", kAllowed, "rows written so far do not have it set", ""},
    {"field-removed", kAllowed, "kept as an unknown field in rows that have it",
     ""},
    {"field-renamed", kAllowed, "rows stay as they are; names live in schemas",
     ""},
    {"field-renumbered", kRefused,
     "rows written so far have it under its old number", kAnotherField},
    {"field-type-widened", kAllowed,
     "every value has the same bytes in the new type", ""},
    {"field-type-changed", kRefused,
     "rows written so far hold it as another type", kAnotherField},
    {"field-cardinality-changed", kRefused,
     "single and repeated fields do not read each other's bytes alike",
     kAnotherField},
    {"field-presence-changed", kAllowed,
     "only whether an unset value can be told from a default", ""},
    {"required-added", kRefused, "rows written so far may lack it",
     "keep it optional and check it in an observer"},
    {"required-removed", kAllowed, "rows need no longer have it", ""},
    {"key-field-removed", kRefused, "keys or entries are made from it",
     "keep the field, or drop the indexes that read it first"},
    {"key-field-renamed", kRefused, "keys or entries name it by its path",
     "keep its name, or replace the indexes that read it first"},
    {"key-field-type-changed", kRefused, "keys hold it as another type",
     kAnotherField},
    {"key-field-presence-changed", kRefused,
     "keys of fields that can be null have another form", kAnotherField},
    {"enum-value-added", kAllowed, "numbers were kept and indexed before", ""},
    {"enum-value-removed", kAllowed, "rows that have it keep its number", ""},
    {"enum-value-renumbered", kRefused,
     "rows written so far have it under its old number",
     "add a value with another name and number"},
};

std::string Words(const google::protobuf::RepeatedPtrField<v1::KeyPart>& parts,
                  int i) {
  return i < parts.size() ? absl::StrCat("{", parts[i].ShortDebugString(), "}")
                          : "";
}

// The first part that differs, as a change; at most one.
void CompareParts(std::string_view rule, const CompiledTable& table,
                  const std::string& place,
                  const google::protobuf::RepeatedPtrField<v1::KeyPart>& stored,
                  const google::protobuf::RepeatedPtrField<v1::KeyPart>& wanted,
                  std::vector<SchemaChange>* changes) {
  for (int i = 0; i < std::max(stored.size(), wanted.size()); ++i) {
    std::string s = Words(stored, i);
    std::string w = Words(wanted, i);
    if (s == w) continue;
    changes->push_back(MakeChange(rule, table,
                                  absl::StrCat(place, " part ", i + 1),
                                  std::move(s), std::move(w)));
    return;
  }
}

void CompareRowKeys(const CompiledTable& stored, const CompiledTable& wanted,
                    std::vector<SchemaChange>* changes) {
  constexpr std::string_view kRule = "row-key-changed";
  const v1::RowKeyLayout& s = stored.schema().row_key();
  const v1::RowKeyLayout& w = wanted.schema().row_key();
  if (s.encoding() != w.encoding()) {
    changes->push_back(
        MakeChange(kRule, stored, "row key encoding",
                   v1::RowKeyLayout::Encoding_Name(s.encoding()),
                   v1::RowKeyLayout::Encoding_Name(w.encoding())));
    return;
  }
  if (s.separator() != w.separator()) {
    changes->push_back(MakeChange(kRule, stored, "row key separator",
                                  Quote(s.separator()), Quote(w.separator())));
  }
  CompareParts(kRule, stored, "row key", s.parts(), w.parts(), changes);
}

// Which rows have entries, how many, and what is in them besides the key.
void CompareExtent(const CompiledTable& stored, const std::string& place,
                   const v1::IndexSchema& s, const v1::IndexSchema& w,
                   std::vector<SchemaChange>* changes) {
  const auto compare = [&](std::string_view rule, std::string is,
                           std::string wanted) {
    if (is == wanted) return;
    changes->push_back(
        MakeChange(rule, stored, place, std::move(is), std::move(wanted)));
  };
  const auto tests = [](const v1::IndexSchema& index) {
    std::string words;
    for (const v1::IndexSchema::Test& test : index.predicate()) {
      absl::StrAppend(&words, "{", test.ShortDebugString(), "}");
    }
    return words;
  };
  const auto fan_out = [](const v1::IndexSchema& index) {
    if (index.fan_out().empty()) return std::string();
    return absl::StrCat(index.fan_out(), " max=", index.fan_out_max());
  };
  compare("index-predicate-changed", tests(s), tests(w));
  compare("index-covering-changed", absl::StrJoin(s.covering(), ","),
          absl::StrJoin(w.covering(), ","));
  compare("index-sum-changed", s.sum(), w.sum());
  compare("index-fan-out-changed", fan_out(s), fan_out(w));
}

void CompareIndexes(const CompiledTable& stored, const CompiledTable& wanted,
                    std::vector<SchemaChange>* changes) {
  for (const v1::IndexSchema& s : stored.schema().indexes()) {
    const std::string place = absl::StrCat("index=", s.name());
    const int at = wanted.FindIndex(ToStd(s.name()));
    if (at < 0) {
      changes->push_back(MakeChange("index-undeclared", stored, place,
                                    s.ShortDebugString(), ""));
      continue;
    }
    const v1::IndexSchema& w = wanted.schema().indexes(at);
    if (s.kind() != w.kind()) {
      changes->push_back(MakeChange("index-kind-changed", stored, place,
                                    v1::IndexSchema::Kind_Name(s.kind()),
                                    v1::IndexSchema::Kind_Name(w.kind())));
    }
    CompareParts("index-parts-changed", stored, place, s.parts(), w.parts(),
                 changes);
    CompareExtent(stored, place, s, w, changes);
  }
  for (const v1::IndexSchema& w : wanted.schema().indexes()) {
    if (stored.FindIndex(ToStd(w.name())) >= 0) continue;
    changes->push_back(MakeChange("index-added", stored,
                                  absl::StrCat("index=", w.name()), "",
                                  w.ShortDebugString()));
  }
}

}  // namespace

std::string_view SchemaVerdictName(SchemaVerdict verdict) {
  switch (verdict) {
    case SchemaVerdict::kAllowed:
      return "allowed";
    case SchemaVerdict::kNeedsOption:
      return "needs option";
    case SchemaVerdict::kRefused:
      return "refused";
  }
  return "unknown";
}

std::span<const SchemaRule> SchemaRules() { return kRules; }

SchemaChange MakeChange(std::string_view rule, const CompiledTable& table,
                        std::string place, std::string stored,
                        std::string wanted) {
  const auto found =
      std::find_if(std::begin(kRules), std::end(kRules),
                   [rule](const SchemaRule& r) { return r.name == rule; });
  DOVETAIL_CHECK(found != std::end(kRules));
  return {found, table.name(), std::move(place), std::move(stored),
          std::move(wanted)};
}

std::string SchemaChange::DebugString() const {
  const auto side = [](const std::string& s) { return s.empty() ? "-" : s; };
  return absl::StrCat("table=", table, " ", place, ": ", ToAbsl(rule->name),
                      ": database=", side(stored), " schema=", side(wanted));
}

std::vector<SchemaChange> CompareTables(const CompiledTable& stored,
                                        const CompiledTable& wanted) {
  std::vector<SchemaChange> changes;
  const v1::TableSchema& s = stored.schema();
  const v1::TableSchema& w = wanted.schema();
  if (s.record_type() != w.record_type()) {
    // Field by field there is nothing to compare.
    changes.push_back(MakeChange("record-type-renamed", stored, "record type",
                                 s.record_type(), w.record_type()));
    return changes;
  }
  CompareRowKeys(stored, wanted, &changes);
  CompareIndexes(stored, wanted, &changes);
  if (s.identity() != w.identity()) {
    changes.push_back(MakeChange("identity-changed", stored, "identity",
                                 s.identity(), w.identity()));
  }
  std::string s_order = s.change_order().ShortDebugString();
  std::string w_order = w.change_order().ShortDebugString();
  if (s_order != w_order) {
    changes.push_back(MakeChange("change-order-changed", stored, "change order",
                                 std::move(s_order), std::move(w_order)));
  }
  std::vector<SchemaChange> records = CompareRecords(stored, wanted);
  std::move(records.begin(), records.end(), std::back_inserter(changes));
  return changes;
}

absl::Status CheckAllowed(const std::vector<SchemaChange>& changes) {
  for (const SchemaChange& change : changes) {
    if (change.rule->verdict == kAllowed) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "schema contradicts the database: ", change.DebugString(), "; ",
        ToAbsl(change.rule->what), "; ", ToAbsl(change.rule->instead)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SchemaChange>> CompareSchemas(
    const v1::Schema& stored, const v1::Schema& wanted) {
  std::vector<SchemaChange> changes;
  const auto find = [](const v1::Schema& in, const std::string& name) {
    const auto& tables = in.tables();
    const auto at = std::find_if(
        tables.begin(), tables.end(),
        [&](const v1::TableSchema& t) { return t.name() == name; });
    return at == tables.end() ? nullptr : &*at;
  };
  for (const v1::TableSchema& s : stored.tables()) {
    ASSIGN_OR_RETURN(const auto have, CompiledTable::Compile(s));
    const v1::TableSchema* w = find(wanted, s.name());
    if (w == nullptr) {
      changes.push_back(
          MakeChange("table-undeclared", *have, "table", s.name(), ""));
      continue;
    }
    ASSIGN_OR_RETURN(const auto want, CompiledTable::Compile(*w));
    std::vector<SchemaChange> more = CompareTables(*have, *want);
    std::move(more.begin(), more.end(), std::back_inserter(changes));
  }
  for (const v1::TableSchema& w : wanted.tables()) {
    ASSIGN_OR_RETURN(const auto want, CompiledTable::Compile(w));
    if (find(stored, w.name()) != nullptr) continue;
    changes.push_back(MakeChange("table-added", *want, "table", "", w.name()));
  }
  return changes;
}

}  // namespace dovetail

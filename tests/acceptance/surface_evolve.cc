// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Every rule of schema_change.h on a database on disk: a program that declares
// one schema writes rows, another one that declares the next opens it.
//
// What is allowed must open, read the old rows and take new ones; what is
// refused must name the rule and what to do instead, and leave the database
// as the first program knows it. Every rule must have a case.

#include <cstdio>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/dynamic_table.h"
#include "dovetail/engine.h"
#include "dovetail/schema_change.h"
#include "google/protobuf/compiler/parser.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "tests/support/checks.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

constexpr char kProto3[] = R"(
  syntax = "proto3";
  package shop;
  enum Status { NEW = 0; PAID = 1; SENT = 2; }
  message Address { string country = 1; string city = 2; }
  message Order {
    string id = 1;
    int64 ts = 2;
    Status status = 3;
    string note = 4;
    optional string tag = 5;
    Address ship_to = 6;
    repeated string items = 7;
    int32 amount = 8;
  })";

constexpr char kProto2[] = R"(
  syntax = "proto2";
  package shop;
  message Order {
    required string id = 1;
    optional string note = 4;
    required int32 amount = 8;
  })";

// A record type, kept with its pool.
struct Type {
  std::unique_ptr<google::protobuf::DescriptorPool> pool;
  const google::protobuf::Descriptor* descriptor = nullptr;
};

Type Parse(const std::string& proto, const std::string& message) {
  google::protobuf::io::ArrayInputStream input(proto.data(),
                                               static_cast<int>(proto.size()));
  google::protobuf::io::Tokenizer tokenizer(&input, nullptr);
  google::protobuf::FileDescriptorProto file;
  google::protobuf::compiler::Parser parser;
  Type type;
  type.pool = std::make_unique<google::protobuf::DescriptorPool>();
  file.set_name("shop.proto");
  if (parser.Parse(&tokenizer, &file) &&
      type.pool->BuildFile(file) != nullptr) {
    type.descriptor =
        type.pool->FindMessageTypeByName(absl::StrCat("shop.", message));
  }
  return type;
}

// What a program declares.
struct Program {
  std::string proto = kProto3;
  std::string message = "Order";
  std::function<void(TableBuilder&)> keys;  // Row key, indexes, identity.
  std::string more_table = {};
  std::string table = "orders";

  // Empty if the declaration does not even parse, which is a mistake here.
  Schema Declare() const {
    static std::vector<Type>* const types = new std::vector<Type>();
    types->push_back(Parse(proto, message));
    const google::protobuf::Descriptor* type = types->back().descriptor;
    Schema schema;
    if (type == nullptr) return schema;
    TableBuilder builder(table, type);
    keys(builder);
    schema.Add(builder);
    if (!more_table.empty()) {
      TableBuilder more(more_table, type);
      keys(more);
      schema.Add(more);
    }
    return schema;
  }
  Program With(std::vector<std::pair<std::string, std::string>> edits) const {
    Program changed = *this;
    changed.proto = absl::StrReplaceAll(proto, edits);
    return changed;
  }
  Program Keyed(std::function<void(TableBuilder&)> other) const {
    Program changed = *this;
    changed.keys = std::move(other);
    return changed;
  }
};

void Plain(TableBuilder& table) { table.RowKey({Field("id")}); }
void ByNote(TableBuilder& table) {
  table.RowKey({Field("id")}).Index("by_note", {Field("note")});
}
void ByTwo(TableBuilder& table) {
  ByNote(table);
  table.Index("by_amount", {Field("amount")});
}

struct Case {
  std::string rule;
  Program before;
  Program after;
};

std::vector<Case> Cases() {
  const Program base = {.keys = ByNote};
  const Program two = {.proto = kProto2, .keys = ByNote};
  Program more = base;
  more.more_table = "archive";
  Program renamed = base.With({{"message Order", "message Sale"}});
  renamed.message = "Sale";
  const auto unique = [](TableBuilder& t) {
    t.RowKey({Field("id")}).Unique("by_note", {Field("note")});
  };
  const auto identity = [](TableBuilder& t) {
    t.RowKey({Field("id")}).Unique("by_id", {Field("id")}).Identity("by_id");
  };
  const auto no_identity = [](TableBuilder& t) {
    t.RowKey({Field("id")}).Unique("by_id", {Field("id")});
  };
  const auto longer_key = [](TableBuilder& t) {
    t.RowKey({Field("id"), Field("ts")}).Index("by_note", {Field("note")});
  };
  const auto other_parts = [](TableBuilder& t) {
    t.RowKey({Field("id")}).Index("by_note", {Field("note").Desc()});
  };
  const auto by_title = [](TableBuilder& t) { t.RowKey({Field("id")}); };
  const auto by_country = [](TableBuilder& t) {
    t.RowKey({Field("id")}).Index("by_country", {Field("ship_to.country")});
  };
  const auto by_tag = [](TableBuilder& t) {
    t.RowKey({Field("id")}).Index("by_tag", {Field("tag")});
  };
  const Program amount = base.Keyed([](TableBuilder& t) {
    t.RowKey({Field("id")}).Index("by_amount", {Field("amount")});
  });
  const auto with = [&base](IndexBuilder index) {
    return base.Keyed([one = std::move(index)](TableBuilder& t) {
      t.RowKey({Field("id")}).Add(one);
    });
  };
  const IndexBuilder by_note = IndexBuilder::Value("i", {Field("note")});
  const IndexBuilder by_item = IndexBuilder::Value("i", {Field("items")});
  return {
      {"index-predicate-changed", with(by_note),
       with(IndexBuilder(by_note).Where({RowTest::Equal("amount", 7)}))},
      {"index-covering-changed", with(by_note),
       with(IndexBuilder(by_note).Covering({"amount"}))},
      {"index-sum-changed",
       with(IndexBuilder::Sum("i", {Field("note")}, "amount")),
       with(IndexBuilder::Sum("i", {Field("note")}, "ts"))},
      {"index-fan-out-changed", with(IndexBuilder(by_item).FanOut("items")),
       with(IndexBuilder(by_item).FanOut("items", 7))},
      {"table-added", base, more},
      {"table-undeclared", more, base},
      {"record-type-renamed", base, renamed},
      {"row-key-changed", base, base.Keyed(longer_key)},
      {"identity-changed", base.Keyed(no_identity), base.Keyed(identity)},
      {"change-order-changed", base, base.Keyed([](TableBuilder& t) {
         ByNote(t);
         t.OrderedBy("amount");
       })},
      {"index-added", base.Keyed(Plain), base},
      {"index-added", base, base.Keyed(ByTwo)},
      {"index-undeclared", base.Keyed(ByTwo), base},
      {"index-parts-changed", base, base.Keyed(other_parts)},
      {"index-kind-changed", base, base.Keyed(unique)},
      {"field-added", base,
       base.With({{"int32 amount = 8;", "int32 amount = 8; string who = 9;"}})},
      {"field-added", base,
       base.With({{"string city = 2;", "string city = 2; string zip = 3;"}})},
      {"field-removed", base, base.With({{"int32 amount = 8;", ""}})},
      {"field-renamed", base, base.With({{"amount = 8", "total = 8"}})},
      {"field-renumbered", base, base.With({{"amount = 8", "amount = 9"}})},
      {"field-type-widened", base,
       base.With({{"int32 amount", "int64 amount"}})},
      {"field-type-widened", base,
       base.With({{"repeated string items", "repeated bytes items"}})},
      {"field-type-changed", base,
       base.With({{"int32 amount", "string amount"}})},
      {"field-type-changed", base,
       base.With({{"int32 amount", "sint32 amount"}})},
      {"field-type-changed", base, base.With({{"int64 ts", "int32 ts"}})},
      {"field-cardinality-changed", base,
       base.With({{"int32 amount", "repeated int32 amount"}})},
      {"field-presence-changed", base,
       base.With({{"optional string tag", "string tag"}})},
      {"required-added", two,
       two.With({{"optional string note", "required string note"}})
           .Keyed(Plain)},
      {"required-removed", two,
       two.With({{"required int32 amount", "optional int32 amount"}})},
      {"key-field-removed", base.Keyed(by_country),
       base.Keyed(Plain).With({{"Address ship_to = 6;", ""}})},
      {"key-field-renamed", base,
       base.Keyed(by_title).With({{"note = 4", "title = 4"}})},
      {"key-field-type-changed", amount,
       amount.With({{"int32 amount", "int64 amount"}})},
      {"key-field-presence-changed", base.Keyed(by_tag),
       base.Keyed(by_tag).With({{"optional string tag", "string tag"}})},
      {"enum-value-added", base,
       base.With({{"SENT = 2;", "SENT = 2; BACK = 3;"}})},
      {"enum-value-removed", base, base.With({{"SENT = 2;", ""}})},
      {"enum-value-renumbered", base, base.With({{"SENT = 2", "SENT = 5"}})},
  };
}

class OneCase {
 public:
  OneCase(const Case& c, Checks* checks) : case_(c), checks_(*checks) {}

  absl::Status Run() {
    const Schema before = case_.before.Declare();
    const Schema after = case_.after.Declare();
    if (before.proto().tables().empty() || after.proto().tables().empty()) {
      return absl::InternalError("the case does not parse");
    }
    RETURN_IF_ERROR(Write(before));
    ASSIGN_OR_RETURN(const auto changes,
                     CompareSchemas(before.proto(), after.proto()));
    const SchemaRule* rule = nullptr;
    for (const SchemaChange& change : changes) {
      if (change.rule->name == case_.rule) rule = change.rule;
      std::printf("  %-12s %s\n",
                  std::string(SchemaVerdictName(change.rule->verdict)).c_str(),
                  change.DebugString().c_str());
    }
    if (!checks_.That(rule != nullptr, Name("the rule applies"))) {
      return absl::OkStatus();
    }
    const absl::StatusOr<std::unique_ptr<Engine>> opened =
        Engine::Open(directory_, after, options_);
    if (rule->verdict == SchemaVerdict::kAllowed) {
      checks_.Ok(opened.status(), Name("opens"));
      return opened.ok() ? ReadAndWrite(**opened, "after") : absl::OkStatus();
    }
    const std::string message(opened.status().message());
    checks_.That(absl::IsFailedPrecondition(opened.status()) &&
                     absl::StrContains(message, case_.rule) &&
                     absl::StrContains(message, ToAbsl(rule->instead)),
                 Name(absl::StrCat("is refused by name: ", message)));
    if (rule->verdict == SchemaVerdict::kNeedsOption) {
      options_.add_indexes = true;
      ASSIGN_OR_RETURN(const auto engine,
                       Engine::Open(directory_, after, options_));
      ASSIGN_OR_RETURN(const auto list, engine->ListIndexes());
      ASSIGN_OR_RETURN(
          const BuildReport report,
          engine->BuildIndex(list.back().table, list.back().index, {}));
      checks_.That(report.state == IndexState::kReadable,
                   Name("is built with the option"));
      return ReadAndWrite(*engine, "after");
    }
    ASSIGN_OR_RETURN(const auto engine,
                     Engine::Open(directory_, before, options_));
    return ReadAndWrite(*engine, "as before");
  }

 private:
  std::string Name(std::string_view what) const {
    return absl::StrCat(case_.rule, ": ", ToAbsl(what));
  }

  // Rows with every field set, whatever the type has.
  absl::Status Put(Engine& engine, const std::string& id) {
    ASSIGN_OR_RETURN(const DynamicTable table,
                     DynamicTable::Bind(&engine, case_.before.table));
    const auto has = [&](const char* field) {
      return table.record_type()->FindFieldByName(field) != nullptr;
    };
    std::string json = absl::StrCat("{\"id\":\"", id, "\",\"amount\":", 7);
    if (!has("amount")) json = absl::StrCat("{\"id\":\"", id, "\"");
    if (has("note")) absl::StrAppend(&json, ",\"note\":\"n-", id, "\"");
    if (has("ts")) absl::StrAppend(&json, ",\"ts\":\"5\"");
    if (has("tag")) absl::StrAppend(&json, ",\"tag\":\"t\"");
    if (has("ship_to")) {
      absl::StrAppend(&json, ",\"ship_to\":{\"country\":\"BR\"}");
    }
    if (has("status")) absl::StrAppend(&json, ",\"status\":1");
    ASSIGN_OR_RETURN(std::string record, table.FromJson(json + "}"));
    return engine
        .Write({}, WriteBatch().Put(case_.before.table, std::move(record)))
        .status();
  }

  absl::Status Write(const Schema& schema) {
    ASSIGN_OR_RETURN(const auto engine,
                     Engine::Open(directory_, schema, options_));
    for (const char* id : {"a", "b", "c"}) {
      RETURN_IF_ERROR(Put(*engine, id));
    }
    return engine->Close();
  }

  absl::Status ReadAndWrite(Engine& engine, std::string_view when) {
    for (const char* id : {"a", "b", "c"}) {
      checks_.Ok(engine.Get({}, case_.before.table, {id}).status(),
                 Name(absl::StrCat("row ", id, " ", ToAbsl(when))));
    }
    RETURN_IF_ERROR(Put(engine, "d"));
    ASSIGN_OR_RETURN(const VerifyReport report, engine.Verify({}));
    checks_.That(
        report.clean() && report.rows >= 4,
        Name(absl::StrCat("verify ", ToAbsl(when), ": ", report.Summary())));
    return engine.Close();
  }

  const Case& case_;
  Checks& checks_;
  TempDir dir_;
  const std::string directory_ = dir_.Sub("db");
  Options options_ = {.background_work = false};
};

int Main() {
  Checks checks("surface-evolve");
  std::set<std::string> covered;
  for (const Case& c : Cases()) {
    std::printf("%s\n", c.rule.c_str());
    covered.insert(c.rule);
    checks.Ok(OneCase(c, &checks).Run(), c.rule);
  }
  for (const SchemaRule& rule : SchemaRules()) {
    checks.That(covered.contains(std::string(rule.name)),
                absl::StrCat("the rule has a case: ", ToAbsl(rule.name)));
  }
  std::printf("rules=%zu cases=%zu\n", SchemaRules().size(), Cases().size());
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main() { return dovetail::test::Main(); }

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/schema_verbs.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/key_text.h"
#include "cli/proto_files.h"
#include "cli/text_format.h"
#include "dovetail/schema_change.h"
#include "google/protobuf/descriptor_database.h"
#include "google/protobuf/text_format.h"

namespace dovetail::cli {
namespace {

std::string KindText(const v1::TableSchema& table,
                     const v1::IndexSchema& index) {
  return absl::StrCat(ToAbsl(KindName(index.kind())),
                      table.identity() == index.name() ? ", identity" : "",
                      index.predicate().empty() ? "" : ", partial",
                      index.covering().empty() ? "" : ", covering",
                      index.fan_out().empty() ? "" : ", fan-out");
}

// The types of the records that the database holds: what a schema file means
// by a record type unless .proto files say otherwise.
class StoredTypes {
 public:
  explicit StoredTypes(const v1::Schema& stored) {
    for (const v1::TableSchema& table : stored.tables()) {
      for (const auto& file : table.descriptors().file()) {
        google::protobuf::FileDescriptorProto known;
        if (!database_.FindFileByName(file.name(), &known)) database_.Add(file);
      }
      // A type is found only in files that were read.
      pool_.FindFileContainingSymbol(table.record_type());
    }
  }
  const google::protobuf::DescriptorPool& pool() const { return pool_; }

 private:
  google::protobuf::SimpleDescriptorDatabase database_;
  google::protobuf::DescriptorPool pool_{&database_};
};

absl::StatusOr<v1::Schema> WantedSchema(const SchemaCheckOptions& options,
                                        const v1::Schema& stored) {
  if (!options.proto_files.empty()) {
    ASSIGN_OR_RETURN(
        const std::unique_ptr<ProtoFiles> protos,
        ProtoFiles::Load(options.proto_files, options.proto_paths));
    ASSIGN_OR_RETURN(const Schema schema,
                     ReadSchemaFile(options.file, protos->pool()));
    return schema.proto();
  }
  const StoredTypes types(stored);
  ASSIGN_OR_RETURN(const Schema schema,
                   ReadSchemaFile(options.file, types.pool()));
  return schema.proto();
}

// For people: a change is too wide for a row of a box.
void PrintChanges(const std::vector<SchemaChange>& changes) {
  for (const SchemaChange& change : changes) {
    const SchemaRule& rule = *change.rule;
    std::string text =
        absl::StrCat(ToAbsl(SchemaVerdictName(rule.verdict)), ": ",
                     ToAbsl(rule.name), ", table ", change.table,
                     change.place.empty() ? "" : ", ", change.place, "\n");
    if (!change.stored.empty()) {
      absl::StrAppend(&text, "  stored  ", change.stored, "\n");
    }
    if (!change.wanted.empty()) {
      absl::StrAppend(&text, "  wanted  ", change.wanted, "\n");
    }
    absl::StrAppend(
        &text, "  ",
        rule.verdict == SchemaVerdict::kRefused ? "because " : "then    ",
        ToAbsl(rule.what), "\n");
    if (!rule.instead.empty()) {
      absl::StrAppend(&text, "  do      ", ToAbsl(rule.instead), "\n");
    }
    Print(text);
  }
}

}  // namespace

absl::Status RunSchemaShow(const SchemaShowOptions& options,
                           const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  if (!options.table.empty()) {
    RETURN_IF_ERROR(OpenTable(engine.get(), options.table).status());
  }
  ASSIGN_OR_RETURN(const v1::Schema stored, engine->GetSchema());
  v1::Schema shown;
  for (const v1::TableSchema& table : stored.tables()) {
    if (!options.table.empty() && options.table != table.name()) continue;
    *shown.add_tables() = table;
    // Long, and no help to a reader: init takes record types from .proto
    // files.
    shown.mutable_tables()->rbegin()->clear_descriptors();
  }
  if (options.text) {
    std::string text;
    google::protobuf::TextFormat::PrintToString(shown, &text);
    Print(text);
    return {};
  }
  TextTable text({"table", "index", "kind", "parts", "record_type"});
  for (const v1::TableSchema& table : shown.tables()) {
    text.Add({table.name(), "", "row key", KeyText(table.row_key().parts()),
              table.record_type()});
    for (const v1::IndexSchema& index : table.indexes()) {
      text.Add({table.name(), index.name(), KindText(table, index),
                KeyText(index.parts()), table.record_type()});
    }
  }
  Print(text.Text(console));
  return {};
}

absl::Status RunSchemaCheck(const SchemaCheckOptions& options,
                            const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(options.db, console));
  ASSIGN_OR_RETURN(const v1::Schema stored, engine->GetSchema());
  ASSIGN_OR_RETURN(const v1::Schema wanted, WantedSchema(options, stored));
  const absl::StatusOr<std::vector<SchemaChange>> changes =
      CompareSchemas(stored, wanted);
  if (!changes.ok()) return WithContext(options.file, changes.status());
  size_t refused = 0, optional = 0;
  TextTable text({"verdict", "rule", "table", "place", "stored", "wanted",
                  "what", "instead"});
  for (const SchemaChange& change : *changes) {
    const SchemaRule& rule = *change.rule;
    refused += rule.verdict == SchemaVerdict::kRefused ? 1 : 0;
    optional += rule.verdict == SchemaVerdict::kNeedsOption ? 1 : 0;
    text.Add({std::string(SchemaVerdictName(rule.verdict)),
              std::string(rule.name), change.table, change.place, change.stored,
              change.wanted, std::string(rule.what),
              std::string(rule.instead)});
  }
  if (console.format == OutputFormat::kBox) {
    PrintChanges(*changes);
  } else {
    Print(text.Text(console));
  }
  Note(console,
       absl::StrCat(changes->size(),
                    changes->size() == 1 ? " change" : " changes",
                    ": refused=", refused, " needs option=", optional,
                    " allowed=", changes->size() - refused - optional));
  if (refused + optional == 0) return {};
  return WithExitCode(
      absl::FailedPreconditionError(
          refused > 0
              ? "a program with this schema could not open the database"
              : "a program with this schema could open the database only with "
                "the option to add indexes"),
      ExitCode::kFindings);
}

}  // namespace dovetail::cli

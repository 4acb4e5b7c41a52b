// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/init.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/proto_files.h"
#include "cli/text_format.h"
#include "dovetail/engine.h"
#include "dovetail/presets.h"

namespace dovetail::cli {
namespace {

absl::StatusOr<Schema> PresetSchema(const InitOptions& options) {
  if (!options.proto_files.empty()) {
    return UsageError("--proto goes with --schema; a preset has its own type");
  }
  std::string names;
  for (const presets::Preset& preset : presets::All()) {
    if (preset.name != options.preset) {
      absl::StrAppend(&names, " ", ToAbsl(preset.name));
      continue;
    }
    return Schema().Add(
        preset.make(options.table.empty() ? preset.table : options.table));
  }
  return UsageError(absl::StrCat("no such preset; there are", names,
                                 ": given=", ToAbsl(Quote(options.preset))));
}

absl::StatusOr<Schema> FileSchema(
    const InitOptions& options, const google::protobuf::DescriptorPool& pool) {
  if (!options.table.empty()) {
    return UsageError("--table goes with --preset; a schema names its tables");
  }
  absl::StatusOr<Schema> schema = ReadSchemaFile(options.schema_file, pool);
  if (schema.ok() || !options.proto_files.empty()) return schema;
  return WithHint(schema.status(),
                  "Record types other than those of presets come from .proto "
                  "files: --proto FILE.proto");
}

}  // namespace

absl::Status RunInit(const InitOptions& options, const Console& console) {
  if (options.preset.empty() == options.schema_file.empty()) {
    return UsageError("give either --preset NAME or --schema FILE");
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<ProtoFiles> protos,
                   ProtoFiles::Load(options.proto_files, options.proto_paths));
  absl::StatusOr<Schema> schema = options.preset.empty()
                                      ? FileSchema(options, protos->pool())
                                      : PresetSchema(options);
  RETURN_IF_ERROR(schema.status());

  absl::StatusOr<std::unique_ptr<Engine>> engine =
      Engine::Open(options.db, *schema);
  if (!engine.ok()) return ExplainOpen(options.db, engine.status());
  const bool created = (*engine)->open_report().created;
  ASSIGN_OR_RETURN(const v1::Schema stored, (*engine)->GetSchema());
  std::string tables;
  for (const v1::TableSchema& table : stored.tables()) {
    absl::StrAppend(&tables, " ", table.name());
  }
  RETURN_IF_ERROR((*engine)->Close());
  Note(console, absl::StrCat(created ? "created " : "opened ", options.db,
                             ", tables:", tables));
  return {};
}

}  // namespace dovetail::cli

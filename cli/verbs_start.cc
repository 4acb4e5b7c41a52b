// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "cli/demo.h"
#include "cli/init.h"
#include "cli/verb.h"
#include "dovetail/presets.h"

namespace dovetail::cli {
namespace {

void AddDemo(VerbList* verbs, const std::string& program) {
  const auto options = std::make_shared<DemoOptions>();
  options->program = program;
  Verb& verb =
      verbs->Add("demo", kStart, "[DB]",
                 "Make a database of orders, ask it questions, verify it");
  verb.Example("dovetail demo")
      .Example("dovetail demo ./demo-db --orders 1000000");
  verb.Number("--orders", 0, &options->orders, "How many [200000]")
      .Number("--seed", 0, &options->seed, "Same seed, same orders [1]");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    // Never the database of DOVETAIL_DB: the demo wants a new one.
    if (!words.empty()) RETURN_IF_ERROR(words.Take("DB", &options->db));
    RETURN_IF_ERROR(words.End());
    return RunDemo(*options, console);
  };
}

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const presets::Preset& preset : presets::All()) {
    names.emplace_back(preset.name);
  }
  return names;
}

void AddInit(VerbList* verbs) {
  const auto options = std::make_shared<InitOptions>();
  Verb& verb = verbs->Add("init", kStart, "DB (--preset NAME | --schema FILE)",
                          "Create a database, or add tables to one");
  verb.Example("dovetail init ./db --preset seller_orders")
      .Example("dovetail init ./db --schema shop.textproto --proto shop.proto");
  verb.Text("--preset", "NAME", &options->preset,
            "A ready table: " + absl::StrJoin(PresetNames(), ", "),
            PresetNames())
      .Text("--table", "NAME", &options->table,
            "What the preset's table is called")
      .Text("--schema", "FILE", &options->schema_file,
            "A dovetail.v1.Schema in Protobuf's text format")
      .List("--proto", "FILE", &options->proto_files,
            "A .proto file with record types; repeat for more")
      .List("--proto-path", "DIR", &options->proto_paths,
            "Where imports are looked for [the file's directory]");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->db));
    RETURN_IF_ERROR(words.End());
    return RunInit(*options, console);
  };
}

}  // namespace

void AddStartVerbs(VerbList* verbs, const std::string& program) {
  AddDemo(verbs, program);
  AddInit(verbs);
}

}  // namespace dovetail::cli

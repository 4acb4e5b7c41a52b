// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <memory>

#include "base/status_macros.h"
#include "cli/delete.h"
#include "cli/import.h"
#include "cli/put.h"
#include "cli/set.h"
#include "cli/verb.h"

namespace dovetail::cli {
namespace {

void AddImport(VerbList* verbs) {
  const auto options = std::make_shared<ImportOptions>();
  Verb& verb = verbs->Add(
      "import", kData, "DB TABLE FILE",
      "Put the rows of a CSV or JSON Lines file; - is standard input");
  verb.Example("dovetail import ./db orders orders.csv")
      .Example(
          "dovetail import ./db orders sales.csv --map 'order_id={Order "
          "ID}#{index}' --map 'ts_ms=Date:time(%m-%d-%y)' --map "
          "amount_cents=Amount:cents")
      .Example(
          "xzcat orders.jsonl.xz | dovetail import ./db orders - --from jsonl");
  verb.Text("--from", "FORMAT", &options->from,
            "What the file is: csv or jsonl [by its name]", {"csv", "jsonl"})
      .List("--map", "FIELD=COLUMN", &options->maps,
            "FIELD=COLUMN[:CONVERSION] or FIELD=text{COLUMN}text; repeat for "
            "each field. Conversions: time time_s time_ms time_us "
            "time(FORMAT|FORMAT) cents upper enum. Without --map, columns "
            "fill the fields of their names")
      .List("--default", "FIELD=VALUE", &options->defaults,
            "For empty cells, or without a column")
      .Flag("--allow-empty-keys", &options->allow_empty_keys,
            "Take rows whose key fields are empty")
      .Text("--delimiter", "CHARACTER", &options->delimiter,
            "Between CSV fields [comma; tab for .tsv]")
      .Text("--on-error", "WHAT", &options->on_error,
            "stop: import all lines before the first bad one and nothing from "
            "it on; skip: leave bad lines out [stop]",
            {"stop", "skip"})
      .Text("--rejects", "FILE", &options->rejects,
            "With skip: a new file for bad lines and their causes, as JSON "
            "Lines")
      .Flag("--atomic", &options->atomic,
            "All of the file in one request, or nothing of it")
      .Number("--skip-lines", 0, &options->skip_lines,
              "Go on behind this line of the file")
      .Number("--batch", 0, &options->batch, "Rows per request [500]")
      .Flag("--sync", &options->sync,
            "Make each request durable, not only the end");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(true, &options->db));
    RETURN_IF_ERROR(words.Take("TABLE", &options->table));
    RETURN_IF_ERROR(words.Take("FILE", &options->file));
    RETURN_IF_ERROR(words.End());
    return RunImport(*options, console);
  };
}

void AddPut(VerbList* verbs) {
  const auto options = std::make_shared<PutOptions>();
  Verb& verb = verbs->Add(
      "put", kData, "DB TABLE [RECORD]",
      "Put one record, as JSON or in Protobuf's text format; - is standard "
      "input");
  verb.Example(
          "dovetail put ./db orders '{\"order_id\":\"o-17\",\"seller_id\":"
          "\"seller-1\",\"ts_ms\":1767225600000}'")
      .Example("dovetail put ./db orders --file order.textproto --insert");
  verb.Text("--file", "FILE", &options->file, "The record is in this file")
      .Flag("--insert", &options->insert,
            "Refuse it if the row, or its identity, is there")
      .Flag("--sync", &options->sync, "Return once the change is durable");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(true, &options->db));
    RETURN_IF_ERROR(words.Take("TABLE", &options->table));
    if (!words.empty()) {
      RETURN_IF_ERROR(words.Take("RECORD", &options->record));
    }
    RETURN_IF_ERROR(words.End());
    return RunPut(*options, console);
  };
}

void AddSet(VerbList* verbs) {
  const auto options = std::make_shared<SetOptions>();
  Verb& verb =
      verbs->Add("set", kData, "DB TABLE INDEX VALUE... FIELD=VALUE...",
                 "Change fields of a row; INDEX - is the row key");
  verb.Example("dovetail set ./db orders by_order_id o-17 status=SHIPPED")
      .Example(
          "dovetail set ./db orders by_order_id o-17 status=CANCELED --if "
          "status=CREATED");
  verb.Flag("--all", &options->all, "Every matching row, not exactly one")
      .List("--if", "FIELD=VALUE", &options->conditions,
            "Must hold, or nothing is changed; repeat for more")
      .Flag("--sync", &options->sync, "Return once the change is durable");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(true, &options->db));
    RETURN_IF_ERROR(words.Take("TABLE", &options->table));
    RETURN_IF_ERROR(words.Take("INDEX", &options->index));
    options->words = words.TakeRest();
    return RunSet(*options, console);
  };
}

void AddDelete(VerbList* verbs) {
  const auto options = std::make_shared<DeleteOptions>();
  Verb& verb = verbs->Add("delete", kData, "DB TABLE INDEX VALUE...",
                          "Delete a row; INDEX - is the row key");
  verb.Example("dovetail delete ./db orders by_order_id o-17")
      .Example("dovetail delete ./db orders by_status seller-1 CANCELED --all");
  verb.Flag("--all", &options->all, "Every matching row, not exactly one")
      .List("--if", "FIELD=VALUE", &options->conditions,
            "Must hold, or nothing is deleted; repeat for more")
      .Flag("--sync", &options->sync, "Return once the change is durable");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(true, &options->db));
    RETURN_IF_ERROR(words.Take("TABLE", &options->table));
    RETURN_IF_ERROR(words.Take("INDEX", &options->index));
    options->values = words.TakeRest();
    return RunDelete(*options, console);
  };
}

}  // namespace

void AddWriteVerbs(VerbList* verbs) {
  AddImport(verbs);
  AddPut(verbs);
  AddSet(verbs);
  AddDelete(verbs);
}

}  // namespace dovetail::cli

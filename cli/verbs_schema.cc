// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <memory>

#include "base/status_macros.h"
#include "cli/index_verbs.h"
#include "cli/schema_verbs.h"
#include "cli/verb.h"

namespace dovetail::cli {
namespace {

constexpr char kRateHelp[] = "Rows a second at most [no limit]";

absl::Status TakeTarget(Words* words, IndexTarget* target) {
  RETURN_IF_ERROR(words->TakeDb(true, &target->db));
  RETURN_IF_ERROR(words->Take("TABLE", &target->table));
  RETURN_IF_ERROR(words->Take("INDEX", &target->index));
  return words->End();
}

void AddIndexList(VerbList* verbs) {
  Verb& verb = verbs->Add("index list", kSchema, "DB",
                          "The indexes, their states and their parts");
  verb.Example("dovetail index list ./db");
  verb.run = [](Words words, const Console& console) -> absl::Status {
    std::string db;
    RETURN_IF_ERROR(words.TakeDb(false, &db));
    RETURN_IF_ERROR(words.End());
    return RunIndexList(db, console);
  };
}

void AddIndexAdd(VerbList* verbs) {
  const auto options = std::make_shared<IndexAddOptions>();
  Verb& verb = verbs->Add("index add", kSchema, "DB TABLE name=NAME PART...",
                          "Add an index, and build it");
  verb.Details(
      "A part is a field's path, or one of reverse(FIELD), "
      "hash(FIELD,...;ALGORITHM;BYTES), bucket(FIELD,...;ALGORITHM;COUNT), "
      "sub_bucket(FIELD,FIELD,...;ALGORITHM;COUNT;VALUE|VALUE), salt(COUNT), "
      "decimal(FIELD;DIGITS), time32(FIELD;s|ms|us), enum(FIELD;BYTES), "
      "varint(FIELD), followed by any of :desc :nulls_first :nulls_last. "
      "ALGORITHM may be left out (xxh3), and the BYTES of a hash (4) and of "
      "an enum (1).");
  verb.Example(
          "dovetail index add ./db orders name=by_buyer 'hash(buyer_id) "
          "buyer_id ts_ms:desc'")
      .Example("dovetail index add ./db orders --file by_buyer.textproto");
  verb.Flag("--unique", &options->unique,
            "At most one row may have each of its values")
      .Text("--file", "FILE", &options->file,
            "The declaration, a dovetail.v1.IndexSchema in Protobuf's text "
            "format")
      .Flag("--no-build", &options->no_build, "Leave it to be built later")
      .Number("--rate", 0, &options->rate, kRateHelp);
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(true, &options->db));
    RETURN_IF_ERROR(words.Take("TABLE", &options->table));
    options->words = words.TakeRest();
    return RunIndexAdd(*options, console);
  };
}

void AddIndexBuild(VerbList* verbs) {
  const auto options = std::make_shared<IndexBuildOptions>();
  Verb& verb = verbs->Add("index build", kSchema, "DB TABLE INDEX",
                          "Build an index, or go on with building it");
  verb.Details(
      "An interrupt stops it without a loss: the next build goes on there. "
      "A disabled index is built anew. Builds that find two rows with the "
      "same values for a unique index disable it, and name some of them.");
  verb.Example("dovetail index build ./db orders by_buyer --rate 50000");
  verb.Number("--rate", 0, &options->rate, kRateHelp);
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(TakeTarget(&words, &options->target));
    return RunIndexBuild(*options, console);
  };
}

void AddIndexHideAndShow(VerbList* verbs) {
  Verb& hide = verbs->Add("index hide", kSchema, "DB TABLE INDEX",
                          "Keep an index up to date, but refuse its reads");
  hide.Details("Shows who would miss it before it is dropped.");
  hide.Example("dovetail index hide ./db orders by_buyer");
  hide.run = [](Words words, const Console& console) -> absl::Status {
    IndexTarget target;
    RETURN_IF_ERROR(TakeTarget(&words, &target));
    return RunIndexHide(target, console);
  };
  Verb& show = verbs->Add("index show", kSchema, "DB TABLE INDEX",
                          "Make a hidden index serve reads again");
  show.Example("dovetail index show ./db orders by_buyer");
  show.run = [](Words words, const Console& console) -> absl::Status {
    IndexTarget target;
    RETURN_IF_ERROR(TakeTarget(&words, &target));
    return RunIndexShow(target, console);
  };
}

void AddIndexDrop(VerbList* verbs) {
  const auto options = std::make_shared<IndexDropOptions>();
  Verb& verb = verbs->Add("index drop", kSchema, "DB TABLE INDEX",
                          "Drop an index, and empty its space");
  verb.Example("dovetail index drop ./db orders by_buyer --yes");
  verb.Flag("--yes", &options->yes, "Do not ask", 'y');
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(TakeTarget(&words, &options->target));
    return RunIndexDrop(*options, console);
  };
}

void AddSchemaShow(VerbList* verbs) {
  const auto options = std::make_shared<SchemaShowOptions>();
  Verb& verb = verbs->Add("schema show", kSchema, "DB [TABLE]",
                          "Tables, row keys and indexes as declared");
  verb.Example("dovetail schema show ./db")
      .Example("dovetail schema show ./db --text > shop.textproto");
  verb.Flag("--text", &options->text,
            "In Protobuf's text format, as init --schema takes it");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(true, &options->db));
    if (!words.empty()) RETURN_IF_ERROR(words.Take("TABLE", &options->table));
    RETURN_IF_ERROR(words.End());
    return RunSchemaShow(*options, console);
  };
}

void AddSchemaCheck(VerbList* verbs) {
  const auto options = std::make_shared<SchemaCheckOptions>();
  Verb& verb = verbs->Add(
      "schema check", kSchema, "DB FILE",
      "What a program with the schema in FILE would change, and if it may");
  verb.Details(
      "Each change has its rule, the verdict, and what to do instead. Record "
      "types are the database's own unless --proto gives others. Nothing is "
      "changed.");
  verb.Example("dovetail schema check ./db shop.textproto --proto shop.proto");
  verb.List("--proto", "FILE", &options->proto_files,
            "A .proto file with record types; repeat for more")
      .List("--proto-path", "DIR", &options->proto_paths,
            "Where imports are looked for [the file's directory]");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->db));
    RETURN_IF_ERROR(words.Take("FILE", &options->file));
    RETURN_IF_ERROR(words.End());
    return RunSchemaCheck(*options, console);
  };
}

}  // namespace

void AddSchemaVerbs(VerbList* verbs) {
  AddSchemaShow(verbs);
  AddSchemaCheck(verbs);
  AddIndexList(verbs);
  AddIndexAdd(verbs);
  AddIndexBuild(verbs);
  AddIndexHideAndShow(verbs);
  AddIndexDrop(verbs);
}

}  // namespace dovetail::cli

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <memory>

#include "base/status_macros.h"
#include "cli/dump.h"
#include "cli/get.h"
#include "cli/scan.h"
#include "cli/verb.h"

namespace dovetail::cli {
namespace {

void AddGet(VerbList* verbs) {
  const auto options = std::make_shared<GetOptions>();
  Verb& verb = verbs->Add("get", kData, "DB TABLE VALUE...",
                          "One row by its row key, a value per column");
  verb.Example("dovetail get ./db orders seller-1 1767225600000 o-17");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(true, &options->db));
    RETURN_IF_ERROR(words.Take("TABLE", &options->table));
    options->values = words.TakeRest();
    return RunGet(*options, console);
  };
}

void AddGetBy(VerbList* verbs) {
  const auto options = std::make_shared<GetByOptions>();
  Verb& verb = verbs->Add("get-by", kData, "DB TABLE INDEX VALUE...",
                          "Rows by the first columns of an index");
  verb.Example("dovetail get-by ./db orders by_order_id o-17");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(true, &options->db));
    RETURN_IF_ERROR(words.Take("TABLE", &options->table));
    RETURN_IF_ERROR(words.Take("INDEX", &options->index));
    options->values = words.TakeRest();
    return RunGetBy(*options, console);
  };
}

void AddTop(VerbList* verbs) {
  const auto options = std::make_shared<TopOptions>();
  Verb& verb = verbs->Add(
      "top", kData, "DB TABLE [VALUE...]",
      "The first rows of a range, in the order of the row key or an index");
  verb.Example("dovetail top ./db orders seller-1 -n 10")
      .Example("dovetail top ./db orders --index by_status seller-1 SHIPPED")
      .Example(
          "dovetail top ./db orders --index by_status seller-1 --in "
          "CREATED,APPROVED --from 2026-01-01");
  verb.Text("--index", "INDEX", &options->range.index,
            "The index [the row key]")
      .Number("--limit", 'n', &options->limit, "Rows at most [20]")
      .List("--in", "V1,V2", &options->range.any_of,
            "One of these values in the next column")
      .Text("--from", "VALUE", &options->range.from,
            "At least this value in the column after those")
      .Text("--to", "VALUE", &options->range.to,
            "Below this value in the same column")
      .Text("--after", "TOKEN", &options->after,
            "Go on behind the page that printed this token");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(true, &options->range.db));
    RETURN_IF_ERROR(words.Take("TABLE", &options->range.table));
    options->range.equal = words.TakeRest();
    return RunTop(*options, console);
  };
}

void AddScan(VerbList* verbs) {
  const auto options = std::make_shared<ScanOptions>();
  Verb& verb = verbs->Add("scan", kData, "DB TABLE",
                          "All rows of a table, an index or a range of one");
  verb.Details(
      "Without options that bind columns, an index whose key begins with a "
      "hash is read in the order of the hashes. All rows are of one state.");
  verb.Example("dovetail scan ./db orders --json > orders.jsonl")
      .Example(
          "dovetail scan ./db orders --index by_status --equal seller-1 --in "
          "CREATED,APPROVED --range 2026-01-01..2026-02-01");
  verb.Text("--index", "INDEX", &options->range.index,
            "The index [the row key]")
      .List("--equal", "VALUE", &options->range.equal,
            "This value in the first column; repeat for the next ones")
      .List("--in", "V1,V2", &options->range.any_of,
            "One of these values in the column after those")
      .Text("--range", "FROM..TO", &options->bounds,
            "At least FROM, below TO, in the column after those; either may "
            "be left out")
      .Number("--limit", 'n', &options->limit, "Rows at most [all]")
      .Text("--continue", "TOKEN", &options->go_on,
            "Go on behind the scan that printed this token");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(true, &options->range.db));
    RETURN_IF_ERROR(words.Take("TABLE", &options->range.table));
    RETURN_IF_ERROR(words.End());
    return RunScan(*options, console);
  };
}

void AddDump(VerbList* verbs) {
  const auto options = std::make_shared<DumpOptions>();
  Verb& verb = verbs->Add(
      "dump", kData, "DB",
      "Rows and index entries as they lie on disk, decoded beside their bytes");
  verb.Details(
      "Shows damaged keys and values too. Keys come without the number of "
      "their space in front.");
  verb.Example("dovetail dump ./db --table orders --index by_status --limit 10")
      .Example("dovetail dump ./db --json");
  verb.Text("--table", "TABLE", &options->table, "Of this table [all of them]")
      .Text("--index", "INDEX", &options->index, "The entries of this index")
      .Flag("--rows", &options->rows, "The rows alone")
      .Text("--from", "HEX", &options->from, "The first key to show")
      .Number("--limit", 'n', &options->limit,
              "Keys at most, of each table and index [all]");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, &options->db));
    RETURN_IF_ERROR(words.End());
    return RunDump(*options, console);
  };
}

void AddKey(VerbList* verbs) {
  const auto options = std::make_shared<KeyOptions>();
  Verb& verb =
      verbs->Add("key", kData, "DB TABLE [VALUE...]",
                 "Explain a key part by part, from values or from its bytes");
  verb.Details(
      "Values are of the first columns, and make what the keys of all such "
      "rows begin with. No row need have them.");
  verb.Example("dovetail key ./db orders seller-1 1767225600000 o-17")
      .Example(
          "dovetail key ./db orders --index by_order_id --hex "
          "be3f9ced6f2d313700");
  verb.Text("--index", "INDEX", &options->index, "The index [the row key]")
      .Text("--hex", "KEY", &options->hex,
            "Decode this key instead, as dump shows it");
  verb.run = [options](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(true, &options->db));
    RETURN_IF_ERROR(words.Take("TABLE", &options->table));
    options->values = words.TakeRest();
    return RunKey(*options, console);
  };
}

}  // namespace

void AddReadVerbs(VerbList* verbs) {
  AddGet(verbs);
  AddGetBy(verbs);
  AddTop(verbs);
  AddScan(verbs);
  AddDump(verbs);
  AddKey(verbs);
}

}  // namespace dovetail::cli

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <memory>

#include "base/status_macros.h"
#include "cli/count_groups.h"
#include "cli/exit_code.h"
#include "cli/query.h"
#include "cli/verb.h"

namespace dovetail::cli {
namespace {

// What query, explain and count have in common.
void AddWhere(Verb& verb, QueryWords* words) {
  verb.Text("--where", "FILTER", &words->where,
            "Rows that satisfy this, like 'seller_id = \"s-1\" and status in "
            "(CREATED, APPROVED) and amount_cents > 100'")
      .Text("--file", "FILE", &words->file,
            "A whole query as JSON or text of dovetail.v1.Query; - is "
            "standard input")
      .Flag("--full-scan", &words->full_scan,
            "Allow reading all of a table to return a part of it")
      .Number("--max-entries", 0, &words->max_entries,
              "Stop when so many entries have been read")
      .Number("--max-ms", 0, &words->max_millis,
              "Stop after so many milliseconds")
      .Text("--use-index", "INDEX", &words->use_index,
            "Read this index only; @row_key is the row key")
      .List("--avoid-index", "INDEX", &words->avoid_index,
            "Do without this index");
}

void AddOrder(Verb& verb, QueryWords* words) {
  verb.Text("--order-by", "FIELDS", &words->order_by,
            "The order, like 'ts_ms desc, note nulls first'")
      .Flag("--sort", &words->sort,
            "Allow a sort in memory where no index has the order")
      .Number("--limit", 'n', &words->limit, "Rows at most [20]")
      .Text("--continuation", "TOKEN", &words->continuation,
            "Go on behind the page that printed this token");
}

absl::Status TakeTable(Words& words, QueryWords* query) {
  RETURN_IF_ERROR(words.TakeDb(true, &query->db));
  // A file may name it.
  if (query->file.empty() || !words.empty()) {
    RETURN_IF_ERROR(words.Take("TABLE", &query->table));
  }
  return words.End();
}

}  // namespace

void AddQueryVerbs(VerbList* verbs) {
  {
    const auto options = std::make_shared<QueryWords>();
    Verb& verb =
        verbs->Add("query", kData, "DB TABLE",
                   "Rows that satisfy a filter, in an order, by the best plan");
    verb.Example(
        "dovetail query ./db orders --where 'seller_id = \"s-1\" and status in "
        "(CREATED, APPROVED)' --order-by 'ts_ms desc'");
    AddWhere(verb, options.get());
    AddOrder(verb, options.get());
    verb.List("--select", "F1,F2", &options->select,
              "These fields of the records [all]");
    verb.run = [options](Words words, const Console& console) -> absl::Status {
      RETURN_IF_ERROR(TakeTable(words, options.get()));
      return RunQuery(*options, console);
    };
  }
  {
    const auto options = std::make_shared<QueryWords>();
    const auto run = std::make_shared<bool>(false);
    Verb& verb = verbs->Add("explain", kData, "DB TABLE",
                            "How a query would be read, and at what cost");
    verb.Example(
        "dovetail explain ./db orders --where 'buyer_id = \"b-1\"' --run");
    AddWhere(verb, options.get());
    AddOrder(verb, options.get());
    verb.Flag("--run", run.get(), "Run it too, and tell what it did");
    verb.run = [options, run](Words words,
                              const Console& console) -> absl::Status {
      RETURN_IF_ERROR(TakeTable(words, options.get()));
      return RunExplain(*options, *run, console);
    };
  }
  {
    const auto options = std::make_shared<QueryWords>();
    const auto groups = std::make_shared<CountGroupsOptions>();
    Verb& verb = verbs->Add("count", kData, "DB TABLE [INDEX [VALUE...]]",
                            "How many rows satisfy a filter, or are counted by "
                            "an index");
    verb.Details(
        "With a COUNT or SUM index no row is read: the values are of its first "
        "columns.");
    verb.Example("dovetail count ./db orders --where 'seller_id = \"s-1\"'")
        .Example("dovetail count ./db orders by_seller_count s-1")
        .Example("dovetail count ./db orders by_seller_count --groups -n 10");
    AddWhere(verb, options.get());
    verb.Flag("--groups", &groups->groups,
              "Each group of the index, in its order")
        .Number("--limit", 'n', &groups->limit, "Groups at most [all]");
    verb.run = [options, groups](Words words,
                                 const Console& console) -> absl::Status {
      RETURN_IF_ERROR(words.TakeDb(true, &options->db));
      // A file may name it.
      if (options->file.empty() || !words.empty()) {
        RETURN_IF_ERROR(words.Take("TABLE", &options->table));
      }
      if (words.empty()) {
        if (groups->groups || groups->limit > 0) {
          return UsageError("--groups and --limit go with an INDEX");
        }
        return RunCount(*options, console);
      }
      if (!options->where.empty() || !options->file.empty() ||
          !options->use_index.empty() || !options->avoid_index.empty()) {
        return UsageError(
            "an INDEX that counts has no filter; give values of its columns");
      }
      groups->db = options->db;
      groups->table = options->table;
      RETURN_IF_ERROR(words.Take("INDEX", &groups->index));
      groups->values = words.TakeRest();
      return RunCountGroups(*groups, console);
    };
  }
  const auto db = std::make_shared<std::string>();
  const auto file = std::make_shared<std::string>("-");
  Verb& verb = verbs->Add("advise", kSchema, "DB [FILE]",
                          "Indexes that would serve queries, one a line");
  verb.Details(
      "The queries are JSON of dovetail.v1.Query. Without FILE they are read "
      "from standard input.");
  verb.Example("dovetail advise ./db queries.jsonl");
  verb.run = [db, file](Words words, const Console& console) -> absl::Status {
    RETURN_IF_ERROR(words.TakeDb(false, db.get()));
    if (!words.empty()) {
      RETURN_IF_ERROR(words.Take("FILE", file.get()));
    }
    RETURN_IF_ERROR(words.End());
    return RunAdvise(*db, *file, console);
  };
}

}  // namespace dovetail::cli

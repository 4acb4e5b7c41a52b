// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Random queries against an oracle that looks at every row.
//
//   query_diff [--queries N] [--seed N]
//
// For each of many random tables: random rows, then random queries. Each query
// is answered with whatever plan is chosen, with each index forced, with each
// forbidden, by a full scan, and with neither scan nor sort allowed: all give
// the oracle's rows in the oracle's order, or say that they may not. Then it is
// read page by page, cut by rows, bytes and entries, first as the table is,
// then with rows put, deleted and moved between the pages: what was there
// throughout comes once, in order.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/engine.h"
#include "google/protobuf/util/message_differencer.h"
#include "tests/acceptance/query_oracle.h"
#include "tests/acceptance/query_random.h"
#include "tests/support/checks.h"

namespace dovetail::test {
namespace {

constexpr uint64_t kQueriesPerTable = 100;
constexpr int kIds = 60;
constexpr uint64_t kChangesPerTable = 120;

struct Settings {
  uint64_t queries = 100'000;
  uint64_t seed = 0;
};

// What was seen, for people.
struct Figures {
  uint64_t tables = 0;
  uint64_t plans = 0;
  uint64_t refused = 0;
  uint64_t pages = 0;
  std::map<std::string, uint64_t> kinds;
};

std::vector<std::string> KeysOf(const std::vector<Row>& rows) {
  std::vector<std::string> keys;
  for (const Row& row : rows) keys.push_back(row.key);
  return keys;
}

bool IsOrdered(const v1::Query& query) {
  return query.order_by_row_key() || query.order_by_size() > 0;
}

// One random table and its queries.
class TableRun {
 public:
  TableRun(uint64_t seed, Checks* checks, Figures* figures)
      : seed_(seed), random_(seed), checks_(*checks), figures_(*figures) {}

  absl::Status Run(uint64_t queries) {
    Schema schema;
    const TableBuilder table = random_.Table();
    for (const v1::IndexSchema& index : table.proto().indexes()) {
      hints_.push_back(index.name());
    }
    hints_.emplace_back(Query::kRowKey);
    schema.Add(table);
    schema_ = table.proto();
    Options options;
    options.in_memory = true;
    if (seed_ % 2 == 0) {
      // So few keys die here that none would be noticed.
      options.dead_entries.sample_every = 1;
      options.dead_entries.live_entries_max = 4;
    }
    ASSIGN_OR_RETURN(engine_, Engine::Open("query_diff", schema, options));
    for (uint64_t i = 0; i < kChangesPerTable; ++i) Change();
    ASSIGN_OR_RETURN(rows_, ReadTable(*engine_, "t"));
    ++figures_.tables;
    for (uint64_t i = 0; i < queries; ++i) {
      number_ = i;
      const v1::Query query = random_.Query();
      CheckPlans(query);
      CheckPages(query);
      if (random_.Chance(4)) {
        CheckChangingPages(query);
        ASSIGN_OR_RETURN(rows_, ReadTable(*engine_, "t"));
      }
    }
    return engine_->Close();
  }

 private:
  // Whatever a random put or delete does; a violation changes nothing.
  void Change() {
    const Anything record = random_.Record(kIds);
    WriteBatch batch;
    if (random_.Chance(4)) {
      batch.Delete("t", RowRef::By("by_id", {record.id()}));
    } else {
      batch.Put("t", record.SerializeAsString());
    }
    (void)engine_->Write({}, std::move(batch));
  }

  std::string Where(const v1::Query& query) const {
    return absl::StrCat("seed=", seed_, " query=", number_, " ",
                        Query(query).ToJson());
  }

  // With everything allowed.
  static v1::Query Free(v1::Query query) {
    query.set_allow_full_scan(true);
    query.set_sort_bytes_max(1 << 20);
    return query;
  }

  void CheckPlans(v1::Query query) {
    const std::vector<std::string> all =
        Answer(WithWholeOrder(query, schema_), rows_);
    query.set_limit(random_.Chance(2) ? 1000 : random_.Below(all.size() + 3));
    if (random_.Chance(4)) {
      query.set_read_ahead(static_cast<uint32_t>(random_.Below(20)));
    }
    CheckAnswer(query, all, false);  // Strict.
    const v1::Query free = Free(query);
    CheckAnswer(free, all, true);
    // What was kept of them serves others of their shape.
    for (const v1::Query& kept : {query, free}) {
      const v1::Query other = random_.WithOtherValues(kept);
      CheckAnswer(other, Answer(WithWholeOrder(other, schema_), rows_),
                  kept.allow_full_scan());
    }
    for (const std::string& hint : hints_) {
      v1::Query forced = free;
      forced.set_use_index(hint);
      CheckAnswer(forced, all, hint == Query::kRowKey);
      v1::Query avoiding = free;
      avoiding.add_avoid_indexes(hint);
      CheckAnswer(avoiding, all, hint != Query::kRowKey);
    }
  }

  // `must`: a refusal is an error.
  void CheckAnswer(const v1::Query& query, const std::vector<std::string>& all,
                   bool must) {
    const auto page = engine_->Query({}, Query(query));
    ++figures_.plans;
    if (!page.ok()) {
      ++figures_.refused;
      checks_.That(!must && absl::IsFailedPrecondition(page.status()),
                   absl::StrCat("an answer: ", page.status().ToString(), " ",
                                Where(query)));
      return;
    }
    CountKind(query);
    const std::vector<std::string> keys = KeysOf(page->rows);
    const size_t wanted = std::min<size_t>(query.limit(), all.size());
    if (IsOrdered(query)) {
      checks_.That(
          std::equal(keys.begin(), keys.end(), all.begin(),
                     all.begin() + static_cast<std::ptrdiff_t>(wanted)),
          absl::StrCat("rows and order, got ", keys.size(), " of ", wanted,
                       ": ", Where(query), "\n", Plan(query)));
    } else {
      const std::set<std::string> unique(keys.begin(), keys.end());
      const std::set<std::string> possible(all.begin(), all.end());
      checks_.That(unique.size() == keys.size() && keys.size() == wanted &&
                       std::includes(possible.begin(), possible.end(),
                                     unique.begin(), unique.end()),
                   absl::StrCat("rows, got ", keys.size(), " of ", wanted, ": ",
                                Where(query), "\n", Plan(query)));
    }
    checks_.That(
        page->continuation.empty() == (page->stop == StopReason::kEnd) ||
            query.limit() == 0,
        absl::StrCat("a continuation iff not at the end: ", Where(query)));
    CheckRecords(query, page->rows);
  }

  void CheckRecords(const v1::Query& query, const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      const auto stored = rows_.find(row.key);
      Anything record;
      const bool same = stored != rows_.end() &&
                        record.ParseFromString(row.record) &&
                        record.SerializeAsString() ==
                            Selected(query, stored->second).SerializeAsString();
      if (!checks_.That(same, absl::StrCat("the record: ", Where(query)))) {
        return;
      }
    }
  }

  std::string Plan(const v1::Query& query) {
    const auto plan = engine_->Explain({}, Query(query));
    return plan.ok() ? PlanText(*plan) : plan.status().ToString();
  }

  void CountKind(const v1::Query& query) {
    if (!random_.Chance(8)) return;  // Explaining takes time.
    const auto plan = engine_->Explain({}, Query(query), {.run = true});
    if (!checks_.Ok(plan.status(), Where(query))) return;
    const v1::PlanNode* node = &plan->root();
    std::string kind = v1::PlanNode::Kind_Name(node->kind());
    if (node->kind() == v1::PlanNode::SORT) {
      node = &node->inputs(0);
      absl::StrAppend(&kind, " ", v1::PlanNode::Kind_Name(node->kind()));
    }
    if (node->merged()) kind += " merged";
    if (node->full()) kind += " full";
    ++figures_.kinds[kind];
    if (plan->has_bound()) {
      checks_.That(plan->actual().entries() <= plan->bound().entries(),
                   absl::StrCat("work within its bound: ", Where(query), "\n",
                                PlanText(*plan)));
    }
  }

  // A query whose page is cut in one of the ways.
  v1::Query Cut(v1::Query query) {
    query = Free(std::move(query));
    query.set_limit(1 + random_.Below(7));
    if (random_.Chance(3)) {
      query.set_use_index(hints_[random_.Below(hints_.size())]);
    }
    switch (random_.Below(5)) {
      case 0:
        query.mutable_budget()->set_entries(1 + random_.Below(5));
        break;
      case 1:
        query.mutable_budget()->set_rows(1 + random_.Below(5));
        break;
      case 2:
        query.mutable_budget()->set_bytes(1 + random_.Below(1000));
        break;
      case 3:
        query.set_read_ahead(static_cast<uint32_t>(1 + random_.Below(9)));
        break;
      default:
        break;
    }
    return query;
  }

  // Reads all pages; `between` is called between two. False if the query was
  // refused.
  template <typename Between>
  bool ReadPages(v1::Query query, std::vector<Row>* out, Between between) {
    for (int pages = 0;; ++pages) {
      const auto page = engine_->Query({}, Query(query));
      if (pages == 0 && !page.ok()) {
        const bool sort_budget = absl::IsResourceExhausted(page.status());
        checks_.That(sort_budget || absl::IsFailedPrecondition(page.status()),
                     absl::StrCat(page.status().ToString(), " ", Where(query)));
        return false;
      }
      if (absl::IsResourceExhausted(page.status())) return false;
      if (!checks_.Ok(page.status(), absl::StrCat("a page: ", Where(query)))) {
        return false;
      }
      ++figures_.pages;
      out->insert(out->end(), page->rows.begin(), page->rows.end());
      if (page->continuation.empty()) return true;
      if (!checks_.That(pages < 3000,
                        absl::StrCat("pages end: ", Where(query)))) {
        return false;
      }
      query.set_continuation(page->continuation);
      // What may change between pages.
      query.set_limit(1 + random_.Below(7));
      between();
    }
  }

  void CheckPages(v1::Query query) {
    query.clear_select();
    const std::vector<std::string> all =
        Answer(WithWholeOrder(query, schema_), rows_);
    const v1::Query cut = Cut(query);
    std::vector<Row> rows;
    if (!ReadPages(cut, &rows, [] {})) return;
    std::vector<std::string> keys = KeysOf(rows);
    std::vector<std::string> expected = all;
    if (!IsOrdered(query)) {
      std::sort(keys.begin(), keys.end());
      std::sort(expected.begin(), expected.end());
    }
    checks_.That(keys == expected, absl::StrCat("all pages: got ", keys.size(),
                                                " of ", expected.size(), ": ",
                                                Where(cut), "\n", Plan(cut)));
  }

  void CheckChangingPages(v1::Query query) {
    query.clear_select();
    // Rows that no change touches.
    Rows still = rows_;
    const auto forget = [&] {
      const auto now = ReadTable(*engine_, "t");
      if (!checks_.Ok(now.status(), "the table")) return;
      std::erase_if(still, [&](const auto& row) {
        const auto it = now->find(row.first);
        return it == now->end() ||
               !google::protobuf::util::MessageDifferencer::Equals(it->second,
                                                                   row.second);
      });
    };
    const v1::Query cut = Cut(query);
    std::vector<Row> rows;
    const bool read = ReadPages(cut, &rows, [&] {
      const uint64_t changes = random_.Below(3);
      for (uint64_t i = 0; i < changes; ++i) Change();
      if (changes > 0) forget();
    });
    if (!read) return;
    std::map<std::string, int> seen;
    for (const Row& row : rows) ++seen[row.key];
    for (const auto& [key, record] : still) {
      const int wanted = Matches(query.where(), record) ? 1 : 0;
      checks_.That(
          seen[key] == wanted,
          absl::StrCat("a row that stayed comes ", seen[key], " times, not ",
                       wanted, ": ", Where(cut), "\n", Plan(cut)));
    }
    if (IsOrdered(query)) CheckAscending(query, rows, cut);
  }

  void CheckAscending(const v1::Query& query, const std::vector<Row>& rows,
                      const v1::Query& cut) {
    for (size_t i = 1; i < rows.size(); ++i) {
      Anything a, b;
      a.ParseFromString(rows[i - 1].record);
      b.ParseFromString(rows[i].record);
      const auto order = CompareByOrder(WithWholeOrder(query, schema_), a, b);
      checks_.That(order < 0 || (order == 0 && rows[i - 1].key < rows[i].key),
                   absl::StrCat("the order across pages: ", Where(cut)));
    }
  }

  const uint64_t seed_;
  QueryRandom random_;
  Checks& checks_;
  Figures& figures_;
  std::unique_ptr<Engine> engine_;
  v1::TableSchema schema_;
  std::vector<std::string> hints_;
  Rows rows_;
  uint64_t number_ = 0;
};

int Main(const Settings& settings) {
  Checks checks("query-diff");
  Figures figures;
  uint64_t left = settings.queries;
  for (uint64_t i = 0; left > 0; ++i) {
    const uint64_t queries = std::min(left, kQueriesPerTable);
    left -= queries;
    TableRun run(settings.seed + i, &checks, &figures);
    checks.Ok(run.Run(queries),
              absl::StrCat("the run of seed ", settings.seed + i));
    if (checks.failed() > 20) break;
  }
  std::printf(
      "%llu queries on %llu tables: %llu plans run, %llu refused, "
      "%llu pages\n",
      static_cast<unsigned long long>(settings.queries - left),
      static_cast<unsigned long long>(figures.tables),
      static_cast<unsigned long long>(figures.plans),
      static_cast<unsigned long long>(figures.refused),
      static_cast<unsigned long long>(figures.pages));
  for (const auto& [kind, count] : figures.kinds) {
    std::printf("  %s: %llu\n", kind.c_str(),
                static_cast<unsigned long long>(count));
  }
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) {
  dovetail::test::Settings settings;
  settings.seed = std::random_device()();
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    uint64_t* const value = name == "--queries" ? &settings.queries
                            : name == "--seed"  ? &settings.seed
                                                : nullptr;
    if (value == nullptr || !absl::SimpleAtoi(argv[i + 1], value)) {
      std::fprintf(stderr, "query_diff [--queries N] [--seed N]\n");
      return 2;
    }
  }
  std::printf("query_diff --seed %llu\n",
              static_cast<unsigned long long>(settings.seed));
  return dovetail::test::Main(settings);
}

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What went wrong elsewhere with ranges and pages, as queries: prefixes that
// end in 0xFF, several rows at the highest bound, limit 0, and pages over equal
// times, forward and, by an index of the other direction, backward.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dovetail/engine.h"
#include "tests/support/checks.h"
#include "tests/support/data.h"
#include "tests/support/records.pb.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

constexpr char kEvents[] = "bpi2019-purchase-orders/events.csv.xz";

class QueryCases {
 public:
  explicit QueryCases(Checks* checks) : checks_(*checks) {}

  absl::Status Open() {
    Schema schema;
    schema.Add(TableBuilder("raw", RawOrder::descriptor())
                   .RowKey({Field("seller_id"), Field("ts_ms").Desc(),
                            Field("order_id")})
                   .Index("by_status", {Field("seller_id"), Field("status"),
                                        Field("ts_ms").Desc()}));
    schema.Add(TableBuilder("events", Event::descriptor())
                   .RowKey({Hash({"waybill"}), Field("waybill"),
                            Field("ts_ms").Desc(), Field("position")})
                   .Index("oldest_first", {Field("waybill"), Field("ts_ms"),
                                           Field("position").Desc()}));
    ASSIGN_OR_RETURN(engine_, Engine::Open(dir_.Sub("db"), schema));
    return absl::OkStatus();
  }

  void PrefixesOfFF();
  void HighestBound();
  void LimitZero();
  void EqualTimes();

 private:
  void PutRaw(const std::string& id, const std::string& seller, int64_t ts,
              const std::string& status) {
    RawOrder order;
    order.set_order_id(id);
    order.set_seller_id(seller);
    order.set_ts_ms(ts);
    order.set_status(status);
    checks_.Ok(
        engine_->Write({}, WriteBatch().Put("raw", order.SerializeAsString()))
            .status(),
        "put");
  }
  std::vector<std::string> RawIds(const Query& query) {
    std::vector<std::string> ids;
    const auto page = engine_->Query({}, query);
    if (!checks_.Ok(page.status(), "query")) return ids;
    for (const Row& row : page->rows) {
      RawOrder order;
      order.ParseFromString(row.record);
      ids.push_back(order.order_id());
    }
    return ids;
  }
  void LoadCase(const std::string& waybill, const std::vector<Event>& events);
  std::vector<int32_t> Pages(Query query, uint64_t size, bool disturb);
  void CheckCase(const std::string& waybill, std::vector<Event> events);

  Checks& checks_;
  TempDir dir_;
  std::unique_ptr<Engine> engine_;
};

// Case 7: exactly the rows of the prefix, also of the last possible one.
void QueryCases::PrefixesOfFF() {
  const std::vector<std::string> sellers = {
      "a", "a\xff", "a\xff\xff", "b", "\xff", "\xff\xff", "\xff\xff\xff", ""};
  for (size_t i = 0; i < sellers.size(); ++i) {
    PutRaw(absl::StrCat("o", i), sellers[i], 1, sellers[i]);
  }
  for (const std::string& prefix : sellers) {
    std::set<std::string> expected;
    for (size_t i = 0; i < sellers.size(); ++i) {
      if (sellers[i].starts_with(prefix)) {
        expected.insert(absl::StrCat("o", i));
      }
    }
    const auto ids =
        RawIds(Query("raw").Where(Filter::Prefix("seller_id", prefix)));
    checks_.That(std::set<std::string>(ids.begin(), ids.end()) == expected &&
                     ids.size() == expected.size(),
                 absl::StrCat("prefix of ", prefix.size(), " bytes"));
    for (size_t i = 0; i < sellers.size(); ++i) {
      const auto one = RawIds(Query("raw")
                                  .Where(Filter::Equal("seller_id", sellers[i]))
                                  .Where(Filter::Prefix("status", prefix)));
      checks_.Equal(one.size(),
                    size_t{sellers[i].starts_with(prefix) ? 1u : 0u},
                    "prefix of an index's second column");
    }
  }
}

// Case 8.
void QueryCases::HighestBound() {
  for (int i = 0; i < 7; ++i) {
    PutRaw(absl::StrCat("h", i), "high", i < 5 ? 1000 : 999, "x");
  }
  const auto count = [&](const Range& range) {
    return RawIds(Query("raw")
                      .Where(Filter::Equal("seller_id", "high"))
                      .Where(Filter::InRange("ts_ms", range))
                      .OrderBy("ts_ms", Query::kDescending))
        .size();
  };
  checks_.Equal(count({.max = 1000}), size_t{7}, "up to T");
  checks_.Equal(count({.max = 1000, .max_inclusive = false}), size_t{2},
                "below T");
  checks_.Equal(count({.min = 1000, .max = 1000}), size_t{5}, "T alone");
}

// Case 9.
void QueryCases::LimitZero() {
  const auto rows = [&](uint64_t limit) {
    return RawIds(Query("raw")
                      .Where(Filter::Equal("seller_id", "high"))
                      .Limit(limit))
        .size();
  };
  checks_.Equal(rows(0), size_t{0}, "limit 0");
  checks_.Equal(rows(1), size_t{1}, "limit 1");
  checks_.Equal(rows(100), size_t{7}, "limit above what there is");
  checks_.Equal(rows(uint64_t{1} << 31), size_t{7}, "limit 2^31");
  checks_.Equal(rows(std::numeric_limits<uint64_t>::max()), size_t{7},
                "limit 2^64 - 1");
  Query query = Query("raw").Where(Filter::Equal("seller_id", "high")).Limit(2);
  const auto first = engine_->Query({}, query);
  if (!checks_.Ok(first.status(), "first page")) return;
  const auto none = engine_->Query(
      {}, Query(query).Limit(0).Continuation(first->continuation));
  checks_.That(none.ok() && none->rows.empty() &&
                   none->continuation == first->continuation,
               "limit 0 hands the continuation back");
}

void QueryCases::LoadCase(const std::string& waybill,
                          const std::vector<Event>& events) {
  WriteBatch batch;
  for (Event event : events) {
    event.set_waybill(waybill);
    batch.Put("events", event.SerializeAsString());
  }
  checks_.Ok(engine_->Write({}, std::move(batch)).status(), "load");
}

// Positions, page by page. With `disturb`, the last row of each page is deleted
// and a newer event put before the next page is asked for.
std::vector<int32_t> QueryCases::Pages(Query query, uint64_t size,
                                       bool disturb) {
  std::vector<int32_t> positions;
  query.Limit(size);
  for (int pages = 0; pages < 2000; ++pages) {
    const auto page = engine_->Query({}, query);
    if (!checks_.Ok(page.status(), "a page")) return positions;
    Event last;
    for (const Row& row : page->rows) {
      last.ParseFromString(row.record);
      positions.push_back(last.position());
    }
    if (page->continuation.empty()) return positions;
    query.Continuation(page->continuation);
    if (!disturb || pages >= 20 || page->rows.empty()) continue;
    WriteBatch batch;
    batch.Delete("events",
                 RowRef::Key({last.waybill(), last.ts_ms(), last.position()}));
    Event newer = last;
    newer.set_ts_ms(std::numeric_limits<int64_t>::max() - 1 - pages);
    newer.set_position(1'000'000 + pages);
    batch.Put("events", newer.SerializeAsString());
    checks_.Ok(engine_->Write({}, std::move(batch)).status(), "disturb");
  }
  checks_.That(false, "pages end");
  return positions;
}

void QueryCases::CheckCase(const std::string& waybill,
                           std::vector<Event> events) {
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.ts_ms() != b.ts_ms() ? a.ts_ms() > b.ts_ms()
                                  : a.position() < b.position();
  });
  std::vector<int32_t> newest;
  for (const Event& event : events) newest.push_back(event.position());
  const std::vector<int32_t> oldest(newest.rbegin(), newest.rend());
  for (const uint64_t size : {1, 7, 100}) {
    for (const bool forward : {true, false}) {
      Query query = Query("events").Where(Filter::Equal("waybill", waybill));
      query.OrderBy("ts_ms", forward ? Query::kDescending : Query::kAscending);
      // Behind the time the row key orders by ascending position.
      if (!forward) query.OrderBy("position", Query::kDescending);
      const std::vector<int32_t>& expected = forward ? newest : oldest;
      checks_.That(Pages(query, size, false) == expected,
                   absl::StrCat(waybill, ", pages of ", size,
                                forward ? ", newest first" : ", oldest first"));
      // Every row was there until its page had been read.
      std::vector<int32_t> seen = Pages(query, size, true);
      std::erase_if(seen, [](int32_t p) { return p >= 1'000'000; });
      checks_.That(seen == expected,
                   absl::StrCat(waybill, ", pages of ", size,
                                ", the last row of each deleted"));
      LoadCase(waybill, events);
      const auto added =
          engine_->Query({}, Query("events")
                                 .Where(Filter::Equal("waybill", waybill))
                                 .Where(Filter::AtLeast("position", 1'000'000))
                                 .AllowFullScan());
      if (!checks_.Ok(added.status(), "what was added")) return;
      WriteBatch batch;
      for (const Row& row : added->rows) {
        Event event;
        event.ParseFromString(row.record);
        batch.Delete("events", RowRef::Key({event.waybill(), event.ts_ms(),
                                            event.position()}));
      }
      if (!added->rows.empty()) {
        checks_.Ok(engine_->Write({}, std::move(batch)).status(), "restore");
      }
    }
  }
}

// Case 10, on the log whose ties are the longest.
void QueryCases::EqualTimes() {
  std::map<std::string, std::vector<Event>> cases = {{"4507027474_00010", {}},
                                                     {"4507001868_00001", {}}};
  if (!HasSharedData(kEvents)) {
    std::printf("query-cases: no data set %s in %s: made-up ties instead\n",
                kEvents, SharedData("").c_str());
    cases = {{"tie", {}}};
    for (int i = 0; i < 300; ++i) {
      Event event;
      event.set_ts_ms(i / 60);
      event.set_position(i);
      cases["tie"].push_back(event);
    }
  } else {
    checks_.Ok(ReadCsv(SharedData(kEvents), {"case_id", "seq", "ts"},
                       [&](std::vector<std::string>& row) -> absl::Status {
                         const auto found = cases.find(row[0]);
                         if (found == cases.end()) return absl::OkStatus();
                         Event event;
                         ASSIGN_OR_RETURN(const int64_t ts,
                                          ParseTimeMs(row[2]));
                         event.set_ts_ms(ts);
                         event.set_position(std::stoi(row[1]));
                         found->second.push_back(event);
                         return absl::OkStatus();
                       }),
               "read the events");
  }
  for (const auto& [waybill, events] : cases) {
    checks_.That(!events.empty(), absl::StrCat("events of ", waybill));
    LoadCase(waybill, events);
    std::vector<Event> loaded = events;
    for (Event& event : loaded) event.set_waybill(waybill);
    CheckCase(waybill, std::move(loaded));
  }
}

int Main() {
  Checks checks("query-cases");
  QueryCases cases(&checks);
  if (checks.Ok(cases.Open(), "open")) {
    cases.PrefixesOfFF();
    cases.HighestBound();
    cases.LimitZero();
    cases.EqualTimes();
  }
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main() { return dovetail::test::Main(); }

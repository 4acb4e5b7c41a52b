// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Logistics: the responses of real carriers' APIs, and the events of two
// process logs as those of parcels.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "examples/logistics.h"
#include "tests/acceptance/rowkeys_systems.h"
#include "tests/support/data.h"

namespace dovetail::test {
namespace {

using v1::TrackingEvent;

constexpr int64_t kReceived = 1'609'372'800'000;  // 2020-12-31
constexpr size_t kAskedWaybills = 400;

// What the desk should hold, by brute force: events in the order in which they
// were recorded, with the time that the rule gives.
class Oracle {
 public:
  void Add(const std::string& waybill, const std::string& carrier,
           std::optional<int64_t> ts_ms, const std::string& status,
           int64_t received_ms, std::optional<uint32_t> seq) {
    const bool usable = ts_ms.has_value() && *ts_ms >= 631'152'000'000 &&
                        *ts_ms <= received_ms + 86'400'000;
    const int64_t ts = usable ? *ts_ms : received_ms;
    received_ += usable ? 0 : 1;
    uint32_t& next = next_[{waybill, carrier, ts}];
    events_[waybill].push_back({ts, seq.value_or(next++), carrier, status});
  }

  // Newest first, of equal times the later number first, then by carrier.
  std::vector<std::string> Of(const std::string& waybill,
                              const std::set<std::string>& carriers) const {
    std::vector<Event> found;
    for (const Event& event : events_.at(waybill)) {
      if (carriers.empty() || carriers.contains(event.carrier)) {
        found.push_back(event);
      }
    }
    std::sort(found.begin(), found.end(), [](const Event& a, const Event& b) {
      return std::tie(b.ts, b.seq, a.carrier) <
             std::tie(a.ts, a.seq, b.carrier);
    });
    std::vector<std::string> texts;
    for (const Event& e : found) {
      texts.push_back(Text(e.carrier, e.ts, e.seq, e.status));
    }
    return texts;
  }
  std::set<std::string> CarriersOf(const std::string& waybill) const {
    std::set<std::string> carriers;
    for (const Event& event : events_.at(waybill)) {
      carriers.insert(event.carrier);
    }
    return carriers;
  }
  std::vector<std::string> Waybills() const {
    std::vector<std::string> waybills;
    for (const auto& [waybill, events] : events_) waybills.push_back(waybill);
    return waybills;
  }
  size_t count() const {
    size_t count = 0;
    for (const auto& [waybill, events] : events_) count += events.size();
    return count;
  }
  // With the time of receipt.
  size_t received() const { return received_; }

  static std::string Text(const std::string& carrier, int64_t ts, uint32_t seq,
                          const std::string& status) {
    return absl::StrCat(ts, "/", seq, " ", carrier, " ", status);
  }

 private:
  struct Event {
    int64_t ts;
    uint32_t seq;
    std::string carrier;
    std::string status;
  };
  std::map<std::string, std::vector<Event>> events_;
  std::map<std::tuple<std::string, std::string, int64_t>, uint32_t> next_;
  size_t received_ = 0;
};

std::vector<std::string> Texts(const std::vector<TrackingEvent>& events) {
  std::vector<std::string> texts;
  for (const TrackingEvent& e : events) {
    texts.push_back(Oracle::Text(e.carrier(), e.ts_ms(), e.seq(), e.status()));
  }
  return texts;
}

// One database and its desk.
class TrackingCheck {
 public:
  TrackingCheck(std::string_view what, Checks* checks)
      : what_(what), checks_(*checks) {
    absl::Status opened = db_.Open(Schema().Add(presets::TrackingEvents()));
    if (!checks_.Ok(opened, what)) return;
    auto desk = logistics::Desk::Bind(db_.engine.get());
    if (checks_.Ok(desk.status(), what)) desk_ = *std::move(desk);
  }

  bool ok() const { return desk_.has_value(); }
  logistics::Desk& desk() { return *desk_; }
  Oracle& oracle() { return oracle_; }

  // Records one event, and tells the oracle.
  void Record(const std::string& waybill, const std::string& carrier,
              std::optional<int64_t> ts_ms, const std::string& status,
              int64_t received_ms, std::optional<uint32_t> seq) {
    TrackingEvent event;
    event.set_waybill(waybill);
    event.set_carrier(carrier);
    event.set_ts_ms(ts_ms.value_or(0));
    event.set_status(status);
    event.set_seq(seq.value_or(0));
    const auto kept = seq.has_value()
                          ? desk_->RecordNumbered(event, received_ms)
                          : desk_->Record(event, received_ms);
    if (!checks_.Ok(kept.status(), what_)) return;
    oracle_.Add(waybill, carrier, ts_ms, status, received_ms, seq);
  }

  void Ask();

 private:
  void AskWaybill(const std::string& waybill);
  void Compare(const std::vector<std::string>& expected,
               const absl::StatusOr<logistics::Events>& events,
               std::string_view what, const std::string& waybill) {
    if (!checks_.Ok(events.status(), what)) return;
    checks_.That(Texts(events->records) == expected,
                 absl::StrCat(what_, ": ", ToAbsl(what), " of ", waybill));
  }

  const std::string what_;
  Checks& checks_;
  SystemDatabase db_;
  std::optional<logistics::Desk> desk_;
  Oracle oracle_;
};

void TrackingCheck::AskWaybill(const std::string& waybill) {
  const std::vector<std::string> all = oracle_.Of(waybill, {});
  std::vector<std::string> paged;
  std::string continuation;
  do {
    auto page = desk_->OfWaybill(waybill, 7, continuation);
    if (!checks_.Ok(page.status(), what_)) return;
    for (std::string& text : Texts(page->records)) {
      paged.push_back(std::move(text));
    }
    continuation = page->continuation;
  } while (!continuation.empty());
  checks_.That(paged == all, absl::StrCat(what_, ": all of ", waybill));

  const std::set<std::string> carriers = oracle_.CarriersOf(waybill);
  Compare(all,
          desk_->OfCarriers(waybill, {carriers.begin(), carriers.end()},
                            UINT64_MAX),
          "merged over carriers", waybill);
  const auto latest = desk_->Latest(waybill);
  Compare({all.front()}, latest, "latest", waybill);
  if (latest.ok()) {
    checks_.That(latest->work.entries == 1 && latest->work.gets == 0 &&
                     latest->work.seeks == 1,
                 absl::StrCat(what_, ": latest touches one entry"));
  }
  for (const std::string& carrier : carriers) {
    const std::vector<std::string> theirs = oracle_.Of(waybill, {carrier});
    Compare(theirs, desk_->OfCarrier(waybill, carrier, UINT64_MAX),
            "of a carrier", waybill);
    const auto newest = desk_->Latest(waybill, carrier);
    Compare({theirs.front()}, newest, "latest of a carrier", waybill);
    if (newest.ok()) {
      checks_.That(newest->work.entries == 1 && newest->work.gets == 0 &&
                       newest->work.seeks == 1,
                   absl::StrCat(what_, ": latest touches one row"));
    }
  }
}

void TrackingCheck::Ask() {
  const std::vector<std::string> waybills = oracle_.Waybills();
  const size_t every = std::max<size_t>(waybills.size() / kAskedWaybills, 1);
  for (size_t i = 0; i < waybills.size(); i += every) AskWaybill(waybills[i]);
  const auto report = db_.engine->Verify({});
  checks_.That(
      report.ok() && report->clean() && report->rows == oracle_.count(),
      absl::StrCat(what_,
                   ": verify is clean, rows=", report.ok() ? report->rows : 0,
                   " expected=", oracle_.count()));
  std::printf("%s: %zu events of %zu waybills, %zu with the time of receipt\n",
              what_.c_str(), oracle_.count(), waybills.size(),
              oracle_.received());
}

// ---- Responses of carriers, which come newest or oldest first.

struct Response {
  std::string carrier;
  std::string waybill;
  struct Scan {
    std::optional<int64_t> ts_ms;
    std::string status;
  };
  std::vector<Scan> scans;  // Oldest first.
  int64_t received_ms = 0;  // The newest time in it.
};

absl::StatusOr<std::vector<Response>> ReadResponses() {
  std::vector<Response> responses;
  std::string of;
  RETURN_IF_ERROR(ReadCsv(SharedData("tracking-events/events.csv"),
                          {"source", "carrier", "waybill", "pos_in_response",
                           "ts_iso", "code", "status"},
                          [&](std::vector<std::string>& row) -> absl::Status {
                            const std::string key =
                                absl::StrCat(row[0], "|", row[1], "|", row[2]);
                            if (key != of || row[3] == "0") {
                              responses.push_back({row[1], row[2], {}, 0});
                              of = key;
                            }
                            Response::Scan scan;
                            const auto ts_ms = ParseTimeMs(row[4]);
                            if (ts_ms.ok()) scan.ts_ms = *ts_ms;
                            scan.status = row[6].empty() ? row[5] : row[6];
                            Response& response = responses.back();
                            if (ts_ms.ok()) {
                              response.received_ms =
                                  std::max(response.received_ms, *ts_ms);
                            }
                            response.scans.push_back(std::move(scan));
                            return absl::OkStatus();
                          }));
  for (Response& response : responses) {
    std::vector<int64_t> times;
    for (const auto& scan : response.scans) {
      if (scan.ts_ms.has_value()) times.push_back(*scan.ts_ms);
    }
    if (!times.empty() && times.front() > times.back()) {
      std::reverse(response.scans.begin(), response.scans.end());
    }
    if (times.empty()) response.received_ms = kReceived;
  }
  return responses;
}

void CheckResponses(bool numbered, Checks* checks) {
  const auto responses = ReadResponses();
  if (!checks->Ok(responses.status(), "read tracking-events")) return;
  TrackingCheck check(
      numbered ? "tracking-events, numbered, twice" : "tracking-events",
      checks);
  if (!check.ok()) return;
  // The first number behind those of an earlier response of the waybill.
  std::map<std::pair<std::string, std::string>, uint32_t> numbers;
  for (const Response& response : *responses) {
    uint32_t& number = numbers[{response.waybill, response.carrier}];
    for (const auto& scan : response.scans) {
      std::optional<uint32_t> seq;
      if (numbered) seq = number++;
      check.Record(response.waybill, response.carrier, scan.ts_ms, scan.status,
                   response.received_ms, seq);
      if (!numbered) continue;
      TrackingEvent again;
      again.set_waybill(response.waybill);
      again.set_carrier(response.carrier);
      again.set_ts_ms(scan.ts_ms.value_or(0));
      again.set_status(scan.status);
      again.set_seq(*seq);
      checks->Ok(
          check.desk().RecordNumbered(again, response.received_ms).status(),
          "record again");
    }
  }
  check.Ask();
}

// ---- Process logs, which number their events.

void CheckLog(std::string_view what, const char* file,
              const std::vector<std::string>& columns, size_t most,
              Checks* checks) {
  TrackingCheck check(what, checks);
  if (!check.ok()) return;
  size_t rows = 0;
  const absl::Status read = ReadCsv(
      SharedData(file), columns,
      [&](std::vector<std::string>& row) -> absl::Status {
        if (rows++ >= most) return absl::OkStatus();
        ASSIGN_OR_RETURN(const int64_t ts_ms, ParseTimeMs(row[2]));
        uint32_t seq = 0;
        if (!absl::SimpleAtoi(row[1], &seq)) {
          return absl::InvalidArgumentError(row[1]);
        }
        const bool has_parts = row.size() > 4;
        check.Record(row[0], has_parts ? row[5] : "p2p", ts_ms,
                     has_parts ? absl::StrCat(row[3], "/", row[4]) : row[3],
                     kReceived, seq);
        return absl::OkStatus();
      });
  if (checks->Ok(read, what)) check.Ask();
}

// Four recorders, one waybill, one second, no numbers given.
void CheckRecorders(Checks* checks) {
  constexpr size_t kThreads = 4;
  constexpr size_t kEach = 100;
  SystemDatabase db;
  if (!checks->Ok(db.Open(Schema().Add(presets::TrackingEvents())),
                  "recorders: open")) {
    return;
  }
  std::vector<std::thread> threads;
  std::vector<absl::Status> failed(kThreads);
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&db, &failed, t] {
      auto desk = logistics::Desk::Bind(db.engine.get());
      for (size_t i = 0; i < kEach && desk.ok(); ++i) {
        TrackingEvent event;
        event.set_waybill("w");
        event.set_carrier("c");
        event.set_ts_ms(kReceived);
        event.set_status(absl::StrCat(t, "/", i));
        failed[t].Update(desk->Record(event, kReceived).status());
      }
      failed[t].Update(desk.status());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : failed) checks->Ok(status, "recorders");
  auto desk = logistics::Desk::Bind(db.engine.get());
  if (!checks->Ok(desk.status(), "recorders")) return;
  const auto all = desk->OfCarrier("w", "c", UINT64_MAX);
  if (!checks->Ok(all.status(), "recorders")) return;
  std::set<std::string> statuses;
  bool dense = true;
  for (size_t i = 0; i < all->records.size(); ++i) {
    statuses.insert(all->records[i].status());
    dense = dense && all->records[i].seq() == all->records.size() - 1 - i;
  }
  checks->That(dense && statuses.size() == kThreads * kEach,
               absl::StrCat("recorders: each event has a number of its own: "
                            "events=",
                            statuses.size()));
  db.Verify("recorders", checks);
}

}  // namespace

void CheckTracking(size_t most, Checks* checks) {
  CheckResponses(/*numbered=*/false, checks);
  CheckResponses(/*numbered=*/true, checks);
  CheckLog("bpi2019", "bpi2019-purchase-orders/events.csv.xz",
           {"case_id", "seq", "ts", "activity"}, most, checks);
  CheckLog("bpi2013", "bpi2013-incidents/events.csv.xz",
           {"case_id", "seq", "ts", "status", "sub_status", "org_line"}, most,
           checks);
  CheckRecorders(checks);
}

void CheckLatest(size_t events, size_t calls, Checks* checks) {
  SystemDatabase db;
  if (!checks->Ok(db.Open(Schema().Add(presets::TrackingEvents())), "open")) {
    return;
  }
  WriteBatch batch;
  for (size_t i = 0; i < events + 1; ++i) {
    TrackingEvent event;
    event.set_waybill(i == 0 ? "one" : "many");
    event.set_carrier("c");
    event.set_ts_ms(kReceived + static_cast<int64_t>(i / 4));
    event.set_seq(static_cast<uint32_t>(i % 4));
    event.set_status("scanned");
    batch.Put("events", event.SerializeAsString());
    if (batch.count() < 1'000 && i < events) continue;
    const auto commit =
        db.engine->Write({}, std::exchange(batch, WriteBatch()));
    if (!checks->Ok(commit.status(), "load")) return;
  }
  auto desk = logistics::Desk::Bind(db.engine.get());
  if (!checks->Ok(desk.status(), "bind")) return;

  for (const bool with_carrier : {true, false}) {
    const auto ask = [&](const char* waybill) {
      return with_carrier ? desk->Latest(waybill, "c") : desk->Latest(waybill);
    };
    const char* what = with_carrier ? "with the carrier" : "without it";
    for (const char* waybill : {"one", "many"}) {
      const auto latest = ask(waybill);
      if (!checks->Ok(latest.status(), what)) return;
      std::printf(
          "latest %s, waybill of %zu events: seeks=%llu entries=%llu "
          "gets=%llu\n",
          what, waybill[0] == 'o' ? 1 : events,
          static_cast<unsigned long long>(latest->work.seeks),
          static_cast<unsigned long long>(latest->work.entries),
          static_cast<unsigned long long>(latest->work.gets));
      checks->That(latest->records.size() == 1 && latest->work.seeks == 1 &&
                       latest->work.entries == 1 && latest->work.gets == 0,
                   absl::StrCat("one entry, ", what, ", ", waybill));
    }
    if (calls == 0) continue;
    // In turns, so that both meet the machine as it is.
    std::vector<double> micros[2];
    for (size_t i = 0; i < calls; ++i) {
      for (const int many : {0, 1}) {
        const auto start = std::chrono::steady_clock::now();
        const auto latest = ask(many != 0 ? "many" : "one");
        micros[many].push_back(std::chrono::duration<double, std::micro>(
                                   std::chrono::steady_clock::now() - start)
                                   .count());
        if (!latest.ok()) return;
      }
    }
    for (std::vector<double>& m : micros) {
      std::nth_element(m.begin(), m.begin() + m.size() / 2, m.end());
    }
    const double one = micros[0][calls / 2];
    const double many = micros[1][calls / 2];
    std::printf(
        "latest %s: median %.2f us of 1 event, %.2f us of %zu, ratio "
        "%.2f\n",
        what, one, many, events, many / one);
    checks->That(many / one < 1.5, absl::StrCat("time ratio, ", what));
  }
  db.Verify("latest", checks);
}

}  // namespace dovetail::test

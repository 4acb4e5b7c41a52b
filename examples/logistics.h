// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A parcel desk: what carriers say about waybills, and where a parcel is now.
//
// Row key: hash(waybill) waybill carrier ts(desc) seq(desc). A waybill's events
// lie together, and of one carrier newest first. Waybill numbers are not unique
// across carriers, so whoever does not know the carrier asks the index
// by_waybill, which has all carriers' events in one order.
//
// Two rules make the key of an event:
//   time   The carrier's, if it is one: from 1990 on, and at most a day ahead
//   of
//          the clock of the one who records. Else the time of receipt, and
//          `time_source` says so: an event without a time is news of now, and a
//          time in the year 58136 does not stay on top of every list.
//   seq    Events of one waybill, carrier and time are numbered. A source that
//          numbers its events names the number, and what it sends again is the
//          same row. For others the recorder takes the next number that is
//          free: whether it is free is decided by the insert, one at a time, so
//          that no two recorders get the same one.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/presets.h"
#include "dovetail/table.h"
#include "dovetail/v1/tracking.pb.h"

namespace logistics {

using dovetail::v1::TrackingEvent;
using Events = dovetail::RecordPage<TrackingEvent>;

constexpr int64_t kFirstTime = 631'152'000'000;  // 1990-01-01
constexpr int64_t kAhead = 86'400'000;           // A day.

// Gives the event, whose ts_ms is the carrier's or 0, the time it is kept
// under.
inline void SettleTime(int64_t received_ms, TrackingEvent* event) {
  event->set_received_ms(received_ms);
  const int64_t ts = event->ts_ms();
  if (ts >= kFirstTime && ts <= received_ms + kAhead) return;
  if (event->time_text().empty() && ts != 0) {
    event->set_time_text(std::to_string(ts));
  }
  event->set_ts_ms(received_ms);
  event->set_time_source(TrackingEvent::RECEIPT);
}

// Thread-safe.
class Desk {
 public:
  static absl::StatusOr<Desk> Bind(dovetail::Engine* engine) {
    auto events = dovetail::Table<TrackingEvent>::Bind(engine, "events");
    if (!events.ok()) return events.status();
    return Desk(*std::move(events));
  }

  // Records what a source sent that does not number its events; returns the
  // event as it is kept.
  absl::StatusOr<TrackingEvent> Record(TrackingEvent event,
                                       int64_t received_ms) {
    SettleTime(received_ms, &event);
    auto last = events_.Scan(
        {.equal = {event.waybill(), event.carrier(), event.ts_ms()},
         .limit = 1});
    if (!last.ok()) return last.status();
    event.set_seq(last->records.empty() ? 0 : last->records[0].seq() + 1);
    while (true) {
      auto commit = events_.Insert(event);
      if (commit.ok()) return event;
      if (!absl::IsAlreadyExists(commit.status())) return commit.status();
      event.set_seq(event.seq() + 1);  // Another recorder was first.
    }
  }

  // Records an event that its source has numbered, once however often it comes.
  absl::StatusOr<TrackingEvent> RecordNumbered(TrackingEvent event,
                                               int64_t received_ms) {
    SettleTime(received_ms, &event);
    auto commit = events_.Put(event);
    if (!commit.ok()) return commit.status();
    return event;
  }

  // Newest first. `continuation` is that of the page before.
  absl::StatusOr<Events> OfCarrier(const std::string& waybill,
                                   const std::string& carrier, uint64_t limit,
                                   const std::string& continuation = {}) const {
    return events_.Scan({.equal = {waybill, carrier},
                         .limit = limit,
                         .continuation = continuation});
  }
  absl::StatusOr<Events> OfWaybill(const std::string& waybill, uint64_t limit,
                                   const std::string& continuation = {}) const {
    return events_.Scan({.index = "by_waybill",
                         .equal = {waybill},
                         .limit = limit,
                         .continuation = continuation});
  }
  // The same from the row key, for those who know which carriers there are.
  absl::StatusOr<Events> OfCarriers(const std::string& waybill,
                                    const std::vector<std::string>& carriers,
                                    uint64_t limit) const {
    return events_.Scan({.equal = {waybill},
                         .any_of = {carriers.begin(), carriers.end()},
                         .limit = limit});
  }

  // One row, or none.
  absl::StatusOr<Events> Latest(const std::string& waybill,
                                const std::string& carrier) const {
    return OfCarrier(waybill, carrier, 1);
  }
  // One entry, which holds carrier, time, number and status; not its row.
  absl::StatusOr<Events> Latest(const std::string& waybill) const {
    return events_.Scan({.index = "by_waybill",
                         .equal = {waybill},
                         .limit = 1,
                         .covered = true});
  }

 private:
  explicit Desk(dovetail::Table<TrackingEvent> events)
      : events_(std::move(events)) {}

  dovetail::Table<TrackingEvent> events_;
};

}  // namespace logistics

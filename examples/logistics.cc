// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A parcel's way through the hands of two carriers that use the same number.
//
//   logistics DIRECTORY

#include "logistics.h"

#include <cinttypes>
#include <cstdio>

namespace {

using logistics::Desk;
using logistics::Events;
using logistics::TrackingEvent;

constexpr int64_t kNow = 1'772'452'800'000;  // 2026-03-02 12:00

TrackingEvent Scan(const char* carrier, int64_t ts_ms, const char* status) {
  TrackingEvent event;
  event.set_waybill("LX-7");
  event.set_carrier(carrier);
  event.set_ts_ms(ts_ms);
  event.set_status(status);
  return event;
}

void Print(const char* title, const absl::StatusOr<Events>& events) {
  if (!events.ok()) {
    std::printf("%s: %s\n", title, events.status().ToString().c_str());
    return;
  }
  std::printf("%s (entries=%" PRIu64 " gets=%" PRIu64 ")\n", title,
              events->work.entries, events->work.gets);
  for (const TrackingEvent& event : events->records) {
    std::printf("  %s %" PRId64 "/%u %s%s\n", event.carrier().c_str(),
                event.ts_ms() - kNow, event.seq(), event.status().c_str(),
                event.time_source() == TrackingEvent::RECEIPT
                    ? " (time of receipt)"
                    : "");
  }
}

absl::Status Run(const char* directory) {
  dovetail::Schema schema;
  schema.Add(dovetail::presets::TrackingEvents());
  auto engine = dovetail::Engine::Open(directory, schema);
  if (!engine.ok()) return engine.status();
  auto desk = Desk::Bind(engine->get());
  if (!desk.ok()) return desk.status();

  for (const TrackingEvent& scan :
       {Scan("post", kNow - 7'200'000, "posted"),
        Scan("post", kNow - 3'600'000, "sorted"),
        Scan("post", kNow - 3'600'000, "loaded"),     // In the same second.
        Scan("rail", kNow - 5'000'000, "announced"),  // The same number.
        Scan("post", 0, "damaged"),                   // No time.
        Scan("rail", kNow * 1000, "arrived")}) {      // Microseconds.
    if (auto event = desk->Record(scan, kNow); !event.ok()) {
      return event.status();
    }
  }
  TrackingEvent numbered = Scan("rail", kNow - 60'000, "handed over");
  numbered.set_seq(41);
  for (int again = 0; again < 3; ++again) {
    auto event = desk->RecordNumbered(numbered, kNow);
    if (!event.ok()) return event.status();
  }

  Print("all carriers", desk->OfWaybill("LX-7", 20));
  Print("post", desk->OfCarrier("LX-7", "post", 20));
  Print("two carriers, from the row key",
        desk->OfCarriers("LX-7", {"post", "rail"}, 3));
  Print("latest of rail", desk->Latest("LX-7", "rail"));
  Print("latest", desk->Latest("LX-7"));
  return (*engine)->Close();
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = Run(argc > 1 ? argv[1] : "logistics.db");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

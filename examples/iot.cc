// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Three days of thermometers and gates in two regions; the first day expires.
//
//   iot DIRECTORY

#include "iot.h"

#include <cinttypes>
#include <cstdio>

namespace {

using iot::DeviceReading;

constexpr int64_t kFirstDay = 20'000;

void Print(const char* title, const std::vector<DeviceReading>& readings) {
  std::printf("%s:", title);
  for (const DeviceReading& r : readings) {
    std::printf(" %s@%d+%" PRId64 "h", r.device().c_str(),
                static_cast<int>(r.day() - kFirstDay),
                r.ts_ms() % iot::kDayMs / 3'600'000);
  }
  std::printf("\n");
}

absl::Status Run(const char* directory) {
  dovetail::Schema schema;
  schema.Add(dovetail::presets::DeviceReadings());
  auto engine = dovetail::Engine::Open(directory, schema);
  if (!engine.ok()) return engine.status();
  auto station = iot::Station::Bind(engine->get());
  if (!station.ok()) return station.status();

  std::vector<DeviceReading> readings;
  for (int hour = 0; hour < 72; hour += 6) {
    for (const char* device : {"t1", "t2", "g1"}) {
      DeviceReading reading;
      reading.set_device_type(device[0] == 't' ? "thermometer" : "gate");
      reading.set_region(device[1] == '2' ? "south" : "north");
      reading.set_device(device);
      reading.set_ts_ms(kFirstDay * iot::kDayMs + hour * 3'600'000);
      reading.set_value(hour);
      readings.push_back(std::move(reading));
    }
  }
  if (auto done = station->Record(readings); !done.ok()) return done;

  const int64_t second = (kFirstDay + 1) * iot::kDayMs;
  auto device = station->OfDevice("thermometer", "north", "t1", {}, 3);
  auto type = station->OfType({"thermometer"}, 1'000);
  auto region = station->OfRegion("north", {.max = second}, 3);
  auto between = station->Between(second, second + 6 * 3'600'000, 100);
  auto expired = station->ExpireBefore(static_cast<int32_t>(kFirstDay + 1));
  auto left = station->OfType({"thermometer"}, 1'000);
  if (!device.ok()) return device.status();
  if (!type.ok()) return type.status();
  if (!region.ok()) return region.status();
  if (!between.ok()) return between.status();
  if (!expired.ok()) return expired.status();
  if (!left.ok()) return left.status();
  Print("newest of t1", device->records);
  Print("in the north up to the second day", region->records);
  std::vector<DeviceReading> some;
  for (const dovetail::Row& row : between->rows) {
    some.emplace_back().ParseFromString(row.record);
  }
  Print("in the first hours of the second day", some);
  std::printf("expired %" PRIu64 "; of thermometers %zu, then %zu\n", *expired,
              type->records.size(), left->records.size());
  return (*engine)->Close();
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = Run(argc > 1 ? argv[1] : "iot.db");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What devices measure. Row key: device_type region device ts(desc): a device's
// newest are one range, and so are all devices of a type, or of a type in a
// region. Across types there are by_region and by_day; a day that is over is
// deleted as a whole, in requests of bounded size.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/presets.h"
#include "dovetail/table.h"
#include "dovetail/v1/reading.pb.h"

namespace iot {

using dovetail::v1::DeviceReading;
using Readings = dovetail::RecordPage<DeviceReading>;

constexpr int64_t kDayMs = 86'400'000;
constexpr uint64_t kExpireRows = 1'000;  // Of one request.

// Rounded down, before 1970 too.
inline int32_t DayOf(int64_t ts_ms) {
  return static_cast<int32_t>((ts_ms - ((ts_ms % kDayMs) + kDayMs) % kDayMs) /
                              kDayMs);
}

// Thread-safe; the engine must outlive it.
class Station {
 public:
  static absl::StatusOr<Station> Bind(dovetail::Engine* engine) {
    auto readings = dovetail::Table<DeviceReading>::Bind(engine, "readings");
    if (!readings.ok()) return readings.status();
    return Station(engine, *std::move(readings));
  }

  // All in one commit. A reading that comes again replaces itself.
  absl::Status Record(std::vector<DeviceReading> readings) {
    dovetail::WriteBatch batch;
    for (DeviceReading& reading : readings) {
      reading.set_day(DayOf(reading.ts_ms()));
      batch.Put("readings", reading.SerializeAsString());
    }
    return engine_->Write({}, std::move(batch)).status();
  }

  // Of a device, newest first.
  absl::StatusOr<Readings> OfDevice(const std::string& type,
                                    const std::string& region,
                                    const std::string& device,
                                    dovetail::Range ts_ms,
                                    uint64_t limit) const {
    return readings_.Scan({.equal = {type, region, device},
                           .range = std::move(ts_ms),
                           .limit = limit});
  }
  // Of all devices of a type, or of a type in a region: device by device.
  absl::StatusOr<Readings> OfType(const std::vector<dovetail::Value>& type,
                                  uint64_t limit,
                                  const std::string& continuation = {}) const {
    return readings_.Scan(
        {.equal = type, .limit = limit, .continuation = continuation});
  }
  // Of all devices in a region, newest first.
  absl::StatusOr<Readings> OfRegion(const std::string& region,
                                    dovetail::Range ts_ms,
                                    uint64_t limit) const {
    return readings_.Scan({.index = "by_region",
                           .equal = {region},
                           .range = std::move(ts_ms),
                           .limit = limit});
  }
  // Of all devices, newest first. The days narrow it, the index has the order.
  absl::StatusOr<dovetail::QueryPage> Between(int64_t from_ms, int64_t to_ms,
                                              uint64_t limit) const {
    using dovetail::Filter;
    using dovetail::Query;
    return engine_->Query(
        {}, Query("readings")
                .Where(Filter::InRange(
                    "day", {.min = DayOf(from_ms), .max = DayOf(to_ms)}))
                .Where(Filter::InRange("ts_ms", {.min = from_ms, .max = to_ms}))
                .OrderBy("day", Query::kDescending)
                .OrderBy("ts_ms", Query::kDescending)
                .Limit(limit));
  }

  // Deletes all days before `day`; returns how many readings. May be stopped
  // and called again at any point: what is left is what has not been deleted.
  absl::StatusOr<uint64_t> ExpireBefore(int32_t day) {
    for (uint64_t expired = 0;;) {
      auto page = engine_->Scan(
          {}, {.table = "readings",
               .index = "by_day",
               .range = dovetail::Range{.max = day, .max_inclusive = false},
               .limit = kExpireRows});
      if (!page.ok()) return page.status();
      if (page->rows.empty()) return expired;
      dovetail::WriteBatch batch;
      for (const dovetail::Row& row : page->rows) {
        batch.Delete("readings", dovetail::RowRef::EncodedKey(row.key));
      }
      auto commit = engine_->Write({}, std::move(batch));
      if (!commit.ok()) return commit.status();
      for (const uint64_t rows : commit->rows_changed) expired += rows;
    }
  }

 private:
  Station(dovetail::Engine* engine, dovetail::Table<DeviceReading> readings)
      : engine_(engine), readings_(std::move(readings)) {}

  dovetail::Engine* engine_;
  dovetail::Table<DeviceReading> readings_;
};

}  // namespace iot

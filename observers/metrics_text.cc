// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The format: for each metric a HELP and a TYPE line, then its samples,
//   name{label="value",...} number
// and for histograms cumulative buckets, _sum and _count. In label values,
// backslash, double quote and line feed are escaped; other bytes stay.

#include "observers/metrics_text.h"

#include <cstdint>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/strings.h"
#include "observers/latency_histogram.h"

namespace dovetail::internal {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

struct CounterFamily {
  std::string_view name;
  std::string_view help;
  uint64_t TableMetrics::*value;
};
constexpr CounterFamily kCounters[] = {
    {"dovetail_puts_total", "Rows put by committed requests.",
     &TableMetrics::puts},
    {"dovetail_put_bytes_total", "Bytes of the records put.",
     &TableMetrics::put_bytes},
    {"dovetail_deletes_total", "Rows deleted by committed requests.",
     &TableMetrics::deletes},
    {"dovetail_delete_bytes_total", "Bytes of the records deleted.",
     &TableMetrics::delete_bytes},
    {"dovetail_gets_total", "Look-ups by row key or index values.",
     &TableMetrics::gets},
    {"dovetail_get_rows_total", "Rows that look-ups returned.",
     &TableMetrics::get_rows},
    {"dovetail_scans_total", "Scans, each page counted.", &TableMetrics::scans},
    {"dovetail_scan_rows_total", "Rows that scans returned.",
     &TableMetrics::scan_rows},
};

struct HistogramFamily {
  std::string_view name;
  std::string_view help;
  LatencySnapshot TableMetrics::*value;
};
constexpr HistogramFamily kHistograms[] = {
    {"dovetail_commit_duration_seconds",
     "From the end of a request's own work to its post hook.",
     &TableMetrics::commit},
    {"dovetail_get_duration_seconds", "Duration of look-ups.",
     &TableMetrics::get},
    {"dovetail_scan_duration_seconds", "Duration of scans, visitors included.",
     &TableMetrics::scan},
};

// Bounds are powers of four, which end buckets of the finer histogram.
constexpr int kBoundPowerMax = 26;  // 2^26 us is 67 s.

std::string Escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out.push_back('\\');
    if (c == '\n') {
      out.append("\\n");
    } else {
      out.push_back(c);
    }
  }
  return out;
}

// `a="1",b="2"`
std::string Format(const Labels& labels) {
  std::string out;
  for (const auto& [name, value] : labels) {
    absl::StrAppend(&out, out.empty() ? "" : ",", name, "=\"", Escaped(value),
                    "\"");
  }
  return out;
}

std::string With(const std::string& labels, std::string_view name,
                 std::string_view value) {
  return absl::StrCat(labels, labels.empty() ? "" : ",", ToAbsl(name), "=\"",
                      Escaped(value), "\"");
}

std::string Seconds(uint64_t micros) {
  return absl::StrFormat("%d.%06d", micros / 1'000'000, micros % 1'000'000);
}

void AppendHead(std::string_view name, std::string_view help,
                std::string_view type, std::string* out) {
  absl::StrAppend(out, "# HELP ", ToAbsl(name), " ", ToAbsl(help), "\n# TYPE ",
                  ToAbsl(name), " ", ToAbsl(type), "\n");
}

void AppendSample(std::string_view name, std::string_view suffix,
                  const std::string& labels, absl::string_view value,
                  std::string* out) {
  absl::StrAppend(out, ToAbsl(name), ToAbsl(suffix), "{", labels, "} ", value,
                  "\n");
}

// Durations are cut to whole microseconds, so those below 2^k count as at
// most 2^k.
void AppendHistogram(std::string_view name, const std::string& labels,
                     const LatencySnapshot& latency, std::string* out) {
  uint64_t cumulative = 0;
  size_t bucket = 0;
  for (int power = 0; power <= kBoundPowerMax; power += 2) {
    const uint64_t bound = uint64_t{1} << power;
    for (; LatencyHistogram::UpperBound(bucket) < bound; ++bucket) {
      cumulative += latency.buckets[bucket];
    }
    AppendSample(name, "_bucket", With(labels, "le", Seconds(bound)),
                 absl::StrCat(cumulative), out);
  }
  const std::string count = absl::StrCat(latency.count);
  AppendSample(name, "_bucket", With(labels, "le", "+Inf"), count, out);
  AppendSample(name, "_sum", labels, Seconds(latency.sum_micros), out);
  AppendSample(name, "_count", labels, count, out);
}

void AppendRequests(const MetricsSnapshot& snapshot, const std::string& labels,
                    std::string* out) {
  constexpr std::string_view kName = "dovetail_requests_total";
  AppendHead(kName, "Write requests by outcome.", "counter", out);
  for (const auto& [outcome, count] :
       {std::pair("committed", snapshot.committed),
        std::pair("refused", snapshot.refused),
        std::pair("unknown", snapshot.unknown)}) {
    AppendSample(kName, "", With(labels, "outcome", outcome),
                 absl::StrCat(count), out);
  }
}

}  // namespace

std::string PrometheusText(const MetricsSnapshot& snapshot,
                           const Labels& labels) {
  std::string out;
  const std::string common = Format(labels);
  AppendRequests(snapshot, common, &out);
  for (const CounterFamily& family : kCounters) {
    AppendHead(family.name, family.help, "counter", &out);
    for (const TableMetrics& table : snapshot.tables) {
      AppendSample(family.name, "", With(common, "table", table.table),
                   absl::StrCat(table.*family.value), &out);
    }
  }
  for (const HistogramFamily& family : kHistograms) {
    AppendHead(family.name, family.help, "histogram", &out);
    for (const TableMetrics& table : snapshot.tables) {
      AppendHistogram(family.name, With(common, "table", table.table),
                      table.*family.value, &out);
    }
  }
  return out;
}

}  // namespace dovetail::internal

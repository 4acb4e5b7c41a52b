// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "bench/report.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "google/protobuf/util/json_util.h"

namespace dovetail::bench {
namespace {

using Figure = double (*)(const PhaseResult&);

double OperationsPerSecond(const PhaseResult& r) {
  return r.seconds() > 0 ? r.operations() / r.seconds() : 0;
}
double CallerCpuUs(const PhaseResult& r) {
  return r.operations() > 0 ? 1e6 * r.caller_cpu_s() / r.operations() : 0;
}
double CpuUs(const PhaseResult& r) {
  if (r.operations() == 0) return 0;
  return 1e6 * (r.cpu_s() + r.settle_cpu_s()) / r.operations();
}
double P50(const PhaseResult& r) { return r.p50_us(); }
double P99(const PhaseResult& r) { return r.p99_us(); }
double MegabytesWritten(const PhaseResult& r) {
  return (r.bytes_written() + r.settle_bytes_written()) / 1e6;
}
double SettleSeconds(const PhaseResult& r) { return r.settle_seconds(); }

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

double MedianOf(const std::vector<PhaseResult>& results, Figure figure) {
  std::vector<double> values;
  for (const PhaseResult& result : results) values.push_back(figure(result));
  return Median(std::move(values));
}

// The median, over the rounds, of a's figure divided by b's.
double MedianRatio(const std::vector<PhaseResult>& a,
                   const std::vector<PhaseResult>& b, Figure figure) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double divisor = figure(b[i]);
    if (divisor > 0) ratios.push_back(figure(a[i]) / divisor);
  }
  return Median(std::move(ratios));
}

std::string ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  // These messages hold nothing that JSON cannot say.
  DOVETAIL_CHECK(
      google::protobuf::util::MessageToJsonString(message, &json, options)
          .ok());
  return json;
}

}  // namespace

void Results::Add(const RunResult& run) {
  results_.insert(results_.end(), run.phases().begin(), run.phases().end());
}

absl::Status Results::CheckAnswers() const {
  std::map<std::pair<std::string, int>, const PhaseResult*> first;
  for (const PhaseResult& result : results_) {
    const auto [it, added] =
        first.try_emplace({result.phase(), result.round()}, &result);
    if (added || it->second->checksum() == result.checksum()) continue;
    return absl::DataLossError(
        absl::StrCat("engines give different answers: phase=", result.phase(),
                     " round=", result.round(),
                     " engines=", it->second->engine(), ",", result.engine()));
  }
  return absl::OkStatus();
}

std::vector<PhaseResult> Results::Select(const std::string& engine,
                                         const std::string& phase) const {
  std::vector<PhaseResult> selected;
  for (const PhaseResult& result : results_) {
    if (result.engine() == engine && result.phase() == phase) {
      selected.push_back(result);
    }
  }
  std::stable_sort(selected.begin(), selected.end(),
                   [](const PhaseResult& a, const PhaseResult& b) {
                     return a.round() < b.round();
                   });
  return selected;
}

std::vector<Comparison> Results::Compare() const {
  std::vector<Comparison> comparisons;
  for (const std::string& phase : phases_) {
    for (size_t i = 1; i < engines_.size(); ++i) {
      const std::vector<PhaseResult> ours = Select(engines_[0], phase);
      const std::vector<PhaseResult> theirs = Select(engines_[i], phase);
      Comparison comparison;
      comparison.set_phase(phase);
      comparison.set_engine(engines_[0]);
      comparison.set_baseline(engines_[i]);
      comparison.set_wall(MedianRatio(ours, theirs, OperationsPerSecond));
      comparison.set_p50(MedianRatio(theirs, ours, P50));
      comparison.set_caller_cpu(MedianRatio(theirs, ours, CallerCpuUs));
      comparison.set_cpu(MedianRatio(theirs, ours, CpuUs));
      comparisons.push_back(std::move(comparison));
    }
  }
  return comparisons;
}

std::string Results::Table() const {
  const std::vector<Comparison> comparisons = Compare();
  std::string table =
      "caller, cpu: CPU microseconds an operation, of the calling threads and "
      "of the\nwhole process with the background work that follows; settle: "
      "seconds of that\n\n";
  absl::StrAppendFormat(&table, "%-13s %-18s %10s %9s %9s %9s %9s %9s %8s\n",
                        "phase", "engine", "ops/s", "p50 us", "p99 us",
                        "caller", "cpu", "MB out", "settle");
  for (const std::string& phase : phases_) {
    for (const std::string& engine : engines_) {
      const std::vector<PhaseResult> rounds = Select(engine, phase);
      absl::StrAppendFormat(
          &table, "%-13s %-18s %10.0f %9.1f %9.1f %9.2f %9.2f %9.1f %8.1f\n",
          phase, engine, MedianOf(rounds, OperationsPerSecond),
          MedianOf(rounds, P50), MedianOf(rounds, P99),
          MedianOf(rounds, CallerCpuUs), MedianOf(rounds, CpuUs),
          MedianOf(rounds, MegabytesWritten), MedianOf(rounds, SettleSeconds));
    }
  }
  if (comparisons.empty()) return table;
  absl::StrAppendFormat(&table,
                        "\n%s against the others, medians of the ratios within "
                        "a round\n> 1: %s is faster or cheaper\n\n",
                        engines_[0], engines_[0]);
  absl::StrAppendFormat(&table, "%-13s %-18s %10s %9s %9s %9s\n", "phase",
                        "other", "wall", "p50", "caller", "cpu");
  for (const Comparison& c : comparisons) {
    absl::StrAppendFormat(&table, "%-13s %-18s %10.2f %9.2f %9.2f %9.2f\n",
                          c.phase(), c.baseline(), c.wall(), c.p50(),
                          c.caller_cpu(), c.cpu());
  }
  return table;
}

std::string Results::JsonLines() const {
  std::string lines;
  for (const PhaseResult& result : results_) {
    absl::StrAppend(&lines, ToJson(result), "\n");
  }
  for (const Comparison& comparison : Compare()) {
    absl::StrAppend(&lines, ToJson(comparison), "\n");
  }
  return lines;
}

}  // namespace dovetail::bench

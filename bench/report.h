// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// From the results of single runs to medians, ratios and verdicts.

#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bench/bench_result.pb.h"

namespace dovetail::bench {

// Thread-compatible.
class Results {
 public:
  // Tables keep the order of `engines` and `phases`. The first engine is
  // compared with each of the others.
  Results(std::vector<std::string> engines, std::vector<std::string> phases)
      : engines_(std::move(engines)), phases_(std::move(phases)) {}

  void Add(const RunResult& run);

  // DataLoss, naming the phase, if two engines gave different answers.
  absl::Status CheckAnswers() const;

  std::vector<Comparison> Compare() const;
  // Medians over the rounds, and the comparisons.
  std::string Table() const;
  // One result or comparison a line, results first.
  std::string JsonLines() const;

 private:
  // Of all rounds, in their order.
  std::vector<PhaseResult> Select(const std::string& engine,
                                  const std::string& phase) const;

  std::vector<std::string> engines_;
  std::vector<std::string> phases_;
  std::vector<PhaseResult> results_;
};

}  // namespace dovetail::bench

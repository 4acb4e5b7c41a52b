// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The three order data sets of core_olist: one database, and what brute force
// knows about each table.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/engine.h"
#include "dovetail/v1/order.pb.h"
#include "tests/support/checks.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {

// What the oracle knows of a row. `status` is an enum's number as text in the
// orders table.
struct Line {
  std::string order;
  std::string seller;
  int64_t ts_ms = 0;
  std::string status;
};

// Newest first, equal times by order id.
inline bool Before(const Line* a, const Line* b) {
  return a->ts_ms != b->ts_ms ? a->ts_ms > b->ts_ms : a->order < b->order;
}

// One table's rows, as brute force has them.
struct Oracle {
  std::string table;
  bool status_is_number = false;
  std::vector<Line> lines;

  using Group = std::vector<const Line*>;
  std::map<std::string, Group> BySeller() const {
    return GroupBy([](const Line& l) { return l.seller; });
  }
  std::map<std::string, Group> BySellerAndStatus() const {
    return GroupBy(
        [](const Line& l) { return absl::StrCat(l.seller, "\n", l.status); });
  }
  std::map<std::string, uint64_t> CountByStatus() const {
    std::map<std::string, uint64_t> counts;
    for (const Line& line : lines) ++counts[line.status];
    return counts;
  }

 private:
  template <typename Key>
  std::map<std::string, Group> GroupBy(const Key& key) const {
    std::map<std::string, Group> groups;
    for (const Line& line : lines) groups[key(line)].push_back(&line);
    for (auto& [name, group] : groups) {
      std::sort(group.begin(), group.end(), Before);
    }
    return groups;
  }
};

// How the orders table's status is written in a Line.
std::string StatusText(v1::OrderStatus status);

class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
};

// One line per load: figures for people, nothing is checked on them.
void PrintRate(std::string_view what, uint64_t count, const Stopwatch& watch);

// Loads and reads. Errors end a run; wrong answers are counted in `checks`.
class OrderSets {
 public:
  explicit OrderSets(Checks* checks) : checks_(*checks) {}

  absl::Status Open();
  absl::Status Reopen();

  absl::Status LoadOlist();
  absl::Status LoadRetail();
  absl::Status LoadAmazon();

  // Every read form of every table, against the oracles.
  absl::Status CheckAll();

 private:
  absl::Status LoadOlistOrders();
  absl::Status ReplayOlistChanges();
  absl::Status SetOlistFinal();
  absl::Status CheckOlistCounts(
      std::string_view when,
      const std::vector<std::pair<v1::OrderStatus, uint64_t>>& expected);
  absl::Status CheckOlistTopSellers();
  absl::Status CheckSplitOrders();

  absl::StatusOr<Line> ParseLine(const Oracle& oracle, const Row& row) const;
  // All rows of the request, page by page.
  absl::StatusOr<std::vector<Line>> ReadAll(const Oracle& oracle,
                                            ScanRequest request);
  absl::StatusOr<bool> IsNewest(const Oracle& oracle,
                                const Oracle::Group& group,
                                const ScanRequest& request);
  absl::Status CheckNewest(const Oracle& oracle);
  absl::Status CheckNewestByStatus(const Oracle& oracle);
  absl::Status CheckTwoStatuses(const Oracle& oracle);
  absl::Status CheckPointLookups(const Oracle& oracle, size_t every);
  absl::Status CheckPaging(const Oracle& oracle, uint64_t page_rows);
  absl::Status CheckVerify();
  static Value StatusValue(const Oracle& oracle, const std::string& status);
  static bool Same(const Oracle::Group& expected, size_t limit,
                   const std::vector<Line>& actual);

  Checks& checks_;
  TempDir dir_;
  std::unique_ptr<Engine> engine_;
  Oracle olist_{"olist", true, {}};
  Oracle retail_{"retail", false, {}};
  Oracle amazon_{"amazon", false, {}};
  std::map<std::string, std::vector<size_t>> olist_by_order_;
};

}  // namespace dovetail::test

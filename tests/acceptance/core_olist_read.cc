// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Reading back, in every form, against the oracles.

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "tests/acceptance/core_olist.h"
#include "tests/support/data.h"
#include "tests/support/records.pb.h"

namespace dovetail::test {
namespace {

constexpr uint64_t kNewest = 20;

}  // namespace

// Counted twice: by the status in the rows, and through the status index.
absl::Status OrderSets::CheckOlistCounts(
    std::string_view when,
    const std::vector<std::pair<v1::OrderStatus, uint64_t>>& expected) {
  std::map<std::string, uint64_t> by_rows, by_index;
  for (const auto& [seller, group] : olist_.BySeller()) {
    ASSIGN_OR_RETURN(const std::vector<Line> rows,
                     ReadAll(olist_, {.table = "olist", .equal = {seller}}));
    for (const Line& line : rows) ++by_rows[line.status];
    for (int status = v1::OrderStatus_MIN; status <= v1::OrderStatus_MAX;
         ++status) {
      ASSIGN_OR_RETURN(const std::vector<Line> entries,
                       ReadAll(olist_, {.table = "olist",
                                        .index = "by_status",
                                        .equal = {seller, status}}));
      by_index[absl::StrCat(status)] += entries.size();
    }
  }
  uint64_t total = 0;
  for (const auto& [status, count] : expected) {
    const std::string what =
        absl::StrCat("olist ", ToAbsl(when), " ", v1::OrderStatus_Name(status));
    checks_.Equal(by_rows[StatusText(status)], count, what + " by rows");
    checks_.Equal(by_index[StatusText(status)], count, what + " by index");
    std::printf("%-44s %9llu\n", what.c_str(),
                static_cast<unsigned long long>(by_rows[StatusText(status)]));
    total += count;
  }
  checks_.Equal(total, uint64_t{36'106}, "olist counted statuses");
  return absl::OkStatus();
}

absl::Status OrderSets::CheckOlistTopSellers() {
  std::ifstream file(SharedData("olist/facts.json"));
  std::stringstream text;
  text << file.rdbuf();
  google::protobuf::Struct facts;
  if (!google::protobuf::util::JsonStringToMessage(text.str(), &facts).ok()) {
    return absl::InvalidArgumentError("facts.json is no JSON object");
  }
  std::vector<std::pair<uint64_t, std::string>> counts;
  for (const auto& [seller, group] : olist_.BySeller()) {
    ASSIGN_OR_RETURN(const std::vector<Line> rows,
                     ReadAll(olist_, {.table = "olist", .equal = {seller}}));
    counts.emplace_back(rows.size(), seller);
  }
  checks_.Equal(counts.size(), size_t{2'497}, "olist sellers");
  std::sort(counts.rbegin(), counts.rend());
  const auto& top = facts.fields().at("top10_sellers").list_value();
  checks_.Equal(top.values_size(), 10, "facts name ten sellers");
  for (int i = 0; i < top.values_size(); ++i) {
    const auto& pair = top.values(i).list_value();
    const auto at = static_cast<size_t>(i);
    checks_.Equal(counts[at].second, pair.values(0).string_value(),
                  absl::StrCat("olist largest seller rank=", i));
    checks_.Equal(counts[at].first,
                  static_cast<uint64_t>(pair.values(1).number_value()),
                  absl::StrCat("olist orders of largest seller rank=", i));
  }
  return absl::OkStatus();
}

// Each order id finds the rows of all its sellers, and of no one else.
absl::Status OrderSets::CheckSplitOrders() {
  uint64_t split = 0, wrong = 0;
  for (const auto& [order, positions] : olist_by_order_) {
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     engine_->GetBy({}, "olist", "by_order_id", {order}));
    std::set<std::string> expected, actual;
    for (const size_t at : positions) {
      expected.insert(olist_.lines[at].seller);
    }
    for (const Row& row : rows) {
      ASSIGN_OR_RETURN(const Line line, ParseLine(olist_, row));
      if (line.order == order) actual.insert(line.seller);
    }
    split += rows.size() > 1;
    wrong += actual != expected || rows.size() != positions.size();
  }
  checks_.Equal(split, uint64_t{416}, "olist split orders");
  checks_.Equal(wrong, uint64_t{0}, "olist orders with other sellers");
  return absl::OkStatus();
}

absl::StatusOr<Line> OrderSets::ParseLine(const Oracle& oracle,
                                          const Row& row) const {
  if (oracle.status_is_number) {
    v1::Order order;
    if (!order.ParseFromString(row.record)) {
      return absl::DataLossError("a row is no order");
    }
    return Line{order.order_id(), order.seller_id(), order.ts_ms(),
                StatusText(order.status())};
  }
  TextOrder order;
  if (!order.ParseFromString(row.record)) {
    return absl::DataLossError("a row is no text order");
  }
  return Line{order.order_id(), order.seller_id(), order.ts_ms(),
              order.status()};
}

absl::StatusOr<std::vector<Line>> OrderSets::ReadAll(const Oracle& oracle,
                                                     ScanRequest request) {
  std::vector<Line> lines;
  request.limit = 1000;
  do {
    ASSIGN_OR_RETURN(Page page, engine_->Scan({}, request));
    for (const Row& row : page.rows) {
      ASSIGN_OR_RETURN(Line line, ParseLine(oracle, row));
      lines.push_back(std::move(line));
    }
    request.continuation = std::move(page.continuation);
  } while (!request.continuation.empty());
  return lines;
}

Value OrderSets::StatusValue(const Oracle& oracle, const std::string& status) {
  if (oracle.status_is_number) return std::atoi(status.c_str());
  return status;
}

// Whether `actual` is the first `limit` of `expected`.
bool OrderSets::Same(const Oracle::Group& expected, size_t limit,
                     const std::vector<Line>& actual) {
  if (actual.size() != std::min(limit, expected.size())) return false;
  for (size_t i = 0; i < actual.size(); ++i) {
    const Line& line = *expected[i];
    if (actual[i].order != line.order || actual[i].seller != line.seller ||
        actual[i].ts_ms != line.ts_ms || actual[i].status != line.status) {
      return false;
    }
  }
  return true;
}

// Whether the scan gives the first `kNewest` of the group.
absl::StatusOr<bool> OrderSets::IsNewest(const Oracle& oracle,
                                         const Oracle::Group& group,
                                         const ScanRequest& request) {
  ASSIGN_OR_RETURN(const Page page, engine_->Scan({}, request));
  std::vector<Line> lines;
  for (const Row& row : page.rows) {
    ASSIGN_OR_RETURN(Line line, ParseLine(oracle, row));
    lines.push_back(std::move(line));
  }
  return Same(group, kNewest, lines);
}

absl::Status OrderSets::CheckNewest(const Oracle& oracle) {
  const auto sellers = oracle.BySeller();
  uint64_t wrong = 0;
  for (const auto& [seller, group] : sellers) {
    ASSIGN_OR_RETURN(
        const bool right,
        IsNewest(oracle, group,
                 {.table = oracle.table, .equal = {seller}, .limit = kNewest}));
    wrong += !right;
  }
  checks_.Equal(wrong, uint64_t{0},
                absl::StrCat(oracle.table, " wrong newest lists of ",
                             sellers.size(), " sellers"));
  return absl::OkStatus();
}

absl::Status OrderSets::CheckNewestByStatus(const Oracle& oracle) {
  const auto groups = oracle.BySellerAndStatus();
  uint64_t wrong = 0;
  for (const auto& [name, group] : groups) {
    ASSIGN_OR_RETURN(const bool right,
                     IsNewest(oracle, group,
                              {.table = oracle.table,
                               .index = "by_status",
                               .equal = {group[0]->seller,
                                         StatusValue(oracle, group[0]->status)},
                               .limit = kNewest}));
    wrong += !right;
  }
  checks_.Equal(wrong, uint64_t{0},
                absl::StrCat(oracle.table, " wrong newest lists of ",
                             groups.size(), " sellers and statuses"));
  return absl::OkStatus();
}

// The newest of two statuses at once, the two rarest of the table.
absl::Status OrderSets::CheckTwoStatuses(const Oracle& oracle) {
  std::vector<std::pair<uint64_t, std::string>> counts;
  for (const auto& [status, count] : oracle.CountByStatus()) {
    counts.emplace_back(count, status);
  }
  std::sort(counts.begin(), counts.end());
  const std::string& first = counts[0].second;
  const std::string& second = counts[1].second;
  uint64_t wrong = 0;
  for (const auto& [seller, all] : oracle.BySeller()) {
    Oracle::Group group;
    for (const Line* line : all) {
      if (line->status == first || line->status == second) {
        group.push_back(line);
      }
    }
    ASSIGN_OR_RETURN(const std::vector<Line> lines,
                     ReadAll(oracle, {.table = oracle.table,
                                      .index = "by_status",
                                      .equal = {seller},
                                      .any_of = {StatusValue(oracle, second),
                                                 StatusValue(oracle, first)}}));
    wrong += !Same(group, group.size(), lines);
  }
  checks_.Equal(wrong, uint64_t{0},
                absl::StrCat(oracle.table, " wrong lists of two statuses"));
  return absl::OkStatus();
}

absl::Status OrderSets::CheckPointLookups(const Oracle& oracle, size_t every) {
  uint64_t wrong = 0, looked_up = 0;
  for (size_t i = 0; i < oracle.lines.size(); i += every) {
    const Line& line = oracle.lines[i];
    ASSIGN_OR_RETURN(
        const Row row,
        engine_->Get({}, oracle.table, {line.seller, line.ts_ms, line.order}));
    ASSIGN_OR_RETURN(
        const std::vector<Row> rows,
        engine_->GetBy({}, oracle.table, "by_order_id", {line.order}));
    bool found = false;
    for (const Row& candidate : rows) found |= candidate.key == row.key;
    ASSIGN_OR_RETURN(const Line read, ParseLine(oracle, row));
    wrong += !found || !Same({&line}, 1, {read}) ||
             (!oracle.status_is_number && rows.size() != 1);
    ++looked_up;
  }
  checks_.Equal(
      wrong, uint64_t{0},
      absl::StrCat(oracle.table, " wrong point reads of ", looked_up));
  return absl::OkStatus();
}

// Every row of each seller once, in one order, whatever the page size.
absl::Status OrderSets::CheckPaging(const Oracle& oracle, uint64_t page_rows) {
  const Stopwatch watch;
  for (const auto& [seller, group] : oracle.BySeller()) {
    ScanRequest request{.table = oracle.table, .equal = {seller}};
    request.limit = page_rows;
    std::vector<Line> lines;
    uint64_t pages = 0, long_pages = 0;
    do {
      ASSIGN_OR_RETURN(Page page, engine_->Scan({}, request));
      long_pages += page.rows.size() > page_rows;
      for (const Row& row : page.rows) {
        ASSIGN_OR_RETURN(Line line, ParseLine(oracle, row));
        lines.push_back(std::move(line));
      }
      request.continuation = std::move(page.continuation);
      ++pages;
    } while (!request.continuation.empty() && lines.size() <= group.size());
    checks_.That(Same(group, group.size(), lines) && long_pages == 0,
                 absl::StrCat(oracle.table, " in pages of ", page_rows));
    PrintRate(absl::StrCat(oracle.table, ": pages of ", page_rows), pages,
              watch);
  }
  return absl::OkStatus();
}

absl::Status OrderSets::CheckVerify() {
  const Stopwatch watch;
  ASSIGN_OR_RETURN(const VerifyReport report, engine_->Verify({}));
  const uint64_t rows =
      olist_.lines.size() + retail_.lines.size() + amazon_.lines.size();
  PrintRate("verify: rows and entries", report.rows + report.entries, watch);
  checks_.Equal(report.missing, uint64_t{0}, "verify missing");
  checks_.Equal(report.dangling, uint64_t{0}, "verify dangling");
  checks_.That(report.clean(), absl::StrCat("verify: ", report.Summary()));
  checks_.Equal(report.rows, rows, "verify rows");
  checks_.Equal(report.entries, 2 * rows, "verify entries");
  return absl::OkStatus();
}

absl::Status OrderSets::CheckAll() {
  RETURN_IF_ERROR(CheckVerify());
  RETURN_IF_ERROR(CheckOlistTopSellers());
  RETURN_IF_ERROR(CheckSplitOrders());
  for (const Oracle* oracle : {&olist_, &retail_, &amazon_}) {
    RETURN_IF_ERROR(CheckNewest(*oracle));
    RETURN_IF_ERROR(CheckNewestByStatus(*oracle));
    RETURN_IF_ERROR(CheckTwoStatuses(*oracle));
    RETURN_IF_ERROR(CheckPointLookups(*oracle, oracle == &olist_ ? 1 : 25));
  }
  for (const uint64_t page_rows : {1, 7, 100}) {
    RETURN_IF_ERROR(CheckPaging(amazon_, page_rows));
  }
  return absl::OkStatus();
}

}  // namespace dovetail::test

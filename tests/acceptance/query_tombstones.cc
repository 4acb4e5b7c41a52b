// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The newest twenty orders of a status that very many orders have left, so
// that dead entries lie before, between and behind the live ones.
//
//   query_tombstones [--changes N] [--small]
//
// There are two stores with the same rows: in one each order was written once,
// with the status it has in the end; in the other all came in one status and
// most have left it. Every answer of both is compared with what a map says.
// Times are medians of reads of both by turns, in one run, and judged as
// ratios; --small judges answers and work, not times.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dovetail/engine.h"
#include "tests/acceptance/tombstone_shop.h"
#include "tests/support/checks.h"

namespace dovetail::test {
namespace {

constexpr double kRatioMax = 3;
constexpr double kWaitSeconds = 120;

struct Settings {
  int changes = 1'000'000;
  bool small = false;
  int reads() const { return small ? 20 : 400; }
};

double Mib(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

double Median(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Tombstones {
 public:
  Tombstones(const Settings& settings, Checks* checks)
      : settings_(settings), checks_(*checks) {}

  absl::Status Run() {
    RETURN_IF_ERROR(RunSpacings());
    RETURN_IF_ERROR(RunMillion());
    return RunInBackground();
  }

 private:
  absl::Status RunSpacings();
  absl::Status RunMillion();
  absl::Status RunAtOnce(Shop& clean, Shop& churned);
  absl::Status RunReopened(Shop& clean, Shop& churned);
  absl::Status RunReclaimed(Shop& clean, Shop& churned);
  absl::Status RunInBackground();

  // Medians of both shops, and whether the second is fast enough.
  void Judge(std::string_view when, Shop& clean, Shop& churned,
             const std::string& seller, double first);
  absl::Status JudgeBetweenCommits(Shop& clean, Shop& churned);
  void CheckRatio(std::string_view what, double clean, double churned) {
    if (settings_.small) return;
    checks_.That(churned <= kRatioMax * clean,
                 absl::StrCat(ToAbsl(what), ": ", churned, " us against ",
                              clean, " us"));
  }

  const Settings settings_;
  Checks& checks_;
};

void Tombstones::Judge(std::string_view when, Shop& clean, Shop& churned,
                       const std::string& seller, double first) {
  using Read = double (Shop::*)(const std::string&);
  const std::pair<const char*, Read> kinds[] = {{"scan", &Shop::Top},
                                                {"query", &Shop::TopByQuery}};
  for (const auto& [kind, read] : kinds) {
    std::vector<double> a, b;
    for (int i = 0; i < settings_.reads(); ++i) {
      a.push_back((clean.*read)(seller));
      b.push_back((churned.*read)(seller));
    }
    const double ours = Median(b), theirs = Median(a);
    std::printf(
        "%-28.*s %-5s first %9.1f us, then %7.1f us, clean %7.1f us: "
        "%.2f times\n",
        static_cast<int>(when.size()), when.data(), kind, first, ours, theirs,
        ours / theirs);
    CheckRatio(absl::StrCat(ToAbsl(when), " ", kind), theirs, ours);
    first = 0;
  }
  std::fflush(stdout);
}

// Before each read an order comes into the status, or leaves it.
absl::Status Tombstones::JudgeBetweenCommits(Shop& clean, Shop& churned) {
  std::vector<double> a, b;
  for (int i = 0; i < settings_.reads(); ++i) {
    const OrderOf order{"s", settings_.changes + i / 4, true};
    for (Shop* shop : {&clean, &churned}) {
      RETURN_IF_ERROR(i % 4 == 3 ? shop->Leave(order) : shop->Come(order));
      (shop == &clean ? a : b).push_back(shop->Top("s"));
    }
  }
  std::printf("%-28s scan  then %7.1f us, clean %7.1f us: %.2f times\n",
              "behind a commit each", Median(b), Median(a),
              Median(b) / Median(a));
  CheckRatio("behind a commit each", Median(a), Median(b));
  return absl::OkStatus();
}

// Cold prefixes: a few live orders, each with so many dead before it.
absl::Status Tombstones::RunSpacings() {
  Shop clean(false, &checks_), churned(true, &checks_);
  RETURN_IF_ERROR(clean.Open(false));
  RETURN_IF_ERROR(churned.Open(false));
  std::printf(
      "dead entries before each of the live ones of a prefix\n"
      "  spacing   first read        second read\n");
  for (int spacing = 1; spacing <= (settings_.small ? 64 : 1024);
       spacing *= 2) {
    const int sellers = settings_.small ? 2 : std::clamp(2000 / spacing, 8, 40);
    double first[2], second[2];
    std::vector<double> firsts[2], seconds[2];
    std::vector<std::string> names;
    for (int s = 0; s < sellers; ++s) {
      names.push_back(absl::StrCat("g", spacing, "-", s));
      std::vector<OrderOf> orders;
      for (int i = 0; i < 25 * (spacing + 1); ++i) {
        orders.push_back({names.back(), i, i % (spacing + 1) != 0});
      }
      RETURN_IF_ERROR(clean.Add(orders));
      RETURN_IF_ERROR(churned.Add(orders));
    }
    // Another one, so that nothing is the first of its kind.
    clean.Top("nobody");
    churned.Top("nobody");
    for (const std::string& name : names) {
      firsts[0].push_back(clean.Top(name));
      firsts[1].push_back(churned.Top(name));
    }
    const uint64_t walked = churned.Figures().dead_walked;
    for (const std::string& name : names) {
      seconds[0].push_back(clean.Top(name));
      seconds[1].push_back(churned.Top(name));
    }
    for (const int i : {0, 1}) {
      first[i] = Median(firsts[i]);
      second[i] = Median(seconds[i]);
    }
    std::printf("  %7d %8.1f us (%5.2f) %8.1f us (%5.2f)\n", spacing, first[1],
                first[1] / first[0], second[1], second[1] / second[0]);
    CheckRatio(absl::StrCat("second read, spacing=", spacing), second[0],
               second[1]);
    if (spacing < 16) continue;
    checks_.Equal(
        churned.Figures().dead_walked, walked,
        absl::StrCat("walked over by the second read, spacing=", spacing));
  }
  return absl::OkStatus();
}

absl::Status Tombstones::RunMillion() {
  Shop clean(false, &checks_), churned(true, &checks_);
  RETURN_IF_ERROR(RunAtOnce(clean, churned));
  RETURN_IF_ERROR(RunReopened(clean, churned));
  RETURN_IF_ERROR(RunReclaimed(clean, churned));
  RETURN_IF_ERROR(clean.engine().Close());
  return churned.engine().Close();
}

absl::Status Tombstones::RunAtOnce(Shop& clean, Shop& churned) {
  const int n = settings_.changes;
  RETURN_IF_ERROR(clean.Open(false));
  RETURN_IF_ERROR(churned.Open(false));
  std::vector<OrderOf> orders;
  // The first quarter lies behind the live ones, the last one before them.
  for (int i = 0; i < n; ++i) {
    const bool stays = i >= n / 4 && i < n / 4 * 3 && i % (n / 800) == 0;
    orders.push_back({"s", i, !stays});
  }
  // Another seller with less than twenty, all else behind them.
  for (int i = 0; i < n / 10; ++i) {
    orders.push_back({"few", i, i < n / 10 - 5});
  }
  RETURN_IF_ERROR(clean.Add(orders));
  ASSIGN_OR_RETURN(const Snapshot before, churned.engine().GetSnapshot());
  RETURN_IF_ERROR(churned.Add(orders));
  std::printf("%d changes of status\n", n);

  const uint64_t unread = churned.Figures().dead_walked;
  churned.Top("few");
  checks_.Equal(churned.Figures().count_stops, uint64_t{1},
                "scans that the count ended");
  checks_.Equal(churned.Figures().dead_walked, unread,
                "dead entries behind the last row walked over");
  Judge("few, all else behind", clean, churned, "few", 0);

  double first = churned.Top("s");
  uint64_t walked = churned.Figures().dead_walked;
  checks_.That(walked >= static_cast<uint64_t>(n) / 5,
               absl::StrCat("the first read walks; walked=", walked));
  Judge("at once", clean, churned, "s", first);
  checks_.Equal(churned.Figures().dead_walked, walked,
                "dead entries walked over by reads behind the first one");
  churned.PageThrough("s");
  checks_.That(churned.TopOf(before, "s").empty(), "the state before is empty");

  ASSIGN_OR_RETURN(const Snapshot held, churned.engine().GetSnapshot());
  const std::vector<std::string> top = churned.TopOf(held, "s");
  RETURN_IF_ERROR(JudgeBetweenCommits(clean, churned));
  checks_.That(churned.TopOf(held, "s") == top, "a snapshot does not change");
  const auto deferred = churned.engine().ReclaimDead();
  RETURN_IF_ERROR(deferred.status());
  checks_.That(deferred->ranges_deferred > 0,
               "what died behind a snapshot is not reclaimed yet");
  return absl::OkStatus();
}

absl::Status Tombstones::RunReopened(Shop& clean, Shop& churned) {
  RETURN_IF_ERROR(clean.Reopen(false));
  RETURN_IF_ERROR(churned.Reopen(false));
  clean.Top("nobody");
  const double first = churned.Top("s");
  Judge("after a reopen", clean, churned, "s", first);
  return absl::OkStatus();
}

absl::Status Tombstones::RunReclaimed(Shop& clean, Shop& churned) {
  const uint64_t before = churned.IndexBytes();
  ASSIGN_OR_RETURN(const ReclaimReport report, churned.engine().ReclaimDead());
  const uint64_t after = churned.IndexBytes();
  std::printf(
      "reclaimed about %llu entries in %llu ranges, %.1f s, of %.1f MiB %.1f "
      "MiB left; index %.1f MiB, then %.1f, clean %.1f\n",
      static_cast<unsigned long long>(report.dead_entries),
      static_cast<unsigned long long>(report.ranges),
      static_cast<double>(report.micros) / 1e6, Mib(report.bytes_before),
      Mib(report.bytes_after), Mib(before), Mib(after),
      Mib(clean.IndexBytes()));
  checks_.That(report.ranges > 0, "ranges were reclaimed");
  checks_.That(report.bytes_after < report.bytes_before,
               "reclaimed ranges got smaller");
  const DeadEntryStats figures = churned.Figures();
  checks_.Equal(figures.reclaimed.ranges, report.ranges, "ranges in stats");
  checks_.That(figures.dead_entries * 10 < report.dead_entries,
               absl::StrCat("dead entries left=", figures.dead_entries));
  // No range knows of this one.
  RETURN_IF_ERROR(clean.Reopen(false));
  RETURN_IF_ERROR(churned.Reopen(false));
  clean.Top("nobody");
  const double first = churned.Top("s");
  checks_.Equal(churned.Figures().dead_walked, uint64_t{0},
                "dead entries walked over when they were reclaimed");
  Judge("after reclaiming", clean, churned, "s", first);
  churned.PageThrough("s");
  return absl::OkStatus();
}

// How long it takes until the engine has reclaimed them by itself.
absl::Status Tombstones::RunInBackground() {
  Shop churned(true, &checks_);
  RETURN_IF_ERROR(churned.Open(true, settings_.small ? 1000 : 50'000));
  std::vector<OrderOf> orders;
  for (int i = 0; i < settings_.changes / 4; ++i) {
    orders.push_back({"s", i, i % 1000 != 0});
  }
  RETURN_IF_ERROR(churned.Add(orders));
  const auto start = std::chrono::steady_clock::now();
  const auto waited = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  };
  const uint64_t left = settings_.small ? 1000 : 50'000;
  while (churned.Figures().dead_entries >= left && waited() < kWaitSeconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const DeadEntryStats figures = churned.Figures();
  std::printf(
      "in the background: %.1f s after the last of %zu changes %llu of about "
      "%llu dead entries are reclaimed, in %llu ranges\n",
      waited(), orders.size(),
      static_cast<unsigned long long>(figures.reclaimed.dead_entries),
      static_cast<unsigned long long>(figures.reclaimed.dead_entries +
                                      figures.dead_entries),
      static_cast<unsigned long long>(figures.reclaimed.ranges));
  checks_.That(figures.reclaimed.ranges > 0, "reclaimed in the background");
  checks_.That(figures.dead_entries < left,
               absl::StrCat("dead entries left=", figures.dead_entries));
  churned.Top("s");
  churned.PageThrough("s");
  return churned.engine().Close();
}

int Main(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--small") {
      settings.small = true;
      settings.changes = 20'000;
    } else if (word == "--changes" && i + 1 < argc &&
               absl::SimpleAtoi(argv[i + 1], &settings.changes) &&
               settings.changes >= 8000) {
      ++i;
    } else {
      std::fprintf(stderr,
                   "query_tombstones [--changes N >= 8000] [--small]\n");
      return 2;
    }
  }
  Checks checks("query-tombstones");
  checks.Ok(Tombstones(settings, &checks).Run(), "run");
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) { return dovetail::test::Main(argc, argv); }

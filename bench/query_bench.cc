// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Six questions of an order desk, asked of the engine as queries, of LevelDB
// (and, where it is installed, RocksDB) with indexes kept by hand, and of
// SQLite with prepared statements; the same data, cache and questions.
//
//   query_bench [--n=N] [--asks=N] [--rounds=N] [--seed=N] [--dir=DIR]
//               [--questions=NAME,...] [--answers]
//
// All stores are open at once and take turns, a small block of questions each,
// in turning order, so that a slow moment of the machine hits all. Every answer
// is compared. Exits with 1 if a store fails or answers differently, or if the
// engine's median latency is above SQLite's in one of the questions; with
// --answers, times are shown but not judged.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "bench/measure.h"
#include "bench/question.h"
#include "bench/workload.h"
#include "xxhash.h"

namespace dovetail::bench {

uint64_t Answer::Digest() const {
  uint64_t digest = 0;
  for (size_t i = 0; i < rows_; ++i) {
    const BenchOrder& order = orders_[i];
    digest = Mix(digest ^ XXH3_64bits(order.id().data(), order.id().size()) ^
                 static_cast<uint64_t>(order.status()) ^
                 XXH3_64bits(order.note().data(), order.note().size()));
  }
  for (const uint64_t count : counts_) digest = Mix(digest ^ count);
  return digest;
}

namespace {

constexpr uint64_t kOrdersPerCommit = 100;
constexpr uint64_t kAsksPerTurn = 50;
// Streams of random numbers.
constexpr uint64_t kUpdatedOrder = 71;
constexpr uint64_t kUpdatedStatus = 72;
constexpr uint64_t kAskedSeller = 73;
constexpr uint64_t kAskedFilter = 74;

struct Flags {
  uint64_t n = 300'000;
  uint64_t asks = 3'000;  // Of each question in a round.
  uint64_t rounds = 3;
  uint64_t seed = 1;
  std::string dir;
  std::vector<std::string> questions;  // None: all.
  bool answers_only = false;
};

bool ParseFlag(const std::string& argument, Flags* flags) {
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(argument, absl::MaxSplits('=', 1));
  const auto& [name, value] = parts;
  const auto number = [&v = value](uint64_t* out) {
    return absl::SimpleAtoi(v, out) && *out > 0;
  };
  if (name == "--n") return number(&flags->n) && flags->n % 100 == 0;
  if (name == "--asks") return number(&flags->asks);
  if (name == "--rounds") return number(&flags->rounds);
  if (name == "--seed") return number(&flags->seed);
  if (name == "--questions") {
    flags->questions = absl::StrSplit(value, ',');
    return true;
  }
  if (name == "--answers") return flags->answers_only = true;
  flags->dir = value;
  return name == "--dir" && !value.empty();
}

struct QuestionKind {
  const char* name;
  const char* what;
  Question (*make)(const Workload& workload, uint64_t orders, uint64_t i);
};

std::string AnySeller(const Workload& workload, uint64_t i) {
  return Workload::Seller(
      workload.SellerRank(workload.Random(kAskedSeller, i)));
}

Question AskTop(const Workload& w, uint64_t, uint64_t i) {
  Question q;
  q.seller = AnySeller(w, i);
  return q;
}

Question AskStatus(const Workload& w, uint64_t, uint64_t i) {
  Question q;
  q.kind = Question::Kind::kStatus;
  q.seller = AnySeller(w, i);
  q.statuses = {Workload::Status(w.Random(kAskedFilter, i))};
  return q;
}

Question AskRarest(const Workload&, uint64_t, uint64_t) {
  Question q;
  q.kind = Question::Kind::kStatus;
  q.seller = Workload::Seller(0);
  q.statuses = {kRefunded};
  return q;
}

Question AskThree(const Workload& w, uint64_t, uint64_t i) {
  Question q;
  q.kind = Question::Kind::kStatus;
  q.seller = AnySeller(w, i);
  q.statuses = {kCreated, kPaid, kShipped};
  return q;
}

Question AskCounts(const Workload& w, uint64_t, uint64_t i) {
  Question q;
  q.kind = Question::Kind::kCounts;
  q.seller = AnySeller(w, i);
  return q;
}

// A tenth of the time there is, and about half of the amounts.
Question AskFilter(const Workload& w, uint64_t orders, uint64_t i) {
  const uint64_t random = w.Random(kAskedFilter, i);
  BenchOrder order;
  w.FillOrder(random % orders, &order);
  Question q;
  q.kind = Question::Kind::kFilter;
  q.seller = AnySeller(w, i);
  q.from_us = order.ts_us();
  q.to_us = order.ts_us() + static_cast<int64_t>(orders) * 100;
  q.amount = 500'000;
  return q;
}

constexpr QuestionKind kQuestions[] = {
    {"top20", "newest 20 of a seller", AskTop},
    {"top20_status", "newest 20 in a status", AskStatus},
    {"rarest", "newest 20 in the rarest status of the largest seller",
     AskRarest},
    {"in_three", "newest 20 in any of three statuses", AskThree},
    {"counts", "orders by status", AskCounts},
    {"filter", "newest 20 of a time range above an amount", AskFilter},
};

bool IsAsked(const Flags& flags, const QuestionKind& kind) {
  const std::vector<std::string>& asked = flags.questions;
  return asked.empty() ||
         std::find(asked.begin(), asked.end(), kind.name) != asked.end();
}

struct Contestant {
  std::string name;
  std::unique_ptr<QuestionStore> store;
  std::map<std::string, std::vector<uint32_t>> nanos;  // By question.
};

absl::Status Load(const Flags& flags, const Workload& workload,
                  std::vector<Contestant>* all) {
  std::vector<BenchOrder> orders(kOrdersPerCommit);
  for (uint64_t i = 0; i < flags.n; i += kOrdersPerCommit) {
    for (uint64_t k = 0; k < kOrdersPerCommit; ++k) {
      workload.FillOrder(i + k, &orders[k]);
    }
    for (Contestant& each : *all) RETURN_IF_ERROR(each.store->Insert(orders));
  }
  // A third of the orders move on, so that there is something dead around.
  for (uint64_t i = 0; i < flags.n / 3; ++i) {
    const std::string id =
        workload.OrderId(workload.Random(kUpdatedOrder, i) % flags.n);
    const int32_t status = Workload::Status(workload.Random(kUpdatedStatus, i));
    for (Contestant& each : *all) {
      RETURN_IF_ERROR(each.store->SetStatus(id, status));
    }
  }
  return absl::OkStatus();
}

// A block of questions to each store, the same ones. `digests` has the first
// store's answers.
absl::Status AskBlock(const QuestionKind& kind,
                      const std::vector<Question>& questions, size_t first,
                      std::vector<Contestant>* all, uint64_t* rows) {
  std::vector<uint64_t> digests;
  Answer answer;
  for (size_t turn = 0; turn < all->size(); ++turn) {
    Contestant& each = (*all)[(first + turn) % all->size()];
    std::vector<uint32_t>& nanos = each.nanos[kind.name];
    for (size_t i = 0; i < questions.size(); ++i) {
      answer.Clear();
      const auto start = SteadyClock::now();
      RETURN_IF_ERROR(each.store->Ask(questions[i], &answer));
      nanos.push_back(
          static_cast<uint32_t>(std::min(SecondsSince(start) * 1e9, 4e9)));
      if (turn == 0) {
        digests.push_back(answer.Digest());
        *rows += answer.rows();
      } else if (answer.Digest() != digests[i]) {
        return absl::InternalError(absl::StrCat(
            "answers differ: question=", kind.name, " store=", each.name,
            " seller=", questions[i].seller));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status AskAll(const Flags& flags, const Workload& workload,
                    std::vector<Contestant>* all) {
  for (uint64_t round = 0; round < flags.rounds; ++round) {
    for (const QuestionKind& kind : kQuestions) {
      if (!IsAsked(flags, kind)) continue;
      uint64_t rows = 0;
      size_t first = round;
      for (uint64_t i = 0; i < flags.asks; i += kAsksPerTurn, ++first) {
        std::vector<Question> questions;
        for (uint64_t k = 0; k < kAsksPerTurn; ++k) {
          questions.push_back(
              kind.make(workload, flags.n, round * flags.asks + i + k));
        }
        RETURN_IF_ERROR(AskBlock(kind, questions, first, all, &rows));
      }
      if (round > 0) continue;
      std::fprintf(stderr, "%-13s %.1f rows an answer\n", kind.name,
                   static_cast<double>(rows) / static_cast<double>(flags.asks));
    }
  }
  return absl::OkStatus();
}

// The numbers of questions in which the first store's median is, and is not,
// at most that of "sqlite".
std::pair<int, int> Report(const Flags& flags, std::vector<Contestant>* all) {
  std::printf("%-13s %-9s %8s %8s %8s   %s\n", "question", "store", "p50 us",
              "p99 us", "ratio", "of medians, > 1: the engine is faster");
  int ahead = 0;
  int behind = 0;
  for (const QuestionKind& kind : kQuestions) {
    if (!IsAsked(flags, kind)) continue;
    double own = 0;
    for (Contestant& each : *all) {
      std::vector<uint32_t>& nanos = each.nanos[kind.name];
      std::sort(nanos.begin(), nanos.end());
      const double p50 = Percentile(nanos, 0.5) / 1e3;
      if (own == 0) own = p50;
      std::printf("%-13s %-9s %8.1f %8.1f %8.2f   %s\n", kind.name,
                  each.name.c_str(), p50, Percentile(nanos, 0.99) / 1e3,
                  p50 / own, each.name == "dovetail" ? kind.what : "");
      if (each.name == "sqlite") ++(own <= p50 ? ahead : behind);
    }
  }
  return {ahead, behind};
}

absl::StatusOr<std::vector<Contestant>> OpenAll(const std::string& dir) {
  using Open = absl::StatusOr<std::unique_ptr<QuestionStore>> (*)(
      const QuestionStoreOptions&);
  const std::pair<const char*, Open> known[] = {
      {"dovetail", OpenDovetailQuestions},
      {"leveldb", OpenLevelDbQuestions},
#ifdef DOVETAIL_BENCH_ROCKSDB
      {"rocksdb", OpenRocksDbQuestions},
#endif
      {"sqlite", OpenSqliteQuestions},
  };
  std::vector<Contestant> all;
  for (const auto& [name, open] : known) {
    Contestant& each = all.emplace_back();
    each.name = name;
    QuestionStoreOptions options;
    options.directory = absl::StrCat(dir, "/", name);
    ASSIGN_OR_RETURN(each.store, open(options));
  }
  return all;
}

absl::StatusOr<std::pair<int, int>> Run(const Flags& flags,
                                        const std::string& dir) {
  ASSIGN_OR_RETURN(std::vector<Contestant> all, OpenAll(dir));
  const Workload workload(flags.seed);
  RETURN_IF_ERROR(Load(flags, workload, &all));
  WaitForQuiet();
  RETURN_IF_ERROR(AskAll(flags, workload, &all));
  return Report(flags, &all);
}

int Main(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    if (ParseFlag(argv[i], &flags)) continue;
    std::fprintf(stderr, "query_bench: bad flag: %s\n", argv[i]);
    return 2;
  }
  std::string dir =
      (flags.dir.empty() ? std::filesystem::temp_directory_path().string()
                         : flags.dir) +
      "/query_bench-XXXXXX";
  if (mkdtemp(dir.data()) == nullptr) {
    std::fprintf(stderr, "query_bench: no directory: %s\n", dir.c_str());
    return 1;
  }
  const absl::StatusOr<std::pair<int, int>> judged = Run(flags, dir);
  std::error_code ignored;
  std::filesystem::remove_all(dir, ignored);
  if (!judged.ok()) {
    std::fprintf(stderr, "query_bench: %s\n",
                 judged.status().ToString().c_str());
    std::printf("query-bench: 0 passed, 1 failed\n");
    return 1;
  }
  if (flags.answers_only) {
    std::printf("query-bench: 1 passed, 0 failed\n");
    return 0;
  }
  std::printf("query-bench: %d passed, %d failed\n", judged->first,
              judged->second);
  return judged->second == 0 ? 0 : 1;
}

}  // namespace
}  // namespace dovetail::bench

int main(int argc, char** argv) { return dovetail::bench::Main(argc, argv); }

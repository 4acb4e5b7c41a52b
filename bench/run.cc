// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "bench/run.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "bench/measure.h"
#include "bench/phases.h"
#include "xxhash.h"

namespace dovetail::bench {
namespace {

constexpr size_t kTop = 20;
constexpr uint64_t kOrdersPerChunk = 1024;

struct EngineEntry {
  const char* name;
  absl::StatusOr<std::unique_ptr<OrderStore>> (*open)(
      const OrderStoreOptions& options);
};

constexpr EngineEntry kEngines[] = {
    {"dovetail",
     [](const OrderStoreOptions& options) {
       return OpenDovetailStore(options, {});
     }},
    {"leveldb",
     [](const OrderStoreOptions& options) {
       return OpenLevelDbOrderStore(options, /*checked=*/true);
     }},
    {"leveldb-unchecked",
     [](const OrderStoreOptions& options) {
       return OpenLevelDbOrderStore(options, /*checked=*/false);
     }},
    {"dovetail-undigested",
     [](const OrderStoreOptions& options) {
       return OpenDovetailStore(options, {.digests = false});
     }},
    {"dovetail-counted",
     [](const OrderStoreOptions& options) {
       return OpenDovetailStore(options, {.counted = true});
     }},
};

absl::StatusOr<std::unique_ptr<OrderStore>> OpenStore(
    const std::string& engine, const OrderStoreOptions& options) {
  for (const EngineEntry& entry : kEngines) {
    if (engine == entry.name) return entry.open(options);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no such engine: name=", Quote(engine)));
}

// Of an answer: cheap, and different if any of these fields is.
uint64_t Digest(const BenchOrder& order) {
  const uint64_t time_and_status = static_cast<uint64_t>(order.ts_us()) * 8 +
                                   static_cast<uint64_t>(order.status());
  return Mix(time_and_status) + static_cast<uint64_t>(order.amount()) +
         XXH3_64bits(order.note().data(), order.note().size());
}

absl::StatusOr<uint64_t> Execute(OrderSession& session, const Operation& op,
                                 std::vector<BenchOrder>* answer) {
  switch (op.kind) {
    case Operation::Kind::kPut:
      RETURN_IF_ERROR(session.Put(op.orders));
      return 0;
    case Operation::Kind::kSetStatus:
      RETURN_IF_ERROR(session.SetStatus(op.id, op.status));
      return 0;
    case Operation::Kind::kGet:
      RETURN_IF_ERROR(session.Get(op.id, &(*answer)[0]));
      return Digest((*answer)[0]);
    case Operation::Kind::kNewest:
      break;
  }
  ASSIGN_OR_RETURN(const size_t count,
                   session.Newest(op.seller, op.status, kTop, answer));
  uint64_t digest = count;
  for (size_t i = 0; i < count; ++i) {
    digest = digest * 31 + Digest((*answer)[i]);
  }
  return digest;
}

// One thread's share of a phase. Operations are made a chunk at a time while
// the thread's clocks stand still.
struct Caller {
  absl::Status status;
  std::vector<uint32_t> latencies_ns;
  double busy_s = 0;
  double cpu_s = 0;
  double preparation_cpu_s = 0;
  uint64_t checksum = 0;

  void RunAll(const Phase& phase, const Inputs& inputs, uint64_t operations,
              uint64_t first, OrderSession* session) {
    const uint64_t step = static_cast<uint64_t>(phase.threads);
    std::vector<Operation> chunk(
        std::max<uint64_t>(kOrdersPerChunk / phase.orders_per_operation, 1));
    std::vector<BenchOrder> answer(kTop);
    latencies_ns.reserve(operations / step + 1);
    for (uint64_t i = first; i < operations && status.ok();) {
      const double cpu_start = ThreadCpuSeconds();
      size_t count = 0;
      for (; count < chunk.size() && i < operations; ++count, i += step) {
        phase.make(inputs, i, &chunk[count]);
      }
      const double cpu_ready = ThreadCpuSeconds();
      RunChunk(chunk, count, session, &answer);
      cpu_s += ThreadCpuSeconds() - cpu_ready;
      preparation_cpu_s += cpu_ready - cpu_start;
    }
  }

 private:
  void RunChunk(const std::vector<Operation>& chunk, size_t count,
                OrderSession* session, std::vector<BenchOrder>* answer) {
    const SteadyClock::time_point start = SteadyClock::now();
    SteadyClock::time_point before = start;
    for (size_t k = 0; k < count; ++k) {
      const absl::StatusOr<uint64_t> digest =
          Execute(*session, chunk[k], answer);
      const SteadyClock::time_point now = SteadyClock::now();
      if (!digest.ok()) {
        status = digest.status();
        return;
      }
      checksum += *digest;
      latencies_ns.push_back(static_cast<uint32_t>(
          std::min<int64_t>((now - before).count(), UINT32_MAX)));
      before = now;
    }
    busy_s += std::chrono::duration<double>(before - start).count();
  }
};

// Adds up what is found by one way of reading everything.
struct Content {
  uint64_t rows = 0;
  uint64_t digest = 0;

  void Add(const BenchOrder& order, std::string* buffer) {
    order.SerializeToString(buffer);
    ++rows;
    digest += XXH3_64bits(buffer->data(), buffer->size());
  }
  bool operator==(const Content&) const = default;
};

class Runner {
 public:
  Runner(const Workload& workload, const RunOptions& options)
      : inputs_{workload, options.orders}, options_(options) {}

  absl::Status RunPhase(const Phase& phase) {
    if (phase.own_database) return RunOnOwnDatabase(phase);
    const bool fresh = phase.operations == 0 && phase.make != nullptr;
    if (fresh || !loaded_) {
      RETURN_IF_ERROR(OpenNewDatabase("main", /*sync=*/false));
    }
    if (!fresh && !loaded_) {
      RETURN_IF_ERROR(Measure(*FindPhase("load100")).status());
    }
    loaded_ = true;
    return Report(phase);
  }

  RunResult TakeResult() {
    result_.set_peak_rss_mb(PeakRssMegabytes());
    return std::move(result_);
  }

 private:
  absl::Status RunOnOwnDatabase(const Phase& phase) {
    std::unique_ptr<OrderStore> main = std::move(store_);
    RETURN_IF_ERROR(OpenNewDatabase(phase.name, phase.sync));
    RETURN_IF_ERROR(Report(phase));
    store_ = std::move(main);
    return absl::OkStatus();
  }

  absl::Status OpenNewDatabase(const std::string& name, bool sync) {
    OrderStoreOptions options = options_.store;
    options.directory = absl::StrCat(options.directory, "/", name);
    options.sync = sync;
    store_.reset();
    std::error_code error;
    std::filesystem::remove_all(options.directory, error);
    ASSIGN_OR_RETURN(store_, OpenStore(options_.engine, options));
    return absl::OkStatus();
  }

  absl::Status Report(const Phase& phase) {
    ASSIGN_OR_RETURN(PhaseResult result,
                     phase.make == nullptr ? MeasureVerify() : Measure(phase));
    result.set_engine(options_.engine);
    result.set_phase(phase.name);
    result.set_threads(phase.threads);
    if (!phase.answers_comparable) result.clear_checksum();
    *result_.add_phases() = std::move(result);
    return absl::OkStatus();
  }

  uint64_t OperationsOf(const Phase& phase) const {
    if (phase.operations == 0) {
      return options_.orders / phase.orders_per_operation;
    }
    const double scaled =
        static_cast<double>(phase.operations) * options_.scale;
    return std::max<uint64_t>(static_cast<uint64_t>(std::llround(scaled)), 1);
  }

  absl::StatusOr<PhaseResult> Measure(const Phase& phase) {
    const uint64_t operations = OperationsOf(phase);
    std::vector<Caller> callers(static_cast<size_t>(phase.threads));
    std::vector<std::unique_ptr<OrderSession>> sessions;
    for (int t = 0; t < phase.threads; ++t) {
      sessions.push_back(store_->NewSession());
    }
    const Usage before = ProcessUsage();
    std::vector<std::thread> threads;
    for (size_t t = 1; t < callers.size(); ++t) {
      threads.emplace_back([&, t] {
        callers[t].RunAll(phase, inputs_, operations, t, sessions[t].get());
      });
    }
    callers[0].RunAll(phase, inputs_, operations, 0, sessions[0].get());
    for (std::thread& thread : threads) thread.join();
    const Usage used = ProcessUsage() - before;
    for (const Caller& caller : callers) RETURN_IF_ERROR(caller.status);

    PhaseResult result = Summarize(phase, callers, used);
    // Reads too are followed by compactions: LevelDB charges them to files.
    const Usage settling = ProcessUsage();
    result.set_settle_seconds(WaitForQuiet());
    const Usage settled = ProcessUsage() - settling;
    result.set_settle_cpu_s(settled.cpu_s);
    result.set_settle_bytes_written(settled.bytes_written);
    return result;
  }

  static PhaseResult Summarize(const Phase& phase,
                               const std::vector<Caller>& callers,
                               const Usage& used) {
    PhaseResult result;
    std::vector<uint32_t> latencies;
    double preparation_cpu_s = 0;
    uint64_t checksum = 0;
    for (const Caller& caller : callers) {
      latencies.insert(latencies.end(), caller.latencies_ns.begin(),
                       caller.latencies_ns.end());
      result.set_seconds(std::max(result.seconds(), caller.busy_s));
      result.set_caller_cpu_s(result.caller_cpu_s() + caller.cpu_s);
      preparation_cpu_s += caller.preparation_cpu_s;
      checksum += caller.checksum;
    }
    std::sort(latencies.begin(), latencies.end());
    result.set_operations(
        static_cast<double>(latencies.size() * phase.orders_per_operation));
    result.set_p50_us(Percentile(latencies, 0.50) / 1e3);
    result.set_p99_us(Percentile(latencies, 0.99) / 1e3);
    result.set_cpu_s(std::max(used.cpu_s - preparation_cpu_s, 0.0));
    result.set_bytes_written(used.bytes_written);
    result.set_checksum(checksum);
    return result;
  }

  // Rows by the row key, by the status index and by the id index must be the
  // same orders; the store's own check must agree with their number.
  absl::StatusOr<PhaseResult> MeasureVerify() {
    const SteadyClock::time_point start = SteadyClock::now();
    const double cpu_start = ThreadCpuSeconds();
    const Usage before = ProcessUsage();
    ASSIGN_OR_RETURN(const uint64_t rows, store_->Check());
    const std::unique_ptr<OrderSession> session = store_->NewSession();
    Content by_key, by_status, by_id;
    std::vector<BenchOrder> found(1);
    std::string buffer;
    for (int rank = 0; rank < kSellers; ++rank) {
      for (int32_t status = kAnyStatus; status <= kRefunded; ++status) {
        ASSIGN_OR_RETURN(const size_t count,
                         session->Newest(Workload::Seller(rank), status,
                                         options_.orders + 1, &found));
        Content& content = status == kAnyStatus ? by_key : by_status;
        for (size_t i = 0; i < count; ++i) content.Add(found[i], &buffer);
      }
    }
    for (uint64_t i = 0; i < options_.orders; ++i) {
      RETURN_IF_ERROR(session->Get(inputs_.workload.OrderId(i), &found[0]));
      by_id.Add(found[0], &buffer);
    }
    if (by_key != by_status || by_key != by_id || rows != by_key.rows) {
      return absl::DataLossError(absl::StrCat(
          "row key and indexes lead to different orders: checked=", rows,
          " by_key=", by_key.rows, " by_status=", by_status.rows,
          " by_id=", by_id.rows));
    }
    PhaseResult result;
    result.set_operations(static_cast<double>(rows));
    result.set_seconds(SecondsSince(start));
    result.set_caller_cpu_s(ThreadCpuSeconds() - cpu_start);
    result.set_cpu_s((ProcessUsage() - before).cpu_s);
    result.set_checksum(by_key.digest);
    return result;
  }

  Inputs inputs_;
  RunOptions options_;
  std::unique_ptr<OrderStore> store_;
  bool loaded_ = false;  // store_ holds the orders.
  RunResult result_;
};

}  // namespace

std::vector<std::string> EngineNames() {
  std::vector<std::string> names;
  for (const EngineEntry& entry : kEngines) names.push_back(entry.name);
  return names;
}

absl::StatusOr<RunResult> Run(
    const Workload& workload, const RunOptions& options,
    const std::function<void(std::string_view)>& on_phase) {
  Runner runner(workload, options);
  for (const std::string& name : options.phases) {
    const Phase* phase = FindPhase(name);
    if (phase == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("no such phase: name=", Quote(name)));
    }
    on_phase(name);
    const absl::Status status = runner.RunPhase(*phase);
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat(name, ": ", status.message()));
    }
  }
  return runner.TakeResult();
}

}  // namespace dovetail::bench

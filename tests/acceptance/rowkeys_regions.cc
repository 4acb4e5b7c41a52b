// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Random changes of a table's regions against a model.
//
//   rowkeys_regions [--ops N] [--kills N] [--seed N]
//
// Operation n follows from the seed, n and the model's state, so any process
// can go on with it anywhere. They are splits, merges, moves and locates; some
// are not valid, and must be refused with the right code. They run in
// stretches: most in this process, under the eyes of two threads that locate
// all the while, and end with the engine closed, or dropped as it is; `kills`
// of them in another process, which is killed somewhere. After each stretch
// the database is opened and its map must be
//   the model's   region by region: range, id, epoch, node
//   durable       with every operation that had returned; of the one that was
//                 running when the process was killed, all or nothing

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dovetail/engine.h"
#include "dovetail/presets.h"
#include "dovetail/regions.h"
#include "tests/support/checks.h"
#include "tests/support/spawn_self.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

constexpr char kTable[] = "orders";
constexpr int kReaders = 2;

struct Op {
  enum Kind { kSplit, kMerge, kMove, kLocate } kind = kLocate;
  uint64_t id = 0;
  std::optional<uint64_t> epoch;
  uint64_t other = 0;  // kMerge: the right one.
  std::string text;    // The key, or the node.
};

// What a map of regions is, written as plainly as can be.
class RegionModel {
 public:
  RegionModel() { Put("", {1, 1, ""}); }

  // Operation `n` on the present state. Deterministic.
  Op Next(uint64_t seed, uint64_t n) const;
  // Its outcome, and the state behind it if it is OK.
  absl::StatusCode Apply(const Op& op);

  std::string Text() const {
    std::string text;
    for (const auto& [start, r] : regions_) {
      absl::StrAppend(&text, r.id, "/", r.epoch, "@", r.node, "[", start, ",");
    }
    return text;
  }
  size_t size() const { return regions_.size(); }
  uint64_t IdOf(std::string_view key) const {
    return std::prev(regions_.upper_bound(std::string(key)))->second.id;
  }

 private:
  struct Entry {
    uint64_t id;
    uint64_t epoch;
    std::string node;
  };
  using Map = std::map<std::string, Entry>;

  void Put(const std::string& start, const Entry& entry) {
    regions_[start] = entry;
    starts_[entry.id] = start;
  }

  Map regions_;
  std::map<uint64_t, std::string> starts_;  // By id.
  uint64_t next_id_ = 2;
};

// Random numbers for operation `n`. SplitMix64 (Steele, Lea, Flood 2014): the
// operations are made anew in every process, so beginning must be cheap.
class OpRandom {
 public:
  OpRandom(uint64_t seed, uint64_t n) : state_(seed * 0x9E3779B97F4A7C15 + n) {
    state_ = (*this)();
  }
  uint64_t operator()() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

// Keys with long common beginnings, and very short ones.
template <typename Random>
std::string RandomKey(Random& random) {
  std::string key = random() % 3 == 0 ? "seller-0001-" : "";
  const size_t bytes = 1 + random() % 5;
  for (size_t i = 0; i < bytes; ++i) {
    key.push_back(static_cast<char>(random() % 256));
  }
  return key;
}

Op RegionModel::Next(uint64_t seed, uint64_t n) const {
  OpRandom random(seed, n);
  const std::string key = RandomKey(random);
  const auto home = std::prev(regions_.upper_bound(key));
  Op op;
  op.id = home->second.id;
  if (random() % 4 == 0) op.epoch = home->second.epoch;
  const uint64_t dice = random() % 100;
  // Grows up to some thousand regions, and stays there.
  const uint64_t splits = regions_.size() < 6000 ? 45 : 25;
  if (dice < splits) {
    op.kind = Op::kSplit;
    op.text = key;
  } else if (dice < 65) {
    op.kind = Op::kMerge;
    const auto right = std::next(home);
    op.other = right == regions_.end() ? op.id : right->second.id;
  } else if (dice < 85) {
    op.kind = Op::kMove;
    op.text = absl::StrCat("node-", random() % 5);
  } else {
    op.kind = Op::kLocate;
    op.text = key;
    return op;
  }
  switch (random() % 40) {  // Not valid, some of them whatever the kind.
    case 0:
      op.id = next_id_ + random() % 3;
      break;
    case 1:
      op.epoch = home->second.epoch + 1;
      break;
    case 2:
      op.text = std::string(op.kind == Op::kMove ? 65 : 5000, 'k');
      break;
    case 3:
      op.text = op.kind == Op::kSplit ? home->first : "a\tb";
      break;
    case 4:
      std::swap(op.id, op.other);
      if (op.id == 0) op.id = op.other;
      break;
    default:
      break;
  }
  return op;
}

absl::StatusCode RegionModel::Apply(const Op& op) {
  using absl::StatusCode;
  if (op.kind == Op::kLocate) return StatusCode::kOk;
  if (op.kind == Op::kSplit && (op.text.empty() || op.text.size() > 4096)) {
    return StatusCode::kInvalidArgument;
  }
  if (op.kind == Op::kMove &&
      (op.text.size() > 64 || op.text.find('\t') != std::string::npos)) {
    return StatusCode::kInvalidArgument;
  }
  const auto found = starts_.find(op.id);
  if (found == starts_.end()) return StatusCode::kNotFound;
  const auto home = regions_.find(found->second);
  Entry& entry = home->second;
  if (op.epoch.has_value() && *op.epoch != entry.epoch) {
    return StatusCode::kAborted;
  }
  const auto next = std::next(home);
  switch (op.kind) {
    case Op::kSplit:
      if (op.text <= home->first ||
          (next != regions_.end() && op.text >= next->first)) {
        return StatusCode::kInvalidArgument;
      }
      ++entry.epoch;
      Put(op.text, {next_id_++, 1, entry.node});
      return StatusCode::kOk;
    case Op::kMerge:
      if (starts_.count(op.other) == 0) return StatusCode::kNotFound;
      if (next == regions_.end() || next->second.id != op.other) {
        return StatusCode::kInvalidArgument;
      }
      entry.epoch = std::max(entry.epoch, next->second.epoch) + 1;
      starts_.erase(op.other);
      regions_.erase(next);
      return StatusCode::kOk;
    default:
      ++entry.epoch;
      entry.node = op.text;
      return StatusCode::kOk;
  }
}

std::string TextOf(const RegionMap& map) {
  std::string text;
  std::string_view end;
  for (const Region& r : map.List()) {
    if (r.start != end) return "a gap";
    end = r.end;
    absl::StrAppend(&text, static_cast<uint64_t>(r.id), "/", r.epoch, "@",
                    r.node, "[", r.start, ",");
  }
  return end.empty() ? text : "no end";
}

absl::StatusCode Run(Regions& regions, const Op& op) {
  const RegionRef region(RegionId{op.id}, op.epoch);
  switch (op.kind) {
    case Op::kSplit:
      return regions.Split(kTable, region, op.text).status().code();
    case Op::kMerge:
      return regions.Merge(kTable, region, RegionId{op.other}).status().code();
    case Op::kMove:
      return regions.Move(kTable, region, op.text).status().code();
    default:
      return regions.Locate(kTable, op.text).status().code();
  }
}

absl::StatusOr<std::unique_ptr<Engine>> OpenEngine(const std::string& path) {
  Schema schema;
  schema.Add(presets::SellerOrders(kTable));
  Options options;
  options.write_buffer_bytes = 256 << 10;  // Flushes now and then.
  return Engine::Open(path, schema, options);
}

// How far the process that is killed has come.
struct Board {
  std::atomic<uint64_t> done;
  std::atomic<uint64_t> failed;
};

Board* MapBoard(const std::string& path) {
  FILE* file = std::fopen(path.c_str(), "r+");
  if (file == nullptr) return nullptr;
  void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE,
                      MAP_SHARED, fileno(file), 0);
  std::fclose(file);
  return memory == MAP_FAILED ? nullptr : static_cast<Board*>(memory);
}

// args: --victim BOARD DB SEED FROM. Never ends by itself.
int VictimMain(char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Board* board = MapBoard(argv[2]);
  uint64_t seed = 0;
  uint64_t from = 0;
  if (board == nullptr || !absl::SimpleAtoi(argv[4], &seed) ||
      !absl::SimpleAtoi(argv[5], &from)) {
    return 2;
  }
  RegionModel model;
  uint64_t n = 0;
  for (; n < from; ++n) model.Apply(model.Next(seed, n));
  const auto engine = OpenEngine(argv[3]);
  if (!engine.ok()) board->failed.store(1);
  while (engine.ok()) {
    const Op op = model.Next(seed, n);
    const absl::StatusCode code = model.Apply(op);
    if (Run((*engine)->regions(), op) != code) board->failed.store(n);
    board->done.store(++n);
  }
  return 1;
}

class Driver {
 public:
  Driver(uint64_t seed, Checks* checks)
      : seed_(seed), checks_(*checks), random_(seed) {}

  absl::Status Run(uint64_t ops, uint64_t kills);

 private:
  absl::Status RunHere(uint64_t ops);
  absl::Status RunAndKill();
  absl::Status CompareStored();
  void Read(Regions& regions, int reader, std::atomic<bool>& stop);

  const uint64_t seed_;
  Checks& checks_;
  std::mt19937_64 random_;
  TempDir dir_;
  RegionModel model_;
  uint64_t n_ = 0;
  uint64_t refused_ = 0;
  uint64_t most_ = 0;
  uint64_t opens_ = 0;
  uint64_t in_flight_survived_ = 0;
  std::atomic<uint64_t> located_{0};
  std::atomic<uint64_t> misplaced_{0};
};

// Every key is in exactly the region that the map says, whichever map it is.
void Driver::Read(Regions& regions, int reader, std::atomic<bool>& stop) {
  std::mt19937_64 random(seed_ + static_cast<uint64_t>(reader));
  uint64_t version = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    const auto map = regions.Map(kTable);
    if (!map.ok() || (*map)->version() < version) ++misplaced_;
    if (!map.ok()) continue;
    version = (*map)->version();
    for (int i = 0; i < 20; ++i) {
      const std::string key = RandomKey(random);
      if (!(*map)->Locate(key).Contains(key)) ++misplaced_;
    }
    located_ += 20;
    std::this_thread::yield();
  }
}

absl::Status Driver::RunHere(uint64_t ops) {
  ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine, OpenEngine(dir_.Sub("db")));
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int t = 0; t < kReaders; ++t) {
    readers.emplace_back([&, t] { Read(engine->regions(), t, stop); });
  }
  for (uint64_t i = 0; i < ops; ++i, ++n_) {
    const Op op = model_.Next(seed_, n_);
    const uint64_t home = model_.IdOf(op.text);
    const absl::StatusCode expected = model_.Apply(op);
    const absl::StatusCode code = test::Run(engine->regions(), op);
    refused_ += code != absl::StatusCode::kOk;
    checks_.That(
        code == expected,
        absl::StrCat("operation ", n_, ": is ", absl::StatusCodeToString(code),
                     ", should be ", absl::StatusCodeToString(expected)));
    if (op.kind == Op::kLocate) {
      const auto region = engine->regions().Locate(kTable, op.text);
      checks_.That(region.ok() && static_cast<uint64_t>(region->id) == home &&
                       region->Contains(op.text),
                   absl::StrCat("operation ", n_, " locates"));
    }
  }
  stop.store(true);
  for (std::thread& reader : readers) reader.join();
  most_ = std::max<uint64_t>(most_, model_.size());
  return random_() % 2 == 0 ? engine->Close() : absl::OkStatus();
}

absl::Status Driver::RunAndKill() {
  const std::string board_path = dir_.Sub("board");
  std::ofstream(board_path) << std::string(sizeof(Board), '\0');
  Board* const board = MapBoard(board_path);
  if (board == nullptr) return absl::InternalError("cannot map the board");
  ASSIGN_OR_RETURN(
      const pid_t victim,
      SpawnSelf({"rowkeys_regions", "--victim", board_path, dir_.Sub("db"),
                 absl::StrCat(seed_), absl::StrCat(n_)}));
  // The naps only pick the moment: nothing depends on their length.
  const uint64_t wanted = n_ + 1 + random_() % 300;
  for (int i = 0; i < 400'000 && board->done.load() < wanted; ++i) usleep(50);
  usleep(static_cast<useconds_t>(random_() % 300));
  kill(victim, SIGKILL);
  WaitForEnd(victim);
  const uint64_t done = board->done.load();
  checks_.That(
      board->failed.load() == 0 && done >= wanted,
      absl::StrCat("the process that was killed had gone wrong: done=", done,
                   " wanted=", wanted, " failed=", board->failed.load()));
  munmap(board, sizeof(Board));
  for (; n_ < done; ++n_) model_.Apply(model_.Next(seed_, n_));
  // The operation that was running is there or not; then it is done.
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenEngine(dir_.Sub("db")));
  ASSIGN_OR_RETURN(const auto map, engine->regions().Map(kTable));
  if (TextOf(*map) == model_.Text()) return absl::OkStatus();
  ++in_flight_survived_;
  model_.Apply(model_.Next(seed_, n_++));
  return absl::OkStatus();
}

absl::Status Driver::CompareStored() {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenEngine(dir_.Sub("db")));
  ++opens_;
  ASSIGN_OR_RETURN(const auto map, engine->regions().Map(kTable));
  checks_.That(TextOf(*map) == model_.Text(),
               absl::StrCat("the stored map is the model's behind operation ",
                            n_, " of seed ", seed_));
  return absl::OkStatus();
}

absl::Status Driver::Run(uint64_t ops, uint64_t kills) {
  const auto start = std::chrono::steady_clock::now();
  const uint64_t stretch = std::max<uint64_t>(1, ops / (3 * (kills + 1)));
  uint64_t stretches = 0;
  uint64_t killed = 0;
  while (n_ < ops) {
    const bool kill_it = killed < kills && stretches++ % 4 == 3;
    killed += kill_it;
    RETURN_IF_ERROR(kill_it ? RunAndKill()
                            : RunHere(std::min(stretch, ops - n_)));
    RETURN_IF_ERROR(CompareStored());
    if (checks_.failed() > 0) break;
  }
  checks_.Equal(misplaced_.load(), 0u, "keys that a reader found misplaced");
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  std::printf(
      "seed %llu: %llu operations in %.1f s, %llu refused as they should be\n"
      "regions: %zu at the end, %llu at most\n"
      "reopened %llu times, %llu of them after a kill; the operation that was "
      "running had got through %llu times\n"
      "located by readers meanwhile: %llu keys\n",
      static_cast<unsigned long long>(seed_),
      static_cast<unsigned long long>(n_), seconds,
      static_cast<unsigned long long>(refused_), model_.size(),
      static_cast<unsigned long long>(most_),
      static_cast<unsigned long long>(opens_),
      static_cast<unsigned long long>(killed),
      static_cast<unsigned long long>(in_flight_survived_),
      static_cast<unsigned long long>(located_.load()));
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  if (argc == 6 && std::string_view(argv[1]) == "--victim") {
    return VictimMain(argv);
  }
  uint64_t ops = 100'000;
  uint64_t kills = 20;
  uint64_t seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    uint64_t* const to = name == "--ops"     ? &ops
                         : name == "--kills" ? &kills
                         : name == "--seed"  ? &seed
                                             : nullptr;
    if (to == nullptr || !absl::SimpleAtoi(argv[i + 1], to)) {
      std::fprintf(stderr, "not understood: %s\n", argv[i]);
      return 2;
    }
  }
  Checks checks("rowkeys-regions");
  checks.Ok(Driver(seed, &checks).Run(ops, kills), "the run");
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) { return dovetail::test::Main(argc, argv); }

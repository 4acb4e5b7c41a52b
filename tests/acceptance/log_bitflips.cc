// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// One wrong bit in each byte of a database, and each file cut off at each
// length: I9 and I11.
//
//   log_bitflips [--stride N] [--commits N] [--seed N]
//
// Databases of some commits whose files are whole in memory: one with its data
// in the store's log, two with it in tables (compressed and not), one with a
// write log. Each damage is made in a fresh copy, which is then opened and read
// to the end. Allowed are: the open refuses; a read is an error; the end of a
// log that was never synced is cut, with a report; or every answer is as it
// was. A different answer is a failure, and so of course is a crash. Of some
// damages the doctor says what it thinks.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/doctor.h"
#include "dovetail/engine.h"
#include "dovetail/presets.h"
#include "dovetail/testing.h"
#include "dovetail/v1/order.pb.h"
#include "dovetail/write_log.h"
#include "tests/support/checks.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

struct Settings {
  uint64_t stride = 1;
  uint64_t commits = 110;
  uint64_t seed = 1;
};

// Of how many damages the doctor is asked about one.
constexpr uint64_t kDoctorEvery = 1499;
constexpr int kSellers = 3;

using Files = std::map<std::string, std::string>;

Files ReadFiles(const std::string& directory) {
  Files files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file() || entry.path().filename() == "LOCK") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    files[std::filesystem::relative(entry.path(), directory).string()] =
        std::string(std::istreambuf_iterator<char>(in), {});
  }
  return files;
}

void WriteFiles(const std::string& directory, const Files& files) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  for (const auto& [name, bytes] : files) {
    const std::filesystem::path path = std::filesystem::path(directory) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
}

Schema OrdersSchema() { return Schema().Add(presets::SellerOrders("orders")); }

// Everything that reads can return, as one text.
absl::StatusOr<std::string> AllAnswers(Engine& engine) {
  std::string all;
  for (const char* index : {"", "by_order_id", "by_status"}) {
    RETURN_IF_ERROR(engine.ForEachStored(
        {}, "orders", index, "", [&](const StoredPair& pair) {
          absl::StrAppend(&all, ToAbsl(pair.key), "=", ToAbsl(pair.value), ";");
          return true;
        }));
  }
  for (int seller = 0; seller < kSellers; ++seller) {
    for (const char* index : {"", "by_status"}) {
      ScanRequest request{.table = "orders", .index = index, .limit = 100'000};
      request.equal = {absl::StrCat("s", seller)};
      ASSIGN_OR_RETURN(const Page page, engine.Scan({}, request));
      for (const Row& row : page.rows) absl::StrAppend(&all, row.record, ";");
    }
  }
  for (int i = 0; i < 20; ++i) {
    ASSIGN_OR_RETURN(
        const std::vector<Row> rows,
        engine.GetBy({}, "orders", "by_order_id", {absl::StrCat("o", i)}));
    for (const Row& row : rows) absl::StrAppend(&all, row.record, ";");
  }
  ASSIGN_OR_RETURN(const VerifyReport verified, engine.Verify({}));
  return absl::StrCat(all, verified.clean() ? "clean" : verified.Summary());
}

// A database at rest, and what it answers after each of its commits.
struct Subject {
  std::string name;
  Options options;
  Files files;
  std::map<uint64_t, std::string> answers;  // By sequence.
  std::set<std::string> rows;               // Records, ever.
  std::map<uint64_t, std::string> records;  // Of the write log.
  uint64_t synced = 0;
  uint64_t last = 0;
};

class BitFlips {
 public:
  BitFlips(const Settings& settings, Checks* checks)
      : settings_(settings), checks_(*checks) {}

  void Run();

 private:
  struct Outcomes {
    uint64_t damages = 0;
    uint64_t refused = 0;    // By the open.
    uint64_t errors = 0;     // Of reads.
    uint64_t cut = 0;        // To an earlier commit, with a report.
    uint64_t shortened = 0;  // The same of a file cut at a frame: no report.
    uint64_t the_same = 0;
    uint64_t doctored = 0;
    uint64_t rescued = 0;
    uint64_t log_refused = 0;  // Readings of the write log.
    uint64_t log_torn = 0;
    uint64_t log_whole = 0;
  };

  absl::StatusOr<Subject> Make(const std::string& name, bool to_tables,
                               bool compress, bool record);
  absl::Status Fill(Subject* subject, const std::string& path);
  // Damages each file whose name holds one of `kinds`.
  void Damage(const Subject& subject, const std::vector<std::string>& kinds);
  // What a reader of the write log in `path` returns is what was recorded.
  void TryLog(const Subject& subject, const std::string& path,
              const std::string& what, bool is_cut, Outcomes* outcomes);
  void Try(const Subject& subject, const Files& damaged,
           const std::string& what, bool is_cut, Outcomes* outcomes);
  void AskDoctor(const Subject& subject, const Files& damaged,
                 const std::string& what, bool opened, Outcomes* outcomes);
  void Print(const std::string& what, const Outcomes& outcomes);

  const Settings settings_;
  Checks& checks_;
  TempDir dir_;
  uint64_t total_ = 0;
};

// Commits of one or two orders each, every tenth one synced, but not the last
// ones.
absl::Status BitFlips::Fill(Subject* subject, const std::string& path) {
  std::mt19937_64 random(settings_.seed);
  ASSIGN_OR_RETURN(const auto engine,
                   Engine::Open(path, OrdersSchema(), subject->options));
  ASSIGN_OR_RETURN(subject->answers[0], AllAnswers(*engine));
  for (uint64_t i = 1; i <= settings_.commits; ++i) {
    WriteBatch batch;
    for (uint64_t n = 1 + random() % 2; n > 0; --n) {
      v1::Order order;
      order.set_order_id(absl::StrCat("o", random() % 60));
      order.set_seller_id(absl::StrCat("s", random() % kSellers));
      order.set_ts_ms(static_cast<int64_t>(random() % 1000));
      order.set_status(static_cast<v1::OrderStatus>(random() % 5));
      for (int word = 0; word < 4; ++word) {
        absl::StrAppend(order.mutable_note(), random());
      }
      batch.Put("orders", order.SerializeAsString());
    }
    const bool sync = i % 10 == 0 && i + 20 < settings_.commits;
    // Two rows in one place are refused, and that is as good.
    const auto commit = engine->Write({.sync = sync}, batch);
    if (absl::IsAlreadyExists(commit.status())) continue;
    RETURN_IF_ERROR(commit.status());
    subject->last = static_cast<uint64_t>(commit->sequence);
    if (sync) subject->synced = subject->last;
    ASSIGN_OR_RETURN(subject->answers[subject->last], AllAnswers(*engine));
    RETURN_IF_ERROR(engine->ForEachStored(
        {}, "orders", "", "", [&](const StoredPair& pair) {
          const auto row = KeyInspector::RowOf(pair);
          if (row.ok()) {
            subject->rows.emplace(row->record);
          }
          return true;
        }));
  }
  return absl::OkStatus();  // Not closed: the end of the log is not synced.
}

absl::StatusOr<Subject> BitFlips::Make(const std::string& name, bool to_tables,
                                       bool compress, bool record) {
  Subject subject;
  subject.name = name;
  subject.options.compress = compress;
  subject.options.block_cache_bytes = 1 << 20;
  subject.options.background_work = false;
  if (record) {
    subject.options.write_log = WriteLogOptions{.file_bytes_max = 16 << 10};
  }
  const std::string path = dir_.Sub(name);
  RETURN_IF_ERROR(Fill(&subject, path));
  if (to_tables) {
    ASSIGN_OR_RETURN(const auto engine,
                     Engine::Open(path, OrdersSchema(), subject.options));
    RETURN_IF_ERROR(engine->Close());
    subject.synced = subject.last;
  }
  if (record) {
    ASSIGN_OR_RETURN(const auto reader,
                     WriteLogReader::Open(FileSystem::Posix(),
                                          absl::StrCat(path, "/write-log")));
    v1::WriteLogRecord next;
    while (true) {
      ASSIGN_OR_RETURN(const bool more, reader->Next(&next));
      if (!more) break;
      subject.records[next.sequence()] = next.SerializeAsString();
    }
  }
  subject.files = ReadFiles(path);
  // LevelDB's own diary is read by nobody.
  subject.files.erase("LOG");
  subject.files.erase("LOG.old");
  return subject;
}

void BitFlips::Damage(const Subject& subject,
                      const std::vector<std::string>& kinds) {
  std::mt19937_64 random(settings_.seed);
  for (const auto& [name, bytes] : subject.files) {
    const auto is_kind = [&file = name](const std::string& kind) {
      return file.find(kind) != std::string::npos;
    };
    if (std::none_of(kinds.begin(), kinds.end(), is_kind)) continue;
    Files damaged = subject.files;
    Outcomes flips, cuts;
    for (uint64_t at = random() % settings_.stride; at < bytes.size();
         at += settings_.stride) {
      const uint64_t bit = random() % 8;
      damaged[name] = bytes;
      damaged[name][at] = static_cast<char>(bytes[at] ^ (1 << bit));
      Try(subject, damaged,
          absl::StrCat(subject.name, " ", name, " offset=", at, " bit=", bit),
          /*is_cut=*/false, &flips);
      damaged[name] = bytes.substr(0, at);
      Try(subject, damaged,
          absl::StrCat(subject.name, " ", name, " cut at ", at),
          /*is_cut=*/true, &cuts);
    }
    Print(absl::StrCat(subject.name, " ", name, ", flips"), flips);
    Print(absl::StrCat(subject.name, " ", name, ", cuts"), cuts);
  }
}

void BitFlips::Try(const Subject& subject, const Files& damaged,
                   const std::string& what, bool is_cut, Outcomes* outcomes) {
  const std::string path = dir_.Sub("damaged");
  WriteFiles(path, damaged);
  ++outcomes->damages;
  ++total_;
  if (!subject.records.empty()) {
    TryLog(subject, path, what, is_cut, outcomes);
  }
  auto engine = Engine::Open(path, OrdersSchema(), subject.options);
  const bool opened = engine.ok();
  if (!opened) {
    ++outcomes->refused;
    const absl::StatusCode code = engine.status().code();
    checks_.That(code == absl::StatusCode::kDataLoss ||
                     code == absl::StatusCode::kFailedPrecondition,
                 absl::StrCat(what, ": ", engine.status().ToString()));
  } else {
    const OpenReport report = (*engine)->open_report();
    const auto sequence = static_cast<uint64_t>(report.sequence);
    const absl::StatusOr<std::string> answers = AllAnswers(**engine);
    const bool reported =
        report.log_bytes_cut > 0 || !report.write_log_cuts.empty();
    if (!answers.ok()) {
      ++outcomes->errors;
      checks_.That(absl::IsDataLoss(answers.status()),
                   absl::StrCat(what, ": ", answers.status().ToString()));
    } else if (sequence == subject.last) {
      ++outcomes->the_same;
      checks_.That(*answers == subject.answers.at(sequence),
                   absl::StrCat(what, ": another answer"));
    } else {
      ++(reported ? outcomes->cut : outcomes->shortened);
      // A file that ends between two commits looks like one that was never
      // longer; there is nothing to report, but nothing is synced either.
      checks_.That(reported || is_cut,
                   absl::StrCat(what, ": not reported, sequence=", sequence));
      checks_.That(is_cut || sequence >= subject.synced,
                   absl::StrCat(what, ": a synced commit is gone: sequence=",
                                sequence, " synced=", subject.synced));
      const auto expected = subject.answers.find(sequence);
      checks_.That(
          expected != subject.answers.end() && *answers == expected->second,
          absl::StrCat(what, ": another answer at sequence=", sequence));
    }
    engine->reset();
  }
  if (total_ % kDoctorEvery == 0) {
    AskDoctor(subject, damaged, what, opened, outcomes);
  }
}

void BitFlips::TryLog(const Subject& subject, const std::string& path,
                      const std::string& what, bool is_cut,
                      Outcomes* outcomes) {
  const auto reader = WriteLogReader::Open(FileSystem::Posix(),
                                           absl::StrCat(path, "/write-log"));
  absl::Status status = reader.status();
  auto due = subject.records.begin();
  while (status.ok()) {
    v1::WriteLogRecord record;
    const absl::StatusOr<bool> more = (*reader)->Next(&record);
    status = more.status();
    if (!more.ok() || !*more) break;
    if (!checks_.That(due != subject.records.end() &&
                          due->first == record.sequence() &&
                          due->second == record.SerializeAsString(),
                      absl::StrCat(what, ": another record"))) {
      return;
    }
    ++due;
  }
  if (!status.ok()) {
    ++outcomes->log_refused;
    checks_.That(absl::IsDataLoss(status) ||
                     absl::IsFailedPrecondition(status) ||
                     absl::IsNotFound(status),
                 absl::StrCat(what, ": ", status.ToString()));
  } else if (due == subject.records.end()) {
    ++outcomes->log_whole;
  } else {
    ++outcomes->log_torn;
    checks_.That(is_cut || !(*reader)->report().torn_file.empty(),
                 absl::StrCat(what, ": records are missing, unreported"));
  }
}

void BitFlips::AskDoctor(const Subject& subject, const Files& damaged,
                         const std::string& what, bool opened,
                         Outcomes* outcomes) {
  const std::string path = dir_.Sub("ill");
  const std::string saved = dir_.Sub("saved");
  std::filesystem::remove_all(saved);
  WriteFiles(path, damaged);
  ++outcomes->doctored;
  const auto found = Diagnose(path, {});
  if (checks_.Ok(found.status(), absl::StrCat(what, ": diagnosis"))) {
    checks_.That(opened || found->verdict == Diagnosis::Verdict::kDamaged ||
                     !found->refusal.empty(),
                 absl::StrCat(what, ": said to be sound, but refused"));
  }
  const auto report = Rescue(path, saved, {});
  if (!report.ok()) {
    checks_.That(absl::IsDataLoss(report.status()),
                 absl::StrCat(what, ": rescue: ", report.status().ToString()));
    return;
  }
  ++outcomes->rescued;
  Options options;
  options.create_if_missing = false;
  const auto engine = Engine::Open(saved, OrdersSchema(), options);
  if (!checks_.Ok(engine.status(), absl::StrCat(what, ": rescued"))) return;
  // What is saved is what was once written.
  const absl::Status read = (*engine)->ForEachStored(
      {}, "orders", "", "", [&](const StoredPair& pair) {
        const auto row = KeyInspector::RowOf(pair);
        return checks_.Ok(row.status(), what) &&
               checks_.That(
                   subject.rows.contains(std::string(row->record)),
                   absl::StrCat(what, ": a row that was never written"));
      });
  checks_.Ok(read, absl::StrCat(what, ": rows of the rescued"));
}

void BitFlips::Print(const std::string& what, const Outcomes& o) {
  const auto n = [](uint64_t v) { return static_cast<unsigned long long>(v); };
  std::printf(
      "%-52s %6llu: refused %llu, read errors %llu, cut %llu, shorter %llu, "
      "the same %llu; doctor %llu, rescued %llu; write log refused %llu, torn "
      "%llu, whole %llu\n",
      what.c_str(), n(o.damages), n(o.refused), n(o.errors), n(o.cut),
      n(o.shortened), n(o.the_same), n(o.doctored), n(o.rescued),
      n(o.log_refused), n(o.log_torn), n(o.log_whole));
  std::fflush(stdout);
}

void BitFlips::Run() {
  const auto run = [&](const std::string& name, bool to_tables, bool compress,
                       bool record, const std::vector<std::string>& kinds) {
    const auto subject = Make(name, to_tables, compress, record);
    if (!checks_.Ok(subject.status(), name)) return;
    // Undamaged, it is what it was.
    Outcomes outcomes;
    Try(*subject, subject->files, name + " undamaged", false, &outcomes);
    checks_.Equal(outcomes.the_same, 1u, name + " undamaged");
    Damage(*subject, kinds);
  };
  run("log", false, true, false, {".log", "MANIFEST", "CURRENT"});
  run("snappy", true, true, false, {".ldb", "MANIFEST", "CURRENT"});
  run("plain", true, false, false, {".ldb", "MANIFEST"});
  run("recorded", false, true, true, {".dvlog", "DOVETAIL.write-log"});
  std::printf("damages in all: %llu\n",
              static_cast<unsigned long long>(total_));
}

bool ParseSettings(int argc, char** argv, Settings* settings) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    uint64_t* const number = flag == "--stride"    ? &settings->stride
                             : flag == "--commits" ? &settings->commits
                             : flag == "--seed"    ? &settings->seed
                                                   : nullptr;
    if (number == nullptr || !absl::SimpleAtoi(argv[i + 1], number)) {
      return false;
    }
  }
  return argc % 2 == 1 && settings->stride > 0;
}

int Main(int argc, char** argv) {
  Settings settings;
  if (!ParseSettings(argc, argv, &settings)) {
    std::fprintf(stderr,
                 "usage: log_bitflips [--stride N] [--commits N] [--seed N]\n");
    return 2;
  }
  std::printf("log-bitflips: seed=%llu commits=%llu stride=%llu\n",
              static_cast<unsigned long long>(settings.seed),
              static_cast<unsigned long long>(settings.commits),
              static_cast<unsigned long long>(settings.stride));
  std::fflush(stdout);
  Checks checks("log-bitflips");
  BitFlips(settings, &checks).Run();
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) { return dovetail::test::Main(argc, argv); }

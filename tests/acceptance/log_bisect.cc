// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// [log-bisect] Records a long write log, plants faults at chosen records of
// it, and has bisect find them:
//   verify   a maintainer that loses one index entry, at a random record
//   digest   a log in which one byte of one record was changed
//   read     the record that changed the status of one order
// and, without a fault, nothing.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dovetail/bisect.h"
#include "dovetail/engine.h"
#include "dovetail/presets.h"
#include "dovetail/v1/order.pb.h"
#include "dovetail/write_log.h"
#include "engine/cross_check.h"
#include "engine/overlay.h"
#include "tests/support/checks.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

struct Flags {
  uint64_t records = 1'000'000;
  uint64_t seed = 20260131;
};

// One order in so many is only ever inserted, so that what is wrong with it
// stays wrong.
constexpr uint64_t kKeptEvery = 97;

class LogBisect {
 public:
  explicit LogBisect(const Flags& flags)
      : flags_(flags), random_(flags.seed), checks_("log-bisect") {
    schema_.Add(presets::SellerOrders("orders"));
  }

  int Run() {
    if (checks_.Ok(Record(), "a log is recorded")) {
      FindNothing();
      FindLostEntry();
      FindChangedRecord();
      FindStatus();
    }
    return checks_.Finish();
  }

 private:
  static std::string Id(uint64_t n) { return absl::StrCat("o-", n); }
  static bool IsKept(uint64_t n) { return n % kKeptEvery == 0; }

  struct Insert {
    uint64_t at;  // The record.
    std::string order;
  };

  WriteBatch NextRequest();
  absl::Status Record();
  // The log with one byte of the record changed that inserts `order`.
  absl::Status CopyChanged(const std::string& to, const std::string& order,
                           uint64_t* changed);
  absl::StatusOr<BisectReport> Bisect(std::string_view what,
                                      const std::string& log,
                                      const BisectCheck& check,
                                      BisectOptions options = {});

  absl::StatusOr<Insert> FindInsert(uint64_t from);

  void FindNothing();
  void FindLostEntry();
  void FindChangedRecord();
  void FindStatus();

  const Flags flags_;
  std::mt19937_64 random_;
  Checks checks_;
  Schema schema_;
  TempDir dir_;
  uint64_t orders_ = 0;
  const std::string log_ = dir_.Sub("log");
};

// Three fifths inserts, three tenths changes of a status, the rest deletes.
WriteBatch LogBisect::NextRequest() {
  WriteBatch batch;
  const uint64_t kind = random_() % 10;
  const uint64_t some = orders_ == 0 ? 0 : random_() % orders_;
  v1::Order order;
  if (kind < 6 || orders_ == 0 || IsKept(some)) {
    order.set_order_id(Id(orders_));
    order.set_seller_id(absl::StrCat("s-", random_() % 500));
    order.set_ts_ms(static_cast<int64_t>(1'700'000'000'000 + orders_));
    order.set_note("as recorded");
    ++orders_;
    batch.Put("orders", order.SerializeAsString());
  } else if (kind < 9) {
    // Of all orders with this id, none if it was deleted.
    order.set_status(static_cast<v1::OrderStatus>(random_() % 10));
    batch.Patch("orders",
                RowRef::By("by_order_id", {Id(some)}, RowRef::Match::kAll),
                order.SerializeAsString(), {"status"});
  } else {
    batch.Delete("orders",
                 RowRef::By("by_order_id", {Id(some)}, RowRef::Match::kAll));
  }
  return batch;
}

absl::Status LogBisect::Record() {
  Options options;
  options.write_log = WriteLogOptions{.directory = log_};
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   Engine::Open(dir_.Sub("db"), schema_, options));
  for (uint64_t n = 0; n < flags_.records; ++n) {
    RETURN_IF_ERROR(engine->Write({}, NextRequest()).status());
  }
  return engine->Close();
}

absl::StatusOr<BisectReport> LogBisect::Bisect(std::string_view what,
                                               const std::string& log,
                                               const BisectCheck& check,
                                               BisectOptions options) {
  options.scratch = dir_.Sub("scratch");
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<BisectReport> report = dovetail::Bisect(log, check, options);
  const std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - start;
  if (!checks_.Ok(report.status(), what)) return report;
  std::printf(
      "%s: records=%llu first_wrong=%llu checks=%llu replayed=%llu "
      "seconds=%.1f\n",
      std::string(what).c_str(),
      static_cast<unsigned long long>(report->records),
      static_cast<unsigned long long>(report->first_wrong),
      static_cast<unsigned long long>(report->checks),
      static_cast<unsigned long long>(report->replayed), time.count());
  std::fflush(stdout);
  // One for each halving, the ends, and one for each round's rounding.
  uint64_t halvings = 0;
  while ((uint64_t{1} << halvings) < report->records) ++halvings;
  checks_.That(report->checks <= halvings + 8,
               absl::StrCat(ToAbsl(what), ": few checks, ", report->checks));
  checks_.That(report->replayed <= report->records * 5 / 4 + 100,
               absl::StrCat(ToAbsl(what), ": little more than one replay, ",
                            report->replayed));
  checks_.That(access(options.scratch.c_str(), F_OK) != 0,
               absl::StrCat(ToAbsl(what), ": the scratch is gone"));
  return report;
}

void LogBisect::FindNothing() {
  const auto report = Bisect("right to the end", log_, VerifyIsClean());
  if (!report.ok()) return;
  checks_.Equal(static_cast<uint64_t>(report->first_wrong), 0u,
                "nothing is found where nothing is wrong");
  checks_.Equal(static_cast<uint64_t>(report->last_right), flags_.records,
                "it is right to the end");
}

// Loses the status entry of `order` when the record `at` inserts it.
class EntryLoser final : public internal::PendingTamper {
 public:
  EntryLoser(uint64_t at, const std::string& order)
      : at_(at), end_(order + std::string(1, '\0')) {}

  // The requests before it in the group are pending, too.
  void Tamper(SequenceNumber sequence, Overlay& pending) override {
    if (static_cast<uint64_t>(sequence) != at_) return;
    for (const Overlay::Pending* p : pending.InOrder()) {
      // by_status is space 2. The key ends in the order id.
      if (p->key[0] != 2 || !p->value.has_value() || !p->key.ends_with(end_)) {
        continue;
      }
      pending.Delete(std::string(p->key));
      lost_ = true;
      return;
    }
  }

  bool lost() const { return lost_; }

 private:
  const uint64_t at_;
  const std::string end_;
  bool lost_ = false;
};

// The first record at or behind `from` that inserts an order which is kept.
absl::StatusOr<LogBisect::Insert> LogBisect::FindInsert(uint64_t from) {
  WriteLogReaderOptions read;
  read.from_sequence = SequenceNumber{from};
  ASSIGN_OR_RETURN(const std::unique_ptr<WriteLogReader> reader,
                   WriteLogReader::Open(FileSystem::Posix(), log_, read));
  v1::WriteLogRecord record;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) return absl::NotFoundError("no order that is kept");
    for (const v1::RowEffect& effect : record.effects()) {
      v1::Order order;
      uint64_t n = 0;
      if (effect.has_record() && !effect.has_old_fields() &&
          order.ParseFromString(effect.record()) &&
          absl::SimpleAtoi(order.order_id().substr(2), &n) && IsKept(n)) {
        return Insert{record.sequence(), order.order_id()};
      }
    }
  }
}

void LogBisect::FindLostEntry() {
  const auto insert = FindInsert(1 + random_() % (flags_.records / 2));
  if (!checks_.Ok(insert.status(), "a record is chosen")) return;
  const auto loser = std::make_shared<EntryLoser>(insert->at, insert->order);
  BisectOptions options;
  options.engine.tamper = loser;
  const auto report =
      Bisect("a lost entry", log_, VerifyIsClean(), std::move(options));
  if (!report.ok()) return;
  checks_.That(loser->lost(), "an entry was lost");
  checks_.Equal(static_cast<uint64_t>(report->first_wrong), insert->at,
                "the record whose entry was lost is found");
  checks_.Equal(static_cast<uint64_t>(report->last_right), insert->at - 1,
                "the record before is right");
  checks_.That(report->why.find("missing=1") != std::string::npos,
               absl::StrCat("it says what is wrong: ", report->why));
}

absl::Status LogBisect::CopyChanged(const std::string& to,
                                    const std::string& order,
                                    uint64_t* changed) {
  ASSIGN_OR_RETURN(const std::unique_ptr<WriteLogReader> reader,
                   WriteLogReader::Open(FileSystem::Posix(), log_));
  WriteLogWriterOptions options;
  std::unique_ptr<WriteLogWriter> writer;
  v1::WriteLogRecord record;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
    if (!more) break;
    if (writer == nullptr) {
      options.schema = reader->header().schema();
      ASSIGN_OR_RETURN(writer,
                       WriteLogWriter::Open(FileSystem::Posix(), to, options));
    }
    for (v1::RowEffect& effect : *record.mutable_effects()) {
      v1::Order is;
      if (!is.ParseFromString(effect.record()) || is.order_id() != order) {
        continue;
      }
      is.set_note("as changed!");
      effect.set_record(is.SerializeAsString());
      *changed = record.sequence();
    }
    RETURN_IF_ERROR(writer->Append(record));
  }
  return writer->Close();
}

void LogBisect::FindChangedRecord() {
  const uint64_t kept = random_() % (orders_ / 2 / kKeptEvery) * kKeptEvery;
  const std::string changed_log = dir_.Sub("changed");
  uint64_t changed = 0;
  if (!checks_.Ok(CopyChanged(changed_log, Id(kept), &changed),
                  "the log is copied with a change")) {
    return;
  }
  const auto report =
      Bisect("a changed record", changed_log, DigestsAreTheRecords());
  if (!report.ok()) return;
  const auto first = static_cast<uint64_t>(report->first_wrong);
  checks_.That(changed <= first && first < changed + 64,
               absl::StrCat("the next record with digests is found: changed=",
                            changed, " found=", first));
  checks_.That(static_cast<uint64_t>(report->last_right) < changed,
               "the one with digests before is right");
}

void LogBisect::FindStatus() {
  // Which record deletes or moves the status of some order away from the
  // first one, by reading the log from the front.
  std::string order;
  uint64_t moved = 0;
  const uint64_t from = flags_.records / 3;
  const auto reader = WriteLogReader::Open(FileSystem::Posix(), log_);
  if (!checks_.Ok(reader.status(), "the log is read")) return;
  v1::WriteLogRecord record;
  while (moved == 0) {
    const auto more = (*reader)->Next(&record);
    if (!more.ok() || !*more) break;
    for (const v1::RowEffect& effect : record.effects()) {
      v1::Order is;
      if (record.sequence() < from || !effect.has_record() ||
          !is.ParseFromString(effect.record()) || is.status() == v1::CREATED) {
        continue;
      }
      order = is.order_id();
      moved = record.sequence();
    }
  }
  if (!checks_.That(moved != 0, "some order's status changes")) return;
  // It is wrong as soon as any of its states so far was not the first.
  bool seen_before = false;
  const BisectCheck check{
      [&](Engine& engine, const v1::WriteLogRecord&) -> absl::Status {
        ASSIGN_OR_RETURN(const std::vector<Row> rows,
                         engine.GetBy({}, "orders", "by_order_id", {order}));
        if (rows.empty()) return absl::OkStatus();
        v1::Order is;
        is.ParseFromString(rows[0].record);
        if (is.status() == v1::CREATED) return absl::OkStatus();
        seen_before = true;
        return absl::DataLossError(absl::StrCat("status=", is.status()));
      }};
  const auto report = Bisect("a status", log_, check);
  if (!report.ok() || !seen_before) return;
  // Its status may have changed before, too, or may change back and forth:
  // then it is another record, but one that did it.
  bool did = false;
  for (const v1::RowEffect& effect : report->record.effects()) {
    v1::Order is;
    did = did || (is.ParseFromString(effect.record()) &&
                  is.order_id() == order && is.status() != v1::CREATED);
  }
  checks_.That(did, "the record found is one that changed it");
}

absl::Status ParseFlags(int argc, char** argv, Flags* flags) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    uint64_t* value = name == "--records" ? &flags->records
                      : name == "--seed"  ? &flags->seed
                                          : nullptr;
    if (value == nullptr || !absl::SimpleAtoi(argv[i + 1], value)) {
      return absl::InvalidArgumentError(absl::StrCat("bad flag: ", name));
    }
  }
  if (argc % 2 == 0 || flags->records < 1000) {
    return absl::InvalidArgumentError(
        "usage: log_bisect [--records N, at least 1000] [--seed N]");
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) {
  dovetail::test::Flags flags;
  const absl::Status status = dovetail::test::ParseFlags(argc, argv, &flags);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    return 2;
  }
  std::printf("seed=%llu records=%llu\n",
              static_cast<unsigned long long>(flags.seed),
              static_cast<unsigned long long>(flags.records));
  return dovetail::test::LogBisect(flags).Run();
}

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What went wrong elsewhere with keys and indexes, under every scheme. A
// scheme either does it right, or refuses the row and names the field: TEXT
// keys have no place for a separator inside an id, or for a negative time.

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "tests/acceptance/rowkeys_schemes.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

using namespace std::string_literals;  // NOLINT: "a\0b"s.
using v1::Order;

class Cases {
 public:
  Cases(const Scheme& scheme, Checks* checks)
      : scheme_(scheme),
        row_key_(scheme.table.proto().row_key()),
        text_(row_key_.encoding() == v1::RowKeyLayout::TEXT),
        checks_(*checks) {}

  void Run();

 private:
  void Case04_SeparatorsInsideIdsStayInsideThem();
  void Case05_IdsThatBeginOthersAreKeptApart();
  void Case06_NegativeTimesAreOldestOrRefused();
  void Case11_TimesOfAnotherUnitAreRefusedWhereTheKeyHasAWindow();
  void Case12_BucketsAreInRangeForEveryHash();
  void Case02_NothingIsLeftOfWhatIsDeleted();

  // Whether the order was taken. It may be refused only if `may_refuse`, and
  // with an error that names the field.
  bool Put(const std::string& id, const std::string& seller, int64_t ts_ms,
           bool may_refuse, std::string_view field);
  // A seller's orders, newest first: the same by a scan and by a query, page by
  // page.
  std::vector<std::string> Listed(const std::string& seller,
                                  std::optional<Range> range = {});
  void Listed(std::string_view what, const std::string& seller,
              std::vector<std::string> expected,
              std::optional<Range> range = {});
  // That a scan of a seller that no key could have says so.
  void RefusesToList(const std::string& seller) {
    const auto page = engine_->Scan({}, {.table = "orders", .equal = {seller}});
    const bool refused =
        scheme_.by_seller.empty() &&
        page.status().code() == absl::StatusCode::kInvalidArgument &&
        absl::StrContains(page.status().message(), "separator");
    checks_.That(refused || !scheme_.by_seller.empty(),
                 Name("a seller with a separator is refused"));
  }
  uint64_t StoredKeys();
  // The width that the row key declares for sellers, or 0.
  size_t SellerWidth() const;
  std::string Seller(std::string id) const;
  // The row key's part that holds the field itself; null if there is none.
  const v1::KeyPart* PartOf(std::string_view field) const;
  std::string Name(std::string_view what) const {
    return absl::StrCat(case_, ", ", scheme_.name, ": ", ToAbsl(what));
  }

  const Scheme& scheme_;
  const v1::RowKeyLayout& row_key_;
  const bool text_;
  Checks& checks_;
  TempDir dir_;
  std::unique_ptr<Engine> engine_;
  std::set<std::string> ids_;
  std::string case_;
};

const v1::KeyPart* Cases::PartOf(std::string_view field) const {
  for (const v1::KeyPart& part : row_key_.parts()) {
    const bool computed = part.has_hash() || part.has_bucket() ||
                          part.has_salt() || part.has_sub_bucket();
    if (!computed && part.fields(0) == field) return &part;
  }
  return nullptr;
}

size_t Cases::SellerWidth() const {
  const v1::KeyPart* part = PartOf("seller_id");
  return part == nullptr ? 0 : part->text().width();
}

// As wide as the scheme has it.
std::string Cases::Seller(std::string id) const {
  if (SellerWidth() > id.size()) id.resize(SellerWidth(), '_');
  return id;
}

bool Cases::Put(const std::string& id, const std::string& seller, int64_t ts_ms,
                bool may_refuse, std::string_view field) {
  Order order;
  order.set_order_id(id);
  order.set_seller_id(Seller(seller));
  order.set_ts_ms(ts_ms);
  order.set_status(v1::APPROVED);
  order.set_note("north");
  const auto commit =
      engine_->Write({}, WriteBatch().Put("orders", order.SerializeAsString()));
  if (commit.ok()) {
    ids_.insert(id);
    return true;
  }
  const absl::Status& status = commit.status();
  checks_.That(may_refuse &&
                   status.code() == absl::StatusCode::kInvalidArgument &&
                   absl::StrContains(status.message(), ToAbsl(field)),
               absl::StrCat(Name(id), ": ", status.ToString()));
  return false;
}

std::vector<std::string> Cases::Listed(const std::string& seller,
                                       std::optional<Range> range) {
  std::vector<std::string> ids;
  const auto add = [&ids](const Row& row) {
    Order order;
    order.ParseFromString(row.record);
    ids.push_back(order.order_id());
  };
  ScanRequest scan{.table = "orders",
                   .index = scheme_.by_seller,
                   .equal = {Seller(seller)},
                   .range = range,
                   .limit = 3};
  do {
    const auto page = engine_->Scan({}, scan);
    if (!checks_.Ok(page.status(), Name("scan"))) return ids;
    for (const Row& row : page->rows) add(row);
    scan.continuation = page->continuation;
  } while (!scan.continuation.empty());
  const std::vector<std::string> scanned = std::move(ids);
  ids.clear();

  Query query = Query("orders")
                    .Where(Filter::Equal("seller_id", Seller(seller)))
                    .OrderBy("ts_ms", Query::kDescending)
                    .Limit(2);
  if (range.has_value()) query.Where(Filter::InRange("ts_ms", *range));
  std::string continuation;
  do {
    const auto page = engine_->Query({}, query.Continuation(continuation));
    if (!checks_.Ok(page.status(), Name("query"))) return scanned;
    for (const Row& row : page->rows) add(row);
    continuation = page->continuation;
  } while (!continuation.empty());
  checks_.That(ids == scanned, Name("the query's rows are the scan's"));
  return scanned;
}

void Cases::Listed(std::string_view what, const std::string& seller,
                   std::vector<std::string> expected,
                   std::optional<Range> range) {
  std::vector<std::string> ids = Listed(seller, std::move(range));
  if (!scheme_.ties_by_id) {
    std::sort(ids.begin(), ids.end());
    std::sort(expected.begin(), expected.end());
  }
  checks_.That(ids == expected, absl::StrCat(Name(what), ": rows=", ids.size(),
                                             " expected=", expected.size()));
}

// A separator inside an id, and a pair that it would make equal.
void Cases::Case04_SeparatorsInsideIdsStayInsideThem() {
  case_ = "case 04";
  const bool seller_is_text = text_ && PartOf("seller_id") != nullptr;
  std::set<std::string> keys;
  size_t taken = 0;
  for (const std::string& seller :
       {"a"s, "a-"s, "a-1"s, "a/b"s, "a\0b"s, "-"s}) {
    const bool may_refuse = seller_is_text && SellerWidth() == 0 &&
                            seller.find('-') != std::string::npos;
    std::vector<std::string> expected;
    // 1000 is newer than 999.
    for (const int64_t ts_ms : {1000, 999}) {
      for (const std::string& rest : {"-1-2"s, "/2"s, "\0x"s}) {
        std::string id = absl::StrCat(seller, ts_ms, rest);
        if (!Put(id, seller, ts_ms * 1000, may_refuse, "seller_id")) continue;
        expected.push_back(std::move(id));
      }
    }
    // Of equal times by id.
    std::sort(expected.begin(), expected.end(),
              [](const std::string& a, const std::string& b) {
                const bool a_new = absl::StrContains(a, "1000");
                const bool b_new = absl::StrContains(b, "1000");
                return a_new != b_new ? a_new : a < b;
              });
    if (may_refuse) {
      RefusesToList(seller);
      continue;
    }
    Listed(Quote(seller), seller, expected);
    for (const std::string& id : expected) {
      const auto rows = engine_->GetBy({}, "orders", "by_order_id", {id});
      checks_.That(
          rows.ok() && rows->size() == 1 && keys.insert((*rows)[0].key).second,
          Name(absl::StrCat("by id ", Quote(id))));
    }
    taken += expected.size();
  }
  const size_t refused = seller_is_text && SellerWidth() == 0 ? 3 : 0;
  checks_.Equal(taken, (6 - refused) * 6, Name("orders taken"));
}

// No end mark between a value and what is behind it.
void Cases::Case05_IdsThatBeginOthersAreKeptApart() {
  case_ = "case 05";
  const std::vector<std::string> sellers = {"s", "s1", "s10", "s100"};
  for (const std::string& seller : sellers) {
    std::vector<std::string> expected;
    for (const char* rest : {"", "0", "00", "1", "2X"}) {
      expected.push_back(absl::StrCat(rest, seller, "/"));
      Put(expected.back(), seller, 5'000, false, "");
    }
    std::sort(expected.begin(), expected.end());
    Listed(seller, seller, expected);
  }
}

// Two's complement puts -1 above 1; TEXT has no negative times.
void Cases::Case06_NegativeTimesAreOldestOrRefused() {
  case_ = "case 06";
  const v1::KeyPart* time = PartOf("ts_ms");
  const bool unsigned_time = time != nullptr && (text_ || time->has_time32());
  const bool negative_one = Put("n1", "neg", -1'000, unsigned_time, "ts_ms");
  const bool old =
      Put("n1948", "neg", -692'067'660'000, unsigned_time, "ts_ms");
  checks_.That(negative_one == !unsigned_time && old == !unsigned_time,
               Name("negative times"));
  Put("n0", "neg", 0, false, "");
  Put("p1", "neg", 1'000, false, "");
  Put("p2018", "neg", 1'514'897'580'000, false, "");
  std::vector<std::string> all = {"p2018", "p1", "n0"};
  if (old) all.insert(all.end(), {"n1", "n1948"});
  Listed("newest first", "neg", all);
  std::vector<std::string> to_zero = {"n0"};
  if (old) to_zero.push_back("n1");
  Listed("[0, 0]", "neg", {"n0"}, Range{.min = 0, .max = 0});
  if (unsigned_time) return;  // A bound has to have a text, too.
  Listed("[-10000, 0]", "neg", to_zero, Range{.min = -10'000, .max = 0});
  std::vector<std::string> to_one = to_zero;
  to_one.insert(to_one.begin(), "p1");
  Listed("[-10000, 1000]", "neg", to_one, Range{.min = -10'000, .max = 1'000});
}

// Seconds, milliseconds, microseconds and nanoseconds of one moment. The unit
// is the schema's; a key with a window refuses what cannot be of it.
void Cases::Case11_TimesOfAnotherUnitAreRefusedWhereTheKeyHasAWindow() {
  case_ = "case 11";
  const v1::KeyPart* time = PartOf("ts_ms");
  const bool window =
      time != nullptr && (time->has_time32() || time->text().desc_from() != 0);
  const std::pair<const char*, int64_t> moments[] = {
      {"ns", 1'772'452'800'000'000'000},
      {"us", 1'772'452'800'000'000},
      {"ms", 1'772'452'800'000}};
  std::vector<std::string> expected;
  for (const auto& [unit, ts] : moments) {
    const bool may_refuse = window && unit != std::string_view("ms");
    if (Put(unit, "units", ts, may_refuse, "ts_ms")) expected.push_back(unit);
  }
  checks_.Equal(expected.size(), window ? size_t{1} : size_t{3},
                Name("times taken"));
  // A number of seconds is, as milliseconds, no whole second.
  if (time == nullptr || !time->has_time32()) {
    if (Put("s", "units", 1'772'452'800, false, "")) expected.push_back("s");
  } else {
    checks_.That(!Put("s", "units", 1'772'452'800, true, "ts_ms"),
                 Name("seconds are refused"));
  }
  Listed("all, newest first", "units", expected);
}

// Java's hash of the first three texts is INT_MIN, of the fourth -1.
void Cases::Case12_BucketsAreInRangeForEveryHash() {
  case_ = "case 12";
  for (const std::string& seller :
       {"polygenelubricants"s, "GydZG_"s, "DESIGNING WORKHOUSES"s, "bmgkAG4"s,
        ""s, "\xc3\xa9"s, "giant"s}) {
    std::vector<std::string> expected;
    for (int i = 0; i < 4; ++i) {
      const std::string id = absl::StrCat("o", i, "@", seller);
      if (Put(id, seller, 10'000 - 1'000 * i, false, "")) {
        expected.push_back(id);
      }
    }
    Listed(seller, seller, expected);
  }
  for (const v1::KeyPart& part : row_key_.parts()) {
    if (!part.has_bucket() || text_) continue;
    const auto read = engine_->ForEachStored(
        {}, "orders", {}, {}, [&](const StoredPair& row) {
          const auto bucket = static_cast<unsigned char>(row.key[0]);
          return checks_.That(bucket < part.bucket().count(),
                              Name("bucket in range"));
        });
    checks_.Ok(read, Name("stored keys"));
  }
}

uint64_t Cases::StoredKeys() {
  uint64_t keys = 0;
  std::vector<std::string> spaces = {""};
  for (const v1::IndexSchema& index : scheme_.table.proto().indexes()) {
    spaces.push_back(index.name());
  }
  for (const std::string& space : spaces) {
    const auto read =
        engine_->ForEachStored({}, "orders", space, {}, [&](const StoredPair&) {
          ++keys;
          return true;
        });
    checks_.Ok(read, Name("stored keys"));
  }
  return keys;
}

// Entries left behind, or one for "no value". Every third order has the status
// 0, which proto3 does not write.
void Cases::Case02_NothingIsLeftOfWhatIsDeleted() {
  case_ = "case 02";
  for (int i = 0; i < 60; ++i) {
    Put(absl::StrCat("d", i), absl::StrCat("seller", i % 3), 1'000 * i, false,
        "");
    if (i % 3 != 0) continue;
    const auto commit = engine_->Write(
        {}, WriteBatch().Patch(
                "orders", RowRef::By("by_order_id", {absl::StrCat("d", i)}),
                Order().SerializeAsString(), {"status"}));
    checks_.Ok(commit.status(), Name("patch"));
  }
  const uint64_t per_row =
      1 + static_cast<uint64_t>(scheme_.table.proto().indexes_size());
  checks_.Equal(StoredKeys(), per_row * ids_.size(), Name("keys before"));
  for (const bool again : {false, true}) {
    WriteBatch batch;
    for (const std::string& id : ids_) {
      batch.Delete("orders", RowRef::By("by_order_id", {id}));
    }
    const auto commit = engine_->Write({}, std::move(batch));
    if (!checks_.Ok(commit.status(), Name("delete"))) return;
    uint64_t changed = 0;
    for (const uint64_t rows : commit->rows_changed) changed += rows;
    checks_.Equal(changed, again ? 0 : ids_.size(), Name("rows deleted"));
    checks_.Equal(StoredKeys(), uint64_t{0}, Name("keys left"));
  }
}

void Cases::Run() {
  auto engine = Engine::Open(dir_.Sub("db"), Schema().Add(scheme_.table));
  if (!checks_.Ok(engine.status(), Name("open"))) return;
  engine_ = *std::move(engine);
  Case04_SeparatorsInsideIdsStayInsideThem();
  Case05_IdsThatBeginOthersAreKeptApart();
  Case06_NegativeTimesAreOldestOrRefused();
  Case11_TimesOfAnotherUnitAreRefusedWhereTheKeyHasAWindow();
  Case12_BucketsAreInRangeForEveryHash();
  const auto report = engine_->Verify({});
  checks_.That(report.ok() && report->clean() && report->rows == ids_.size(),
               Name("verify is clean"));
  Case02_NothingIsLeftOfWhatIsDeleted();
}

// %02d does not hold 256 buckets: said when the table is declared.
void CheckNarrowBucket(Checks* checks) {
  TableBuilder table("orders", Order::descriptor());
  table.TextRowKey("-", {Bucket({"seller_id"}, v1::JAVA_STRING, 256).Width(2),
                         Field("seller_id"), Field("order_id")});
  const auto engine =
      Engine::Open("narrow", Schema().Add(table), {.in_memory = true});
  checks->That(engine.status().code() == absl::StatusCode::kInvalidArgument &&
                   absl::StrContains(engine.status().message(), "bucket") &&
                   absl::StrContains(engine.status().message(), "width"),
               absl::StrCat("case 12, 256 buckets in two digits: ",
                            engine.status().ToString()));
}

}  // namespace

void CheckCases(const std::vector<Scheme>& schemes, Checks* checks) {
  for (const Scheme& scheme : schemes) Cases(scheme, checks).Run();
  CheckNarrowBucket(checks);
}

}  // namespace dovetail::test

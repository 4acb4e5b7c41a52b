// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Row keys as the engine stores them against the same keys computed elsewhere.
//
//   surface_text --helpers DIRECTORY [--orders N] [--seed N]
//
// The directory has TextKeys.java and text_keys.py. Each computes the keys of
// random orders under every scheme; the engine holds a TEXT table per scheme,
// with two indexes, and its rows must have the same keys, byte for byte. Where
// there is no `java`, or one that cannot run the program, it says so, and the
// Python program alone decides. Where there is `xxhsum`, it hashes the sellers
// once more.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/strings.h"
#include "dovetail/engine.h"
#include "dovetail/v1/order.pb.h"
#include "tests/support/checks.h"
#include "tests/support/temp_dir.h"

namespace dovetail::test {
namespace {

using Text = v1::KeyPart::Text;

struct Scheme {
  std::string name;
  std::string separator;
  std::vector<Part> parts;
};

Part Width(Part part, uint32_t width) { return std::move(part).Width(width); }
Part In(Part part, Text::Digits digits) {
  return std::move(part).Digits(digits);
}
Part JavaBucket(v1::HashAlgorithm algorithm, uint32_t count,
                Text::BucketForm form) {
  return Bucket({"seller_id"}, algorithm, count).Form(form);
}

// The same keys as in TextKeys.java.
std::vector<Scheme> Schemes() {
  const Part seller = Field("seller_id");
  const Part order = Field("order_id");
  const auto hash = [](v1::HashAlgorithm algorithm, uint32_t bytes) {
    return Hash({"seller_id"}, algorithm, bytes);
  };
  return {
      {"md5_seller_desc",
       "-",
       {hash(v1::MD5, 2), seller, Field("ts_ms").Desc().Width(19), order}},
      {"md5_odd_upper",
       "::",
       {Width(In(hash(v1::MD5, 3), Text::HEX_UPPER), 5), seller,
        Width(Field("ts_ms"), 13), order}},
      {"md5_fields_joined",
       "",
       {Hash({"seller_id", "ts_ms"}, v1::MD5, 4).Joiner("_"),
        Width(Field("ts_ms"), 13), order}},
      {"md5_reversed_id",
       "-",
       {Hash({"order_id"}, v1::MD5, 3).ReverseInput(), order}},
      {"md5_big_mod",
       "_",
       {Bucket({"buyer_id"}, v1::MD5, 97).Form(Text::UNSIGNED_MOD).Width(2),
        Field("buyer_id"), order}},
      {"sha1_whole", "|", {Hash({"order_id"}, v1::SHA1, 20), order}},
      {"sha256_decimal",
       "|",
       {In(hash(v1::SHA256, 32), Text::DECIMAL), seller, order}},
      {"crc32_hex_string",
       "_",
       {In(Hash({"order_id"}, v1::CRC32, 4), Text::HEX_UNPADDED), order}},
      {"crc32_padded",
       "_",
       {Width(In(hash(v1::CRC32, 4), Text::DECIMAL), 10).Joined(), seller,
        order}},
      {"crc32_bucket",
       "_",
       {Width(In(Bucket({"seller_id"}, v1::CRC32, 256), Text::HEX), 2), seller,
        order}},
      {"java_abs",
       "_",
       {Width(JavaBucket(v1::JAVA_STRING, 100, Text::ABS_MOD), 3), seller,
        Field("ts_ms").DescFrom(9'999'999'999'999), order}},
      {"java_mask",
       "|",
       {Width(JavaBucket(v1::JAVA_STRING, 64, Text::MASK_MOD), 2), seller,
        Field("ts_ms"), order}},
      {"java_floor",
       "|",
       {Width(Bucket({"seller_id"}, v1::JAVA_STRING, 1000), 4), seller, order}},
      {"java_mod_abs",
       "|",
       {JavaBucket(v1::JAVA_STRING, 1000, Text::MOD_ABS), seller, order}},
      {"java_signed",
       "|",
       {In(hash(v1::JAVA_STRING, 4), Text::SIGNED_DECIMAL), seller, order}},
      {"java_hex",
       "-",
       {In(hash(v1::JAVA_STRING, 4), Text::HEX_UNPADDED), seller, order}},
      {"murmur3_signed",
       "|",
       {In(hash(v1::MURMUR3, 4), Text::SIGNED_DECIMAL), seller, order}},
      {"murmur3_hex", "-", {hash(v1::MURMUR3, 4), seller, order}},
      {"murmur3_abs",
       "_",
       {Width(JavaBucket(v1::MURMUR3, 1000, Text::ABS_MOD), 3), seller, order}},
      {"xxh3_hex", "-", {hash(v1::XXH3, 8), seller, order}},
      {"xxh3_mask",
       "_",
       {Width(JavaBucket(v1::XXH3, 4096, Text::MASK_MOD), 4), seller, order}},
      {"xxh3_signed",
       "|",
       {In(hash(v1::XXH3, 8), Text::SIGNED_DECIMAL), seller, order}},
      {"reversed_numbers",
       "_",
       {Width(Reverse("items"), 6), Reverse("seller_id"), Reverse("order_id")}},
      {"salt", "_", {Width(Salt(16), 2), seller, order}},
  };
}

// ---- Orders.

// Letters without the separators, two and four-byte characters among them.
constexpr const char* kLetters[] = {"0",
                                    "1",
                                    "7",
                                    "9",
                                    "a",
                                    "q",
                                    "Z",
                                    ".",
                                    "\xC3\xA9",
                                    "\xE4\xB8\xAD",
                                    "\xF0\x9F\x98\x80",
                                    "\xF0\x90\x8D\x88"};

class OrderMaker {
 public:
  explicit OrderMaker(uint64_t seed) : random_(seed) {
    // Hash codes of the least int and of 0; nothing; leading zeros; and texts
    // of every length that XXH3 treats in a way of its own.
    sellers_ = {"polygenelubricants",
                "f5a5a608",
                "",
                "0",
                "007",
                "000123",
                std::string(17, 'x'),
                std::string(40, 'y'),
                std::string(128, 'z')};
    for (int i = 0; i < 300; ++i) sellers_.push_back(Id(24));
  }

  std::vector<v1::Order> Make(uint64_t count) {
    std::vector<v1::Order> orders;
    for (uint64_t i = 0; i < count; ++i) {
      v1::Order order;
      std::string id = absl::StrCat(i, ".", Id(12));
      if (i % 7 == 0) id.insert(0, "00");
      order.set_order_id(std::move(id));
      order.set_seller_id(
          i < sellers_.size() ? sellers_[i] : sellers_[Pick(sellers_.size())]);
      order.set_buyer_id(Id(10));
      const int64_t ts = static_cast<int64_t>(Pick(9'999'999'999'999));
      order.set_ts_ms(Pick(50) == 0 ? ts % 1000 : ts);
      order.set_status(static_cast<v1::OrderStatus>(Pick(10)));
      order.set_items(static_cast<int32_t>(Pick(1'000'000)));
      orders.push_back(std::move(order));
    }
    return orders;
  }

 private:
  uint64_t Pick(uint64_t n) { return random_() % n; }
  std::string Id(uint64_t letters_max) {
    std::string id;
    for (uint64_t n = Pick(letters_max) + 1; n > 0; --n) {
      // Mostly digits and letters, as ids are.
      id += kLetters[Pick(Pick(3) == 0 ? std::size(kLetters) : 7)];
    }
    return id;
  }

  std::mt19937_64 random_;
  std::vector<std::string> sellers_;
};

std::string Hex(std::string_view bytes) {
  return absl::BytesToHexString(ToAbsl(bytes));
}

bool WriteOrders(const std::vector<v1::Order>& orders,
                 const std::string& path) {
  std::ofstream file(path);
  for (const v1::Order& order : orders) {
    file << Hex(order.order_id()) << '\t' << Hex(order.seller_id()) << '\t'
         << Hex(order.buyer_id()) << '\t' << order.ts_ms() << '\t'
         << order.items() << '\n';
  }
  return file.good();
}

// ---- The keys computed elsewhere.

// By scheme, one per order.
using Keys = std::map<std::string, std::vector<std::string>>;

std::string ShellQuote(const std::string& text) {
  return absl::StrCat("'", absl::StrJoin(absl::StrSplit(text, '\''), "'\\''"),
                      "'");
}

// Nothing if the program cannot be run or what it wrote is not whole.
std::optional<Keys> Compute(const std::string& command, const std::string& out,
                            size_t orders) {
  if (std::system(absl::StrCat(command, " > ", ShellQuote(out)).c_str()) != 0) {
    return std::nullopt;
  }
  Keys keys;
  std::ifstream file(out);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    if (fields.size() != 3) return std::nullopt;
    std::vector<std::string>& of = keys[fields[0]];
    if (fields[1] != absl::StrCat(of.size())) return std::nullopt;
    of.push_back(absl::HexStringToBytes(fields[2]));
  }
  for (const auto& [scheme, of] : keys) {
    if (of.size() != orders) return std::nullopt;
  }
  return keys;
}

// ---- The keys of the engine.

TableBuilder TableOf(const Scheme& scheme) {
  return TableBuilder("orders", v1::Order::descriptor())
      .TextRowKey(scheme.separator, scheme.parts)
      .Unique("by_order_id", {Hash({"order_id"}), Field("order_id")})
      .Index("by_status",
             {Hash({"seller_id"}), Field("seller_id"), Varint("status"),
              Field("ts_ms").Desc(), Field("order_id")})
      .Identity("by_order_id");
}

// Writes the orders and reads them back in the order of their keys; empty
// where an order is missing.
std::vector<std::string> StoredKeys(const Scheme& scheme,
                                    const std::vector<v1::Order>& orders,
                                    Checks* checks) {
  std::vector<std::string> keys(orders.size());
  auto engine = Engine::Open(scheme.name, Schema().Add(TableOf(scheme)),
                             {.in_memory = true});
  if (!checks->Ok(engine.status(), scheme.name)) return keys;
  std::map<std::string, size_t> number_of;
  for (size_t i = 0; i < orders.size(); ++i) {
    number_of[orders[i].order_id()] = i;
    const auto commit = (*engine)->Write(
        {}, WriteBatch().Put("orders", orders[i].SerializeAsString()));
    if (!checks->Ok(commit.status(), scheme.name)) return keys;
  }
  const auto read = [&](const Row& row) {
    v1::Order order;
    if (!order.ParseFromString(row.record)) return;
    const auto number = number_of.find(order.order_id());
    if (number != number_of.end()) keys[number->second] = row.key;
  };
  // All rows once along the row key, each once more by its index.
  ScanRequest request{.table = "orders", .limit = 1000};
  do {
    const auto page = (*engine)->Scan({}, request);
    if (!checks->Ok(page.status(), scheme.name)) return keys;
    for (const Row& row : page->rows) read(row);
    request.continuation = page->continuation;
  } while (!request.continuation.empty());
  for (size_t i = 0; i < orders.size(); i += 17) {
    const auto rows =
        (*engine)->GetBy({}, "orders", "by_order_id", {orders[i].order_id()});
    const bool found =
        rows.ok() && rows->size() == 1 && (*rows)[0].key == keys[i];
    if (!found) {
      checks->That(false, absl::StrCat(scheme.name, ": by_order_id finds ",
                                       Quote(orders[i].order_id())));
    }
  }
  const auto report = (*engine)->Verify({});
  checks->That(report.ok() && report->clean() &&
                   report->rows == orders.size() &&
                   report->entries == 2 * orders.size(),
               absl::StrCat(scheme.name, ": verify is clean"));
  return keys;
}

// A salt is random: it is checked to be one, and taken off.
bool TakeSalt(std::string* key) {
  uint32_t salt = 0;
  if (key->size() < 2 || !absl::SimpleAtoi(key->substr(0, 2), &salt)) {
    return false;
  }
  key->erase(0, 2);
  return salt < 16;
}

void Compare(const Scheme& scheme, std::vector<std::string> stored,
             const std::map<std::string, Keys>& computed, Checks* checks) {
  if (scheme.name == "salt") {
    for (std::string& key : stored) {
      if (!TakeSalt(&key)) checks->That(false, "salt: has no salt");
    }
  }
  std::string line = absl::StrCat(scheme.name, ": ", stored.size(), " keys");
  for (const auto& [program, keys] : computed) {
    const auto of = keys.find(scheme.name);
    size_t equal = 0;
    for (size_t i = 0; of != keys.end() && i < stored.size(); ++i) {
      if (stored[i] == of->second[i]) {
        ++equal;
      } else {
        checks->That(false, absl::StrCat(scheme.name, ": order=", i, " engine=",
                                         Quote(stored[i], 256), " ", program,
                                         "=", Quote(of->second[i], 256)));
      }
    }
    absl::StrAppend(&line, ", ", equal, " equal ", program, "'s");
    checks->That(equal == stored.size(),
                 absl::StrCat(scheme.name, ": all keys equal ", program, "'s"));
  }
  std::printf("%s\n", line.c_str());
}

// The sellers' XXH3 by xxhsum against that in the keys of `xxh3_hex`.
void CompareXxhsum(const std::vector<v1::Order>& orders,
                   const std::vector<std::string>& keys, const TempDir& dir,
                   Checks* checks) {
  if (std::system("xxhsum --version > /dev/null 2>&1") != 0) {
    std::printf("no xxhsum: XXH3 is checked by the other programs alone\n");
    return;
  }
  std::map<std::string, std::string> hash_of;  // By seller.
  for (size_t i = 0; i < orders.size(); ++i) {
    hash_of[orders[i].seller_id()] = keys[i].substr(0, 16);
  }
  size_t equal = 0;
  for (const auto& [seller, hash] : hash_of) {
    std::ofstream(dir.Sub("seller")) << seller;
    const std::string out = dir.Sub("seller.hash");
    const std::string command =
        absl::StrCat("xxhsum -H3 < ", ShellQuote(dir.Sub("seller")), " > ",
                     ShellQuote(out), " 2> /dev/null");
    if (std::system(command.c_str()) != 0) continue;
    std::stringstream text;
    text << std::ifstream(out).rdbuf();
    if (text.str().find(hash) != std::string::npos) ++equal;
  }
  std::printf("xxhsum: %zu sellers, %zu equal\n", hash_of.size(), equal);
  checks->That(equal == hash_of.size(), "XXH3 equals xxhsum's");
}

int Run(const std::string& helpers, uint64_t count, uint64_t seed) {
  Checks checks("surface-text");
  std::printf("orders=%llu seed=%llu\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(seed));
  const std::vector<v1::Order> orders = OrderMaker(seed).Make(count);
  const TempDir dir;
  const std::string input = dir.Sub("orders");
  checks.That(WriteOrders(orders, input), "the orders are written");

  std::map<std::string, Keys> computed;
  const auto compute = [&](const std::string& name, const std::string& command,
                           bool quiet) {
    auto keys = Compute(absl::StrCat(command, " ", ShellQuote(input),
                                     quiet ? " 2> /dev/null" : ""),
                        dir.Sub(name), orders.size());
    if (keys.has_value()) computed[name] = *std::move(keys);
    return keys.has_value();
  };
  if (std::system("java --version > /dev/null 2>&1") != 0) {
    std::printf("no java: the keys are compared with Python's alone\n");
  } else if (!compute("Java",
                      absl::StrCat("java ", ShellQuote(absl::StrCat(
                                                helpers, "/TextKeys.java"))),
                      /*quiet=*/true)) {
    std::printf(
        "java cannot run TextKeys.java (it needs a JDK, 17 or later): "
        "the keys are compared with Python's alone\n");
  }
  checks.That(compute("Python",
                      absl::StrCat("python3 ", ShellQuote(absl::StrCat(
                                                   helpers, "/text_keys.py"))),
                      /*quiet=*/false),
              "text_keys.py computes the keys");

  for (const Scheme& scheme : Schemes()) {
    const std::vector<std::string> stored = StoredKeys(scheme, orders, &checks);
    Compare(scheme, stored, computed, &checks);
    if (scheme.name == "xxh3_hex") CompareXxhsum(orders, stored, dir, &checks);
  }
  return checks.Finish();
}

int Main(int argc, char** argv) {
  std::string helpers;
  uint64_t orders = 10'000;
  uint64_t seed = std::random_device()();
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    const std::string value = argv[i + 1];
    if (flag == "--helpers") {
      helpers = value;
    } else if (!(flag == "--orders" && absl::SimpleAtoi(value, &orders)) &&
               !(flag == "--seed" && absl::SimpleAtoi(value, &seed))) {
      helpers.clear();
      break;
    }
  }
  if (helpers.empty() || argc % 2 == 0 || orders == 0) {
    std::fprintf(stderr,
                 "usage: surface_text --helpers DIRECTORY "
                 "[--orders N] [--seed N]\n");
    return 2;
  }
  return Run(helpers, orders, seed);
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) { return dovetail::test::Main(argc, argv); }

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Every row-key scheme, as a schema. A name that ends in `_text` has the keys
// that Java code on HBase writes.

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tests/acceptance/rowkeys_schemes.h"

namespace dovetail::test {
namespace {

using Sellers = Scheme::Sellers;
using Parts = std::vector<Part>;

Part Seller() { return Field("seller_id"); }
Part Order() { return Field("order_id"); }
// Newest first; 19 digits hold Long.MAX_VALUE - ts.
Part Newest() { return Field("ts_ms").Desc(); }
Part NewestText() { return Field("ts_ms").Desc().Width(19); }

// What the indexes have behind the time. With the order's id equal times come
// in its order whatever else an entry carries: a salt would stand before it.
// Left to what entries carry of the row key, they come in the order of that.
enum class Ends { kOrderId, kRowKey };

Parts NewestOfSeller(Parts between, Ends ends) {
  Parts parts = {Hash({"seller_id"}), Seller()};
  parts.insert(parts.end(), between.begin(), between.end());
  parts.push_back(Newest());
  if (ends == Ends::kOrderId) parts.push_back(Order());
  return parts;
}

Scheme Indexed(std::string name, TableBuilder table, Ends ends) {
  table.Unique("by_order_id", {Hash({"order_id"}), Order()})
      .Identity("by_order_id")
      .Index("by_status", NewestOfSeller({Varint("status")}, ends));
  return {.name = std::move(name),
          .table = std::move(table),
          .ties_by_id = ends == Ends::kOrderId};
}
Scheme Binary(std::string name, Parts parts, Ends ends = Ends::kOrderId) {
  TableBuilder table("orders", v1::Order::descriptor());
  table.RowKey(std::move(parts));
  return Indexed(std::move(name), std::move(table), ends);
}
Scheme Text(std::string name, Parts parts, Ends ends = Ends::kOrderId) {
  TableBuilder table("orders", v1::Order::descriptor());
  table.TextRowKey("-", std::move(parts));
  return Indexed(std::move(name) + "_text", std::move(table), ends);
}

// For a key that does not list a seller's orders itself.
Scheme WithSellerIndex(Scheme scheme) {
  scheme.by_seller = "by_seller";
  scheme.table.Index(
      "by_seller",
      NewestOfSeller({}, scheme.ties_by_id ? Ends::kOrderId : Ends::kRowKey));
  return scheme;
}
Scheme ServesSellers(Scheme scheme) {
  scheme.sellers = Sellers::kServed;
  return scheme;
}
Scheme ByTime(Scheme scheme) {
  scheme.by_time = true;
  return scheme;
}
Scheme Refuses(Scheme scheme, std::string reason) {
  scheme.reason = std::move(reason);
  return scheme;
}
void AddPlain(std::vector<Scheme>* out) {
  out->push_back(ServesSellers(Binary("plain", {Seller(), Newest(), Order()})));
  // Ids of one width keep their order in TEXT; others do not.
  out->push_back(ServesSellers(
      Text("plain_width", {Seller().Width(32), NewestText(), Order()})));
  out->push_back(
      Refuses(Text("plain", {Seller(), NewestText(), Order()}), "seller_id"));
  out->push_back(
      Refuses(Text("reversed_time_13",
                   {Seller(),
                    Field("ts_ms").Desc().DescFrom(9'999'999'999'999).Width(13),
                    Order()}),
              "seller_id"));
  out->push_back(Refuses(
      ByTime(WithSellerIndex(Binary("time", {Newest(), Seller(), Order()}))),
      "ts_ms"));
  // Rows of equal times come by seller: in TEXT a width keeps that order.
  out->push_back(
      Refuses(ByTime(WithSellerIndex(
                  Text("time", {NewestText(), Seller().Width(32), Order()}))),
              "ts_ms"));
}

// Four bytes for whole seconds from 1970 to 2106; other times are refused.
void AddTime32(std::vector<Scheme>* out) {
  const auto seconds = [] {
    return Time32("ts_ms", v1::KeyPart::Time32::MILLISECONDS).Desc();
  };
  const Part hash = Hash({"seller_id"});
  out->push_back(Refuses(Binary("time32", {hash, Seller(), seconds(), Order()}),
                         "hash(seller_id)"));
  out->push_back(Refuses(
      Text("time32", {hash, Seller(),
                      seconds().DescFrom(9'999'999'999).Width(10), Order()}),
      "hash(seller_id)"));
}

void AddReversed(std::vector<Scheme>* out) {
  out->push_back(Refuses(
      Binary("reversed_seller", {Reverse("seller_id"), Newest(), Order()}),
      "reverse"));
  out->push_back(Refuses(
      Text("reversed_seller", {Reverse("seller_id"), NewestText(), Order()}),
      "reverse"));
  out->push_back(
      Refuses(WithSellerIndex(Binary("reversed_order", {Reverse("order_id")},
                                     Ends::kRowKey)),
              "order_id"));
  out->push_back(
      Refuses(WithSellerIndex(
                  Text("reversed_order", {Reverse("order_id")}, Ends::kRowKey)),
              "order_id"));
}

void AddSalted(std::vector<Scheme>* out) {
  out->push_back(ServesSellers(
      Binary("salt_seller", {Salt(16), Seller(), Newest(), Order()})));
  out->push_back(
      ServesSellers(Text("salt_seller", {Salt(16).Width(2), Seller().Width(32),
                                         NewestText(), Order()})));
  out->push_back(
      Refuses(ByTime(WithSellerIndex(Binary(
                  "salt_time", {Salt(16), Newest(), Seller(), Order()}))),
              "ts_ms"));
  out->push_back(Refuses(
      ByTime(WithSellerIndex(Text("salt_time", {Salt(16).Width(2), NewestText(),
                                                Seller().Width(32), Order()}))),
      "ts_ms"));
}

void AddBuckets(std::vector<Scheme>* out) {
  for (const uint32_t count : {1, 7, 16, 256}) {
    out->push_back(Refuses(Binary(absl::StrCat("bucket_", count),
                                  {Bucket({"seller_id"}, v1::XXH3, count),
                                   Seller(), Newest(), Order()}),
                           "bucket(seller_id)"));
    const uint32_t width = count <= 100 ? 2 : 3;  // %02d, %03d
    out->push_back(Refuses(
        Text(absl::StrCat("bucket_", count, "_0", width, "d"),
             {Bucket({"seller_id"}, v1::JAVA_STRING, count).Width(width),
              Seller(), NewestText(), Order()}),
        "bucket(seller_id)"));
  }
}

void AddHashes(std::vector<Scheme>* out) {
  const std::pair<v1::HashAlgorithm, std::vector<uint32_t>> prefixes[] = {
      {v1::XXH3, {1, 4, 8}},     {v1::MURMUR3, {1, 2, 4}},
      {v1::MD5, {2, 4, 16}},     {v1::SHA1, {4, 20}},
      {v1::SHA256, {4, 32}},     {v1::CRC32, {2, 4}},
      {v1::JAVA_STRING, {2, 4}},
  };
  for (const auto& [algorithm, lengths] : prefixes) {
    for (const uint32_t bytes : lengths) {
      const std::string name = absl::StrCat(
          absl::AsciiStrToLower(v1::HashAlgorithm_Name(algorithm)), "_", bytes);
      const Part hash = Hash({"seller_id"}, algorithm, bytes);
      out->push_back(Refuses(Binary(name, {hash, Seller(), Newest(), Order()}),
                             "hash(seller_id)"));
      out->push_back(
          Refuses(Text(name, {hash, Seller(), NewestText(), Order()}),
                  "hash(seller_id)"));
    }
  }
  // The order alone: the place of an order follows from its id.
  out->push_back(Refuses(
      WithSellerIndex(Binary("order_hash", {Hash({"order_id"}), Order()})),
      "hash(order_id)"));
}

void AddComposites(std::vector<Scheme>* out) {
  // In BINARY a hash is of the id itself: it spreads as well.
  out->push_back(
      Refuses(Binary("composite", {Hash({"seller_id"}, v1::MD5, 2),
                                   Reverse("seller_id"), Newest(), Order()}),
              "hash(seller_id)"));
  out->push_back(
      Refuses(Text("composite", {Hash({"seller_id"}, v1::MD5, 2).ReverseInput(),
                                 Reverse("seller_id"), NewestText(), Order()}),
              "hash(seller_id)"));
  // A status in the key: a row moves when its status changes.
  out->push_back(Refuses(
      WithSellerIndex(
          Binary("region_category_time",
                 {Field("note"), Varint("status"), Newest(), Seller(), Order()},
                 Ends::kRowKey)),
      "note"));
  out->push_back(
      Refuses(WithSellerIndex(Text("region_category_time",
                                   {Field("note"), Field("status").Width(1),
                                    NewestText(), Seller(), Order()},
                                   Ends::kRowKey)),
              "note"));
}

void AddSubBuckets(const std::vector<std::string>& giants,
                   std::vector<Scheme>* out) {
  const Part sub = SubBucket("seller_id", giants, {"order_id"}, 8);
  const Part hash = Hash({"seller_id"});
  out->push_back(
      Refuses(Binary("sub_bucket", {hash, Seller(), sub, Newest(), Order()}),
              "hash(seller_id)"));
  // In front: a giant's orders lie in eight places of the key space.
  out->push_back(Refuses(
      Binary("sub_bucket_first", {sub, hash, Seller(), Newest(), Order()}),
      "sub_bucket(seller_id,order_id)"));
  out->push_back(
      Refuses(Text("sub_bucket", {hash, Seller(), sub, NewestText(), Order()}),
              "hash(seller_id)"));
  out->push_back(
      Refuses(Binary("salt_and_sub_bucket",
                     {Salt(4), hash, Seller(), sub, Newest(), Order()}),
              "hash(seller_id)"));
}

}  // namespace

std::vector<Scheme> AllSchemes(const std::vector<std::string>& giants) {
  std::vector<Scheme> schemes;
  AddPlain(&schemes);
  AddTime32(&schemes);
  AddReversed(&schemes);
  AddSalted(&schemes);
  AddBuckets(&schemes);
  AddHashes(&schemes);
  AddComposites(&schemes);
  AddSubBuckets(giants, &schemes);
  return schemes;
}

}  // namespace dovetail::test

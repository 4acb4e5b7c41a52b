// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Tokens of scans. The first byte chooses what the others are: the token, its
// content under a checksum that fits, a position, or the position at which a
// scan of a database goes on.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/coding.h"
#include "base/crc32c.h"
#include "base/strings.h"
#include "dovetail/engine.h"
#include "dovetail/presets.h"
#include "dovetail/v1/continuation.pb.h"
#include "dovetail/v1/order.pb.h"
#include "engine/continuation.h"
#include "tests/fuzz/require.h"

namespace dovetail::test {
namespace {

constexpr uint64_t kFingerprint = 0x0123456789abcdef;
constexpr uint32_t kStreams = 5;

std::string TokenOf(std::string content) {
  AppendBigEndian(Crc32c(content), 4, &content);
  return absl::WebSafeBase64Escape(content);
}

// Of any token: it is refused, or stands for a position that has a token.
void CheckToken(std::string_view token) {
  const auto position = DecodeContinuation(token, kFingerprint, kStreams);
  if (!position.ok()) {
    Require(absl::IsInvalidArgument(position.status()),
            position.status().ToString());
    return;
  }
  Require(position->stream < kStreams, "a stream that is not there");
  const auto again = DecodeContinuation(
      EncodeContinuation(kFingerprint, *position), kFingerprint, kStreams);
  Require(again.ok() && again->suffix == position->suffix &&
              again->stream == position->stream,
          "another position");
}

// Of any position: its token is read as it was written, by its own request
// alone, and not with a letter changed.
void CheckPosition(std::string_view bytes) {
  const auto first = static_cast<uint8_t>(bytes.empty() ? 0 : bytes[0]);
  const ScanPosition position = {std::string(bytes), first % kStreams};
  std::string token = EncodeContinuation(kFingerprint, position);
  const auto read = DecodeContinuation(token, kFingerprint, kStreams);
  Require(read.ok() && read->suffix == position.suffix &&
              read->stream == position.stream,
          "not what was written");
  Require(!DecodeContinuation(token, kFingerprint + 1, kStreams).ok(),
          "taken by another request");
  Require(!DecodeContinuation(token, kFingerprint, position.stream).ok(),
          "taken by a request of fewer streams");
  char& letter = token[first % token.size()];
  letter = letter == 'A' ? 'B' : 'A';
  Require(!DecodeContinuation(token, kFingerprint, kStreams).ok(),
          "taken with another letter");
}

ScanRequest OpenOrders() {
  ScanRequest request;
  request.table = "orders";
  request.index = "by_status";
  request.equal = {"seller"};
  request.any_of = {v1::CREATED, v1::APPROVED};
  request.limit = 3;
  return request;
}

// Of any position of a scan: what is returned are rows that the request asks
// for, and a page is not longer than its limit.
void CheckScan(std::string_view bytes) {
  static Engine* const engine = [] {
    Schema schema;
    schema.Add(presets::SellerOrders("orders"));
    auto opened = Engine::Open("memory", schema, {.in_memory = true});
    Require(opened.ok(), "no engine");
    WriteBatch batch;
    for (int i = 0; i < 24; ++i) {
      v1::Order order;
      order.set_order_id(absl::StrCat("order-", i));
      order.set_seller_id(i % 3 == 0 ? "another" : "seller");
      order.set_ts_ms(i / 2);
      order.set_status(static_cast<v1::OrderStatus>(i % 4));
      batch.Put("orders", order.SerializeAsString());
    }
    Require((*opened)->Write({}, batch).ok(), "no rows");
    return opened->release();
  }();
  static const auto* const real = [] {
    const auto page = engine->Scan({}, OpenOrders());
    Require(page.ok() && !page->continuation.empty(), "no second page");
    std::string content;
    absl::WebSafeBase64Unescape(page->continuation, &content);
    auto* parsed = new v1::Continuation();
    Require(parsed->ParseFromString(content.substr(0, content.size() - 4)),
            "no continuation");
    return parsed;
  }();

  v1::Continuation forged = *real;
  const auto first = static_cast<uint8_t>(bytes.empty() ? 0 : bytes[0]);
  bytes.remove_prefix(std::min<size_t>(bytes.size(), 1));
  if (first % 2 == 0) {
    forged.set_position(std::string(bytes));
  } else {  // A few bytes of a real one.
    std::string* position = forged.mutable_position();
    for (size_t i = 0; i < bytes.size() && i < position->size(); ++i) {
      (*position)[position->size() - 1 - i] ^= bytes[i];
    }
  }
  forged.set_stream(first / 2 % 3);
  ScanRequest request = OpenOrders();
  request.continuation = TokenOf(forged.SerializeAsString());
  const auto page = engine->Scan({}, request);
  if (!page.ok()) {
    Require(absl::IsInvalidArgument(page.status()), page.status().ToString());
    return;
  }
  Require(page->rows.size() <= request.limit, "a page over its limit");
  for (const Row& row : page->rows) {
    v1::Order order;
    Require(
        order.ParseFromString(row.record) && order.seller_id() == "seller" &&
            (order.status() == v1::CREATED || order.status() == v1::APPROVED),
        "a row that was not asked for");
  }
}

}  // namespace
}  // namespace dovetail::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1),
                               size - 1);
  switch (data[0] % 4) {
    case 0:
      dovetail::test::CheckToken(bytes);
      break;
    case 1:
      dovetail::test::CheckToken(dovetail::test::TokenOf(std::string(bytes)));
      break;
    case 2:
      dovetail::test::CheckPosition(bytes);
      break;
    default:
      dovetail::test::CheckScan(bytes);
  }
  return 0;
}

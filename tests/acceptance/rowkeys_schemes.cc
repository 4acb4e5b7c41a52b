// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Every row-key scheme, declared as a schema, on the Olist orders.
//
//   rowkeys_schemes [--orders N] [--only SCHEME]
//
// Each is loaded, changed and asked: an order by its id, a seller's newest
// with paging, its newest in a status, ad hoc queries, ranges over sellers.
// Answers equal an oracle's or the request is refused with its reason. Then
// what went wrong elsewhere with keys, under every scheme. Prints the mean
// length of a scheme's keys, without what the store puts in front of them.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "tests/acceptance/rowkeys_schemes.h"
#include "tests/support/data.h"

namespace dovetail::test {
namespace {

constexpr size_t kGiants = 3;

int Run(size_t orders, std::string_view only) {
  Checks checks("rowkeys-schemes");
  const auto chosen = [only](std::string_view name) {
    return only.empty() || only == name;
  };
  CheckCases(AllSchemes({"giant"}), &checks);
  if (!HasSharedData("olist/orders.csv.xz")) {
    std::printf(
        "rowkeys-schemes: no data set %s, so the schemes are not compared on "
        "it; set DOVETAIL_SHARED_DATA\n",
        SharedData("olist/orders.csv.xz").c_str());
    return checks.Finish();
  }
  OrderBook book;
  if (!checks.Ok(book.LoadOlist(orders), "read the orders")) {
    return checks.Finish();
  }
  std::printf("%zu orders of %zu sellers\n", book.all().size(),
              book.sellers().size());
  const std::vector<std::string> giants(book.sellers().begin(),
                                        book.sellers().begin() + kGiants);
  for (const Scheme& scheme : AllSchemes(giants)) {
    if (chosen(scheme.name)) CheckScheme(scheme, book, &checks);
  }
  if (chosen("giant_table")) CheckGiantTable(book, &checks);
  return checks.Finish();
}

}  // namespace
}  // namespace dovetail::test

int main(int argc, char** argv) {
  size_t orders = SIZE_MAX;
  std::string_view only;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (i + 1 == argc ||
        !(flag == "--only" ||
          (flag == "--orders" && absl::SimpleAtoi(argv[i + 1], &orders)))) {
      std::fprintf(stderr,
                   "usage: rowkeys_schemes [--orders N] [--only SCHEME]\n");
      return 2;
    }
    if (flag == "--only") only = argv[i + 1];
  }
  return dovetail::test::Run(orders, only);
}

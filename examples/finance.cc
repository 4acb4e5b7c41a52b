// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Customers pay a merchant; each transfer is two entries in one commit.
//
//   finance DIRECTORY

#include "finance.h"

#include <cinttypes>
#include <cstdio>

namespace {

using dovetail::v1::AccountEntry;
using finance::Account;

absl::Status Run(const char* directory) {
  dovetail::Schema schema;
  schema.Add(dovetail::presets::AccountEntries());
  auto engine = dovetail::Engine::Open(directory, schema);
  if (!engine.ok()) return engine.status();
  auto ledger = finance::Ledger::Bind(engine->get());
  if (!ledger.ok()) return ledger.status();

  const Account ann = {AccountEntry::CUSTOMER, "ann"};
  const Account shop = {AccountEntry::MERCHANT, "shop"};
  for (int i = 1; i <= 5; ++i) {
    const finance::Transfer payment = {.id = "t-" + std::to_string(i),
                                       .from = ann,
                                       .to = shop,
                                       .cents = 100 * i,
                                       .ts_ms = 1'700'000'000'000 + i};
    if (auto booked = ledger->Book(payment); !booked.ok()) return booked;
    if (i != 3) continue;
    const absl::Status again = ledger->Book(payment);
    std::printf("booked again: %s\n",
                absl::StatusCodeToString(again.code()).c_str());
  }

  auto balance = ledger->Balance(shop);
  auto owed = ledger->Balance(ann);
  auto total = ledger->Total();
  auto statement = ledger->Statement(shop, 3);
  auto both = ledger->OfTransfer("t-2");
  if (!balance.ok()) return balance.status();
  if (!owed.ok()) return owed.status();
  if (!total.ok()) return total.status();
  if (!statement.ok()) return statement.status();
  if (!both.ok()) return both.status();
  std::printf("shop has %" PRId64 ", ann %" PRId64 ", together %" PRId64 "\n",
              *balance, *owed, *total);
  for (const AccountEntry& entry : statement->records) {
    std::printf("shop: %s %" PRId64 "\n", entry.entry_id().c_str(),
                entry.amount_cents());
  }
  for (const AccountEntry& entry : *both) {
    std::printf("t-2: %s %" PRId64 "\n", entry.account().c_str(),
                entry.amount_cents());
  }
  return (*engine)->Close();
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = Run(argc > 1 ? argv[1] : "finance.db");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

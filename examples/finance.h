// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A ledger. Row key: account_type hash(account) account ts(desc) entry_id, so
// that an account's statement is one range, newest first, and accounts of one
// type are spread by their hash. The balance is a SUM index: exact in every
// snapshot, and one point read.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/presets.h"
#include "dovetail/table.h"
#include "dovetail/v1/account.pb.h"

namespace finance {

using dovetail::v1::AccountEntry;
using Entries = dovetail::RecordPage<AccountEntry>;

struct Account {
  AccountEntry::AccountType type;
  std::string name;
};

struct Transfer {
  std::string id;
  Account from;
  Account to;
  int64_t cents = 0;
  std::string currency = "BRL";
  int64_t ts_ms = 0;
};

// Thread-safe; the engine must outlive it.
class Ledger {
 public:
  static absl::StatusOr<Ledger> Bind(dovetail::Engine* engine) {
    auto entries = dovetail::Table<AccountEntry>::Bind(engine, "entries");
    if (!entries.ok()) return entries.status();
    return Ledger(engine, *std::move(entries));
  }

  // Adds both entries of a transfer, or none. AlreadyExists if it was booked
  // before, so that a caller who does not know may book it again.
  absl::Status Book(const Transfer& transfer) {
    return Book(std::vector<Transfer>{transfer});
  }
  // All of them in one commit, or none.
  absl::Status Book(const std::vector<Transfer>& transfers) {
    dovetail::WriteBatch batch;
    for (const Transfer& t : transfers) {
      batch.Insert("entries", Entry(t, t.from, "out", -t.cents));
      batch.Insert("entries", Entry(t, t.to, "in", t.cents));
    }
    return engine_->Write({.sync = true}, std::move(batch)).status();
  }

  // Newest first; `continuation` is that of the page before.
  absl::StatusOr<Entries> Statement(
      const Account& account, uint64_t limit, dovetail::Range ts_ms = {},
      const std::string& continuation = {}) const {
    return entries_.Scan({.equal = {account.type, account.name},
                          .range = std::move(ts_ms),
                          .limit = limit,
                          .continuation = continuation});
  }

  absl::StatusOr<int64_t> Balance(const Account& account,
                                  const std::string& currency = "BRL",
                                  const dovetail::ReadOptions& o = {}) const {
    const auto totals = engine_->Aggregate(
        o, {.table = "entries",
            .index = "balances",
            .equal = {account.type, account.name, currency}});
    if (!totals.ok()) return totals.status();
    return static_cast<int64_t>(totals->sum);
  }
  // Of all accounts there are, by currency or not; of a ledger it is 0.
  absl::StatusOr<int64_t> Total(const dovetail::ReadOptions& o = {}) const {
    const auto totals =
        engine_->Aggregate(o, {.table = "entries", .index = "balances"});
    if (!totals.ok()) return totals.status();
    return static_cast<int64_t>(totals->sum);
  }

  // Both sides.
  absl::StatusOr<std::vector<AccountEntry>> OfTransfer(
      const std::string& id) const {
    return entries_.GetBy("by_transfer", {id});
  }

 private:
  Ledger(dovetail::Engine* engine, dovetail::Table<AccountEntry> entries)
      : engine_(engine), entries_(std::move(entries)) {}

  static std::string Entry(const Transfer& transfer, const Account& account,
                           const char* side, int64_t cents) {
    AccountEntry entry;
    entry.set_entry_id(transfer.id + "/" + side);
    entry.set_account_type(account.type);
    entry.set_account(account.name);
    entry.set_ts_ms(transfer.ts_ms);
    entry.set_amount_cents(cents);
    entry.set_currency(transfer.currency);
    entry.set_transfer_id(transfer.id);
    return entry.SerializeAsString();
  }

  dovetail::Engine* engine_;
  dovetail::Table<AccountEntry> entries_;
};

}  // namespace finance

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Ready observers: a guard over the moves of a status field, and an audit
// trail. Written against observer.h like any other; metrics.h has one more.
//
//   Schema schema;
//   schema.Add(presets::SellerOrders("orders")).Add(AuditTrail::Table());
//   auto guard = StatusGuard::Create(
//       schema, {.table = "orders", .field = "status", .initial =
//       {v1::CREATED},
//                .moves = {{v1::CREATED, {v1::APPROVED, v1::CANCELED}},
//                          {v1::APPROVED, {v1::SHIPPED}}}});
//   auto trail = AuditTrail::Create(schema, {.watch = {{.table = "orders"}}});
//   options.observers = {*guard, *trail};
//
// Both are made from the schema that the engine is opened with: it has the
// record types, and a table or a field that it lacks is an error here instead
// of a rule that never applies. Each may serve one engine at a time.
// docs/observers.md has guarantees and limits in one place.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/environment.h"
#include "dovetail/observer.h"
#include "dovetail/schema.h"
#include "dovetail/value.h"

namespace dovetail {

// Which moves the status field of a table may make. A status is a value of
// the field: of an enum also its name, "SHIPPED"; null where the field can be.
struct StatusRules {
  struct Move {
    Value from = {};
    std::vector<Value> to = {};
  };

  std::string table = {};
  std::string field = {};  // A path to an enum, an integer or a string.

  std::vector<Value> initial = {};  // In which a row may begin.
  // What may follow what. A row may always keep its status.
  std::vector<Move> moves = {};
  // In which a row may be deleted. Unset: in any.
  std::optional<std::vector<Value>> deletable = {};
  // A status that none of these lists names, such as one that a newer program
  // writes. Off: rows neither begin in one, nor move to or from one, and are
  // not deleted in one if `deletable` is set. On: they may.
  bool allow_unknown = false;

  // The fields that say which record a row is, such as its id. Two rows of
  // one request that agree in them are the same record for the rule below,
  // and vetoes name them. Empty: the row key.
  std::vector<std::string> identity = {};
  // A request that deletes a record (or takes its identity from it) and also
  // inserts it (or gives it to a row), in whatever order. Off: besides being
  // initial, the status inserted must be that of the row deleted, or follow it
  // by a declared move. On: it is an insert like any other.
  bool allow_rebirth = false;

  std::string name = {};  // Empty: status_guard_TABLE_FIELD.
  // Behind those observers whose additions should be guarded too.
  int32_t priority = 1000;
};

// Vetoes, with FailedPrecondition, every request that a rule forbids; the
// message names both statuses and the row. Judges each change by the images
// before and after it, so that put, patch, and a put that moves its row are
// one case, and sees additions of observers that run before it.
class StatusGuard : public Observer {
 public:
  // InvalidArgument: the schema lacks the table or the field, the field is of
  // another type, a status does not fit it, or `initial` is empty.
  static absl::StatusOr<std::shared_ptr<StatusGuard>> Create(
      const Schema& schema, StatusRules rules);
  ~StatusGuard() override;

  ObserverTraits traits() const override;
  absl::Status PrePut(HookContext& ctx, const RowChange& change) override;
  absl::Status PreDelete(HookContext& ctx, const RowChange& change) override;
  absl::Status PreBatchMutate(HookContext& ctx,
                              const std::vector<RowChange>& changes) override;

 private:
  class Impl;
  explicit StatusGuard(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

// What the program knows of a change beyond its bytes.
struct AuditNote {
  std::string who = {};
  std::string note = {};
};

struct AuditOptions {
  struct Watch {
    std::string table = {};
    // Empty: records keep the whole row before and after. Else only those of
    // these fields that changed (all of them, of an insert or a delete), as a
    // record in which no other field is set.
    std::vector<std::string> fields = {};
    // A string or integer field whose value the record is found by in the
    // index by_subject, wherever its row moves. Empty: none.
    std::string subject = {};
  };

  std::string table = "audit";  // Made by AuditTrail::Table.
  std::vector<Watch> watch = {};

  // Asked once for each change. An error refuses the request. Runs inside the
  // serial section on whichever thread leads the commit group, which is not
  // the writer's: a thread-local "current user" is somebody else's there, so
  // take the answer from the change. Null: no note.
  std::function<absl::StatusOr<AuditNote>(const RowChange&)> note = {};
  // Give it the engine's own, Options::clock. Must outlive the observer.
  // Null: the machine's.
  Clock* clock = nullptr;

  // Requests and other observers may delete records of the trail, to prune
  // it. They never may put or patch any.
  bool allow_deletes = false;

  std::string name = "audit_trail";
  // Behind those observers whose additions should be recorded too.
  int32_t priority = 2000;
};

// Adds one dovetail.v1.AuditRecord for each change of a watched row to the
// request's own commit: both are there or neither. Two for a row that moves;
// see MOVED_OUT in audit.proto.
//
//   engine->Scan({}, {.table = "audit", .equal = {"orders", row.key}})
//       the history of one row key, newest first
//
// The records count in Limits::request_mutations_max and request_bytes_max,
// and each is a record within record_bytes_max: a request that becomes too
// large with them is refused. With whole images, so is the replacement of
// rows over half of record_bytes_max.
class AuditTrail : public Observer {
 public:
  // The audit table.
  //   row key     table row_key sequence(desc) change(desc)
  //   by_time     time_us(desc) sequence(desc) change(desc)
  //   by_subject  unique: table subject sequence(desc) change(desc)
  static TableBuilder Table(std::string_view name = "audit");

  // InvalidArgument: the schema lacks a table or a field, a table is watched
  // twice, watches itself, or the audit table has other records.
  static absl::StatusOr<std::shared_ptr<AuditTrail>> Create(
      const Schema& schema, AuditOptions options);
  ~AuditTrail() override;

  ObserverTraits traits() const override;
  absl::Status PreBatchMutate(HookContext& ctx,
                              const std::vector<RowChange>& changes) override;

 private:
  class Impl;
  explicit AuditTrail(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace dovetail

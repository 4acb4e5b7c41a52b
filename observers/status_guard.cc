// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Changes of the caller's are judged one by one, in PrePut and PreDelete, so
// that a veto names the mutation. PreBatchMutate judges what these do not see:
// additions of observers, and records that come back in the request that
// deleted them. It looks at the request as a whole, since a record may come
// back before it goes:
//
//   each row deleted leaves its record's identity with a status;
//   each row inserted takes one;
//   an update that changes the identity does both.
//
// Of each identity, every status taken must follow from every status left. A
// request keeps its own sums only, so what it deleted is forgotten with it.

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/observers.h"
#include "observers/schema_lookup.h"
#include "observers/status_rules.h"

namespace dovetail {

using internal::CompiledStatusRules;
using Image = internal::CompiledStatusRules::Image;

class StatusGuard::Impl {
 public:
  Impl(StatusRules rules, CompiledStatusRules compiled)
      : rules_(std::move(rules)), compiled_(std::move(compiled)) {}

  const StatusRules& rules() const { return rules_; }
  bool Guards(const RowChange& change) const {
    return change.table == rules_.table;
  }

  absl::Status Judge(const RowChange& change) const;
  absl::Status JudgeRebirths(const std::vector<RowChange>& changes) const;

 private:
  // The statuses that one record's rows left and took in a request.
  struct Turnover {
    struct Step {
      Image image;
      const RowChange* change;
    };
    std::vector<Step> left;
    std::vector<Step> taken;
  };
  using Turnovers = absl::flat_hash_map<std::string, Turnover>;

  absl::Status Collect(const RowChange& change, Turnovers* turnovers) const;
  void Note(std::string identity, Image image, const RowChange& change,
            bool left, Turnovers* turnovers) const;
  // `from` or `to` is null where there is no row.
  absl::Status Veto(std::string_view what, const RowChange& change,
                    const Image* from, const Image* to) const;

  const StatusRules rules_;
  const CompiledStatusRules compiled_;
};

absl::Status StatusGuard::Impl::Veto(std::string_view what,
                                     const RowChange& change, const Image* from,
                                     const Image* to) const {
  const auto name = [this](const Image* image) {
    return image == nullptr ? "(no row)" : compiled_.NameOf(*image);
  };
  return absl::FailedPreconditionError(absl::StrCat(
      ToAbsl(what), ": from=", name(from), " to=", name(to),
      " table=", rules_.table, " field=", rules_.field,
      compiled_.DescribeIdentity(to != nullptr ? *to : *from),
      " row_key=", Quote(change.old_key),
      change.old_key == change.new_key
          ? ""
          : absl::StrCat(" new_row_key=", Quote(change.new_key)),
      change.added_by.empty()
          ? ""
          : absl::StrCat(" added_by_observer=", ToAbsl(change.added_by))));
}

absl::Status StatusGuard::Impl::Judge(const RowChange& change) const {
  Image from;
  Image to;
  if (change.old_record.has_value()) {
    ASSIGN_OR_RETURN(from, compiled_.Read(*change.old_record));
  }
  if (change.new_record.has_value()) {
    ASSIGN_OR_RETURN(to, compiled_.Read(*change.new_record));
  }
  if (!change.old_record.has_value()) {
    if (compiled_.MayBegin(to)) return absl::OkStatus();
    return Veto(to.declared < 0
                    ? "row may not begin in a status that the rules do not name"
                    : "row may not begin in this status",
                change, nullptr, &to);
  }
  if (!change.new_record.has_value()) {
    if (compiled_.MayEnd(from)) return absl::OkStatus();
    return Veto("row may not be deleted in this status", change, &from,
                nullptr);
  }
  if (compiled_.MayMove(from, to)) return absl::OkStatus();
  return Veto(compiled_.KnowsBoth(from, to)
                  ? "status may not change like this"
                  : "status may not change from or to one that the rules do "
                    "not name",
              change, &from, &to);
}

// Equal statuses are noted once, so that a request of many rows of one record
// costs what its distinct statuses do.
void StatusGuard::Impl::Note(std::string identity, Image image,
                             const RowChange& change, bool left,
                             Turnovers* turnovers) const {
  if (image.declared < 0 && compiled_.allow_unknown()) return;
  Turnover& turnover = (*turnovers)[std::move(identity)];
  std::vector<Turnover::Step>& steps = left ? turnover.left : turnover.taken;
  for (const Turnover::Step& step : steps) {
    if (step.image.status() == image.status()) return;
  }
  steps.push_back({std::move(image), &change});
}

absl::Status StatusGuard::Impl::Collect(const RowChange& change,
                                        Turnovers* turnovers) const {
  const bool both =
      change.old_record.has_value() && change.new_record.has_value();
  // A row that is its own identity keeps it when it moves.
  if (both && !compiled_.has_identity()) return absl::OkStatus();
  Image from;
  Image to;
  std::string old_identity(change.old_key);
  std::string new_identity(change.new_key);
  if (change.old_record.has_value()) {
    ASSIGN_OR_RETURN(from, compiled_.Read(*change.old_record));
    if (compiled_.has_identity()) old_identity = compiled_.IdentityOf(from);
  }
  if (change.new_record.has_value()) {
    ASSIGN_OR_RETURN(to, compiled_.Read(*change.new_record));
    if (compiled_.has_identity()) new_identity = compiled_.IdentityOf(to);
  }
  if (both && old_identity == new_identity) return absl::OkStatus();
  if (change.old_record.has_value()) {
    Note(std::move(old_identity), std::move(from), change, true, turnovers);
  }
  if (change.new_record.has_value()) {
    Note(std::move(new_identity), std::move(to), change, false, turnovers);
  }
  return absl::OkStatus();
}

absl::Status StatusGuard::Impl::JudgeRebirths(
    const std::vector<RowChange>& changes) const {
  Turnovers turnovers;
  for (const RowChange& change : changes) {
    if (Guards(change)) RETURN_IF_ERROR(Collect(change, &turnovers));
  }
  for (const auto& [identity, turnover] : turnovers) {
    for (const Turnover::Step& to : turnover.taken) {
      for (const Turnover::Step& from : turnover.left) {
        if (compiled_.MayMove(from.image, to.image)) continue;
        return Veto(
            "status may not change by deleting and inserting a record in one "
            "request",
            *to.change, &from.image, &to.image);
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<StatusGuard>> StatusGuard::Create(
    const Schema& schema, StatusRules rules) {
  ASSIGN_OR_RETURN(const RecordType record,
                   internal::RecordTypeOf(schema, rules.table));
  ASSIGN_OR_RETURN(CompiledStatusRules compiled,
                   CompiledStatusRules::Compile(*record.descriptor, rules));
  if (rules.name.empty()) {
    rules.name = absl::StrCat("status_guard_", rules.table, "_", rules.field);
  }
  return std::shared_ptr<StatusGuard>(new StatusGuard(
      std::make_unique<const Impl>(std::move(rules), std::move(compiled))));
}

StatusGuard::StatusGuard(std::unique_ptr<const Impl> impl)
    : impl_(std::move(impl)) {}

StatusGuard::~StatusGuard() = default;

ObserverTraits StatusGuard::traits() const {
  ObserverTraits traits;
  traits.name = impl_->rules().name;
  traits.hooks = kPrePut | kPreDelete | kPreBatchMutate;
  traits.priority = impl_->rules().priority;
  return traits;
}

absl::Status StatusGuard::PrePut(HookContext&, const RowChange& change) {
  return impl_->Guards(change) ? impl_->Judge(change) : absl::OkStatus();
}

absl::Status StatusGuard::PreDelete(HookContext&, const RowChange& change) {
  return impl_->Guards(change) ? impl_->Judge(change) : absl::OkStatus();
}

absl::Status StatusGuard::PreBatchMutate(
    HookContext&, const std::vector<RowChange>& changes) {
  size_t guarded = 0;
  for (const RowChange& change : changes) {
    if (!impl_->Guards(change)) continue;
    ++guarded;
    if (!change.added_by.empty()) RETURN_IF_ERROR(impl_->Judge(change));
  }
  // It takes two changes to go and to come back.
  if (guarded < 2 || impl_->rules().allow_rebirth) return absl::OkStatus();
  return impl_->JudgeRebirths(changes);
}

}  // namespace dovetail

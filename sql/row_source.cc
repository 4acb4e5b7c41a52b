// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A scan of the engine is one call that shows row after row; SQLite asks for
// one row after the other. So rows are read in pages, each with the
// continuation of the one before. Pages grow, so that a statement that stops
// early reads little, and a long one seeks seldom.

#include "sql/row_source.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dovetail::sql {
namespace {

constexpr uint64_t kFirstPageRows = 32;
constexpr uint64_t kPageRowsMax = 2048;
constexpr size_t kPageBytesMax = 1 << 20;
constexpr uint64_t kSortBytesMax = 64 << 20;

std::vector<Value> ValuesOf(const std::vector<Operand>& operands) {
  std::vector<Value> values;
  for (const Operand& operand : operands) values.push_back(operand.value);
  return values;
}

bool IsBound(const Operand& operand) {
  return operand.kind == Operand::Kind::kBound;
}

// nullopt if neither end is a bound.
std::optional<Range> RangeOf(const Operand& min, const Operand& max) {
  if (!IsBound(min) && !IsBound(max)) return std::nullopt;
  Range range;
  if (IsBound(min)) {
    range.min = min.value;
    range.min_inclusive = min.inclusive;
  }
  if (IsBound(max)) {
    range.max = max.value;
    range.max_inclusive = max.inclusive;
  }
  return range;
}

Filter EqualTo(const std::string& field, const Value& value) {
  return value.is_null() ? Filter::IsNull(field) : Filter::Equal(field, value);
}

void AddWork(const Work& work, PlanWork* sum) {
  sum->seeks += work.seeks;
  sum->entries += work.entries;
  sum->gets += work.gets;
  ++sum->pages;
}

}  // namespace

absl::Status RowSource::Start(const ScanPlan& plan, Bounds bounds) {
  requests_.clear();
  query_.reset();
  ClearPage();
  ++work_.scans;
  if (bounds.nothing || (bounds.any_of && bounds.any_of->empty())) {
    return absl::OkStatus();
  }
  page_rows_ =
      bounds.limit == 0 ? kFirstPageRows : std::min(bounds.limit, kPageRowsMax);
  if (!MakeQuery(plan, bounds)) MakeRequests(plan, std::move(bounds));
  return ReadPage();
}

// Where the plan's order depends on a value that turns out to be no bound, or
// on more values than one scan merges: a query sorts in memory instead.
bool RowSource::MakeQuery(const ScanPlan& plan, const Bounds& bounds) {
  const AccessPath& path = source_.paths[plan.path];
  if (!path.query_only && (!plan.ordered || !source_.group_index.empty())) {
    return false;
  }
  const uint64_t streams_max =
      source_.engine->limits().merge_streams_max / path.spread;
  bool scan = !path.query_only &&
              std::all_of(bounds.equal.begin(), bounds.equal.end(), IsBound);
  if (bounds.any_of.has_value()) {
    scan &=
        std::all_of(bounds.any_of->begin(), bounds.any_of->end(), IsBound) &&
        bounds.any_of->size() <= streams_max;
  }
  if (scan) return false;
  Query query(source_.table->name());
  const auto field = [&](int column) {
    return source_.columns[static_cast<size_t>(column)].path;
  };
  for (size_t i = 0; i < bounds.equal.size(); ++i) {
    if (!IsBound(bounds.equal[i])) continue;
    query.Where(EqualTo(field(path.columns[i]), bounds.equal[i].value));
  }
  for (const OrderTerm& term : plan.order) {
    query.OrderBy(field(term.column),
                  term.descending ? Query::kDescending : Query::kAscending);
  }
  query.AllowFullScan().AllowSort(kSortBytesMax);
  query_ = std::move(query);
  return true;
}

void RowSource::MakeRequests(const ScanPlan& plan, Bounds bounds) {
  const AccessPath& path = source_.paths[plan.path];
  ScanRequest request;
  request.table = source_.table->name();
  request.index = path.index;
  request.covered = plan.covered;
  // Behind a value that is no bound nothing can be bound.
  size_t equal = 0;
  while (equal < bounds.equal.size() && IsBound(bounds.equal[equal])) ++equal;
  const bool whole = equal == bounds.equal.size();
  const bool listed =
      bounds.any_of.has_value() && whole &&
      std::all_of(bounds.any_of->begin(), bounds.any_of->end(), IsBound);
  // Together with the values of the list the plan has seen to it.
  while (!listed && !path.CanBind(equal)) --equal;
  bounds.equal.resize(equal);
  request.equal = ValuesOf(bounds.equal);
  if (whole && listed == bounds.any_of.has_value()) {
    request.range = RangeOf(bounds.min, bounds.max);
  }
  if (!listed) {
    requests_.push_back(std::move(request));
    return;
  }
  const std::vector<Value> all = ValuesOf(*bounds.any_of);
  const size_t chunk = std::max<size_t>(
      1, source_.engine->limits().merge_streams_max / path.spread);
  for (size_t from = 0; from < all.size(); from += chunk) {
    const size_t to = std::min(all.size(), from + chunk);
    request.any_of.assign(all.begin() + static_cast<std::ptrdiff_t>(from),
                          all.begin() + static_cast<std::ptrdiff_t>(to));
    requests_.push_back(request);
  }
}

absl::StatusOr<bool> RowSource::Accepts(ScanRequest request) {
  request.limit = 0;  // Checked, and not read.
  const absl::Status status =
      source_.group_index.empty()
          ? source_.engine
                ->ForEach(read_, request, [](const RowView&) { return true; })
                .status()
          : source_.engine
                ->ForEachGroup(read_, request,
                               [](const Group&) { return true; })
                .status();
  if (absl::IsInvalidArgument(status)) return false;
  RETURN_IF_ERROR(status);
  return true;
}

// No row has a value that its own key refuses, so such a value is left out of
// a list, and of a range it is no bound. What is refused without any values is
// refused for another reason.
absl::Status RowSource::DropRefused(const absl::Status& refused,
                                    ScanRequest* request, bool* nothing) {
  ScanRequest bare = *request;
  bare.equal.clear();
  bare.any_of.clear();
  bare.range.reset();
  ASSIGN_OR_RETURN(const bool readable, Accepts(bare));
  if (!readable) return refused;
  if (request->range.has_value()) {
    request->range.reset();
    return absl::OkStatus();
  }
  std::vector<Value> accepted;
  for (const Value& value : request->any_of) {
    ScanRequest one = *request;
    one.any_of = {value};
    ASSIGN_OR_RETURN(const bool fits, Accepts(one));
    if (fits) accepted.push_back(value);
  }
  *nothing = accepted.empty();
  if (!*nothing && accepted.size() == request->any_of.size()) return refused;
  request->any_of = std::move(accepted);
  return absl::OkStatus();
}

void RowSource::ClearPage() {
  at_ = 0;
  rows_.clear();
  bytes_.clear();
  groups_.clear();
}

RowView RowSource::row() const {
  const Place& place = rows_[at_];
  const std::string_view bytes = bytes_;
  return {bytes.substr(place.key, place.record - place.key),
          bytes.substr(place.record, place.end - place.record), place.version};
}

bool RowSource::Keep(const RowView& row) {
  Place place;
  place.key = bytes_.size();
  bytes_ += row.key;
  place.record = bytes_.size();
  bytes_ += row.record;
  place.end = bytes_.size();
  place.version = row.version;
  rows_.push_back(place);
  return bytes_.size() < kPageBytesMax;
}

absl::Status RowSource::Next() {
  ++at_;
  return Valid() ? absl::OkStatus() : ReadPage();
}

absl::Status RowSource::ReadPage() {
  ClearPage();
  while (count() == 0 && (!requests_.empty() || query_.has_value())) {
    if (query_.has_value()) {
      RETURN_IF_ERROR(ReadQuery());
      continue;
    }
    ScanRequest& request = requests_.front();
    request.limit = page_rows_;
    absl::Status read =
        source_.group_index.empty() ? ReadRows(&request) : ReadGroups(&request);
    if (absl::IsInvalidArgument(read) && request.continuation.empty()) {
      bool nothing = false;
      RETURN_IF_ERROR(DropRefused(read, &request, &nothing));
      if (nothing) requests_.pop_front();
      continue;
    }
    RETURN_IF_ERROR(read);
    if (request.continuation.empty()) requests_.pop_front();
  }
  page_rows_ = std::min(page_rows_ * 2, kPageRowsMax);
  work_.rows += count();
  return absl::OkStatus();
}

absl::Status RowSource::ReadRows(ScanRequest* request) {
  ASSIGN_OR_RETURN(
      ScanEnd end,
      source_.engine->ForEach(read_, *request,
                              [&](const RowView& row) { return Keep(row); }));
  AddWork(end.work, &work_);
  request->continuation = std::move(end.continuation);
  return absl::OkStatus();
}

absl::Status RowSource::ReadGroups(ScanRequest* request) {
  ASSIGN_OR_RETURN(ScanEnd end, source_.engine->ForEachGroup(
                                    read_, *request, [&](const Group& group) {
                                      groups_.push_back(group);
                                      return true;
                                    }));
  AddWork(end.work, &work_);
  request->continuation = std::move(end.continuation);
  return absl::OkStatus();
}

absl::Status RowSource::ReadQuery() {
  query_->Limit(kPageRowsMax);
  ASSIGN_OR_RETURN(
      const QueryEnd end,
      source_.engine->ForEach(read_, *query_,
                              [&](const RowView& row) { return Keep(row); }));
  AddWork(end.work, &work_);
  if (end.continuation.empty()) {
    query_.reset();
  } else {
    query_->Continuation(end.continuation);
  }
  return absl::OkStatus();
}

}  // namespace dovetail::sql

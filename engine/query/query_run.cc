// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/query/query_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail {
namespace {

// Steps between looks at the clock.
constexpr uint64_t kStepsPerLook = 16;

}  // namespace

QueryRun::QueryRun(Input input)
    : in_(std::move(input)),
      query_(*in_.query),
      plan_(*in_.plan),
      fetcher_(*in_.state, *in_.table) {
  for (const PlanRead& read : plan_.reads) {
    covered_.emplace_back(*in_.table, read.access.index);
  }
}

absl::StatusOr<RunEnd> QueryRun::Run(RowVisitor visit) {
  const v1::Query& proto = *query_.proto;
  if (!proto.select().empty()) {
    ASSIGN_OR_RETURN(
        projection_,
        Projection::Compile(in_.table->compiled->record_type(),
                            {proto.select().begin(), proto.select().end()}));
  }
  if (proto.budget().has_micros()) {
    const auto micros = static_cast<int64_t>(
        std::min<uint64_t>(proto.budget().micros(), INT64_MAX / 2));
    deadline_micros_ = in_.clock->MonotonicMicros() + micros;
  }
  if (plan_.shape.sort) {
    RETURN_IF_ERROR(RunSorting(visit));
  } else if (proto.read_ahead() > 1) {
    RETURN_IF_ERROR(RunAhead(visit));
  } else {
    RETURN_IF_ERROR(RunStreaming(visit));
  }
  return std::move(end_);
}

bool QueryRun::Exhausted() {
  const v1::QueryBudget& budget = query_.proto->budget();
  const QueryWork& work = end_.work;
  const auto reached = [&](StopReason reason) {
    end_.stop = reason;
    return true;
  };
  if (budget.has_rows() && work.rows >= budget.rows()) {
    return reached(StopReason::kRows);
  }
  if (budget.has_entries() && work.entries >= budget.entries()) {
    return reached(StopReason::kEntries);
  }
  if (work.bytes >= in_.bytes_max ||
      (budget.has_bytes() && work.bytes >= budget.bytes())) {
    return reached(StopReason::kBytes);
  }
  if (budget.has_micros() && steps_++ % kStepsPerLook == 0 &&
      in_.clock->MonotonicMicros() >= deadline_micros_) {
    return reached(StopReason::kTime);
  }
  return false;
}

absl::StatusOr<bool> QueryRun::EntryMatches(ReadStream& read) const {
  const Access& access = read.read().access;
  if (access.tests.empty()) return true;
  std::string_view rest = read.key();
  size_t part = 0;
  for (const EntryTest& test : access.tests) {
    // Tests of parts further in front begin anew.
    if (test.part < part) {
      rest = read.key();
      part = 0;
    }
    std::string_view bytes;
    for (; part <= test.part; ++part) {
      ASSIGN_OR_RETURN(bytes, ConsumeKeyPart(*access.entry_parts[part], &rest));
    }
    const KeyPart& at = *access.entry_parts[test.part];
    ASSIGN_OR_RETURN(const Value value, DecodeKeyPart(at, bytes));
    ASSIGN_OR_RETURN(const FieldValue field, ToFieldValue(value, at.type()));
    if (!test.set.Contains(at.type(), field)) return false;
  }
  return true;
}

absl::StatusOr<RowView> QueryRun::Fetch(const PlanRead& read,
                                        std::string_view key,
                                        std::string_view value) {
  ++end_.work.rows;
  if (read.access.index < 0) return ViewRow(*in_.table, key, value);
  if (read.covering) {
    return covered_[static_cast<size_t>(&read - plan_.reads.data())].Of(key,
                                                                        value);
  }
  return fetcher_.Fetch(read.access.index, key, value, &end_.work);
}

absl::StatusOr<bool> QueryRun::RowMatches(const RowView& row,
                                          const QueryPlace& place) {
  const bool first_branch = plan_.branches.empty() || place.branch == 0;
  if (!plan_.filter && first_branch) return true;
  RETURN_IF_ERROR(ReadFields(*in_.table->compiled, query_, row.record,
                             &scratch_, &values_));
  const auto holds = [this](const Conjunction& c) {
    return Holds(c, query_.fields, values_);
  };
  if (!plan_.branches.empty()) {
    // What another branch has is not for this one to return.
    const auto own = plan_.branches.begin() + place.branch;
    return holds(*own) && std::none_of(plan_.branches.begin(), own, holds);
  }
  const Predicate& where = in_.where != nullptr ? *in_.where : query_.where;
  if (!Holds(where, query_.fields, values_)) return false;
  // A read of a union takes for granted what its own branch fixes of the
  // order. A row of another branch that it comes across stands elsewhere.
  return plan_.shape.kind != Plan::Kind::kUnion || !plan_.ordered ||
         OrderKey() == place.row.order_key;
}

// Of the row whose fields were read last.
std::string QueryRun::OrderKey() const {
  std::string key;
  for (const OrderField& field : query_.order) {
    AppendSortKey(field.sort, values_[field.slot], &key);
  }
  return key;
}

// The place of the stream's row, where RowMatches looks at it.
QueryPlace QueryRun::PlaceToMatch(RowStream& stream) const {
  return plan_.shape.kind == Plan::Kind::kUnion ? stream.place() : QueryPlace();
}

absl::StatusOr<bool> QueryRun::Return(const RowView& row, RowVisitor visit) {
  RowView out = row;
  if (projection_.has_value()) {
    RETURN_IF_ERROR(projection_->Apply(row.record, &projected_));
    out.record = projected_;
    out.version = SequenceNumber{};
  }
  ++end_.rows_returned;
  end_.work.bytes += out.key.size() + out.record.size() + sizeof(Row);
  if (!visit(out)) {
    end_.stop = StopReason::kVisitor;
    return false;
  }
  if (end_.rows_returned < query_.limit) return true;
  end_.stop = StopReason::kLimit;
  return false;
}

void QueryRun::StopBehind(QueryPlace place, RowStream* stream) {
  place.exclusive = true;
  stream->Next();
  if (stream->Valid() || stream->paused().has_value()) {
    end_.place = std::move(place);
  } else {
    end_.stop = StopReason::kEnd;
  }
}

absl::Status QueryRun::RunStreaming(RowVisitor visit) {
  const auto stream = MakeRowStream(*in_.state, *in_.table, plan_, &end_.work,
                                    [this] { return Exhausted(); });
  stream->Start(in_.from.has_value() ? &*in_.from : nullptr);
  for (bool first = true; stream->Valid(); first = false) {
    if (!first && Exhausted()) {
      end_.place = stream->place();
      return stream->status();
    }
    ReadStream& read = stream->current();
    ASSIGN_OR_RETURN(bool matches, EntryMatches(read));
    if (matches) {
      ASSIGN_OR_RETURN(const RowView row,
                       Fetch(read.read(), read.key(), read.value()));
      ASSIGN_OR_RETURN(matches, RowMatches(row, PlaceToMatch(*stream)));
      if (matches) {
        ASSIGN_OR_RETURN(const bool more, Return(row, visit));
        if (!more) {
          StopBehind(stream->place(), stream.get());
          return stream->status();
        }
      }
    }
    stream->Next();
  }
  RETURN_IF_ERROR(stream->status());
  end_.place = stream->paused();
  if (!end_.place.has_value()) end_.stop = StopReason::kEnd;
  return absl::OkStatus();
}

// Copies up to a batch of entries that may match. Stops, with a place, where
// the budget does.
absl::Status QueryRun::FillAhead(RowStream* stream, std::vector<Ahead>* ahead,
                                 bool* stopped) {
  const size_t wanted = std::min<uint64_t>(
      query_.proto->read_ahead(),
      plan_.filter ? kReadAheadMax : query_.limit - end_.rows_returned);
  ahead->clear();
  while (stream->Valid() && ahead->size() < wanted) {
    if (steps_++ > 0 && Exhausted()) {
      end_.place = stream->place();
      *stopped = true;
      return stream->status();
    }
    ReadStream& read = stream->current();
    ASSIGN_OR_RETURN(const bool matches, EntryMatches(read));
    if (matches) {
      Ahead entry;
      entry.place = stream->place();
      entry.read = &read.read();
      entry.key = std::string(read.key());
      entry.value = std::string(read.value());
      entry.row_key = entry.key;
      if (const int at = entry.read->access.index; at >= 0) {
        const auto& index =
            in_.table->compiled->indexes()[static_cast<size_t>(at)];
        const absl::Status decoded =
            index.RowKeyOf(entry.key, entry.value, &entry.row_key);
        if (!decoded.ok()) {
          return EntryWithoutRow(*in_.table, at, entry.key, decoded);
        }
      }
      ahead->push_back(std::move(entry));
    }
    stream->Next();
  }
  return stream->status();
}

absl::Status QueryRun::FetchAhead(std::vector<Ahead>* ahead) {
  std::vector<Ahead*> by_row_key;
  for (Ahead& entry : *ahead) by_row_key.push_back(&entry);
  std::sort(
      by_row_key.begin(), by_row_key.end(),
      [](const Ahead* a, const Ahead* b) { return a->row_key < b->row_key; });
  for (Ahead* entry : by_row_key) {
    ASSIGN_OR_RETURN(const RowView row,
                     Fetch(*entry->read, entry->key, entry->value));
    ASSIGN_OR_RETURN(entry->matches, RowMatches(row, entry->place));
    if (!entry->matches) continue;
    entry->row = std::string(row.record);
    entry->version = row.version;
  }
  return absl::OkStatus();
}

absl::Status QueryRun::RunAhead(RowVisitor visit) {
  const auto stream = MakeRowStream(*in_.state, *in_.table, plan_, &end_.work,
                                    [this] { return Exhausted(); });
  stream->Start(in_.from.has_value() ? &*in_.from : nullptr);
  std::vector<Ahead> ahead;
  bool stopped = false;
  while (!stopped && stream->Valid()) {
    RETURN_IF_ERROR(FillAhead(stream.get(), &ahead, &stopped));
    RETURN_IF_ERROR(FetchAhead(&ahead));
    for (size_t i = 0; i < ahead.size(); ++i) {
      if (!ahead[i].matches) continue;
      ASSIGN_OR_RETURN(
          const bool more,
          Return({ahead[i].row_key, ahead[i].row, ahead[i].version}, visit));
      const bool full = more && end_.work.bytes >= in_.bytes_max;
      if (full) end_.stop = StopReason::kBytes;
      if (more && !full) continue;
      const bool last = i + 1 == ahead.size() && !stopped && !stream->Valid() &&
                        !stream->paused().has_value();
      if (last) {
        end_.stop = StopReason::kEnd;
        return absl::OkStatus();
      }
      end_.place = std::move(ahead[i].place);
      end_.place->exclusive = true;
      return absl::OkStatus();
    }
  }
  RETURN_IF_ERROR(stream->status());
  if (stopped) return absl::OkStatus();
  end_.place = stream->paused();
  if (!end_.place.has_value()) end_.stop = StopReason::kEnd;
  return absl::OkStatus();
}

absl::StatusOr<RowPlace> QueryRun::SortPlace(const RowView& row) {
  RETURN_IF_ERROR(ReadFields(*in_.table->compiled, query_, row.record,
                             &scratch_, &values_));
  RowPlace place;
  place.order_key = OrderKey();
  place.row_key = std::string(row.key);
  return place;
}

absl::Status QueryRun::RunSorting(RowVisitor visit) {
  const auto stream = MakeRowStream(*in_.state, *in_.table, plan_, &end_.work,
                                    [] { return false; });
  stream->Start(nullptr);
  Sorter sorter(query_.limit, query_.proto->sort_bytes_max());
  for (; stream->Valid(); stream->Next()) {
    if (Exhausted()) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the budget ended before the sort had read its input; raise it, or "
          "add an index that has the order: budget=",
          ToAbsl(StopReasonName(end_.stop)),
          " entries_read=", end_.work.entries));
    }
    ReadStream& read = stream->current();
    ASSIGN_OR_RETURN(bool matches, EntryMatches(read));
    if (!matches) continue;
    ASSIGN_OR_RETURN(const RowView row,
                     Fetch(read.read(), read.key(), read.value()));
    ASSIGN_OR_RETURN(matches, RowMatches(row, PlaceToMatch(*stream)));
    if (!matches) continue;
    ASSIGN_OR_RETURN(RowPlace place, SortPlace(row));
    if (in_.from.has_value()) {
      const auto order = place <=> in_.from->row;
      if (order < 0 || (order == 0 && in_.from->exclusive)) continue;
    }
    sorter.Add(std::move(place), row);
  }
  RETURN_IF_ERROR(stream->status());

  uint64_t left = sorter.rows().size();
  for (const auto& [place, row] : sorter.rows()) {
    --left;
    ASSIGN_OR_RETURN(const bool more,
                     Return({place.row_key, row.first, row.second}, visit));
    const bool full = end_.work.bytes >= in_.bytes_max;
    if (more && !full && left > 0) continue;
    if (left == 0 && !sorter.left_out()) break;
    if (more) end_.stop = StopReason::kBytes;  // Of the page or of the sort.
    end_.place = QueryPlace{place, 0, true};
    return absl::OkStatus();
  }
  end_.stop = StopReason::kEnd;
  return absl::OkStatus();
}

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/query/query_service.h"

#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/query/query_run.h"
#include "engine/query/query_token.h"
#include "engine/query/statistics.h"
#include "index/query/checked_query.h"
#include "index/query/explain.h"
#include "index/query/normal_form.h"
#include "index/query/planner.h"

namespace dovetail {
namespace {

absl::Status InTable(std::string_view table, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), " table=", ToAbsl(table)));
}

std::vector<bool> ReadableIndexes(const TableState& table) {
  std::vector<bool> readable;
  for (size_t i = 0; i < table.indexes.size(); ++i) {
    readable.push_back(table.state(i) == v1::INDEX_READABLE);
  }
  return readable;
}

}  // namespace

// A page behind the first has a place, and is hardly asked for twice.
absl::StatusOr<QueryService::Runnable> QueryService::Prepare(
    const v1::Query& query) const {
  Runnable out;
  const bool kept = cache_ != nullptr && query.continuation().empty() &&
                    QueryPlanCache::Takes(query.ByteSizeLong());
  if (!kept) {
    ASSIGN_OR_RETURN(out.prepared, MakePrepared(query, /*copy=*/false));
    return out;
  }
  std::string key;
  query.AppendToString(&key);
  std::optional<std::string> shape = ShapeOf(query, key);
  key.push_back('q');
  out.prepared = cache_->Find(key, state_.schema);
  if (out.prepared != nullptr) return out;
  if (shape.has_value()) {
    shape->push_back('s');
    out.prepared = cache_->Find(*shape, state_.schema);
    if (out.prepared != nullptr && out.prepared->for_others.has_value()) {
      out.bound = out.prepared->for_others->Bind(query);
      if (out.bound.has_value()) return out;
    }
  }
  ASSIGN_OR_RETURN(out.prepared, MakePrepared(query, /*copy=*/true));
  cache_->Insert(key, out.prepared);
  if (shape.has_value() && out.prepared->for_others.has_value()) {
    cache_->Insert(*shape, out.prepared);
  }
  return out;
}

absl::StatusOr<std::shared_ptr<const PreparedQuery>> QueryService::MakePrepared(
    const v1::Query& query, bool copy) const {
  auto out = std::make_shared<PreparedQuery>();
  out->schema = state_.schema;
  if (copy) out->proto = query;
  ASSIGN_OR_RETURN(out->table, state_.schema->Find(query.table()));
  const TableState& table = *out->table;
  ASSIGN_OR_RETURN(out->query,
                   CheckQuery(*table.compiled, copy ? out->proto : query));
  if (!query.use_index().empty() && query.use_index() != Query::kRowKey) {
    // Says why it does not serve reads.
    RETURN_IF_ERROR(FindReadableIndex(table, query.use_index()).status());
  }
  out->form = Normalize(out->query.where, out->query.fields);
  out->fingerprint = QueryFingerprint(table, query);

  const StoreStatistics statistics(state_, table);
  PlannerInput input;
  input.table = table.compiled.get();
  input.query = &out->query;
  input.form = &out->form;
  input.readable = ReadableIndexes(table);
  input.merge_streams_max = limits_.merge_streams_max;
  input.statistics = &statistics;
  if (!query.continuation().empty()) {
    ASSIGN_OR_RETURN(QueryToken token, DecodeQueryToken(table, out->fingerprint,
                                                        query.continuation()));
    input.resume = std::move(token.shape);
    out->from = std::move(token.place);
  }
  absl::StatusOr<Plan> plan = MakePlan(input);
  RETURN_IF_ERROR(InTable(query.table(), plan.status()));
  out->plan = *std::move(plan);
  if (copy) {
    out->for_others =
        PlanTemplate::Make(*table.compiled, out->query, out->form, out->plan);
  }
  return out;
}

absl::StatusOr<QueryEnd> QueryService::Run(const v1::Query& query,
                                           uint64_t bytes_max,
                                           RowVisitor visit) const {
  ASSIGN_OR_RETURN(const Runnable runnable, Prepare(query));
  const PreparedQuery& prepared = *runnable.prepared;
  const Plan& plan = runnable.plan();
  QueryEnd end;
  if (prepared.query.limit == 0) {
    end.continuation = query.continuation();
    end.stop = StopReason::kLimit;
    return end;
  }
  QueryRun run({&state_, prepared.table, &prepared.query, &runnable.where(),
                &plan, clock_, prepared.from, bytes_max});
  absl::StatusOr<RunEnd> ran = run.Run(visit);
  RETURN_IF_ERROR(InTable(query.table(), ran.status()));
  end.stop = ran->stop;
  end.work = ran->work;
  if (ran->place.has_value()) {
    // With values of its own the query has its own.
    const uint64_t fingerprint = runnable.bound.has_value()
                                     ? QueryFingerprint(*prepared.table, query)
                                     : prepared.fingerprint;
    end.continuation =
        EncodeQueryToken(*prepared.table, fingerprint, plan.shape, *ran->place);
  }
  // Rows are counted with the read that leads to them.
  for (const PlanRead& read : plan.reads) {
    const bool leads = &read == &plan.reads.front();
    prepared.table->counters[static_cast<size_t>(read.access.index + 1)]
        ->CountRead(leads ? end.work.entries : 0,
                    leads ? ran->rows_returned : 0);
  }
  return end;
}

absl::StatusOr<v1::QueryPlan> QueryService::Explain(const v1::Query& query,
                                                    bool run) const {
  ASSIGN_OR_RETURN(const std::shared_ptr<const PreparedQuery> made,
                   MakePrepared(query, /*copy=*/false));
  const PreparedQuery& prepared = *made;
  v1::QueryPlan plan =
      DescribePlan(*prepared.table->compiled, prepared.query, prepared.plan);
  if (!run || prepared.query.limit == 0) return plan;
  QueryRun runner({&state_, prepared.table, &prepared.query,
                   /*where=*/nullptr, &prepared.plan, clock_, prepared.from,
                   std::numeric_limits<uint64_t>::max()});
  ASSIGN_OR_RETURN(const RunEnd end,
                   runner.Run([](const RowView&) { return true; }));
  v1::PlanWork* actual = plan.mutable_actual();
  actual->set_seeks(end.work.seeks);
  actual->set_entries(end.work.entries);
  actual->set_gets(end.work.gets);
  actual->set_rows(end.rows_returned);
  actual->set_bytes(end.work.bytes);
  plan.set_stop(std::string(StopReasonName(end.stop)));
  return plan;
}

}  // namespace dovetail

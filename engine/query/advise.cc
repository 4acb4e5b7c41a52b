// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A query is served well if its plan reads nothing that it does not return. For
// others an index is declared on a copy of the table's schema, and kept if the
// query is served well there.

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "engine/query/query_service.h"
#include "index/query/checked_query.h"
#include "index/query/explain.h"
#include "index/query/normal_form.h"
#include "index/query/planner.h"
#include "index/query/suggest_index.h"

namespace dovetail {
namespace {

// The plan that the query has on the table, whatever it is allowed to do.
absl::StatusOr<Plan> PlanFreely(const CompiledTable& table,
                                const CheckedQuery& query,
                                const NormalForm& form) {
  const NoStatistics statistics;
  PlannerInput input;
  input.table = &table;
  input.query = &query;
  input.form = &form;
  input.readable.assign(table.indexes().size(), true);
  input.statistics = &statistics;
  return MakePlan(input);
}

bool ServesWell(const absl::StatusOr<Plan>& plan) {
  return plan.ok() &&
         (plan->shape.kind == PlanShape::Kind::kEmpty ||
          (!plan->filter && !plan->shape.sort && !plan->full_scan &&
           plan->reads.size() == 1 && plan->reads[0].access.tests.empty()));
}

// What the query would be without what makes bad plans possible.
v1::Query WithoutAllowances(const v1::Query& query) {
  v1::Query strict = query;
  strict.clear_continuation();
  strict.clear_allow_full_scan();
  strict.clear_sort_bytes_max();
  strict.clear_proven_entries_max();
  strict.clear_use_index();
  strict.clear_avoid_indexes();
  return strict;
}

}  // namespace

absl::StatusOr<std::vector<IndexAdvice>> AdviseIndexes(
    const internal::PublishedState& state, const std::vector<Query>& queries) {
  std::vector<IndexAdvice> advice;
  // Tables with the indexes advised so far.
  std::map<std::string, v1::TableSchema> schemas;
  for (size_t i = 0; i < queries.size(); ++i) {
    const v1::Query query = WithoutAllowances(queries[i].proto());
    ASSIGN_OR_RETURN(const TableState* table,
                     state.schema->Find(query.table()));
    v1::TableSchema& schema =
        schemas.try_emplace(query.table(), table->compiled->schema())
            .first->second;
    ASSIGN_OR_RETURN(const auto now, CompiledTable::Compile(schema));
    ASSIGN_OR_RETURN(const CheckedQuery checked, CheckQuery(*now, query));
    const NormalForm form = Normalize(checked.where, checked.fields);
    const absl::StatusOr<Plan> plan = PlanFreely(*now, checked, form);
    if (ServesWell(plan)) {
      // By an index that was advised for an earlier query?
      for (IndexAdvice& earlier : advice) {
        const int index =
            plan->reads.empty() ? -1 : plan->reads[0].access.index;
        if (earlier.table == query.table() && index >= 0 &&
            now->indexes()[static_cast<size_t>(index)].name() ==
                earlier.index.name()) {
          earlier.queries.push_back(i);
        }
      }
      continue;
    }
    std::optional<v1::IndexSchema> index = SuggestIndex(*now, checked, form);
    if (!index.has_value()) continue;
    v1::TableSchema with = schema;
    *with.add_indexes() = *index;
    const auto compiled = CompiledTable::Compile(with);
    if (!compiled.ok()) continue;  // A table has only so many indexes.
    ASSIGN_OR_RETURN(const CheckedQuery again, CheckQuery(**compiled, query));
    const absl::StatusOr<Plan> better = PlanFreely(**compiled, again, form);
    const bool used = better.ok() && !better->reads.empty() &&
                      better->reads[0].access.index ==
                          static_cast<int>((*compiled)->indexes().size()) - 1;
    if (!used) continue;
    advice.push_back({query.table(),
                      *index,
                      {i},
                      PlanText(DescribePlan(**compiled, again, *better))});
    schema = std::move(with);
  }
  return advice;
}

}  // namespace dovetail

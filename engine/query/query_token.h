// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A query's continuation: its plan and its place, as a token (continuation.h).

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/v1/query.pb.h"
#include "engine/query/read_stream.h"
#include "engine/schema_state.h"
#include "index/query/plan.h"

namespace dovetail {

// Of what must not change between the pages of a query: its table, filter and
// order.
uint64_t QueryFingerprint(const TableState& table, const v1::Query& query);

std::string EncodeQueryToken(const TableState& table, uint64_t fingerprint,
                             const PlanShape& shape, const QueryPlace& place);

struct QueryToken {
  // An index that is gone is kNoIndex in it.
  PlanShape shape;
  QueryPlace place;
};
inline constexpr int kNoIndex = -2;

// InvalidArgument if the token is damaged, of another release, or of another
// query.
absl::StatusOr<QueryToken> DecodeQueryToken(const TableState& table,
                                            uint64_t fingerprint,
                                            std::string_view token);

}  // namespace dovetail

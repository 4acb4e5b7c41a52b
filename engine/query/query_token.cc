// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/query/query_token.h"

#include <xxhash.h>

#include <utility>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "dovetail/v1/continuation.pb.h"
#include "engine/continuation.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace dovetail {
namespace {

constexpr uint32_t kVersion = 1;

// The same bytes for the same message, in every process.
void AppendMessage(const google::protobuf::Message& message, std::string* out) {
  google::protobuf::io::StringOutputStream stream(out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  coded.WriteVarint64(message.ByteSizeLong());
  message.SerializeToCodedStream(&coded);
}

int IndexOfSpace(const TableState& table, std::string_view space) {
  if (space == table.rows_prefix) return -1;
  for (size_t i = 0; i < table.entry_prefixes.size(); ++i) {
    if (space == table.entry_prefixes[i]) return static_cast<int>(i);
  }
  return kNoIndex;
}

}  // namespace

uint64_t QueryFingerprint(const TableState& table, const v1::Query& query) {
  std::string all = table.rows_prefix;
  AppendMessage(query.where(), &all);
  for (const v1::OrderBy& by : query.order_by()) AppendMessage(by, &all);
  all.push_back(query.order_by_row_key() ? 1 : 0);
  return XXH3_64bits(all.data(), all.size());
}

std::string EncodeQueryToken(const TableState& table, uint64_t fingerprint,
                             const PlanShape& shape, const QueryPlace& place) {
  v1::QueryContinuation proto;
  proto.set_version(kVersion);
  proto.set_query(fingerprint);
  proto.set_plan_kind(static_cast<uint32_t>(shape.kind));
  for (const int index : shape.indexes) proto.add_spaces(table.prefix(index));
  proto.set_sorted(shape.sort);
  proto.set_order_key(place.row.order_key);
  proto.set_key(place.row.row_key);
  proto.set_branch(place.branch);
  proto.set_exclusive(place.exclusive);
  return SealToken(proto.SerializeAsString());
}

absl::StatusOr<QueryToken> DecodeQueryToken(const TableState& table,
                                            uint64_t fingerprint,
                                            std::string_view token) {
  ASSIGN_OR_RETURN(const std::string bytes, OpenToken(token));
  v1::QueryContinuation proto;
  if (!proto.ParseFromString(bytes)) {
    return absl::InvalidArgumentError(
        "continuation is damaged: pass it on exactly as it was returned");
  }
  if (proto.version() != kVersion ||
      proto.plan_kind() > static_cast<uint32_t>(PlanShape::Kind::kUnion)) {
    return TokenOfAnotherRelease();
  }
  if (proto.query() != fingerprint) {
    return absl::InvalidArgumentError(
        "continuation is of another query: table, filter and order must stay "
        "as they were between its pages");
  }
  QueryToken out;
  out.shape.kind = static_cast<PlanShape::Kind>(proto.plan_kind());
  for (const std::string& space : proto.spaces()) {
    out.shape.indexes.push_back(IndexOfSpace(table, space));
  }
  out.shape.sort = proto.sorted();
  out.place.row.order_key = proto.order_key();
  out.place.row.row_key = proto.key();
  out.place.branch = proto.branch();
  out.place.exclusive = proto.exclusive();
  return out;
}

}  // namespace dovetail

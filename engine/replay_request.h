// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// One request of a replay on its way to the committer, and the admission of a
// write log's record: everything that can be checked and computed before it is
// its turn.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/engine.h"
#include "dovetail/replay.h"
#include "dovetail/v1/schema.pb.h"
#include "dovetail/v1/write_log.pb.h"
#include "engine/schema_state.h"

namespace dovetail {

// Which tables' old images suffice: those that were recorded under a schema in
// which keys and indexes read at least what they read here. Used by one thread
// at a time.
class OldFieldsCoverage {
 public:
  // Of what is recorded from now on. Null: nothing suffices. A table that does
  // not compile here does not suffice.
  void SetSource(const v1::Schema* schema);
  bool Covers(const TableState& table);

 private:
  struct Field {
    std::vector<int> numbers;
    FieldType type;
    friend auto operator<=>(const Field&, const Field&) = default;
  };

  std::map<std::string, std::vector<Field>, std::less<>> source_;
  // Of the tables of one version of the database's schema.
  uint64_t schema_version_ = 0;
  absl::flat_hash_map<const TableState*, bool> known_;
};

// A row change as the log has it, checked. Views are of the effect.
struct AdmittedEffect {
  enum class Old {
    kNone,     // There was no row.
    kFields,   // There was, with `old_row`.
    kUnknown,  // The log does not say.
  };

  const v1::RowEffect* effect = nullptr;
  const TableState* table = nullptr;
  std::string_view old_key;  // The row's, whether or not there was one.
  std::string_view new_key;
  Old old = Old::kUnknown;
  // Whether `old_row` has all that indexes here read.
  bool old_suffices = false;
  EncodedRow old_row;  // kFields.
  // What it was in the digest; absent if the log does not say.
  std::optional<absl::uint128> old_sum;
  EncodedRow new_row;  // If the effect has a record.

  bool deletes() const { return !effect->has_record(); }
};

// Checks the record's effects against the schema. InvalidArgument says which
// of them cannot be, counted from 1: an unknown table, bytes that are no
// record, a key that is not the one of its record, a row that is deleted but
// was not there. `record` must outlive the result.
absl::StatusOr<std::vector<AdmittedEffect>> AdmitEffects(
    const SchemaState& schema, const v1::WriteLogRecord& record,
    OldFieldsCoverage& coverage);

// What the requests of one replay have in common.
struct ReplayRun {
  ReplayOldRows old_rows = ReplayOldRows::kCheck;
  OldFieldsCoverage* coverage = nullptr;
  std::string source;     // Its name.
  std::string place_key;  // The store key of its place.
};

struct ReplayRequest {
  ReplayRun* run = nullptr;
  // One of them; neither is an empty request, for a record that was rejected.
  const WriteBatch* batch = nullptr;
  const v1::WriteLogRecord* record = nullptr;
  // The sequence it has to get; absent: the next one.
  std::optional<SequenceNumber> sequence;
  uint64_t position = 0;
  // The rows must have the digests that `record` says they have after it.
  bool check_digests = false;

  // Of `record`, by Committer::Admit.
  std::vector<AdmittedEffect> effects = {};

  // The outcome.
  absl::Status status = {};
  // The request was refused for what is in it; the engine is all right.
  bool refused = false;
  uint64_t rows = 0;  // Changed.
  bool rows_were_read = false;
};

}  // namespace dovetail

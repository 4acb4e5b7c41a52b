// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A replayed request: the row changes of a write log's record, applied without
// observers. There are two ways.
//
// Known: the log's old images are what is in the store, so nothing is read.
// The request's effects are first folded into one change per row, from its
// first old image to its last new one; then all that goes is deleted, and all
// that comes is put:
//
//   log     put B {x}   A had x, and loses it to B for a moment
//           put B {z}
//   folded  B {} -> B {z}           A, which was not changed, keeps x
//
// Folding is what makes this exact for UNIQUE indexes, whose entries change
// owners within a request: only the first and the last state count, and in
// those no two rows share an entry.
//
// Read: each row is read, compared if that is asked for, and changed as any
// request changes it, uniqueness included.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/replay_request.h"
#include "engine/request_context.h"
#include "engine/request_runner.h"
#include "engine/row_format.h"
#include "observers/entry_diff.h"

namespace dovetail {
namespace {

using Old = AdmittedEffect::Old;

// One row, over the whole request.
struct NetChange {
  const AdmittedEffect* first;  // Its old image counts,
  const AdmittedEffect* last;   // its new one.

  const TableState& table() const { return *first->table; }
  const EncodedRow* old_row() const {
    return first->old == Old::kFields ? &first->old_row : nullptr;
  }
  const EncodedRow* new_row() const {
    return last->deletes() ? nullptr : &last->new_row;
  }
};

absl::Status Contradiction(const AdmittedEffect& effect) {
  return absl::InvalidArgumentError(absl::StrCat(
      "the effects of one request contradict each other about a row: table=",
      effect.table->name(), " row_key=", Quote(effect.old_key)));
}

// By row, in the order of their first change.
absl::StatusOr<std::vector<NetChange>> Fold(
    const std::vector<AdmittedEffect>& effects) {
  std::vector<NetChange> net;
  net.reserve(effects.size());
  if (effects.size() == 1) {
    net.push_back({&effects[0], &effects[0]});
    return net;
  }
  // The net change of the row that is now under a key; kGone: of a key that an
  // effect has left empty.
  constexpr size_t kGone = SIZE_MAX;
  using Key = std::pair<const TableState*, std::string_view>;
  absl::flat_hash_map<Key, size_t> at;
  for (const AdmittedEffect& effect : effects) {
    size_t place = net.size();
    const auto before = at.find({effect.table, effect.old_key});
    if (before == at.end()) {
      net.push_back({&effect, &effect});
    } else {
      const bool there = before->second != kGone;
      if (there != (effect.old == Old::kFields)) return Contradiction(effect);
      if (there) {
        place = before->second;
        net[place].last = &effect;
      } else {
        net.push_back({&effect, &effect});
      }
    }
    at[{effect.table, effect.old_key}] = kGone;
    if (effect.deletes()) continue;
    const auto [after, is_new] =
        at.try_emplace({effect.table, effect.new_key}, place);
    if (!is_new && after->second != kGone) return Contradiction(effect);
    after->second = place;
  }
  return net;
}

// As far as the log has it: of the row before only the old fields, which is all
// that those need who keep changes.
RowChange ChangeOf(const AdmittedEffect& effect) {
  RowChange change;
  change.table = effect.table->name();
  change.old_key = effect.old_key;
  change.new_key = effect.new_key;
  if (effect.old == Old::kFields) {
    change.old_record = effect.effect->old_fields();
  }
  if (!effect.deletes()) change.new_record = effect.effect->record();
  change.added_by = effect.effect->added_by();
  return change;
}

absl::Status DiffersFromLog(const AdmittedEffect& effect,
                            std::string_view how) {
  return absl::FailedPreconditionError(absl::StrCat(
      "the row before is not the one that the log changed: ", ToAbsl(how),
      ": table=", effect.table->name(), " ",
      effect.table->compiled->row_key()
          .DebugString(effect.old_key)
          .value_or(absl::StrCat("row_key=", Quote(effect.old_key)))));
}

// Whether the row that is there is the one that the log says was.
absl::Status CheckOld(const AdmittedEffect& effect,
                      const std::optional<CurrentRow>& current) {
  const bool must_be = effect.old == Old::kFields ||
                       (effect.old == Old::kUnknown &&
                        (effect.deletes() || effect.old_key != effect.new_key));
  if (must_be && !current.has_value()) {
    return DiffersFromLog(effect, "there is none");
  }
  if (effect.old == Old::kNone && current.has_value()) {
    return DiffersFromLog(effect, "there was none");
  }
  if (effect.old != Old::kFields || !effect.old_suffices) {
    return absl::OkStatus();
  }
  EncodedRow row;
  RETURN_IF_ERROR(
      effect.table->compiled->ExtractFields(current->record(), &row));
  if (row.fields == effect.old_row.fields &&
      row.elements == effect.old_row.elements) {
    return absl::OkStatus();
  }
  return DiffersFromLog(effect, "its indexed fields are others");
}

}  // namespace

absl::StatusOr<RequestEffects> RequestRunner::RunReplayed(
    const SchemaState& schema, ReplayRequest& request,
    SequenceNumber sequence) {
  Begin(schema, sequence, &request);
  hooks_ = false;
  if (request.record != nullptr) {
    effects_.commit_time_us = request.record->commit_time_us();
    effects_.commit.annotations.assign(request.record->annotations().begin(),
                                       request.record->annotations().end());
  }
  const size_t mark = view_->overlay().Mark();
  absl::Status status = ApplyEffects(request);
  if (status.ok()) status = maintenance_.CheckSettled({});
  if (status.ok() && request.check_digests) status = CheckDigests(request);
  RETURN_IF_ERROR(End(mark, status));
  return std::move(effects_);
}

absl::Status RequestRunner::ApplyEffects(ReplayRequest& request) {
  bool known = request.run->old_rows == ReplayOldRows::kTrust;
  for (const AdmittedEffect& effect : request.effects) {
    const bool summed = !view_->digests().on() || effect.old != Old::kFields ||
                        effect.old_sum.has_value();
    known =
        known && effect.old_suffices && !effect.table->IsBuilding() && summed;
  }
  if (known) return ApplyKnown(request.effects);
  request.rows_were_read = true;
  const bool check = request.run->old_rows != ReplayOldRows::kReplace;
  for (AdmittedEffect& effect : request.effects) {
    RETURN_IF_ERROR(ApplyRead(effect, check));
  }
  return absl::OkStatus();
}

// Of the rows only: an index of the same name may be another one here.
absl::Status RequestRunner::CheckDigests(const ReplayRequest& request) const {
  if (request.record->digests().empty()) return absl::OkStatus();
  google::protobuf::RepeatedPtrField<v1::SpaceDigest> ours;
  view_->digests().AppendPending(&ours);
  for (const v1::SpaceDigest& wanted : request.record->digests()) {
    if (!wanted.index().empty()) continue;
    for (const v1::SpaceDigest& is : ours) {
      if (!is.index().empty() || is.table() != wanted.table()) continue;
      if (is.count() == wanted.count() && is.sum() == wanted.sum()) continue;
      return absl::DataLossError(absl::StrCat(
          "the rows after the record are not those that the log had: sequence=",
          request.record->sequence(), " table=", Quote(is.table()),
          " rows=", is.count(), " log_rows=", wanted.count()));
    }
  }
  return absl::OkStatus();
}

absl::Status RequestRunner::ApplyKnown(
    const std::vector<AdmittedEffect>& effects) {
  if (effects.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<NetChange> net, Fold(effects));
  entries_to_put_.clear();
  for (const NetChange& change : net) {
    const TableState& table = change.table();
    if (change.old_row() != nullptr) {
      view_->digests().RemoveRow(table, change.first->old_sum.value_or(0));
    }
    if (change.old_row() != nullptr &&
        (change.new_row() == nullptr ||
         change.old_row()->key != change.new_row()->key)) {
      view_->overlay().Delete(table.rows_prefix + change.old_row()->key);
      Count(table.counters[0]->deleted);
    }
    RETURN_IF_ERROR(DiffEntries(table, change.old_row(), change.new_row()));
  }
  for (const NetChange& change : net) {
    if (change.new_row() == nullptr) continue;
    const TableState& table = change.table();
    RETURN_IF_ERROR(
        CheckKeySize(table, "row_key", change.new_row()->key.size()));
    view_->overlay().Put(table.rows_prefix + change.new_row()->key,
                         EncodeRow(sequence_, change.last->effect->record()));
    view_->digests().Add(table, -1, change.new_row()->key,
                         change.last->effect->record());
    Count(table.counters[0]->written);
  }
  for (EntryToPut& entry : entries_to_put_) {
    Sink sink(this, *entry.table);
    RETURN_IF_ERROR(sink.PutEntry(entry.index, std::move(entry.key),
                                  std::move(entry.value),
                                  /*replaced=*/nullptr));
  }
  if (!keep_changes_) return absl::OkStatus();
  for (const AdmittedEffect& effect : effects) {
    KeepChange(*effect.table, ChangeOf(effect),
               effect.old == Old::kFields ? &effect.old_row : nullptr,
               effect.old_sum.value_or(0));
  }
  return absl::OkStatus();
}

absl::Status RequestRunner::DiffEntries(const TableState& table,
                                        const EncodedRow* old_row,
                                        const EncodedRow* new_row) {
  Sink sink(this, table);
  const std::vector<IndexDefinition>& indexes = table.compiled->indexes();
  for (size_t i = 0; i < indexes.size(); ++i) {
    if (!table.Maintains(i)) continue;
    if (!indexes[i].plain()) [[unlikely]] {
      RETURN_IF_ERROR(DiffMany(table, i, old_row, new_row));
      continue;
    }
    const bool had = old_row != nullptr && indexes[i].HasEntry(old_row->fields);
    const bool has = new_row != nullptr && indexes[i].HasEntry(new_row->fields);
    if (had && has && indexes[i].SameEntry(*old_row, *new_row)) {
      sink.KeepEntry(i);
      continue;
    }
    EntryToPut before{&table, i, table.entry_prefixes[i], {}};
    EntryToPut after = before;
    if (had) {
      RETURN_IF_ERROR(
          indexes[i].EncodeEntry(*old_row, &before.key, &before.value));
    }
    if (has) {
      RETURN_IF_ERROR(
          indexes[i].EncodeEntry(*new_row, &after.key, &after.value));
    }
    if (had && has && before.key == after.key && before.value == after.value) {
      sink.KeepEntry(i);
      continue;
    }
    if (had) sink.DeleteEntry(i, std::move(before.key), before.value);
    if (has) entries_to_put_.push_back(std::move(after));
  }
  return absl::OkStatus();
}

// Of an index in which a row may have several entries, or a share of some.
absl::Status RequestRunner::DiffMany(const TableState& table, size_t index,
                                     const EncodedRow* old_row,
                                     const EncodedRow* new_row) {
  Sink sink(this, table);
  ASSIGN_OR_RETURN(std::optional<EntryDiff> diff,
                   DiffEntriesOf(sink, index, old_row, new_row));
  if (!diff.has_value()) {
    sink.KeepEntry(index);
    return absl::OkStatus();
  }
  if (table.compiled->indexes()[index].aggregates()) {
    return ApplyToGroups(sink, index, old_row, new_row, *std::move(diff));
  }
  for (IndexDefinition::Entry& entry : diff->go) {
    sink.DeleteEntry(index, std::move(entry.key), entry.value);
  }
  for (IndexDefinition::Entry& entry : diff->come) {
    entries_to_put_.push_back(
        {&table, index, std::move(entry.key), std::move(entry.value)});
  }
  return absl::OkStatus();
}

absl::Status RequestRunner::ApplyRead(AdmittedEffect& effect, bool check_old) {
  const TableState& table = *effect.table;
  if (!check_old) RETURN_IF_ERROR(RemoveElsewhere(effect));
  ASSIGN_OR_RETURN(std::optional<CurrentRow> current,
                   view_->ReadRow(table, effect.old_key));
  if (check_old) RETURN_IF_ERROR(CheckOld(effect, current));
  if (effect.old_key != effect.new_key) {
    ASSIGN_OR_RETURN(std::optional<CurrentRow> in_the_way,
                     view_->ReadRow(table, effect.new_key));
    if (in_the_way.has_value() && check_old) {
      return DiffersFromLog(effect, "another row is where it moves to");
    }
    // Two rows become one.
    if (in_the_way.has_value() && current.has_value()) {
      RETURN_IF_ERROR(Remove(effect, *std::move(current)));
    }
    if (in_the_way.has_value()) current = std::move(in_the_way);
  }
  if (effect.deletes() && !current.has_value()) return absl::OkStatus();
  std::optional<NewRow> next;
  if (!effect.deletes()) next = {&effect.new_row, effect.effect->record()};
  return ApplyChange(table, current, next, effect.effect->added_by());
}

absl::Status RequestRunner::Remove(const AdmittedEffect& effect,
                                   CurrentRow row) {
  return ApplyChange(*effect.table, std::move(row), std::nullopt,
                     effect.effect->added_by());
}

// Where a record before was left out, the row may still be under the key that
// it had then. The identity finds it.
absl::Status RequestRunner::RemoveElsewhere(const AdmittedEffect& effect) {
  const TableState& table = *effect.table;
  const int identity = table.compiled->identity();
  if (identity < 0 || !table.Maintains(identity)) return absl::OkStatus();
  const IndexDefinition& index = table.compiled->indexes()[identity];
  const std::string& prefix = table.entry_prefixes[identity];
  const EncodedRow* const images[] = {
      effect.old == Old::kFields ? &effect.old_row : nullptr,
      effect.deletes() ? nullptr : &effect.new_row};
  for (const EncodedRow* image : images) {
    if (image == nullptr || !index.HasEntry(image->fields)) continue;
    std::string key = prefix;
    RETURN_IF_ERROR(index.EncodeUniqueKey(*image, &key));
    ASSIGN_OR_RETURN(const std::optional<std::string> entry, view_->Read(key));
    if (!entry.has_value()) continue;
    ASSIGN_OR_RETURN(
        CurrentRow row,
        view_->RowOfEntry(table, identity,
                          std::string_view(key).substr(prefix.size()), *entry));
    if (row.key == effect.old_key || row.key == effect.new_key) continue;
    RETURN_IF_ERROR(Remove(effect, std::move(row)));
  }
  return absl::OkStatus();
}

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/request_runner.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/error_payload.h"
#include "base/seeded_bug.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/column_filter.h"
#include "engine/recorder.h"
#include "engine/replay_request.h"
#include "engine/request_context.h"
#include "engine/row_format.h"

namespace dovetail {
namespace {

// So many records of a write log have one with digests among them.
constexpr uint64_t kDigestsEvery = 64;

std::string DescribeKey(const TableState& table, std::string_view row_key) {
  return absl::StrCat("table=", table.name(), " ",
                      table.compiled->row_key().DebugString(row_key).value_or(
                          absl::StrCat("row_key=", Quote(row_key))));
}

// Of the row key or index that the mutation's target gives values of.
const KeyLayout& LayoutOf(const AdmittedMutation& m) {
  return m.index < 0 ? m.table->compiled->row_key()
                     : m.table->compiled->indexes()[m.index].layout();
}

absl::Status At(const absl::Status& status, std::string_view added_by,
                size_t position) {
  if (status.ok()) return status;
  if (!added_by.empty()) {
    return absl::Status(status.code(),
                        absl::StrCat("mutation added by observer=",
                                     ToAbsl(added_by), ": ", status.message()));
  }
  return FailedMutationError(status, position);
}

}  // namespace

RowChange OwnedChange::View() const {
  RowChange change;
  change.table = table->name();
  change.old_key = old_key;
  change.new_key = new_key;
  if (old_record.has_value()) change.old_record = *old_record;
  if (new_record.has_value()) change.new_record = *new_record;
  change.added_by = added_by;
  return change;
}

RequestRunner::RequestRunner(SerialView* view, const Services& services)
    : view_(view),
      services_(services),
      observers_keep_changes_(services.observers->Wants(
          kPreBatchMutate | kPostBatchMutate | kPostPut | kPostDelete)) {}

RequestRunner::~RequestRunner() = default;

absl::StatusOr<RequestEffects> RequestRunner::Run(
    const SchemaState& schema, std::vector<AdmittedMutation>& mutations,
    SequenceNumber sequence, const ReplayRequest* replay) {
  Begin(schema, sequence, replay);
  keep_changes_ = keep_changes_ || observers_keep_changes_;
  added_count_ = mutations.size();
  for (const AdmittedMutation& m : mutations) {
    request_bytes_ += RequestBytes(*m.mutation);
  }

  const size_t mark = view_->overlay().Mark();
  absl::Status status = RunMutations(mutations);
  if (status.ok()) status = RunBatchHooks();
  RETURN_IF_ERROR(End(mark, status));
  return std::move(effects_);
}

void RequestRunner::Begin(const SchemaState& schema, SequenceNumber sequence,
                          const ReplayRequest* replay) {
  schema_ = &schema;
  keep_changes_ = services_.recorder->wants_changes(schema);
  hooks_ = true;
  sequence_ = sequence;
  effects_ = RequestEffects();
  effects_.commit.sequence = sequence;
  if (replay != nullptr) {
    effects_.source = replay->run->source;
    effects_.source_position = replay->position;
  }
  added_.clear();
  added_count_ = 0;
  request_bytes_ = 0;
  counts_.clear();
  absent_entry_.clear();
  view_->digests().Mark();
}

absl::Status RequestRunner::SettleGroups() {
  return view_->groups().Settle(
      *view_, [this](const TableState& table, size_t index,
                     GroupCounters::Outcome outcome) {
        EntryCounters& counters = *table.counters[1 + index];
        switch (outcome) {
          case GroupCounters::Outcome::kPut:
            return Count(counters.written);
          case GroupCounters::Outcome::kDeleted:
            return Count(counters.deleted);
          case GroupCounters::Outcome::kUnchanged:
            return Count(counters.unchanged);
        }
      });
}

absl::Status RequestRunner::CrossCheckRequest() {
  if (services_.tamper != nullptr) {
    services_.tamper->Tamper(sequence_, view_->overlay());
  }
  if (services_.cross_check == nullptr) return absl::OkStatus();
  return services_.cross_check->Check(*view_, sequence_);
}

absl::Status RequestRunner::PrepareRecord() {
  Recorder& recorder = *services_.recorder;
  if (!recorder.wants_changes(*schema_)) return absl::OkStatus();
  if (recorder.on() && static_cast<uint64_t>(sequence_) % kDigestsEvery == 0) {
    view_->digests().AppendPending(&effects_.digests);
  }
  return recorder.Prepare(*schema_, &effects_);
}

absl::Status RequestRunner::End(size_t overlay_mark, absl::Status status) {
  if (status.ok()) status = SettleGroups();
  if (status.ok()) status = CrossCheckRequest();
  if (status.ok()) status = PrepareRecord();
  maintenance_.PostBatchMutateIndispensably(status);
  if (!status.ok()) {
    if (!SeededBug("rollback_skipped")) {
      view_->overlay().RollBackTo(overlay_mark);
    }
    view_->digests().RollBack();
    view_->groups().Drop();
    return status;
  }
  if (services_.cross_check != nullptr) services_.cross_check->Accept(*view_);
  for (std::atomic<uint64_t>* counter : counts_) {
    counter->fetch_add(1, std::memory_order_relaxed);
  }
  return absl::OkStatus();
}

absl::Status RequestRunner::RunMutations(
    std::vector<AdmittedMutation>& mutations) {
  for (size_t i = 0; i < mutations.size(); ++i) {
    uint64_t rows = 0;
    RETURN_IF_ERROR(At(RunMutation(mutations[i], {}, &rows), {}, i));
    effects_.commit.rows_changed.push_back(rows);
    RETURN_IF_ERROR(RunAdded());
  }
  return absl::OkStatus();
}

// Additions run after the change whose hook added them, and fire no user
// hooks, so they add nothing themselves.
absl::Status RequestRunner::RunAdded() {
  for (; !added_.empty(); added_.pop_front()) {
    Added& added = added_.front();
    uint64_t rows = 0;
    RETURN_IF_ERROR(At(RunMutation(added.admitted, added.added_by, &rows),
                       added.added_by, 0));
  }
  return absl::OkStatus();
}

absl::Status RequestRunner::RunMutation(AdmittedMutation& m,
                                        std::string_view added_by,
                                        uint64_t* rows_changed) {
  absent_entry_.clear();
  ignored_ = 0;
  RETURN_IF_ERROR(ApplyMutation(m, added_by, rows_changed));
  *rows_changed -= std::min(ignored_, *rows_changed);
  return absl::OkStatus();
}

absl::Status RequestRunner::ApplyMutation(AdmittedMutation& m,
                                          std::string_view added_by,
                                          uint64_t* rows_changed) {
  switch (m.mutation->kind) {
    case Mutation::Kind::kInsert:
    case Mutation::Kind::kPut:
      *rows_changed = 1;
      return ApplyPut(m, added_by);
    case Mutation::Kind::kPatch:
    case Mutation::Kind::kDelete:
      break;
  }
  ASSIGN_OR_RETURN(std::vector<CurrentRow> rows, Resolve(m));
  *rows_changed = rows.size();
  const bool is_patch = m.mutation->kind == Mutation::Kind::kPatch;
  if (rows.empty() && m.mutation->target.match() == RowRef::Match::kOne) {
    if (is_patch && m.mutation->create_if_absent) {
      *rows_changed = 1;
      return ApplyPut(m, added_by);
    }
    RETURN_IF_ERROR(CheckConditions(m, nullptr));
    if (is_patch) {
      return absl::NotFoundError(absl::StrCat(
          "no row to patch: table=", m.table->name(),
          " index=", m.index < 0 ? "(row key)" : m.mutation->target.index()));
    }
    if (m.delete_order.has_value()) {
      return ApplyOrderedDelete(m, std::nullopt, added_by);
    }
  }
  for (CurrentRow& row : rows) {
    RETURN_IF_ERROR(CheckConditions(m, &row));
    RETURN_IF_ERROR(is_patch ? ApplyPatch(m, std::move(row), added_by)
                             : ApplyDelete(m, std::move(row), added_by));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<CurrentRow>> RequestRunner::Resolve(
    const AdmittedMutation& m) {
  const RowRef& target = m.mutation->target;
  std::vector<CurrentRow> rows;
  if (m.index < 0) {
    RETURN_IF_ERROR(ResolveRowKey(m, &rows));
  } else {
    const IndexDefinition& index = m.table->compiled->indexes()[m.index];
    RETURN_IF_ERROR(
        maintenance_.CheckSettled(m.table->entry_prefixes[m.index]));
    const bool point = index.unique() && target.values().size() ==
                                             index.layout().columns().size();
    RETURN_IF_ERROR(point ? ResolveUnique(m, &rows) : ResolveScan(m, &rows));
  }
  RETURN_IF_ERROR(KeepMatching(m, &rows));
  if (rows.size() > 1 && target.match() == RowRef::Match::kOne &&
      !SeededBug("ambiguous_target")) {
    return absl::FailedPreconditionError(absl::StrCat(
        "several rows match, one was asked for: table=", m.table->name(),
        " index=", target.index(), "; use Match::kAll or give more columns"));
  }
  return rows;
}

// Of the rows that a key led to, those that have the values asked for.
absl::Status RequestRunner::KeepMatching(const AdmittedMutation& m,
                                         std::vector<CurrentRow>* rows) const {
  ASSIGN_OR_RETURN(
      const ColumnFilter filter,
      ColumnFilter::Make(LayoutOf(m), m.mutation->target.values(), {}));
  if (filter.empty()) return absl::OkStatus();
  std::vector<CurrentRow> kept;
  for (CurrentRow& row : *rows) {
    ASSIGN_OR_RETURN(const bool matches,
                     filter.Matches(*m.table, row.record()));
    if (matches) kept.push_back(std::move(row));
  }
  *rows = std::move(kept);
  return absl::OkStatus();
}

absl::Status RequestRunner::ResolveRowKey(const AdmittedMutation& m,
                                          std::vector<CurrentRow>* rows) {
  const KeyLayout& layout = m.table->compiled->row_key();
  const std::vector<Value>& values = m.mutation->target.values();
  if (const std::string& key = m.mutation->target.encoded_key(); !key.empty()) {
    const absl::Status decodes = layout.Split(key).status();
    if (!decodes.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("bytes are no row key: table=", m.table->name(),
                       " key=", Quote(key), ": ", decodes.message()));
    }
    ASSIGN_OR_RETURN(std::optional<CurrentRow> row,
                     view_->ReadRow(*m.table, key));
    if (row.has_value()) rows->push_back(*std::move(row));
    return absl::OkStatus();
  }
  if (values.size() != layout.columns().size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "row key needs one value per column: table=", m.table->name(),
        " columns=", layout.columns().size(), " values=", values.size()));
  }
  ASSIGN_OR_RETURN(const std::vector<KeyRange> candidates,
                   layout.Ranges(values, {}, std::nullopt,
                                 services_.limits->merge_streams_max));
  for (const KeyRange& candidate : candidates) {
    ASSIGN_OR_RETURN(std::optional<CurrentRow> row,
                     view_->ReadRow(*m.table, candidate.prefix));
    if (row.has_value()) rows->push_back(*std::move(row));
  }
  return absl::OkStatus();
}

absl::Status RequestRunner::ResolveUnique(const AdmittedMutation& m,
                                          std::vector<CurrentRow>* rows) {
  const std::string& prefix = m.table->entry_prefixes[m.index];
  std::string key = prefix;
  RETURN_IF_ERROR(m.table->compiled->indexes()[m.index].layout().EncodeColumns(
      m.mutation->target.values(), &key));
  ASSIGN_OR_RETURN(const std::optional<std::string> entry, view_->Read(key));
  if (!entry.has_value()) return absl::OkStatus();
  ASSIGN_OR_RETURN(
      CurrentRow row,
      view_->RowOfEntry(*m.table, m.index,
                        std::string_view(key).substr(prefix.size()), *entry));
  rows->push_back(std::move(row));
  return absl::OkStatus();
}

absl::Status RequestRunner::ResolveScan(const AdmittedMutation& m,
                                        std::vector<CurrentRow>* rows) {
  const RowRef& target = m.mutation->target;
  ASSIGN_OR_RETURN(const std::vector<KeyRange> ranges,
                   m.table->compiled->indexes()[m.index].layout().Ranges(
                       target.values(), {}, std::nullopt,
                       services_.limits->merge_streams_max));
  ASSIGN_OR_RETURN(const ColumnFilter filter,
                   ColumnFilter::Make(LayoutOf(m), target.values(), {}));
  // One too many is enough to refuse, and one too many of one is two; unless
  // some of them may turn out to be of other values.
  const size_t max = target.match() == RowRef::Match::kOne && filter.empty()
                         ? 1
                         : services_.limits->match_rows_max;
  std::vector<SerialView::KeyValue> entries;
  RETURN_IF_ERROR(
      view_->Scan(m.table->entry_prefixes[m.index], ranges, max + 1, &entries));
  if (entries.size() > services_.limits->match_rows_max) {
    return absl::ResourceExhaustedError(
        absl::StrCat("mutation matches too many rows: table=", m.table->name(),
                     " index=", target.index(), " max=", max));
  }
  for (const SerialView::KeyValue& entry : entries) {
    ASSIGN_OR_RETURN(CurrentRow row, view_->RowOfEntry(*m.table, m.index,
                                                       entry.key, entry.value));
    rows->push_back(std::move(row));
  }
  return absl::OkStatus();
}

absl::Status RequestRunner::CheckConditions(const AdmittedMutation& m,
                                            const CurrentRow* row) const {
  const auto fail = [&](std::string_view what) {
    return absl::FailedPreconditionError(
        absl::StrCat("precondition does not hold: ", ToAbsl(what), ": ",
                     row != nullptr ? DescribeKey(*m.table, row->key)
                                    : absl::StrCat("table=", m.table->name())));
  };
  for (const AdmittedCondition& condition : m.conditions) {
    if (condition.kind == Precondition::Kind::kAbsent) {
      if (row != nullptr) return fail("the row must be absent");
      continue;
    }
    if (row == nullptr) return fail("the row must exist");
    if (condition.kind == Precondition::Kind::kVersionEquals &&
        row->version != condition.version &&
        !SeededBug("version_not_checked")) {
      return fail(
          absl::StrCat("version=", static_cast<uint64_t>(row->version),
                       " wanted=", static_cast<uint64_t>(condition.version)));
    }
    if (condition.kind == Precondition::Kind::kFieldEquals) {
      FieldValue is;
      RETURN_IF_ERROR(condition.extractor->Extract(
          row->record(), std::span<FieldValue>(&is, 1)));
      if (is != condition.value) {
        const FieldType type = condition.extractor->fields()[0].type;
        return fail(absl::StrCat(
            "field=", condition.path, " is=", ToValue(is, type).DebugString(),
            " wanted=", ToValue(condition.value, type).DebugString()));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status RequestRunner::CheckKeySize(const TableState& table,
                                         std::string_view what,
                                         size_t bytes) const {
  if (bytes > services_.limits->key_bytes_warn) [[unlikely]] {
    services_.long_keys->fetch_add(1, std::memory_order_relaxed);
  }
  if (bytes <= services_.limits->key_bytes_max) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("key is too long: table=", table.name(), " ", ToAbsl(what),
                   " bytes=", bytes, " max=", services_.limits->key_bytes_max));
}

absl::StatusOr<std::optional<CurrentRow>> RequestRunner::FindReplaced(
    AdmittedMutation& m) {
  const TableState& table = *m.table;
  const CompiledTable& compiled = *table.compiled;
  // A salt is that of the row replaced, if there is one; without salts the
  // row key is known at once, and the identity's entry shares its parts.
  const uint32_t salts = compiled.row_key().salt_count();
  if (salts == 0) RETURN_IF_ERROR(compiled.EncodeKey(0, &m.row));
  std::optional<CurrentRow> owner;
  bool identity_is_new = false;
  if (const int id = compiled.identity();
      id >= 0 && compiled.indexes()[id].HasEntry(m.row.fields)) {
    const std::string& prefix = table.entry_prefixes[id];
    std::string key = prefix;
    RETURN_IF_ERROR(compiled.indexes()[id].EncodeUniqueKey(m.row, &key));
    ASSIGN_OR_RETURN(const std::optional<std::string> entry, view_->Read(key));
    if (entry.has_value()) {
      ASSIGN_OR_RETURN(
          owner,
          view_->RowOfEntry(
              table, id, std::string_view(key).substr(prefix.size()), *entry));
    } else {
      identity_is_new = true;
      absent_entry_ = std::move(key);
    }
  }

  if (salts != 0) {
    // Without an identity the row may be under any of them. Key filters spare
    // the reads of those that it is not under.
    for (uint32_t s = 0; !owner.has_value() && !identity_is_new && s < salts;
         ++s) {
      RETURN_IF_ERROR(compiled.EncodeKey(s, &m.row));
      ASSIGN_OR_RETURN(owner, view_->ReadRow(table, m.row.key));
    }
    auto salt = static_cast<uint32_t>(services_.random->Next64() % salts);
    if (owner.has_value()) {
      ASSIGN_OR_RETURN(salt, compiled.SaltOf(owner->key));
    }
    RETURN_IF_ERROR(compiled.EncodeKey(salt, &m.row));
  }

  // What holds the identity decides; whether something else is under the row
  // key is read only where it could be.
  if (owner.has_value() && owner->key == m.row.key) return owner;
  if (compiled.identity_follows_from_row_key() &&
      (owner.has_value() || identity_is_new)) {
    return owner;
  }
  ASSIGN_OR_RETURN(std::optional<CurrentRow> under_key,
                   view_->ReadRow(table, m.row.key));
  if (owner.has_value() && under_key.has_value()) {
    return absl::AlreadyExistsError(absl::StrCat(
        "put would replace two rows, the one with its identity and the one "
        "under its row key: ",
        DescribeKey(table, owner->key), " and ",
        DescribeKey(table, m.row.key)));
  }
  return owner.has_value() ? std::move(owner) : std::move(under_key);
}

absl::Status RequestRunner::ApplyPut(AdmittedMutation& m,
                                     std::string_view added_by) {
  ASSIGN_OR_RETURN(const std::optional<CurrentRow> old, FindReplaced(m));
  RETURN_IF_ERROR(CheckConditions(m, old.has_value() ? &*old : nullptr));
  if (m.mutation->kind == Mutation::Kind::kInsert && old.has_value() &&
      !SeededBug("insert_replaces")) {
    return absl::AlreadyExistsError(absl::StrCat(
        "row to insert exists: ", DescribeKey(*m.table, old->key)));
  }
  if (m.table->compiled->change_order() != nullptr) {
    return ApplyOrderedPut(m, old, added_by);
  }
  return ApplyChange(*m.table, old, NewRow{&m.row, m.mutation->record},
                     added_by);
}

absl::Status RequestRunner::ApplyPatch(AdmittedMutation& m, CurrentRow old,
                                       std::string_view added_by) {
  std::string record;
  RETURN_IF_ERROR(m.patch->Apply(old.record(), m.mutation->record, &record));
  if (m.table->compiled->change_order() != nullptr) {
    return ApplyOrderedPatch(m, std::move(old), std::move(record), added_by);
  }
  return ApplyMerged(*m.table, std::move(old), std::move(record), added_by);
}

// Changes the row into `record`, which was made of it.
absl::Status RequestRunner::ApplyMerged(const TableState& table, CurrentRow old,
                                        std::string record,
                                        std::string_view added_by) {
  const CompiledTable& compiled = *table.compiled;
  if (record.size() > services_.limits->record_bytes_max) {
    return absl::InvalidArgumentError(
        absl::StrCat("patched record is too large: bytes=", record.size(),
                     " max=", services_.limits->record_bytes_max));
  }
  EncodedRow next;
  RETURN_IF_ERROR(compiled.ExtractFields(record, &next));
  ASSIGN_OR_RETURN(const uint32_t salt, compiled.SaltOf(old.key));
  RETURN_IF_ERROR(compiled.EncodeKey(salt, &next));
  if (next.key != old.key) {
    ASSIGN_OR_RETURN(const std::optional<CurrentRow> in_the_way,
                     view_->ReadRow(table, next.key));
    if (in_the_way.has_value() && !SeededBug("patch_over_another_row")) {
      return absl::AlreadyExistsError(absl::StrCat(
          "patch would move the row onto another one: from ",
          DescribeKey(table, old.key), " to ", DescribeKey(table, next.key)));
    }
  }
  return ApplyChange(table, std::move(old), NewRow{&next, record}, added_by);
}

absl::Status RequestRunner::ApplyDelete(AdmittedMutation& m, CurrentRow old,
                                        std::string_view added_by) {
  if (!m.table->deletes_prefix.empty()) {
    return ApplyOrderedDelete(m, std::move(old), added_by);
  }
  return ApplyChange(*m.table, std::move(old), std::nullopt, added_by);
}

// The one place where rows change.
absl::Status RequestRunner::ApplyChange(const TableState& table,
                                        const std::optional<CurrentRow>& old,
                                        std::optional<NewRow> next,
                                        std::string_view added_by) {
  DOVETAIL_CHECK(old.has_value() || next.has_value());
  RowChange change;
  change.table = table.name();
  change.added_by = added_by;
  if (old.has_value()) {
    change.old_key = old->key;
    change.old_record = old->record();
  }
  if (next.has_value()) {
    RETURN_IF_ERROR(CheckKeySize(table, "row_key", next->row->key.size()));
    change.new_key = next->row->key;
    change.new_record = next->record;
  }
  if (change.old_key.empty()) change.old_key = change.new_key;
  if (change.new_key.empty()) change.new_key = change.old_key;
  if (hooks_ && added_by.empty()) {
    RETURN_IF_ERROR(RunUserHooks(change, next.has_value()));
  }

  Sink sink(this, table);
  EncodedRow old_row;
  if (old.has_value()) {
    RETURN_IF_ERROR(sink.SetOld(*old, &old_row));
  }
  if (next.has_value()) sink.SetNew(next->row);
  Overlay& overlay = view_->overlay();
  absl::uint128 old_sum = 0;
  if (old.has_value()) {
    old_sum = view_->digests().Remove(table, old->key, old->record());
  }
  const bool moves =
      old.has_value() && next.has_value() && old->key != next->row->key;
  if ((old.has_value() && !next.has_value()) ||
      (moves && !SeededBug("moved_row_stays"))) {
    overlay.Delete(table.rows_prefix + old->key);
    Count(table.counters[0]->deleted);
  }
  if (next.has_value()) {
    overlay.Put(
        table.rows_prefix + next->row->key,
        EncodeRow(SeededBug("stale_version") && old.has_value() ? old->version
                                                                : sequence_,
                  next->record));
    view_->digests().Add(table, next->row->key, next->record);
    Count(table.counters[0]->written);
  }
  Context context(this, /*observer=*/-1, &sink);
  RETURN_IF_ERROR(next.has_value() ? maintenance_.PrePut(context, change)
                                   : maintenance_.PreDelete(context, change));
  if (keep_changes_) {
    KeepChange(table, change, old.has_value() ? &old_row : nullptr, old_sum);
  }
  return absl::OkStatus();
}

void RequestRunner::KeepChange(const TableState& table, const RowChange& change,
                               const EncodedRow* old_row,
                               absl::uint128 old_sum) {
  const auto own = [](std::optional<std::string_view> v) {
    return v.has_value() ? std::optional<std::string>(*v) : std::nullopt;
  };
  OwnedChange& kept = effects_.changes.emplace_back(OwnedChange{
      &table, std::string(change.old_key), std::string(change.new_key),
      own(change.old_record), own(change.new_record), "",
      std::string(change.added_by), old_sum});
  if (old_row != nullptr && services_.recorder->on()) {
    table.compiled->EncodeOldFields(*old_row, &kept.old_fields);
  }
}

absl::Status RequestRunner::RunUserHooks(const RowChange& change, bool is_put) {
  ObserverChain& observers = *services_.observers;
  const uint32_t hook = is_put ? kPrePut : kPreDelete;
  if (!observers.Wants(hook)) return absl::OkStatus();
  for (size_t i = 0; i < observers.size(); ++i) {
    if (!observers.Wants(i, hook)) continue;
    Context context(this, static_cast<int>(i), nullptr);
    RETURN_IF_ERROR(observers.Call(
        i, is_put ? "PrePut" : "PreDelete", [&](Observer& observer) {
          absl::Status status = is_put ? observer.PrePut(context, change)
                                       : observer.PreDelete(context, change);
          return status.ok() ? context.error() : status;
        }));
  }
  return absl::OkStatus();
}

absl::Status RequestRunner::RunBatchHooks() {
  ObserverChain& observers = *services_.observers;
  for (size_t i = 0; observers.Wants(kPreBatchMutate) && i < observers.size();
       ++i) {
    if (!observers.Wants(i, kPreBatchMutate)) continue;
    const std::vector<RowChange> changes = ChangeViews(effects_);
    Context context(this, static_cast<int>(i), nullptr);
    RETURN_IF_ERROR(
        observers.Call(i, "PreBatchMutate", [&](Observer& observer) {
          absl::Status status = observer.PreBatchMutate(context, changes);
          return status.ok() ? context.error() : status;
        }));
    RETURN_IF_ERROR(RunAdded());
  }
  Context context(this, /*observer=*/-1, nullptr);
  return maintenance_.PreBatchMutate(context, {});
}

std::vector<RowChange> RequestRunner::ChangeViews(
    const RequestEffects& effects) const {
  std::vector<RowChange> views;
  views.reserve(effects.changes.size());
  for (const OwnedChange& change : effects.changes) {
    views.push_back(change.View());
  }
  return views;
}

void RequestRunner::RunPostHooks(RequestEffects& effects) {
  ObserverChain& observers = *services_.observers;
  if (!observers.Wants(kPostPut | kPostDelete | kPostBatchMutate)) return;
  sequence_ = effects.commit.sequence;
  const auto keep = [&effects](const absl::Status& status) {
    effects.commit.post_commit.Update(status);
  };
  const std::vector<RowChange> changes = ChangeViews(effects);
  for (size_t i = 0; i < observers.size(); ++i) {
    Context context(this, static_cast<int>(i), nullptr);
    context.ForbidAdding();
    for (const RowChange& change : changes) {
      if (!change.added_by.empty()) continue;
      const bool is_put = change.new_record.has_value();
      if (!observers.Wants(i, is_put ? kPostPut : kPostDelete)) continue;
      keep(observers.Call(
          i, is_put ? "PostPut" : "PostDelete", [&](Observer& observer) {
            return is_put ? observer.PostPut(context, change)
                          : observer.PostDelete(context, change);
          }));
    }
    if (!observers.Wants(i, kPostBatchMutate)) continue;
    keep(observers.Call(i, "PostBatchMutate", [&](Observer& observer) {
      return observer.PostBatchMutate(context, changes);
    }));
  }
}

void RequestRunner::RunFinally(const absl::Status& outcome) {
  // The outcome stands; an observer that fails here is counted in its
  // statistics, which is all that is left to do.
  ObserverChain& observers = *services_.observers;
  if (!observers.Wants(kPostBatchMutateIndispensably)) return;
  for (size_t i = 0; i < observers.size(); ++i) {
    if (!observers.Wants(i, kPostBatchMutateIndispensably)) continue;
    observers
        .Call(i, "PostBatchMutateIndispensably",
              [&](Observer& observer) {
                observer.PostBatchMutateIndispensably(outcome);
                return absl::OkStatus();
              })
        .IgnoreError();
  }
}

void RequestRunner::Count(std::atomic<uint64_t>& counter) {
  counts_.push_back(&counter);
}

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// All is done in PreBatchMutate, where the request's changes are complete and
// in order, additions of the observers before this one included. What is
// added there is part of the request, so that it commits with it; a failed
// request's sequence is given to the next one, but nothing was kept under it.

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/observers.h"
#include "dovetail/v1/audit.pb.h"
#include "index/extractor.h"
#include "index/wire_patch.h"
#include "observers/schema_lookup.h"

namespace dovetail {
namespace {

using v1::AuditRecord;

// One table, compiled.
struct WatchedTable {
  // One patch per named field: applied to an empty record, it leaves the
  // field alone, in a form that is equal for equal values.
  struct NamedField {
    std::string path;
    WirePatch alone;
  };
  std::vector<NamedField> fields;
  std::optional<Extractor> subject;
};

absl::StatusOr<WatchedTable> CompileWatch(
    const google::protobuf::Descriptor& record,
    const AuditOptions::Watch& watch) {
  WatchedTable table;
  for (const std::string& path : watch.fields) {
    ASSIGN_OR_RETURN(WirePatch alone, WirePatch::Compile(record, {path}));
    table.fields.push_back({path, std::move(alone)});
  }
  if (watch.subject.empty()) return table;
  ASSIGN_OR_RETURN(table.subject, Extractor::Compile(record, {watch.subject}));
  switch (table.subject->fields()[0].type) {
    case FieldType::kString:
    case FieldType::kInt32:
    case FieldType::kInt64:
    case FieldType::kUint32:
    case FieldType::kUint64:
      return table;
    default:
      return absl::InvalidArgumentError(absl::StrCat(
          "a subject is a string or an integer: field=", Quote(watch.subject)));
  }
}

AuditRecord::Kind KindOf(const RowChange& change) {
  if (!change.old_record.has_value()) return AuditRecord::INSERTED;
  if (!change.new_record.has_value()) return AuditRecord::DELETED;
  return change.old_key == change.new_key ? AuditRecord::UPDATED
                                          : AuditRecord::MOVED_IN;
}

// The named field of `record` alone; nothing if there is no record.
absl::StatusOr<std::string> Alone(const WatchedTable::NamedField& field,
                                  std::optional<std::string_view> record) {
  std::string bytes;
  if (record.has_value()) {
    RETURN_IF_ERROR(field.alone.Apply({}, *record, &bytes));
  }
  return bytes;
}

absl::Status SetImages(const WatchedTable& table, const RowChange& change,
                       AuditRecord* record) {
  const std::optional<std::string_view>& old_record = change.old_record;
  const std::optional<std::string_view>& new_record = change.new_record;
  if (table.fields.empty()) {
    if (old_record) record->set_old_record(std::string(*old_record));
    if (new_record) record->set_new_record(std::string(*new_record));
    return absl::OkStatus();
  }
  // Present even if no named field is set in them.
  if (old_record) record->set_old_record("");
  if (new_record) record->set_new_record("");
  for (const WatchedTable::NamedField& field : table.fields) {
    ASSIGN_OR_RETURN(const std::string before, Alone(field, old_record));
    ASSIGN_OR_RETURN(const std::string after, Alone(field, new_record));
    if (before == after) continue;
    record->add_changed_fields(field.path);
    // One after the other they are one record: parsers merge messages that
    // several of the fields lie in.
    if (old_record) record->mutable_old_record()->append(before);
    if (new_record) record->mutable_new_record()->append(after);
  }
  return absl::OkStatus();
}

absl::Status SetSubject(const Extractor& subject, std::string_view bytes,
                        AuditRecord* record) {
  FieldValue value;
  RETURN_IF_ERROR(subject.Extract(bytes, std::span<FieldValue>(&value, 1)));
  if (value.is_null) return absl::OkStatus();
  const FieldType type = subject.fields()[0].type;
  record->set_subject(type == FieldType::kString
                          ? std::string(value.text)
                          : ToValue(value, type).DebugString());
  return absl::OkStatus();
}

}  // namespace

class AuditTrail::Impl {
 public:
  static absl::StatusOr<std::unique_ptr<const Impl>> Create(
      const Schema& schema, AuditOptions options);

  const AuditOptions& options() const { return options_; }

  // FailedPrecondition for a change of the trail by anyone else.
  absl::Status CheckOwn(const RowChange& change) const;
  // Adds the records of one change, if its table is watched.
  absl::Status Record(HookContext& ctx, const RowChange& change,
                      uint32_t position, int64_t time_us) const;

 private:
  explicit Impl(AuditOptions options) : options_(std::move(options)) {}

  absl::Status Add(HookContext& ctx, const AuditRecord& record) const;

  AuditOptions options_;
  absl::flat_hash_map<std::string, WatchedTable> watched_;
};

absl::StatusOr<std::unique_ptr<const AuditTrail::Impl>>
AuditTrail::Impl::Create(const Schema& schema, AuditOptions options) {
  ASSIGN_OR_RETURN(const RecordType audit,
                   internal::RecordTypeOf(schema, options.table));
  if (audit.descriptor->full_name() != AuditRecord::descriptor()->full_name()) {
    return absl::InvalidArgumentError(
        absl::StrCat("audit table has other records: table=", options.table,
                     " record_type=", audit.descriptor->full_name()));
  }
  if (options.clock == nullptr) options.clock = Clock::System();
  std::unique_ptr<Impl> impl(new Impl(std::move(options)));
  for (const AuditOptions::Watch& watch : impl->options_.watch) {
    const auto refuse = [&watch](const auto& what) {
      return absl::InvalidArgumentError(absl::StrCat(
          "audit trail cannot watch table=", watch.table, ": ", what));
    };
    if (watch.table == impl->options_.table) {
      return refuse("it is the audit table");
    }
    ASSIGN_OR_RETURN(const RecordType record,
                     internal::RecordTypeOf(schema, watch.table));
    absl::StatusOr<WatchedTable> table =
        CompileWatch(*record.descriptor, watch);
    if (!table.ok()) return refuse(table.status().message());
    if (!impl->watched_.try_emplace(watch.table, *std::move(table)).second) {
      return refuse("it is watched twice");
    }
  }
  return impl;
}

absl::Status AuditTrail::Impl::CheckOwn(const RowChange& change) const {
  if (change.table != options_.table || change.added_by == options_.name) {
    return absl::OkStatus();
  }
  if (!change.new_record.has_value() && options_.allow_deletes) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "only the audit trail itself writes its table: table=", options_.table,
      " row_key=", Quote(change.new_key),
      change.added_by.empty()
          ? ""
          : absl::StrCat(" added_by_observer=", ToAbsl(change.added_by))));
}

absl::Status AuditTrail::Impl::Record(HookContext& ctx, const RowChange& change,
                                      uint32_t position,
                                      int64_t time_us) const {
  const auto found = watched_.find(ToAbsl(change.table));
  if (found == watched_.end()) return absl::OkStatus();
  const WatchedTable& table = found->second;

  AuditRecord record;
  record.set_table(found->first);
  record.set_row_key(std::string(change.new_key));
  record.set_sequence(static_cast<uint64_t>(ctx.sequence()));
  record.set_change(position);
  record.set_time_us(time_us);
  record.set_kind(KindOf(change));
  record.set_added_by(std::string(change.added_by));
  if (options_.note) {
    ASSIGN_OR_RETURN(AuditNote note, options_.note(change));
    record.set_who(std::move(note.who));
    record.set_note(std::move(note.note));
  }
  if (record.kind() == AuditRecord::MOVED_IN) {
    AuditRecord pointer = record;
    pointer.set_kind(AuditRecord::MOVED_OUT);
    pointer.set_row_key(std::string(change.old_key));
    pointer.set_other_row_key(std::string(change.new_key));
    RETURN_IF_ERROR(Add(ctx, pointer));
    record.set_other_row_key(std::string(change.old_key));
  }
  RETURN_IF_ERROR(SetImages(table, change, &record));
  if (table.subject.has_value()) {
    RETURN_IF_ERROR(SetSubject(
        *table.subject,
        change.new_record.has_value() ? *change.new_record : *change.old_record,
        &record));
  }
  return Add(ctx, record);
}

absl::Status AuditTrail::Impl::Add(HookContext& ctx,
                                   const AuditRecord& record) const {
  // An insert: a record of the trail is never replaced.
  return ctx.Add({Mutation::Kind::kInsert,
                  options_.table,
                  record.SerializeAsString(),
                  RowRef::Key({}),
                  {},
                  {}});
}

TableBuilder AuditTrail::Table(std::string_view name) {
  return TableBuilder(name, AuditRecord::descriptor())
      .RowKey({Field("table"), Field("row_key"), Field("sequence").Desc(),
               Field("change").Desc()})
      .Index("by_time", {Field("time_us").Desc(), Field("sequence").Desc(),
                         Field("change").Desc()})
      .Unique("by_subject", {Field("table"), Field("subject"),
                             Field("sequence").Desc(), Field("change").Desc()});
}

absl::StatusOr<std::shared_ptr<AuditTrail>> AuditTrail::Create(
    const Schema& schema, AuditOptions options) {
  ASSIGN_OR_RETURN(auto impl, Impl::Create(schema, std::move(options)));
  return std::shared_ptr<AuditTrail>(new AuditTrail(std::move(impl)));
}

AuditTrail::AuditTrail(std::unique_ptr<const Impl> impl)
    : impl_(std::move(impl)) {}

AuditTrail::~AuditTrail() = default;

ObserverTraits AuditTrail::traits() const {
  ObserverTraits traits;
  traits.name = impl_->options().name;
  traits.hooks = kPreBatchMutate;
  traits.priority = impl_->options().priority;
  traits.writes = {impl_->options().table};
  return traits;
}

absl::Status AuditTrail::PreBatchMutate(HookContext& ctx,
                                        const std::vector<RowChange>& changes) {
  for (const RowChange& change : changes) {
    RETURN_IF_ERROR(impl_->CheckOwn(change));
  }
  const int64_t time_us = impl_->options().clock->NowMicros();
  uint32_t position = 0;
  for (const RowChange& change : changes) {
    RETURN_IF_ERROR(impl_->Record(ctx, change, position++, time_us));
  }
  return absl::OkStatus();
}

}  // namespace dovetail

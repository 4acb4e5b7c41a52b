// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/cross_check.h"

#include <cstring>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/row_format.h"
#include "google/protobuf/dynamic_message.h"

namespace dovetail {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Takes down what the overlay would put into the store's batch.
class BatchRecorder final : public StoreBatch {
 public:
  using Operation = std::pair<std::string, std::optional<std::string>>;

  void Put(std::string_view key, std::string_view value) override {
    operations_.emplace_back(std::string(key), std::string(value));
  }
  void Delete(std::string_view key) override {
    operations_.emplace_back(std::string(key), std::nullopt);
  }
  void Clear() override { operations_.clear(); }
  size_t ApproximateBytes() const override { return 0; }

  const std::vector<Operation>& operations() const { return operations_; }

 private:
  std::vector<Operation> operations_;
};

uint64_t SignExtended(int64_t v) { return static_cast<uint64_t>(v); }

template <typename T>
uint64_t BitsOf(T v) {
  uint64_t bits = 0;
  std::memcpy(&bits, &v, sizeof(v));
  return bits;
}

// Element `i` of a repeated field; a text is a view of `message`.
FieldValue ElementOf(const Message& message, const FieldDescriptor& list,
                     int i) {
  const Reflection& reflection = *message.GetReflection();
  FieldValue value;
  value.is_null = false;
  std::string unused;
  switch (list.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      value.bits = reflection.GetRepeatedBool(message, &list, i) ? 1 : 0;
      break;
    case FieldDescriptor::CPPTYPE_INT32:
      value.bits = SignExtended(reflection.GetRepeatedInt32(message, &list, i));
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      value.bits = SignExtended(reflection.GetRepeatedInt64(message, &list, i));
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      value.bits = reflection.GetRepeatedUInt32(message, &list, i);
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      value.bits = reflection.GetRepeatedUInt64(message, &list, i);
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      value.bits =
          SignExtended(reflection.GetRepeatedEnumValue(message, &list, i));
      break;
    case FieldDescriptor::CPPTYPE_FLOAT:
      value.bits = BitsOf(reflection.GetRepeatedFloat(message, &list, i));
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      value.bits = BitsOf(reflection.GetRepeatedDouble(message, &list, i));
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      value.text =
          reflection.GetRepeatedStringReference(message, &list, i, &unused);
      break;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;  // No list of an index is of messages.
  }
  return value;
}

// A google.protobuf.Timestamp, or a message of that form.
FieldValue TimestampOf(const Message& at) {
  const google::protobuf::Descriptor& type = *at.GetDescriptor();
  const Reflection& reflection = *at.GetReflection();
  FieldValue value;
  value.is_null = false;
  value.bits = SignExtended(reflection.GetInt64(at, type.FindFieldByNumber(1)));
  value.nanos = reflection.GetInt32(at, type.FindFieldByNumber(2));
  return value;
}

// A text is a view of `message`.
FieldValue FieldOf(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  FieldValue value;
  if (field.has_presence() && !reflection.HasField(message, &field)) {
    return value;
  }
  value.is_null = false;
  std::string unused;  // Reflection of a dynamic message never needs it.
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      value.bits = reflection.GetBool(message, &field) ? 1 : 0;
      break;
    case FieldDescriptor::CPPTYPE_INT32:
      value.bits = SignExtended(reflection.GetInt32(message, &field));
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      value.bits = SignExtended(reflection.GetInt64(message, &field));
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      value.bits = reflection.GetUInt32(message, &field);
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      value.bits = reflection.GetUInt64(message, &field);
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      value.bits = SignExtended(reflection.GetEnumValue(message, &field));
      break;
    case FieldDescriptor::CPPTYPE_FLOAT:
      value.bits = BitsOf(reflection.GetFloat(message, &field));
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      value.bits = BitsOf(reflection.GetDouble(message, &field));
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      value.text = reflection.GetStringReference(message, &field, &unused);
      break;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return TimestampOf(reflection.GetMessage(message, &field));
  }
  return value;
}

// Of a repeated field of scalars, which `numbers` lead to.
void ElementsAt(const Message& record, const std::vector<int>& numbers,
                uint32_t at, std::vector<ListElement>* elements) {
  const Message* message = &record;
  for (size_t i = 0; i + 1 < numbers.size(); ++i) {
    const FieldDescriptor* field =
        message->GetDescriptor()->FindFieldByNumber(numbers[i]);
    const Reflection& reflection = *message->GetReflection();
    if (!reflection.HasField(*message, field)) return;
    message = &reflection.GetMessage(*message, field);
  }
  const FieldDescriptor* list =
      message->GetDescriptor()->FindFieldByNumber(numbers.back());
  const Reflection& reflection = *message->GetReflection();
  for (int i = 0; i < reflection.FieldSize(*message, list); ++i) {
    elements->push_back({at, ElementOf(*message, *list, i)});
  }
}

FieldValue FieldAt(const Message& record, const std::vector<int>& numbers) {
  const Message* message = &record;
  for (size_t i = 0;; ++i) {
    const FieldDescriptor* field =
        message->GetDescriptor()->FindFieldByNumber(numbers[i]);
    if (i + 1 == numbers.size()) return FieldOf(*message, *field);
    const Reflection& reflection = *message->GetReflection();
    if (!reflection.HasField(*message, field)) return FieldValue();
    message = &reflection.GetMessage(*message, field);
  }
}

std::string Describe(const GroupValue& value) {
  std::ostringstream sum;
  sum << value.sum;
  return absl::StrCat("count=", value.count, " sum=", sum.str());
}

std::string Describe(const std::optional<std::string>& value) {
  return value.has_value() ? Quote(*value, 256) : "(none)";
}

}  // namespace

// Rows of one table, read the slow way.
class CrossCheck::Parser {
 public:
  explicit Parser(const TableState& table)
      : table_(&table),
        prototype_(factory_.GetPrototype(&table.compiled->record_type())) {}

  // Adds the entries of the row under `key` with this stored value, if it has
  // one, to one side of the diffs, by position of the index. Internal if the
  // bytes are no row, or the row does not belong there.
  absl::Status AddEntries(const std::string& key, const Value& value,
                          std::set<Entry> EntryDiff::*side,
                          const DigestKeeper& digests,
                          std::vector<EntryDiff>* diffs) const {
    if (!value.has_value()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const StoredRow stored, DecodeRow(*value));
    const std::unique_ptr<Message> message(prototype_->New());
    if (!message->ParseFromArray(stored.record.data(),
                                 static_cast<int>(stored.record.size()))) {
      return absl::InternalError("record does not parse");
    }
    const CompiledTable& compiled = *table_->compiled;
    EncodedRow row;
    for (const FieldInfo& field : compiled.fields()) {
      if (field.repeated) {
        ElementsAt(*message, field.numbers,
                   static_cast<uint32_t>(row.fields.size()), &row.elements);
        row.fields.emplace_back();
      } else {
        row.fields.push_back(FieldAt(*message, field.numbers));
      }
    }
    ASSIGN_OR_RETURN(const uint32_t salt, compiled.SaltOf(key));
    RETURN_IF_ERROR(compiled.EncodeKey(salt, &row));
    if (row.key != key) {
      return absl::InternalError(absl::StrCat(
          "row is not under its record's key: row_key=", Quote(key, 256)));
    }
    for (size_t i = 0; i < diffs->size(); ++i) {
      const IndexDefinition& index = compiled.indexes()[i];
      std::vector<IndexDefinition::Entry> entries;
      RETURN_IF_ERROR(index.EncodeEntries(row, {}, &entries));
      if (index.aggregates()) {
        if (!digests.Reached(*table_, static_cast<int>(i), key)) continue;
        const GroupValue one = index.Contribution(row.fields);
        for (const IndexDefinition::Entry& group : entries) {
          (*diffs)[i].groups[group.key] +=
              side == &EntryDiff::come ? one : -one;
        }
        continue;
      }
      for (IndexDefinition::Entry& entry : entries) {
        std::string back;
        RETURN_IF_ERROR(index.RowKeyOf(entry.key, entry.value, &back));
        if (back != key) {
          return absl::InternalError(absl::StrCat(
              "an entry does not lead back to its row: index=", index.name(),
              " entry_key=", Quote(entry.key, 256)));
        }
        ((*diffs)[i].*side)
            .emplace(std::move(entry.key), std::move(entry.value));
      }
    }
    return absl::OkStatus();
  }

 private:
  const TableState* const table_;
  google::protobuf::DynamicMessageFactory factory_;
  const Message* const prototype_;
};

CrossCheck::CrossCheck() = default;
CrossCheck::~CrossCheck() = default;

void CrossCheck::Begin(const std::shared_ptr<const SchemaState>& schema) {
  checked_.clear();
  if (schema == schema_) return;
  parsers_.clear();
  schema_ = schema;
}

absl::Status CrossCheck::Check(const SerialView& view,
                               SequenceNumber sequence) {
  ASSIGN_OR_RETURN(const std::vector<TableChanges> changes,
                   ChangesSinceLast(view));
  for (size_t t = 0; t < changes.size(); ++t) {
    const absl::Status status =
        CheckTable(schema_->tables()[t], changes[t], view);
    if (status.ok()) continue;
    return absl::InternalError(absl::StrCat(
        "cross-check refuses a request, whose entries do not follow from its "
        "rows: sequence=",
        static_cast<uint64_t>(sequence), " table=", schema_->tables()[t].name(),
        ": ", status.message()));
  }
  return absl::OkStatus();
}

void CrossCheck::Accept(const SerialView& view) {
  BatchRecorder recorder;
  view.overlay().AppendTo(&recorder, /*known=*/nullptr);
  for (const auto& [key, value] : recorder.operations()) {
    checked_.insert_or_assign(key, value);
  }
}

absl::StatusOr<std::vector<CrossCheck::TableChanges>>
CrossCheck::ChangesSinceLast(const SerialView& view) const {
  // Prefixes of spaces are free of each other: at most one fits a key.
  absl::flat_hash_map<std::string, std::pair<size_t, int>> places;
  std::vector<TableChanges> all(schema_->tables().size());
  for (size_t t = 0; t < all.size(); ++t) {
    const TableState& table = schema_->tables()[t];
    all[t].entries.resize(table.indexes.size());
    for (int i = -1; i < static_cast<int>(table.indexes.size()); ++i) {
      places[table.prefix(i)] = {t, i};
    }
  }
  BatchRecorder recorder;
  view.overlay().AppendTo(&recorder, /*known=*/nullptr);
  for (const auto& [key, value] : recorder.operations()) {
    ASSIGN_OR_RETURN(const Value before, Before(view, key));
    if (before == value) continue;
    for (const size_t n : {size_t{1}, size_t{3}, size_t{5}}) {
      const auto place = places.find(key.substr(0, n));
      if (place == places.end()) continue;
      const auto [t, i] = place->second;
      Changes& space =
          i < 0 ? all[t].rows : all[t].entries[static_cast<size_t>(i)];
      space[key.substr(n)] = value;
      break;
    }
  }
  return all;
}

absl::StatusOr<CrossCheck::Value> CrossCheck::Before(
    const SerialView& view, const std::string& key) const {
  const auto it = checked_.find(key);
  if (it != checked_.end()) return it->second;
  return view.ReadStored(key);
}

absl::Status CrossCheck::CheckTable(const TableState& table,
                                    const TableChanges& changes,
                                    const SerialView& view) {
  std::vector<EntryDiff> diffs(table.indexes.size());
  if (!changes.rows.empty()) {
    std::unique_ptr<Parser>& parser = parsers_[table.name()];
    if (parser == nullptr) parser = std::make_unique<Parser>(table);
    for (const auto& [key, after] : changes.rows) {
      ASSIGN_OR_RETURN(const Value before,
                       Before(view, table.rows_prefix + key));
      RETURN_IF_ERROR(parser->AddEntries(key, before, &EntryDiff::go,
                                         view.digests(), &diffs));
      RETURN_IF_ERROR(parser->AddEntries(key, after, &EntryDiff::come,
                                         view.digests(), &diffs));
    }
  }
  for (size_t i = 0; i < diffs.size(); ++i) {
    if (!table.Maintains(i)) continue;
    const bool groups = table.compiled->indexes()[i].aggregates();
    RETURN_IF_ERROR(
        groups ? CheckGroups(table, i, diffs[i], changes.entries[i], view)
               : CheckIndex(table, i, diffs[i], changes.entries[i], view));
  }
  return absl::OkStatus();
}

absl::StatusOr<GroupValue> CrossCheck::Counted(const IndexDefinition& index,
                                               const Value& value) const {
  if (!value.has_value()) return GroupValue();
  return ParseGroupValue(*value, index.sums());
}

absl::Status CrossCheck::CheckGroups(const TableState& table, size_t index,
                                     const EntryDiff& diff,
                                     const Changes& changes,
                                     const SerialView& view) const {
  const IndexDefinition& definition = table.compiled->indexes()[index];
  const std::string& prefix = table.entry_prefixes[index];
  absl::btree_map<std::string, GroupValue> all = diff.groups;
  for (const auto& [key, value] : changes) all.try_emplace(key);
  for (const auto& [key, gained] : all) {
    ASSIGN_OR_RETURN(const Value before, Before(view, prefix + key));
    ASSIGN_OR_RETURN(const Value after, view.Read(prefix + key));
    ASSIGN_OR_RETURN(const GroupValue was, Counted(definition, before));
    ASSIGN_OR_RETURN(const GroupValue is, Counted(definition, after));
    GroupValue wanted = was;
    wanted += gained;
    if (is == wanted) continue;
    return absl::InternalError(absl::StrCat(
        "a counter does not follow from the rows that changed: index=",
        definition.name(), " entry_key=", Quote(key, 256), " before=",
        Describe(was), " has=", Describe(is), " wanted=", Describe(wanted)));
  }
  return absl::OkStatus();
}

absl::Status CrossCheck::CheckIndex(const TableState& table, size_t index,
                                    const EntryDiff& diff,
                                    const Changes& changes,
                                    const SerialView& view) const {
  const std::string& prefix = table.entry_prefixes[index];
  const auto wrong = [&](std::string_view what, const std::string& key) {
    return absl::InternalError(
        absl::StrCat(ToAbsl(what), ": index=", table.indexes[index].name(),
                     " entry_key=", Quote(key, 256)));
  };
  Changes expected;
  for (const Entry& entry : diff.go) {
    if (diff.come.contains(entry)) continue;
    const auto& [key, value] = entry;
    expected[key] = std::nullopt;
    if (table.state(index) != v1::INDEX_BUILDING) continue;
    // The build may not have come to the row: then the entry is not there, or
    // is that of another row with the same values.
    ASSIGN_OR_RETURN(const Value before, Before(view, prefix + key));
    if (before != value) expected[key] = before;
  }
  for (const Entry& entry : diff.come) {
    if (diff.go.contains(entry)) continue;
    const auto& [key, value] = entry;
    ASSIGN_OR_RETURN(const Value before, Before(view, prefix + key));
    if (before.has_value() && !diff.go.contains({key, *before})) {
      return wrong("an entry is taken from a row that keeps it", key);
    }
    Value& wanted = expected[key];
    if (wanted.has_value()) return wrong("two rows have one entry", key);
    wanted = value;
  }
  for (const auto& [key, value] : changes) {
    if (!expected.contains(key)) {
      return wrong("an entry changes without its row", key);
    }
  }
  for (const auto& [key, wanted] : expected) {
    ASSIGN_OR_RETURN(const Value is, view.Read(prefix + key));
    if (is == wanted) continue;
    return wrong(absl::StrCat("an entry is wrong, has=", Describe(is),
                              " wanted=", Describe(wanted)),
                 key);
  }
  return absl::OkStatus();
}

}  // namespace dovetail

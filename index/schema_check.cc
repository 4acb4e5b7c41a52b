// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "index/compiled_table.h"

namespace dovetail {
namespace {

absl::Status Differs(const CompiledTable& table, std::string_view what,
                     std::string_view stored, std::string_view wanted) {
  return absl::FailedPreconditionError(absl::StrCat(
      "schema contradicts the database: table=", table.name(), " ",
      ToAbsl(what), ": database=", ToAbsl(stored), " schema=", ToAbsl(wanted),
      "; open with the stored schema, or copy the records "
      "into a new table"));
}

absl::Status CompareParts(
    const CompiledTable& table, const std::string& place,
    const google::protobuf::RepeatedPtrField<v1::KeyPart>& stored,
    const google::protobuf::RepeatedPtrField<v1::KeyPart>& wanted) {
  const int count = std::max(stored.size(), wanted.size());
  for (int i = 0; i < count; ++i) {
    const std::string s =
        i < stored.size() ? stored[i].ShortDebugString() : "(none)";
    const std::string w =
        i < wanted.size() ? wanted[i].ShortDebugString() : "(none)";
    if (s != w) {
      return Differs(table, absl::StrCat(place, " part ", i + 1),
                     absl::StrCat("{", s, "}"), absl::StrCat("{", w, "}"));
    }
  }
  return absl::OkStatus();
}

absl::Status CompareIndexes(const CompiledTable& stored,
                            const CompiledTable& wanted) {
  for (const v1::IndexSchema& s : stored.schema().indexes()) {
    const int at = wanted.FindIndex(s.name());
    if (at < 0) {
      return Differs(stored, absl::StrCat("index=", s.name()), "has it",
                     "does not declare it");
    }
    const v1::IndexSchema& w = wanted.schema().indexes(at);
    if (s.kind() != w.kind()) {
      return Differs(stored, absl::StrCat("index=", s.name(), " kind"),
                     v1::IndexSchema::Kind_Name(s.kind()),
                     v1::IndexSchema::Kind_Name(w.kind()));
    }
    RETURN_IF_ERROR(CompareParts(stored, absl::StrCat("index=", s.name()),
                                 s.parts(), w.parts()));
  }
  for (const v1::IndexSchema& w : wanted.schema().indexes()) {
    if (stored.FindIndex(w.name()) < 0) {
      return Differs(stored, absl::StrCat("index=", w.name()),
                     "does not have it", "declares it");
    }
  }
  return absl::OkStatus();
}

std::string Describe(const FieldInfo& field) {
  std::string numbers;
  for (const int n : field.numbers) {
    absl::StrAppend(&numbers, numbers.empty() ? "" : ".", n);
  }
  return absl::StrCat(ToAbsl(FieldTypeName(field.type)), " = ", numbers,
                      field.nullable ? " (can be null)" : "");
}

// The declarations are equal by now, so both lists have the same paths.
absl::Status CompareFields(const CompiledTable& stored,
                           const CompiledTable& wanted) {
  for (size_t i = 0; i < stored.fields().size(); ++i) {
    const std::string s = Describe(stored.fields()[i]);
    const std::string w = Describe(wanted.fields()[i]);
    if (s != w) {
      return Differs(stored, absl::StrCat("field=", stored.fields()[i].path), s,
                     w);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckCompatible(const CompiledTable& stored,
                             const CompiledTable& wanted) {
  const v1::TableSchema& s = stored.schema();
  const v1::TableSchema& w = wanted.schema();
  if (s.record_type() != w.record_type()) {
    return Differs(stored, "record type", s.record_type(), w.record_type());
  }
  RETURN_IF_ERROR(CompareParts(stored, "row key", s.row_key().parts(),
                               w.row_key().parts()));
  RETURN_IF_ERROR(CompareIndexes(stored, wanted));
  if (s.identity() != w.identity()) {
    return Differs(stored, "identity", Quote(s.identity()),
                   Quote(w.identity()));
  }
  // Indexes may be declared in another order; compile the wanted fields in
  // the stored one.
  v1::TableSchema reordered = s;
  *reordered.mutable_descriptors() = w.descriptors();
  ASSIGN_OR_RETURN(const auto same_order, CompiledTable::Compile(reordered));
  return CompareFields(stored, *same_order);
}

}  // namespace dovetail

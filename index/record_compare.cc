// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The changes of a record type: field by field, by number, through every
// message that can be reached from it.

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "index/schema_compare.h"

namespace dovetail {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;

std::string TypeWords(const FieldDescriptor& field) {
  std::string words = field.is_repeated() ? "repeated " : "";
  if (field.is_required()) words += "required ";
  if (field.has_presence() && field.message_type() == nullptr &&
      !field.is_required()) {
    words += "optional ";
  }
  absl::StrAppend(&words, field.type_name());
  if (const Descriptor* m = field.message_type(); m != nullptr) {
    absl::StrAppend(&words, " ", m->full_name());
  } else if (const EnumDescriptor* e = field.enum_type(); e != nullptr) {
    absl::StrAppend(&words, " ", e->full_name());
  }
  return absl::StrCat(words, " ", field.name(), " = ", field.number());
}

// Whether every value of the one type has the same bytes in the other.
bool Widens(const FieldDescriptor& s, const FieldDescriptor& w) {
  using F = FieldDescriptor;
  const auto to = [&w](std::initializer_list<F::Type> types) {
    return std::find(types.begin(), types.end(), w.type()) != types.end();
  };
  if (s.type() == w.type()) return true;
  switch (s.type()) {
    case F::TYPE_BOOL:
      return to({F::TYPE_INT32, F::TYPE_INT64, F::TYPE_UINT32, F::TYPE_UINT64});
    case F::TYPE_ENUM:
      return to({F::TYPE_INT32, F::TYPE_INT64});
    case F::TYPE_INT32:
      return to({F::TYPE_INT64});
    case F::TYPE_UINT32:
      return to({F::TYPE_UINT64, F::TYPE_INT64});
    case F::TYPE_SINT32:
      return to({F::TYPE_SINT64});
    case F::TYPE_STRING:
      return to({F::TYPE_BYTES});
    default:
      return false;
  }
}

class Comparison {
 public:
  explicit Comparison(const CompiledTable& stored) : stored_(stored) {}

  void Messages(const Descriptor& s, const Descriptor& w,
                const std::string& path) {
    // Recursive types, and types that several fields have, once.
    if (!seen_.insert({&s, &w}).second) return;
    for (int i = 0; i < s.field_count(); ++i) {
      const FieldDescriptor& field = *s.field(i);
      const std::string at = Join(path, field.name());
      if (const FieldDescriptor* same = w.FindFieldByNumber(field.number());
          same != nullptr) {
        Fields(field, *same, at);
      } else if (const FieldDescriptor* named = w.FindFieldByName(field.name());
                 named != nullptr) {
        Add("field-renumbered", at, TypeWords(field), TypeWords(*named));
      } else {
        Add(IsKey(field, at) ? "key-field-removed" : "field-removed", at,
            TypeWords(field), "");
      }
    }
    for (int i = 0; i < w.field_count(); ++i) {
      const FieldDescriptor& field = *w.field(i);
      if (s.FindFieldByNumber(field.number()) != nullptr ||
          s.FindFieldByName(field.name()) != nullptr) {
        continue;
      }
      const std::string at = Join(path, field.name());
      Add("field-added", at, "", TypeWords(field));
      if (field.is_required()) Add("required-added", at, "", TypeWords(field));
    }
  }

  std::vector<SchemaChange> Take() && { return std::move(changes_); }

 private:
  static std::string Join(const std::string& path, const std::string& name) {
    return path.empty() ? name : absl::StrCat(path, ".", name);
  }

  // Whether a key of the stored table reads the field, or one inside it.
  bool IsKey(const FieldDescriptor& field, const std::string& at) const {
    for (const FieldInfo& info : stored_.fields()) {
      if (info.path == at) return true;
      if (field.message_type() != nullptr &&
          info.path.starts_with(absl::StrCat(at, "."))) {
        return true;
      }
    }
    return false;
  }

  void Add(std::string_view rule, const std::string& at, std::string stored,
           std::string wanted) {
    changes_.push_back(MakeChange(rule, stored_, absl::StrCat("field=", at),
                                  std::move(stored), std::move(wanted)));
  }

  void Fields(const FieldDescriptor& s, const FieldDescriptor& w,
              const std::string& at) {
    const bool key = IsKey(s, at);
    const std::string stored = TypeWords(s);
    const std::string wanted = TypeWords(w);
    if (s.name() != w.name()) {
      Add(key ? "key-field-renamed" : "field-renamed", at, stored, wanted);
    }
    if (s.is_repeated() != w.is_repeated()) {
      Add("field-cardinality-changed", at, stored, wanted);
      return;
    }
    if (!Widens(s, w)) {
      Add(key ? "key-field-type-changed" : "field-type-changed", at, stored,
          wanted);
      return;
    }
    const Descriptor* const sm = s.message_type();
    const Descriptor* const wm = w.message_type();
    const bool other_message =
        sm != nullptr && sm->full_name() != wm->full_name();
    if (s.type() != w.type() || other_message) {
      Add(key ? "key-field-type-changed" : "field-type-widened", at, stored,
          wanted);
    }
    if (!s.is_required() && w.is_required()) {
      Add("required-added", at, stored, wanted);
    } else if (s.is_required() && !w.is_required()) {
      Add("required-removed", at, stored, wanted);
    }
    const bool s_null = s.has_presence() && !s.is_required();
    const bool w_null = w.has_presence() && !w.is_required();
    if (s_null != w_null) {
      Add(key ? "key-field-presence-changed" : "field-presence-changed", at,
          stored, wanted);
    }
    if (sm != nullptr) Messages(*sm, *wm, at);
    if (s.enum_type() != nullptr && w.enum_type() != nullptr) {
      Enums(*s.enum_type(), *w.enum_type(), at);
    }
  }

  void Enums(const EnumDescriptor& s, const EnumDescriptor& w,
             const std::string& at) {
    const auto words = [](const EnumValueDescriptor& v) {
      return absl::StrCat(v.name(), " = ", v.number());
    };
    for (int i = 0; i < s.value_count(); ++i) {
      const EnumValueDescriptor& value = *s.value(i);
      const EnumValueDescriptor* named = w.FindValueByName(value.name());
      if (named == nullptr) {
        Add("enum-value-removed", at, words(value), "");
      } else if (named->number() != value.number()) {
        Add("enum-value-renumbered", at, words(value), words(*named));
      }
    }
    for (int i = 0; i < w.value_count(); ++i) {
      const EnumValueDescriptor& value = *w.value(i);
      if (s.FindValueByName(value.name()) == nullptr) {
        Add("enum-value-added", at, "", words(value));
      }
    }
  }

  const CompiledTable& stored_;
  std::vector<SchemaChange> changes_;
  std::set<std::pair<const Descriptor*, const Descriptor*>> seen_;
};

}  // namespace

std::vector<SchemaChange> CompareRecords(const CompiledTable& stored,
                                         const CompiledTable& wanted) {
  Comparison comparison(stored);
  comparison.Messages(stored.record_type(), wanted.record_type(), "");
  return std::move(comparison).Take();
}

}  // namespace dovetail

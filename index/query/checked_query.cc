// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/query/checked_query.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/query.h"
#include "index/field_path.h"

namespace dovetail {
namespace {

using google::protobuf::EnumValueDescriptor;

constexpr int kEnumNamesListedMax = 20;

bool IsString(FieldType type) {
  return type == FieldType::kString || type == FieldType::kBytes;
}

Value ToValue(const v1::Literal& literal) {
  switch (literal.kind_case()) {
    case v1::Literal::kBool:
      return literal.bool_();
    case v1::Literal::kInt:
      return literal.int_();
    case v1::Literal::kUint:
      return literal.uint();
    case v1::Literal::kDouble:
      return literal.double_();
    case v1::Literal::kString:
      return literal.string();
    case v1::Literal::kBytes:
      return literal.bytes();
    case v1::Literal::kTimestamp:
      return TimestampValue{literal.timestamp().seconds(),
                            literal.timestamp().nanos()};
    case v1::Literal::kNull:
    case v1::Literal::KIND_NOT_SET:
      return Value();
  }
  return Value();
}

absl::Status Misfit(const QueryField& field, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat(ToAbsl(why), ": field=", field.info.path,
                   " type=", ToAbsl(FieldTypeName(field.info.type))));
}

absl::StatusOr<Value> EnumNumber(const QueryField& field,
                                 const std::string& name) {
  const EnumValueDescriptor* value = field.enum_type->FindValueByName(name);
  if (value != nullptr) return Value(value->number());
  std::string names;
  for (int i = 0; i < field.enum_type->value_count(); ++i) {
    if (i == kEnumNamesListedMax) {
      names += ",...";
      break;
    }
    absl::StrAppend(&names, i == 0 ? "" : ",",
                    field.enum_type->value(i)->name());
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the enum has no value of that name: field=", field.info.path,
      " name=", Quote(name), " names=", names));
}

// The sortable bytes of a value for the field.
absl::StatusOr<std::string> Bind(const QueryField& field,
                                 const v1::Literal& literal) {
  Value value = ToValue(literal);
  if (value.is_null()) {
    return Misfit(field,
                  "a comparison with null never holds; ask with is_null");
  }
  if (field.enum_type != nullptr && value.kind() == Value::Kind::kString) {
    ASSIGN_OR_RETURN(value, EnumNumber(field, value.as_string()));
  }
  const absl::StatusOr<FieldValue> bound = ToFieldValue(value, field.info.type);
  if (!bound.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(bound.status().message(), " field=", field.info.path));
  }
  std::string buffer;
  return std::string(SortableBytes(field.info.type, *bound, &buffer));
}

absl::StatusOr<ValueSet> InSet(const QueryField& field,
                               const v1::Expression::In& in) {
  std::vector<std::string> values;
  values.reserve(static_cast<size_t>(in.values_size()));
  for (const v1::Literal& literal : in.values()) {
    ASSIGN_OR_RETURN(std::string value, Bind(field, literal));
    values.push_back(std::move(value));
  }
  return ValueSet::Points(std::move(values));
}

absl::StatusOr<ValueSet> RangeSet(const QueryField& field,
                                  const v1::Expression::Range& range) {
  ValueInterval interval;
  if (range.has_min()) {
    ASSIGN_OR_RETURN(interval.begin, Bind(field, range.min()));
    interval.begin_after = range.min_exclusive();
  }
  if (range.has_max()) {
    ASSIGN_OR_RETURN(interval.end, Bind(field, range.max()));
    interval.end_after = !range.max_exclusive();
  }
  return ValueSet::Of(std::move(interval));
}

absl::StatusOr<ValueSet> PrefixSet(const QueryField& field,
                                   const v1::Expression::Prefix& prefix) {
  if (!IsString(field.info.type)) {
    return Misfit(field, "only strings and bytes have prefixes");
  }
  ValueInterval interval;
  ASSIGN_OR_RETURN(interval.begin, Bind(field, prefix.prefix()));
  std::string end = PrefixEnd(interval.begin);
  if (!end.empty()) interval.end = std::move(end);
  return ValueSet::Of(std::move(interval));
}

absl::StatusOr<ValueSet> ConditionSet(const QueryField& field,
                                      const v1::Expression& condition) {
  switch (condition.kind_case()) {
    case v1::Expression::kEqual: {
      ASSIGN_OR_RETURN(std::string value,
                       Bind(field, condition.equal().value()));
      return ValueSet::Point(std::move(value));
    }
    case v1::Expression::kIn:
      return InSet(field, condition.in());
    case v1::Expression::kRange:
      return RangeSet(field, condition.range());
    case v1::Expression::kPrefix:
      return PrefixSet(field, condition.prefix());
    default:
      return ValueSet::Null();
  }
}

// Turns the parts of one query into their checked forms.
class Checker {
 public:
  Checker(const CompiledTable& table, CheckedQuery* out)
      : table_(table), out_(*out) {}

  absl::StatusOr<Predicate> Check(const v1::Expression& e, size_t depth) {
    if (depth > kFilterDepthMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("filter is nested too deep; write it flatter: max=",
                       kFilterDepthMax));
    }
    if (++nodes_ > kFilterNodesMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("filter has too many conditions; split the query, or "
                       "use In for many values of one field: max=",
                       kFilterNodesMax));
    }
    switch (e.kind_case()) {
      case v1::Expression::kAnd:
        return List(Predicate::Kind::kAll, e.and_().of(), depth);
      case v1::Expression::kOr:
        return List(Predicate::Kind::kAny, e.or_().of(), depth);
      case v1::Expression::kNot: {
        Predicate p{Predicate::Kind::kNot, {}, 0, {}};
        ASSIGN_OR_RETURN(Predicate input, Check(e.not_(), depth + 1));
        p.inputs.push_back(std::move(input));
        return p;
      }
      case v1::Expression::kIn:
        values_ += static_cast<size_t>(e.in().values_size());
        if (values_ > kFilterValuesMax) {
          return absl::InvalidArgumentError(absl::StrCat(
              "too many values in In; ask for them in several queries: field=",
              e.in().field(), " values=", e.in().values_size(),
              " max=", kFilterValuesMax));
        }
        return Condition(e);
      case v1::Expression::kEqual:
      case v1::Expression::kRange:
      case v1::Expression::kPrefix:
      case v1::Expression::kIsNull:
        return Condition(e);
      case v1::Expression::KIND_NOT_SET:
        return Predicate();
    }
    return Predicate();
  }

  absl::Status CheckOrder(const v1::Query& query) {
    if (query.order_by_row_key() && !query.order_by().empty()) {
      return absl::InvalidArgumentError(
          "a query is ordered by fields or by the row key, not both: rows of "
          "equal fields are in the order of the row key anyway");
    }
    if (static_cast<size_t>(query.order_by_size()) > kOrderFieldsMax) {
      return absl::InvalidArgumentError(absl::StrCat(
          "too many fields to order by: fields=", query.order_by_size(),
          " max=", kOrderFieldsMax));
    }
    for (const v1::OrderBy& by : query.order_by()) {
      ASSIGN_OR_RETURN(const size_t slot, Slot(by.field()));
      const bool nulls_last = by.nulls() == v1::OrderBy::NULLS_DEFAULT
                                  ? by.descending()
                                  : by.nulls() == v1::OrderBy::NULLS_LAST;
      AddOrder(
          {slot, {out_.fields[slot].info.type, by.descending(), nulls_last}});
    }
    out_.order_named = out_.order.size();
    out_.ordered = query.order_by_row_key() || out_.order_named > 0;
    return query.order_by_row_key() ? absl::OkStatus() : AddRowKeyFields();
  }

 private:
  // Fields, not bytes: an entry that can compute a hash in the row key does not
  // carry it, and so could not give its order. Behind a part whose bytes do not
  // sort like its field the order is that of the bytes.
  absl::Status AddRowKeyFields() {
    for (const KeyPart& part : table_.row_key().parts()) {
      if (part.computed()) continue;
      if (part.transform == KeyPart::Transform::kReverse) break;
      ASSIGN_OR_RETURN(const size_t slot, Slot(part.input_paths[0]));
      AddOrder({slot, {part.type(), part.descending, part.nulls_last}});
    }
    return absl::OkStatus();
  }

  // Unless it decides nothing more.
  void AddOrder(const OrderField& field) {
    const bool known =
        std::any_of(out_.order.begin(), out_.order.end(),
                    [&](const OrderField& f) { return f.slot == field.slot; });
    if (!known) out_.order.push_back(field);
  }

  absl::StatusOr<size_t> Slot(const std::string& path) {
    for (size_t i = 0; i < out_.fields.size(); ++i) {
      if (out_.fields[i].info.path == path) return i;
    }
    QueryField field;
    ASSIGN_OR_RETURN(field.info, ResolveField(table_.record_type(), path));
    for (size_t i = 0; i < table_.fields().size(); ++i) {
      if (table_.fields()[i].path == path) {
        field.table_field = static_cast<int>(i);
      }
    }
    if (field.info.type == FieldType::kEnum) {
      ASSIGN_OR_RETURN(const auto fields,
                       ResolvePath(table_.record_type(), path));
      field.enum_type = fields.back()->enum_type();
    }
    out_.fields.push_back(std::move(field));
    return out_.fields.size() - 1;
  }

  absl::StatusOr<Predicate> List(
      Predicate::Kind kind,
      const google::protobuf::RepeatedPtrField<v1::Expression>& of,
      size_t depth) {
    Predicate p{kind, {}, 0, {}};
    p.inputs.reserve(static_cast<size_t>(of.size()));
    for (const v1::Expression& e : of) {
      ASSIGN_OR_RETURN(Predicate input, Check(e, depth + 1));
      p.inputs.push_back(std::move(input));
    }
    return p;
  }

  absl::StatusOr<Predicate> Condition(const v1::Expression& e) {
    ASSIGN_OR_RETURN(const size_t slot, Slot(*ConditionField(e)));
    ASSIGN_OR_RETURN(ValueSet set, SetOfCondition(out_.fields[slot], e));
    return Predicate{Predicate::Kind::kTest, {}, slot, std::move(set)};
  }

  const CompiledTable& table_;
  CheckedQuery& out_;
  size_t nodes_ = 0;
  size_t values_ = 0;
};

absl::StatusOr<int> FindHint(const CompiledTable& table,
                             const std::string& name) {
  if (name == Query::kRowKey) return -1;
  const int index = table.FindIndex(name);
  if (index >= 0) return index;
  return absl::NotFoundError(absl::StrCat(
      "hint names no index of the table: index=", Quote(name), " indexes=",
      absl::StrJoin(table.indexes(), ",",
                    [](std::string* out, const IndexDefinition& i) {
                      out->append(i.name());
                    }),
      ",", ToAbsl(Query::kRowKey)));
}

absl::Status CheckHints(const CompiledTable& table, const v1::Query& query,
                        CheckedQuery* out) {
  for (int i = -1; i < static_cast<int>(table.indexes().size()); ++i) {
    out->usable.push_back(i);
  }
  if (!query.use_index().empty()) {
    ASSIGN_OR_RETURN(const int index, FindHint(table, query.use_index()));
    out->usable = {index};
  }
  for (const std::string& name : query.avoid_indexes()) {
    ASSIGN_OR_RETURN(const int index, FindHint(table, name));
    std::erase(out->usable, index);
  }
  if (!out->usable.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "the hints leave nothing to read: avoid fewer indexes");
}

absl::Status CheckBudget(const v1::Query& query) {
  const v1::QueryBudget& b = query.budget();
  const bool zero = (b.has_rows() && b.rows() == 0) ||
                    (b.has_entries() && b.entries() == 0) ||
                    (b.has_bytes() && b.bytes() == 0) ||
                    (b.has_micros() && b.micros() == 0);
  if (zero) {
    return absl::InvalidArgumentError(
        "a budget of 0 reads nothing; leave it out for no budget");
  }
  if (query.read_ahead() > kReadAheadMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("read-ahead is too long: entries=", query.read_ahead(),
                     " max=", kReadAheadMax));
  }
  return absl::OkStatus();
}

// Keys' fields are read with the table's extractor, which is compiled already.
absl::Status ChooseExtractor(const CompiledTable& table, CheckedQuery* out) {
  const bool known =
      std::all_of(out->fields.begin(), out->fields.end(),
                  [](const QueryField& f) { return f.table_field >= 0; });
  if (known) return absl::OkStatus();
  std::vector<std::string> paths;
  for (const QueryField& field : out->fields) paths.push_back(field.info.path);
  ASSIGN_OR_RETURN(Extractor extractor,
                   Extractor::Compile(table.record_type(), paths));
  out->extractor = std::make_unique<const Extractor>(std::move(extractor));
  return absl::OkStatus();
}

absl::Status InTable(const CompiledTable& table, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), " table=", table.name()));
}

absl::Status Check(const CompiledTable& table, const v1::Query& query,
                   CheckedQuery* out) {
  Checker checker(table, out);
  ASSIGN_OR_RETURN(out->where, checker.Check(query.where(), 1));
  // Its depth is known to be small, so that measuring it is safe.
  if (const size_t bytes = query.where().ByteSizeLong();
      bytes > kFilterBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("filter is too large; split the query: bytes=", bytes,
                     " max=", kFilterBytesMax));
  }
  RETURN_IF_ERROR(checker.CheckOrder(query));
  RETURN_IF_ERROR(CheckHints(table, query, out));
  RETURN_IF_ERROR(CheckBudget(query));
  for (const std::string& path : query.select()) {
    RETURN_IF_ERROR(ResolvePath(table.record_type(), path).status());
  }
  out->limit = query.has_limit() ? query.limit() : kQueryLimitDefault;
  return ChooseExtractor(table, out);
}

}  // namespace

const std::string* ConditionField(const v1::Expression& e) {
  switch (e.kind_case()) {
    case v1::Expression::kEqual:
      return &e.equal().field();
    case v1::Expression::kIn:
      return &e.in().field();
    case v1::Expression::kRange:
      return &e.range().field();
    case v1::Expression::kPrefix:
      return &e.prefix().field();
    case v1::Expression::kIsNull:
      return &e.is_null().field();
    default:
      return nullptr;
  }
}

// What the field can hold limits every set, so that "not null" of a field that
// is never null is every value.
absl::StatusOr<ValueSet> SetOfCondition(const QueryField& field,
                                        const v1::Expression& condition) {
  ASSIGN_OR_RETURN(ValueSet set, ConditionSet(field, condition));
  return field.info.nullable ? set : set.Intersect(ValueSet::Values());
}

bool Holds(const Predicate& predicate, std::span<const QueryField> fields,
           std::span<const FieldValue> values) {
  const auto holds = [&](const Predicate& p) {
    return Holds(p, fields, values);
  };
  const std::vector<Predicate>& inputs = predicate.inputs;
  switch (predicate.kind) {
    case Predicate::Kind::kAll:
      return std::all_of(inputs.begin(), inputs.end(), holds);
    case Predicate::Kind::kAny:
      return std::any_of(inputs.begin(), inputs.end(), holds);
    case Predicate::Kind::kNot:
      return !holds(inputs[0]);
    case Predicate::Kind::kTest:
      return predicate.set.Contains(fields[predicate.slot].info.type,
                                    values[predicate.slot]);
  }
  return false;
}

absl::StatusOr<CheckedQuery> CheckQuery(const CompiledTable& table,
                                        const v1::Query& query) {
  CheckedQuery checked;
  checked.proto = &query;
  RETURN_IF_ERROR(InTable(table, Check(table, query, &checked)));
  return checked;
}

absl::Status ReadFields(const CompiledTable& table, const CheckedQuery& query,
                        std::string_view record, EncodedRow* scratch,
                        std::vector<FieldValue>* values) {
  values->resize(query.fields.size());
  absl::Status parsed;
  if (query.extractor != nullptr) {
    parsed = query.extractor->Extract(record, std::span<FieldValue>(*values));
  } else {
    parsed = table.ExtractFields(record, scratch);
    for (size_t i = 0; parsed.ok() && i < values->size(); ++i) {
      (*values)[i] =
          scratch->fields[static_cast<size_t>(query.fields[i].table_field)];
    }
  }
  if (parsed.ok()) return parsed;
  return absl::DataLossError(absl::StrCat(
      "stored record does not parse; run verify: table=", table.name(), ": ",
      parsed.message()));
}

std::string ValueText(const QueryField& field, const FieldValue& value) {
  if (field.enum_type != nullptr && !value.is_null) {
    const EnumValueDescriptor* named =
        field.enum_type->FindValueByNumber(static_cast<int>(value.bits));
    if (named != nullptr) return named->name();
  }
  return ToValue(value, field.info.type).DebugString();
}

}  // namespace dovetail

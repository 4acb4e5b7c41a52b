// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/change_order.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/coding.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "index/field_value.h"

namespace dovetail {
namespace {

bool CanOrder(FieldType type) {
  switch (type) {
    case FieldType::kInt32:
    case FieldType::kInt64:
    case FieldType::kUint32:
    case FieldType::kUint64:
    case FieldType::kTimestamp:
      return true;
    default:
      return false;
  }
}

std::string OrderBytes(const FieldValue& value, FieldType type) {
  std::string bytes;
  if (value.is_null) return bytes;
  const bool is_unsigned =
      type == FieldType::kUint32 || type == FieldType::kUint64;
  AppendBigEndian(value.bits ^ (is_unsigned ? 0 : uint64_t{1} << 63), 8,
                  &bytes);
  AppendBigEndian(static_cast<uint32_t>(value.nanos), 4, &bytes);
  return bytes;
}

absl::Status CheckOrderField(const FieldInfo& field) {
  if (!CanOrder(field.type)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a field that orders changes must be an integer or a Timestamp: field=",
        field.path, " type=", ToAbsl(FieldTypeName(field.type))));
  }
  return absl::OkStatus();
}

// Groups are of whole fields of the record, each in one of them.
absl::Status TakeField(const google::protobuf::Descriptor& record,
                       const std::string& name, std::set<std::string>* taken) {
  if (record.FindFieldByName(name) == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("a group has fields of the record itself: no such field=",
                     Quote(name)));
  }
  if (!taken->insert(name).second) {
    return absl::InvalidArgumentError(
        absl::StrCat("a field can only be in one group: field=", name));
  }
  return absl::OkStatus();
}

std::string_view TopLevel(std::string_view path) {
  return path.substr(0, path.find('.'));
}

}  // namespace

ChangeOrder::ChangeOrder(Extractor orders, WirePatch canonical)
    : orders_(std::move(orders)), canonical_(std::move(canonical)) {}

absl::StatusOr<ChangeOrder> ChangeOrder::Compile(
    const google::protobuf::Descriptor& record, const v1::ChangeOrder& order) {
  std::vector<std::string> order_fields = {order.order_by()};
  std::set<std::string> taken;
  RETURN_IF_ERROR(TakeField(record, order.order_by(), &taken));
  for (const v1::ChangeOrder::Group& group : order.groups()) {
    order_fields.push_back(group.order_by());
    RETURN_IF_ERROR(TakeField(record, group.order_by(), &taken));
    for (const std::string& field : group.fields()) {
      RETURN_IF_ERROR(TakeField(record, field, &taken));
    }
  }
  if (order.remember_deletes() && order.groups_size() > 0) {
    return absl::InvalidArgumentError(
        "deletes can only be remembered where one field orders the whole "
        "record: it has groups of its own");
  }
  ASSIGN_OR_RETURN(Extractor orders, Extractor::Compile(record, order_fields));
  for (const FieldInfo& field : orders.fields()) {
    RETURN_IF_ERROR(CheckOrderField(field));
  }
  ASSIGN_OR_RETURN(WirePatch canonical,
                   WirePatch::Compile(record, {order.order_by()}));
  ChangeOrder result(std::move(orders), std::move(canonical));
  result.order_by_ = order.order_by();
  result.remembers_deletes_ = order.remember_deletes();
  std::vector<std::string> grouped;
  for (const v1::ChangeOrder::Group& group : order.groups()) {
    std::vector<std::string> fields(group.fields().begin(),
                                    group.fields().end());
    fields.push_back(group.order_by());
    grouped.insert(grouped.end(), fields.begin(), fields.end());
    ASSIGN_OR_RETURN(WirePatch patch, WirePatch::Compile(record, fields));
    result.groups_.push_back(
        {group.order_by(), std::move(fields), std::move(patch)});
  }
  if (!grouped.empty()) {
    ASSIGN_OR_RETURN(result.grouped_, WirePatch::Compile(record, grouped));
  }
  return result;
}

absl::StatusOr<std::vector<std::string>> ChangeOrder::OrdersOf(
    std::string_view record) const {
  std::vector<FieldValue> values(orders_.fields().size());
  RETURN_IF_ERROR(orders_.Extract(record, std::span<FieldValue>(values)));
  std::vector<std::string> orders;
  for (size_t i = 0; i < values.size(); ++i) {
    orders.push_back(OrderBytes(values[i], orders_.fields()[i].type));
  }
  return orders;
}

absl::StatusOr<std::string> ChangeOrder::OrderOf(
    std::string_view record) const {
  ASSIGN_OR_RETURN(std::vector<std::string> orders, OrdersOf(record));
  return std::move(orders[0]);
}

absl::StatusOr<std::string> ChangeOrder::OrderOf(const Value& value) const {
  const FieldType type = orders_.fields()[0].type;
  ASSIGN_OR_RETURN(const FieldValue field, ToFieldValue(value, type));
  return OrderBytes(field, type);
}

absl::StatusOr<std::string> ChangeOrder::Canonical(
    std::string_view record) const {
  std::string out;
  RETURN_IF_ERROR(canonical_.Apply(record, record, &out));
  return out;
}

absl::StatusOr<std::string> ChangeOrder::Rest(std::string_view record) const {
  ASSIGN_OR_RETURN(std::string canonical, Canonical(record));
  if (!grouped_.has_value()) return canonical;
  std::string out;
  RETURN_IF_ERROR(grouped_->Apply(canonical, {}, &out));
  return out;
}

absl::StatusOr<bool> ChangeOrder::IsNewer(const std::string& stored_order,
                                          const std::string& change_order,
                                          const Group* group,
                                          std::string_view stored,
                                          std::string_view change) const {
  if (change_order != stored_order) return change_order > stored_order;
  if (group == nullptr) {
    ASSIGN_OR_RETURN(const std::string rest_stored, Rest(stored));
    ASSIGN_OR_RETURN(const std::string rest_change, Rest(change));
    return rest_change > rest_stored;
  }
  std::string of_stored;
  std::string of_change;
  RETURN_IF_ERROR(group->patch.Apply({}, stored, &of_stored));
  RETURN_IF_ERROR(group->patch.Apply({}, change, &of_change));
  return of_change > of_stored;
}

absl::StatusOr<std::optional<std::string>> ChangeOrder::Merge(
    std::string_view stored, std::string_view change) const {
  if (stored == change) return std::optional<std::string>();
  ASSIGN_OR_RETURN(const std::vector<std::string> was, OrdersOf(stored));
  ASSIGN_OR_RETURN(const std::vector<std::string> is, OrdersOf(change));
  ASSIGN_OR_RETURN(const bool rest_is_newer,
                   IsNewer(was[0], is[0], nullptr, stored, change));
  bool any_newer = rest_is_newer;
  const std::string_view other = rest_is_newer ? stored : change;
  ASSIGN_OR_RETURN(std::string merged,
                   Canonical(rest_is_newer ? change : stored));
  for (size_t i = 0; i < groups_.size(); ++i) {
    ASSIGN_OR_RETURN(const bool is_newer, IsNewer(was[i + 1], is[i + 1],
                                                  &groups_[i], stored, change));
    any_newer |= is_newer;
    if (is_newer == rest_is_newer) continue;
    std::string with_group;
    RETURN_IF_ERROR(groups_[i].patch.Apply(merged, other, &with_group));
    merged = std::move(with_group);
  }
  if (!any_newer) return std::optional<std::string>();
  return std::optional<std::string>(std::move(merged));
}

absl::Status ChangeOrder::CheckPatch(
    const std::vector<std::string>& paths) const {
  const auto has = [&](std::string_view field) {
    return std::any_of(
        paths.begin(), paths.end(),
        [&](const std::string& path) { return TopLevel(path) == field; });
  };
  for (const std::string& path : paths) {
    const std::string field(TopLevel(path));
    const std::string* order_by = &order_by_;
    for (const Group& group : groups_) {
      if (std::find(group.fields.begin(), group.fields.end(), field) !=
          group.fields.end()) {
        order_by = &group.order_by;
      }
    }
    if (!has(*order_by)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the patch must also set the field that orders its "
                       "changes: field=",
                       path, " ordered_by=", *order_by));
    }
  }
  return absl::OkStatus();
}

}  // namespace dovetail

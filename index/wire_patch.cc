// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A level of a message is read into items, one for each field on the wire,
// and reduced to those that count in the parsed message, in canonical order.
// The items of the record and those of the values are then merged:
//
//   record   kKept fields and unknown ones, unless their oneof is taken over
//   values   kTaken fields
//   both     kMixed fields: the level below is merged in the same way
//
// A singular message may have come in several parts. A level is therefore
// read from a list of parts, and folding is the merge of the parts with
// nothing.

#include "index/wire_patch.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/coding.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "index/field_path.h"
#include "index/patch_items.h"
#include "index/patch_plan.h"
#include "index/wire_format.h"

namespace dovetail {
namespace {

using internal::EraseIf;
using internal::FieldPath;
using internal::Item;
using internal::Items;
using internal::ItemWriter;
using internal::Parts;
using internal::PatchField;
using internal::PatchMessage;
using internal::PatchPlan;
using internal::PatchRole;
using internal::PatchSide;
using internal::Precedes;
using internal::ReadItems;

class Merger {
 public:
  Merger(const PatchPlan& plan, std::string* out) : plan_(plan), out_(*out) {}

  // Appends the message at `index` of the plan, merged.
  absl::Status Merge(uint32_t index, std::span<const std::string_view> record,
                     std::span<const std::string_view> values, int depth_left);

 private:
  absl::Status ReadValues(const PatchMessage& message,
                          std::span<const std::string_view> parts,
                          int depth_left, Items* items);
  // Whether the values in `parts` set a field that the patch takes.
  absl::StatusOr<bool> SetsAny(uint32_t index,
                               std::span<const std::string_view> parts,
                               int depth_left);
  static void DropOtherMembers(const PatchMessage& message, const Items& values,
                               Items* record);
  absl::Status AppendMessage(const PatchField& field,
                             std::span<const Item> record,
                             std::span<const Item> values, int depth_left);

  const PatchPlan& plan_;
  std::string& out_;
};

// The items of the same field from `begin` on.
std::span<const Item> SameField(const Items& items, size_t begin) {
  size_t end = begin;
  while (end < items.size() && items[end].field == items[begin].field) ++end;
  return {items.data() + begin, end - begin};
}

Parts BodiesOf(std::span<const Item> items) {
  Parts parts;
  for (const Item& item : items) parts.push_back(item.body);
  return parts;
}

absl::Status TooDeep(const PatchMessage& message) {
  return absl::InvalidArgumentError(absl::StrCat(
      "messages nest too deep to patch message=", message.type_name));
}

absl::StatusOr<bool> Merger::SetsAny(uint32_t index,
                                     std::span<const std::string_view> parts,
                                     int depth_left) {
  if (depth_left < 0) return TooDeep(plan_.messages[index]);
  Items items;
  RETURN_IF_ERROR(ReadValues(plan_.messages[index], parts, depth_left, &items));
  return !items.empty();
}

// What the patch takes of the values; of mixed messages, those in which it
// takes something.
absl::Status Merger::ReadValues(const PatchMessage& message,
                                std::span<const std::string_view> parts,
                                int depth_left, Items* items) {
  RETURN_IF_ERROR(ReadItems(plan_, message, PatchSide::kValues, parts, items));
  for (size_t i = 0; i < items->size();) {
    const PatchField* const field = (*items)[i].field;
    const std::span<const Item> same = SameField(*items, i);
    if (field->role == PatchRole::kMixed) {
      ASSIGN_OR_RETURN(const bool sets_any,
                       SetsAny(field->child, BodiesOf(same), depth_left - 1));
      if (!sets_any) {
        const auto from = items->begin() + static_cast<ptrdiff_t>(i);
        items->erase(from, from + static_cast<ptrdiff_t>(same.size()));
        continue;
      }
    }
    i += same.size();
  }
  return absl::OkStatus();
}

// A oneof member from the values removes the other members of the record.
void Merger::DropOtherMembers(const PatchMessage& message, const Items& values,
                              Items* record) {
  if (message.oneof_count == 0) return;
  absl::InlinedVector<const PatchField*, 4> members(message.oneof_count);
  for (const Item& item : values) {
    if (item.field->oneof >= 0) members[item.field->oneof] = item.field;
  }
  EraseIf(record, [&](const Item& item) {
    if (item.field == nullptr || item.field->oneof < 0) return false;
    const PatchField* member = members[item.field->oneof];
    return member != nullptr && member != item.field;
  });
}

absl::Status Merger::Merge(uint32_t index,
                           std::span<const std::string_view> record,
                           std::span<const std::string_view> values,
                           int depth_left) {
  const PatchMessage& message = plan_.messages[index];
  if (depth_left < 0) return TooDeep(message);
  Items olds;
  Items news;
  RETURN_IF_ERROR(ReadItems(plan_, message, PatchSide::kRecord, record, &olds));
  RETURN_IF_ERROR(ReadValues(message, values, depth_left, &news));
  DropOtherMembers(message, news, &olds);
  ItemWriter writer(&out_);
  for (size_t i = 0, j = 0; i < olds.size() || j < news.size();) {
    const bool takes_new =
        j < news.size() && (i == olds.size() || !Precedes(olds[i], news[j]));
    const bool takes_old =
        i < olds.size() && (!takes_new || olds[i].field == news[j].field);
    const Item& first = takes_old ? olds[i] : news[j];
    if (!first.is_single() || !first.field->is_message) {
      writer.Write(first);
      takes_old ? ++i : ++j;
      continue;
    }
    const auto old_part =
        takes_old ? SameField(olds, i) : std::span<const Item>();
    const auto new_part =
        takes_new ? SameField(news, j) : std::span<const Item>();
    i += old_part.size();
    j += new_part.size();
    if (first.field->role != PatchRole::kMixed &&
        old_part.size() + new_part.size() == 1) {
      writer.Write(first);
      continue;
    }
    writer.Flush();
    RETURN_IF_ERROR(
        AppendMessage(*first.field, old_part, new_part, depth_left));
  }
  writer.Flush();
  return absl::OkStatus();
}

absl::Status Merger::AppendMessage(const PatchField& field,
                                   std::span<const Item> record,
                                   std::span<const Item> values,
                                   int depth_left) {
  // Outside a mixed message there is nothing to take apart: the values are
  // then the content, and the record has been replaced.
  const bool is_mixed = field.role == PatchRole::kMixed;
  const Parts olds = BodiesOf(is_mixed || values.empty() ? record : values);
  const Parts news = BodiesOf(is_mixed ? values : std::span<const Item>());
  AppendVarint(field.tag, &out_);
  const size_t begin = out_.size();
  RETURN_IF_ERROR(Merge(field.child, olds, news, depth_left - 1));
  if (wire::TypeOfTag(field.tag) == wire::kStartGroup) {
    AppendVarint(field.tag + 1, &out_);
    return absl::OkStatus();
  }
  std::string length;
  AppendVarint(out_.size() - begin, &length);
  out_.insert(begin, length);
  return absl::OkStatus();
}

absl::Status CheckDisjoint(const std::vector<std::string>& paths) {
  // The dot is below all characters of names, so what lies inside a path
  // sorts directly behind it.
  std::vector<std::string> sorted = paths;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i + 1 < sorted.size(); ++i) {
    const std::string& path = sorted[i];
    const std::string& next = sorted[i + 1];
    if (next == path || next.starts_with(path + ".")) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a path of a patch is given twice or inside another one path=",
          Quote(next), " other=", Quote(path)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

struct WirePatch::Plan {
  PatchPlan patch;
};

WirePatch::WirePatch(std::unique_ptr<const Plan> plan)
    : plan_(std::move(plan)) {}
WirePatch::WirePatch(WirePatch&&) noexcept = default;
WirePatch& WirePatch::operator=(WirePatch&&) noexcept = default;
WirePatch::~WirePatch() = default;

absl::StatusOr<WirePatch> WirePatch::Compile(
    const google::protobuf::Descriptor& record,
    const std::vector<std::string>& paths) {
  if (paths.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a patch needs at least one field path message=", record.full_name()));
  }
  RETURN_IF_ERROR(CheckNoMessageSet(record));
  std::vector<FieldPath> resolved;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(FieldPath fields, ResolvePath(record, path));
    resolved.push_back(std::move(fields));
  }
  RETURN_IF_ERROR(CheckDisjoint(paths));
  auto plan = std::make_unique<Plan>();
  plan->patch = internal::CompilePatchPlan(record, resolved);
  return WirePatch(std::move(plan));
}

absl::Status WirePatch::Apply(std::string_view record, std::string_view values,
                              std::string* out) const {
  out->clear();
  out->reserve(record.size() + values.size());
  return Merger(plan_->patch, out)
      .Merge(0, std::span(&record, 1), std::span(&values, 1), wire::kDepthMax);
}

}  // namespace dovetail

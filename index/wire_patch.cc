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
#include "index/patch_plan.h"
#include "index/wire_format.h"

namespace dovetail {
namespace {

using internal::Contains;
using internal::FieldPath;
using internal::PatchField;
using internal::PatchMessage;
using internal::PatchPlan;
using internal::PatchRole;
using internal::VarintForm;

struct Item {
  uint32_t number() const { return wire::NumberOfTag(tag); }
  bool is_single() const { return field != nullptr && !field->is_repeated; }

  uint32_t tag = 0;
  // Members of a oneof count if the generation is the oneof's last one.
  uint32_t generation = 0;
  // Null if the parser takes it for unknown: no such number, another wire
  // type, or a value that a closed enum does not have.
  const PatchField* field = nullptr;
  // The value: an integer, or a text, or what is inside a message or group.
  uint64_t bits = 0;
  std::string_view body;
  // All of it, tag included; empty if the item was not on the wire as such,
  // or with bits that the parser drops or changes.
  std::string_view whole;
};

using Items = absl::InlinedVector<Item, 16>;
using Parts = absl::InlinedVector<std::string_view, 2>;

template <typename Predicate>
void EraseIf(Items* items, Predicate predicate) {
  items->erase(std::remove_if(items->begin(), items->end(), predicate),
               items->end());
}

// Known items go before unknown ones of the same number, whatever the order
// they came in: that has no meaning to a parser.
bool Precedes(const Item& a, const Item& b) {
  if (a.number() != b.number()) return a.number() < b.number();
  return a.field != nullptr && b.field == nullptr;
}

uint64_t Canonical(VarintForm form, uint64_t v) {
  switch (form) {
    case VarintForm::kBool:
      return v != 0;
    case VarintForm::kSigned32:
      return static_cast<uint64_t>(int64_t{static_cast<int32_t>(v)});
    case VarintForm::kUnsigned32:
      return static_cast<uint32_t>(v);
    case VarintForm::k64:
      break;
  }
  return v;
}

// Whether the item sets nothing: an empty run of packed values, or the
// default of a field without presence.
bool IsNothing(const Item& item) {
  if (item.field == nullptr) return false;
  if (item.field->is_repeated) {
    return item.tag != item.field->tag && item.body.empty();
  }
  return !item.field->has_presence && item.bits == 0 && item.body.empty();
}

// Of the longest tags and varints, the last byte has room for more bits than
// the integer. Whether it has some: it is the one before `p`.
constexpr ptrdiff_t kTagBytesMax = 5;
constexpr uint8_t kTagLastByteMax = 0x0f;
constexpr ptrdiff_t kVarintBytesMax = 10;
constexpr uint8_t kVarintLastByteMax = 1;
bool HasBitsAbove(uint8_t limit, const char* p) {
  return static_cast<uint8_t>(p[-1]) > limit;
}

void AppendFixed(uint64_t v, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) {
    out->push_back(static_cast<char>(v >> (8 * i)));
  }
}

void AppendText(uint32_t tag, std::string_view body, std::string* out) {
  AppendVarint(tag, out);
  if (wire::TypeOfTag(tag) == wire::kLengthDelimited) {
    AppendVarint(body.size(), out);
    out->append(body);
  } else {
    out->append(body);
    AppendVarint(tag + 1, out);
  }
}

void AppendItem(const Item& item, std::string* out) {
  switch (wire::TypeOfTag(item.tag)) {
    case wire::kVarint:
      AppendVarint(item.tag, out);
      AppendVarint(item.bits, out);
      break;
    case wire::kFixed32:
      AppendVarint(item.tag, out);
      AppendFixed(item.bits, 4, out);
      break;
    case wire::kFixed64:
      AppendVarint(item.tag, out);
      AppendFixed(item.bits, 8, out);
      break;
    default:
      AppendText(item.tag, item.body, out);
  }
}

// Bytes that AppendItem would write.
size_t CanonicalSize(const Item& item) {
  const size_t tag_size = wire::VarintSize(item.tag);
  switch (wire::TypeOfTag(item.tag)) {
    case wire::kVarint:
      return tag_size + wire::VarintSize(item.bits);
    case wire::kFixed32:
      return tag_size + 4;
    case wire::kFixed64:
      return tag_size + 8;
    case wire::kLengthDelimited:
      return tag_size + wire::VarintSize(item.body.size()) + item.body.size();
    default:
      return 2 * tag_size + item.body.size();
  }
}

// Copies items, and neighbours on the wire in one piece.
class Copier {
 public:
  explicit Copier(std::string* out) : out_(out) {}
  void Copy(const Item& item) {
    if (item.whole.size() != CanonicalSize(item)) {
      Flush();
      AppendItem(item, out_);
    } else if (run_.data() + run_.size() == item.whole.data()) {
      run_ = std::string_view(run_.data(), run_.size() + item.whole.size());
    } else {
      Flush();
      run_ = item.whole;
    }
  }
  void Flush() {
    out_->append(run_);
    run_ = std::string_view();
  }

 private:
  std::string* out_;
  std::string_view run_;
};

// Reads the parts of one message into items.
class Reader {
 public:
  Reader(const PatchPlan& plan, const PatchMessage& message, Items* items)
      : plan_(plan), message_(message), items_(*items) {
    oneofs_.resize(message.oneof_count);
  }

  absl::Status Read(std::span<const std::string_view> parts) {
    for (const std::string_view part : parts) {
      const char* const end = part.data() + part.size();
      for (const char* p = part.data(); p < end;) {
        Item item;
        const char* const next = ReadItem(p, end, &item);
        if (next == nullptr) {
          return absl::InvalidArgumentError(
              absl::StrCat("malformed field in a message to patch message=",
                           message_.type_name, " offset=", p - part.data()));
        }
        p = next;
        Add(item);
      }
    }
    Reduce();
    return absl::OkStatus();
  }

 private:
  struct OneofState {
    const PatchField* member = nullptr;
    uint32_t generation = 0;
  };

  const char* ReadItem(const char* p, const char* end, Item* item) {
    const char* const start = p;
    p = wire::ReadTag(p, end, &item->tag);
    if (p == nullptr || item->number() == 0) return nullptr;
    const bool is_longest_tag = p - start == kTagBytesMax;
    bool is_exact = !(is_longest_tag && HasBitsAbove(kTagLastByteMax, p));
    const wire::WireType type = wire::TypeOfTag(item->tag);
    const PatchField* field = message_.Find(item->number());
    if (field != nullptr &&
        (field->tag == item->tag ||
         (field->is_packable && type == wire::kLengthDelimited))) {
      item->field = field;
    }
    switch (type) {
      case wire::kVarint: {
        const char* const value = p;
        uint64_t v = 0;
        p = wire::ReadVarint(p, end, &v);
        if (p == nullptr) return nullptr;
        if (!IsValueOf(item->field, v)) item->field = nullptr;
        item->bits =
            item->field != nullptr ? Canonical(item->field->form, v) : v;
        is_exact &= item->bits == v && !(p - value == kVarintBytesMax &&
                                         HasBitsAbove(kVarintLastByteMax, p));
        break;
      }
      case wire::kFixed32:
        p = wire::SkipFixed(p, end, 4);
        if (p != nullptr) item->bits = wire::LoadFixed32(p - 4);
        break;
      case wire::kFixed64:
        p = wire::SkipFixed(p, end, 8);
        if (p != nullptr) item->bits = wire::LoadFixed64(p - 8);
        break;
      case wire::kLengthDelimited: {
        size_t length;
        p = wire::ReadLength(p, end, &length);
        if (p == nullptr) return nullptr;
        item->body = std::string_view(p, length);
        p += length;
        break;
      }
      default: {
        if (type != wire::kStartGroup) return nullptr;
        const char* const body = p;
        const char* body_end = p;
        p = wire::SkipGroup(p, end, item->tag, wire::kDepthMax, &body_end);
        item->body =
            std::string_view(body, static_cast<size_t>(body_end - body));
        is_exact &= p == nullptr || p - body_end != kTagBytesMax ||
                    !HasBitsAbove(kTagLastByteMax, p);
      }
    }
    if (p != nullptr && is_exact) {
      item->whole = std::string_view(start, static_cast<size_t>(p - start));
    }
    return p;
  }

  void Add(Item& item) {
    if (item.field != nullptr && item.field->closed_enum >= 0 &&
        !SettleClosedEnum(&item)) {
      return;
    }
    if (item.field != nullptr && item.field->oneof >= 0) {
      OneofState& state = oneofs_[item.field->oneof];
      if (state.member != item.field) {
        state.member = item.field;
        has_outdated_ |= ++state.generation > 1;
      }
      item.generation = state.generation;
    }
    Push(item);
  }

  void Push(const Item& item) {
    if (!items_.empty() && Precedes(item, items_.back())) is_sorted_ = false;
    items_.push_back(item);
  }

  // Whether a parser takes `v` for a value of the field, or for an unknown
  // one that the enum does not have.
  bool IsValueOf(const PatchField* field, uint64_t v) const {
    return field == nullptr || field->closed_enum < 0 ||
           Contains(plan_.enums[field->closed_enum], static_cast<int32_t>(v));
  }

  // The same for what comes as bytes: makes a map entry with such a value an
  // unknown item. False if the item was a packed run with such values, and
  // was split.
  bool SettleClosedEnum(Item* item) {
    const auto& values = plan_.enums[item->field->closed_enum];
    if (item->field->is_map) {
      if (!EntryHasValueOf(values, item->body)) item->field = nullptr;
      return true;
    }
    return item->tag == item->field->tag || !Split(values, *item);
  }

  // Splits a packed run into its elements if some are not of the enum.
  bool Split(const internal::EnumValues& values, const Item& run) {
    const char* const end = run.body.data() + run.body.size();
    bool has_unknown = false;
    uint64_t v = 0;
    for (const char* p = run.body.data(); p != nullptr && p < end;) {
      p = wire::ReadVarint(p, end, &v);
      has_unknown |= p != nullptr && !Contains(values, static_cast<int32_t>(v));
    }
    if (!has_unknown) return false;
    for (const char* p = run.body.data(); p != nullptr && p < end;) {
      p = wire::ReadVarint(p, end, &v);
      if (p == nullptr) break;
      Item element;
      element.tag = run.field->tag;
      element.bits = v;
      if (Contains(values, static_cast<int32_t>(v))) {
        element.field = run.field;
        element.bits = Canonical(run.field->form, v);
      }
      Push(element);
    }
    return true;
  }

  static bool EntryHasValueOf(const internal::EnumValues& values,
                              std::string_view entry) {
    const char* const end = entry.data() + entry.size();
    bool result = true;
    for (const char* p = entry.data(); p < end;) {
      uint32_t tag;
      p = wire::ReadTag(p, end, &tag);
      if (p == nullptr) break;
      const char* const value = p;
      p = wire::SkipValue(p, end, tag, wire::kDepthMax);
      if (p == nullptr) break;
      if (tag != wire::MakeTag(2, wire::kVarint)) continue;
      uint64_t v = 0;
      wire::ReadVarint(value, p, &v);
      result = Contains(values, static_cast<int32_t>(v));
    }
    return result;
  }

  // Sorts, and drops what the parsed message does not show.
  void Reduce() {
    if (has_outdated_) {
      EraseIf(&items_, [this](const Item& item) {
        return item.field != nullptr && item.field->oneof >= 0 &&
               item.generation != oneofs_[item.field->oneof].generation;
      });
    }
    if (!is_sorted_) {
      std::stable_sort(items_.begin(), items_.end(), Precedes);
    }
    size_t kept = 0;
    for (size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      const bool is_superseded = item.is_single() && !item.field->is_message &&
                                 i + 1 < items_.size() &&
                                 items_[i + 1].field == item.field;
      if (is_superseded || IsNothing(item)) continue;
      if (kept != i) items_[kept] = item;
      ++kept;
    }
    items_.resize(kept);
  }

  const PatchPlan& plan_;
  const PatchMessage& message_;
  Items& items_;
  absl::InlinedVector<OneofState, 4> oneofs_;
  bool is_sorted_ = true;
  bool has_outdated_ = false;
};

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
  void DropReplaced(const PatchMessage& message, const Items& values,
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
  if (parts.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(Reader(plan_, message, items).Read(parts));
  EraseIf(items, [](const Item& item) {
    return item.field == nullptr || item.field->role == PatchRole::kKept;
  });
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

void Merger::DropReplaced(const PatchMessage& message, const Items& values,
                          Items* record) {
  absl::InlinedVector<const PatchField*, 4> members(message.oneof_count);
  for (const Item& item : values) {
    if (item.field->oneof >= 0) members[item.field->oneof] = item.field;
  }
  EraseIf(record, [&](const Item& item) {
    if (item.field == nullptr) return false;
    if (item.field->role == PatchRole::kTaken) return true;
    if (item.field->oneof < 0) return false;
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
  RETURN_IF_ERROR(Reader(plan_, message, &olds).Read(record));
  RETURN_IF_ERROR(ReadValues(message, values, depth_left, &news));
  DropReplaced(message, news, &olds);
  Copier copier(&out_);
  for (size_t i = 0, j = 0; i < olds.size() || j < news.size();) {
    const bool takes_new =
        j < news.size() && (i == olds.size() || !Precedes(olds[i], news[j]));
    const bool takes_old =
        i < olds.size() && (!takes_new || olds[i].field == news[j].field);
    const Item& first = takes_old ? olds[i] : news[j];
    if (!first.is_single() || !first.field->is_message) {
      copier.Copy(first);
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
      copier.Copy(first);
      continue;
    }
    copier.Flush();
    RETURN_IF_ERROR(
        AppendMessage(*first.field, old_part, new_part, depth_left));
  }
  copier.Flush();
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

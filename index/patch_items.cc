// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/patch_items.h"

#include "absl/base/attributes.h"
#include "absl/strings/str_cat.h"
#include "base/coding.h"

namespace dovetail::internal {
namespace {

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
constexpr uint8_t kTagLastByteMax = 0x0f;
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

// Bytes that ItemWriter::WriteAnew would write.
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

// Reads the parts of one message into items.
class Reader {
 public:
  Reader(const PatchPlan& plan, const PatchMessage& message, PatchSide side,
         Items* items)
      : plan_(plan), message_(message), side_(side), items_(*items) {
    oneofs_.resize(message.oneof_count);
  }

  absl::Status Read(std::span<const std::string_view> parts) {
    for (const std::string_view part : parts) {
      const char* const end = part.data() + part.size();
      for (const char* p = part.data(); p < end;) {
        Item& item = items_.emplace_back();
        const char* const next = ReadItem(p, end, &item);
        if (next == nullptr) {
          return absl::InvalidArgumentError(
              absl::StrCat("malformed field in a message to patch message=",
                           message_.type_name, " offset=", p - part.data()));
        }
        p = next;
        Settle(&item);
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

  ABSL_ATTRIBUTE_ALWAYS_INLINE
  const char* ReadItem(const char* p, const char* end, Item* item) {
    const char* const start = p;
    p = wire::ReadTag(p, end, &item->tag);
    if (p == nullptr || item->number() == 0) return nullptr;
    const bool is_longest_tag = p - start == wire::kTagBytesMax;
    bool is_exact = !(is_longest_tag && HasBitsAbove(kTagLastByteMax, p));
    const wire::WireType type = wire::TypeOfTag(item->tag);
    const PatchField& field = message_.fields.Find(item->number());
    if (field.tag == item->tag ||
        (field.is_packable && type == wire::kLengthDelimited)) {
      item->field = &field;
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
        is_exact &= item->bits == v && !(p - value == wire::kVarintBytesMax &&
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
        is_exact &= p == nullptr || p - body_end != wire::kTagBytesMax ||
                    !HasBitsAbove(kTagLastByteMax, p);
      }
    }
    if (p == nullptr) return nullptr;
    const auto size = static_cast<size_t>(p - start);
    if (is_exact && size == CanonicalSize(*item)) {
      item->whole = std::string_view(start, size);
    }
    return p;
  }

  // Decides about the item just read, the last one.
  void Settle(Item* item) {
    const PatchField* field = item->field;
    if (field != nullptr && field->closed_enum >= 0) {
      if (SplitClosedEnum(*item)) return;
      if (field->is_map && !EntryHasValueOf(field->closed_enum, item->body)) {
        item->field = nullptr;
      }
    }
    if (item->field != nullptr && field->oneof >= 0) {
      OneofState& state = oneofs_[field->oneof];
      if (state.member != field) {
        state.member = field;
        is_reduced_ &= ++state.generation == 1;
      }
      item->generation = state.generation;
    }
    SettleWanted();
  }

  // Keeps the last item if it is wanted.
  void SettleWanted() {
    const Item& item = items_.back();
    const PatchField* const field = item.field;
    const bool is_wanted =
        side_ == PatchSide::kRecord
            ? field == nullptr || field->role != PatchRole::kTaken
            : field != nullptr && field->role != PatchRole::kKept;
    if (!is_wanted) {
      items_.pop_back();
      return;
    }
    if (IsNothing(item)) is_reduced_ = false;
    if (items_.size() < 2) return;
    const Item& before = items_[items_.size() - 2];
    if (Precedes(item, before)) is_sorted_ = false;
    if (field != nullptr && field == before.field) is_reduced_ = false;
  }

  // Whether a parser takes `v` for a value of the field, or for an unknown
  // one that the enum does not have.
  bool IsValueOf(const PatchField* field, uint64_t v) const {
    return field == nullptr || field->closed_enum < 0 ||
           Contains(plan_.enums[field->closed_enum], static_cast<int32_t>(v));
  }

  // Splits the last item into its elements if it is a packed run of values
  // and some of them are not of the enum.
  bool SplitClosedEnum(const Item& item) {
    const PatchField* const field = item.field;
    if (field->is_map || item.tag == field->tag) return false;
    const std::string_view run = item.body;
    const char* const end = run.data() + run.size();
    bool has_unknown = false;
    uint64_t v = 0;
    for (const char* p = run.data(); p != nullptr && p < end;) {
      p = wire::ReadVarint(p, end, &v);
      has_unknown |= p != nullptr && !IsValueOf(field, v);
    }
    if (!has_unknown) return false;
    items_.pop_back();
    for (const char* p = run.data(); p != nullptr && p < end;) {
      p = wire::ReadVarint(p, end, &v);
      if (p == nullptr) break;
      Item& element = items_.emplace_back();
      const bool is_known = IsValueOf(field, v);
      element.tag = field->tag;
      element.field = is_known ? field : nullptr;
      element.bits = is_known ? Canonical(field->form, v) : v;
      SettleWanted();
    }
    return true;
  }

  bool EntryHasValueOf(int closed_enum, std::string_view entry) const {
    const EnumValues& values = plan_.enums[closed_enum];
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
    if (!is_sorted_) {
      std::stable_sort(items_.begin(), items_.end(), Precedes);
    }
    if (is_sorted_ && is_reduced_) return;
    EraseIf(&items_, [this](const Item& item) {
      return item.field != nullptr && item.field->oneof >= 0 &&
             item.generation != oneofs_[item.field->oneof].generation;
    });
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
  const PatchSide side_;
  Items& items_;
  absl::InlinedVector<OneofState, 4> oneofs_;
  bool is_sorted_ = true;
  // No item is a candidate for being dropped.
  bool is_reduced_ = true;
};

}  // namespace

absl::Status ReadItems(const PatchPlan& plan, const PatchMessage& message,
                       PatchSide side, std::span<const std::string_view> parts,
                       Items* items) {
  items->clear();
  return Reader(plan, message, side, items).Read(parts);
}

void ItemWriter::WriteAnew(const Item& item) { AppendItem(item, &out_); }

}  // namespace dovetail::internal

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Not is pushed down to the tests, where it is the complement of a set. Lists
// of alternatives are kept short while they are made: one that another one
// covers goes, and two that differ in one field only become one.

#include "index/query/normal_form.h"

#include <algorithm>
#include <optional>

namespace dovetail {
namespace {

using Alternatives = std::vector<Conjunction>;

Conjunction Both(const Conjunction& a, const Conjunction& b, bool* possible) {
  Conjunction out;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].first < b[j].first)) {
      out.push_back(a[i++]);
    } else if (i == a.size() || b[j].first < a[i].first) {
      out.push_back(b[j++]);
    } else {
      ValueSet set = a[i].second.Intersect(b[j].second);
      if (set.empty()) *possible = false;
      out.emplace_back(a[i].first, std::move(set));
      ++i;
      ++j;
    }
  }
  return out;
}

bool Covers(const Conjunction& wide, const Conjunction& narrow) {
  return std::all_of(wide.begin(), wide.end(), [&](const auto& field) {
    const ValueSet* set = FindSet(narrow, field.first);
    return set != nullptr && set->IsSubsetOf(field.second);
  });
}

// The field in which two alternatives over the same fields differ, if it is
// one alone.
std::optional<size_t> OnlyDifference(const Conjunction& a,
                                     const Conjunction& b) {
  if (a.size() != b.size()) return std::nullopt;
  std::optional<size_t> at;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].first != b[i].first) return std::nullopt;
    if (a[i].second == b[i].second) continue;
    if (at.has_value()) return std::nullopt;
    at = i;
  }
  return at;
}

class Normalizer {
 public:
  explicit Normalizer(std::span<const QueryField> fields) : fields_(fields) {}

  // nullopt: too many.
  std::optional<Alternatives> Expand(const Predicate& p, bool negated) const;
  // What the predicate implies field by field; nullopt: it never holds.
  std::optional<Conjunction> Implied(const Predicate& p, bool negated) const;
  // What both imply: the union, field by field.
  Conjunction Either(const Conjunction& a, const Conjunction& b) const;

 private:
  // The values of a test; a field that is never null has no null in its sets.
  ValueSet SetOf(const Predicate& test, bool negated) const {
    ValueSet set = negated ? test.set.Complement() : test.set;
    return fields_[test.slot].info.nullable ? set
                                            : set.Intersect(ValueSet::Values());
  }
  bool IsAll(size_t slot, const ValueSet& set) const {
    return fields_[slot].info.nullable ? set.is_all()
                                       : set == ValueSet::Values();
  }
  void Add(Conjunction more, Alternatives* any) const;
  std::optional<Alternatives> Product(const Alternatives& a,
                                      const Alternatives& b) const;

  std::span<const QueryField> fields_;
};

Conjunction Normalizer::Either(const Conjunction& a,
                               const Conjunction& b) const {
  Conjunction out;
  for (const auto& [slot, set] : a) {
    const ValueSet* other = FindSet(b, slot);
    if (other == nullptr) continue;
    ValueSet united = set.Unite(*other);
    if (!IsAll(slot, united)) out.emplace_back(slot, std::move(united));
  }
  return out;
}

void Normalizer::Add(Conjunction more, Alternatives* any) const {
  for (size_t i = 0; i < any->size(); ++i) {
    Conjunction& have = (*any)[i];
    if (Covers(have, more)) return;
    const std::optional<size_t> at = OnlyDifference(have, more);
    const bool covered = Covers(more, have);
    if (!covered && !at.has_value()) continue;
    if (!covered) {
      more[*at].second = more[*at].second.Unite(have[*at].second);
      if (IsAll(more[*at].first, more[*at].second)) {
        more.erase(more.begin() + static_cast<std::ptrdiff_t>(*at));
      }
    }
    // It is wider now, and may cover or join others.
    any->erase(any->begin() + static_cast<std::ptrdiff_t>(i));
    Add(std::move(more), any);
    return;
  }
  any->push_back(std::move(more));
}

std::optional<Alternatives> Normalizer::Product(const Alternatives& a,
                                                const Alternatives& b) const {
  Alternatives product;
  for (const Conjunction& left : a) {
    for (const Conjunction& right : b) {
      bool possible = true;
      Conjunction both = Both(left, right, &possible);
      if (possible) Add(std::move(both), &product);
      if (product.size() > kAlternativesMax) return std::nullopt;
    }
  }
  return product;
}

std::optional<Alternatives> Normalizer::Expand(const Predicate& p,
                                               bool negated) const {
  if (p.kind == Predicate::Kind::kNot) return Expand(p.inputs[0], !negated);
  if (p.kind == Predicate::Kind::kTest) {
    ValueSet set = SetOf(p, negated);
    if (set.empty()) return Alternatives();
    if (IsAll(p.slot, set)) return Alternatives{{}};
    return Alternatives{{{p.slot, std::move(set)}}};
  }
  const bool all = (p.kind == Predicate::Kind::kAll) != negated;
  Alternatives out;
  if (all) out.emplace_back();
  for (const Predicate& input : p.inputs) {
    std::optional<Alternatives> more = Expand(input, negated);
    if (!more.has_value()) return std::nullopt;
    if (all) {
      more = Product(out, *more);
      if (!more.has_value()) return std::nullopt;
      out = *std::move(more);
    } else {
      for (Conjunction& c : *more) Add(std::move(c), &out);
    }
    if (out.size() > kAlternativesMax) return std::nullopt;
  }
  return out;
}

std::optional<Conjunction> Normalizer::Implied(const Predicate& p,
                                               bool negated) const {
  if (p.kind == Predicate::Kind::kNot) return Implied(p.inputs[0], !negated);
  if (p.kind == Predicate::Kind::kTest) {
    ValueSet set = SetOf(p, negated);
    if (set.empty()) return std::nullopt;
    if (IsAll(p.slot, set)) return Conjunction();
    return Conjunction{{p.slot, std::move(set)}};
  }
  const bool all = (p.kind == Predicate::Kind::kAll) != negated;
  std::optional<Conjunction> out;
  if (all) out.emplace();
  for (const Predicate& input : p.inputs) {
    std::optional<Conjunction> more = Implied(input, negated);
    if (all) {
      if (!more.has_value()) return std::nullopt;
      bool possible = true;
      out = Both(*out, *more, &possible);
      if (!possible) return std::nullopt;
    } else if (more.has_value()) {
      out = out.has_value() ? Either(*out, *more) : *std::move(more);
    }
  }
  return out;
}

}  // namespace

const ValueSet* FindSet(const Conjunction& conjunction, size_t slot) {
  for (const auto& [s, set] : conjunction) {
    if (s == slot) return &set;
  }
  return nullptr;
}

bool Holds(const Conjunction& conjunction, std::span<const QueryField> fields,
           std::span<const FieldValue> values) {
  return std::all_of(conjunction.begin(), conjunction.end(),
                     [&](const auto& field) {
                       return field.second.Contains(
                           fields[field.first].info.type, values[field.first]);
                     });
}

NormalForm Normalize(const Predicate& where,
                     std::span<const QueryField> fields) {
  const Normalizer normalizer(fields);
  NormalForm form;
  std::optional<Alternatives> any = normalizer.Expand(where, false);
  if (any.has_value()) {
    form.any = *std::move(any);
    if (form.any.empty()) return form;
    form.common = form.any[0];
    for (const Conjunction& c : form.any) {
      form.common = normalizer.Either(form.common, c);
    }
    return form;
  }
  form.exact = false;
  std::optional<Conjunction> common = normalizer.Implied(where, false);
  if (!common.has_value()) return form;
  form.common = *common;
  form.any.push_back(*std::move(common));
  return form;
}

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/query/suggest_index.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dovetail/limits.h"

namespace dovetail {

std::optional<v1::IndexSchema> SuggestIndex(const CompiledTable& table,
                                            const CheckedQuery& query,
                                            const NormalForm& form) {
  v1::IndexSchema index;
  std::vector<std::string> names;
  const auto has = [&](const std::string& path) {
    return std::find(names.begin(), names.end(), path) != names.end();
  };
  const auto add = [&](size_t slot, const SortField* sort) {
    const std::string& path = query.fields[slot].info.path;
    if (has(path)) return;
    names.push_back(path);
    v1::KeyPart* part = index.add_parts();
    part->add_fields(path);
    if (sort == nullptr) return;
    if (sort->descending) part->set_order(v1::KeyPart::DESC);
    if (query.fields[slot].info.nullable &&
        sort->nulls_last != sort->descending) {
      part->set_nulls(sort->nulls_last ? v1::KeyPart::NULLS_LAST
                                       : v1::KeyPart::NULLS_FIRST);
    }
  };
  for (const auto& [slot, set] : form.common) {
    if (set.is_single()) add(slot, nullptr);
  }
  for (const auto& [slot, set] : form.common) {
    if (set.is_points()) add(slot, nullptr);
  }
  for (size_t k = 0; k < query.order_named; ++k) {
    add(query.order[k].slot, &query.order[k].sort);
  }
  if (!query.ordered) {
    for (const auto& [slot, set] : form.common) add(slot, nullptr);
  }
  if (names.empty()) return std::nullopt;
  std::string name = "by_";
  for (std::string& part : names) {
    std::replace(part.begin(), part.end(), '.', '_');
  }
  name += absl::StrJoin(names, "_");
  index.set_name(name.substr(0, kNameBytesMax - 4));
  for (int n = 2; table.FindIndex(index.name()) >= 0; ++n) {
    index.set_name(absl::StrCat(name.substr(0, kNameBytesMax - 8), "_", n));
  }
  return index;
}

std::string IndexText(const v1::IndexSchema& index) {
  std::vector<std::string> parts;
  for (const v1::KeyPart& part : index.parts()) {
    std::string text = absl::StrJoin(part.fields(), ",");
    if (part.order() == v1::KeyPart::DESC) text += " desc";
    if (part.nulls() == v1::KeyPart::NULLS_FIRST) text += " nulls first";
    if (part.nulls() == v1::KeyPart::NULLS_LAST) text += " nulls last";
    parts.push_back(std::move(text));
  }
  return absl::StrCat("(", absl::StrJoin(parts, ", "), ")");
}

}  // namespace dovetail

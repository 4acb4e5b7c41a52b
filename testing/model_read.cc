// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The reads of the model.

#include "dovetail/testing/model.h"

#include <algorithm>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace dovetail::test {

std::vector<std::string> Model::TableNames() const {
  std::vector<std::string> names;
  for (const auto& [name, table] : tables_) names.push_back(name);
  return names;
}

uint64_t Model::RowCount(std::string_view table) const {
  return Find(table)->rows.size();
}

uint64_t Model::EntryCount(std::string_view table) const {
  uint64_t count = 0;
  for (const Index& index : Find(table)->indexes) {
    count += index.entries.size() + index.groups.size();
  }
  return count;
}

std::vector<std::string> Model::IndexNames(std::string_view table) const {
  std::vector<std::string> names;
  for (const Index& index : Find(table)->indexes) {
    if (!index.counts()) names.push_back(index.name);
  }
  return names;
}

std::vector<std::string> Model::CountingIndexNames(
    std::string_view table) const {
  std::vector<std::string> names;
  for (const Index& index : Find(table)->indexes) {
    if (index.counts()) names.push_back(index.name);
  }
  return names;
}

std::vector<Group> Model::Groups(std::string_view table, std::string_view index,
                                 const Tuple& values) const {
  const Index& counting = *FindIndex(*Find(table), index);
  const Tuple equal = NormalizeAll(values, counting.columns);
  const TupleLess less(counting.columns);
  std::vector<Group> groups;
  for (auto it = counting.groups.lower_bound(equal);
       it != counting.groups.end() && less.Compare(it->first, equal) == 0;
       ++it) {
    groups.push_back(it->second);
  }
  return groups;
}

const std::vector<ModelColumn>& Model::Columns(std::string_view table,
                                               std::string_view index) const {
  const TableState& state = *Find(table);
  return index.empty() ? state.columns : FindIndex(state, index)->columns;
}

size_t Model::OwnColumns(std::string_view table, std::string_view index) const {
  const TableState& state = *Find(table);
  return index.empty() ? state.columns.size()
                       : FindIndex(state, index)->declared;
}

std::vector<const ModelRow*> Model::Rows(std::string_view table) const {
  std::vector<const ModelRow*> rows;
  for (const auto& [key, row] : Find(table)->rows) rows.push_back(&row);
  return rows;
}

const ModelRow* Model::Get(std::string_view table, const Tuple& key) const {
  const TableState& state = *Find(table);
  const auto row = state.rows.find(NormalizeAll(key, state.columns));
  return row == state.rows.end() ? nullptr : &row->second;
}

std::vector<const ModelRow*> Model::GetBy(std::string_view table,
                                          std::string_view index,
                                          const Tuple& values) const {
  ScanRequest request;
  request.table = table;
  request.index = index;
  request.equal = values;
  return Scan(request);
}

std::vector<const ModelRow*> Model::Scan(const ScanRequest& request) const {
  const TableState& table = *Find(request.table);
  const Index* index =
      request.index.empty() ? nullptr : FindIndex(table, request.index);
  const std::vector<ModelColumn>& columns =
      index == nullptr ? table.columns : index->columns;
  const Tuple equal = NormalizeAll(request.equal, columns);
  const size_t choice = equal.size();
  const bool merge = !request.any_of.empty();
  const size_t ranged = choice + (merge ? 1 : 0);

  Tuple choices;
  for (const Value& value : request.any_of) {
    choices.push_back(Normalize(value, columns[choice].path.back()));
  }
  const auto fits = [&](const Tuple& values) {
    if (merge && std::find(choices.begin(), choices.end(), values[choice]) ==
                     choices.end()) {
      return false;
    }
    if (!request.range.has_value()) return true;
    // A range is about values: it leaves nulls out, bounded or not.
    const Value& value = values[ranged];
    if (value.is_null()) return false;
    const auto compare = [&](const Value& bound) {
      return CompareValues(value,
                           Normalize(bound, columns[ranged].path.back()));
    };
    const Range& range = *request.range;
    if (range.min.has_value()) {
      const int order = compare(*range.min);
      if (order < 0 || (order == 0 && !range.min_inclusive)) return false;
    }
    if (range.max.has_value()) {
      const int order = compare(*range.max);
      if (order > 0 || (order == 0 && !range.max_inclusive)) return false;
    }
    return true;
  };

  std::vector<std::pair<Tuple, const ModelRow*>> found;
  const TupleLess less(columns);
  const auto walk = [&](const auto& map, const auto& row_of) {
    for (auto it = map.lower_bound(equal);
         it != map.end() && less.Compare(it->first, equal) == 0; ++it) {
      if (fits(it->first)) found.emplace_back(it->first, row_of(*it));
    }
  };
  if (index == nullptr) {
    walk(table.rows, [](const auto& item) { return &item.second; });
  } else {
    walk(index->entries,
         [&](const auto& item) { return &table.rows.at(item.second); });
  }
  if (merge) {
    // One order over all choices: that of the columns behind them.
    const TupleLess behind(
        {columns.begin() + static_cast<std::ptrdiff_t>(ranged), columns.end()});
    std::stable_sort(found.begin(), found.end(),
                     [&](const auto& a, const auto& b) {
                       return behind(MergeTail(request, a.second->record),
                                     MergeTail(request, b.second->record));
                     });
  }
  std::vector<const ModelRow*> rows;
  for (const auto& [values, row] : found) rows.push_back(row);
  return rows;
}

// A unique entry's key ends with the index's own columns.
Tuple Model::MergeTail(const ScanRequest& request,
                       std::string_view record) const {
  const TableState& table = *Find(request.table);
  const Index* index =
      request.index.empty() ? nullptr : FindIndex(table, request.index);
  const Tuple all = ValuesOf(request.table, request.index, record);
  const size_t end =
      index != nullptr && index->unique ? index->declared : all.size();
  return Tuple(
      all.begin() + static_cast<std::ptrdiff_t>(request.equal.size() + 1),
      all.begin() + static_cast<std::ptrdiff_t>(end));
}

absl::Status Model::CheckScan(const ScanRequest& request,
                              const std::vector<Row>& rows) const {
  const std::vector<const ModelRow*> expected = Scan(request);
  if (rows.size() != expected.size()) {
    return absl::InternalError(
        absl::StrCat("wrong number of rows is=", rows.size(),
                     " should be=", expected.size()));
  }
  const auto group = [&](std::string_view record) {
    return request.any_of.empty() ? Tuple() : MergeTail(request, record);
  };
  const TableState& table = *Find(request.table);
  const Index* covering = request.covered && !request.index.empty()
                              ? FindIndex(table, request.index)
                              : nullptr;
  const auto reparsed = [&](const std::string& record) {
    if (covering == nullptr) return record;
    const auto message = ParseRecord(*table.prototype, record);
    if (message == nullptr) return std::string("(not a record)");
    for (const ModelColumn& column : covering->columns) {
      ClearIfRepeated(column.path, message.get());
    }
    return message->SerializeAsString();
  };
  size_t begin = 0;
  while (begin < rows.size()) {
    // Rows that may change places: one, or those that tie in a merge.
    size_t end = begin + 1;
    const Tuple tail = group(expected[begin]->record);
    while (!request.any_of.empty() && end < rows.size() &&
           group(expected[end]->record) == tail) {
      ++end;
    }
    std::multiset<std::pair<std::string, uint64_t>> is, should_be;
    for (size_t i = begin; i < end; ++i) {
      is.emplace(reparsed(rows[i].record),
                 static_cast<uint64_t>(rows[i].version));
      if (covering == nullptr) {
        should_be.emplace(expected[i]->record, expected[i]->version);
      } else {
        should_be.emplace(CoveredPart(table, *covering, expected[i]->record),
                          0);
      }
    }
    if (is != should_be) {
      return absl::InternalError(absl::StrCat(
          "wrong row position=", begin, " is=",
          absl::CHexEscape(is.begin()->first), " version=", is.begin()->second,
          " should be=", absl::CHexEscape(should_be.begin()->first),
          " version=", should_be.begin()->second));
    }
    begin = end;
  }
  return absl::OkStatus();
}

std::string Model::CoveredPart(const TableState& table, const Index& index,
                               std::string_view record) {
  const auto whole = ParseRecord(*table.prototype, record);
  const std::unique_ptr<google::protobuf::Message> part(table.prototype->New());
  for (const ModelColumn& column : index.columns) {
    if (!column.path.back()->is_repeated()) {
      CopyField(column.path, *whole, part.get());
    }
  }
  for (const FieldPath& path : index.covering) {
    CopyField(path, *whole, part.get());
  }
  return part->SerializeAsString();
}

Tuple Model::ValuesOf(std::string_view table, std::string_view index,
                      std::string_view record) const {
  const TableState& state = *Find(table);
  return ReadColumns(*ParseRecord(*state.prototype, record),
                     Columns(table, index));
}

}  // namespace dovetail::test

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "sql/access_path.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail::sql {
namespace {

using Parts = google::protobuf::RepeatedPtrField<v1::KeyPart>;

PathPart::Kind KindOf(const v1::KeyPart& part) {
  switch (part.transform_case()) {
    case v1::KeyPart::kHash:
    case v1::KeyPart::kBucket:
    case v1::KeyPart::kSubBucket:
      return PathPart::Kind::kComputed;
    case v1::KeyPart::kSalt:
      return PathPart::Kind::kSalt;
    default:
      return PathPart::Kind::kField;
  }
}

// SQL puts null below every value, and so does a key unless told otherwise.
bool NullsAsInSql(const v1::KeyPart& part) {
  switch (part.nulls()) {
    case v1::KeyPart::NULLS_FIRST:
      return part.order() == v1::KeyPart::ASC;
    case v1::KeyPart::NULLS_LAST:
      return part.order() == v1::KeyPart::DESC;
    default:
      return true;
  }
}

// Whether SQL and keys agree on the order of the column's values. They do not
// on NaN, which SQL has not got; on enums, which SQL knows by name; and on
// large unsigned numbers, many of which are one number in SQL.
bool OrderAsInSql(const Column& column, bool utf8) {
  switch (column.kind) {
    case Column::Kind::kBool:
    case Column::Kind::kInt32:
    case Column::Kind::kInt64:
    case Column::Kind::kUint32:
    case Column::Kind::kBytes:
    case Column::Kind::kTimestamp:
      return true;
    case Column::Kind::kString:
      return utf8;
    default:
      return false;
  }
}

bool RangesAsInSql(const Column& column, bool utf8) {
  return OrderAsInSql(column, utf8) || column.is_real() ||
         column.kind == Column::Kind::kUint64;
}

absl::Status AddParts(const Parts& parts, bool text,
                      const std::vector<Column>& columns, bool utf8,
                      AccessPath* path) {
  for (const v1::KeyPart& proto : parts) {
    PathPart part;
    part.kind = KindOf(proto);
    part.descending = proto.order() == v1::KeyPart::DESC;
    for (const std::string& field : proto.fields()) {
      const int column = FindColumn(columns, field);
      if (column < 0) {
        return absl::InternalError(absl::StrCat(
            "no column for a field of a key: field=", ToAbsl(Quote(field)),
            " index=", path->index));
      }
      part.inputs.push_back(column);
    }
    if (proto.has_salt()) path->spread *= proto.salt().count();
    if (proto.has_sub_bucket()) path->spread *= proto.sub_bucket().count();
    if (part.kind == PathPart::Kind::kField) {
      const Column& column = columns[static_cast<size_t>(part.inputs[0])];
      const bool keeps = !text && !proto.has_reverse();
      part.ranges = keeps && RangesAsInSql(column, utf8);
      part.sql_order = keeps && OrderAsInSql(column, utf8) &&
                       (!column.nullable || NullsAsInSql(proto));
    }
    path->parts.push_back(std::move(part));
  }
  return absl::OkStatus();
}

absl::Status AddColumns(const DynamicTable& table,
                        const std::vector<Column>& columns, AccessPath* path) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names,
                   table.Columns(path->index));
  for (const std::string& name : names) {
    const int column = FindColumn(columns, name);
    int held_by = -1;
    for (size_t i = 0; i < path->parts.size() && held_by < 0; ++i) {
      const PathPart& part = path->parts[i];
      if (part.kind == PathPart::Kind::kField && part.inputs[0] == column) {
        held_by = static_cast<int>(i);
      }
    }
    path->columns.push_back(column);
    path->part_of.push_back(held_by);
  }
  return absl::OkStatus();
}

void HoldFields(const AccessPath& of, AccessPath* path) {
  for (const PathPart& part : of.parts) {
    if (part.kind != PathPart::Kind::kField) continue;
    path->holds[static_cast<size_t>(part.inputs[0])] = true;
  }
}

bool Contains(const std::vector<int>& all, int one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

size_t AccessPath::PartsBound(size_t count) const {
  const std::vector<int> bound(
      columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(count));
  size_t i = 0;
  for (; i < parts.size(); ++i) {
    const std::vector<int>& inputs = parts[i].inputs;
    if (!std::all_of(inputs.begin(), inputs.end(),
                     [&](int c) { return Contains(bound, c); })) {
      break;
    }
  }
  return i;
}

bool AccessPath::CanBind(size_t count) const {
  const size_t parts_bound = PartsBound(count);
  for (size_t i = 0; i < count; ++i) {
    if (part_of[i] >= 0) {
      if (part_of[i] >= static_cast<int>(parts_bound)) return false;
      continue;
    }
    const bool hashed = std::any_of(
        parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(parts_bound),
        [&](const PathPart& part) {
          return Contains(part.inputs, columns[i]);
        });
    if (!hashed) return false;
  }
  return true;
}

int AccessPath::RangePart(size_t position) const {
  const int part = part_of[position];
  if (part < 0 || part != static_cast<int>(PartsBound(position))) return -1;
  return parts[static_cast<size_t>(part)].ranges ? part : -1;
}

absl::StatusOr<std::vector<AccessPath>> RowPaths(
    const DynamicTable& table, const std::vector<Column>& columns,
    const std::vector<IndexInfo>& indexes, size_t merge_streams_max,
    bool utf8) {
  std::vector<AccessPath> paths(1);
  AccessPath row_key;
  const v1::RowKeyLayout& layout = table.schema().row_key();
  const bool text = layout.encoding() == v1::RowKeyLayout::TEXT;
  RETURN_IF_ERROR(AddParts(layout.parts(), text, columns, utf8, &row_key));
  RETURN_IF_ERROR(AddColumns(table, columns, &row_key));
  row_key.holds.assign(columns.size(), true);
  // Without an identity or a salt there is one row of these values.
  row_key.unique = row_key.spread == 1;
  row_key.query_only = row_key.spread > merge_streams_max;
  for (const int part : row_key.part_of) row_key.unique &= part >= 0;
  for (const IndexInfo& info : indexes) {
    const bool plain = info.kind == v1::IndexSchema::VALUE ||
                       info.kind == v1::IndexSchema::UNIQUE;
    if (info.table != table.name() || !plain ||
        info.state != IndexState::kReadable) {
      continue;
    }
    for (const v1::IndexSchema& index : table.schema().indexes()) {
      if (index.name() != info.index || !index.fan_out().empty() ||
          !index.predicate().empty()) {
        continue;
      }
      AccessPath path;
      path.index = index.name();
      path.unique = index.kind() == v1::IndexSchema::UNIQUE;
      RETURN_IF_ERROR(AddParts(index.parts(), false, columns, utf8, &path));
      RETURN_IF_ERROR(AddColumns(table, columns, &path));
      if (path.spread > merge_streams_max) continue;
      path.holds.assign(columns.size(), false);
      HoldFields(path, &path);
      // What an entry has of a text row key, it has in the index's parts or
      // as it is, so the same fields can be read from it.
      HoldFields(row_key, &path);
      for (size_t i = 0; i < columns.size(); ++i) {
        const bool covered =
            std::find(index.covering().begin(), index.covering().end(),
                      columns[i].path) != index.covering().end();
        if ((covered && !columns[i].path.empty()) ||
            columns[i].kind == Column::Kind::kRowKey) {
          path.holds[i] = true;
        }
      }
      if (path.unique) {
        for (const PathPart& part : path.parts) {
          for (const int column : part.inputs) {
            if (columns[static_cast<size_t>(column)].nullable) {
              path.never_null.push_back(column);
            }
          }
        }
      }
      paths.push_back(std::move(path));
    }
  }
  paths[0] = std::move(row_key);
  return paths;
}

absl::StatusOr<AccessPath> GroupPath(const DynamicTable& table,
                                     std::string_view index,
                                     const std::vector<Column>& columns,
                                     bool utf8) {
  AccessPath path;
  path.index = std::string(index);
  for (const v1::IndexSchema& each : table.schema().indexes()) {
    if (each.name() != index) continue;
    RETURN_IF_ERROR(AddParts(each.parts(), false, columns, utf8, &path));
  }
  RETURN_IF_ERROR(AddColumns(table, columns, &path));
  path.unique = true;  // One group of each values.
  path.holds.assign(columns.size(), true);
  return path;
}

}  // namespace dovetail::sql

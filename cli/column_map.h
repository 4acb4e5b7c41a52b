// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Which column of a file fills which field of a record, and how. A map is
// written one field at a time:
//
//   seller_id=vendor                   the column as it is
//   ts_ms=order_purchase_timestamp:time   converted; see field_text.h
//   ts_ms=Date:time(%m-%d-%y|%m-%d-%Y)
//   order_id={Order ID}#{index}        columns joined with text; {{ and }}
//                                      stand for braces
//
// Without a map, each column fills the field of its name.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/field_text.h"
#include "google/protobuf/message.h"

namespace dovetail::cli {

struct ColumnMapOptions {
  std::vector<std::string> maps = {};      // Empty: by name.
  std::vector<std::string> defaults = {};  // "field=value", for empty cells.
  // Fields that a key is made of. Each must have a column or a default, and
  // a text field among them must not come out empty.
  std::vector<std::string> key_fields = {};
  bool allow_empty_keys = false;
};

// One cell of a row. Valid while the row is.
struct Cell {
  std::string_view text;
  bool null = false;
};

// Thread-compatible.
class ColumnMap {
 public:
  // `columns` are the file's; null if a row may have any, as in JSON. An
  // error names what is wrong with which map, and lists what exists.
  static absl::StatusOr<ColumnMap> Bind(
      const google::protobuf::Message& prototype,
      const ColumnMapOptions& options, const std::vector<std::string>* columns);

  // The columns that Fill takes cells for, in order: all of the file's, or,
  // if a row may have any, those the map names.
  const std::vector<std::string>& columns() const { return columns_; }
  // Columns of the file that fill no field.
  const std::vector<std::string>& unused() const { return unused_; }

  // The outcome for one row: OK, or the cause and the column to blame.
  struct Filled {
    absl::Status status;
    std::optional<size_t> column;
  };
  // Fills an empty record. An empty cell stands for the field's default; a
  // text field without one becomes empty, a nullable field null, any other
  // field is an error. REQUIRES: one cell per column.
  Filled Fill(const std::vector<Cell>& cells,
              google::protobuf::Message* record) const;

 private:
  // Literal text, then a column.
  struct Piece {
    std::string literal;
    std::optional<size_t> column;
  };
  struct Source {
    FieldPath field;
    Conversion conversion;
    std::vector<Piece> pieces;  // Empty: the default only.
    std::optional<std::string> default_text;
  };

  absl::Status AddMap(const google::protobuf::Descriptor* type,
                      std::string_view spec, bool any_column);
  absl::Status AddSameNames(const google::protobuf::Descriptor* type);
  absl::Status AddDefault(const google::protobuf::Message& prototype,
                          std::string_view spec);
  absl::Status AddKeys(const google::protobuf::Descriptor* type,
                       const ColumnMapOptions& options);
  absl::Status ParseSource(std::string_view text, bool any_column,
                           Source* source);
  absl::Status ParseTemplate(std::string_view text, bool any_column,
                             std::vector<Piece>* pieces);
  absl::StatusOr<size_t> FindColumn(std::string_view name, bool any_column);
  Source* FindSource(std::string_view path);
  void ListUnused();
  Filled FillOne(const Source& source, const std::vector<Cell>& cells,
                 google::protobuf::Message* record) const;

  std::vector<std::string> columns_;
  std::vector<std::string> unused_;
  std::vector<Source> sources_;
  std::vector<FieldPath> keys_;  // Must not come out empty.
};

// The text fields among `paths`, which must not be empty in a key.
absl::StatusOr<std::vector<FieldPath>> TextKeys(
    const google::protobuf::Descriptor* type,
    const std::vector<std::string>& paths);

// InvalidArgument names the first of `keys` that is empty in `record`.
absl::Status CheckKeys(const std::vector<FieldPath>& keys,
                       const google::protobuf::Message& record);

// "a=b" in two; UsageError, naming `option`, without '=' or with nothing
// before it.
absl::Status SplitAssignment(std::string_view option, std::string_view text,
                             std::string* left, std::string* right);

}  // namespace dovetail::cli

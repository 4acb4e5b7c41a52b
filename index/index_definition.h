// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// One index: which entry a row has in it, and how to get from an entry back to
// its row.
//
// An entry is minimal. Its key is the index's parts, then, for a VALUE index,
// those parts of the row key that cannot be rebuilt from them, and its value
// is empty. A UNIQUE entry's key is the index's parts alone, so that one point
// read finds it, and the rest of the row key is its value. Covering fields
// follow in the value of either.
//
// COUNT and SUM indexes have one entry for all rows whose parts are the same:
// see group_value.h for its value.

#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "index/group_value.h"
#include "index/key_layout.h"
#include "index/old_fields.h"
#include "index/row_predicate.h"

namespace dovetail {

// A record's fields and row key, as the entries of its row are made from them.
struct EncodedRow {
  std::vector<FieldValue> fields;     // Views of the record.
  std::vector<ListElement> elements;  // Of its repeated fields.
  std::string key;
  KeyOffsets offsets;  // Of `key`'s parts.

  std::string_view part(size_t i) const {
    const uint32_t begin = i == 0 ? 0 : offsets[i - 1];
    return std::string_view(key).substr(begin, offsets[i] - begin);
  }
};

// Thread-compatible.
class IndexDefinition {
 public:
  // `row_key` and `fields` are the table's, of its record type.
  // InvalidArgument says what is wrong with the declaration.
  static absl::StatusOr<IndexDefinition> Compile(
      const v1::IndexSchema& schema, const google::protobuf::Descriptor& record,
      const KeyLayout& row_key, std::span<const FieldInfo> fields);

  const std::string& name() const { return name_; }
  v1::IndexSchema::Kind kind() const { return kind_; }
  bool unique() const { return unique_; }
  // COUNT and SUM: entries are of groups, and lead to no row.
  bool aggregates() const { return aggregates_; }
  bool sums() const { return kind_ == v1::IndexSchema::SUM; }
  // The repeated field of whose elements a row has an entry each, or -1.
  int fan_out() const { return fan_out_; }
  // Whether a row has one entry at most, which EncodeEntry makes.
  bool plain() const { return !aggregates_ && fan_out_ < 0; }
  const KeyLayout& layout() const { return layout_; }
  // Parts of the row key that an entry has besides the index's own, behind its
  // key or, of a UNIQUE index, as its value.
  const std::vector<size_t>& suffix() const { return suffix_; }

  // Which rows have an entry; empty: all.
  const RowPredicate& predicate() const { return predicate_; }
  // Positions of the covering fields, in the order of the declaration.
  const std::vector<int>& covering() const { return covering_; }
  // Whether an entry holds the field: it can be read without the row.
  bool Holds(int field) const { return held_[static_cast<size_t>(field)]; }

  // Whether a row with these fields has an entry: if the predicate holds for
  // it, and, in a UNIQUE index, none of the parts is null.
  bool HasEntry(std::span<const FieldValue> fields) const {
    return of_every_row_ || QualifiesForEntry(fields);
  }

  // All entries of the row, by key and each once: as many as the fan-out field
  // has distinct elements, else one or none. Keys begin with `prefix`. Those of
  // an aggregate are its groups, without values. InvalidArgument if there are
  // too many elements.
  struct Entry {
    std::string key;
    std::string value;

    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  absl::Status EncodeEntries(const EncodedRow& row, std::string_view prefix,
                             std::vector<Entry>* out) const;
  // What the row is in each of its groups. REQUIRES: aggregates().
  GroupValue Contribution(std::span<const FieldValue> fields) const;
  // The values of a group's columns. InvalidArgument if the bytes are no key
  // of this index. REQUIRES: aggregates().
  absl::StatusOr<std::vector<Value>> GroupColumns(std::string_view key) const;

  // Appends the key of the row's entry to `key` and its value to `value`.
  // REQUIRES: plain(), HasEntry(row.fields).
  absl::Status EncodeEntry(const EncodedRow& row, std::string* key,
                           std::string* value) const;
  // The key alone, of a UNIQUE entry. `row.key` may be empty: then it is made
  // from the fields only.
  absl::Status EncodeUniqueKey(const EncodedRow& row, std::string* key) const;

  // Replaces `*row_key` by the key of the row that the entry is of.
  // InvalidArgument if the bytes are no entry of this index.
  absl::Status RowKeyOf(std::string_view entry_key,
                        std::string_view entry_value,
                        std::string* row_key) const;

  // The fields that the entry holds, by position; others are null. Texts view
  // `storage`. The covering fields are not among them, if the key has not got
  // them too: `covering` becomes a record of them. InvalidArgument as above.
  absl::Status DecodeEntry(std::string_view entry_key,
                           std::string_view entry_value,
                           std::vector<Value>* storage,
                           std::vector<FieldValue>* fields,
                           std::string_view* covering) const;

  // Whether two rows' entries are certainly equal, or both absent: same row key
  // and same values in every field that the index reads. Cheaper than encoding
  // both. REQUIRES: plain().
  bool SameEntry(const EncodedRow& a, const EncodedRow& b) const;
  // The same of any index; in groups the row key does not count.
  bool SameEntries(const EncodedRow& a, const EncodedRow& b) const;

 private:
  // Where RowKeyOf takes one part of the row key from.
  struct Source {
    enum class Kind {
      kIndexPart,    // The same bytes as part `position` of the index key.
      kSuffix,       // Part `position` of what the entry has besides.
      kReencode,     // The field is in the entry, in another form.
      kCompute,      // Hashed from fields that are in the entry.
      kCarriedSalt,  // The number of part `position` of what it has besides.
      kCarriedText,  // The text of that part.
    };
    Kind kind;
    size_t position = 0;
  };

  // What an entry consists of.
  struct Pieces;

  absl::Status CompileKind(const v1::IndexSchema& schema,
                           std::span<const FieldInfo> fields);
  absl::Status CheckParts(std::span<const FieldInfo> fields) const;
  absl::Status CompileCovering(const v1::IndexSchema& schema,
                               const google::protobuf::Descriptor& record,
                               std::span<const FieldInfo> fields);
  void PlanHeld();
  FieldType ElementType() const;  // Of the fan-out field.
  bool QualifiesForEntry(std::span<const FieldValue> fields) const;
  absl::Status EncodeParts(const EncodedRow& row, std::string* key) const;
  void AppendCovering(const EncodedRow& row, std::string* value) const;
  absl::Status Split(std::string_view entry_key, std::string_view entry_value,
                     Pieces* pieces) const;
  void PlanRowKey(const KeyLayout& row_key);
  void PlanTextRowKey();
  absl::Status EncodeTextSuffix(const EncodedRow& row, std::string* out) const;
  absl::Status AppendCarried(size_t row_part, std::string_view bytes,
                             std::string* row_key) const;
  // Of those that `wanted` has.
  absl::Status DecodeFields(const Pieces& pieces,
                            const std::vector<bool>& wanted,
                            std::vector<Value>* storage,
                            std::vector<FieldValue>* fields) const;

  std::string name_;
  v1::IndexSchema::Kind kind_ = v1::IndexSchema::VALUE;
  bool aggregates_ = false;
  int sum_ = -1;  // The field that a SUM index sums.
  FieldType sum_type_ = FieldType::kInt64;
  int fan_out_ = -1;
  size_t fan_out_max_ = 0;
  bool unique_ = false;
  bool of_every_row_ = true;
  KeyLayout layout_;
  RowPredicate predicate_;
  std::vector<int> covering_;
  OldFieldsEncoder covering_encoder_;  // Of the fields of covering_.
  std::vector<KeyPart> row_parts_;
  // By part of the row key: the form it has in an entry. Of a BINARY row key
  // the part itself; of a TEXT one, whose texts are long, a BINARY part.
  std::vector<KeyPart> carried_;
  bool text_row_key_ = false;
  // By part of the row key.
  std::vector<Source> sources_;
  // Parts of the row key that the entry carries besides its own parts.
  std::vector<size_t> suffix_;
  // By part of the index: the row-key part with the same bytes, or -1.
  std::vector<int> same_as_row_part_;
  // Fields that the parts are made from, and all that the index reads.
  std::vector<int> part_inputs_;
  std::vector<int> inputs_;
  size_t field_count_ = 0;  // Of the table.
  std::vector<bool> held_;  // By field: whether an entry holds it.
  // By field: whether some source is made from it.
  std::vector<bool> needed_;
  bool needs_fields_ = false;
};

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// One index: which entry a row has in it, and how to get from an entry back to
// its row.
//
// An entry is minimal. Its key is the index's parts, then, for a VALUE index,
// those parts of the row key that cannot be rebuilt from them, and its value
// is empty. A UNIQUE entry's key is the index's parts alone, so that one point
// read finds it, and the rest of the row key is its value.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "index/key_layout.h"

namespace dovetail {

// A record's fields and row key, as the entries of its row are made from them.
struct EncodedRow {
  std::vector<FieldValue> fields;  // Views of the record.
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
  // `row_key` and `fields` are the table's. InvalidArgument says what is wrong
  // with the declaration.
  static absl::StatusOr<IndexDefinition> Compile(
      const v1::IndexSchema& schema, const KeyLayout& row_key,
      std::span<const FieldInfo> fields);

  const std::string& name() const { return name_; }
  bool unique() const { return unique_; }
  const KeyLayout& layout() const { return layout_; }
  // Parts of the row key that an entry has besides the index's own, behind its
  // key or, of a UNIQUE index, as its value.
  const std::vector<size_t>& suffix() const { return suffix_; }

  // The form that part `row_part` of the row key has in what an entry carries
  // besides its own parts.
  const KeyPart& carried(size_t row_part) const { return carried_[row_part]; }

  // Whether a row with these fields has an entry: always, but for a UNIQUE
  // index only if none of its parts is null.
  bool HasEntry(std::span<const FieldValue> fields) const;

  // Appends the key of the row's entry to `key` and its value to `value`.
  // REQUIRES: HasEntry(row.fields).
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

  // Whether two rows' entries are certainly equal: same row key and same
  // values in every field that the index reads. Cheaper than encoding both.
  bool SameEntry(const EncodedRow& a, const EncodedRow& b) const;

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

  absl::Status EncodeParts(const EncodedRow& row, std::string* key) const;
  void PlanRowKey(const KeyLayout& row_key);
  void PlanTextRowKey();
  absl::Status EncodeTextSuffix(const EncodedRow& row, std::string* out) const;
  absl::Status AppendCarried(size_t row_part, std::string_view bytes,
                             std::string* row_key) const;
  absl::Status DecodeFields(std::span<const std::string_view> index_parts,
                            std::span<const std::string_view> suffix_parts,
                            std::vector<Value>* storage,
                            std::vector<FieldValue>* fields) const;

  std::string name_;
  bool unique_ = false;
  KeyLayout layout_;
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
  // Fields that the index reads, and the size of the table's field list.
  std::vector<int> inputs_;
  size_t field_count_ = 0;
  // By field: whether some source is made from it.
  std::vector<bool> needed_;
  bool needs_fields_ = false;
};

}  // namespace dovetail

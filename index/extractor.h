// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Field values straight from the wire bytes of a record: one pass, no parse,
// no allocation. A plan is compiled once from the record's descriptor.
//
// The extractor is also the validator of what callers send: it accepts exactly
// the byte strings that the generated class's ParseFromString accepts, and
// for those returns exactly the values that the parsed message has.
//   - The last value of a singular field wins; occurrences of a singular
//     sub-message merge; a later member of a oneof clears an earlier one.
//   - A field with another wire type than declared is an unknown field.
//   - Unknown fields are skipped, to the same nesting depth as Protobuf.
//   - proto3 strings must be UTF-8.
//   - Values that an open (proto3) enum does not name are values; those of a
//     closed (proto2) enum are unknown fields, so the field is as it was.
//   - Required fields of proto2 must be set, in every message that counts.
//   - Extensions that the descriptor's pool knows are fields; those of
//     message sets are not supported.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "index/field_value.h"

namespace dovetail {

struct FieldInfo {
  std::string path;  // "seller_id", "ship_to.country"
  FieldType type;
  // Whether the field can be null: it has presence and is not required, or a
  // message on its path may be absent. Other fields have their default value
  // when not set.
  bool nullable;
  // Field numbers from the record down.
  std::vector<int> numbers;
  // It has any number of elements, none of them null.
  bool repeated = false;
};

// One element of a repeated field.
struct ListElement {
  uint32_t field;  // Position in Extractor::fields().
  FieldValue value;

  friend bool operator==(const ListElement&, const ListElement&) = default;
};

// The leaf that `path` names in `record`. InvalidArgument if there is no such
// field, if a repeated field is on the path, or if the leaf is a message
// other than google.protobuf.Timestamp (the message says which of them).
absl::StatusOr<FieldInfo> ResolveField(
    const google::protobuf::Descriptor& record, std::string_view path);

// Thread-compatible: Extract may run concurrently.
class Extractor {
 public:
  // `record` need not outlive the extractor. A path may be given twice.
  // `lists` are of repeated fields of scalars. Errors as ResolveField's;
  // InvalidArgument too if a message that can occur in `record` is a message
  // set.
  static absl::StatusOr<Extractor> Compile(
      const google::protobuf::Descriptor& record,
      const std::vector<std::string>& paths,
      const std::vector<std::string>& lists = {});
  Extractor(Extractor&&) noexcept;
  Extractor& operator=(Extractor&&) noexcept;
  ~Extractor();

  // One per path of Compile, in that order, then one per list.
  const std::vector<FieldInfo>& fields() const { return fields_; }

  // Fills `out`, one value per field; texts view `record`. Those of lists stay
  // null: their elements are put into `elements`, in the order of the record;
  // null: nobody wants them. InvalidArgument if
  // `record` is not a message of the type, with the byte offset and what is
  // wrong there, or the required field it lacks; `out` is then unspecified.
  // REQUIRES: out.size() == fields().size().
  absl::Status Extract(std::string_view record, std::span<FieldValue> out,
                       std::vector<ListElement>* elements = nullptr) const;
  // The same for a part of a record: required fields may be missing.
  absl::Status ExtractPartial(
      std::string_view record, std::span<FieldValue> out,
      std::vector<ListElement>* elements = nullptr) const;

 private:
  struct Plan;
  Extractor(std::vector<FieldInfo> fields, std::unique_ptr<const Plan> plan);

  std::vector<FieldInfo> fields_;
  std::unique_ptr<const Plan> plan_;
};

}  // namespace dovetail

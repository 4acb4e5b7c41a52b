// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/schema.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "index/descriptors.h"

namespace dovetail {
namespace {

v1::KeyPart PartOf(std::vector<std::string> paths) {
  v1::KeyPart proto;
  for (std::string& path : paths) proto.add_fields(std::move(path));
  return proto;
}

// Keeps the first error of a text-format parse.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text_.empty()) return;
    text_ =
        absl::StrCat("line ", line + 1, " column ", column + 1, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

Part Part::Desc() && {
  proto_.set_order(v1::KeyPart::DESC);
  return std::move(*this);
}

Part Part::NullsFirst() && {
  proto_.set_nulls(v1::KeyPart::NULLS_FIRST);
  return std::move(*this);
}

Part Part::NullsLast() && {
  proto_.set_nulls(v1::KeyPart::NULLS_LAST);
  return std::move(*this);
}

Part Part::Width(uint32_t width) && {
  proto_.mutable_text()->set_width(width);
  return std::move(*this);
}

Part Part::Digits(v1::KeyPart::Text::Digits digits) && {
  proto_.mutable_text()->set_digits(digits);
  return std::move(*this);
}

Part Part::Joined() && {
  proto_.mutable_text()->set_joined(true);
  return std::move(*this);
}

Part Part::DescFrom(uint64_t from) && {
  proto_.set_order(v1::KeyPart::DESC);
  proto_.mutable_text()->set_desc_from(from);
  return std::move(*this);
}

Part Part::NullAs(std::string_view text) && {
  proto_.mutable_text()->set_null_as(std::string(text));
  return std::move(*this);
}

Part Part::Form(v1::KeyPart::Text::BucketForm form) && {
  proto_.mutable_text()->set_form(form);
  return std::move(*this);
}

Part Part::Unit(v1::KeyPart::Text::Unit unit) && {
  proto_.mutable_text()->set_unit(unit);
  return std::move(*this);
}

Part Part::Joiner(std::string_view joiner) && {
  proto_.mutable_text()->set_joiner(std::string(joiner));
  return std::move(*this);
}

Part Part::ReverseInput() && {
  proto_.mutable_text()->set_reverse_input(true);
  return std::move(*this);
}

Part Field(std::string_view path) { return Part(PartOf({std::string(path)})); }

Part Reverse(std::string_view path) {
  v1::KeyPart proto = PartOf({std::string(path)});
  proto.mutable_reverse();
  return Part(std::move(proto));
}

Part Hash(std::vector<std::string> paths, v1::HashAlgorithm algorithm,
          uint32_t bytes) {
  v1::KeyPart proto = PartOf(std::move(paths));
  proto.mutable_hash()->set_algorithm(algorithm);
  proto.mutable_hash()->set_bytes(bytes);
  return Part(std::move(proto));
}

Part Bucket(std::vector<std::string> paths, v1::HashAlgorithm algorithm,
            uint32_t count) {
  v1::KeyPart proto = PartOf(std::move(paths));
  proto.mutable_bucket()->set_algorithm(algorithm);
  proto.mutable_bucket()->set_count(count);
  return Part(std::move(proto));
}

Part Salt(uint32_t count) {
  v1::KeyPart proto;
  proto.mutable_salt()->set_count(count);
  return Part(std::move(proto));
}

Part SubBucket(std::string_view path, std::vector<std::string> listed,
               std::vector<std::string> spread_by, uint32_t count,
               v1::HashAlgorithm algorithm) {
  spread_by.insert(spread_by.begin(), std::string(path));
  v1::KeyPart proto = PartOf(std::move(spread_by));
  proto.mutable_sub_bucket()->set_algorithm(algorithm);
  proto.mutable_sub_bucket()->set_count(count);
  for (std::string& value : listed) {
    proto.mutable_sub_bucket()->add_listed(std::move(value));
  }
  return Part(std::move(proto));
}

Part Decimal(std::string_view path, uint32_t digits) {
  v1::KeyPart proto = PartOf({std::string(path)});
  proto.mutable_decimal()->set_digits(digits);
  return Part(std::move(proto));
}

Part Time32(std::string_view path, v1::KeyPart::Time32::Unit unit) {
  v1::KeyPart proto = PartOf({std::string(path)});
  proto.mutable_time32()->set_unit(unit);
  return Part(std::move(proto));
}

Part EnumBytes(std::string_view path, uint32_t bytes) {
  v1::KeyPart proto = PartOf({std::string(path)});
  proto.mutable_enum_bytes()->set_bytes(bytes);
  return Part(std::move(proto));
}

Part Varint(std::string_view path) {
  v1::KeyPart proto = PartOf({std::string(path)});
  proto.mutable_varint();
  return Part(std::move(proto));
}

TableBuilder::TableBuilder(std::string_view name,
                           const google::protobuf::Descriptor* record) {
  proto_.set_name(std::string(name));
  proto_.set_record_type(record->full_name());
  *proto_.mutable_descriptors() = DescriptorsOf(*record);
}

TableBuilder& TableBuilder::RowKey(std::vector<Part> parts) {
  for (const Part& part : parts) {
    *proto_.mutable_row_key()->add_parts() = part.proto();
  }
  return *this;
}

TableBuilder& TableBuilder::TextRowKey(std::string_view separator,
                                       std::vector<Part> parts) {
  proto_.mutable_row_key()->set_encoding(v1::RowKeyLayout::TEXT);
  proto_.mutable_row_key()->set_separator(std::string(separator));
  return RowKey(std::move(parts));
}

TableBuilder& TableBuilder::Index(std::string_view name,
                                  std::vector<Part> parts) {
  v1::IndexSchema& index = *proto_.add_indexes();
  index.set_name(std::string(name));
  for (const Part& part : parts) *index.add_parts() = part.proto();
  return *this;
}

TableBuilder& TableBuilder::Unique(std::string_view name,
                                   std::vector<Part> parts) {
  Index(name, std::move(parts));
  proto_.mutable_indexes()->rbegin()->set_kind(v1::IndexSchema::UNIQUE);
  return *this;
}

TableBuilder& TableBuilder::Add(const IndexBuilder& index) {
  *proto_.add_indexes() = index.proto();
  return *this;
}

TableBuilder& TableBuilder::Identity(std::string_view index) {
  proto_.set_identity(std::string(index));
  return *this;
}

TableBuilder& TableBuilder::OrderedBy(std::string_view field) {
  proto_.mutable_change_order()->set_order_by(std::string(field));
  return *this;
}

TableBuilder& TableBuilder::OrderedGroup(std::string_view order_by,
                                         std::vector<std::string> fields) {
  v1::ChangeOrder::Group& group = *proto_.mutable_change_order()->add_groups();
  group.set_order_by(std::string(order_by));
  for (std::string& field : fields) group.add_fields(std::move(field));
  return *this;
}

TableBuilder& TableBuilder::RememberDeletes() {
  proto_.mutable_change_order()->set_remember_deletes(true);
  return *this;
}

absl::StatusOr<Schema> Schema::FromText(
    std::string_view text, const google::protobuf::DescriptorPool& pool) {
  v1::Schema proto;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(std::string(text), &proto)) {
    return absl::InvalidArgumentError(
        absl::StrCat("schema is not a dovetail.v1.Schema: ", error.text()));
  }
  for (v1::TableSchema& table : *proto.mutable_tables()) {
    if (table.has_descriptors()) continue;
    const auto* record = pool.FindMessageTypeByName(table.record_type());
    if (record == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("record type is not known: table=", table.name(),
                       " record_type=", table.record_type()));
    }
    *table.mutable_descriptors() = DescriptorsOf(*record);
  }
  return Schema(std::move(proto));
}

Schema& Schema::Add(const TableBuilder& table) {
  *proto_.add_tables() = table.proto();
  return *this;
}

}  // namespace dovetail

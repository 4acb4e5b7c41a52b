// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Schemas in C++. What a database should hold, in the words of schema.proto:
//
//   Schema schema;
//   schema.Add(TableBuilder("orders", v1::Order::descriptor())
//                  .RowKey({Hash({"seller_id"}), Field("seller_id"),
//                           Field("ts_ms").Desc(), Field("order_id")})
//                  .Unique("by_order_id",
//                          {Hash({"order_id"}), Field("order_id")})
//                  .Index("by_status",
//                         {Hash({"seller_id"}), Field("seller_id"),
//                          Field("status"), Field("ts_ms").Desc(),
//                          Field("order_id")})
//                  .Identity("by_order_id"));
//
// Nothing is checked here: Engine::Open checks the whole schema at once and
// names what is wrong with it. Thread-compatible.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/read.h"
#include "dovetail/v1/schema.pb.h"
#include "dovetail/value.h"
#include "google/protobuf/descriptor.h"

namespace dovetail {

// One part of a key. Made by the functions below; Desc() and the like return
// the changed part, so that they chain.
class Part {
 public:
  explicit Part(v1::KeyPart proto) : proto_(std::move(proto)) {}

  Part Desc() &&;        // Complemented: highest value first.
  Part NullsFirst() &&;  // Nulls first or last in scan order, whatever the
  Part NullsLast() &&;   // direction. Default: null is the lowest value.

  // How the part is written in a TEXT row key; v1::KeyPart::Text says more.
  //   Bucket({"id"}, v1::JAVA_STRING, 64).Width(2)     %02d
  //   Field("ts_ms").Desc().Width(19)                  Long.MAX_VALUE - ts_ms
  Part Width(uint32_t width) &&;
  Part Digits(v1::KeyPart::Text::Digits digits) &&;
  Part Joined() &&;  // No separator behind it.
  Part DescFrom(uint64_t from) &&;
  Part NullAs(std::string_view text) &&;
  Part Form(v1::KeyPart::Text::BucketForm form) &&;
  Part Unit(v1::KeyPart::Text::Unit unit) &&;
  Part Joiner(std::string_view joiner) &&;
  Part ReverseInput() &&;

  const v1::KeyPart& proto() const { return proto_; }

 private:
  v1::KeyPart proto_;
};

// Each is the C++ form of one transform of schema.proto, where their bytes
// and limits are described.
Part Field(std::string_view path);
Part Reverse(std::string_view path);
Part Hash(std::vector<std::string> paths,
          v1::HashAlgorithm algorithm = v1::XXH3, uint32_t bytes = 4);
Part Bucket(std::vector<std::string> paths, v1::HashAlgorithm algorithm,
            uint32_t count);
Part Salt(uint32_t count);
Part SubBucket(std::string_view path, std::vector<std::string> listed,
               std::vector<std::string> spread_by, uint32_t count,
               v1::HashAlgorithm algorithm = v1::XXH3);
Part Decimal(std::string_view path, uint32_t digits);
Part Time32(std::string_view path,
            v1::KeyPart::Time32::Unit unit = v1::KeyPart::Time32::SECONDS);
Part EnumBytes(std::string_view path, uint32_t bytes = 1);
Part Varint(std::string_view path);

// A test of one field, for indexes of a part of the rows; see
// IndexSchema::Test in schema.proto. Enum values may be given by name.
class RowTest {
 public:
  explicit RowTest(v1::IndexSchema::Test proto) : proto_(std::move(proto)) {}

  // A null value is IsNull's business; it is refused here.
  static RowTest Equal(std::string_view path, const Value& value);
  static RowTest In(std::string_view path, const std::vector<Value>& values);
  static RowTest Between(std::string_view path, const Range& range);
  static RowTest Prefix(std::string_view path, std::string_view prefix);
  static RowTest IsNull(std::string_view path);
  static RowTest IsNotNull(std::string_view path);

  const v1::IndexSchema::Test& proto() const { return proto_; }

 private:
  v1::IndexSchema::Test proto_;
};

// An index by itself, for Engine::AddIndex and TableBuilder::Add:
//   IndexBuilder::Count("orders_by_status",
//                       {Field("seller_id"), EnumBytes("status")})
//       .Where({RowTest::IsNull("deleted_at")})
class IndexBuilder {
 public:
  explicit IndexBuilder(v1::IndexSchema proto) : proto_(std::move(proto)) {}
  static IndexBuilder Value(std::string_view name, std::vector<Part> parts);
  static IndexBuilder Unique(std::string_view name, std::vector<Part> parts);
  // How many rows have the same values, and the sum of an integer field.
  static IndexBuilder Count(std::string_view name, std::vector<Part> parts);
  static IndexBuilder Sum(std::string_view name, std::vector<Part> parts,
                          std::string_view of);

  // Fields that the entries carry; see ScanRequest::covered.
  IndexBuilder& Covering(std::vector<std::string> paths);
  // Only rows for which all tests hold have an entry.
  IndexBuilder& Where(std::vector<RowTest> tests);
  // One entry for each distinct element of a repeated field, which `parts`
  // name as any other; rows with more than `max` are refused.
  IndexBuilder& FanOut(std::string_view path, uint32_t max = 0);

  const v1::IndexSchema& proto() const { return proto_; }

 private:
  v1::IndexSchema proto_;
};

class TableBuilder {
 public:
  // `record` is copied with all the files it imports.
  TableBuilder(std::string_view name,
               const google::protobuf::Descriptor* record);

  TableBuilder& RowKey(std::vector<Part> parts);
  // A row key as text, as HBase designs have it:
  //   .TextRowKey("-", {Hash({"seller_id"}, v1::MD5, 2), Field("seller_id"),
  //                     Field("ts_ms").Desc().Width(19), Field("order_id")})
  TableBuilder& TextRowKey(std::string_view separator, std::vector<Part> parts);
  TableBuilder& Index(std::string_view name, std::vector<Part> parts);
  TableBuilder& Unique(std::string_view name, std::vector<Part> parts);
  TableBuilder& Add(const IndexBuilder& index);
  // Names the UNIQUE index that is the record's identity; see schema.proto.
  TableBuilder& Identity(std::string_view index);
  // For changes that arrive late, twice or out of order; see ChangeOrder in
  // schema.proto. The field orders all of the record but what groups have.
  TableBuilder& OrderedBy(std::string_view field);
  TableBuilder& OrderedGroup(std::string_view order_by,
                             std::vector<std::string> fields);
  TableBuilder& RememberDeletes();

  const v1::TableSchema& proto() const { return proto_; }

 private:
  v1::TableSchema proto_;
};

class Schema {
 public:
  Schema() = default;
  explicit Schema(v1::Schema proto) : proto_(std::move(proto)) {}

  // Text format of dovetail.v1.Schema. Tables without `descriptors` take
  // them from `pool`. InvalidArgument names line, column and cause, or the
  // record type that the pool lacks.
  static absl::StatusOr<Schema> FromText(
      std::string_view text, const google::protobuf::DescriptorPool& pool);

  Schema& Add(const TableBuilder& table);

  const v1::Schema& proto() const { return proto_; }

 private:
  v1::Schema proto_;
};

}  // namespace dovetail

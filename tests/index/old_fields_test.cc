// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/old_fields.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "index/extractor.h"
#include "tests/index/extractor_property.h"
#include "tests/index/random_message.h"
#include "tests/support/status_matchers.h"
#include "wire_test.pb.h"
#include "wire_test_proto2.pb.h"

namespace dovetail::test {
namespace {

struct Both {
  Extractor extractor;
  OldFieldsEncoder encoder;
};

template <typename Record>
Both Compile(const std::vector<std::string>& paths) {
  auto extractor = Extractor::Compile(*Record::descriptor(), paths);
  EXPECT_THAT(extractor, IsOk());
  auto encoder =
      OldFieldsEncoder::Compile(*Record::descriptor(), extractor->fields());
  EXPECT_THAT(encoder, IsOk());
  return {*std::move(extractor), *std::move(encoder)};
}

// What is kept of the record, parsed.
template <typename Record>
std::string Kept(const std::vector<std::string>& paths, const Record& record) {
  const Both both = Compile<Record>(paths);
  const std::string bytes = record.SerializePartialAsString();
  std::vector<FieldValue> values(paths.size());
  EXPECT_THAT(both.extractor.ExtractPartial(bytes, values), IsOk());
  std::string kept;
  both.encoder.Encode(values, &kept);
  Record parsed;
  EXPECT_TRUE(parsed.ParsePartialFromString(kept));
  return parsed.ShortDebugString();
}

TEST(OldFieldsTest, KeepsTheFieldsThatAreReadAndNothingElse) {
  WireRecord record;
  record.set_i64(7);
  record.set_text("kept");
  record.set_blob("not kept");
  record.mutable_middle()->set_name("m");
  record.mutable_middle()->mutable_leaf()->set_number(-1);
  record.mutable_middle()->mutable_leaf()->set_text("not kept");
  EXPECT_EQ(
      Kept<WireRecord>({"text", "middle.leaf.number", "i64", "u32"}, record),
      "i64: 7 text: \"kept\" middle { leaf { number: -1 } }");
}

// A field without presence is null while the message around it is absent, and
// zero once it is there.
TEST(OldFieldsTest, AnEmptyMessageIsNotAnAbsentOne) {
  WireRecord record;
  EXPECT_EQ(Kept<WireRecord>({"middle.name", "at"}, record), "");
  record.mutable_middle();
  record.mutable_at();
  EXPECT_EQ(Kept<WireRecord>({"middle.name", "at"}, record),
            "at { } middle { }");
}

// The member that a later one has cleared is gone, though both are on the wire.
TEST(OldFieldsTest, AOneofIsDecidedBefore) {
  WireRecord first;
  first.set_as_text("early");
  WireRecord second;
  second.set_as_number(5);
  const Both both = Compile<WireRecord>({"as_text", "as_number"});
  const std::string bytes =
      first.SerializeAsString() + second.SerializeAsString();
  std::vector<FieldValue> values(2);
  ASSERT_THAT(both.extractor.Extract(bytes, values), IsOk());
  std::string kept;
  both.encoder.Encode(values, &kept);
  EXPECT_EQ(kept, second.SerializeAsString());
}

TEST(OldFieldsTest, RequiredFieldsThatAreNotReadAreLeftOut) {
  LegacyRecord record;
  record.set_id("three");
  record.set_number(4);
  const Both both = Compile<LegacyRecord>({"number"});
  std::vector<FieldValue> values(1);
  ASSERT_THAT(
      both.extractor.ExtractPartial(record.SerializePartialAsString(), values),
      IsOk());
  std::string kept;
  both.encoder.Encode(values, &kept);
  EXPECT_THAT(both.extractor.Extract(kept, values),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(both.extractor.ExtractPartial(kept, values), IsOk());
  EXPECT_EQ(values[0].bits, 4);
}

// Of every record that the extractor takes, what is kept reads like the
// record, and what is kept of that is the same bytes.
template <typename Record>
void CheckRandomRecords(const std::vector<std::string>& paths, uint64_t seed) {
  const Both both = Compile<Record>(paths);
  Random random(SeedFromEnvironment(seed));
  std::vector<FieldValue> values(paths.size());
  std::vector<FieldValue> again(paths.size());
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string record = RandomWire(random, *Record::descriptor(), 3);
    if (!both.extractor.ExtractPartial(record, values).ok()) continue;
    ++taken;
    std::string kept;
    both.encoder.Encode(values, &kept);
    ASSERT_THAT(both.extractor.ExtractPartial(kept, again), IsOk());
    ASSERT_EQ(values, again) << Quote(record, record.size());
    std::string kept_again;
    both.encoder.Encode(again, &kept_again);
    ASSERT_EQ(kept, kept_again);
    ASSERT_TRUE(Record().ParsePartialFromString(kept));
  }
  EXPECT_GT(taken, 1000);
}

TEST(OldFieldsTest, ReadsLikeTheRecord) {
  CheckRandomRecords<WireRecord>(WireRecordPaths(), 11);
}

TEST(OldFieldsTest, ReadsLikeTheRecordOfProto2) {
  CheckRandomRecords<LegacyRecord>(LegacyRecordPaths(), 12);
}

}  // namespace
}  // namespace dovetail::test

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/extractor.h"

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/coding.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/dynamic_message.h"
#include "google/protobuf/stubs/logging.h"
#include "gtest/gtest.h"
#include "index/wire_format.h"
#include "tests/index/extractor_property.h"
#include "tests/index/random_message.h"
#include "tests/support/status_matchers.h"
#include "wire_test.pb.h"
#include "wire_test_proto2.pb.h"

namespace dovetail::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

template <typename Record>
Extractor Compile(const std::vector<std::string>& paths) {
  auto extractor = Extractor::Compile(*Record::descriptor(), paths);
  EXPECT_THAT(extractor, IsOk());
  return *std::move(extractor);
}

// "null", the text, or the bits as a signed number (".nanos" if any).
std::string Show(const FieldValue& value) {
  if (value.is_null) return "null";
  if (!value.text.empty()) return std::string(value.text);
  std::string text = absl::StrCat(static_cast<int64_t>(value.bits));
  if (value.nanos != 0) absl::StrAppend(&text, ".", value.nanos);
  return text;
}

template <typename Record>
std::vector<std::string> Read(const std::vector<std::string>& paths,
                              const std::string& bytes) {
  const Extractor extractor = Compile<Record>(paths);
  std::vector<FieldValue> values(paths.size());
  const absl::Status status = extractor.Extract(bytes, values);
  if (!status.ok()) return {status.ToString()};
  std::vector<std::string> shown;
  for (const FieldValue& value : values) shown.push_back(Show(value));
  return shown;
}

template <typename Record>
absl::Status Check(const std::string& bytes) {
  return Compile<Record>({}).Extract(bytes, {});
}

std::string Tag(int number, wire::WireType type) {
  std::string bytes;
  AppendVarint(wire::MakeTag(number, type), &bytes);
  return bytes;
}
std::string Varint(int number, uint64_t v) {
  std::string bytes = Tag(number, wire::kVarint);
  AppendVarint(v, &bytes);
  return bytes;
}
std::string Text(int number, std::string_view body) {
  std::string bytes = Tag(number, wire::kLengthDelimited);
  AppendVarint(body.size(), &bytes);
  return bytes.append(body);
}
std::string Group(int number, std::string_view body) {
  return Tag(number, wire::kStartGroup).append(body) +
         Tag(number, wire::kEndGroup);
}

absl::Status Resolve(std::string_view path) {
  return ResolveField(*WireRecord::descriptor(), path).status();
}

TEST(ResolveFieldTest, NamesTypeNumbersAndWhetherItCanBeNull) {
  const auto field =
      ResolveField(*WireRecord::descriptor(), "middle.leaf.number");
  ASSERT_THAT(field, IsOk());
  EXPECT_EQ(field->path, "middle.leaf.number");
  EXPECT_EQ(field->type, FieldType::kInt64);
  EXPECT_TRUE(field->nullable);
  EXPECT_THAT(field->numbers, ElementsAre(30, 1, 2));
}

TEST(ResolveFieldTest, NullableFollowsPresence) {
  const auto nullable = [](const google::protobuf::Descriptor& type,
                           std::string_view path) {
    return ResolveField(type, path)->nullable;
  };
  EXPECT_FALSE(nullable(*WireRecord::descriptor(), "text"));
  EXPECT_TRUE(nullable(*WireRecord::descriptor(), "opt_text"));
  EXPECT_TRUE(nullable(*WireRecord::descriptor(), "as_text"));
  EXPECT_TRUE(nullable(*WireRecord::descriptor(), "at"));
  EXPECT_TRUE(nullable(*WireRecord::descriptor(), "middle.name"));
  EXPECT_TRUE(nullable(*LegacyRecord::descriptor(), "text"));
  EXPECT_FALSE(nullable(*LegacyRecord::descriptor(), "id"));
  EXPECT_TRUE(nullable(*LegacyRecord::descriptor(), "part.number"));
}

TEST(ResolveFieldTest, MistypedNameIsAnsweredWithTheNearOnes) {
  EXPECT_THAT(Resolve("midle.name"), StatusIs(kInvalid, "near=middle"));
  EXPECT_THAT(Resolve("optText"), StatusIs(kInvalid, "near=opt_text"));
  EXPECT_THAT(Resolve("middle.leaf.xyzzy"),
              StatusIs(kInvalid,
                       "path=\"middle.leaf.xyzzy\" segment=\"xyzzy\" "
                       "message=dovetail.test.WireLeaf "
                       "fields=text,number,numbers,at"));
}

TEST(ResolveFieldTest, RefusesWhatIsNotASingleValue) {
  EXPECT_THAT(Resolve("texts"), StatusIs(kInvalid, "is repeated"));
  EXPECT_THAT(Resolve("counts"), StatusIs(kInvalid, "is a map"));
  EXPECT_THAT(Resolve("middles.name"), StatusIs(kInvalid, "is repeated"));
  EXPECT_THAT(Resolve("counts.key"), StatusIs(kInvalid, "is a map"));
  EXPECT_THAT(Resolve("middle"), StatusIs(kInvalid, "is a message"));
  EXPECT_THAT(Resolve("text.size"), StatusIs(kInvalid, "is not a message"));
  EXPECT_THAT(Resolve(""), StatusIs(kInvalid, "empty part"));
  EXPECT_THAT(Resolve("middle."), StatusIs(kInvalid, "empty part"));
  EXPECT_THAT(Resolve(".text"), StatusIs(kInvalid, "empty part"));
}

TEST(ResolveFieldTest, RefusesPathsDeeperThanMessagesNest) {
  std::string path;
  for (int i = 0; i < 99; ++i) path += "child.";
  EXPECT_THAT(Resolve(path + "text"), IsOk());
  EXPECT_THAT(Resolve("child." + path + "text"),
              StatusIs(kInvalid, "longer than messages may nest"));
}

TEST(ExtractorTest, EmptyRecordHasDefaultsAndNulls) {
  EXPECT_THAT(
      Read<WireRecord>(
          {"text", "i32", "opt_i32", "at", "middle.name", "as_number"}, ""),
      ElementsAre("0", "0", "null", "null", "null", "null"));
}

TEST(ExtractorTest, NullViewIsTheEmptyRecord) {
  const Extractor extractor = Compile<WireRecord>({"i32"});
  FieldValue value;
  EXPECT_THAT(extractor.Extract(std::string_view(), {&value, 1}), IsOk());
}

TEST(ExtractorTest, ReadsEveryScalarType) {
  WireRecord record;
  record.set_flag(true);
  record.set_i32(-2);
  record.set_i64(std::numeric_limits<int64_t>::min());
  record.set_u32(4000000000u);
  record.set_s32(-3);
  record.set_s64(-4);
  record.set_f32(5);
  record.set_sf32(-6);
  record.set_sf64(-7);
  record.set_text("t");
  record.set_blob("\xff");
  record.set_color(BELOW);
  record.mutable_at()->set_seconds(-8);
  record.mutable_at()->set_nanos(9);
  record.set_farther(10);
  EXPECT_THAT(
      Read<WireRecord>(
          {"flag", "i32", "i64", "u32", "s32", "s64", "f32", "sf32", "sf64",
           "text", "blob", "color", "at", "farther"},
          record.SerializeAsString()),
      ElementsAre("1", "-2", "-9223372036854775808", "4000000000", "-3", "-4",
                  "5", "-6", "-7", "t", "\xff", "-3", "-8.9", "10"));
}

TEST(ExtractorTest, LastValueWins) {
  EXPECT_THAT(Read<WireRecord>({"i32"}, Varint(2, 5) + Varint(2, 6)),
              ElementsAre("6"));
}

TEST(ExtractorTest, OccurrencesOfAMessageMerge) {
  EXPECT_THAT(Read<WireRecord>({"middle.name", "middle.leaf.number", "at"},
                               Text(30, Text(2, "a")) + Text(17, Varint(1, 7)) +
                                   Text(30, Text(1, Varint(2, 3))) +
                                   Text(17, Varint(2, 8))),
              ElementsAre("a", "3", "7.8"));
}

TEST(ExtractorTest, PresentMessageHasDefaultsNotNulls) {
  EXPECT_THAT(Read<WireRecord>({"middle.name", "middle.leaf.text", "at"},
                               Text(30, "") + Text(17, "")),
              ElementsAre("0", "null", "0"));
}

TEST(ExtractorTest, LaterOneofMemberClearsTheEarlierOne) {
  const std::vector<std::string> paths = {"as_text", "as_number",
                                          "as_middle.name"};
  EXPECT_THAT(Read<WireRecord>(paths, Text(40, "a") + Varint(41, 1)),
              ElementsAre("null", "1", "null"));
  EXPECT_THAT(Read<WireRecord>(paths, Text(42, Text(2, "m")) + Text(40, "a")),
              ElementsAre("a", "null", "null"));
  EXPECT_THAT(Read<WireRecord>(
                  paths, Text(42, Text(2, "m")) + Text(40, "a") + Text(42, "")),
              ElementsAre("null", "null", "0"));
}

TEST(ExtractorTest, UntrackedOneofMemberClearsTheTrackedOne) {
  EXPECT_THAT(Read<WireRecord>({"as_text"}, Text(40, "a") + Varint(44, 1)),
              ElementsAre("null"));
}

TEST(ExtractorTest, OtherWireTypeIsAnUnknownField) {
  EXPECT_THAT(Read<WireRecord>({"i32", "text", "opt_i32"},
                               Text(2, "x") + Varint(14, 1) +
                                   Tag(21, wire::kFixed32) + "abcd"),
              ElementsAre("0", "0", "null"));
}

TEST(ExtractorTest, OpenEnumKeepsAnyValueAndClosedEnumDoesNot) {
  EXPECT_THAT(Read<WireRecord>({"color"}, Varint(16, 77)), ElementsAre("77"));
  const std::string required = Text(1, "id") + Varint(2, 1);
  EXPECT_THAT(Read<LegacyRecord>({"opt_level"}, required + Varint(7, 77)),
              ElementsAre("null"));
  EXPECT_THAT(Read<LegacyRecord>({"opt_level"},
                                 required + Varint(7, 2) + Varint(7, 77)),
              ElementsAre("2"));
  EXPECT_THAT(Read<LegacyRecord>({"as_text", "as_level"},
                                 required + Text(20, "a") + Varint(21, 77)),
              ElementsAre("a", "null"));
}

TEST(ExtractorTest, ReadsThroughGroups) {
  EXPECT_THAT(Read<LegacyRecord>({"detail.note", "detail.count", "pick.weight"},
                                 Text(1, "id") + Varint(2, 1) +
                                     Group(11, Text(12, "n") + Varint(13, 4)) +
                                     Group(23, Varint(24, 5))),
              ElementsAre("n", "4", "5"));
}

TEST(ExtractorTest, DuplicatePathsGetTheSameValue) {
  EXPECT_THAT(Read<WireRecord>({"i32", "at", "i32", "at.seconds", "at"},
                               Varint(2, 5) + Text(17, Varint(1, 6))),
              ElementsAre("5", "6", "5", "6", "6"));
}

TEST(ExtractorTest, SkipsUnknownFieldsOfEveryWireType) {
  EXPECT_THAT(Check<WireRecord>(Varint(200, ~0ull) + Text(201, "\xff") +
                                Tag(202, wire::kFixed32) + "abcd" +
                                Tag(203, wire::kFixed64) + "abcdefgh" +
                                Group(204, Group(205, Varint(1, 1)))),
              IsOk());
}

TEST(ExtractorTest, RefusesTextThatIsNotUtf8WhereverItIs) {
  const std::string bad = "ab\xc3";
  for (const std::string& bytes :
       {Text(14, bad), Text(56, bad), Text(30, Text(2, bad)),
        Text(58, Text(1, Text(1, bad))), Text(60, Text(1, bad)),
        Text(61, Text(2, bad)), Text(31, Text(22, bad))}) {
    EXPECT_THAT(Check<WireRecord>(bytes), StatusIs(kInvalid, "UTF-8"));
  }
  EXPECT_THAT(Check<WireRecord>(Text(15, bad)), IsOk());
  EXPECT_THAT(Check<LegacyRecord>(Text(1, bad) + Varint(2, 1) + Text(4, bad)),
              IsOk());
}

TEST(ExtractorTest, RefusalSaysWhereAndWhat) {
  EXPECT_THAT(
      Check<WireRecord>(Varint(2, 1) + Text(30, Text(2, "\xff"))).ToString(),
      AllOf(HasSubstr("string is not UTF-8"), HasSubstr("offset=5"),
            HasSubstr("field=2"),
            HasSubstr("message=dovetail.test.WireMiddle")));
}

TEST(ExtractorTest, RefusesMalformedWire) {
  const std::map<std::string, std::string> cases = {
      {"tag zero", std::string(1, '\0')},
      {"field number zero",
       "\x02\x01"
       "a"},
      {"unused wire type", Tag(200, static_cast<wire::WireType>(6))},
      {"stray end group", Tag(200, wire::kEndGroup)},
      {"other end group",
       Tag(200, wire::kStartGroup) + Tag(201, wire::kEndGroup)},
      {"group without end", Tag(200, wire::kStartGroup)},
      {"tag cut off", "\xff"},
      {"tag of six bytes", std::string("\x90\x80\x80\x80\x80\x00\x01", 7)},
      {"varint cut off", Tag(2, wire::kVarint) + "\x80"},
      {"varint of eleven bytes",
       Tag(2, wire::kVarint) + std::string(10, '\x80') + '\0'},
      {"length of six bytes", Tag(14, wire::kLengthDelimited) +
                                  std::string("\x80\x80\x80\x80\x80\x00", 6)},
      {"negative length",
       Tag(14, wire::kLengthDelimited) + "\xff\xff\xff\xff\x0f"},
      {"length beyond the end", Tag(14, wire::kLengthDelimited) + "\x02"
                                                                  "a"},
      {"length beyond the message",
       Text(30, Tag(2, wire::kLengthDelimited) + "\x02"
                                                 "a") +
           Varint(2, 1)},
      {"fixed cut off", Tag(8, wire::kFixed32) + "abc"},
      {"packed varint cut off", Text(50, "\x01\x80")},
      {"packed fixed cut off", Text(52, "abcde")},
      {"packed bool cut off", Text(54, "\x01\x80")},
      {"packed enum cut off", Text(55, "\x80")},
  };
  for (const auto& [name, bytes] : cases) {
    EXPECT_THAT(Check<WireRecord>(bytes), StatusIs(kInvalid)) << name;
  }
}

TEST(ExtractorTest, AcceptsOverlongIntegersAsProtobufDoes) {
  const std::string tag_of_five("\x90\x80\x80\x80\x70", 5);  // Field 2.
  const std::string nine_more =
      "\x85" + std::string(8, '\x80') + std::string("\x7e", 1);
  EXPECT_THAT(Read<WireRecord>({"i32"}, tag_of_five + nine_more),
              ElementsAre("5"));
}

TEST(ExtractorTest, AcceptsPackedAndUnpackedRepeatedFields) {
  EXPECT_THAT(Check<WireRecord>(Varint(50, 1) + Text(50, "\x01\x02") +
                                Text(51, "\x01\x02") + Text(50, "")),
              IsOk());
}

TEST(ExtractorTest, NestsAHundredDeepAndNoDeeper) {
  for (const int number : {31, 200}) {  // A message, an unknown group.
    std::string bytes;
    for (int i = 0; i < 100; ++i) {
      bytes = number == 31 ? Text(number, bytes) : Group(number, bytes);
    }
    EXPECT_THAT(Check<WireRecord>(bytes), IsOk());
    bytes = number == 31 ? Text(number, bytes) : Group(number, bytes);
    EXPECT_THAT(Check<WireRecord>(bytes), StatusIs(kInvalid));
  }
}

TEST(ExtractorTest, RefusesARecordThatLacksARequiredField) {
  const std::string record = Text(1, "id") + Varint(2, 1);
  EXPECT_THAT(Check<LegacyRecord>(record), IsOk());
  EXPECT_THAT(Check<LegacyRecord>(Text(1, "id")),
              StatusIs(kInvalid, "field=level"));
  EXPECT_THAT(Check<LegacyRecord>(Text(1, "id") + Varint(2, 99)),
              StatusIs(kInvalid, "field=level"));
  EXPECT_THAT(Check<LegacyRecord>(record + Text(9, "")),
              StatusIs(kInvalid, "field=number"));
  // The second part of the message has what the first one lacks.
  EXPECT_THAT(Check<LegacyRecord>(record + Text(9, "") + Text(9, Varint(2, 1))),
              IsOk());
  EXPECT_THAT(
      Check<LegacyRecord>(record + Text(32, "") + Text(32, Varint(2, 1))),
      StatusIs(kInvalid, "field=number"));
  // A later member of the oneof removes the incomplete one.
  EXPECT_THAT(Check<LegacyRecord>(record + Text(22, "")), StatusIs(kInvalid));
  EXPECT_THAT(Check<LegacyRecord>(record + Text(22, "") + Text(20, "a")),
              IsOk());
  // So does a later entry of the map.
  const std::string entry = Varint(1, 5);
  EXPECT_THAT(Check<LegacyRecord>(record + Text(34, entry)),
              StatusIs(kInvalid));
  EXPECT_THAT(Check<LegacyRecord>(record + Text(34, entry) +
                                  Text(34, entry + Text(2, Varint(2, 1)))),
              IsOk());
  // Extensions count.
  EXPECT_THAT(Check<LegacyRecord>(record + Text(10, Text(100, ""))),
              StatusIs(kInvalid, "field=number"));
}

TEST(ExtractorTest, RefusesMessageSets) {
  google::protobuf::FileDescriptorProto file;
  file.set_name("set.proto");
  file.set_package("dovetail.test");
  auto* set = file.add_message_type();
  set->set_name("Set");
  set->mutable_options()->set_message_set_wire_format(true);
  auto* range = set->add_extension_range();
  range->set_start(4);
  range->set_end(1000);
  auto* record = file.add_message_type();
  record->set_name("Holder");
  auto* field = record->add_field();
  field->set_name("set");
  field->set_number(1);
  field->set_label(google::protobuf::FieldDescriptorProto::LABEL_OPTIONAL);
  field->set_type_name("Set");
  google::protobuf::DescriptorPool pool;
  const auto* built = pool.BuildFile(file);
  ASSERT_NE(built, nullptr);
  EXPECT_THAT(Extractor::Compile(*built->FindMessageTypeByName("Holder"), {}),
              StatusIs(kInvalid, "message_set_wire_format"));
}

TEST(ExtractorTest, CompileNamesThePathItRefuses) {
  EXPECT_THAT(Extractor::Compile(*WireRecord::descriptor(), {"i32", "nope"}),
              StatusIs(kInvalid, "path=\"nope\""));
}

// Which of the two paths of the code reads a text depends on its length and
// on where the first byte beyond ASCII is.
TEST(ExtractorTest, ChecksUtf8AtEveryPosition) {
  for (size_t size = 1; size < 40; ++size) {
    for (size_t at = 0; at < size; ++at) {
      std::string text(size, 'a');
      text[at] = '\x80';
      EXPECT_THAT(Check<WireRecord>(Text(14, text)), StatusIs(kInvalid));
      if (at + 1 == size) continue;
      text[at] = '\xc3';
      text[at + 1] = '\xa9';
      EXPECT_THAT(Check<WireRecord>(Text(14, text)), IsOk());
    }
  }
}

// The parser logs every text that is not UTF-8.
class ExtractorPropertyTest : public ::testing::Test {
 protected:
  google::protobuf::LogSilencer silencer_;
};

template <typename Record>
void CheckRandomBytes(const std::vector<std::string>& paths,
                      const std::vector<std::string>& lists, int count) {
  const auto compiled = Extractor::Compile(*Record::descriptor(), paths, lists);
  ASSERT_THAT(compiled, IsOk());
  const Extractor& extractor = *compiled;
  Random random(SeedFromEnvironment(20260101));
  int accepted = 0;
  for (int i = 0; i < count; ++i) {
    std::string bytes;
    if (OneIn(random, 3)) {
      Record record;
      FillRandom(random, &record);
      bytes = Serialize(record);
    } else {
      bytes = RandomWire(random, *Record::descriptor(), 4);
    }
    for (uint64_t n = Uniform(random, 3); n > 0; --n) {
      DamageBytes(random, &bytes);
    }
    const ExtractorVerdict verdict =
        CheckExtractor(extractor, Record::default_instance(), bytes);
    ASSERT_EQ(verdict.problem, "") << "case " << i;
    accepted += verdict.accepted ? 1 : 0;
  }
  std::printf("accepted %d of %d\n", accepted, count);
  EXPECT_GT(accepted, count / 5);
}

TEST_F(ExtractorPropertyTest, AgreesWithTheProto3Parser) {
  CheckRandomBytes<WireRecord>(WireRecordPaths(), WireRecordLists(), 150000);
}

TEST_F(ExtractorPropertyTest, AgreesWithTheProto2Parser) {
  CheckRandomBytes<LegacyRecord>(LegacyRecordPaths(), LegacyRecordLists(),
                                 150000);
}

// Two bytes are any tag of one byte with any first byte of a value.
TEST_F(ExtractorPropertyTest, AgreesOnAllShortRecords) {
  const Extractor extractor = Compile<WireRecord>(WireRecordPaths());
  for (int i = 0; i < 1 << 16; ++i) {
    std::string bytes(2, static_cast<char>(i));
    bytes[1] = static_cast<char>(i >> 8);
    for (const std::string& record : {bytes, bytes + "\x01"}) {
      ASSERT_EQ(
          CheckExtractor(extractor, WireRecord::default_instance(), record)
              .problem,
          "");
    }
  }
}

}  // namespace
}  // namespace dovetail::test

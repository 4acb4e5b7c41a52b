// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/wire_patch.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/coding.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "google/protobuf/stubs/logging.h"
#include "gtest/gtest.h"
#include "index/field_path.h"
#include "index/wire_format.h"
#include "tests/index/random_message.h"
#include "tests/support/status_matchers.h"
#include "wire_test.pb.h"
#include "wire_test_proto2.pb.h"

namespace dovetail::test {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

std::string Varint(int number, uint64_t v) {
  std::string bytes;
  AppendVarint(wire::MakeTag(number, wire::kVarint), &bytes);
  AppendVarint(v, &bytes);
  return bytes;
}
std::string Text(int number, std::string_view body) {
  std::string bytes;
  AppendVarint(wire::MakeTag(number, wire::kLengthDelimited), &bytes);
  AppendVarint(body.size(), &bytes);
  return bytes.append(body);
}
std::string Group(int number, std::string_view body) {
  std::string bytes;
  AppendVarint(wire::MakeTag(number, wire::kStartGroup), &bytes);
  bytes.append(body);
  AppendVarint(wire::MakeTag(number, wire::kEndGroup), &bytes);
  return bytes;
}

template <typename Record = WireRecord>
std::string Patch(const std::vector<std::string>& paths,
                  const std::string& record, const std::string& values) {
  const auto patch = WirePatch::Compile(*Record::descriptor(), paths);
  EXPECT_THAT(patch, IsOk());
  std::string out = "what was there before";
  EXPECT_THAT(patch->Apply(record, values, &out), IsOk());
  return out;
}

TEST(WirePatchTest, ReplacesAScalarAndKeepsTheRest) {
  EXPECT_EQ(Patch({"i64"}, Varint(2, 1) + Varint(3, 2) + Text(14, "t"),
                  Varint(3, 300) + Text(14, "other")),
            Varint(2, 1) + Varint(3, 300) + Text(14, "t"));
}

TEST(WirePatchTest, InsertsWhereTheNumberBelongs) {
  EXPECT_EQ(Patch({"i64"}, Varint(2, 1) + Text(14, "t"), Varint(3, 2)),
            Varint(2, 1) + Varint(3, 2) + Text(14, "t"));
  EXPECT_EQ(Patch({"i32"}, Varint(3, 1), Varint(2, 2)),
            Varint(2, 2) + Varint(3, 1));
  EXPECT_EQ(Patch({"opt_i32"}, Varint(3, 1), Varint(21, 0)),
            Varint(3, 1) + Varint(21, 0));
}

TEST(WirePatchTest, RemovesWhatTheValuesDoNotSet) {
  EXPECT_EQ(Patch({"i64", "text"}, Varint(3, 2) + Text(14, "t"), ""), "");
  // The default of a field without presence is not set, even if written.
  EXPECT_EQ(Patch({"i64"}, Varint(3, 2), Varint(3, 0)), "");
}

TEST(WirePatchTest, KeepsUnknownFields) {
  const std::string unknown =
      Varint(200, 7) + Text(201, "\xff") + Group(202, Varint(1, 1));
  EXPECT_EQ(Patch({"i32"}, unknown, Varint(2, 1) + Varint(203, 9)),
            Varint(2, 1) + unknown);
  // So is a patched number with another wire type than declared.
  EXPECT_EQ(Patch({"i32"}, Text(2, "x"), Varint(2, 1) + Text(2, "y")),
            Varint(2, 1) + Text(2, "x"));
}

TEST(WirePatchTest, WritesFieldsInCanonicalOrder) {
  EXPECT_EQ(Patch({"flag"},
                  Text(14, "t") + Varint(200, 1) + Varint(2, 1) + Varint(2, 2) +
                      Varint(3, 0),
                  Varint(1, 1)),
            Varint(1, 1) + Varint(2, 2) + Text(14, "t") + Varint(200, 1));
}

TEST(WirePatchTest, WritesIntegersInTheirShortestForm) {
  const std::string overlong("\x90\x00\x85\x80\x00", 5);  // i32: 5
  EXPECT_EQ(Patch({"flag"}, overlong, ""), Varint(2, 5));
  EXPECT_EQ(Patch({"i32"}, Varint(1, 77), ""), Varint(1, 1));
  EXPECT_EQ(Patch({"i32"}, Varint(4, 1ull << 35 | 1ull << 28), ""),
            Varint(4, 1 << 28));
}

TEST(WirePatchTest, ReplacesRepeatedFieldsAsAWhole) {
  EXPECT_EQ(Patch({"texts", "packed_ints"},
                  Text(50, "\x01\x02") + Text(56, "a") + Text(56, "b"),
                  Text(50, "") + Text(56, "c") + Varint(50, 3)),
            Varint(50, 3) + Text(56, "c"));
}

TEST(WirePatchTest, ReplacesMessagesAsAWhole) {
  EXPECT_EQ(Patch({"middle"}, Text(30, Text(2, "old") + Varint(3, 1)),
                  Text(30, Text(2, "new"))),
            Text(30, Text(2, "new")));
  EXPECT_EQ(Patch({"middle"}, Varint(2, 1), Text(30, "")),
            Varint(2, 1) + Text(30, ""));
}

TEST(WirePatchTest, FoldsOccurrencesOfAMessage) {
  EXPECT_EQ(Patch({"i32"},
                  Text(30, Text(2, "a") + Varint(3, 1)) + Text(14, "t") +
                      Text(30, Text(5, "l") + Text(2, "b")),
                  ""),
            Text(14, "t") + Text(30, Text(2, "b") + Text(5, "l")));
}

TEST(WirePatchTest, PatchesInsideAMessage) {
  EXPECT_EQ(Patch({"middle.leaf.text"},
                  Text(30, Text(2, "n") + Text(1, Varint(2, 5))),
                  Text(30, Text(1, Text(1, "t")) + Text(2, "other"))),
            Text(30, Text(1, Text(1, "t") + Varint(2, 5)) + Text(2, "n")));
}

TEST(WirePatchTest, CreatesAMessageOnThePathOnlyForAValue) {
  EXPECT_EQ(Patch({"middle.name"}, "", Text(30, Text(2, "n"))),
            Text(30, Text(2, "n")));
  EXPECT_EQ(Patch({"middle.name"}, "", Text(30, Varint(3, 1))), "");
  EXPECT_EQ(Patch({"middle.name"}, "", Text(30, Text(2, ""))), "");
  // One that is there stays, even if nothing is left in it.
  EXPECT_EQ(Patch({"middle.name"}, Text(30, Text(2, "n")), ""), Text(30, ""));
}

TEST(WirePatchTest, LongMessageGetsALongLength) {
  const std::string text(1000, 'x');
  EXPECT_EQ(
      Patch({"middle.name"}, Text(30, Varint(3, 1)), Text(30, Text(2, text))),
      Text(30, Text(2, text) + Varint(3, 1)));
}

TEST(WirePatchTest, SettingAOneofMemberRemovesTheOthers) {
  EXPECT_EQ(Patch({"as_number"}, Text(40, "t"), Varint(41, 1)), Varint(41, 1));
  EXPECT_EQ(Patch({"as_number"}, Text(40, "t"), ""), Text(40, "t"));
  EXPECT_EQ(Patch({"as_number"}, Text(40, "t"), Varint(41, 1) + Varint(44, 1)),
            Text(40, "t"));
  EXPECT_EQ(Patch({"as_middle.name"}, Text(40, "t"),
                  Text(42, Text(2, "n") + Varint(3, 1))),
            Text(42, Text(2, "n")));
  EXPECT_EQ(Patch({"as_middle.name"}, Text(40, "t"), Text(42, Varint(3, 1))),
            Text(40, "t"));
}

// Sorted by number alone, an earlier member would win over the last one.
TEST(WirePatchTest, OnlyTheLastOneofMemberOfTheRecordCounts) {
  EXPECT_EQ(Patch({"i32"}, Varint(44, 1) + Text(40, "t"), ""), Text(40, "t"));
  EXPECT_EQ(
      Patch({"i32"},
            Text(42, Text(2, "n")) + Text(40, "t") + Text(42, Varint(3, 1)),
            ""),
      Text(42, Varint(3, 1)));
}

TEST(WirePatchTest, ClosedEnumValuesThatAreNotNamedAreUnknownFields) {
  EXPECT_EQ(Patch<LegacyOptional>({"level"}, Varint(2, 1) + Varint(2, 99),
                                  Varint(2, 2) + Varint(2, 98)),
            Varint(2, 2) + Varint(2, 99));
  EXPECT_EQ(Patch<LegacyOptional>({"packed_levels"}, Text(31, "\x01\x63\x02"),
                                  Text(31, "\x28\x62\x02")),
            Varint(31, 40) + Varint(31, 2) + Varint(31, 99));
  const std::string bad = Text(33, Text(1, "k") + Varint(2, 99));
  const std::string good = Text(33, Text(1, "k") + Varint(2, 1));
  EXPECT_EQ(Patch<LegacyOptional>({"grade_of"}, good + bad, ""), bad);
}

TEST(WirePatchTest, PatchesGroups) {
  EXPECT_EQ(Patch<LegacyOptional>({"detail.count"}, Group(11, Text(12, "n")),
                                  Group(11, Varint(13, 4))),
            Group(11, Text(12, "n") + Varint(13, 4)));
  EXPECT_EQ(
      Patch<LegacyOptional>(
          {"id"}, Group(11, Text(12, "n")) + Group(11, Text(12, "m")), ""),
      Group(11, Text(12, "m")));
}

TEST(WirePatchTest, MalformedMessagesAreRefused) {
  const auto patch =
      WirePatch::Compile(*WireRecord::descriptor(), {"i32", "middle.name"});
  ASSERT_THAT(patch, IsOk());
  const std::string cut = Text(30, "abc").substr(0, 4);
  std::string out;
  for (const std::string& bad :
       {cut, Text(30, cut), std::string("\x00\x01", 2), std::string("\x84")}) {
    EXPECT_THAT(patch->Apply(bad, "", &out), StatusIs(kInvalid));
    EXPECT_THAT(patch->Apply("", bad, &out), StatusIs(kInvalid));
  }
}

TEST(WirePatchTest, FoldsAsDeepAsMessagesNest) {
  const auto nested = [](int depth) {
    std::string bytes;
    for (int i = 0; i < depth; ++i) {
      bytes = Text(31, bytes) + Text(31, Varint(2, 7));
    }
    return bytes;
  };
  std::string folded;
  for (int i = 0; i < 100; ++i) folded = Text(31, Varint(2, 7) + folded);
  EXPECT_EQ(Patch({"flag"}, nested(100), ""), folded);
  std::string out;
  EXPECT_THAT(WirePatch::Compile(*WireRecord::descriptor(), {"flag"})
                  ->Apply(nested(101), "", &out),
              StatusIs(kInvalid, "nest too deep"));
}

TEST(WirePatchTest, CompileRefusesPathsThatMakeNoSense) {
  const auto compile = [](const std::vector<std::string>& paths) {
    return WirePatch::Compile(*WireRecord::descriptor(), paths).status();
  };
  EXPECT_THAT(compile({}), StatusIs(kInvalid, "at least one"));
  EXPECT_THAT(compile({"nope"}), StatusIs(kInvalid, "path=\"nope\""));
  EXPECT_THAT(compile({"middles.name"}), StatusIs(kInvalid, "repeated"));
  EXPECT_THAT(compile({"i32", "i32"}), StatusIs(kInvalid, "given twice"));
  EXPECT_THAT(compile({"middle.leaf.at", "text", "middle.leaf"}),
              StatusIs(kInvalid, "inside another"));
  EXPECT_THAT(compile({"text", "texts", "middle.name", "middle.leaf"}), IsOk());
}

// The patch by reflection on parsed messages.
void PatchParsed(const std::vector<std::string>& paths, const Message& values,
                 Message* record) {
  for (const std::string& path : paths) {
    const auto fields = *ResolvePath(*record->GetDescriptor(), path);
    // What only this path shows of the values.
    std::unique_ptr<Message> shown(values.New());
    shown->CopyFrom(values);
    Message* at = shown.get();
    Message* target = record;
    bool is_set = true;
    for (size_t i = 0; i < fields.size(); ++i) {
      const auto* reflection = at->GetReflection();
      reflection->MutableUnknownFields(at)->Clear();
      std::vector<const FieldDescriptor*> set;
      reflection->ListFields(*at, &set);
      for (const FieldDescriptor* field : set) {
        if (field != fields[i]) reflection->ClearField(at, field);
      }
      is_set = is_set && std::count(set.begin(), set.end(), fields[i]) > 0;
      const bool is_last = i + 1 == fields.size();
      if (target != nullptr && is_last) {
        target->GetReflection()->ClearField(target, fields[i]);
      } else if (target != nullptr) {
        target =
            target->GetReflection()->HasField(*target, fields[i])
                ? target->GetReflection()->MutableMessage(target, fields[i])
                : nullptr;
      }
      if (!is_last) at = reflection->MutableMessage(at, fields[i]);
    }
    if (is_set) record->MergeFrom(*shown);
  }
}

// Some disjoint paths of the type.
std::vector<std::string> RandomPaths(Random& random,
                                     const google::protobuf::Descriptor& type,
                                     int depth) {
  std::vector<std::string> paths;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    if (!OneIn(random, 4)) continue;
    if (field->message_type() == nullptr || field->is_repeated() ||
        depth == 0 || OneIn(random, 2)) {
      paths.push_back(field->name());
      continue;
    }
    for (const std::string& below :
         RandomPaths(random, *field->message_type(), depth - 1)) {
      paths.push_back(field->name() + "." + below);
    }
  }
  std::shuffle(paths.begin(), paths.end(), random);
  return paths;
}

// Valid bytes of the type.
template <typename Record>
std::string RandomValid(Random& random) {
  for (;;) {
    Record record;
    if (OneIn(random, 3)) {
      FillRandom(random, &record);
      return Serialize(record);
    }
    std::string bytes = RandomWire(random, *Record::descriptor(), 4);
    if (OneIn(random, 4)) DamageBytes(random, &bytes);
    if (record.ParseFromString(bytes)) return bytes;
  }
}

class WirePatchPropertyTest : public ::testing::Test {
 protected:
  google::protobuf::LogSilencer silencer_;
};

template <typename Record>
void CheckRandomPatches(int count) {
  Random random(SeedFromEnvironment(20260102));
  for (int i = 0; i < count; ++i) {
    const auto paths = RandomPaths(random, *Record::descriptor(), 3);
    if (paths.empty()) continue;
    const auto patch = WirePatch::Compile(*Record::descriptor(), paths);
    ASSERT_THAT(patch, IsOk());
    for (int n = 0; n < 10; ++n) {
      const std::string record = RandomValid<Record>(random);
      const std::string values = RandomValid<Record>(random);
      std::string out;
      ASSERT_THAT(patch->Apply(record, values, &out), IsOk());
      Record expected;
      Record changes;
      Record actual;
      ASSERT_TRUE(expected.ParseFromString(record));
      ASSERT_TRUE(changes.ParseFromString(values));
      PatchParsed(paths, changes, &expected);
      ASSERT_TRUE(actual.ParseFromString(out));
      ASSERT_EQ(Fingerprint(actual), Fingerprint(expected))
          << "case " << i << " paths " << absl::StrJoin(paths, ",")
          << "\nrecord " << Quote(record, 5000) << "\nvalues "
          << Quote(values, 5000) << "\nout " << Quote(out, 5000)
          << "\nexpected " << expected.DebugString() << "\nactual "
          << actual.DebugString();
      std::string again;
      ASSERT_THAT(patch->Apply(out, values, &again), IsOk());
      ASSERT_EQ(Quote(again, 5000), Quote(out, 5000));
    }
  }
}

TEST_F(WirePatchPropertyTest, EqualsThePatchOfParsedProto3Messages) {
  CheckRandomPatches<WireRecord>(2000);
}

TEST_F(WirePatchPropertyTest, EqualsThePatchOfParsedProto2Messages) {
  CheckRandomPatches<LegacyOptional>(2000);
}

// The same content, written by another hand: fields of different numbers in
// another order, scalars preceded by values that do not count.
std::string Disorder(Random& random, const std::string& bytes) {
  std::map<uint32_t, std::string> by_number;
  for (const std::string& field : SplitFields(bytes)) {
    uint32_t tag;
    wire::ReadTag(field.data(), field.data() + field.size(), &tag);
    const uint32_t number = wire::NumberOfTag(tag);
    const FieldDescriptor* known =
        WireRecord::descriptor()->FindFieldByNumber(static_cast<int>(number));
    if (OneIn(random, 3) && !known->is_repeated() &&
        wire::TypeOfTag(tag) == wire::kVarint) {
      by_number[number] += Varint(static_cast<int>(number), random());
    }
    by_number[number] += field;
  }
  std::vector<std::string> groups;
  for (const auto& [number, fields] : by_number) groups.push_back(fields);
  std::shuffle(groups.begin(), groups.end(), random);
  return absl::StrJoin(groups, "");
}

TEST_F(WirePatchPropertyTest, EqualContentGivesEqualBytes) {
  Random random(SeedFromEnvironment(20260103));
  int compared = 0;
  for (int i = 0; i < 3000; ++i) {
    WireRecord record;
    WireRecord values;
    FillRandom(random, &record);
    FillRandom(random, &values);
    const std::string bytes = Serialize(record);
    const std::string changes = Serialize(values);
    const auto p = RandomPaths(random, *WireRecord::descriptor(), 2);
    const auto q = RandomPaths(random, *WireRecord::descriptor(), 2);
    if (p.empty() || q.empty()) continue;
    const std::string a = Patch(q, Patch(p, bytes, changes), changes);
    const std::string b =
        Patch(p, Patch(q, Disorder(random, bytes), changes), changes);
    WireRecord parsed_a;
    WireRecord parsed_b;
    ASSERT_TRUE(parsed_a.ParseFromString(a));
    ASSERT_TRUE(parsed_b.ParseFromString(b));
    if (Fingerprint(parsed_a) != Fingerprint(parsed_b)) continue;
    ASSERT_EQ(Quote(a, 5000), Quote(b, 5000)) << "case " << i;
    ++compared;
  }
  EXPECT_GT(compared, 1500);
}

}  // namespace
}  // namespace dovetail::test

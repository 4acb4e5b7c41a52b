// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/change_source.h"

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dovetail/v1/change_mapping.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/engine/changes/changes_test_util.h"
#include "tests/engine/engine_fixture.h"

namespace dovetail::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class ChangeSourceTest : public EngineTest {
 protected:
  void SetUp() override {
    v1::ChangeMapping mapping;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
        R"(tables { table: "orders" find_by: "by_order_id"
             fields { field: "order_id" column: "id" }
             fields { field: "seller_id" column: "seller" }
             fields { field: "ts_ms" column: "ts"
                      time { unit: MILLISECONDS } } })",
        &mapping));
    auto mapper = ChangeMapper::Compile(&engine(), mapping);
    ASSERT_THAT(mapper, IsOk());
    mapper_ = std::make_unique<ChangeMapper>(*std::move(mapper));
  }

  // Replays `text` on from where the source "s" is.
  absl::Status Replay(ChangeFormat format, const std::string& text,
                      ReplayOptions options = {}, ReplayStop stop = {}) {
    auto source = ChangeSource::Open(format, FromText(text), mapper_.get());
    if (!source.ok()) return source.status();
    source_ = *std::move(source);
    options.source = "s";
    auto replayer = Replayer::Open(&engine(), source_.get(), options);
    if (!replayer.ok()) return replayer.status();
    const absl::Status status = (*replayer)->Run(stop);
    report_ = (*replayer)->report();
    return status;
  }

  static std::string Lines(int first, int last) {
    std::string lines;
    for (int i = first; i <= last; ++i) {
      absl::StrAppend(&lines, "{\"id\":\"o", i,
                      "\",\"seller\":\"s\",\"ts\":", i, "}\n");
    }
    return lines;
  }

  std::unique_ptr<ChangeMapper> mapper_;
  std::unique_ptr<ChangeSource> source_;
  ReplayReport report_;
};

TEST_F(ChangeSourceTest, AnEntryIsAppliedOnceHoweverOftenTheFileIsReplayed) {
  ASSERT_THAT(Replay(ChangeFormat::kJsonLines, Lines(1, 3)), IsOk());
  EXPECT_EQ(report_.applied, 3u);
  ASSERT_THAT(DeleteId("o2"), IsOk());
  ASSERT_THAT(Replay(ChangeFormat::kJsonLines, Lines(1, 5)), IsOk());
  EXPECT_EQ(report_.applied, 2u);
  EXPECT_THAT(BySeller("s"), ElementsAre("o5", "o4", "o3", "o1"));
}

TEST_F(ChangeSourceTest, ReplayGoesOnBehindWhereItStopped) {
  const std::string csv = "id,seller,ts\no1,s,1\n\"o\n2\",s,2\no3,s,3\n";
  ASSERT_THAT(Replay(ChangeFormat::kCsv, csv, {}, {.to_position = 4}), IsOk());
  EXPECT_EQ(report_.position, 4u);
  EXPECT_THAT(BySeller("s"), ElementsAre("o\n2", "o1"));
  ASSERT_THAT(Replay(ChangeFormat::kCsv, csv), IsOk());
  EXPECT_EQ(report_.applied, 1u);
  EXPECT_THAT(BySeller("s"), ElementsAre("o3", "o\n2", "o1"));
}

TEST_F(ChangeSourceTest, AnotherFileUnderTheNameIsRefused) {
  ASSERT_THAT(Replay(ChangeFormat::kJsonLines, Lines(1, 3)), IsOk());
  EXPECT_THAT(
      Replay(ChangeFormat::kJsonLines, Lines(1, 2)),
      StatusIs(absl::StatusCode::kFailedPrecondition, "ends before the place"));
  EXPECT_THAT(Replay(ChangeFormat::kJsonLines, Lines(2, 5)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "another entry at the place"));
}

TEST_F(ChangeSourceTest, RejectedEntriesAreKeptWithLineAndCause) {
  const std::string rejects = dir_.Sub("rejects");
  ReplayOptions options;
  options.on_error = ReplayOnError::kSkip;
  options.rejects_path = rejects;
  ASSERT_THAT(Replay(ChangeFormat::kJsonLines,
                     absl::StrCat(Lines(1, 1), "{\"id\":\n",
                                  "{\"id\":\"o2\",\"seller\":\"s\","
                                  "\"ts\":\"x\"}\n",
                                  Lines(3, 3)),
                     options),
              IsOk());
  EXPECT_EQ(report_.applied, 2u);
  EXPECT_EQ(report_.rejected, 2u);
  const std::ifstream file(rejects);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("\"position\":\"2\""));
  EXPECT_THAT(text.str(), HasSubstr("line=2 byte=6"));
  EXPECT_THAT(text.str(), HasSubstr("\"position\":\"3\""));
  EXPECT_THAT(text.str(), HasSubstr("not a time"));
  EXPECT_THAT(BySeller("s"), ElementsAre("o3", "o1"));
}

TEST_F(ChangeSourceTest, OutcomesAreCounted) {
  ASSERT_THAT(Replay(ChangeFormat::kDebezium,
                     R"({"op":"c","after":{"id":"o1","seller":"s","ts":1}})"
                     "\n"
                     R"({"op":"u","before":{"id":"o1"},"after":{"id":"o2",)"
                     R"("seller":"s","ts":1}})"
                     "\n"
                     R"({"op":"d","before":{"id":"o2"}})"
                     "\nnull\n"),
              IsOk());
  EXPECT_THAT(
      source_->counts().effects,
      ElementsAre(Pair("delete", 1u), Pair("move", 1u), Pair("put", 1u)));
  EXPECT_THAT(source_->counts().skipped, ElementsAre(Pair("tombstone", 1u)));
  EXPECT_EQ(report_.applied, 3u);
  EXPECT_EQ(report_.nothing, 1u);
}

}  // namespace
}  // namespace dovetail::test

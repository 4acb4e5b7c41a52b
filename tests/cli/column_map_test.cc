// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/column_map.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "cli/exit_code.h"
#include "cli/field_text.h"
#include "dovetail/v1/order.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/dynamic_message.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/timestamp.pb.h"
#include "gtest/gtest.h"

namespace dovetail::cli {
namespace {

using google::protobuf::Message;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// A record with what v1.Order lacks: a Timestamp, an optional field, a
// message, unsigned and floating fields, bytes.
constexpr char kEventFile[] = R"pb(
  name: "event.proto"
  package: "test"
  syntax: "proto3"
  dependency: "google/protobuf/timestamp.proto"
  message_type {
    name: "Place"
    field { name: "country" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
  }
  message_type {
    name: "Event"
    field { name: "id" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
    field {
      name: "at"
      number: 2
      type: TYPE_MESSAGE
      type_name: ".google.protobuf.Timestamp"
      label: LABEL_OPTIONAL
    }
    field {
      name: "place"
      number: 3
      type: TYPE_MESSAGE
      type_name: ".test.Place"
      label: LABEL_OPTIONAL
    }
    field {
      name: "weight"
      number: 4
      type: TYPE_INT32
      label: LABEL_OPTIONAL
      proto3_optional: true
      oneof_index: 0
    }
    field { name: "count" number: 5 type: TYPE_UINT32 label: LABEL_OPTIONAL }
    field { name: "ratio" number: 6 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
    field { name: "ok" number: 7 type: TYPE_BOOL label: LABEL_OPTIONAL }
    field { name: "tags" number: 8 type: TYPE_STRING label: LABEL_REPEATED }
    field { name: "seen_us" number: 9 type: TYPE_INT64 label: LABEL_OPTIONAL }
    field { name: "seen_s" number: 10 type: TYPE_INT64 label: LABEL_OPTIONAL }
    oneof_decl { name: "_weight" }
  }
)pb";

class ColumnMapTest : public testing::Test {
 protected:
  ColumnMapTest() {
    google::protobuf::FileDescriptorProto stamp, event;
    google::protobuf::Timestamp::descriptor()->file()->CopyTo(&stamp);
    EXPECT_TRUE(
        google::protobuf::TextFormat::ParseFromString(kEventFile, &event));
    pool_.BuildFile(stamp);
    const auto* file = pool_.BuildFile(event);
    event_.reset(
        factory_.GetPrototype(file->FindMessageTypeByName("Event"))->New());
  }

  // What the maps make of one row, in text format, or the error.
  std::string Fill(const Message& prototype, const ColumnMapOptions& options,
                   const std::vector<std::string>& columns,
                   const std::vector<std::string>& row) {
    const absl::StatusOr<ColumnMap> map =
        ColumnMap::Bind(prototype, options, &columns);
    if (!map.ok()) return absl::StrCat("bind: ", map.status().message());
    std::vector<Cell> cells;
    for (const std::string& text : row) cells.push_back({text, false});
    const std::unique_ptr<Message> record(prototype.New());
    const ColumnMap::Filled filled = map->Fill(cells, record.get());
    if (!filled.status.ok()) {
      return absl::StrCat(filled.column.has_value()
                              ? absl::StrCat(columns[*filled.column], ": ")
                              : "",
                          filled.status.message());
    }
    return record->ShortDebugString();
  }

  // One column "c" into one field.
  std::string Convert(const Message& prototype, const std::string& map,
                      const std::string& text) {
    return Fill(prototype, {.maps = {map}}, {"c"}, {text});
  }

  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_;
  std::unique_ptr<Message> event_;
  const v1::Order order_;
};

TEST_F(ColumnMapTest, ColumnsFillTheFieldsOfTheirNames) {
  const std::vector<std::string> columns = {"order_id", "colour", "status",
                                            "ts_ms"};
  EXPECT_EQ(Fill(order_, {}, columns, {"o-1", "red", "SHIPPED", "-5"}),
            R"(order_id: "o-1" ts_ms: -5 status: SHIPPED)");
  EXPECT_THAT(ColumnMap::Bind(order_, {}, &columns)->unused(),
              ElementsAre("colour"));
}

TEST_F(ColumnMapTest, NoColumnOfAFieldsNameIsAnErrorThatListsBoth) {
  EXPECT_THAT(Fill(order_, {}, {"Order ID"}, {"x"}),
              AllOf(HasSubstr("no column has the name of a field"),
                    HasSubstr("\"Order ID\""), HasSubstr("order_id seller_id"),
                    HasSubstr("--map FIELD=COLUMN")));
}

TEST_F(ColumnMapTest, TemplatesJoinColumnsWithText) {
  EXPECT_EQ(Fill(order_, {.maps = {"order_id={Order ID}#{index}"}},
                 {"index", "Order ID"}, {"7", "405-1"}),
            R"(order_id: "405-1#7")");
  EXPECT_EQ(Fill(order_, {.maps = {"order_id={{{c}}}:upper"}}, {"c"}, {"ab"}),
            R"(order_id: "{AB}")");
  EXPECT_THAT(Convert(order_, "order_id={c", "x"),
              HasSubstr("a brace without its partner"));
  EXPECT_THAT(Convert(order_, "order_id={{c}}", "x"),
              HasSubstr("names no column"));
}

TEST_F(ColumnMapTest, TimesAreUtcUnlessTheTextNamesAZone) {
  for (const char* text : {"2026-01-02T03:04:05Z", "2026-01-02T04:04:05+01:00",
                           "2026-01-02 03:04:05", "2026-01-02T03:04:05.000"}) {
    EXPECT_EQ(Convert(order_, "ts_ms=c:time", text), "ts_ms: 1767323045000")
        << text;
  }
  EXPECT_EQ(Convert(order_, "ts_ms=c:time", "2026-01-02"),
            "ts_ms: 1767312000000");
  EXPECT_EQ(Convert(order_, "ts_ms=c:time", "1948-01-26 23:59:00"),
            "ts_ms: -692064060000");
}

TEST_F(ColumnMapTest, TheFirstTimeFormatThatFitsCounts) {
  const std::string map = "ts_ms=c:time(%m-%d-%y|%m-%d-%Y)";
  EXPECT_EQ(Convert(order_, map, "04-30-22"), "ts_ms: 1651276800000");
  EXPECT_EQ(Convert(order_, map, "05-03-2022"), "ts_ms: 1651536000000");
  EXPECT_THAT(Convert(order_, map, "30.04.22"),
              AllOf(HasSubstr("not a time of the format"),
                    HasSubstr("%m-%d-%y|%m-%d-%Y")));
  EXPECT_EQ(
      Convert(order_, "ts_ms=c:time(%H:%M:%S %d.%m.%Y)", "01:02:03 04.05.2020"),
      "ts_ms: 1588554123000");
}

TEST_F(ColumnMapTest, TheFieldDecidesTheUnitOfATimeUnlessTheMapDoes) {
  EXPECT_EQ(Convert(*event_, "seen_us=c:time", "1970-01-01 00:00:01.5"),
            "seen_us: 1500000");
  EXPECT_EQ(Convert(*event_, "seen_s=c:time", "1970-01-01 00:00:01.5"),
            "seen_s: 1");
  EXPECT_EQ(Convert(order_, "ts_ms=c:time_s", "1970-01-01 00:01:00"),
            "ts_ms: 60");
  EXPECT_EQ(Convert(*event_, "at=c", "1970-01-01 00:00:01.5"),
            "at { seconds: 1 nanos: 500000000 }");
  EXPECT_EQ(Convert(*event_, "at=c:time", "1969-12-31 23:59:59.25"),
            "at { seconds: -1 nanos: 250000000 }");
}

TEST_F(ColumnMapTest, NotATimeNamesTheFormsThatAre) {
  EXPECT_THAT(Convert(order_, "ts_ms=c:time", "yesterday"),
              AllOf(HasSubstr("c: not a time"), HasSubstr("\"yesterday\""),
                    HasSubstr(":time(%m-%d-%y)")));
  EXPECT_THAT(Convert(order_, "ts_ms=c:time", "infinite-future"),
              HasSubstr("not a time"));
  EXPECT_THAT(Convert(*event_, "count=c:time", "2026-01-01"),
              HasSubstr("out of the range of uint32"));
}

TEST_F(ColumnMapTest, CentsAreExact) {
  const std::string map = "amount_cents=c:cents";
  EXPECT_EQ(Convert(order_, map, "39.99"), "amount_cents: 3999");
  EXPECT_EQ(Convert(order_, map, "-0.5"), "amount_cents: -50");
  EXPECT_EQ(Convert(order_, map, "406"), "amount_cents: 40600");
  EXPECT_EQ(Convert(order_, map, "1.500"), "amount_cents: 150");
  EXPECT_EQ(Convert(order_, map, ".07"), "amount_cents: 7");
  EXPECT_EQ(Convert(order_, map, "92233720368547758.07"),
            "amount_cents: 9223372036854775807");
  EXPECT_THAT(Convert(order_, map, "92233720368547758.08"),
              HasSubstr("out of the range"));
  EXPECT_THAT(Convert(order_, map, "1.005"), HasSubstr("more than two"));
  for (const char* text : {"1,5", "1.", ".", "-", "1e3", "--1", "$5"}) {
    EXPECT_THAT(Convert(order_, map, text), HasSubstr("not a decimal")) << text;
  }
}

TEST_F(ColumnMapTest, EnumsGoByNameOrNumberAndInAnyCaseIfAsked) {
  EXPECT_EQ(Convert(order_, "status=c", "SHIPPED"), "status: SHIPPED");
  EXPECT_EQ(Convert(order_, "status=c", "4"), "status: SHIPPED");
  EXPECT_EQ(Convert(order_, "status=c:enum", "shipped"), "status: SHIPPED");
  EXPECT_EQ(Convert(order_, "status=c:upper", "shipped"), "status: SHIPPED");
  EXPECT_THAT(Convert(order_, "status=c", "shipped"), HasSubstr("use :enum"));
  EXPECT_THAT(Convert(order_, "status=c:enum", "lost"),
              AllOf(HasSubstr("dovetail.v1.OrderStatus"),
                    HasSubstr("CREATED APPROVED")));
  EXPECT_THAT(Convert(order_, "status=c", "99"), HasSubstr("not a value"));
}

TEST_F(ColumnMapTest, NumbersAreWholeAndInRange) {
  EXPECT_EQ(Convert(order_, "items=c", "+7"), "items: 7");
  EXPECT_THAT(Convert(order_, "items=c", "2147483648"),
              HasSubstr("out of the range of int32"));
  EXPECT_THAT(Convert(order_, "items=c", "7 "), HasSubstr("not a number"));
  EXPECT_THAT(Convert(order_, "items=c", "1.0"), HasSubstr("not a number"));
  EXPECT_THAT(Convert(*event_, "count=c", "-1"), HasSubstr("out of the range"));
  EXPECT_EQ(Convert(*event_, "ratio=c", "2.5e-3"), "ratio: 0.0025");
  EXPECT_EQ(Convert(*event_, "ok=c", "TRUE"), "ok: true");
  EXPECT_THAT(Convert(*event_, "ok=c", "yes"), HasSubstr("neither"));
}

TEST_F(ColumnMapTest, FieldsInsideMessagesGoByPath) {
  EXPECT_EQ(Convert(*event_, "place.country=c", "BR"),
            R"(place { country: "BR" })");
  EXPECT_THAT(Convert(*event_, "place=c", "BR"),
              HasSubstr("name one of its fields"));
  EXPECT_THAT(Convert(*event_, "place.town=c", "x"), HasSubstr("country"));
  EXPECT_THAT(Convert(*event_, "tags=c", "x"), HasSubstr("repeated"));
}

TEST_F(ColumnMapTest, EmptyCellsAreDefaultsNullsOrErrors) {
  EXPECT_EQ(Convert(*event_, "id=c", ""), "");
  EXPECT_EQ(Convert(*event_, "weight=c", ""), "");
  EXPECT_EQ(Convert(*event_, "at=c", ""), "");
  EXPECT_THAT(Convert(*event_, "count=c", ""),
              HasSubstr("--default count=VALUE"));
  EXPECT_EQ(Fill(order_,
                 {.maps = {"amount_cents=c:cents"},
                  .defaults = {"amount_cents=1.50", "currency=EUR"}},
                 {"c"}, {""}),
            R"(amount_cents: 150 currency: "EUR")");
}

TEST_F(ColumnMapTest, KeyFieldsNeedASourceAndText) {
  ColumnMapOptions options{.key_fields = {"seller_id", "order_id"}};
  EXPECT_THAT(Fill(order_, options, {"order_id"}, {"x"}),
              AllOf(HasSubstr("field=seller_id"),
                    HasSubstr("--default seller_id=VALUE")));
  EXPECT_THAT(Fill(order_, options, {"order_id", "seller_id"}, {"", "s"}),
              HasSubstr("order_id: empty, but keys are made of it"));
  options.allow_empty_keys = true;
  EXPECT_EQ(Fill(order_, options, {"order_id", "seller_id"}, {"", "s"}),
            R"(seller_id: "s")");
}

TEST_F(ColumnMapTest, WrongMapsAreErrorsOfUsageThatListWhatExists) {
  const std::vector<std::string> columns = {"a", "b", "b"};
  const auto bind = [&](std::vector<std::string> maps) {
    const absl::Status status =
        ColumnMap::Bind(order_, {.maps = std::move(maps)}, &columns).status();
    EXPECT_EQ(ExitCodeOf(status), ExitCode::kUsage) << status;
    return std::string(status.message());
  };
  EXPECT_THAT(bind({"orderid=a"}),
              AllOf(HasSubstr("no such field"), HasSubstr("order_id")));
  EXPECT_THAT(bind({"order_id=z"}),
              AllOf(HasSubstr("no such column"), HasSubstr("\"a\" \"b\"")));
  EXPECT_THAT(bind({"order_id=a", "order_id=a"}), HasSubstr("mapped twice"));
  EXPECT_THAT(bind({"order_id=b"}), HasSubstr("two columns have the same"));
  EXPECT_THAT(bind({"order_id=a:tme"}),
              AllOf(HasSubstr("no such conversion"), HasSubstr("time_us")));
  EXPECT_THAT(bind({"order_id=a:time"}), HasSubstr("needs a Timestamp"));
  EXPECT_THAT(bind({"currency=a:cents"}), HasSubstr("needs an integer"));
  EXPECT_THAT(bind({"items=a:enum"}), HasSubstr("needs an enum"));
  EXPECT_THAT(bind({"order_id"}), HasSubstr("write it as FIELD="));
}

TEST_F(ColumnMapTest, AColonMayBelongToTheColumnsName) {
  EXPECT_EQ(Fill(order_, {.maps = {"order_id=id:time"}}, {"id:time"}, {"x"}),
            R"(order_id: "x")");
}

TEST_F(ColumnMapTest, ForJsonTheMapNamesTheColumns) {
  const absl::StatusOr<ColumnMap> map = ColumnMap::Bind(
      order_, {.maps = {"order_id={id}-{part}", "items=n", "note=id"}},
      nullptr);
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_THAT(map->columns(), ElementsAre("id", "part", "n"));
}

TEST_F(ColumnMapTest, TextThatIsNotUtf8IsRefused) {
  EXPECT_THAT(Convert(order_, "note=c", "caf\xe9"), HasSubstr("not UTF-8"));
  for (const char* bad : {"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xe2\x82", "\x80", "\xf8\x88\x80\x80\x80"}) {
    EXPECT_FALSE(IsUtf8(bad));
  }
  EXPECT_TRUE(IsUtf8("aö€😀"));
}

TEST_F(ColumnMapTest, TimeArgumentsSpeakTheFieldsUnit) {
  const auto argument = [&](const Message& record, const char* path,
                            const char* text) {
    return TimeArgument(*FieldPath::Resolve(record.GetDescriptor(), path),
                        text);
  };
  EXPECT_EQ(argument(order_, "ts_ms", "2026-01-01"), "1767225600000");
  EXPECT_EQ(argument(order_, "ts_ms", "17"), "17");
  EXPECT_EQ(argument(*event_, "seen_us", "1970-01-01T00:00:01Z"), "1000000");
  EXPECT_EQ(argument(order_, "order_id", "2026-01-01"), "2026-01-01");
}

}  // namespace
}  // namespace dovetail::cli

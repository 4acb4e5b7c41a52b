// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "tests/acceptance/model_requests.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/presets.h"
#include "dovetail/v1/order.pb.h"
#include "tests/support/records.pb.h"

namespace dovetail::test {
namespace {

using namespace std::string_literals;  // NOLINT: "a\0b"s.

// Texts that are UTF-8, and bytes that need not be.
const std::vector<std::string>& Texts() {
  static const auto* const texts = new std::vector<std::string>{
      "",    "s",   "s1",    "s10",  "s\0"s, "s\0\1"s,
      "\0"s, "\1"s, "\1\1"s, "s\1"s, "\x7f", "\xc3\xbf"};
  return *texts;
}
const std::vector<std::string>& Bytes() {
  static const auto* const bytes = new std::vector<std::string>{
      "",        "a",       "a\0"s, "a\xff",   "\xff", "\xff\xff",
      "\xff\0"s, "\xff\1"s, "\0"s,  "\0\xff"s, "\1",   "a\0\xff"s};
  return *bytes;
}

Value Status(uint64_t n) {
  static constexpr int kStatuses[] = {0, 1, 4, 5, 9, 99, -3};
  return kStatuses[n % std::size(kStatuses)];
}

int64_t Time(uint64_t n) {
  static constexpr int64_t kTimes[] = {-1, 0, 1, 255, 256, 1'772'452'800'000};
  return kTimes[n % std::size(kTimes)];
}

std::string NoteOf(std::string_view table, std::string_view record) {
  if (table == "orders" || table == "splits") {
    v1::Order order;
    order.ParseFromArray(record.data(), static_cast<int>(record.size()));
    return order.note();
  }
  if (table == "audit") return "";
  Asset asset;
  asset.ParseFromArray(record.data(), static_cast<int>(record.size()));
  return asset.note();
}

absl::Status Veto(std::string_view table, std::string_view record) {
  if (NoteOf(table, record) != "veto") return absl::OkStatus();
  return absl::PermissionDeniedError("the note says veto");
}

std::string AuditRecord(uint64_t sequence, size_t changes) {
  Audit audit;
  audit.set_sequence(sequence);
  audit.set_changes(static_cast<uint32_t>(changes));
  return audit.SerializeAsString();
}

}  // namespace

Schema ModelSchema() {
  Schema schema;
  schema.Add(presets::SellerOrders("orders"));
  schema.Add(presets::SplitOrders("splits"));
  TableBuilder assets("assets", Asset::descriptor());
  assets.RowKey({Field("id")})
      .Unique("by_tag", {Hash({"tag"}), Field("tag")})
      .Unique("by_place", {Field("room"), Field("slot").Desc()})
      .Index("by_room", {Field("room"), Field("rank").Desc()})
      .Index("by_slot", {Field("slot").Desc().NullsFirst(), Field("tag")})
      .Index("by_tag_last", {Field("tag").NullsLast(), Field("room").Desc()})
      .Add(IndexBuilder::Unique("tagged", {Field("room"), Field("tag")})
               .Where({RowTest::Between("slot", {.min = 0})}))
      .Add(IndexBuilder::Value("with_s", {Field("room").Desc(), Field("slot")})
               .Where({RowTest::Prefix("tag", "s"),
                       RowTest::In("rank", {0, -1, 1})})
               .Covering({"note", "rank", "tag"}))
      .Add(IndexBuilder::Count("rooms", {Field("room"), Field("slot").Desc()}))
      .Add(IndexBuilder::Sum("ranks", {Field("tag").NullsLast()}, "rank"))
      .Add(IndexBuilder::Sum("slots", {Varint("rank").Desc()}, "slot")
               .Where({RowTest::IsNotNull("tag")}))
      .Add(IndexBuilder::Value("labelled", {Field("labels"), Field("rank")})
               .Covering({"note"})
               .FanOut("labels"))
      .Add(IndexBuilder::Count("marks", {Field("marks").Desc(), Field("room")})
               .FanOut("marks", 8));
  schema.Add(assets);
  TableBuilder places("places", Asset::descriptor());
  places.RowKey({Field("room").Desc(), Field("rank"), Field("slot")})
      .Unique("by_tag", {Field("tag")})
      .Index("by_rank", {Field("rank").Desc()})
      .Identity("by_tag");
  schema.Add(places);
  TableBuilder audit("audit", Audit::descriptor());
  audit.RowKey({Field("sequence")});
  schema.Add(audit);
  return schema;
}

Model NewModel() {
  absl::StatusOr<Model> known = Model::Of(ModelSchema());
  DOVETAIL_CHECK(known.ok());
  Model model = *std::move(known);
  model.SetPrePut(Veto);
  return model;
}

ObserverTraits VetoObserver::traits() const {
  ObserverTraits traits;
  traits.name = "veto";
  traits.hooks = kPrePut;
  return traits;
}

absl::Status VetoObserver::PrePut(HookContext&, const RowChange& change) {
  return Veto(change.table, *change.new_record);
}

ObserverTraits AuditObserver::traits() const {
  ObserverTraits traits;
  traits.name = "audit";
  traits.hooks = kPreBatchMutate;
  traits.priority = 10;
  traits.writes = {"audit"};
  return traits;
}

absl::Status AuditObserver::PreBatchMutate(
    HookContext& ctx, const std::vector<RowChange>& changes) {
  if (changes.empty()) return absl::OkStatus();
  const auto sequence = static_cast<uint64_t>(ctx.sequence());
  return ctx.Add({Mutation::Kind::kInsert,
                  "audit",
                  AuditRecord(sequence, changes.size()),
                  RowRef::Key({}),
                  {},
                  {}});
}

absl::StatusOr<std::vector<uint64_t>> ApplyObserved(const WriteBatch& batch,
                                                    uint64_t sequence,
                                                    Model* model) {
  ASSIGN_OR_RETURN(const std::vector<uint64_t> rows_changed,
                   model->Apply(batch, sequence));
  uint64_t changes = 0;
  for (const uint64_t rows : rows_changed) changes += rows;
  if (changes > 0) {
    RETURN_IF_ERROR(model
                        ->Apply(WriteBatch().Insert(
                                    "audit", AuditRecord(sequence, changes)),
                                sequence)
                        .status());
  }
  return rows_changed;
}

namespace {

std::string Describe(const Tuple& values) {
  std::string out = "(";
  for (const Value& value : values) {
    absl::StrAppend(&out, out.size() > 1 ? ", " : "", value.DebugString());
  }
  return out + ")";
}

}  // namespace

std::string Describe(const WriteBatch& batch) {
  static constexpr const char* kKinds[] = {"insert", "put", "patch", "delete"};
  std::string out;
  for (const Mutation& m : batch.mutations()) {
    absl::StrAppend(&out, out.empty() ? "" : "; ",
                    kKinds[static_cast<int>(m.kind)], " ", m.table);
    if (!m.target.values().empty()) {
      absl::StrAppend(&out, " ", m.target.index(), Describe(m.target.values()),
                      m.target.match() == RowRef::Match::kAll ? " all" : "");
    }
    for (const std::string& field : m.fields) {
      absl::StrAppend(&out, " .", field);
    }
    if (!m.record.empty()) {
      absl::StrAppend(&out, " record=", Quote(m.record));
    }
    for (const Precondition& condition : m.conditions) {
      absl::StrAppend(&out, " if=", static_cast<int>(condition.kind), " ",
                      condition.path, " ", condition.value.DebugString());
    }
  }
  return out;
}

std::string Describe(const ScanRequest& request) {
  std::string out = absl::StrCat(request.table, ".", request.index,
                                 " equal=", Describe(request.equal));
  if (!request.any_of.empty()) {
    absl::StrAppend(&out, " any_of=", Describe(request.any_of));
  }
  if (request.range.has_value()) {
    const Range& range = *request.range;
    absl::StrAppend(&out, " range=", range.min_inclusive ? "[" : "(",
                    range.min.has_value() ? range.min->DebugString() : "", "..",
                    range.max.has_value() ? range.max->DebugString() : "",
                    range.max_inclusive ? "]" : ")");
  }
  return absl::StrCat(out, " limit=", request.limit,
                      request.covered ? " covered" : "");
}

std::string RequestMaker::RandomTable() {
  static constexpr const char* kTables[] = {"orders", "splits", "assets",
                                            "places"};
  return kTables[Below(std::size(kTables))];
}

Value RequestMaker::RandomValue(std::string_view table,
                                std::string_view column) {
  const bool is_asset = table == "assets" || table == "places";
  if (column == "order_id") return absl::StrCat("o", Below(30));
  if (column == "seller_id") return Texts()[Below(6)];
  if (column == "ts_ms") return Time(Below(6));
  if (column == "status") return Status(Below(7));
  if (column == "id") return Bytes()[Below(Bytes().size())];
  if (column == "room") return Bytes()[Below(6)];
  if (column == "rank") return Time(Below(3));
  if (column == "sequence") return Below(1000);
  if (column == "labels") return Bytes()[Below(5)];
  if (column == "marks") return static_cast<int>(Below(4)) - 1;
  DOVETAIL_CHECK(is_asset);
  if (OneIn(5)) return Value();
  if (column == "slot") return static_cast<int>(Below(5)) - 2;
  return Texts()[Below(Texts().size())];  // tag
}

std::string RequestMaker::RandomRecord(std::string_view table) {
  const std::string note = OneIn(40)  ? "veto"
                           : OneIn(2) ? std::string(Below(200), 'n')
                                      : "";
  if (table == "orders" || table == "splits") {
    v1::Order order;
    order.set_order_id(RandomValue(table, "order_id").as_string());
    order.set_seller_id(RandomValue(table, "seller_id").as_string());
    order.set_ts_ms(RandomValue(table, "ts_ms").as_int());
    order.set_status(
        static_cast<v1::OrderStatus>(RandomValue(table, "status").as_int()));
    order.set_amount_cents(static_cast<int64_t>(Below(3)));
    order.set_note(note);
    return order.SerializeAsString();
  }
  Asset asset;
  asset.set_id(RandomValue(table, "id").as_string());
  asset.set_room(RandomValue(table, "room").as_string());
  const Value slot = RandomValue(table, "slot");
  if (!slot.is_null()) asset.set_slot(static_cast<int32_t>(slot.as_int()));
  const Value tag = RandomValue(table, "tag");
  if (!tag.is_null()) asset.set_tag(tag.as_string());
  asset.set_rank(RandomValue(table, "rank").as_int());
  asset.set_note(note);
  for (uint64_t i = OneIn(2) ? Below(5) : 0; i > 0; --i) {
    asset.add_labels(RandomValue(table, "labels").as_string());
    asset.add_marks(static_cast<int32_t>(RandomValue(table, "marks").as_int()));
  }
  return asset.SerializeAsString();
}

RowRef RequestMaker::RandomTarget(std::string_view table) {
  const RowRef::Match match =
      OneIn(2) ? RowRef::Match::kOne : RowRef::Match::kAll;
  const auto value = [&](const char* column) {
    return RandomValue(table, column);
  };
  if (table == "orders" || table == "splits") {
    switch (Below(4)) {
      case 0:
        return RowRef::Key(
            {value("seller_id"), value("ts_ms"), value("order_id")});
      case 1:
        return RowRef::By("by_status", {value("seller_id"), value("status")},
                          match);
      default:
        return RowRef::By("by_order_id", {value("order_id")}, match);
    }
  }
  if (table == "assets") {
    switch (Below(4)) {
      case 0:
        return RowRef::By("by_room", {value("room"), value("rank")}, match);
      case 1:
        return RowRef::By("by_slot", {value("slot")}, match);
      default:
        return RowRef::Key({value("id")});
    }
  }
  if (OneIn(2)) return RowRef::By("by_rank", {value("rank")}, match);
  return RowRef::Key({value("room"), value("rank"), value("slot")});
}

void RequestMaker::AddPatch(std::string_view table, bool alone,
                            WriteBatch* batch) {
  const bool is_order = table == "orders" || table == "splits";
  static constexpr const char* kOrderFields[] = {"status", "ts_ms", "seller_id",
                                                 "note", "amount_cents"};
  static constexpr const char* kAssetFields[] = {
      "room", "slot", "rank", "note", "tag", "labels", "marks"};
  std::vector<std::string> fields;
  std::vector<const char*> all(std::begin(kOrderFields),
                               std::end(kOrderFields));
  if (!is_order) all.assign(std::begin(kAssetFields), std::end(kAssetFields));
  for (const char* field : all) {
    // Two rows with one identity inside a request: a later put of it would
    // have no single row to be about.
    if (!alone && table == "places" && field == "tag"s) continue;
    if (!alone && table == "splits" && field == "seller_id"s) continue;
    if (OneIn(3)) fields.push_back(field);
  }
  if (fields.empty()) fields.push_back("note");
  batch->Patch(table, RandomTarget(table), RandomRecord(table),
               std::move(fields));
}

void RequestMaker::AddConditions(std::string_view table, WriteBatch* batch) {
  if (!OneIn(6)) return;
  const bool is_order = table == "orders" || table == "splits";
  switch (Below(4)) {
    case 0:
      batch->If(Precondition::Absent());
      return;
    case 1:
      batch->If(Precondition::VersionEquals(SequenceNumber(Below(100))));
      return;
    case 2: {
      const char* column = is_order ? "status" : OneIn(2) ? "tag" : "rank";
      batch->If(Precondition::FieldEquals(column, RandomValue(table, column)));
      return;
    }
    default:
      batch->If(Precondition::Exists());
  }
}

WriteBatch RequestMaker::RandomRequest() {
  WriteBatch batch;
  const uint64_t count = OneIn(3) ? 1 + Below(4) : 1;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string table = RandomTable();
    const uint64_t kind = Below(10);
    if (kind < 1) {
      batch.Insert(table, RandomRecord(table));
    } else if (kind < 5) {
      batch.Put(table, RandomRecord(table));
    } else if (kind < 8) {
      AddPatch(table, count == 1, &batch);
    } else {
      batch.Delete(table, RandomTarget(table));
    }
    AddConditions(table, &batch);
  }
  return batch;
}

WriteBatch RequestMaker::RandomSwap(const ReadAsset& read) {
  WriteBatch batch;
  Row rows[2];
  Asset assets[2];
  const size_t first = Below(Bytes().size());
  const size_t second = first + 1 + Below(Bytes().size() - 1);
  const size_t ids[2] = {first, second % Bytes().size()};
  for (size_t i = 0; i < 2; ++i) {
    absl::StatusOr<Row> row = read(Bytes()[ids[i]]);
    if (!row.ok() || !assets[i].ParseFromString(row->record)) return batch;
    rows[i] = *std::move(row);
  }
  for (size_t i = 0; i < 2; ++i) {
    Asset changed = assets[i];
    const Asset& other = assets[1 - i];
    changed.clear_tag();
    if (other.has_tag()) changed.set_tag(other.tag());
    batch.Put("assets", changed.SerializeAsString());
    batch.If(Precondition::VersionEquals(rows[i].version));
  }
  return batch;
}

Tuple RequestMaker::RandomValues(const Model& model, std::string_view table,
                                 std::string_view index, size_t count) {
  Tuple values;
  const std::vector<ModelColumn>& columns = model.Columns(table, index);
  for (size_t i = 0; i < count; ++i) {
    values.push_back(RandomValue(table, columns[i].name));
  }
  return values;
}

ScanRequest RequestMaker::RandomScan(const Model& model) {
  ScanRequest request;
  request.table = RandomTable();
  const std::vector<std::string> indexes = model.IndexNames(request.table);
  const uint64_t choice = Below(indexes.size() + 1);
  if (choice < indexes.size()) request.index = indexes[choice];
  const size_t own = model.OwnColumns(request.table, request.index);
  // A hash in front needs its fields.
  const bool hashed = request.table == "orders" || request.table == "splits" ||
                      (request.table == "assets" && request.index == "by_tag");
  const bool merge_first = hashed && OneIn(4);
  const size_t least = hashed ? 1 : 0;
  const size_t equal = merge_first ? 0 : least + Below(own - least + 1);
  request.equal = RandomValues(model, request.table, request.index, equal);
  const std::vector<ModelColumn>& columns =
      model.Columns(request.table, request.index);
  size_t next = equal;
  if (next < own && (merge_first || OneIn(3))) {
    for (uint64_t i = 1 + Below(3); i > 0; --i) {
      request.any_of.push_back(RandomValue(request.table, columns[next].name));
    }
    ++next;
  }
  if (next < own && OneIn(2)) {
    Range range;
    const auto bound = [&]() -> std::optional<Value> {
      Value value = RandomValue(request.table, columns[next].name);
      if (value.is_null() || OneIn(3)) return std::nullopt;
      return value;
    };
    range.min = bound();
    range.max = bound();
    range.min_inclusive = OneIn(2);
    range.max_inclusive = OneIn(2);
    request.range = std::move(range);
  }
  request.limit = 1 + Below(OneIn(2) ? 3 : 50);
  request.covered = !request.index.empty() && OneIn(3);
  return request;
}

}  // namespace dovetail::test

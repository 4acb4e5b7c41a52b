// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/record_source.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/csv_reader.h"
#include "base/json.h"
#include "base/line_reader.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/exit_code.h"
#include "google/protobuf/message.h"

namespace dovetail::cli {
namespace {

using google::protobuf::Message;

constexpr std::string_view kNull = "\\N";

// A row's own fault, whatever code it came with.
absl::Status BadRow(std::string_view column, const absl::Status& status) {
  return absl::InvalidArgumentError(
      absl::StrCat("column ", ToAbsl(Quote(column)), ": ", status.message()));
}

class CsvRecordSource final : public RecordSource {
 public:
  CsvRecordSource(const DynamicTable* table, ByteSource source,
                  const RecordSourceOptions& options)
      : table_(table),
        source_(std::move(source)),
        csv_(&source_, CsvOptions{.delimiter = options.delimiter}) {}

  absl::Status Start(const RecordSourceOptions& options,
                     std::string_view file) {
    absl::Status header = csv_.ReadHeader();
    if (absl::IsInvalidArgument(header)) {
      return WithContext(FormatPosition(file, csv_.error_position()), header);
    }
    RETURN_IF_ERROR(header);
    RETURN_IF_ERROR(csv_.SkipLines(options.skip_lines));
    absl::StatusOr<ColumnMap> map =
        ColumnMap::Bind(*table_->NewRecord(), options.map, &csv_.header());
    if (!map.ok()) return map.status();
    map_ = *std::move(map);
    unused_ = map_.unused();
    return {};
  }

  absl::StatusOr<bool> Next(std::string* record) override {
    absl::StatusOr<bool> row = csv_.Next();
    if (!row.ok()) {
      position_ = csv_.error_position();
      return row.status();
    }
    if (!*row) return false;
    position_ = {csv_.line(), 1};
    cells_.clear();
    for (const std::string_view field : csv_.fields()) {
      const bool null = field == kNull;
      cells_.push_back({null ? std::string_view() : field, null});
    }
    const std::unique_ptr<Message> message = table_->NewRecord();
    const ColumnMap::Filled filled = map_.Fill(cells_, message.get());
    if (!filled.status.ok()) {
      if (!filled.column.has_value()) return filled.status;
      position_ = csv_.PositionOf(*filled.column);
      return BadRow(csv_.header()[*filled.column], filled.status);
    }
    *record = message->SerializePartialAsString();
    return true;
  }

  uint64_t last_line() const override { return csv_.last_line(); }
  std::string_view raw() const override { return csv_.raw(); }

 private:
  const DynamicTable* table_;
  ByteSource source_;
  CsvReader csv_;
  ColumnMap map_;
  std::vector<Cell> cells_;
};

class JsonRecordSource final : public RecordSource {
 public:
  JsonRecordSource(const DynamicTable* table, ByteSource source)
      : table_(table), source_(std::move(source)), lines_(&source_) {}

  absl::Status Start(const RecordSourceOptions& options) {
    RETURN_IF_ERROR(lines_.Start());
    RETURN_IF_ERROR(lines_.SkipLines(options.skip_lines));
    mapped_ = !options.map.maps.empty();
    const std::unique_ptr<Message> prototype = table_->NewRecord();
    if (mapped_) {
      absl::StatusOr<ColumnMap> map =
          ColumnMap::Bind(*prototype, options.map, nullptr);
      if (!map.ok()) return map.status();
      map_ = *std::move(map);
      return {};
    }
    if (!options.map.defaults.empty()) {
      return UsageError(
          "--default needs --map here: JSON without a map is read as the "
          "record itself");
    }
    if (options.map.allow_empty_keys) return {};
    ASSIGN_OR_RETURN(
        keys_, TextKeys(prototype->GetDescriptor(), options.map.key_fields));
    return {};
  }

  absl::StatusOr<bool> Next(std::string* record) override {
    absl::StatusOr<bool> line = lines_.Next();
    position_ = {lines_.line(), 1};
    if (!line.ok() || !*line) return line;
    size_t error_at = 0;
    absl::StatusOr<ForeignValue> object =
        ParseJsonObject(lines_.text(), &error_at);
    if (!object.ok()) {
      position_ = PositionIn(lines_.text(), error_at, lines_.line());
      return object.status();
    }
    absl::Status status =
        mapped_ ? Map(*object, record) : Parse(*object, record);
    if (!status.ok()) return absl::InvalidArgumentError(status.message());
    return true;
  }

  uint64_t last_line() const override { return lines_.line(); }
  std::string_view raw() const override { return lines_.text(); }

 private:
  absl::Status Map(const ForeignValue& object, std::string* record) {
    cells_.assign(map_.columns().size(), Cell{"", true});
    std::vector<size_t> places(cells_.size(), 0);
    for (const ForeignValue& member : object.members) {
      for (size_t i = 0; i < cells_.size(); ++i) {
        if (map_.columns()[i] != member.name) continue;
        places[i] = member.at;
        if (member.kind == ForeignValue::Kind::kArray ||
            member.kind == ForeignValue::Kind::kObject) {
          Locate(member.at);
          return BadRow(member.name,
                        absl::InvalidArgumentError(
                            "an object or array; a map takes plain values"));
        }
        cells_[i] = {member.text, member.is_null()};
      }
    }
    const std::unique_ptr<Message> message = table_->NewRecord();
    const ColumnMap::Filled filled = map_.Fill(cells_, message.get());
    if (!filled.status.ok()) {
      if (!filled.column.has_value()) return filled.status;
      Locate(places[*filled.column]);
      return BadRow(map_.columns()[*filled.column], filled.status);
    }
    *record = message->SerializePartialAsString();
    return {};
  }

  absl::Status Parse(const ForeignValue& object, std::string* record) {
    absl::StatusOr<std::string> bytes = table_->FromJson(lines_.text());
    if (!bytes.ok()) {
      Blame(object, ToStd(bytes.status().message()));
      return bytes.status();
    }
    *record = *std::move(bytes);
    if (keys_.empty()) return {};
    const std::unique_ptr<Message> message = table_->NewRecord();
    if (!message->ParsePartialFromString(*record)) {
      return absl::InvalidArgumentError("the record does not parse back");
    }
    const absl::Status status = CheckKeys(keys_, *message);
    if (!status.ok()) Blame(object, ToStd(status.message()));
    return status;
  }

  void Locate(size_t offset) {
    position_ = PositionIn(lines_.text(), offset, lines_.line());
  }

  // Places the error at the first member that its message speaks of. JSON
  // conversion names the field, not the place.
  void Blame(const ForeignValue& object, std::string_view message) {
    for (const ForeignValue& member : object.members) {
      if (!member.name.empty() &&
          message.find(member.name) != std::string_view::npos) {
        Locate(member.at);
        return;
      }
    }
  }

  const DynamicTable* table_;
  ByteSource source_;
  LineReader lines_;
  bool mapped_ = false;
  ColumnMap map_;
  std::vector<FieldPath> keys_;
  std::vector<Cell> cells_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RecordSource>> RecordSource::Open(
    const DynamicTable* table, ByteSource source,
    const RecordSourceOptions& options, std::string_view file) {
  if (options.format == InputFormat::kCsv) {
    auto csv =
        std::make_unique<CsvRecordSource>(table, std::move(source), options);
    RETURN_IF_ERROR(csv->Start(options, file));
    return std::unique_ptr<RecordSource>(std::move(csv));
  }
  auto json = std::make_unique<JsonRecordSource>(table, std::move(source));
  RETURN_IF_ERROR(json->Start(options));
  return std::unique_ptr<RecordSource>(std::move(json));
}

}  // namespace dovetail::cli

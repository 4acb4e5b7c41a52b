// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/text_format.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"

namespace dovetail::cli {
namespace {

constexpr size_t kSchemaBytesMax = 4 << 20;

class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text.empty()) return;
    text =
        absl::StrCat("line ", line + 1, " column ", column + 1, ": ", message);
  }
  std::string text;
};

}  // namespace

absl::Status ParseTextFormat(std::string_view text,
                             google::protobuf::Message* message) {
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.AllowPartialMessage(true);
  parser.RecordErrorsTo(&error);
  if (parser.ParseFromString(std::string(text), message)) return {};
  return absl::InvalidArgumentError(
      error.text.empty() ? std::string("does not parse") : error.text);
}

absl::StatusOr<Schema> ReadSchemaFile(
    const std::string& path, const google::protobuf::DescriptorPool& pool) {
  ASSIGN_OR_RETURN(const std::string text, ReadAll(path, kSchemaBytesMax));
  absl::StatusOr<Schema> schema = Schema::FromText(text, pool);
  if (schema.ok()) return schema;
  return WithContext(path, schema.status());
}

}  // namespace dovetail::cli

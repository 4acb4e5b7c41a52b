// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/change_input.h"

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/byte_source.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/exit_code.h"
#include "cli/import_options.h"
#include "cli/input_file.h"
#include "cli/text_format.h"
#include "dovetail/v1/change_mapping.pb.h"

namespace dovetail::cli {
namespace {

constexpr size_t kMappingBytesMax = 1 << 20;

uint64_t FileBytes(const std::string& file) {
  struct stat info;
  if (file == "-" || stat(file.c_str(), &info) != 0) return 0;
  return static_cast<uint64_t>(info.st_size);
}

absl::StatusOr<v1::ChangeMapping> ReadMapping(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadAll(path, kMappingBytesMax));
  v1::ChangeMapping mapping;
  const absl::Status status = ParseTextFormat(text, &mapping);
  if (!status.ok()) return WithContext(path, status);
  return mapping;
}

std::string CountsObject(const std::map<std::string_view, uint64_t>& counts) {
  std::string json = "{";
  for (const auto& [name, count] : counts) {
    absl::StrAppend(&json, json.size() > 1 ? "," : "", JsonQuote(name), ":",
                    count);
  }
  return json + "}";
}

std::string CountsWords(const std::map<std::string_view, uint64_t>& counts) {
  std::string words;
  for (const auto& [name, count] : counts) {
    absl::StrAppend(&words, words.empty() ? "" : ", ", ToAbsl(name), " ",
                    CountText(count));
  }
  return words;
}

}  // namespace

absl::Status CheckChangeInput(const ChangeInputOptions& options) {
  if (options.from.empty()) {
    if (options.mapping.empty() && options.delimiter.empty()) return {};
    return UsageError("--mapping and --delimiter go with --from FORMAT");
  }
  RETURN_IF_ERROR(ParseChangeFormat(options.from).status());
  if (options.mapping.empty()) {
    return UsageError(
        absl::StrCat("--from ", options.from,
                     " needs --mapping FILE: which fields the columns are; "
                     "examples/changes has some"));
  }
  if (!options.delimiter.empty() && options.from != "csv") {
    return UsageError("--delimiter goes with --from csv");
  }
  return DelimiterOf(options.delimiter, "").status();
}

absl::StatusOr<std::unique_ptr<ChangeInput>> ChangeInput::Open(
    Engine* engine, const std::string& file,
    const ChangeInputOptions& options) {
  ASSIGN_OR_RETURN(const ChangeFormat format, ParseChangeFormat(options.from));
  ChangeReaderOptions reader;
  ASSIGN_OR_RETURN(reader.delimiter, DelimiterOf(options.delimiter, file));
  ASSIGN_OR_RETURN(const v1::ChangeMapping mapping,
                   ReadMapping(options.mapping));
  absl::StatusOr<ChangeMapper> mapper = ChangeMapper::Compile(engine, mapping);
  if (!mapper.ok()) return WithContext(options.mapping, mapper.status());
  std::unique_ptr<ChangeInput> input(new ChangeInput(*std::move(mapper)));
  ASSIGN_OR_RETURN(ByteSource::ReadFunction read, OpenInputFunction(file));
  absl::StatusOr<std::unique_ptr<ChangeSource>> source = ChangeSource::Open(
      format, std::move(read), &input->mapper_, reader, FileBytes(file));
  if (!source.ok()) return WithContext(file, source.status());
  input->source_ = *std::move(source);
  return input;
}

std::string ChangeInput::CountsJson() const {
  const ChangeCounts& counts = source_->counts();
  return absl::StrCat("\"changes\":", CountsObject(counts.effects),
                      ",\"skipped\":", CountsObject(counts.skipped));
}

void ChangeInput::NoteCounts(const Console& console) const {
  const ChangeCounts& counts = source_->counts();
  const std::string effects = CountsWords(counts.effects);
  const std::string skipped = CountsWords(counts.skipped);
  Note(console, absl::StrCat("changes: ", effects.empty() ? "none" : effects,
                             skipped.empty() ? "" : "; skipped: ", skipped));
}

}  // namespace dovetail::cli

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/region_spec.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/database.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "dovetail/regions.h"

namespace dovetail::cli {
namespace {

constexpr size_t kRegionsFileBytesMax = 64 << 20;

// A number that is wrong in a command line is the user's, not the engine's.
absl::StatusOr<std::vector<std::string>> Usage(
    absl::StatusOr<std::vector<std::string>> keys) {
  if (absl::IsInvalidArgument(keys.status())) {
    return UsageError(ToStd(keys.status().message()));
  }
  return keys;
}

absl::StatusOr<std::vector<std::string>> KeysOfFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadAll(path, kRegionsFileBytesMax));
  std::vector<std::string> keys;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line.empty()) continue;
    ASSIGN_OR_RETURN(std::string key, Unescape(ToStd(line)));
    keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace

absl::StatusOr<RegionSpec> ParseRegionSpec(std::string_view text) {
  const absl::Status wrong = UsageError(absl::StrCat(
      "regions are ", kRegionSpecHelp, ": given=", ToAbsl(Quote(text))));
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return wrong;
  const std::string_view kind = text.substr(0, colon);
  const std::string_view rest = text.substr(colon + 1);
  RegionSpec spec;
  if (kind == "file") {
    spec.kind = RegionSpec::kFile;
    spec.path = std::string(rest);
    if (rest.empty()) return wrong;
    return spec;
  }
  std::vector<std::string> numbers = absl::StrSplit(ToAbsl(rest), ':');
  const bool decimal = kind == "decimal";
  if (numbers.size() != (decimal ? 2 : 1) ||
      !absl::SimpleAtoi(numbers[0], &spec.regions) ||
      (decimal && !absl::SimpleAtoi(numbers[1], &spec.digits))) {
    return wrong;
  }
  if (kind == "uniform") {
    spec.kind = RegionSpec::kUniform;
  } else if (kind == "hex") {
    spec.kind = RegionSpec::kHex;
  } else if (decimal) {
    spec.kind = RegionSpec::kDecimal;
  } else if (kind != "sample") {
    return wrong;
  }
  return spec;
}

absl::StatusOr<std::vector<std::string>> SplitKeys(const RegionSpec& spec) {
  switch (spec.kind) {
    case RegionSpec::kHex:
      return Usage(HexSplits(spec.regions));
    case RegionSpec::kDecimal:
      return Usage(DecimalSplits(spec.regions, spec.digits));
    case RegionSpec::kFile:
      return KeysOfFile(spec.path);
    default:
      return Usage(UniformSplits(spec.regions));
  }
}

std::string KeyBytesText(std::string_view key) {
  std::string text;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\') {
      text += "\\\\";
    } else if (byte > 0x20 && byte < 0x7F) {
      text += c;
    } else {
      absl::StrAppendFormat(&text, "\\x%02x", byte);
    }
  }
  return text;
}

std::string TextWithKeys(const TextTable& table, const Console& console,
                         const std::vector<std::string>& numbers) {
  std::string text = table.Text(console, numbers);
  if (console.format != OutputFormat::kTsv) return text;
  return absl::StrReplaceAll(text, {{"\\\\", "\\"}});
}

}  // namespace dovetail::cli

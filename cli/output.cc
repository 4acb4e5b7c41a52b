// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/field_text.h"

namespace dovetail::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

bool WantsColor(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(fd) != 0 && (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::strcmp(term, "dumb") != 0);
}

struct Glyph {
  uint32_t code;
  size_t bytes;
};

// The character at the front of valid UTF-8; of other bytes, the first.
Glyph FrontGlyph(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t bytes = first < 0xc0   ? 1
                       : first < 0xe0 ? 2
                       : first < 0xf0 ? 3
                                      : 4;
  if (bytes == 1 || text.size() < bytes) return {first, 1};
  uint32_t code = first & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  }
  return {code, bytes};
}

// Columns on a terminal: none for combining marks, two for the scripts of
// East Asia and for most pictures.
size_t GlyphWidth(uint32_t code) {
  if (code >= 0x300 && code <= 0x36f) return 0;
  if (code == 0x200b || code == 0x200d || (code >= 0xfe00 && code <= 0xfe0f)) {
    return 0;
  }
  const bool wide = (code >= 0x1100 && code <= 0x115f) ||
                    (code >= 0x2e80 && code <= 0xa4cf) ||
                    (code >= 0xac00 && code <= 0xd7a3) ||
                    (code >= 0xf900 && code <= 0xfaff) ||
                    (code >= 0xfe30 && code <= 0xfe6f) ||
                    (code >= 0xff00 && code <= 0xff60) ||
                    (code >= 0xffe0 && code <= 0xffe6) ||
                    (code >= 0x1f300 && code <= 0x1faff) ||
                    (code >= 0x20000 && code <= 0x3fffd);
  return wide ? 2 : 1;
}

size_t Width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const Glyph glyph = FrontGlyph(text);
    width += GlyphWidth(glyph.code);
    text.remove_prefix(glyph.bytes);
  }
  return width;
}

// Nothing that a record holds may steer the terminal or break the line.
std::string Printable(std::string_view text, bool tsv) {
  const bool utf8 = IsUtf8(text);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool c1 = c == 0xc2 && i + 1 < text.size() &&
                    static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (tsv && c == '\t') {
      out += "\\t";
    } else if (tsv && c == '\n') {
      out += "\\n";
    } else if (tsv && c == '\\') {
      out += "\\\\";
    } else if (c < 0x20 || c == 0x7f || (c >= 0x80 && !utf8)) {
      absl::StrAppendFormat(&out, "\\x%02x", c);
    } else if (c1) {
      absl::StrAppendFormat(&out, "\\u%04x",
                            static_cast<unsigned char>(text[++i]));
    } else {
      out += static_cast<char>(c);
    }
  }
  return out;
}

bool IsNumber(const std::string& text) {
  double number = 0;
  return !text.empty() && text.find_first_of("0123456789") != text.npos &&
         absl::SimpleAtod(text, &number);
}

void AppendRule(const std::vector<size_t>& widths, std::string_view left,
                std::string_view middle, std::string_view right,
                std::string* out) {
  for (size_t i = 0; i < widths.size(); ++i) {
    absl::StrAppend(out, ToAbsl(i == 0 ? left : middle));
    for (size_t k = 0; k < widths[i] + 2; ++k) *out += "─";
  }
  absl::StrAppend(out, ToAbsl(right), "\n");
}

void AppendCells(const std::vector<std::string>& cells,
                 const std::vector<size_t>& widths,
                 const std::vector<bool>& right, bool bold, std::string* out) {
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string pad(widths[i] - Width(cells[i]), ' ');
    absl::StrAppend(out, "│ ", right[i] ? pad : "", bold ? "\x1b[1m" : "",
                    cells[i], bold ? "\x1b[0m" : "", right[i] ? "" : pad, " ");
  }
  *out += "│\n";
}

}  // namespace

Console Console::Detect(const OutputOptions& options) {
  Console console;
  console.format = options.json || options.format == "json"
                       ? OutputFormat::kJson
                   : options.format == "box" ? OutputFormat::kBox
                   : options.format == "tsv" ? OutputFormat::kTsv
                   : isatty(STDOUT_FILENO)   ? OutputFormat::kBox
                                             : OutputFormat::kTsv;
  console.quiet = options.quiet;
  console.color_out = WantsColor(STDOUT_FILENO);
  console.color_err = WantsColor(STDERR_FILENO);
  console.progress_on_terminal = isatty(STDERR_FILENO) != 0;
  console.progress =
      !options.quiet && (options.progress || console.progress_on_terminal);
  return console;
}

void Note(const Console& console, std::string_view text) {
  if (console.quiet) return;
  std::fflush(stdout);  // On a terminal both streams stay in order.
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fputc('\n', stderr);
}

void PrintError(const Console& console, const absl::Status& status) {
  const std::string text = absl::StrCat(
      console.color_err ? "\x1b[1;31mdovetail:\x1b[0m " : "dovetail: ",
      status.message(), "\n");
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void Print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

absl::Status FlushOutput() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  return absl::UnknownError(
      absl::StrCat("standard output did not take all of the data: error=\"",
                   std::strerror(errno), "\""));
}

TextTable::TextTable(std::vector<std::string> header)
    : header_(std::move(header)) {}

void TextTable::Add(std::vector<std::string> row) {
  rows_.push_back(std::move(row));
}

void TextTable::DropIfBlank(size_t column) {
  for (const std::vector<std::string>& row : rows_) {
    if (!row[column].empty() && row[column] != "0") return;
  }
  Drop(column);
}

void TextTable::Drop(size_t column) {
  const auto at = static_cast<std::ptrdiff_t>(column);
  header_.erase(header_.begin() + at);
  for (std::vector<std::string>& row : rows_) row.erase(row.begin() + at);
}

std::string TextTable::Box(bool color) const {
  std::vector<std::vector<std::string>> cells = rows_;
  std::vector<size_t> widths;
  std::vector<bool> right(header_.size(), !rows_.empty());
  for (const std::string& name : header_) widths.push_back(Width(name));
  for (std::vector<std::string>& row : cells) {
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = Printable(row[i], /*tsv=*/false);
      widths[i] = std::max(widths[i], Width(row[i]));
      if (!row[i].empty() && !IsNumber(row[i])) right[i] = false;
    }
  }
  std::string out;
  AppendRule(widths, "┌", "┬", "┐", &out);
  AppendCells(header_, widths, right, color, &out);
  AppendRule(widths, "├", "┼", "┤", &out);
  for (const auto& row : cells) AppendCells(row, widths, right, false, &out);
  AppendRule(widths, "└", "┴", "┘", &out);
  return out;
}

std::string TextTable::Tsv(bool header) const {
  std::string out;
  const auto add = [&out](const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) {
      absl::StrAppend(&out, i == 0 ? "" : "\t",
                      Printable(cells[i], /*tsv=*/true));
    }
    out += '\n';
  };
  if (header) add(header_);
  for (const std::vector<std::string>& row : rows_) add(row);
  return out;
}

std::string TextTable::Json(const std::vector<std::string>& numbers) const {
  std::string out;
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      const bool number = std::find(numbers.begin(), numbers.end(),
                                    header_[i]) != numbers.end();
      absl::StrAppend(&out, i == 0 ? "{" : ",", JsonQuote(header_[i]), ":",
                      !number          ? JsonQuote(row[i])
                      : row[i].empty() ? "null"
                                       : row[i]);
    }
    out += "}\n";
  }
  return out;
}

std::string TextTable::Text(const Console& console,
                            const std::vector<std::string>& numbers) const {
  switch (console.format) {
    case OutputFormat::kBox:
      return Box(console.color_out);
    case OutputFormat::kTsv:
      return Tsv();
    case OutputFormat::kJson:
      return Json(numbers);
  }
  return "";
}

std::string JsonQuote(std::string_view text) {
  const bool utf8 = IsUtf8(text);
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (u < 0x20 || u == 0x7f) {
      absl::StrAppendFormat(&out, "\\u%04x", u);
    } else if (u >= 0x80 && !utf8) {
      out += "\\ufffd";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

absl::StatusOr<TextTable> RowsTable(const DynamicTable& table,
                                    const std::vector<Row>& rows, bool box) {
  const Descriptor* type = table.record_type();
  std::vector<std::string> header;
  for (int i = 0; i < type->field_count(); ++i) {
    header.push_back(type->field(i)->name());
  }
  TextTable text(std::move(header));
  for (const Row& row : rows) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Message> record, table.Parse(row));
    std::vector<std::string> cells;
    for (int i = 0; i < type->field_count(); ++i) {
      cells.push_back(FieldText(*record, type->field(i)));
    }
    text.Add(std::move(cells));
  }
  // A terminal is narrow: fields that no row has set are left out there.
  for (int i = type->field_count() - 1; box && !rows.empty() && i >= 0; --i) {
    const auto kind = type->field(i)->cpp_type();
    if (kind != FieldDescriptor::CPPTYPE_ENUM &&
        kind != FieldDescriptor::CPPTYPE_BOOL) {
      text.DropIfBlank(static_cast<size_t>(i));
    }
  }
  return text;
}

absl::StatusOr<std::string> RowsJson(const DynamicTable& table,
                                     const std::vector<Row>& rows) {
  std::string out;
  for (const Row& row : rows) {
    ASSIGN_OR_RETURN(const std::string json, table.ToJson(row));
    absl::StrAppend(&out, json, "\n");
  }
  return out;
}

std::string CountText(uint64_t count) {
  std::string digits = absl::StrCat(count);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string BytesText(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string DurationText(int64_t micros) {
  if (micros >= 1'000'000) {
    return absl::StrFormat("%.2f s", static_cast<double>(micros) / 1e6);
  }
  return absl::StrFormat("%.2f ms", static_cast<double>(micros) / 1e3);
}

}  // namespace dovetail::cli

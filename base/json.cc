// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/json_lines.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail::cli {
namespace {

constexpr int kDepthMax = 100;
constexpr size_t kCutMax = 64 << 10;

bool IsDigit(int c) { return c >= '0' && c <= '9'; }

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xc0 | code >> 6);
    *out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xe0 | code >> 12);
    *out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    *out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    *out += static_cast<char>(0xf0 | code >> 18);
    *out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    *out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    *out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// One pass over one value; `at()` is where it stopped.
class Scanner {
 public:
  explicit Scanner(std::string_view json) : json_(json) {}

  size_t at() const { return at_; }

  absl::StatusOr<std::vector<JsonMember>> Object() {
    std::vector<JsonMember> members;
    SkipSpace();
    if (Peek() != '{') return Error("a line must hold one JSON object");
    absl::flat_hash_set<std::string> keys;
    RETURN_IF_ERROR(EachMember(0, [&](JsonMember member) -> absl::Status {
      if (!keys.insert(member.key).second) {
        at_ = member.key_at;
        return Error("the key is there twice");
      }
      members.push_back(std::move(member));
      return absl::OkStatus();
    }));
    SkipSpace();
    if (Peek() >= 0) {
      return Error("text behind the object; one object per line");
    }
    return members;
  }

 private:
  int Peek() const {
    return at_ < json_.size() ? static_cast<unsigned char>(json_[at_]) : -1;
  }
  void SkipSpace() {
    while (Peek() == ' ' || Peek() == '\t' || Peek() == '\r') ++at_;
  }
  absl::Status Error(std::string_view cause) const {
    return absl::InvalidArgumentError(
        absl::StrCat("not JSON: ", ToAbsl(cause)));
  }

  // From the brace. Calls `sink` with each member.
  template <typename Sink>
  absl::Status EachMember(int depth, Sink sink) {
    ++at_;
    SkipSpace();
    if (Peek() == '}') {
      ++at_;
      return absl::OkStatus();
    }
    for (;;) {
      SkipSpace();
      JsonMember member;
      member.key_at = at_;
      if (Peek() != '"') return Error("a key in quotes is missing");
      RETURN_IF_ERROR(String(&member.key));
      SkipSpace();
      if (Peek() != ':') return Error("a colon is missing behind the key");
      ++at_;
      SkipSpace();
      member.value_at = at_;
      RETURN_IF_ERROR(Value(depth, &member));
      RETURN_IF_ERROR(sink(std::move(member)));
      SkipSpace();
      if (Peek() == '}') break;
      if (Peek() != ',') return Error("a comma or brace is missing");
      ++at_;
    }
    ++at_;
    return absl::OkStatus();
  }

  absl::Status Array(int depth) {
    ++at_;
    SkipSpace();
    if (Peek() == ']') {
      ++at_;
      return absl::OkStatus();
    }
    for (;;) {
      SkipSpace();
      JsonMember element;
      RETURN_IF_ERROR(Value(depth, &element));
      SkipSpace();
      if (Peek() == ']') break;
      if (Peek() != ',') return Error("a comma or bracket is missing");
      ++at_;
    }
    ++at_;
    return absl::OkStatus();
  }

  absl::Status Value(int depth, JsonMember* member) {
    const int c = Peek();
    if (c == '"') {
      member->kind = JsonMember::Kind::kString;
      return String(&member->text);
    }
    if (c == '{' || c == '[') {
      if (depth == kDepthMax) return Error("nested too deeply");
      const size_t begin = at_;
      RETURN_IF_ERROR(c == '[' ? Array(depth + 1)
                               : EachMember(depth + 1, [](JsonMember) {
                                   return absl::Status();
                                 }));
      member->kind = JsonMember::Kind::kNested;
      member->text = std::string(json_.substr(begin, at_ - begin));
      return absl::OkStatus();
    }
    if (c == '-' || IsDigit(c)) {
      member->kind = JsonMember::Kind::kNumber;
      return Number(&member->text);
    }
    for (const std::string_view word : {"true", "false", "null"}) {
      if (json_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      member->kind =
          word == "null" ? JsonMember::Kind::kNull : JsonMember::Kind::kBool;
      member->text = std::string(word);
      return absl::OkStatus();
    }
    return Error(c < 0 ? "the line ends inside the object"
                       : "a value is missing");
  }

  absl::Status Number(std::string* text) {
    const size_t begin = at_;
    if (Peek() == '-') ++at_;
    if (Peek() == '0' && at_ + 1 < json_.size() && IsDigit(json_[at_ + 1])) {
      return Error("a number with a leading zero");
    }
    RETURN_IF_ERROR(Digits());
    if (Peek() == '.') {
      ++at_;
      RETURN_IF_ERROR(Digits());
    }
    if (Peek() == 'e' || Peek() == 'E') {
      ++at_;
      if (Peek() == '+' || Peek() == '-') ++at_;
      RETURN_IF_ERROR(Digits());
    }
    *text = std::string(json_.substr(begin, at_ - begin));
    return absl::OkStatus();
  }

  absl::Status Digits() {
    if (!IsDigit(Peek())) return Error("a digit is missing");
    while (IsDigit(Peek())) ++at_;
    return absl::OkStatus();
  }

  // From the opening quote to behind the closing one.
  absl::Status String(std::string* out) {
    ++at_;
    for (;;) {
      const int c = Peek();
      if (c < 0) return Error("the line ends inside a string");
      if (c < 0x20) return Error("a control character inside a string");
      ++at_;
      if (c == '"') return absl::OkStatus();
      if (c == '\\') {
        RETURN_IF_ERROR(Escape(out));
      } else {
        *out += static_cast<char>(c);
      }
    }
  }

  // Behind a backslash.
  absl::Status Escape(std::string* out) {
    static constexpr std::string_view kNames = "\"\\/bfnrt";
    static constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    const int c = Peek();
    if (c == 'u') return UnicodeEscape(out);
    const size_t index =
        c < 0 ? std::string_view::npos : kNames.find(static_cast<char>(c));
    if (index == std::string_view::npos) return Error("an unknown escape");
    ++at_;
    *out += kValues[index];
    return absl::OkStatus();
  }

  absl::Status UnicodeEscape(std::string* out) {
    ASSIGN_OR_RETURN(uint32_t code, FourHex());
    if (code >= 0xdc00 && code < 0xe000) return Error("half a surrogate pair");
    if (code >= 0xd800 && code < 0xdc00) {
      if (json_.substr(at_, 2) != "\\u") return Error("half a surrogate pair");
      ++at_;
      ASSIGN_OR_RETURN(const uint32_t low, FourHex());
      if (low < 0xdc00 || low >= 0xe000) return Error("half a surrogate pair");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    AppendUtf8(code, out);
    return absl::OkStatus();
  }

  // From the 'u'.
  absl::StatusOr<uint32_t> FourHex() {
    ++at_;
    uint32_t code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const int c = Peek();
      const int lower = c | 0x20;
      if (!IsDigit(c) && (c < 0 || lower < 'a' || lower > 'f')) {
        return Error("four hexadecimal digits are missing");
      }
      code = code * 16 + (IsDigit(c) ? c - '0' : lower - 'a' + 10);
    }
    return code;
  }

  std::string_view json_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<JsonMember>> ScanJsonObject(std::string_view json,
                                                       size_t* error_at) {
  Scanner scanner(json);
  absl::StatusOr<std::vector<JsonMember>> members = scanner.Object();
  if (!members.ok()) *error_at = scanner.at();
  return members;
}

LineReader::LineReader(ByteSource* source, size_t line_bytes_max)
    : source_(source), line_bytes_max_(line_bytes_max) {}

absl::Status LineReader::Start() { return source_->CheckText(); }

absl::Status LineReader::SkipLines(uint64_t lines) {
  while (line_ < lines) {
    absl::StatusOr<bool> line = ReadLine();
    if (!line.ok() && !absl::IsInvalidArgument(line.status())) {
      return line.status();
    }
    if (line.ok() && !*line) break;
  }
  return {};
}

absl::StatusOr<bool> LineReader::Next() {
  for (;;) {
    ASSIGN_OR_RETURN(const bool got, ReadLine());
    if (!got) return false;
    if (text_.find_first_not_of(" \t") != std::string_view::npos) return true;
  }
}

absl::StatusOr<bool> LineReader::ReadLine() {
  source_->Consume(line_bytes_);
  line_bytes_ = 0;
  size_t searched = 0;
  bool too_long = false;
  for (;;) {
    const std::string_view data = source_->data();
    const size_t end = data.find('\n', searched);
    const bool found = end != std::string_view::npos;
    searched = found ? end : data.size();
    if (!too_long && searched > line_bytes_max_) {
      too_long = true;
      cut_text_.assign(data.substr(0, kCutMax));
    }
    if (found) {
      line_bytes_ = end + 1;
      break;
    }
    if (too_long) {  // Nothing of the rest is kept.
      source_->Consume(data.size());
      searched = 0;
    }
    ASSIGN_OR_RETURN(const bool more, source_->More());
    if (more) continue;
    line_bytes_ = searched;
    if (searched == 0 && !too_long) return false;
    break;
  }
  ++line_;
  if (too_long) {
    text_ = cut_text_;
    return absl::InvalidArgumentError(
        absl::StrCat("a line of more than ", line_bytes_max_, " bytes"));
  }
  text_ = source_->data().substr(0, searched);
  if (text_.ends_with('\r')) text_.remove_suffix(1);
  return true;
}

}  // namespace dovetail::cli

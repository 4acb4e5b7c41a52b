// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "base/json.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace dovetail {
namespace {

using Kind = ForeignValue::Kind;

// Above so many keys, a set finds one that is there twice.
constexpr size_t kFewKeys = 16;

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
  Scanner(std::string_view json, const JsonLimits& limits)
      : json_(json), limits_(limits) {}

  size_t at() const { return at_; }

  absl::Status Text(ForeignValue* value) {
    SkipSpace();
    RETURN_IF_ERROR(Value(0, value));
    SkipSpace();
    return absl::OkStatus();
  }

 private:
  int Peek() const {
    return at_ < json_.size() ? static_cast<unsigned char>(json_[at_]) : -1;
  }
  void SkipSpace() {
    while (Peek() == ' ' || Peek() == '\t' || Peek() == '\r' ||
           Peek() == '\n') {
      ++at_;
    }
  }
  absl::Status Error(std::string_view cause) const {
    return absl::InvalidArgumentError(
        absl::StrCat("not JSON: ", ToAbsl(cause)));
  }

  // From the brace.
  absl::Status Object(int depth, ForeignValue* object) {
    ++at_;
    SkipSpace();
    if (Peek() == '}') {
      ++at_;
      return absl::OkStatus();
    }
    for (;;) {
      SkipSpace();
      ForeignValue member;
      member.name_at = at_;
      if (Peek() != '"') return Error("a key in quotes is missing");
      RETURN_IF_ERROR(String(&member.name));
      SkipSpace();
      if (Peek() != ':') return Error("a colon is missing behind the key");
      ++at_;
      SkipSpace();
      RETURN_IF_ERROR(Value(depth, &member));
      object->members.push_back(std::move(member));
      SkipSpace();
      if (Peek() == '}') break;
      if (Peek() != ',') return Error("a comma or brace is missing");
      ++at_;
    }
    ++at_;
    return CheckKeys(*object);
  }

  absl::Status CheckKeys(const ForeignValue& object) {
    absl::flat_hash_set<std::string_view> seen;
    for (auto it = object.members.begin(); it != object.members.end(); ++it) {
      const bool again = object.members.size() > kFewKeys
                             ? !seen.insert(it->name).second
                             : std::any_of(object.members.begin(), it,
                                           [&it](const ForeignValue& earlier) {
                                             return earlier.name == it->name;
                                           });
      if (!again) continue;
      at_ = it->name_at;
      return Error("the key is there twice");
    }
    return absl::OkStatus();
  }

  absl::Status Array(int depth, ForeignValue* array) {
    ++at_;
    SkipSpace();
    if (Peek() == ']') {
      ++at_;
      return absl::OkStatus();
    }
    for (;;) {
      SkipSpace();
      RETURN_IF_ERROR(Value(depth, &array->members.emplace_back()));
      SkipSpace();
      if (Peek() == ']') break;
      if (Peek() != ',') return Error("a comma or bracket is missing");
      ++at_;
    }
    ++at_;
    return absl::OkStatus();
  }

  absl::Status Value(int depth, ForeignValue* value) {
    if (++values_ > limits_.values_max) return Error("too many values");
    value->at = at_;
    const int c = Peek();
    if (c == '"') {
      value->kind = Kind::kString;
      return String(&value->text);
    }
    if (c == '{' || c == '[') {
      if (depth == limits_.depth_max) return Error("nested too deeply");
      value->kind = c == '[' ? Kind::kArray : Kind::kObject;
      return c == '[' ? Array(depth + 1, value) : Object(depth + 1, value);
    }
    if (c == '-' || IsDigit(c)) {
      value->kind = Kind::kNumber;
      return Number(&value->text);
    }
    for (const std::string_view word : {"true", "false", "null"}) {
      if (json_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      value->kind = word == "null" ? Kind::kNull : Kind::kBool;
      if (value->kind == Kind::kBool) value->text = std::string(word);
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
  const JsonLimits& limits_;
  size_t at_ = 0;
  size_t values_ = 0;
};

void AppendString(std::string_view text, std::string* out) {
  *out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      *out += '\\';
      *out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(out, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      *out += c;
    }
  }
  *out += '"';
}

// Recursion ends where the parser's does.
void AppendJson(const ForeignValue& value, std::string* out) {
  switch (value.kind) {
    case Kind::kNull:
      *out += "null";
      return;
    case Kind::kBool:
    case Kind::kNumber:
      *out += value.text;
      return;
    case Kind::kString:
      AppendString(value.text, out);
      return;
    case Kind::kBytes:
      AppendString(absl::Base64Escape(value.text), out);
      return;
    case Kind::kArray:
    case Kind::kObject:
      break;
  }
  const bool object = value.kind == Kind::kObject;
  *out += object ? '{' : '[';
  for (size_t i = 0; i < value.members.size(); ++i) {
    if (i > 0) *out += ',';
    if (object) {
      AppendString(value.members[i].name, out);
      *out += ':';
    }
    AppendJson(value.members[i], out);
  }
  *out += object ? '}' : ']';
}

}  // namespace

absl::StatusOr<ForeignValue> ParseJson(std::string_view text,
                                       const JsonLimits& limits, size_t* at) {
  Scanner scanner(text, limits);
  ForeignValue value;
  absl::Status status = scanner.Text(&value);
  *at = scanner.at();
  if (!status.ok()) return status;
  return value;
}

absl::StatusOr<ForeignValue> ParseJsonObject(std::string_view line,
                                             size_t* at) {
  const size_t begin = line.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || line[begin] != '{') {
    *at = std::min(begin, line.size());
    return absl::InvalidArgumentError(
        "not JSON: a line must hold one JSON object");
  }
  absl::StatusOr<ForeignValue> object = ParseJson(line, {}, at);
  if (object.ok() && *at != line.size()) {
    return absl::InvalidArgumentError(
        "not JSON: text behind the object; one object per line");
  }
  return object;
}

std::string ToJson(const ForeignValue& value) {
  std::string json;
  AppendJson(value, &json);
  return json;
}

}  // namespace dovetail

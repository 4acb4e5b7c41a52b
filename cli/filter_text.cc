// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/filter_text.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/exit_code.h"

namespace dovetail::cli {
namespace {

// As deep as the engine takes a filter.
constexpr int kDepthMax = kFilterDepthMax;

struct Token {
  enum class Kind { kWord, kQuoted, kSymbol, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;
  size_t at = 0;

  bool IsWord(std::string_view word) const {
    return kind == Kind::kWord && absl::EqualsIgnoreCase(text, ToAbsl(word));
  }
  bool IsSymbol(std::string_view symbol) const {
    return kind == Kind::kSymbol && text == symbol;
  }
};

bool IsWordByte(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         static_cast<unsigned char>(c) >= 0x80 ||
         std::string_view("_.:+-/@\\").find(c) != std::string_view::npos;
}

class Parser {
 public:
  Parser(std::string_view text, const WordParser& parse_word)
      : text_(text), parse_word_(parse_word) {}

  absl::StatusOr<Filter> Run() {
    RETURN_IF_ERROR(Advance());
    ASSIGN_OR_RETURN(Filter filter, Any(0));
    if (token_.kind == Token::Kind::kEnd) return filter;
    return Expected("`and`, `or` or the end");
  }

 private:
  absl::Status Error(std::string_view what, size_t at) const {
    return UsageError(
        absl::StrCat("--where: ", ToAbsl(what), ": at=", at + 1,
                     " near=", ToAbsl(Quote(text_.substr(at, 20)))));
  }
  absl::Status Expected(std::string_view what) const {
    return Error(absl::StrCat("expected ", ToAbsl(what)), token_.at);
  }

  absl::Status Advance() {
    while (at_ < text_.size() &&
           absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) {
      ++at_;
    }
    token_ = Token{Token::Kind::kEnd, "", at_};
    if (at_ == text_.size()) return absl::OkStatus();
    const char c = text_[at_];
    if (c == '"' || c == '\'') return Quoted(c);
    if (IsWordByte(c)) {
      const size_t begin = at_;
      while (at_ < text_.size() && IsWordByte(text_[at_])) ++at_;
      token_.kind = Token::Kind::kWord;
      token_.text = std::string(text_.substr(begin, at_ - begin));
      return absl::OkStatus();
    }
    for (const std::string_view symbol :
         {"<=", ">=", "!=", "<>", "=", "<", ">", "(", ")", ","}) {
      if (!text_.substr(at_).starts_with(symbol)) continue;
      at_ += symbol.size();
      token_.kind = Token::Kind::kSymbol;
      token_.text = std::string(symbol);
      return absl::OkStatus();
    }
    return Error("no such sign here", at_);
  }

  // A backslash keeps its meaning of elsewhere on the command line, but for
  // the quote itself.
  absl::Status Quoted(char quote) {
    token_.kind = Token::Kind::kQuoted;
    for (size_t i = at_ + 1; i < text_.size(); ++i) {
      if (text_[i] == quote) {
        at_ = i + 1;
        return absl::OkStatus();
      }
      if (text_[i] == '\\' && i + 1 < text_.size()) {
        if (text_[i + 1] != quote) token_.text.push_back('\\');
        ++i;
      }
      token_.text.push_back(text_[i]);
    }
    return Error("a quote is not closed", at_);
  }

  // Takes the word if it stands here.
  absl::StatusOr<bool> TakeWord(std::string_view word) {
    if (!token_.IsWord(word)) return false;
    RETURN_IF_ERROR(Advance());
    return true;
  }
  absl::Status TakeSymbol(std::string_view symbol) {
    if (!token_.IsSymbol(symbol)) {
      return Expected(absl::StrCat("`", ToAbsl(symbol), "`"));
    }
    return Advance();
  }

  absl::StatusOr<Filter> Any(int depth) {
    if (depth > kDepthMax) return Error("nested too deep", token_.at);
    ASSIGN_OR_RETURN(Filter first, All(depth));
    std::vector<Filter> any = {std::move(first)};
    while (token_.IsWord("or")) {
      RETURN_IF_ERROR(Advance());
      ASSIGN_OR_RETURN(Filter next, All(depth));
      any.push_back(std::move(next));
    }
    return any.size() == 1 ? std::move(any[0]) : Filter::Or(std::move(any));
  }

  absl::StatusOr<Filter> All(int depth) {
    ASSIGN_OR_RETURN(Filter first, Unary(depth));
    std::vector<Filter> all = {std::move(first)};
    while (token_.IsWord("and")) {
      RETURN_IF_ERROR(Advance());
      ASSIGN_OR_RETURN(Filter next, Unary(depth));
      all.push_back(std::move(next));
    }
    return all.size() == 1 ? std::move(all[0]) : Filter::And(std::move(all));
  }

  absl::StatusOr<Filter> Unary(int depth) {
    if (depth > kDepthMax) return Error("nested too deep", token_.at);
    ASSIGN_OR_RETURN(const bool negated, TakeWord("not"));
    if (negated) {
      ASSIGN_OR_RETURN(Filter filter, Unary(depth + 1));
      return Filter::Not(std::move(filter));
    }
    if (!token_.IsSymbol("(")) return Test();
    RETURN_IF_ERROR(Advance());
    ASSIGN_OR_RETURN(Filter filter, Any(depth + 1));
    RETURN_IF_ERROR(TakeSymbol(")"));
    return filter;
  }

  absl::StatusOr<Filter> Test() {
    if (token_.kind != Token::Kind::kWord) return Expected("a field");
    const std::string field = token_.text;
    RETURN_IF_ERROR(Advance());
    if (token_.kind == Token::Kind::kSymbol) return Comparison(field);
    if (token_.IsWord("is")) return NullTest(field);
    ASSIGN_OR_RETURN(const bool negated, TakeWord("not"));
    ASSIGN_OR_RETURN(Filter filter, WordTest(field));
    return negated ? Filter::Not(std::move(filter)) : std::move(filter);
  }

  absl::StatusOr<Filter> Comparison(const std::string& field) {
    const std::string symbol = token_.text;
    if (symbol == "(" || symbol == ")" || symbol == ",") {
      return Expected("a comparison behind the field");
    }
    RETURN_IF_ERROR(Advance());
    ASSIGN_OR_RETURN(const Value value, TakeValue(field));
    if (symbol == "=") return Filter::Equal(field, value);
    if (symbol == "<") return Filter::Below(field, value);
    if (symbol == "<=") return Filter::AtMost(field, value);
    if (symbol == ">") return Filter::Above(field, value);
    if (symbol == ">=") return Filter::AtLeast(field, value);
    return Filter::Not(Filter::Equal(field, value));
  }

  absl::StatusOr<Filter> NullTest(const std::string& field) {
    RETURN_IF_ERROR(Advance());
    ASSIGN_OR_RETURN(const bool negated, TakeWord("not"));
    ASSIGN_OR_RETURN(const bool null, TakeWord("null"));
    if (!null) return Expected("`null` or `not null`");
    Filter filter = Filter::IsNull(field);
    return negated ? Filter::Not(std::move(filter)) : std::move(filter);
  }

  absl::StatusOr<Filter> WordTest(const std::string& field) {
    ASSIGN_OR_RETURN(const bool in, TakeWord("in"));
    if (in) return InList(field);
    ASSIGN_OR_RETURN(const bool between, TakeWord("between"));
    if (between) {
      ASSIGN_OR_RETURN(const Value min, TakeValue(field));
      ASSIGN_OR_RETURN(const bool both, TakeWord("and"));
      if (!both) return Expected("`and` and the upper bound");
      ASSIGN_OR_RETURN(const Value max, TakeValue(field));
      return Filter::InRange(field, {.min = min, .max = max});
    }
    ASSIGN_OR_RETURN(const bool prefix, TakeWord("prefix"));
    if (prefix) {
      ASSIGN_OR_RETURN(const Value value, TakeValue(field));
      if (value.kind() != Value::Kind::kString) {
        return Error("only texts have prefixes", token_.at);
      }
      return Filter::Prefix(field, value.as_string());
    }
    return Expected("= != < <= > >= in between prefix or is");
  }

  absl::StatusOr<Filter> InList(const std::string& field) {
    RETURN_IF_ERROR(TakeSymbol("("));
    std::vector<Value> values;
    while (true) {
      ASSIGN_OR_RETURN(Value value, TakeValue(field));
      values.push_back(std::move(value));
      if (!token_.IsSymbol(",")) break;
      RETURN_IF_ERROR(Advance());
    }
    RETURN_IF_ERROR(TakeSymbol(")"));
    return Filter::In(field, values);
  }

  absl::StatusOr<Value> TakeValue(const std::string& field) {
    if (token_.IsWord("null") || token_.text == "\\N") {
      return Expected("a value; for null write `is null`");
    }
    if (token_.kind != Token::Kind::kWord &&
        token_.kind != Token::Kind::kQuoted) {
      return Expected("a value");
    }
    ASSIGN_OR_RETURN(Value value, parse_word_(field, token_.text));
    RETURN_IF_ERROR(Advance());
    return value;
  }

  std::string_view text_;
  const WordParser& parse_word_;
  size_t at_ = 0;
  Token token_;
};

}  // namespace

absl::StatusOr<Filter> ParseFilter(std::string_view text,
                                   const WordParser& parse_word) {
  return Parser(text, parse_word).Run();
}

absl::Status ParseOrder(std::string_view text, Query* query) {
  for (absl::string_view item : absl::StrSplit(ToAbsl(text), ',')) {
    const std::vector<std::string> words =
        absl::StrSplit(item, absl::ByAnyChar(" \t"), absl::SkipWhitespace());
    Query::Direction direction = Query::kAscending;
    Query::Nulls nulls = Query::kNullsDefault;
    size_t at = 1;
    const auto next_is = [&](size_t i, std::string_view word) {
      return i < words.size() && absl::EqualsIgnoreCase(words[i], ToAbsl(word));
    };
    if (next_is(at, "desc") || next_is(at, "asc")) {
      direction = next_is(at, "desc") ? Query::kDescending : Query::kAscending;
      ++at;
    }
    if (next_is(at, "nulls") &&
        (next_is(at + 1, "first") || next_is(at + 1, "last"))) {
      nulls = next_is(at + 1, "first") ? Query::kNullsFirst : Query::kNullsLast;
      at += 2;
    }
    if (words.empty() || at != words.size()) {
      return UsageError(absl::StrCat(
          "--order-by is FIELD [asc|desc] [nulls first|last], several with "
          "commas between them: given=",
          ToAbsl(Quote(ToStd(item)))));
    }
    query->OrderBy(words[0], direction, nulls);
  }
  return absl::OkStatus();
}

}  // namespace dovetail::cli

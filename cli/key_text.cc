// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/key_text.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/exit_code.h"

namespace dovetail::cli {
namespace {

constexpr std::string_view kForms =
    "reverse hash bucket salt sub_bucket decimal time32 enum varint";

// What stands between the parentheses, at its semicolons.
std::vector<std::string> SplitArguments(std::string_view text) {
  std::vector<std::string> all(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      all.back() += text[i];
      all.back() += text[++i];
    } else if (text[i] == ';') {
      all.emplace_back();
    } else {
      all.back() += text[i];
    }
  }
  for (std::string& one : all) absl::StripAsciiWhitespace(&one);
  return all;
}

// Listed values at their bars, without backslashes.
std::vector<std::string> SplitListed(std::string_view text) {
  std::vector<std::string> all(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '|') {
      all.emplace_back();
      continue;
    }
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    all.back() += text[i];
  }
  return all;
}

// One part, from its form and arguments.
class PartParser {
 public:
  PartParser(std::string_view text, std::string_view form,
             std::string_view arguments)
      : text_(text), form_(form), arguments_(SplitArguments(arguments)) {}

  absl::Status Run(v1::KeyPart* part) {
    if (form_ == "salt") {
      return Number(
          "COUNT", [part](uint32_t n) { part->mutable_salt()->set_count(n); },
          0);
    }
    for (absl::string_view field : absl::StrSplit(
             arguments_[0], absl::ByAnyChar(", "), absl::SkipEmpty())) {
      part->add_fields(std::string(field));
    }
    at_ = 1;
    RETURN_IF_ERROR(Transform(part));
    if (at_ >= arguments_.size()) return {};
    return Wrong(absl::StrCat("takes no ", ToAbsl(Quote(arguments_[at_]))));
  }

 private:
  absl::Status Wrong(std::string_view what) const {
    return UsageError(
        absl::StrCat("key part ", ToAbsl(Quote(text_)), ": ", ToAbsl(what)));
  }

  absl::Status Transform(v1::KeyPart* part) {
    if (form_ == "reverse") {
      part->mutable_reverse();
    } else if (form_ == "varint") {
      part->mutable_varint();
    } else if (form_ == "hash") {
      part->mutable_hash()->set_algorithm(Algorithm());
      return Number(
          "BYTES", [part](uint32_t n) { part->mutable_hash()->set_bytes(n); },
          4);
    } else if (form_ == "bucket") {
      part->mutable_bucket()->set_algorithm(Algorithm());
      return Number(
          "COUNT", [part](uint32_t n) { part->mutable_bucket()->set_count(n); },
          0);
    } else if (form_ == "decimal") {
      return Number(
          "DIGITS",
          [part](uint32_t n) { part->mutable_decimal()->set_digits(n); }, 0);
    } else if (form_ == "enum") {
      return Number(
          "BYTES",
          [part](uint32_t n) { part->mutable_enum_bytes()->set_bytes(n); }, 1);
    } else if (form_ == "time32") {
      return Unit(part->mutable_time32());
    } else if (form_ == "sub_bucket") {
      return SubBucket(part->mutable_sub_bucket());
    } else {
      return Wrong(absl::StrCat("no such form: form=", ToAbsl(Quote(form_)),
                                " forms=\"", ToAbsl(kForms), "\""));
    }
    return {};
  }

  // Takes an argument that is the name of an algorithm; XXH3 without one.
  v1::HashAlgorithm Algorithm() {
    v1::HashAlgorithm algorithm = v1::XXH3;
    if (at_ < arguments_.size() &&
        v1::HashAlgorithm_Parse(absl::AsciiStrToUpper(arguments_[at_]),
                                &algorithm)) {
      ++at_;
    }
    return algorithm;
  }

  // Takes an argument that is a number; `fallback` without one, unless 0.
  template <typename SetNumber>
  absl::Status Number(std::string_view name, SetNumber set, uint32_t fallback) {
    uint32_t number = fallback;
    if (at_ < arguments_.size()) {
      if (!absl::SimpleAtoi(arguments_[at_], &number)) {
        return Wrong(absl::StrCat(ToAbsl(name), " is a number: given=",
                                  ToAbsl(Quote(arguments_[at_]))));
      }
      ++at_;
    } else if (fallback == 0) {
      return Wrong(absl::StrCat(ToAbsl(name), " is missing"));
    }
    set(number);
    return {};
  }

  absl::Status Unit(v1::KeyPart::Time32* time) {
    const std::string unit =
        at_ < arguments_.size() ? arguments_[at_++] : std::string("s");
    if (unit == "s") {
      time->set_unit(v1::KeyPart::Time32::SECONDS);
    } else if (unit == "ms") {
      time->set_unit(v1::KeyPart::Time32::MILLISECONDS);
    } else if (unit == "us") {
      time->set_unit(v1::KeyPart::Time32::MICROSECONDS);
    } else {
      return Wrong(
          absl::StrCat("the unit is s, ms or us: given=", ToAbsl(Quote(unit))));
    }
    return {};
  }

  absl::Status SubBucket(v1::KeyPart::SubBucket* bucket) {
    bucket->set_algorithm(Algorithm());
    RETURN_IF_ERROR(Number(
        "COUNT", [bucket](uint32_t n) { bucket->set_count(n); }, 0));
    if (at_ >= arguments_.size()) return Wrong("the listed values are missing");
    for (std::string& value : SplitListed(arguments_[at_++])) {
      bucket->add_listed(std::move(value));
    }
    return {};
  }

  const std::string_view text_;
  const std::string_view form_;
  const std::vector<std::string> arguments_;
  size_t at_ = 0;
};

// Where the part at the front of `text` ends.
absl::StatusOr<size_t> PartEnd(std::string_view text) {
  bool inside = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (inside && text[i] == '\\') {
      ++i;
    } else if (text[i] == '(') {
      inside = true;
    } else if (text[i] == ')') {
      inside = false;
    } else if (!inside && (text[i] == ' ' || text[i] == ',')) {
      return i;
    }
  }
  if (!inside) return text.size();
  return UsageError(
      absl::StrCat("key part ", ToAbsl(Quote(text)), ": ) is missing"));
}

absl::Status ParsePart(std::string_view text, v1::KeyPart* part) {
  const size_t close = text.rfind(')');
  const size_t open = text.find('(');
  const size_t colon =
      text.find(':', close == std::string_view::npos ? 0 : close);
  const std::string_view main = text.substr(0, colon);
  if (open == std::string_view::npos) {
    part->add_fields(std::string(main));
  } else {
    if (main.empty() || main.back() != ')') {
      return UsageError(
          absl::StrCat("key part ", ToAbsl(Quote(text)), ": words behind )"));
    }
    RETURN_IF_ERROR(PartParser(text, main.substr(0, open),
                               main.substr(open + 1, main.size() - open - 2))
                        .Run(part));
  }
  if (colon == std::string_view::npos) return {};
  for (absl::string_view word :
       absl::StrSplit(ToAbsl(text.substr(colon + 1)), ':')) {
    if (word == "desc") {
      part->set_order(v1::KeyPart::DESC);
    } else if (word == "asc") {
      part->set_order(v1::KeyPart::ASC);
    } else if (word == "nulls_first") {
      part->set_nulls(v1::KeyPart::NULLS_FIRST);
    } else if (word == "nulls_last") {
      part->set_nulls(v1::KeyPart::NULLS_LAST);
    } else {
      return UsageError(
          absl::StrCat("key part ", ToAbsl(Quote(text)),
                       ": no such word: ", ToAbsl(Quote(ToStd(word))),
                       " words=\"desc asc nulls_first nulls_last\""));
    }
  }
  return {};
}

std::string AlgorithmText(v1::HashAlgorithm algorithm) {
  if (algorithm == v1::XXH3) return "";
  return absl::StrCat(";",
                      absl::AsciiStrToLower(v1::HashAlgorithm_Name(algorithm)));
}

std::string ListedText(const v1::KeyPart::SubBucket& bucket) {
  std::string out;
  for (const std::string& value : bucket.listed()) {
    out += out.empty() ? ";" : "|";
    for (const char c : value) {
      if (c == '|' || c == ';' || c == ')' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out;
}

std::string PartText(const v1::KeyPart& part) {
  const std::string fields = absl::StrJoin(part.fields(), ",");
  switch (part.transform_case()) {
    case v1::KeyPart::kReverse:
      return absl::StrCat("reverse(", fields, ")");
    case v1::KeyPart::kHash:
      return absl::StrCat(
          "hash(", fields, AlgorithmText(part.hash().algorithm()),
          part.hash().bytes() == 4 ? ""
                                   : absl::StrCat(";", part.hash().bytes()),
          ")");
    case v1::KeyPart::kBucket:
      return absl::StrCat("bucket(", fields,
                          AlgorithmText(part.bucket().algorithm()), ";",
                          part.bucket().count(), ")");
    case v1::KeyPart::kSalt:
      return absl::StrCat("salt(", part.salt().count(), ")");
    case v1::KeyPart::kSubBucket:
      return absl::StrCat(
          "sub_bucket(", fields, AlgorithmText(part.sub_bucket().algorithm()),
          ";", part.sub_bucket().count(), ListedText(part.sub_bucket()), ")");
    case v1::KeyPart::kDecimal:
      return absl::StrCat("decimal(", fields, ";", part.decimal().digits(),
                          ")");
    case v1::KeyPart::kTime32: {
      const auto unit = part.time32().unit();
      return absl::StrCat("time32(", fields,
                          unit == v1::KeyPart::Time32::MILLISECONDS   ? ";ms"
                          : unit == v1::KeyPart::Time32::MICROSECONDS ? ";us"
                                                                      : "",
                          ")");
    }
    case v1::KeyPart::kEnumBytes: {
      const uint32_t bytes = part.enum_bytes().bytes();
      return absl::StrCat("enum(", fields,
                          bytes == 1 ? "" : absl::StrCat(";", bytes), ")");
    }
    case v1::KeyPart::kVarint:
      return absl::StrCat("varint(", fields, ")");
    case v1::KeyPart::TRANSFORM_NOT_SET:
      break;
  }
  return fields;
}

}  // namespace

absl::StatusOr<KeyParts> ParseKeyText(std::string_view text) {
  KeyParts parts;
  while (!text.empty()) {
    if (text[0] == ' ' || text[0] == ',') {
      text.remove_prefix(1);
      continue;
    }
    ASSIGN_OR_RETURN(const size_t end, PartEnd(text));
    RETURN_IF_ERROR(ParsePart(text.substr(0, end), parts.Add()));
    text.remove_prefix(end);
  }
  if (parts.empty()) {
    return UsageError(
        "the parts of the key are missing, such as 'seller_id ts_ms:desc'");
  }
  return parts;
}

std::string_view KindName(v1::IndexSchema::Kind kind) {
  switch (kind) {
    case v1::IndexSchema::UNIQUE:
      return "unique";
    case v1::IndexSchema::COUNT:
      return "count";
    case v1::IndexSchema::SUM:
      return "sum";
    default:
      return "value";
  }
}

std::string KeyText(const KeyParts& parts) {
  std::string out;
  for (const v1::KeyPart& part : parts) {
    absl::StrAppend(&out, out.empty() ? "" : " ", PartText(part));
    if (part.order() == v1::KeyPart::DESC) out += ":desc";
    if (part.nulls() == v1::KeyPart::NULLS_FIRST) out += ":nulls_first";
    if (part.nulls() == v1::KeyPart::NULLS_LAST) out += ":nulls_last";
  }
  return out;
}

}  // namespace dovetail::cli

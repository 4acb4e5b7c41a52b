// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/help.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/strings.h"
#include "cli/exit_code.h"

namespace dovetail::cli {
namespace {

constexpr size_t kWidth = 79;
constexpr size_t kColumn = 26;  // Where the explanations begin.

// Words in lines of kWidth, each behind `indent` spaces; the first line goes
// on where `out` stands, which is at column `at`.
void Wrap(std::string_view text, size_t indent, size_t at, std::string* out) {
  bool first = true;
  for (absl::string_view word : absl::StrSplit(ToAbsl(text), ' ')) {
    if (!first && at + 1 + word.size() > kWidth) {
      absl::StrAppend(out, "\n", std::string(indent, ' '));
      at = indent;
      first = true;
    }
    absl::StrAppend(out, first ? "" : " ", word);
    at += word.size() + (first ? 0 : 1);
    first = false;
  }
  *out += '\n';
}

void Item(std::string_view name, std::string_view text, std::string* out) {
  absl::StrAppend(out, "  ", ToAbsl(name));
  size_t at = name.size() + 2;
  if (at + 2 > kColumn) {
    absl::StrAppend(out, "\n");
    at = 0;
  }
  out->append(kColumn - at, ' ');
  Wrap(text, kColumn, kColumn, out);
}

void ListVerbs(const VerbList& verbs, std::string_view group,
               std::string_view prefix, std::string* out) {
  for (const Verb& verb : verbs.verbs()) {
    if (verb.hidden || !verb.name.starts_with(prefix)) continue;
    if (group.empty() || verb.group == group) {
      Item(verb.name, verb.summary, out);
    }
  }
}

}  // namespace

std::string HelpText(const VerbList& verbs) {
  std::string out =
      "Usage: dovetail VERB DB [OPTIONS]\n\n"
      "Records and their indexes, which never disagree.\n";
  for (const std::string_view group : kGroups) {
    absl::StrAppend(&out, "\n", ToAbsl(group), ":\n");
    ListVerbs(verbs, group, "", &out);
  }
  absl::StrAppend(
      &out,
      "\ndovetail VERB --help shows a verb's options and examples; "
      "dovetail --version\nthe version. With DOVETAIL_DB set, DB may be left "
      "out; a database whose path\ncould be the name of a table is then "
      "written ./NAME. In values, \\xNN is a byte\nand \\N null; -- stands "
      "before values that begin with a dash.\n\nExit codes:\n");
  for (const ExitCodeMeaning& meaning : kExitCodes) {
    Item(absl::StrCat(static_cast<int>(meaning.code)), meaning.text, &out);
  }
  absl::StrAppend(
      &out,
      "\nExamples:\n"
      "  dovetail demo\n"
      "  dovetail init ./db --preset seller_orders\n"
      "  dovetail import ./db orders orders.csv\n"
      "  dovetail top ./db orders --index by_status seller-1 SHIPPED -n 10\n");
  return out;
}

std::string HelpText(const Verb& verb) {
  std::string out =
      absl::StrCat("Usage: dovetail ", verb.name, verb.words.empty() ? "" : " ",
                   verb.words, " [OPTIONS]\n\n");
  Wrap(absl::StrCat(verb.summary, "."), 0, 0, &out);
  if (!verb.details.empty()) {
    out += '\n';
    Wrap(verb.details, 0, 0, &out);
  }
  absl::StrAppend(&out, "\nOptions:\n");
  for (const Option& option : verb.options) {
    Item(option.Usage(), option.help, &out);
  }
  Item("-h, --help", "This text", &out);
  absl::StrAppend(&out, "\nExamples:\n");
  for (const std::string& example : verb.examples) {
    absl::StrAppend(&out, "  ", example, "\n");
  }
  return out;
}

std::string FamilyHelpText(const VerbList& verbs, std::string_view family) {
  std::string out =
      absl::StrCat("Usage: dovetail ", ToAbsl(family), " VERB DB\n\n");
  ListVerbs(verbs, "", absl::StrCat(ToAbsl(family), " "), &out);
  absl::StrAppend(&out, "\ndovetail ", ToAbsl(family),
                  " VERB --help shows a verb's options and examples.\n");
  return out;
}

}  // namespace dovetail::cli

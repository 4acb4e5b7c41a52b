// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "cli/exit_code.h"
#include "cli/help.h"

namespace dovetail::cli {
namespace {

// Text as the formatter shows it: no escapes, no dashes that are hyphens, and
// no line that it would take for a request.
std::string Roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  if (!out.empty() && (out[0] == '.' || out[0] == '\'')) out.insert(0, "\\&");
  return out;
}

void Entry(std::string_view tag, std::string_view text, std::string* out) {
  absl::StrAppend(out, ".TP\n.B ", Roff(tag), "\n", Roff(text), ".\n");
}

void VerbEntry(const Verb& verb, std::string* out) {
  absl::StrAppend(out, ".SS \"dovetail ", Roff(verb.name),
                  verb.words.empty() ? "" : " ", Roff(verb.words), "\"\n",
                  Roff(verb.summary), ".\n");
  if (!verb.details.empty()) {
    absl::StrAppend(out, ".PP\n", Roff(verb.details), "\n");
  }
  for (const Option& option : verb.options) {
    if (option.name == "--json" || option.name == "--quiet" ||
        option.name == "--format" || option.name == "--progress") {
      continue;  // Of every verb; described once.
    }
    Entry(option.Usage(), option.help, out);
  }
  absl::StrAppend(out, ".PP\n.nf\n");
  for (const std::string& example : verb.examples) {
    absl::StrAppend(out, Roff(example), "\n");
  }
  absl::StrAppend(out, ".fi\n");
}

}  // namespace

std::string ManPage(const VerbList& verbs, std::string_view version) {
  std::string out = absl::StrCat(
      ".TH DOVETAIL 1 \"\" \"dovetail ", Roff(version),
      "\" \"User Commands\"\n"
      ".nh\n.ad l\n"
      ".SH NAME\n"
      "dovetail \\- records and their indexes, which never disagree\n"
      ".SH SYNOPSIS\n.B dovetail\n.I VERB DB\n[\\fIWORD\\fR ...] "
      "[\\fIOPTION\\fR ...]\n"
      ".SH DESCRIPTION\n"
      "Works on a Dovetail database, a directory that one process at a time "
      "has open.\n.PP\n"
      "Data goes to standard output: a box on a terminal, tab\\-separated "
      "text in a pipe, one JSON object a line with\n.BR \\-\\-json .\n"
      "Everything else goes to standard error; progress only if that is a "
      "terminal.\n.PP\n"
      "In values, \\exNN is a byte and \\eN null;\n.B \\-\\-\n"
      "stands before values that begin with a dash.\n"
      ".SH OPTIONS OF EVERY VERB\n");
  for (const Option& option : verbs.verbs().front().options) {
    if (option.name == "--json" || option.name == "--quiet" ||
        option.name == "--format" || option.name == "--progress") {
      Entry(option.Usage(), option.help, &out);
    }
  }
  Entry("-h, --help", "Options and examples of the verb", &out);
  for (const std::string_view group : kGroups) {
    absl::StrAppend(&out, ".SH ", absl::AsciiStrToUpper(Roff(group)), "\n");
    for (const Verb& verb : verbs.verbs()) {
      if (!verb.hidden && verb.group == group) VerbEntry(verb, &out);
    }
  }
  absl::StrAppend(&out, ".SH EXIT STATUS\n");
  for (const ExitCodeMeaning& meaning : kExitCodes) {
    Entry(absl::StrCat(static_cast<int>(meaning.code)), meaning.text, &out);
  }
  absl::StrAppend(
      &out,
      ".SH ENVIRONMENT\n"
      ".TP\n.B DOVETAIL_DB\nThe database, where none is given. A database "
      "whose path could be the name of a table is then written ./NAME.\n"
      ".TP\n.B NO_COLOR\nNot empty: no colour on terminals.\n");
  return out;
}

}  // namespace dovetail::cli

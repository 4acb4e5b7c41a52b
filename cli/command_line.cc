// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/command_line.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/complete_names.h"
#include "cli/help.h"
#include "cli/suggest.h"

namespace dovetail::cli {
namespace {

bool IsHelp(std::string_view word) { return word == "--help" || word == "-h"; }

// "--help" among the arguments, but not behind "--".
bool WantsHelp(const std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::any_of(arguments.begin(), end, IsHelp);
}

ExitCode PrintHelp(const std::string& text) {
  Print(text);
  const absl::Status flushed = FlushOutput();
  if (!flushed.ok()) PrintError(Console(), flushed);
  return ExitCodeOf(flushed);
}

}  // namespace

CommandLine::CommandLine(std::string program, std::string version)
    : version_(std::move(version)) {
  AddStartVerbs(&verbs_, program);
  AddReadVerbs(&verbs_);
  AddQueryVerbs(&verbs_);
  AddSqlVerbs(&verbs_);
  AddWriteVerbs(&verbs_);
  AddSchemaVerbs(&verbs_);
  AddCareVerbs(&verbs_);
  AddRegionVerbs(&verbs_);
  AddFeedVerbs(&verbs_);
  AddLogVerbs(&verbs_);
  AddReplayVerbs(&verbs_);
  AddShellVerbs();
  AddCommonOptions();
}

void CommandLine::AddShellVerbs() {
  Verb& completion =
      verbs_.Add("completion bash", kShell, "",
                 "Print a script that completes command lines in bash");
  completion.Details(
      "It completes verbs, options, files, and the names of tables and indexes "
      "of the database on the line, unless another process has that open.");
  completion.Example("source <(dovetail completion bash)");
  completion.run = [this](Words words, const Console&) -> absl::Status {
    RETURN_IF_ERROR(words.End());
    Print(BashCompletion(verbs_));
    return {};
  };
  Verb& man = verbs_.Add("man", kShell, "", "Print the man page");
  man.hidden = true;
  man.Example("dovetail man > dovetail.1");
  man.run = [this](Words words, const Console&) -> absl::Status {
    RETURN_IF_ERROR(words.End());
    Print(ManPage(verbs_, version_));
    return {};
  };
  Verb& names = verbs_.Add("complete-names", kShell, "DB [TABLE]",
                           "Print the tables, or the indexes of one");
  names.hidden = true;
  names.Example("dovetail complete-names ./db orders");
  names.run = [](Words words, const Console& console) -> absl::Status {
    std::string db, table;
    RETURN_IF_ERROR(words.TakeDb(false, &db));
    if (!words.empty()) RETURN_IF_ERROR(words.Take("TABLE", &table));
    RETURN_IF_ERROR(words.End());
    return RunCompleteNames(db, table, console);
  };
}

void CommandLine::AddCommonOptions() {
  for (Verb& verb : verbs_.verbs()) {
    verb.Text("--format", "FORMAT", &output_.format,
              "Of standard output: box, tsv or json, one object a line [box "
              "on a terminal, else tsv]",
              {"box", "tsv", "json"});
    verb.Flag("--json", &output_.json, "The same as --format json");
    verb.Flag("--progress", &output_.progress,
              "Show progress even if standard error is no terminal");
    verb.Flag("--quiet", &output_.quiet, "No notes, no progress", 'q');
  }
}

ExitCode CommandLine::Main(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    const std::string help = HelpText(verbs_);
    std::fwrite(help.data(), 1, help.size(), stderr);
    return ExitCode::kUsage;
  }
  const std::string& first = arguments[0];
  if (IsHelp(first)) return PrintHelp(HelpText(verbs_));
  if (first == "--version") {
    return PrintHelp(absl::StrCat("dovetail ", version_, "\n"));
  }
  std::string name = first;
  size_t used = 1;
  if (verbs_.IsFamily(first)) {
    if (arguments.size() > 1 && !IsOption(arguments[1])) {
      absl::StrAppend(&name, " ", arguments[1]);
      used = 2;
    } else if (WantsHelp(arguments)) {
      return PrintHelp(FamilyHelpText(verbs_, first));
    }
  }
  const Verb* verb = verbs_.Find(name);
  if (verb == nullptr) return Unknown(name);
  const std::vector<std::string> rest(
      arguments.begin() + static_cast<std::ptrdiff_t>(used), arguments.end());
  if (WantsHelp(rest)) return PrintHelp(HelpText(*verb));
  return RunVerb(*verb, rest);
}

ExitCode CommandLine::Unknown(std::string_view word) {
  const bool family = verbs_.IsFamily(word);
  const absl::Status status =
      family ? UsageError(absl::StrCat(ToAbsl(word), " needs a second verb"))
             : UsageError(absl::StrCat(
                   IsOption(word) ? "no such option: " : "no such verb: ",
                   ToAbsl(Quote(word))));
  PrintError(
      Console::Detect(output_),
      WithHint(status,
               absl::StrCat(DidYouMean(word, verbs_.Names()), "See dovetail ",
                            family ? absl::StrCat(ToAbsl(word), " ") : "",
                            "--help")));
  return ExitCode::kUsage;
}

ExitCode CommandLine::RunVerb(const Verb& verb,
                              const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  absl::Status status = verb.Parse(arguments, &words);
  const Console console = Console::Detect(output_);
  if (status.ok()) status = verb.run(Words(std::move(words)), console);
  const absl::Status flushed = FlushOutput();
  if (status.ok()) status = flushed;
  if (ExitCodeOf(status) == ExitCode::kUsage) {
    status =
        WithHint(status, absl::StrCat("See dovetail ", verb.name, " --help"));
  }
  if (!status.ok()) PrintError(console, status);
  return ExitCodeOf(status);
}

}  // namespace dovetail::cli

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A verb and its options, declared once: the command line is read by these
// declarations, and --help, the man page and the shell's completion are
// written from them.
//
//   auto options = std::make_shared<TopOptions>();
//   Verb& verb = verbs->Add("top", kData, "DB TABLE [VALUE...]",
//                           "The first rows of a range");
//   verb.Example("dovetail top ./db orders seller-1 -n 10");
//   verb.Number("--limit", 'n', &options->limit, "Rows at most [20]");
//   verb.run = [options](Words words, const Console& console) { ... };

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cli/output.h"
#include "cli/words.h"

namespace dovetail::cli {

// Groups of verbs, in the order of the help.
inline constexpr std::string_view kStart = "Start here";
inline constexpr std::string_view kData = "Data";
inline constexpr std::string_view kSchema = "Schema and indexes";
inline constexpr std::string_view kCare = "Care";
inline constexpr std::string_view kFeed = "Change feed";
inline constexpr std::string_view kLog = "Write log";
inline constexpr std::string_view kShell = "Shell";
inline constexpr std::string_view kGroups[] = {kStart, kData, kSchema, kCare,
                                               kFeed,  kLog,  kShell};

struct Option {
  std::string name;  // "--limit"
  char letter = 0;   // 'n'; 0: none.
  // What its value is called, "N"; empty: it takes none. A value that may be
  // left out stands behind '=' only.
  std::string value;
  bool value_optional = false;
  bool repeatable = false;
  std::string help;
  // Not empty: the values there are, two at least.
  std::vector<std::string> choices;
  // Puts the value, or "" without one, where it belongs. UsageError.
  std::function<absl::Status(const std::string&)> set;

  bool takes_value() const { return !value.empty(); }
  // "-n, --limit N"
  std::string Usage() const;
};

struct Verb {
  std::string name;  // "top", "index add"
  std::string group;
  std::string words;    // "DB TABLE [VALUE...]"
  std::string summary;  // One line, no full stop.
  std::string details;  // Sentences; may be empty.
  std::vector<std::string> examples;
  bool hidden = false;  // Not in --help and the man page.
  std::vector<Option> options;
  std::function<absl::Status(Words words, const Console&)> run;

  Verb& Details(std::string text) {
    details = std::move(text);
    return *this;
  }
  Verb& Example(std::string line) {
    examples.push_back(std::move(line));
    return *this;
  }
  // `to` must live as long as the verb.
  Verb& Flag(std::string flag, bool* to, std::string help, char letter = 0);
  Verb& Text(std::string flag, std::string value, std::string* to,
             std::string help, std::vector<std::string> choices = {});
  Verb& Number(std::string flag, char letter, uint64_t* to, std::string help);
  // --watch[=SECONDS], for verbs that show something again and again.
  Verb& Watch(std::optional<uint64_t>* to);
  // May be given again and again, one value each time.
  Verb& List(std::string flag, std::string value, std::vector<std::string>* to,
             std::string help);

  // Reads the command line behind the verb: sets the options, returns the
  // words. UsageError names what is wrong.
  absl::Status Parse(const std::vector<std::string>& arguments,
                     std::vector<std::string>* rest) const;
};

// Thread-compatible. References stay valid while verbs are added.
class VerbList {
 public:
  Verb& Add(std::string_view name, std::string_view group,
            std::string_view words, std::string_view summary);

  const std::deque<Verb>& verbs() const { return verbs_; }
  std::deque<Verb>& verbs() { return verbs_; }
  const Verb* Find(std::string_view name) const;
  // Whether "NAME ..." has verbs of two words, as "index" has.
  bool IsFamily(std::string_view name) const;
  // Of all verbs that are not hidden.
  std::vector<std::string> Names() const;

 private:
  std::deque<Verb> verbs_;
};

// The verbs, by group.
void AddStartVerbs(VerbList* verbs, const std::string& program);
void AddReadVerbs(VerbList* verbs);
void AddQueryVerbs(VerbList* verbs);
void AddSqlVerbs(VerbList* verbs);
void AddWriteVerbs(VerbList* verbs);
void AddSchemaVerbs(VerbList* verbs);
void AddCareVerbs(VerbList* verbs);
void AddRegionVerbs(VerbList* verbs);
void AddFeedVerbs(VerbList* verbs);
void AddLogVerbs(VerbList* verbs);
void AddReplayVerbs(VerbList* verbs);

// -1 or -.5: a value, no option.
bool IsOption(std::string_view word);

}  // namespace dovetail::cli

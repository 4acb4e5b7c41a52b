// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/strings.h"
#include "cli/help.h"

namespace dovetail::cli {
namespace {

// Behind the tables of verbs. Finds the verb, counts the words behind it that
// are no options, and offers what the verb has in that place. The names of
// tables and indexes come from the database itself, and are missing while
// another process has it open.
constexpr std::string_view kFunction = R"bash(
_dovetail_names() {
  command "${COMP_WORDS[0]}" complete-names -- "$@" 2>/dev/null
}

_dovetail_offer() {
  local name
  while IFS= read -r name; do
    [[ $name == "$cur"* ]] && COMPREPLY+=("$name")
  done
}

_dovetail() {
  local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  local verb= first=1 at words=() place db word
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _dovetail_offer < <(printf '%s\n' ${_dovetail_first[@]})
    return
  fi
  verb=${COMP_WORDS[1]}
  if [[ " ${_dovetail_families[*]} " == *" $verb "* ]]; then
    if ((COMP_CWORD == 2)); then
      _dovetail_offer < <(printf '%s\n' ${_dovetail_second[$verb]})
      return
    fi
    verb="$verb ${COMP_WORDS[2]}"
    first=2
  fi
  [[ -n ${_dovetail_options[$verb]+x} ]] || return
  # Bash gives "--name=value" as three words.
  if [[ $cur == = ]]; then cur=; fi
  if [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((at = first + 1; at < COMP_CWORD; ++at)); do
    word=${COMP_WORDS[at]}
    if [[ " ${_dovetail_valued[$verb]} " == *" $word "* ]]; then
      ((++at))
      [[ ${COMP_WORDS[at]} == = ]] && ((++at))
    elif [[ $word != -* && $word != = ]]; then
      words+=("$word")
    fi
  done
  place=(${_dovetail_words[$verb]})
  # Without a database on the line, it is the one of the environment.
  if [[ -n ${DOVETAIL_DB-} && ${place[0]} == DB && ${words[0]-$cur} != */* &&
        ! -d ${words[0]-$cur} && ${place[1]-} == TABLE ]]; then
    words=("$DOVETAIL_DB" "${words[@]}")
  fi
  db=${words[0]-}
  case $previous in
    --index)
      _dovetail_offer < <(_dovetail_names "$db" "${words[1]-}")
      return ;;
    --table)
      _dovetail_offer < <(_dovetail_names "$db")
      return ;;
  esac
  if [[ -n ${_dovetail_choices[$verb $previous]+x} ]]; then
    _dovetail_offer < <(printf '%s\n' ${_dovetail_choices[$verb $previous]})
    return
  fi
  if [[ " ${_dovetail_valued[$verb]} " == *" $previous "* ]]; then
    compopt -o default
    return
  fi
  if [[ $cur == -* ]]; then
    _dovetail_offer < <(printf '%s\n' ${_dovetail_options[$verb]})
    return
  fi
  case ${place[${#words[@]}]-} in
    DB) compopt -o plusdirs ;;
    FILE) compopt -o default ;;
    TABLE) _dovetail_offer < <(_dovetail_names "$db") ;;
    INDEX) _dovetail_offer < <(_dovetail_names "$db" "${words[1]-}") ;;
  esac
}

complete -F _dovetail dovetail
)bash";

// "DB TABLE [VALUE...]" as the names of its places.
std::string Places(std::string_view words) {
  std::vector<std::string> places;
  for (absl::string_view word : absl::StrSplit(ToAbsl(words), ' ')) {
    std::string name;
    for (const char c : word) {
      if (c >= 'A' && c <= 'Z') name += c;
    }
    if (!name.empty()) places.push_back(std::move(name));
  }
  return absl::StrJoin(places, " ");
}

// One line of a bash table.
void Assign(std::string_view table, std::string_view key,
            std::string_view value, std::string* out) {
  absl::StrAppend(out, ToAbsl(table), "[\"", ToAbsl(key), "\"]=\"",
                  ToAbsl(value), "\"\n");
}

void DescribeVerb(const Verb& verb, std::string* out) {
  std::vector<std::string> names = {"--help"};
  std::vector<std::string> valued;
  for (const Option& option : verb.options) {
    names.push_back(option.name);
    if (!option.takes_value() || option.value_optional) continue;
    valued.push_back(option.name);
    if (option.letter != 0) {
      valued.push_back(absl::StrCat("-", std::string(1, option.letter)));
    }
    if (!option.choices.empty()) {
      Assign("_dovetail_choices", absl::StrCat(verb.name, " ", option.name),
             absl::StrJoin(option.choices, " "), out);
    }
  }
  Assign("_dovetail_options", verb.name, absl::StrJoin(names, " "), out);
  Assign("_dovetail_valued", verb.name, absl::StrJoin(valued, " "), out);
  Assign("_dovetail_words", verb.name, Places(verb.words), out);
}

}  // namespace

std::string BashCompletion(const VerbList& verbs) {
  std::string out =
      "# Completion of dovetail for bash. To use it in this shell:\n"
      "#   source <(dovetail completion bash)\n"
      "declare -gA _dovetail_options _dovetail_valued _dovetail_words\n"
      "declare -gA _dovetail_choices _dovetail_second\n";
  std::vector<std::string> first = {"--help", "--version"};
  std::set<std::string> families;
  for (const Verb& verb : verbs.verbs()) {
    if (verb.hidden) continue;
    const size_t space = verb.name.find(' ');
    const std::string head = verb.name.substr(0, space);
    if (space == std::string::npos) {
      first.push_back(head);
    } else {
      if (families.insert(head).second) first.push_back(head);
      absl::StrAppend(&out, "_dovetail_second[\"", head, "\"]+=\" ",
                      verb.name.substr(space + 1), "\"\n");
    }
    DescribeVerb(verb, &out);
  }
  absl::StrAppend(&out, "_dovetail_first=(", absl::StrJoin(first, " "), ")\n",
                  "_dovetail_families=(", absl::StrJoin(families, " "), ")\n",
                  ToAbsl(kFunction.substr(0)));
  return out;
}

}  // namespace dovetail::cli

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/verb.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/exit_code.h"
#include "cli/suggest.h"

namespace dovetail::cli {
namespace {

absl::Status Set(const Option& option, const std::string& value) {
  if (!option.choices.empty() && !value.empty()) {
    bool known = false;
    for (const std::string& choice : option.choices) known |= choice == value;
    if (!known) {
      std::string all = absl::StrJoin(option.choices, ", ");
      all.replace(all.rfind(", "), 2, " or ");
      const absl::Status wrong = UsageError(absl::StrCat(
          option.name, " is ", all, ": given=", ToAbsl(Quote(value))));
      const std::string hint = DidYouMean(value, option.choices);
      return hint.empty() ? wrong : WithHint(wrong, hint);
    }
  }
  return option.set(value);
}

std::vector<std::string> OptionNames(const std::vector<Option>& options) {
  std::vector<std::string> names = {"--help"};
  for (const Option& option : options) names.push_back(option.name);
  return names;
}

// Reads options one after the other.
class Reader {
 public:
  Reader(const std::vector<Option>& options,
         const std::vector<std::string>& arguments)
      : options_(options), arguments_(arguments) {}

  absl::Status Run(std::vector<std::string>* words) {
    for (; at_ < arguments_.size(); ++at_) {
      const std::string& argument = arguments_[at_];
      if (argument == "--") {
        words->insert(words->end(),
                      arguments_.begin() + static_cast<std::ptrdiff_t>(at_) + 1,
                      arguments_.end());
        return {};
      }
      if (!IsOption(argument)) {
        words->push_back(argument);
      } else if (argument.starts_with("--")) {
        RETURN_IF_ERROR(Long(argument));
      } else {
        RETURN_IF_ERROR(Letters(argument));
      }
    }
    return {};
  }

 private:
  absl::Status Unknown(const std::string& name) const {
    return WithHint(
        UsageError(absl::StrCat("no such option: ", ToAbsl(Quote(name)))),
        absl::StrCat(DidYouMean(name, OptionNames(options_)),
                     "A value that begins with a dash stands behind --."));
  }

  // "--name", "--name value", "--name=value".
  absl::Status Long(const std::string& argument) {
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    for (const Option& option : options_) {
      if (option.name != name) continue;
      if (equals == std::string::npos) return Next(option, name);
      if (!option.takes_value()) {
        return UsageError(absl::StrCat(name, " takes no value"));
      }
      return Set(option, argument.substr(equals + 1));
    }
    return Unknown(name);
  }

  // "-n 10", "-n10"; flags may stand together: "-qy".
  absl::Status Letters(const std::string& argument) {
    for (size_t i = 1; i < argument.size(); ++i) {
      const Option* found = nullptr;
      for (const Option& option : options_) {
        if (option.letter == argument[i]) found = &option;
      }
      if (found == nullptr) return Unknown(argument);
      if (!found->takes_value()) {
        RETURN_IF_ERROR(found->set(""));
        continue;
      }
      const std::string rest = argument.substr(i + 1);
      return rest.empty()
                 ? Next(*found, absl::StrCat("-", argument.substr(i, 1)))
                 : Set(*found, rest);
    }
    return {};
  }

  // The value is the next argument, if the option takes one.
  absl::Status Next(const Option& option, const std::string& name) {
    if (!option.takes_value() || option.value_optional) return option.set("");
    if (at_ + 1 == arguments_.size()) {
      return UsageError(absl::StrCat(name, " needs a value: ", option.value));
    }
    return Set(option, arguments_[++at_]);
  }

  const std::vector<Option>& options_;
  const std::vector<std::string>& arguments_;
  size_t at_ = 0;
};

}  // namespace

bool IsOption(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && word[1] != '.' &&
         (word[1] < '0' || word[1] > '9');
}

std::string Option::Usage() const {
  std::string text =
      letter == 0 ? "" : absl::StrCat("-", std::string(1, letter), ", ");
  absl::StrAppend(&text, name);
  if (value_optional) {
    absl::StrAppend(&text, "[=", value, "]");
  } else if (takes_value()) {
    absl::StrAppend(&text, " ", value);
  }
  return text;
}

Verb& Verb::Flag(std::string flag, bool* to, std::string help, char letter) {
  Option added;
  added.name = std::move(flag);
  added.letter = letter;
  added.help = std::move(help);
  added.set = [to](const std::string&) -> absl::Status {
    *to = true;
    return {};
  };
  options.push_back(std::move(added));
  return *this;
}

Verb& Verb::Text(std::string flag, std::string value, std::string* to,
                 std::string help, std::vector<std::string> choices) {
  Option added;
  added.name = std::move(flag);
  added.value = std::move(value);
  added.help = std::move(help);
  added.choices = std::move(choices);
  added.set = [to](const std::string& text) -> absl::Status {
    *to = text;
    return {};
  };
  options.push_back(std::move(added));
  return *this;
}

Verb& Verb::Number(std::string flag, char letter, uint64_t* to,
                   std::string help) {
  Option added;
  added.name = flag;
  added.letter = letter;
  added.value = "N";
  added.help = std::move(help);
  added.set = [to, flag](const std::string& text) -> absl::Status {
    if (absl::SimpleAtoi(text, to)) return {};
    return UsageError(
        absl::StrCat(flag, " is a number: given=", ToAbsl(Quote(text))));
  };
  options.push_back(std::move(added));
  return *this;
}

Verb& Verb::Watch(std::optional<uint64_t>* to) {
  Option added;
  added.name = "--watch";
  added.value = "SECONDS";
  added.value_optional = true;
  added.help = "Again and again, at this distance, until interrupted [2]";
  added.set = [to](const std::string& text) -> absl::Status {
    uint64_t seconds = 2;
    if (!text.empty() && (!absl::SimpleAtoi(text, &seconds) || seconds == 0 ||
                          seconds > 86'400)) {
      return UsageError(absl::StrCat("--watch takes 1 to 86400 seconds: given=",
                                     ToAbsl(Quote(text))));
    }
    *to = seconds;
    return {};
  };
  options.push_back(std::move(added));
  return *this;
}

Verb& Verb::List(std::string flag, std::string value,
                 std::vector<std::string>* to, std::string help) {
  Option added;
  added.name = std::move(flag);
  added.value = std::move(value);
  added.repeatable = true;
  added.help = std::move(help);
  added.set = [to](const std::string& text) -> absl::Status {
    to->push_back(text);
    return {};
  };
  options.push_back(std::move(added));
  return *this;
}

absl::Status Verb::Parse(const std::vector<std::string>& arguments,
                         std::vector<std::string>* rest) const {
  return Reader(options, arguments).Run(rest);
}

Verb& VerbList::Add(std::string_view name, std::string_view group,
                    std::string_view words, std::string_view summary) {
  Verb& verb = verbs_.emplace_back();
  verb.name = std::string(name);
  verb.group = std::string(group);
  verb.words = std::string(words);
  verb.summary = std::string(summary);
  return verb;
}

const Verb* VerbList::Find(std::string_view name) const {
  for (const Verb& verb : verbs_) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

bool VerbList::IsFamily(std::string_view name) const {
  const std::string prefix = absl::StrCat(ToAbsl(name), " ");
  for (const Verb& verb : verbs_) {
    if (verb.name.starts_with(prefix)) return true;
  }
  return false;
}

std::vector<std::string> VerbList::Names() const {
  std::vector<std::string> names;
  for (const Verb& verb : verbs_) {
    if (!verb.hidden) names.push_back(verb.name);
  }
  return names;
}

}  // namespace dovetail::cli

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// --help, the man page and the completion script, from the verbs'
// declarations.

#pragma once

#include <string>
#include <string_view>

#include "cli/verb.h"

namespace dovetail::cli {

// Of the whole command.
std::string HelpText(const VerbList& verbs);
// Of one verb.
std::string HelpText(const Verb& verb);
// Of the verbs "FAMILY ...".
std::string FamilyHelpText(const VerbList& verbs, std::string_view family);

// dovetail.1, in man's macros.
std::string ManPage(const VerbList& verbs, std::string_view version);

// A bash script that completes verbs, options and their values, directories
// and files, and names of tables and indexes, which it asks the command for.
std::string BashCompletion(const VerbList& verbs);

}  // namespace dovetail::cli

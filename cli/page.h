// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Pages of rows on standard output, and what leads from one to the next.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/output.h"
#include "dovetail/dynamic_table.h"

namespace dovetail::cli {

// Rows by the console's format. TSV has a header line only if `header`.
absl::Status PrintRows(const DynamicTable& table, const std::vector<Row>& rows,
                       const Console& console, bool header = true);

// Where the next page begins, if there is one: in JSON a last line
// {"@next":TOKEN}, else a note that names `option`.
void PrintNext(std::string_view option, const std::string& token,
               const Console& console);

// On a terminal, a note of what a read cost. `work` may be null.
void NoteWork(uint64_t rows, const Work* work, int64_t micros,
              const Console& console);

// A continuation as one word for the command line, and back; empty is the
// end. UsageError, naming `option`, if it is no token.
std::string TokenText(std::string_view continuation);
absl::StatusOr<std::string> ParseToken(std::string_view option,
                                       std::string_view text);

}  // namespace dovetail::cli

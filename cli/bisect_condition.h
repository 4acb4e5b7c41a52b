// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What `dovetail bisect --check` asks of a database, in words:
//
//   verify                               rows, entries and digests agree
//   digest                               it has the digests of the record
//   get TABLE WHERE FIELD=VALUE ...      every row found has these values
//   count TABLE [WHERE] OP NUMBER        so many rows are found
//
//   WHERE  INDEX=VALUE,VALUE,...         the first columns of an index, or,
//                                        with -, of the row key
//   OP     = != < <= > >=
//
// Words stand apart by spaces. A space in a value is \x20, a comma \x2c. Of
// get, a row that is not there is right: to ask for one, count.

#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "dovetail/bisect.h"

namespace dovetail::cli {

// UsageError names the word that does not fit. Tables, indexes and fields are
// looked up when the check is asked: NotFound or UsageError then.
absl::StatusOr<BisectCheck> ParseBisectCondition(const std::string& text);

}  // namespace dovetail::cli

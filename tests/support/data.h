// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Readers of the data sets that lie outside the repository. Their directory
// is $DOVETAIL_SHARED_DATA, by default ../shared/data beside the sources.
// Programs skip, with a message, what needs data that is not there.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dovetail::test {

// The path of a file, e.g. "olist/orders.csv.xz".
std::string SharedData(std::string_view relative);
bool HasSharedData(std::string_view relative);

// Calls `row` for each record behind the header row of a CSV file (RFC 4180,
// LF or CRLF) with the named columns, in the order asked for. The strings may
// be moved from. A name that ends in ".xz" is unpacked by xzcat. Stops at the
// first error of `row` and returns it.
//   NotFound         no such file, or a column that the header lacks
//   InvalidArgument  a record with another number of fields than the header,
//                    or a quote that is not closed; names the record
absl::Status ReadCsv(
    const std::string& path, const std::vector<std::string>& columns,
    const std::function<absl::Status(std::vector<std::string>&)>& row);

// "2016-09-04 21:15:19", with 'T' for the blank or with the seconds or the
// time left out, an optional fraction, and an optional "Z" or "+01:00", as
// milliseconds since 1970; UTC where no zone is given.
absl::StatusOr<int64_t> ParseTimeMs(std::string_view text);

}  // namespace dovetail::test

#define SKIP_WITHOUT_DATA(relative)                      \
  if (!::dovetail::test::HasSharedData(relative)) {      \
    GTEST_SKIP() << "no data set " << relative << " in " \
                 << ::dovetail::test::SharedData("")     \
                 << "; set DOVETAIL_SHARED_DATA";        \
  }                                                      \
  static_assert(true)

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/sql.h"

namespace dovetail::cli {

absl::Status RunSql(const SqlOptions&, const Console&) {
  return absl::UnimplementedError(
      "this command was built without SQLite; see DOVETAIL_SQL in docs/sql.md");
}

}  // namespace dovetail::cli

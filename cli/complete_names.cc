// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/complete_names.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cli/database.h"

namespace dovetail::cli {

absl::Status RunCompleteNames(const std::string& db, const std::string& table,
                              const Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenDatabase(db, console));
  ASSIGN_OR_RETURN(const v1::Schema schema, engine->GetSchema());
  for (const v1::TableSchema& one : schema.tables()) {
    if (table.empty()) Print(absl::StrCat(one.name(), "\n"));
    if (one.name() != table) continue;
    for (const v1::IndexSchema& index : one.indexes()) {
      Print(absl::StrCat(index.name(), "\n"));
    }
  }
  return {};
}

}  // namespace dovetail::cli

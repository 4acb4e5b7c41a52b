// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Commits of the change feed or of a write log as JSON.

#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "dovetail/dynamic_table.h"
#include "dovetail/engine.h"
#include "dovetail/v1/write_log.pb.h"

namespace dovetail::cli {

// Binds each table once. Thread-compatible. The engine, which has the tables,
// must outlive it; their rows are not looked at.
class ChangePrinter {
 public:
  explicit ChangePrinter(Engine* engine) : engine_(engine) {}

  // One object, one line.
  absl::StatusOr<std::string> Json(const v1::WriteLogRecord& change);

 private:
  absl::StatusOr<std::string> Effect(const v1::WriteLogRecord& change,
                                     const v1::RowEffect& effect);
  absl::StatusOr<const DynamicTable*> Table(const std::string& name);

  Engine* const engine_;
  std::map<std::string, DynamicTable> tables_;
};

}  // namespace dovetail::cli

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/change_printer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cli/output.h"
#include "cli/time_text.h"

namespace dovetail::cli {

absl::StatusOr<std::string> ChangePrinter::Json(
    const v1::WriteLogRecord& change) {
  std::string effects;
  for (const v1::RowEffect& effect : change.effects()) {
    ASSIGN_OR_RETURN(const std::string one, Effect(change, effect));
    absl::StrAppend(&effects, effects.empty() ? "" : ",", one);
  }
  std::string notes;
  for (const std::string& note : change.annotations()) {
    absl::StrAppend(&notes, notes.empty() ? "" : ",", JsonQuote(note));
  }
  return absl::StrCat(
      "{\"sequence\":", change.sequence(), ",\"time\":",
      JsonQuote(Rfc3339(absl::FromUnixMicros(change.commit_time_us()))),
      ",\"effects\":[", effects, "]",
      notes.empty() ? "" : absl::StrCat(",\"annotations\":[", notes, "]"),
      "}\n");
}

absl::StatusOr<std::string> ChangePrinter::Effect(
    const v1::WriteLogRecord& change, const v1::RowEffect& effect) {
  std::string out =
      absl::StrCat("{\"op\":",
                   !effect.has_record()        ? "\"delete\""
                   : !effect.old_key().empty() ? "\"move\""
                                               : "\"put\"",
                   ",\"table\":", JsonQuote(effect.table()), ",\"key\":");
  ASSIGN_OR_RETURN(const std::string key,
                   engine_->DecodeKey(effect.table(), effect.new_key()));
  out += JsonQuote(key);
  if (!effect.old_key().empty()) {
    ASSIGN_OR_RETURN(const std::string old_key,
                     engine_->DecodeKey(effect.table(), effect.old_key()));
    absl::StrAppend(&out, ",\"old_key\":", JsonQuote(old_key));
  }
  if (effect.has_record()) {
    ASSIGN_OR_RETURN(const DynamicTable* table, Table(effect.table()));
    ASSIGN_OR_RETURN(const std::string record,
                     table->ToJson(Row{effect.new_key(), effect.record(),
                                       SequenceNumber{change.sequence()}}));
    absl::StrAppend(&out, ",\"record\":", record);
  }
  if (!effect.added_by().empty()) {
    absl::StrAppend(&out, ",\"added_by\":", JsonQuote(effect.added_by()));
  }
  return out + "}";
}

absl::StatusOr<const DynamicTable*> ChangePrinter::Table(
    const std::string& name) {
  auto it = tables_.find(name);
  if (it == tables_.end()) {
    ASSIGN_OR_RETURN(DynamicTable table, DynamicTable::Bind(engine_, name));
    it = tables_.emplace(name, std::move(table)).first;
  }
  return &it->second;
}

}  // namespace dovetail::cli

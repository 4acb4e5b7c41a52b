// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/commit_record.h"

#include <string>

namespace dovetail {

void FillCommitRecord(const RequestEffects& effects, int64_t now_us,
                      v1::WriteLogRecord* record) {
  record->Clear();
  record->set_sequence(static_cast<uint64_t>(effects.commit.sequence));
  record->set_commit_time_us(effects.commit_time_us.value_or(now_us));
  for (const OwnedChange& change : effects.changes) {
    v1::RowEffect& effect = *record->add_effects();
    effect.set_table(change.table->name());
    effect.set_new_key(change.new_key);
    if (change.old_record.has_value() && change.old_key != change.new_key) {
      effect.set_old_key(change.old_key);
    }
    if (change.new_record.has_value()) effect.set_record(*change.new_record);
    effect.set_added_by(change.added_by);
  }
  for (const std::string& note : effects.commit.annotations) {
    record->add_annotations(note);
  }
  if (!effects.source.empty()) {
    record->set_source(effects.source);
    record->set_source_position(effects.source_position);
  }
}

void AddOldFields(const RequestEffects& effects, v1::WriteLogRecord* record) {
  for (size_t i = 0; i < effects.changes.size(); ++i) {
    const OwnedChange& change = effects.changes[i];
    if (!change.old_record.has_value()) continue;
    record->mutable_effects(static_cast<int>(i))
        ->set_old_fields(change.old_fields);
  }
}

}  // namespace dovetail

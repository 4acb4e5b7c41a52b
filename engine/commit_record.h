// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A request's changes as the record that the change feed and the write log
// keep of it.

#pragma once

#include <cstdint>

#include "dovetail/v1/write_log.pb.h"
#include "engine/request_runner.h"

namespace dovetail {

// Replaces `record`: sequence, time, annotations, and one effect for each
// change, in the request's order; so a row that it changed twice has two.
void FillCommitRecord(const RequestEffects& effects, int64_t now_us,
                      v1::WriteLogRecord* record);

// Adds to the effects of a record that FillCommitRecord made what their rows'
// entries were made of before. REQUIRES: the runner has kept it.
void AddOldFields(const RequestEffects& effects, v1::WriteLogRecord* record);

}  // namespace dovetail

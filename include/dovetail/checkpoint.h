// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A copy of a database at one commit, made while the database is in use.
//
//   auto report = engine->Checkpoint("/backup/orders-2026-01-31", {});
//   // In any process, from now on:
//   auto copy = Engine::Open("/backup/orders-2026-01-31", schema,
//                            {.read_only = true});

#pragma once

#include <cstdint>

#include "dovetail/write_batch.h"

namespace dovetail {

struct CheckpointOptions {
  // Give the table files, which never change, a second name in the checkpoint
  // where the file system can: fast, and no space until the database has
  // compacted them away; but a disk that damages the file damages both. Off:
  // copy every byte.
  bool link_tables = true;
};

struct CheckpointReport {
  // Of the last commit in the checkpoint.
  SequenceNumber sequence{};
  uint64_t tables_linked = 0;
  // All, or those that could not be linked: the checkpoint is on another
  // device, or its file system has no links.
  uint64_t tables_copied = 0;
  // Of tables, logs and the rest.
  uint64_t bytes_copied = 0;
  // How long the commit order stood still.
  int64_t writers_held_micros = 0;
};

}  // namespace dovetail

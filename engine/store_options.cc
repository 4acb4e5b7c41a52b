// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/store_options.h"

#include "base/status_macros.h"
#include "engine/keyspace.h"
#include "engine/row_format.h"

namespace dovetail {

LevelDbStoreOptions MakeStoreOptions(const Options& options,
                                     FileSystem* file_system) {
  LevelDbStoreOptions store;
  store.create_if_missing = options.create_if_missing && !options.read_only;
  store.block_cache_bytes = options.block_cache_bytes;
  store.write_buffer_bytes = options.write_buffer_bytes;
  store.compress = options.compress;
  store.open_files_max = options.open_files_max;
  store.file_system = file_system;
  store.mark_key = MarkKey();
  store.parse_mark = [](std::string_view value)
      -> absl::StatusOr<LevelDbStoreOptions::BatchMark> {
    ASSIGN_OR_RETURN(const CommitMark mark, DecodeMark(value));
    LevelDbStoreOptions::BatchMark batch;
    batch.sequence = static_cast<uint64_t>(mark.sequence);
    batch.synced_sequence = static_cast<uint64_t>(mark.synced);
    if (mark.recorded.has_value()) {
      batch.recorded = static_cast<uint64_t>(*mark.recorded);
    }
    return batch;
  };
  return store;
}

}  // namespace dovetail

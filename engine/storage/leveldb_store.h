// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Inside of OpenLevelDbStore (store.h), for its tests.

#pragma once

#include "engine/storage/store.h"
#include "leveldb/options.h"

namespace dovetail {

// The fixed rules, as far as they are LevelDB's options; env, block_cache and
// filter_policy are left for the owner of those objects to set.
leveldb::Options MakeLevelDbOptions(const LevelDbStoreOptions& options);

// Every read verifies the checksums of the blocks that it touches.
leveldb::ReadOptions MakeLevelDbReadOptions(const StoreReadOptions& options);

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What the engine asks of its store on disk.

#pragma once

#include "dovetail/engine.h"
#include "engine/storage/store.h"

namespace dovetail {

LevelDbStoreOptions MakeStoreOptions(const Options& options,
                                     FileSystem* file_system);

}  // namespace dovetail

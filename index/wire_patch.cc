// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/wire_patch.h"

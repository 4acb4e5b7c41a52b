// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The test kit: what Dovetail's own tests are made with, for tests of your own
// schema, observers and code. docs/testing.md shows a test made with it. A
// library of its own: dovetail::testing in CMake, dovetail-testing in
// pkg-config.
//
//   crash_runner.h        a script of writes, with every file call failing in
//                         turn, and power cuts in between
//   faulty_file_system.h  a file system in which a test lets things go wrong
//   model.h               what a request is to do, computed independently
//
// Experimental: may change in any version. The namespace is dovetail::test,
// since a dovetail::testing would be in the way of GoogleTest's ::testing.

#pragma once

#include "dovetail/testing/crash_runner.h"
#include "dovetail/testing/faulty_file_system.h"
#include "dovetail/testing/model.h"

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// SQLite's interface. The same sources are compiled twice: for programs that
// link SQLite, and for the loadable extension, which calls whatever SQLite has
// loaded it, through a table of functions.

#pragma once

#ifdef DOVETAIL_SQLITE_EXTENSION
#include <sqlite3ext.h>
extern "C" {
SQLITE_EXTENSION_INIT3
}
#else
#include <sqlite3.h>
#endif

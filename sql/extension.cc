// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The entry point of dovetail_sqlite.so, by the name that SQLite derives from
// the file's.

#include <string>

#include "sql/module.h"

extern "C" {

SQLITE_EXTENSION_INIT1

__attribute__((visibility("default"))) int sqlite3_dovetailsqlite_init(
    sqlite3* db, char** message, const sqlite3_api_routines* api) {
  SQLITE_EXTENSION_INIT2(api);
  constexpr int kInVersion = 3038000;  // sqlite3_vtab_in and the like.
  if (sqlite3_libversion_number() < kInVersion) {
    *message = sqlite3_mprintf("dovetail needs SQLite 3.38, and this is %s",
                               sqlite3_libversion());
    return SQLITE_ERROR;
  }
  const absl::Status status = dovetail::sql::RegisterModule(db, {});
  if (!status.ok()) {
    *message = sqlite3_mprintf("%s", std::string(status.message()).c_str());
    return SQLITE_ERROR;
  }
  // Protobuf keeps pointers into what it is given by a library for good.
  return SQLITE_OK_LOAD_PERMANENTLY;
}
}

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Any bytes as a write log file. The first byte chooses whether they are the
// file, or say which frames it has.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "google/protobuf/stubs/logging.h"
#include "tests/engine/write_log_property.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // The parser logs every text that is not UTF-8.
  static const google::protobuf::LogSilencer silencer;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1),
                               size - 1);
  const std::string problem = dovetail::test::CheckWriteLogBytes(
      data[0] % 4 == 0 ? std::string(bytes)
                       : dovetail::test::FileFromRecipe(
                             {.log_id = 7, .first_sequence = 100}, bytes));
  if (problem.empty()) return 0;
  std::fprintf(stderr, "%s\n", problem.c_str());
  std::abort();
}

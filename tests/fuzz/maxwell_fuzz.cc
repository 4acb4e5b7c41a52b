// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "tests/fuzz/change_reader_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return dovetail::test::CheckChangeBytes(
      dovetail::ChangeFormat::kMaxwell, "maxwell_orders",
      std::string_view(reinterpret_cast<const char*>(data), size));
}

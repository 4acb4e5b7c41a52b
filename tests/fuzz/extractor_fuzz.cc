// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Any bytes as a record: the extractor and the generated parser agree. The
// first byte chooses the record type.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "google/protobuf/stubs/logging.h"
#include "index/extractor.h"
#include "tests/index/extractor_property.h"
#include "wire_test.pb.h"
#include "wire_test_proto2.pb.h"

namespace dovetail::test {
namespace {

template <typename Record>
void CheckOne(const std::vector<std::string>& paths, std::string_view bytes) {
  static const Extractor extractor =
      *Extractor::Compile(*Record::descriptor(), paths);
  const ExtractorVerdict verdict =
      CheckExtractor(extractor, Record::default_instance(), bytes);
  if (verdict.problem.empty()) return;
  std::fprintf(stderr, "%s\n", verdict.problem.c_str());
  std::abort();
}

}  // namespace
}  // namespace dovetail::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // The parser logs every text that is not UTF-8.
  static const google::protobuf::LogSilencer silencer;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1),
                               size - 1);
  if (data[0] % 2 == 0) {
    dovetail::test::CheckOne<dovetail::test::WireRecord>(
        dovetail::test::WireRecordPaths(), bytes);
  } else {
    dovetail::test::CheckOne<dovetail::test::LegacyRecord>(
        dovetail::test::LegacyRecordPaths(), bytes);
  }
  return 0;
}

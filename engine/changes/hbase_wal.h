// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// What HBase's WAL printer writes. With -j, its output is not JSON: objects
// stand between lines of other text, in an array that a file name may come
// before.
//
//   [Writer Classes: ProtobufLogWriter
//   Cell Codec Class: org.apache.hadoop.hbase.regionserver.wal.WALCellCodec
//   {"sequence":"5","table":{...},"actions":[...]}edit heap size: 240
//   position: 421
//   ,{...}
//   ]
//
// Without -j, an edit is a line of its own and those of its cells:
//
//   Sequence=5, table=shop:orders, region=aec7, at write timestamp=...
//   row=s1-1, column=d:state, type=Put
//       value: paid
//   cell total size sum: 88
//   edit heap size: 240
//   position: 421

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/byte_source.h"
#include "base/line_reader.h"
#include "dovetail/change_stream.h"
#include "engine/changes/hbase_cells.h"

namespace dovetail::changes {

class HBaseWalReader final : public ChangeReader {
 public:
  HBaseWalReader(ReadFunction read, const ChangeReaderOptions& options);

  // Reads the beginning; see ChangeReader::Open.
  absl::Status Start();
  absl::Status SkipLines(uint64_t lines) override;
  absl::StatusOr<bool> Next(ChangeEntry* entry) override;
  std::string_view raw() const override { return raw_; }

 private:
  // An edit of the text form that is being read.
  struct Edit {
    bool open = false;
    uint64_t offset = 0;
    size_t bytes = 0;
    ForeignChange common;
    std::vector<HBaseCell> cells;
    absl::Status error;  // The first one in it.
  };
  enum class LineKind {
    kBlank,
    kNoise,
    kJson,
    kEdit,
    kCell,
    kDetail,
    kUnknown
  };

  // Moves to a line that has not been taken; false at the end.
  absl::StatusOr<bool> Advance();
  static LineKind KindOf(std::string_view line);
  // Whether an edit of the text form may have such lines behind its first.
  static bool IsInside(LineKind kind);
  // What to return where the lines end, or one cannot be had.
  absl::StatusOr<bool> AtEnd(const absl::StatusOr<bool>& more,
                             ChangeEntry* entry);
  absl::StatusOr<bool> TakeJson(ChangeEntry* entry);
  absl::Status DecodeJson(Line* line, ChangeEntry* entry);
  void OpenEdit();
  void AddToEdit(LineKind kind);
  absl::Status AddCell(std::string_view text);
  absl::Status AddValue(std::string_view text);
  void AppendRaw();
  absl::StatusOr<bool> CloseEdit(uint64_t last_line, ChangeEntry* entry);
  absl::Status ErrorHere(size_t at, std::string_view cause) const;

  const ChangeReaderOptions options_;
  const JsonLimits json_limits_;
  ByteSource source_;
  LineReader lines_;
  bool held_ = false;  // The line read last is still to be taken.
  Edit edit_;
  std::string raw_;
};

}  // namespace dovetail::changes

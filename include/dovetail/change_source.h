// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A change stream as what a Replayer replays: each entry once, under the
// source's name, across kills and restarts.
//
//   auto mapper = ChangeMapper::Compile(engine.get(), mapping);
//   auto source = ChangeSource::Open(ChangeFormat::kCanal, read, &*mapper);
//   auto replayer = Replayer::Open(engine.get(), source->get(),
//                                  {.source = "shop"});
//   absl::Status status = (*replayer)->Run();

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/change_stream.h"
#include "dovetail/replay.h"

namespace dovetail {

// How often what became of a change, of the entries that a source has read.
// What the database then refused is among them; ReplayReport counts that.
struct ChangeCounts {
  // By EffectName, "put" to "delete".
  std::map<std::string_view, uint64_t> effects;
  // By ChangeOutcome::why.
  std::map<std::string_view, uint64_t> skipped;
};

// An item an entry; its position is the entry's last line. Thread-compatible.
class ChangeSource final : public ReplaySource {
 public:
  // See ChangeReader::Open. `mapper` must outlive the source. The input is
  // read from its beginning, whatever was replayed of it before; it ends where
  // `read` says so, for good. `bytes_total` is for progress, 0 if not known.
  static absl::StatusOr<std::unique_ptr<ChangeSource>> Open(
      ChangeFormat format, ChangeReader::ReadFunction read,
      const ChangeMapper* mapper, const ChangeReaderOptions& options = {},
      uint64_t bytes_total = 0);

  absl::Status Start(const ReplayPlace& place) override;
  absl::StatusOr<bool> Next(ReplayItem* item) override;
  std::string id() const override { return {}; }
  uint64_t bytes_read() const override { return bytes_read_; }
  uint64_t bytes_total() const override { return bytes_total_; }

  const ChangeCounts& counts() const { return counts_; }

 private:
  ChangeSource(ChangeFormat format, std::unique_ptr<ChangeReader> reader,
               const ChangeMapper* mapper, uint64_t bytes_total)
      : format_(format),
        reader_(std::move(reader)),
        mapper_(mapper),
        bytes_total_(bytes_total) {}

  uint64_t Fingerprint() const;

  const ChangeFormat format_;
  const std::unique_ptr<ChangeReader> reader_;
  const ChangeMapper* const mapper_;
  const uint64_t bytes_total_;

  ChangeEntry entry_;
  ChangeCounts counts_;
  uint64_t bytes_read_ = 0;
};

}  // namespace dovetail

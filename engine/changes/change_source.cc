// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/change_source.h"

#include <xxhash.h>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dovetail {
namespace {

// Whether every line is an entry or blank, so that an entry's last line is its
// only one.
bool IsOfLines(ChangeFormat format) {
  return format != ChangeFormat::kCsv && format != ChangeFormat::kHBaseWal;
}

absl::Status OtherInput(std::string_view what, const ReplayPlace& place) {
  return absl::FailedPreconditionError(absl::StrCat(
      "the input is not the one that was begun under this name: it ",
      absl::string_view(what.data(), what.size()), ": line=", place.position));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChangeSource>> ChangeSource::Open(
    ChangeFormat format, ChangeReader::ReadFunction read,
    const ChangeMapper* mapper, const ChangeReaderOptions& options,
    uint64_t bytes_total) {
  ASSIGN_OR_RETURN(std::unique_ptr<ChangeReader> reader,
                   ChangeReader::Open(format, std::move(read), options));
  return std::unique_ptr<ChangeSource>(
      new ChangeSource(format, std::move(reader), mapper, bytes_total));
}

uint64_t ChangeSource::Fingerprint() const {
  const std::string_view raw = reader_->raw();
  const uint64_t hash = XXH3_64bits(raw.data(), raw.size());
  return hash == 0 ? 1 : hash;  // 0 is none.
}

absl::Status ChangeSource::Start(const ReplayPlace& place) {
  if (place.position == 0) return {};
  if (IsOfLines(format_)) {
    RETURN_IF_ERROR(reader_->SkipLines(place.position - 1));
  }
  do {
    const absl::StatusOr<bool> got = reader_->Next(&entry_);
    if (!got.ok() && !absl::IsInvalidArgument(got.status())) {
      return got.status();
    }
    if (got.ok() && !*got) return OtherInput("ends before the place", place);
  } while (entry_.last_line < place.position);
  if (entry_.last_line != place.position ||
      (place.fingerprint != 0 && place.fingerprint != Fingerprint())) {
    return OtherInput("has another entry at the place", place);
  }
  bytes_read_ = entry_.offset;
  return {};
}

absl::StatusOr<bool> ChangeSource::Next(ReplayItem* item) {
  absl::StatusOr<bool> got = reader_->Next(&entry_);
  const bool bad = absl::IsInvalidArgument(got.status());
  if (!bad && (!got.ok() || !*got)) return got;
  item->kind = ReplayItem::Kind::kNothing;
  item->position = entry_.last_line;
  item->fingerprint = Fingerprint();
  item->time_us.reset();
  item->batch.Clear();
  const std::string_view raw = reader_->raw();
  item->raw.assign(raw.data(), raw.size());
  bytes_read_ = entry_.offset + raw.size();
  if (bad) return got;
  ASSIGN_OR_RETURN(MappedEntry mapped, mapper_->Map(entry_));
  for (const ChangeOutcome& outcome : mapped.outcomes) {
    if (outcome.effect == ChangeOutcome::Effect::kSkipped) {
      ++counts_.skipped[outcome.why];
    } else {
      ++counts_.effects[EffectName(outcome.effect)];
    }
  }
  item->time_us = mapped.time_us;
  if (!mapped.batch.empty()) {
    item->kind = ReplayItem::Kind::kRequest;
    item->batch = std::move(mapped.batch);
  }
  return true;
}

}  // namespace dovetail

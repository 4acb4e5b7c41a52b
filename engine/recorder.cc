// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/recorder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/seeded_bug.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/commit_record.h"
#include "engine/write_log_check.h"
#include "engine/write_log_directory.h"
#include "engine/write_log_settings.h"

namespace dovetail {
namespace {

// Records kept for their memory are given back above this.
constexpr size_t kKeptRecordBytesMax = 1 << 20;

std::string Facts(uint64_t log_sequence, uint64_t store_sequence,
                  const std::string& directory) {
  return absl::StrCat("log_sequence=", log_sequence,
                      " store_sequence=", store_sequence,
                      " directory=", ToAbsl(Quote(directory, 1024)));
}

absl::Status Gap(uint64_t log_sequence, uint64_t store_sequence,
                 const std::string& directory) {
  return absl::FailedPreconditionError(absl::StrCat(
      "the write log lacks commits that the database has: files of it are "
      "gone, or somebody wrote without recording; put the files back, or start "
      "over with a new log behind those commits "
      "(WriteLogOptions::start_over): ",
      Facts(log_sequence, store_sequence, directory)));
}

absl::Status CheckSameDirectory(const v1::WriteLogSettings& is,
                                const v1::WriteLogSettings& wanted) {
  if (is.directory() == wanted.directory()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the database records into another directory; disable that first: "
      "directory=",
      ToAbsl(Quote(is.directory(), 1024)),
      " wanted=", ToAbsl(Quote(wanted.directory(), 1024))));
}

}  // namespace

Recorder::Recorder(std::string database, const Services& services)
    : database_(std::move(database)), services_(services) {}

Recorder::~Recorder() = default;

absl::StatusOr<std::optional<uint64_t>> Recorder::Open(
    const LevelDbStoreOptions::Found& found,
    const std::optional<WriteLogOptions>& wanted, bool read_only) {
  ASSIGN_OR_RETURN(std::optional<v1::WriteLogSettings> stored,
                   ReadWriteLogSettings(services_.file_system, database_));
  if (!stored.has_value()) return std::optional<uint64_t>();
  v1::WriteLogSettings settings = *stored;
  const bool changes = wanted.has_value() && !read_only;
  if (changes) {
    settings =
        MakeWriteLogSettings(*wanted, SequenceNumber{stored->recorded_above()});
    RETURN_IF_ERROR(CheckSameDirectory(*stored, settings));
  }
  auto writer = OpenWhole(settings, found);
  if (!writer.ok()) {
    const bool unfit = absl::IsFailedPrecondition(writer.status()) ||
                       absl::IsDataLoss(writer.status());
    if (unfit && read_only) return std::optional<uint64_t>();
    if (!unfit || !changes || !wanted->start_over) return writer.status();
    writer = StartOver(&settings, found.newest);
    if (!writer.ok()) return writer.status();
  }
  // The store is about to make its log durable, as tables.
  RETURN_IF_ERROR(SyncLog(**writer));
  if (changes && settings.SerializeAsString() != stored->SerializeAsString()) {
    RETURN_IF_ERROR(
        StoreWriteLogSettings(services_.file_system, database_, settings));
  }
  cuts_ = (*writer)->open_report().cuts;
  Use(*std::move(writer), settings);
  const auto last = static_cast<uint64_t>(writer_->last_sequence());
  if (writer_->file_count() == 0 || last >= found.newest) {
    return std::optional<uint64_t>();
  }
  return std::optional<uint64_t>(last);
}

absl::StatusOr<std::shared_ptr<WriteLogWriter>> Recorder::OpenWriter(
    const v1::WriteLogSettings& settings,
    std::optional<SequenceNumber> cut_above,
    std::optional<SequenceNumber> synced) const {
  WriteLogWriterOptions options;
  options.file_bytes_max = settings.file_bytes_max();
  options.cut_above = cut_above;
  options.synced = synced;
  options.clock = services_.clock;
  options.random = services_.random;
  return WriteLogWriter::Open(services_.file_system,
                              SetupOf(database_, settings).directory,
                              std::move(options));
}

absl::StatusOr<std::shared_ptr<WriteLogWriter>> Recorder::OpenWhole(
    const v1::WriteLogSettings& settings,
    const LevelDbStoreOptions::Found& found) const {
  ASSIGN_OR_RETURN(std::shared_ptr<WriteLogWriter> writer,
                   OpenWriter(settings, SequenceNumber{found.newest},
                              SequenceNumber{found.recorded}));
  // A file's beginning is made durable before the store gets its first commit,
  // and retention never takes the file that the store's newest commit is in:
  // so a log without files is one that has nothing to hold yet.
  const bool lacks =
      writer->file_count() == 0
          ? found.newest > settings.recorded_above()
          : static_cast<uint64_t>(writer->last_sequence()) < found.recorded;
  if (!lacks) return writer;
  return Gap(static_cast<uint64_t>(writer->last_sequence()), found.newest,
             SetupOf(database_, settings).directory);
}

absl::StatusOr<std::shared_ptr<WriteLogWriter>> Recorder::OpenToGoOn(
    const v1::WriteLogSettings& settings, uint64_t sequence) const {
  ASSIGN_OR_RETURN(std::shared_ptr<WriteLogWriter> writer,
                   OpenWriter(settings, std::nullopt, std::nullopt));
  const auto last = static_cast<uint64_t>(writer->last_sequence());
  if (writer->file_count() == 0 || last == sequence) return writer;
  return absl::FailedPreconditionError(absl::StrCat(
      "the directory holds a write log that does not end with the database's "
      "newest commit; give another directory, or start over: ",
      Facts(last, sequence, SetupOf(database_, settings).directory)));
}

absl::StatusOr<std::shared_ptr<WriteLogWriter>> Recorder::StartOver(
    v1::WriteLogSettings* settings, uint64_t sequence) const {
  RETURN_IF_ERROR(SetAside(SetupOf(database_, *settings).directory, sequence));
  settings->set_recorded_above(sequence);
  ASSIGN_OR_RETURN(std::shared_ptr<WriteLogWriter> writer,
                   OpenWriter(*settings, std::nullopt, std::nullopt));
  RETURN_IF_ERROR(
      StoreWriteLogSettings(services_.file_system, database_, *settings));
  return writer;
}

// The newest file first: whenever that ends, what is left is the front of a
// log that is too short, and found to be that again.
absl::Status Recorder::SetAside(const std::string& directory,
                                uint64_t sequence) const {
  FileSystem* const files = services_.file_system;
  RETURN_IF_ERROR(files->CreateDirectory(directory));
  ASSIGN_OR_RETURN(std::vector<uint64_t> firsts,
                   ListWriteLogFiles(files, directory));
  if (firsts.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto lock,
                   files->Lock(absl::StrCat(directory, "/LOCK")));
  const std::string base = absl::StrCat(directory, "/before-", sequence + 1);
  std::string aside = base;
  for (uint64_t n = 1;; ++n) {
    ASSIGN_OR_RETURN(const bool taken, files->Exists(aside));
    if (!taken) break;
    aside = absl::StrCat(base, ".", n);
  }
  RETURN_IF_ERROR(files->CreateDirectory(aside));
  for (auto first = firsts.rbegin(); first != firsts.rend(); ++first) {
    RETURN_IF_ERROR(files->Rename(WriteLogPath(directory, *first),
                                  WriteLogPath(aside, *first)));
    RETURN_IF_ERROR(files->SyncDirectory(aside));
    RETURN_IF_ERROR(files->SyncDirectory(directory));
  }
  return absl::OkStatus();
}

void Recorder::Use(std::shared_ptr<WriteLogWriter> writer,
                   const v1::WriteLogSettings& settings) {
  settings_ = settings;
  setup_ = SetupOf(database_, settings);
  writer_ = std::move(writer);
  newest_file_ = SequenceNumber{};
  MutexLock lock(mu_);
  shared_writer_ = writer_;
  shared_directory_ = setup_.directory;
}

absl::Status Recorder::Start(const WriteLogOptions& options,
                             SequenceNumber sequence,
                             const SchemaState& schema) {
  if (database_.empty()) {
    return absl::InvalidArgumentError(
        "an engine in memory has no directory, so it has no write log");
  }
  v1::WriteLogSettings settings = MakeWriteLogSettings(options, sequence);
  if (on()) {
    RETURN_IF_ERROR(CheckSameDirectory(settings_, settings));
    settings.set_recorded_above(settings_.recorded_above());
    // If the log cannot be opened again, the next commit fails with it.
    RETURN_IF_ERROR(writer_->Close());
  }
  RETURN_IF_ERROR(CheckWriteLogSchema(SchemaOf(schema)));
  const auto at = static_cast<uint64_t>(sequence);
  auto writer = OpenToGoOn(settings, at);
  const bool unfit = absl::IsFailedPrecondition(writer.status()) ||
                     absl::IsDataLoss(writer.status());
  if (unfit && options.start_over) writer = StartOver(&settings, at);
  RETURN_IF_ERROR(writer.status());
  RETURN_IF_ERROR(SyncLog(**writer));
  RETURN_IF_ERROR(
      StoreWriteLogSettings(services_.file_system, database_, settings));
  Use(*std::move(writer), settings);
  return UseSchema(schema);
}

absl::Status Recorder::Stop() {
  if (!on()) return absl::NotFoundError("the database does not record");
  RETURN_IF_ERROR(RemoveWriteLogSettings(services_.file_system, database_));
  writer_ = nullptr;
  std::shared_ptr<WriteLogWriter> last;
  {
    MutexLock lock(mu_);
    last = std::move(shared_writer_);
  }
  return last->Sync();
}

absl::Status Recorder::CheckSchema(const SchemaState& schema) const {
  if (!on()) return absl::OkStatus();
  return CheckWriteLogSchema(SchemaOf(schema));
}

absl::Status Recorder::UseSchema(const SchemaState& schema) {
  if (!on()) return absl::OkStatus();
  v1::Schema proto = SchemaOf(schema);
  schema_fingerprint_ = SchemaFingerprint(proto);
  return writer_->SetSchema(std::move(proto));
}

absl::Status Recorder::Prepare(const SchemaState& schema,
                               RequestEffects* effects) {
  FillCommitRecord(*effects, services_.clock->NowMicros(), &record_);
  RETURN_IF_ERROR(CheckWriteLogRecord(record_));
  if (!schema.feed_prefix().empty()) {
    record_.SerializeToString(&effects->feed_record);
  }
  if (!on()) return absl::OkStatus();
  AddOldFields(*effects, &record_);
  record_.set_schema_fingerprint(schema_fingerprint_);
  RETURN_IF_ERROR(CheckWriteLogBytes(record_.ByteSizeLong(), "record"));
  if (prepared_count_ == prepared_.size()) prepared_.emplace_back();
  Prepared& prepared = prepared_[prepared_count_++];
  prepared.sequence = effects->commit.sequence;
  record_.SerializeToString(&prepared.bytes);
  return absl::OkStatus();
}

absl::Status Recorder::Append(bool sync) {
  if (!on()) return absl::OkStatus();
  const size_t count = std::exchange(prepared_count_, 0);
  for (size_t i = 0; i < count; ++i) {
    RETURN_IF_ERROR(
        writer_->AppendSerialized(prepared_[i].sequence, prepared_[i].bytes));
    if (prepared_[i].bytes.capacity() > kKeptRecordBytesMax) {
      std::string().swap(prepared_[i].bytes);
    }
  }
  if (sync) return SyncLog(*writer_);
  return count > 0 ? writer_->Flush() : absl::OkStatus();
}

void Recorder::Committed(SequenceNumber sequence, bool synced) {
  if (!on()) return;
  {
    MutexLock lock(mu_);
    committed_ = sequence;
    if (synced) durable_ = std::max(durable_, sequence);
  }
  if (writer_->newest_file() != newest_file_ && holds_ == 0) DropFiles();
}

// What the store may yet lose in a power cut stays in the log: a log that
// began above the store's newest commit would be cut to nothing.
void Recorder::DropFiles() {
  WriteLogRetention retention = setup_.retention;
  {
    MutexLock lock(mu_);
    retention.keep_from = durable_;
  }
  const SequenceNumber newest = writer_->newest_file();
  const absl::Status dropped = writer_->ApplyRetention(retention).status();
  if (*retention.keep_from >= newest || !dropped.ok()) newest_file_ = newest;
  if (dropped.ok()) return;
  MutexLock lock(mu_);
  if (retention_error_.empty()) {
    retention_error_ = std::string(dropped.message());
  }
}

absl::Status Recorder::Sync() {
  std::shared_ptr<WriteLogWriter> writer;
  {
    MutexLock lock(mu_);
    writer = shared_writer_;
    // The store syncs its log once at a time, and fails for good if a sync
    // fails: the one before this has gone well.
    durable_ = std::max(durable_, syncing_);
    syncing_ = committed_;
  }
  return writer == nullptr ? absl::OkStatus() : SyncLog(*writer);
}

absl::Status Recorder::SyncLog(WriteLogWriter& writer) {
  const SequenceNumber last = writer.last_sequence();
  if (!SeededBug("write_log_not_synced")) RETURN_IF_ERROR(writer.Sync());
  MutexLock lock(mu_);
  synced_ = std::max(synced_, last);
  return absl::OkStatus();
}

std::optional<SequenceNumber> Recorder::synced() const {
  if (!on()) return std::nullopt;
  MutexLock lock(mu_);
  return synced_;
}

std::optional<WriteLogStats> Recorder::GetStats() const {
  std::shared_ptr<WriteLogWriter> writer;
  WriteLogStats stats;
  {
    MutexLock lock(mu_);
    writer = shared_writer_;
    stats.directory = shared_directory_;
    stats.retention_error = retention_error_;
  }
  if (writer == nullptr) return std::nullopt;
  stats.files = writer->file_count();
  stats.bytes = writer->bytes();
  stats.first_sequence = writer->first_sequence();
  stats.last_sequence = writer->last_sequence();
  return stats;
}

}  // namespace dovetail

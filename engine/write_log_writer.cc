// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// A file is begun in this order: the one before gets its trailer, is synced
// and closed; the new one gets its head, is synced, and its name is. So a file
// with a successor is complete on the disk, and a file with records has a
// head, whatever a power cut leaves of the rest.

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/crc32c.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/write_log.h"
#include "engine/write_log_check.h"
#include "engine/write_log_directory.h"
#include "engine/write_log_format.h"
#include "engine/write_log_recovery.h"

namespace dovetail {
namespace {

// A trailer's frame: two varints with their tags.
constexpr uint64_t kTrailerBytesMax = kWriteLogFrameHeaderBytes + 22;

std::string WithoutSlashes(std::string directory) {
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  return directory;
}

std::string ParentOf(const std::string& directory) {
  const size_t slash = directory.rfind('/');
  if (slash == directory.npos) return ".";
  return slash == 0 ? "/" : directory.substr(0, slash);
}

}  // namespace

class WriteLogWriter::Impl {
 public:
  Impl(FileSystem* file_system, std::string directory,
       WriteLogWriterOptions options)
      : file_system_(file_system),
        directory_(WithoutSlashes(std::move(directory))),
        file_bytes_max_(options.file_bytes_max),
        recovery_{.cut_above = options.cut_above, .synced = options.synced},
        clock_(options.clock != nullptr ? options.clock : Clock::System()),
        random_(options.random != nullptr ? options.random
                                          : RandomSource::System()),
        schema_(std::move(options.schema)) {}

  absl::Status Open() NO_THREAD_SAFETY_ANALYSIS;  // Nobody else has it yet.
  absl::Status Append(const v1::WriteLogRecord& record);
  absl::Status AppendSerialized(uint64_t sequence, std::string_view record);
  absl::Status Flush();
  absl::Status Sync();
  absl::Status Close();
  absl::Status SetSchema(v1::Schema schema);
  absl::StatusOr<WriteLogDropped> ApplyRetention(
      const WriteLogRetention& retention);
  absl::StatusOr<WriteLogDropped> DropBefore(uint64_t sequence);

  uint64_t next_sequence() const {
    MutexLock lock(mu_);
    return next_sequence_;
  }
  uint64_t first_sequence() const {
    MutexLock lock(mu_);
    return files_.empty() ? 0 : files_.front().first;
  }
  uint64_t newest_file() const {
    MutexLock lock(mu_);
    return files_.empty() ? 0 : files_.back().first;
  }
  uint64_t file_count() const {
    MutexLock lock(mu_);
    return files_.size();
  }
  uint64_t bytes() const {
    MutexLock lock(mu_);
    return bytes_;
  }
  const WriteLogOpenReport& open_report() const { return report_; }

 private:
  struct File {
    uint64_t first;
    uint64_t bytes;
    std::optional<int64_t> created_us;  // Absent: not yet looked at.
  };

  absl::Status OpenTail(const WriteLogTail& tail) REQUIRES(mu_);
  // What a caller is told after the first failure.
  absl::Status Usable() const REQUIRES(mu_);
  // Remembers a failure of a write, and returns it.
  absl::Status Keep(absl::Status status) REQUIRES(mu_);
  // Returns while no sync is under way: file_ may be replaced then.
  void AwaitSync() REQUIRES(mu_);

  absl::Status AppendLocked(uint64_t sequence, std::string_view record)
      REQUIRES(mu_);
  absl::Status Write(uint64_t sequence, std::string_view record) REQUIRES(mu_);
  absl::Status AppendFrame(WriteLogFrameKind kind, uint64_t sequence,
                           std::string_view payload) REQUIRES(mu_);
  absl::Status AppendBytes(std::string_view bytes) REQUIRES(mu_);
  bool FitsInFile(size_t record_bytes) const REQUIRES(mu_);
  absl::Status BeginFile(uint64_t first_sequence) REQUIRES(mu_);
  absl::Status FinishFile() REQUIRES(mu_);

  absl::StatusOr<int64_t> CreatedMicros(File& file) REQUIRES(mu_);
  absl::Status DropOldest(WriteLogDropped* dropped) REQUIRES(mu_);

  FileSystem* const file_system_;
  const std::string directory_;
  const uint64_t file_bytes_max_;
  const WriteLogRecoveryOptions recovery_;
  Clock* const clock_;
  RandomSource* const random_;

  // Constant once the log is open.
  WriteLogOpenReport report_;
  uint64_t log_id_ = 0;

  mutable Mutex mu_;
  CondVar synced_;
  std::unique_ptr<FileLock> lock_ GUARDED_BY(mu_);
  v1::Schema schema_ GUARDED_BY(mu_);
  uint64_t next_sequence_ GUARDED_BY(mu_) = 0;  // 0: any.
  std::deque<File> files_ GUARDED_BY(mu_);      // The oldest first.
  uint64_t bytes_ GUARDED_BY(mu_) = 0;          // Of all of them.

  // The file that is being written; null if the next record begins one. While
  // a sync is under way it is in use without the lock.
  std::unique_ptr<WritableFile> file_ GUARDED_BY(mu_);
  bool syncing_ GUARDED_BY(mu_) = false;
  bool unsynced_ GUARDED_BY(mu_) = false;  // Since the last sync that began.
  WriteLogFileId id_ GUARDED_BY(mu_);
  uint64_t file_records_ GUARDED_BY(mu_) = 0;
  std::string file_schema_ GUARDED_BY(mu_);  // Serialized.
  bool schema_changed_ GUARDED_BY(mu_) = false;

  std::string buffer_ GUARDED_BY(mu_);  // Of Append, kept for its memory.
  absl::Status failed_ GUARDED_BY(mu_);
};

absl::Status WriteLogWriter::Impl::Open() {
  RETURN_IF_ERROR(CheckWriteLogSchema(schema_));
  RETURN_IF_ERROR(file_system_->CreateDirectory(directory_));
  RETURN_IF_ERROR(file_system_->SyncDirectory(ParentOf(directory_)));
  ASSIGN_OR_RETURN(lock_,
                   file_system_->Lock(absl::StrCat(directory_, "/LOCK")));
  ASSIGN_OR_RETURN(RecoveredWriteLog log,
                   RecoverWriteLog(file_system_, directory_, recovery_));
  report_ = std::move(log.report);
  for (const uint64_t first : log.files) {
    ASSIGN_OR_RETURN(const uint64_t size,
                     file_system_->Size(WriteLogPath(directory_, first)));
    files_.push_back({first, size, std::nullopt});
    bytes_ += size;
  }
  if (log.tail.has_value()) return OpenTail(*log.tail);
  log_id_ = random_->Next64();
  return absl::OkStatus();
}

absl::Status WriteLogWriter::Impl::OpenTail(const WriteLogTail& tail) {
  log_id_ = tail.id.log_id;
  next_sequence_ = tail.next_sequence();
  files_.back().created_us = tail.header.created_us();
  ASSIGN_OR_RETURN(file_, file_system_->NewAppendableFile(WriteLogPath(
                              directory_, tail.id.first_sequence)));
  if (tail.complete) {
    // Whoever wrote it may have died before it was synced.
    RETURN_IF_ERROR(file_->Sync());
    return std::exchange(file_, nullptr)->Close();
  }
  unsynced_ = true;
  id_ = tail.id;
  file_records_ = tail.records;
  file_schema_ = tail.header.schema().SerializeAsString();
  schema_changed_ = file_schema_ != schema_.SerializeAsString();
  return absl::OkStatus();
}

absl::Status WriteLogWriter::Impl::Usable() const {
  if (failed_.ok()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the write log takes nothing until it is opened again: "
                   "cause=",
                   ToAbsl(Quote(ToStd(failed_.message()), 1024))));
}

absl::Status WriteLogWriter::Impl::Keep(absl::Status status) {
  if (!status.ok() && failed_.ok()) failed_ = status;
  return status;
}

void WriteLogWriter::Impl::AwaitSync() {
  while (syncing_) synced_.Wait(mu_);
}

absl::Status WriteLogWriter::Impl::Append(const v1::WriteLogRecord& record) {
  MutexLock lock(mu_);
  RETURN_IF_ERROR(Usable());
  RETURN_IF_ERROR(CheckWriteLogRecord(record));
  buffer_.clear();
  if (!record.AppendToString(&buffer_)) {
    return absl::InternalError("a write log record cannot be serialized");
  }
  return AppendLocked(record.sequence(), buffer_);
}

absl::Status WriteLogWriter::Impl::AppendSerialized(uint64_t sequence,
                                                    std::string_view record) {
  MutexLock lock(mu_);
  return AppendLocked(sequence, record);
}

absl::Status WriteLogWriter::Impl::AppendLocked(uint64_t sequence,
                                                std::string_view record) {
  while (syncing_ && !FitsInFile(record.size())) synced_.Wait(mu_);
  RETURN_IF_ERROR(Usable());
  RETURN_IF_ERROR(CheckWriteLogBytes(record.size(), "record"));
  if (sequence == 0 || sequence > kWriteLogSequenceMax ||
      (next_sequence_ != 0 && sequence != next_sequence_)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "not the next sequence of the write log: sequence=", sequence,
        " next=", next_sequence_));
  }
  return Keep(Write(sequence, record));
}

absl::Status WriteLogWriter::Impl::Write(uint64_t sequence,
                                         std::string_view record) {
  if (!FitsInFile(record.size())) RETURN_IF_ERROR(BeginFile(sequence));
  RETURN_IF_ERROR(AppendFrame(WriteLogFrameKind::kRecord, sequence, record));
  ++file_records_;
  next_sequence_ = sequence + 1;
  return absl::OkStatus();
}

bool WriteLogWriter::Impl::FitsInFile(size_t record_bytes) const {
  if (file_ == nullptr || schema_changed_) return false;
  return file_records_ == 0 || files_.back().bytes + kWriteLogFrameHeaderBytes +
                                       record_bytes + kTrailerBytesMax <=
                                   file_bytes_max_;
}

absl::Status WriteLogWriter::Impl::AppendFrame(WriteLogFrameKind kind,
                                               uint64_t sequence,
                                               std::string_view payload) {
  const WriteLogFrameHeaderBytes header = EncodeWriteLogFrameHeader(
      {.kind = kind,
       .payload_bytes = static_cast<uint32_t>(payload.size()),
       .sequence = sequence,
       .payload_crc = Crc32c(payload)},
      id_, files_.back().bytes);
  RETURN_IF_ERROR(AppendBytes({header.data(), header.size()}));
  return AppendBytes(payload);
}

absl::Status WriteLogWriter::Impl::AppendBytes(std::string_view bytes) {
  unsynced_ = true;
  RETURN_IF_ERROR(file_->Append(bytes));
  files_.back().bytes += bytes.size();
  bytes_ += bytes.size();
  return absl::OkStatus();
}

absl::Status WriteLogWriter::Impl::BeginFile(uint64_t first_sequence) {
  if (file_ != nullptr && file_records_ > 0) RETURN_IF_ERROR(FinishFile());
  if (file_ != nullptr) {
    // It has a head only, and its successor has the same name.
    RETURN_IF_ERROR(std::exchange(file_, nullptr)->Close());
    bytes_ -= files_.back().bytes;
    files_.pop_back();
  }
  v1::WriteLogFileHeader header;
  header.set_format_version(static_cast<uint32_t>(kWriteLogVersion));
  header.set_log_id(log_id_);
  header.set_first_sequence(first_sequence);
  header.set_created_us(clock_->NowMicros());
  *header.mutable_schema() = schema_;

  ASSIGN_OR_RETURN(file_, file_system_->NewWritableFile(
                              WriteLogPath(directory_, first_sequence)));
  id_ = {.log_id = log_id_, .first_sequence = first_sequence};
  files_.push_back({first_sequence, 0, header.created_us()});
  file_records_ = 0;
  file_schema_ = schema_.SerializeAsString();
  schema_changed_ = false;
  RETURN_IF_ERROR(AppendBytes(EncodeWriteLogPreamble(
      {.version = static_cast<uint32_t>(kWriteLogVersion), .id = id_})));
  RETURN_IF_ERROR(AppendFrame(WriteLogFrameKind::kHeader, first_sequence,
                              header.SerializeAsString()));
  RETURN_IF_ERROR(file_->Sync());
  unsynced_ = false;
  return file_system_->SyncDirectory(directory_);
}

absl::Status WriteLogWriter::Impl::FinishFile() {
  v1::WriteLogFileTrailer trailer;
  trailer.set_record_count(file_records_);
  trailer.set_last_sequence(next_sequence_ - 1);
  RETURN_IF_ERROR(AppendFrame(WriteLogFrameKind::kTrailer, next_sequence_ - 1,
                              trailer.SerializeAsString()));
  RETURN_IF_ERROR(file_->Sync());
  return std::exchange(file_, nullptr)->Close();
}

absl::Status WriteLogWriter::Impl::Flush() {
  MutexLock lock(mu_);
  RETURN_IF_ERROR(Usable());
  if (file_ == nullptr) return absl::OkStatus();
  return Keep(file_->Flush());
}

// One at a time: the operating system reports a failed write-back to one sync
// only, so one beside it could succeed because that one failed.
absl::Status WriteLogWriter::Impl::Sync() {
  MutexLock lock(mu_);
  AwaitSync();
  RETURN_IF_ERROR(Usable());
  // A file that is not open any more was synced when it was finished.
  if (file_ == nullptr || !unsynced_) return absl::OkStatus();
  unsynced_ = false;
  syncing_ = true;
  WritableFile* const file = file_.get();
  mu_.Unlock();
  absl::Status status = file->Sync();
  mu_.Lock();
  syncing_ = false;
  synced_.SignalAll();
  return Keep(std::move(status));
}

absl::Status WriteLogWriter::Impl::Close() {
  absl::Status status = Sync();
  MutexLock lock(mu_);
  AwaitSync();
  if (file_ != nullptr) {
    absl::Status closed = std::exchange(file_, nullptr)->Close();
    if (status.ok()) status = std::move(closed);
  }
  lock_.reset();
  failed_ = absl::FailedPreconditionError("the write log is closed");
  return status;
}

absl::Status WriteLogWriter::Impl::SetSchema(v1::Schema schema) {
  MutexLock lock(mu_);
  RETURN_IF_ERROR(Usable());
  RETURN_IF_ERROR(CheckWriteLogSchema(schema));
  schema_ = std::move(schema);
  schema_changed_ = file_schema_ != schema_.SerializeAsString();
  return absl::OkStatus();
}

absl::StatusOr<WriteLogDropped> WriteLogWriter::Impl::ApplyRetention(
    const WriteLogRetention& retention) {
  MutexLock lock(mu_);
  RETURN_IF_ERROR(Usable());
  WriteLogDropped dropped;
  while (files_.size() > 1) {
    if (retention.keep_from.has_value() &&
        files_[1].first > static_cast<uint64_t>(*retention.keep_from)) {
      break;
    }
    bool drop =
        retention.bytes_max.has_value() && bytes_ > *retention.bytes_max;
    if (!drop && retention.age_max_us.has_value()) {
      // The newest record of a file is older than its successor.
      ASSIGN_OR_RETURN(const int64_t written_before, CreatedMicros(files_[1]));
      drop = clock_->NowMicros() - written_before > *retention.age_max_us;
    }
    if (!drop) break;
    RETURN_IF_ERROR(DropOldest(&dropped));
  }
  return dropped;
}

absl::StatusOr<WriteLogDropped> WriteLogWriter::Impl::DropBefore(
    uint64_t sequence) {
  MutexLock lock(mu_);
  RETURN_IF_ERROR(Usable());
  WriteLogDropped dropped;
  while (files_.size() > 1 && files_[1].first <= sequence) {
    RETURN_IF_ERROR(DropOldest(&dropped));
  }
  return dropped;
}

absl::StatusOr<int64_t> WriteLogWriter::Impl::CreatedMicros(File& file) {
  if (!file.created_us.has_value()) {
    ASSIGN_OR_RETURN(const v1::WriteLogFileHeader header,
                     ReadWriteLogFileHeader(
                         file_system_, WriteLogPath(directory_, file.first)));
    file.created_us = header.created_us();
  }
  return *file.created_us;
}

absl::Status WriteLogWriter::Impl::DropOldest(WriteLogDropped* dropped) {
  const File oldest = files_.front();
  RETURN_IF_ERROR(file_system_->Delete(WriteLogPath(directory_, oldest.first)));
  files_.pop_front();
  bytes_ -= oldest.bytes;
  ++dropped->files;
  dropped->bytes += oldest.bytes;
  // After each: a name that comes back while a newer one stays away would be
  // a hole in the log.
  return file_system_->SyncDirectory(directory_);
}

WriteLogWriter::WriteLogWriter(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
WriteLogWriter::~WriteLogWriter() = default;

absl::StatusOr<std::unique_ptr<WriteLogWriter>> WriteLogWriter::Open(
    FileSystem* file_system, std::string directory,
    WriteLogWriterOptions options) {
  auto impl = std::make_unique<Impl>(file_system, std::move(directory),
                                     std::move(options));
  RETURN_IF_ERROR(impl->Open());
  return std::unique_ptr<WriteLogWriter>(new WriteLogWriter(std::move(impl)));
}

absl::Status WriteLogWriter::Append(const v1::WriteLogRecord& record) {
  return impl_->Append(record);
}
absl::Status WriteLogWriter::AppendSerialized(SequenceNumber sequence,
                                              std::string_view record) {
  return impl_->AppendSerialized(static_cast<uint64_t>(sequence), record);
}
absl::Status WriteLogWriter::Flush() { return impl_->Flush(); }
absl::Status WriteLogWriter::Sync() { return impl_->Sync(); }
absl::Status WriteLogWriter::Close() { return impl_->Close(); }

absl::Status WriteLogWriter::SetSchema(v1::Schema schema) {
  return impl_->SetSchema(std::move(schema));
}
absl::StatusOr<WriteLogDropped> WriteLogWriter::ApplyRetention(
    const WriteLogRetention& retention) {
  return impl_->ApplyRetention(retention);
}
absl::StatusOr<WriteLogDropped> WriteLogWriter::DropBefore(
    SequenceNumber sequence) {
  return impl_->DropBefore(static_cast<uint64_t>(sequence));
}

SequenceNumber WriteLogWriter::last_sequence() const {
  const uint64_t next = impl_->next_sequence();
  return SequenceNumber{next == 0 ? 0 : next - 1};
}
SequenceNumber WriteLogWriter::first_sequence() const {
  return SequenceNumber{impl_->first_sequence()};
}
SequenceNumber WriteLogWriter::newest_file() const {
  return SequenceNumber{impl_->newest_file()};
}
uint64_t WriteLogWriter::file_count() const { return impl_->file_count(); }
uint64_t WriteLogWriter::bytes() const { return impl_->bytes(); }
const WriteLogOpenReport& WriteLogWriter::open_report() const {
  return impl_->open_report();
}

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/storage/leveldb_salvage.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "engine/storage/leveldb_batch.h"
#include "engine/storage/leveldb_files.h"
#include "engine/storage/leveldb_internal_key.h"
#include "engine/storage/leveldb_log_reader.h"
#include "engine/storage/leveldb_manifest.h"
#include "engine/storage/leveldb_table_salvage.h"

namespace dovetail {
namespace {

// Versions of keys in internal order, and the gaps among them. What has a
// lower rank is newer than what has a higher one.
class Source {
 public:
  explicit Source(uint64_t rank) : rank_(rank) {}
  virtual ~Source() = default;
  uint64_t rank() const { return rank_; }

  virtual bool Valid() const = 0;
  virtual void Next() = 0;
  virtual std::string_view key() const = 0;
  virtual uint64_t trailer() const = 0;
  virtual std::string_view value() const = 0;

  // Whether a gap of this source may hide a version of `key` newer than one
  // from `winner`. To be asked with ascending keys, and once the source has
  // passed them.
  bool MayHide(std::string_view key, const Source* winner) {
    while (settled_ < gaps_.size() && !gaps_[settled_].before_key.empty() &&
           gaps_[settled_].before_key < key) {
      ++settled_;
    }
    for (size_t i = settled_; i < gaps_.size(); ++i) {
      const TableGap& gap = gaps_[i];
      if (gap.after_key > key) return false;
      if (winner == this ? gap.before_key == key : rank_ <= winner->rank()) {
        return true;
      }
    }
    return false;
  }

 protected:
  void AddGap(TableGap gap) { gaps_.push_back(std::move(gap)); }

 private:
  const uint64_t rank_;
  std::vector<TableGap> gaps_;  // Ordered.
  size_t settled_ = 0;          // Those before it lie before the keys to come.
};

// Tables that follow each other: a level, or a single one.
class TableSource final : public Source {
 public:
  struct Table {
    uint64_t number;
    LevelDbTableInfo info;  // Keys are empty if the manifest is lost.
  };
  TableSource(uint64_t rank, FileSystem* files, const std::string& directory,
              std::vector<Table> tables, SalvageReport* report)
      : Source(rank),
        files_(*files),
        directory_(directory),
        tables_(std::move(tables)),
        report_(report) {
    OpenNext();
  }

  bool Valid() const override { return table_ != nullptr; }
  void Next() override {
    table_->Next();
    CollectGaps();
    if (!table_->Valid()) OpenNext();
  }
  std::string_view key() const override { return table_->user_key(); }
  uint64_t trailer() const override { return table_->trailer(); }
  std::string_view value() const override { return table_->value(); }

 private:
  // Opens tables until one has an entry.
  void OpenNext() {
    table_ = nullptr;
    while (next_ < tables_.size() && table_ == nullptr) {
      const Table& table = tables_[next_++];
      ++report_->tables;
      damaged_ = false;
      name_ = TableName(table.number);
      const std::string old_name = OldTableName(table.number);
      if (files_.Exists(JoinPath(directory_, old_name)).value_or(false)) {
        name_ = old_name;
      }
      gaps_taken_ = 0;
      auto opened = SalvagedTable::Open(files_, JoinPath(directory_, name_));
      if (!opened.ok()) {
        Report({0,
                table.info.size,
                std::string(opened.status().message()),
                {},
                {}});
        continue;
      }
      table_ = *std::move(opened);
      if (table_->index_lost()) ++report_->tables_without_index;
      CollectGaps();
      if (!table_->Valid()) table_ = nullptr;
    }
  }

  void CollectGaps() {
    const std::vector<TableGap>& gaps = table_->gaps();
    for (; gaps_taken_ < gaps.size(); ++gaps_taken_) {
      Report(gaps[gaps_taken_]);
    }
  }

  void Report(TableGap gap) {
    const LevelDbTableInfo& info = tables_[next_ - 1].info;
    if (gap.after_key.empty()) gap.after_key = info.smallest;
    if (gap.before_key.empty()) gap.before_key = info.largest;
    if (!std::exchange(damaged_, true)) ++report_->tables_damaged;
    ++report_->damage_count;
    report_->damage_bytes += gap.bytes;
    if (report_->damage.size() < SalvageReport::kDamageKeptMax) {
      report_->damage.push_back({name_, gap.offset, gap.bytes, gap.reason,
                                 gap.after_key, gap.before_key});
    }
    AddGap(std::move(gap));
  }

  FileSystem& files_;
  const std::string& directory_;
  const std::vector<Table> tables_;
  SalvageReport* const report_;
  size_t next_ = 0;
  std::string name_;  // Of the table at next_ - 1.
  bool damaged_ = false;
  std::unique_ptr<SalvagedTable> table_;
  size_t gaps_taken_ = 0;
};

// The logs, up to the first break, in memory: LevelDB holds the same there.
class LogSource final : public Source {
 public:
  LogSource(const std::string& directory, const LevelDbStoreOptions& options,
            SalvageReport* report)
      : Source(0), directory_(directory), options_(options), report_(report) {}

  // `numbers` in order. `last_sequence` is what the manifest knows, or nullopt.
  absl::Status Read(const std::vector<uint64_t>& numbers,
                    std::optional<uint64_t> last_sequence) {
    bool broken = false;
    for (const uint64_t number : numbers) {
      ++report_->logs;
      RETURN_IF_ERROR(ReadLog(LogName(number), last_sequence, &broken));
    }
    std::sort(versions_.begin(), versions_.end(),
              [](const Version& a, const Version& b) {
                const int order = a.key.compare(b.key);
                return order != 0 ? order < 0 : a.trailer > b.trailer;
              });
    return absl::OkStatus();
  }

  bool Valid() const override { return at_ < versions_.size(); }
  void Next() override { ++at_; }
  std::string_view key() const override { return versions_[at_].key; }
  uint64_t trailer() const override { return versions_[at_].trailer; }
  std::string_view value() const override { return versions_[at_].value; }

 private:
  using Event = LevelDbLogReader::Event;
  struct Version {
    std::string key;
    uint64_t trailer;
    std::string value;
  };

  absl::Status ReadLog(const std::string& name,
                       std::optional<uint64_t> last_sequence, bool* broken) {
    const std::string path = JoinPath(directory_, name);
    FileSystem& files = *options_.file_system;
    ASSIGN_OR_RETURN(const uint64_t size, files.Size(path));
    absl::StatusOr<std::unique_ptr<SequentialFile>> file =
        files.NewSequentialFile(path);
    if (!file.ok()) {
      if (!std::exchange(*broken, true)) {
        Report(name, 0, size, std::string(file.status().message()));
      }
      return absl::OkStatus();
    }
    LevelDbLogReader reader(*std::move(file));
    if (*broken) {
      Report(name, 0, size, "it follows a log that breaks off");
    }
    while (true) {
      absl::StatusOr<Event> event =
          *broken ? reader.NextIntact() : reader.Next();
      if (!event.ok()) {
        *broken = true;
        Report(name, reader.offset(), size - std::min(size, reader.offset()),
               absl::StrCat("read failed: ", event.status().message()));
        return absl::OkStatus();
      }
      if (*event == Event::kEnd) return absl::OkStatus();
      std::string reason;
      if (*event != Event::kRecord) {
        reason = reader.reason();
      } else if (*broken) {
        LookBehind(reader.record());
      } else {
        reason = Take(reader.record(), last_sequence);
      }
      if (reason.empty() || std::exchange(*broken, true)) continue;
      Report(name, reader.offset(), size - std::min(size, reader.offset()),
             std::move(reason));
      if (*event == Event::kRecord) LookBehind(reader.record());
    }
  }

  // Takes a batch. A reason if it does not belong here.
  std::string Take(std::string_view record,
                   std::optional<uint64_t> last_sequence) {
    const size_t before = versions_.size();
    const auto batch = DecodeLevelDbBatch(
        record,
        [&](std::string_view key, std::string_view value) {
          versions_.push_back({std::string(key), kPutType, std::string(value)});
        },
        [&](std::string_view key) {
          versions_.push_back({std::string(key), 0, {}});
        });
    std::string reason;
    if (!batch.ok()) {
      reason = std::string(batch.status().message());
    } else if (next_sequence_.has_value()
                   ? batch->sequence != *next_sequence_
                   : last_sequence.has_value() &&
                         batch->sequence > *last_sequence + 1) {
      reason = absl::StrCat("batches are missing or repeated sequence=",
                            batch->sequence);
    }
    if (!reason.empty()) {
      versions_.resize(before);
      return reason;
    }
    uint64_t sequence = batch->sequence;
    for (size_t i = before; i < versions_.size(); ++i) {
      versions_[i].trailer |= sequence++ << 8;
    }
    next_sequence_ = batch->next_sequence();
    return reason;
  }

  // Takes down what an intact batch behind the break says of itself.
  void LookBehind(std::string_view record) {
    std::string_view mark_value;
    const auto batch = DecodeLevelDbBatch(
        record, [&](std::string_view key, std::string_view value) {
          if (key == options_.mark_key) mark_value = value;
        });
    if (!batch.ok() || mark_value.empty() || options_.parse_mark == nullptr) {
      return;
    }
    const auto mark = options_.parse_mark(mark_value);
    if (!mark.ok()) return;
    report_->sequence_behind_break =
        std::max(report_->sequence_behind_break, mark->sequence);
    report_->synced_behind_break =
        std::max(report_->synced_behind_break, mark->synced_sequence);
  }

  void Report(const std::string& name, uint64_t offset, uint64_t bytes,
              std::string reason) {
    ++report_->damage_count;
    report_->damage_bytes += bytes;
    if (report_->damage.size() < SalvageReport::kDamageKeptMax) {
      report_->damage.push_back(
          {name, offset, bytes, std::move(reason), {}, {}});
    }
  }

  const std::string& directory_;
  const LevelDbStoreOptions& options_;
  SalvageReport* const report_;
  std::optional<uint64_t> next_sequence_;
  std::vector<Version> versions_;
  size_t at_ = 0;
};

class Salvage {
 public:
  Salvage(const std::string& directory, const LevelDbStoreOptions& options)
      : directory_(directory), options_(options) {}

  absl::StatusOr<SalvageReport> Run(
      absl::FunctionRef<absl::Status(const SalvagedEntry&)> visit) {
    RETURN_IF_ERROR(OpenSources());
    RETURN_IF_ERROR(Merge(visit));
    return std::move(report_);
  }

 private:
  absl::Status OpenSources() {
    ASSIGN_OR_RETURN(const std::vector<std::string> names,
                     options_.file_system->List(directory_));
    std::vector<uint64_t> logs;
    std::vector<uint64_t> tables;
    for (const std::string& name : names) {
      const LevelDbFileName file = ParseLevelDbFileName(name);
      if (file.kind == LevelDbFileKind::kLog) logs.push_back(file.number);
      if (file.kind == LevelDbFileKind::kTable) tables.push_back(file.number);
    }
    std::sort(logs.begin(), logs.end());
    std::sort(tables.begin(), tables.end());
    tables.erase(std::unique(tables.begin(), tables.end()), tables.end());
    if (logs.empty() && tables.empty()) {
      return absl::NotFoundError(
          absl::StrCat("neither tables nor logs are there: directory=",
                       ToAbsl(Quote(directory_, 1024))));
    }
    const absl::StatusOr<LevelDbManifest> manifest =
        ReadLevelDbManifest(*options_.file_system, directory_);
    std::optional<uint64_t> last_sequence;
    if (manifest.ok()) {
      last_sequence = manifest->last_sequence;
      std::erase_if(logs, [&](uint64_t number) {
        return number < manifest->log_number &&
               number != manifest->previous_log_number;
      });
      OpenLevels(*manifest);
    } else {
      report_.manifest_damage = std::string(manifest.status().message());
      for (const uint64_t number : tables) AddTables(1, {{number, {}}});
    }
    auto log = std::make_unique<LogSource>(directory_, options_, &report_);
    RETURN_IF_ERROR(log->Read(logs, last_sequence));
    sources_.push_back(std::move(log));
    return absl::OkStatus();
  }

  // Each table of level 0 by itself, the newest first; the others by level.
  void OpenLevels(const LevelDbManifest& manifest) {
    uint64_t newest = 0;
    for (const auto& [level_and_number, info] : manifest.tables) {
      newest = std::max(newest, level_and_number.second);
    }
    std::vector<std::vector<TableSource::Table>> levels;
    for (const auto& [level_and_number, info] : manifest.tables) {
      const auto [level, number] = level_and_number;
      if (level == 0) {
        AddTables(1 + newest - number, {{number, info}});
        continue;
      }
      if (levels.size() < level) levels.resize(level);
      levels[level - 1].push_back({number, info});
    }
    for (size_t i = 0; i < levels.size(); ++i) {
      std::sort(levels[i].begin(), levels[i].end(),
                [](const TableSource::Table& a, const TableSource::Table& b) {
                  return a.info.smallest < b.info.smallest;
                });
      AddTables(2 + newest + i, std::move(levels[i]));
    }
  }

  void AddTables(uint64_t rank, std::vector<TableSource::Table> tables) {
    sources_.push_back(std::make_unique<TableSource>(
        rank, options_.file_system, directory_, std::move(tables), &report_));
  }

  // Sources are few, but for a lost manifest: a heap by their next version.
  absl::Status Merge(
      absl::FunctionRef<absl::Status(const SalvagedEntry&)> visit) {
    const auto later = [](const Source* a, const Source* b) {
      const int order = a->key().compare(b->key());
      return order != 0 ? order > 0 : a->trailer() < b->trailer();
    };
    std::vector<Source*> heap;
    for (const auto& source : sources_) {
      if (source->Valid()) heap.push_back(source.get());
    }
    std::make_heap(heap.begin(), heap.end(), later);
    std::string key;
    std::string value;
    while (!heap.empty()) {
      const Source* const winner = heap.front();
      key.assign(winner->key());
      value.assign(winner->value());
      const bool deleted = (winner->trailer() & 0xff) != kPutType;
      while (!heap.empty() && heap.front()->key() == key) {
        std::pop_heap(heap.begin(), heap.end(), later);
        heap.back()->Next();
        if (heap.back()->Valid()) {
          std::push_heap(heap.begin(), heap.end(), later);
        } else {
          heap.pop_back();
        }
      }
      if (deleted) continue;
      const bool doubtful =
          std::any_of(sources_.begin(), sources_.end(),
                      [&](const auto& s) { return s->MayHide(key, winner); });
      ++report_.keys;
      report_.doubtful += doubtful ? 1 : 0;
      RETURN_IF_ERROR(visit({key, value, doubtful}));
    }
    return absl::OkStatus();
  }

  const std::string& directory_;
  const LevelDbStoreOptions& options_;
  SalvageReport report_;
  std::vector<std::unique_ptr<Source>> sources_;
};

}  // namespace

absl::StatusOr<SalvageReport> SalvageLevelDb(
    const std::string& directory, const LevelDbStoreOptions& options,
    absl::FunctionRef<absl::Status(const SalvagedEntry&)> visit) {
  return Salvage(directory, options).Run(visit);
}

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "dovetail/doctor.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/engine.h"
#include "engine/keyspace.h"
#include "engine/row_format.h"
#include "engine/schema_state.h"
#include "engine/storage/leveldb_files.h"
#include "engine/storage/leveldb_open_check.h"
#include "engine/storage/leveldb_salvage.h"
#include "engine/store_options.h"

namespace dovetail {
namespace {

constexpr uint64_t kProgressEvery = 10'000;
constexpr size_t kBatchBytes = 1 << 20;
constexpr char kUnfinished[] = ".unfinished";

// A store key, or a bound of a gap, in the words of the catalog.
std::string DescribeKey(const SchemaState* schema, std::string_view key) {
  if (schema != nullptr) {
    for (const TableState& table : schema->tables()) {
      const int indexes = static_cast<int>(table.compiled->indexes().size());
      for (int i = -1; i < indexes; ++i) {
        const std::string& prefix = table.prefix(i);
        if (!key.starts_with(prefix)) continue;
        const std::string_view rest = key.substr(prefix.size());
        const KeyLayout& layout = i < 0 ? table.compiled->row_key()
                                        : table.compiled->indexes()[i].layout();
        return absl::StrCat(table.name(), i < 0 ? "" : ".",
                            i < 0 ? "" : table.compiled->indexes()[i].name(),
                            " ",
                            layout.DebugString(rest).value_or(Quote(rest)));
      }
    }
  }
  return Quote(key, 256);
}

std::string DescribeRange(const SchemaState* schema,
                          const SalvageDamage& damage) {
  if (damage.after_key.empty() && damage.before_key.empty()) return {};
  return absl::StrCat(
      damage.after_key.empty() ? "the first"
                               : DescribeKey(schema, damage.after_key),
      " .. ",
      damage.before_key.empty() ? "the last"
                                : DescribeKey(schema, damage.before_key));
}

// Goes through what is left, and makes the diagnosis of it.
class Examination {
 public:
  using Take = absl::FunctionRef<absl::Status(const SalvagedEntry& entry,
                                              const TableState* rows_of)>;

  Examination(std::string path, const DoctorOptions& options)
      : path_(std::move(path)), options_(options) {
    files_ = options.file_system != nullptr ? options.file_system
                                            : FileSystem::Posix();
    store_options_ = MakeStoreOptions({}, files_);
  }

  // `take` sees every entry that is left, unless the catalog is lost; `rows_of`
  // is the table whose row it is, or null. The first entries may come twice.
  absl::StatusOr<Diagnosis> Run(Take take) {
    ASSIGN_OR_RETURN(const bool exists, files_->Exists(path_));
    if (!exists) {
      return absl::NotFoundError(absl::StrCat(
          "there is no database: directory=", ToAbsl(Quote(path_, 1024))));
    }
    if (lock_ == nullptr) {
      ASSIGN_OR_RETURN(lock_, files_->Lock(JoinPath(path_, kStoreLockName)));
    }
    const absl::Status check = CheckLevelDbCopy(path_, store_options_);
    ASSIGN_OR_RETURN(SalvageReport salvaged, ReadAll(take));
    if (schema_ == nullptr && !catalog_copy_.empty()) {
      // From the beginning, now that the keys can be told apart.
      ReadCatalog(catalog_copy_);
      RETURN_IF_ERROR(take({CatalogKey(), catalog_copy_}, nullptr));
      ASSIGN_OR_RETURN(salvaged, ReadAll(take));
    }
    Fill(salvaged);
    Judge(check, salvaged);
    return std::move(diagnosis_);
  }

  FileSystem& files() const { return *files_; }
  const SchemaState* schema() const { return schema_.get(); }
  SequenceNumber newest_version() const { return newest_version_; }

 private:
  absl::StatusOr<SalvageReport> ReadAll(Take take) {
    return SalvageLevelDb(
        path_, store_options_,
        [&](const SalvagedEntry& entry) { return Visit(entry, take); });
  }

  absl::Status Visit(const SalvagedEntry& entry, Take take) {
    if (++keys_ % kProgressEvery == 0 && options_.progress != nullptr &&
        !options_.progress(keys_)) {
      return absl::CancelledError("cancelled; nothing was changed");
    }
    // The space of the catalog comes before all others, that of its copy last.
    if (entry.key == CatalogKey()) ReadCatalog(entry.value);
    if (entry.key == CatalogCopyKey()) catalog_copy_ = entry.value;
    if (entry.key == MarkKey()) {
      if (const auto mark = DecodeMark(entry.value); mark.ok()) mark_ = *mark;
    }
    const TableState* rows_of = nullptr;
    if (Diagnosis::Space* space = FindSpace(entry.key, &rows_of);
        space != nullptr) {
      ++space->keys;
      space->doubtful += entry.doubtful ? 1 : 0;
    }
    if (rows_of != nullptr) {
      if (const auto row = DecodeRow(entry.value); row.ok()) {
        newest_version_ = std::max(newest_version_, row->version);
      }
    }
    const bool in_metadata = entry.key.starts_with(SpacePrefix(kMetadataSpace));
    if (schema_ == nullptr && !in_metadata) return absl::OkStatus();
    return take(entry, rows_of);
  }

  void ReadCatalog(std::string_view bytes) {
    v1::Catalog catalog;
    if (!catalog.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return;
    }
    auto schema = SchemaState::FromCatalog(std::move(catalog), nullptr);
    if (!schema.ok()) return;
    schema_ = *std::move(schema);
    for (const TableState& table : schema_->tables()) {
      const int indexes = static_cast<int>(table.compiled->indexes().size());
      for (int i = -1; i < indexes; ++i) {
        spaces_.push_back({table.prefix(i), i < 0 ? &table : nullptr});
        diagnosis_.spaces.push_back(
            {table.name(), i < 0 ? "" : table.compiled->indexes()[i].name()});
      }
    }
  }

  // Keys come in order, so the space of the last one is nearly always right.
  Diagnosis::Space* FindSpace(std::string_view key,
                              const TableState** rows_of) {
    for (size_t n = 0; n < spaces_.size(); ++n, ++space_) {
      if (space_ >= spaces_.size()) space_ = 0;
      if (!key.starts_with(spaces_[space_].prefix)) continue;
      *rows_of = spaces_[space_].rows_of;
      return &diagnosis_.spaces[space_];
    }
    return nullptr;
  }

  void Fill(const SalvageReport& salvaged) {
    diagnosis_.manifest_damage = salvaged.manifest_damage;
    diagnosis_.tables = salvaged.tables;
    diagnosis_.tables_damaged = salvaged.tables_damaged;
    diagnosis_.tables_without_index = salvaged.tables_without_index;
    diagnosis_.logs = salvaged.logs;
    diagnosis_.damage_count = salvaged.damage_count;
    diagnosis_.damage_bytes = salvaged.damage_bytes;
    for (const SalvageDamage& damage : salvaged.damage) {
      if (diagnosis_.damage.size() == options_.named_max) break;
      diagnosis_.damage.push_back({damage.file, damage.offset, damage.bytes,
                                   damage.reason,
                                   DescribeRange(schema_.get(), damage)});
    }
    diagnosis_.catalog_lost = schema_ == nullptr;
    diagnosis_.last_sequence = std::max(mark_.sequence, newest_version_);
    diagnosis_.synced_sequence =
        std::max(mark_.synced, SequenceNumber{salvaged.synced_behind_break});
    diagnosis_.behind_break = SequenceNumber{salvaged.sequence_behind_break};
  }

  // A log that breaks off where nothing synced is lost opens, and so do
  // tables with damaged blocks, until somebody reads them.
  void Judge(const absl::Status& check, const SalvageReport& salvaged) {
    using Verdict = Diagnosis::Verdict;
    const bool only_tail =
        salvaged.manifest_damage.empty() && salvaged.tables_damaged == 0 &&
        salvaged.damage_count == 1 &&
        diagnosis_.synced_sequence <= diagnosis_.last_sequence &&
        !diagnosis_.catalog_lost;
    if (check.ok() && salvaged.damage_count == 0 && !diagnosis_.catalog_lost) {
      diagnosis_.verdict = Verdict::kSound;
    } else if (only_tail) {
      diagnosis_.verdict = Verdict::kTornTail;
    } else {
      diagnosis_.verdict = Verdict::kDamaged;
      diagnosis_.refusal = std::string(check.message());
    }
  }

  const std::string path_;
  const DoctorOptions& options_;
  FileSystem* files_;
  LevelDbStoreOptions store_options_;
  std::unique_ptr<FileLock> lock_;
  std::shared_ptr<const SchemaState> schema_;
  std::string catalog_copy_;
  struct SpaceOf {
    std::string prefix;
    const TableState* rows_of;
  };
  std::vector<SpaceOf> spaces_;  // As in the diagnosis.
  size_t space_ = 0;
  CommitMark mark_;
  SequenceNumber newest_version_{};
  uint64_t keys_ = 0;
  Diagnosis diagnosis_;
};

// Deletes what a rescue has made and not finished.
void Discard(FileSystem& files, const std::string& directory) {
  const auto names = files.List(directory);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    const std::string path = JoinPath(directory, name);
    if (!files.Delete(path).ok()) Discard(files, path);
  }
  files.DeleteDirectory(directory).IgnoreError();
}

class Rescuer {
 public:
  Rescuer(const std::string& path, const std::string& destination,
          const DoctorOptions& options)
      : options_(options),
        examination_(path, options),
        files_(examination_.files()),
        destination_(destination),
        unfinished_(destination + kUnfinished) {}

  absl::StatusOr<RescueReport> Run() {
    ASSIGN_OR_RETURN(const bool exists, files_.Exists(destination_));
    if (exists) {
      return absl::AlreadyExistsError(
          absl::StrCat("something is at the destination: path=",
                       ToAbsl(Quote(destination_, 1024))));
    }
    Discard(files_, unfinished_);
    absl::Status status = Copy();
    if (status.ok()) status = MakeEntriesAgree();
    if (status.ok()) status = files_.Rename(unfinished_, destination_);
    if (status.ok()) status = files_.SyncDirectory(DirectoryOf(destination_));
    if (status.ok()) return std::move(report_);
    Discard(files_, unfinished_);
    return status;
  }

 private:
  absl::Status Copy() {
    StoreOpenReport opened;
    ASSIGN_OR_RETURN(
        store_,
        OpenLevelDbStore(unfinished_, MakeStoreOptions({}, &files_), &opened));
    batch_ = store_->NewBatch();
    ASSIGN_OR_RETURN(
        report_.found,
        examination_.Run([&](const SalvagedEntry& entry,
                             const TableState* rows_of) -> absl::Status {
          if (entry.doubtful && rows_of != nullptr) {
            Name(*rows_of, entry.key.substr(rows_of->rows_prefix.size()),
                 &report_.doubtful, &report_.doubtful_count);
          }
          batch_->Put(entry.key, entry.value);
          return batch_->ApproximateBytes() < kBatchBytes
                     ? absl::OkStatus()
                     : Flush(/*sync=*/false);
        }));
    if (examination_.schema() == nullptr) {
      return absl::DataLossError(
          "the catalog is lost, so nothing says what the rows are; restore a "
          "backup");
    }
    // Versions of rows are never above the sequence.
    batch_->Put(MarkKey(), EncodeMark({report_.found.last_sequence,
                                       report_.found.last_sequence}));
    RETURN_IF_ERROR(Flush(/*sync=*/true));
    batch_ = nullptr;
    store_ = nullptr;
    return absl::OkStatus();
  }

  absl::Status Flush(bool sync) {
    RETURN_IF_ERROR(store_->Write(*batch_, sync));
    batch_->Clear();
    return absl::OkStatus();
  }

  absl::Status MakeEntriesAgree() {
    Options options;
    options.create_if_missing = false;
    options.background_work = false;
    options.file_system = &files_;
    ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                     Engine::Open(unfinished_, Schema(), options));
    VerifyOptions verify;
    verify.findings_max = 0;
    absl::Status status;
    verify.on_finding = [&](const Finding& finding) {
      if (finding.kind == Finding::Kind::kDanglingEntry) {
        status.Update(NoteIfLost(*engine, finding));
      }
    };
    ASSIGN_OR_RETURN(const VerifyReport before, engine->Verify(verify));
    RETURN_IF_ERROR(status);
    report_.rows = before.rows;
    ASSIGN_OR_RETURN(const RepairReport repaired, engine->Repair({}));
    report_.entries_added = repaired.entries_added;
    report_.entries_removed = repaired.entries_removed;
    report_.not_repairable = repaired.not_repairable;
    return engine->Close();
  }

  // An entry without a row tells of a row that was there.
  absl::Status NoteIfLost(Engine& engine, const Finding& finding) {
    if (finding.row_key.empty()) return absl::OkStatus();
    bool there = false;
    RETURN_IF_ERROR(engine.ForEachStored({}, finding.table, "", finding.row_key,
                                         [&](const StoredPair& pair) {
                                           there = pair.key == finding.row_key;
                                           return false;
                                         }));
    if (there || !lost_.insert(finding.table + finding.row_key).second) {
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const TableState* table,
                     examination_.schema()->Find(finding.table));
    Name(*table, finding.row_key, &report_.lost, &report_.lost_count);
    return absl::OkStatus();
  }

  void Name(const TableState& table, std::string_view row_key,
            std::vector<NamedRow>* rows, uint64_t* count) const {
    ++*count;
    if (rows->size() >= options_.named_max) return;
    rows->push_back({table.name(), std::string(row_key),
                     table.compiled->row_key().DebugString(row_key).value_or(
                         Quote(row_key))});
  }

  const DoctorOptions& options_;
  Examination examination_;
  FileSystem& files_;
  const std::string destination_;
  const std::string unfinished_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<StoreBatch> batch_;
  absl::flat_hash_set<std::string> lost_;
  RescueReport report_;
};

}  // namespace

absl::StatusOr<Diagnosis> Diagnose(const std::string& path,
                                   const DoctorOptions& options) {
  return Examination(path, options)
      .Run([](const SalvagedEntry&, const TableState*) {
        return absl::OkStatus();
      });
}

absl::StatusOr<RescueReport> Rescue(const std::string& path,
                                    const std::string& destination,
                                    const DoctorOptions& options) {
  return Rescuer(path, destination, options).Run();
}

}  // namespace dovetail

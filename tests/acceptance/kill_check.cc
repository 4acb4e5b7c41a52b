// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "tests/acceptance/kill_check.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/coding.h"
#include "base/status_macros.h"
#include "dovetail/replay.h"
#include "index/hash.h"
#include "tests/acceptance/kill_requests.h"

namespace dovetail::test {
namespace {

namespace fs = std::filesystem;

// A hash of all rows and entries of KillSchema, row headers included.
absl::StatusOr<uint64_t> ContentOf(Engine& engine) {
  std::string state;
  const auto visit = [&state](const StoredPair& pair) {
    AppendBigEndian(pair.key.size(), 4, &state);
    state.append(pair.key).append(pair.value);
    std::string hash;
    AppendHash(v1::XXH3, state, 8, &hash);
    state = std::move(hash);
    return true;
  };
  const Schema schema = KillSchema();
  for (const v1::TableSchema& table : schema.proto().tables()) {
    RETURN_IF_ERROR(engine.ForEachStored({}, table.name(), "", "", visit));
    for (const v1::IndexSchema& index : table.indexes()) {
      state += index.name();
      RETURN_IF_ERROR(
          engine.ForEachStored({}, table.name(), index.name(), "", visit));
    }
  }
  std::string hash;
  AppendHash(v1::XXH3, state, 8, &hash);
  return DecodeBigEndian(hash.data(), 8);
}

}  // namespace

absl::Status KillChecker::ComputeContents() {
  Options options;
  options.in_memory = true;
  ASSIGN_OR_RETURN(const auto engine,
                   Engine::Open("memory", KillSchema(), options));
  ASSIGN_OR_RETURN(const uint64_t empty, ContentOf(*engine));
  contents_.push_back(empty);
  for (uint64_t n = 0; n < kScriptRequests; ++n) {
    const auto commit = engine->Write({}, KillRequest(seed_, {1, 0, n}));
    if (absl::IsAlreadyExists(commit.status())) continue;
    RETURN_IF_ERROR(commit.status());
    ASSIGN_OR_RETURN(const uint64_t content, ContentOf(*engine));
    contents_.push_back(content);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Engine>> KillChecker::OpenClean(
    const std::string& path, const std::string& what,
    const std::optional<Schema>& schema) {
  Options options = ScriptOptions();
  options.create_if_missing = schema.has_value();
  auto engine = Engine::Open(path, schema.value_or(Schema()), options);
  if (!engine.ok()) {
    return absl::Status(engine.status().code(),
                        absl::StrCat(what, ": ", engine.status().ToString()));
  }
  ASSIGN_OR_RETURN(const VerifyReport verify, (*engine)->Verify({}));
  checks_.That(verify.clean(),
               absl::StrCat(what, ": verify: ", verify.Summary()));
  return engine;
}

absl::StatusOr<uint64_t> KillChecker::CheckOne(
    const std::string& path, const std::string& what,
    const std::optional<Schema>& schema) {
  ASSIGN_OR_RETURN(const auto engine, OpenClean(path, what, schema));
  const auto sequence = static_cast<uint64_t>(engine->open_report().sequence);
  ASSIGN_OR_RETURN(const uint64_t content, ContentOf(*engine));
  if (checks_.That(sequence < contents_.size(),
                   absl::StrCat(what, ": more than was ever written"))) {
    checks_.Equal(content, contents_[sequence],
                  absl::StrCat(what, ": content at ", sequence));
  }
  return sequence;
}

absl::Status KillChecker::Check(const std::string& directory,
                                const ScriptBoard& board, bool is_end) {
  std::string root = directory;
  if (random_() % 2 == 0) {
    root = dir_.Sub("looked-at");
    fs::remove_all(root);
    fs::copy(directory, root, fs::copy_options::recursive);
  }
  if (fs::exists(root + "/db")) {
    RETURN_IF_ERROR(CheckDatabase(root, board, is_end));
  } else {
    checks_.Equal(board.acknowledged.load(), 0u, "nothing was acknowledged");
  }
  if (fs::exists(root + "/copy")) {
    RETURN_IF_ERROR(CheckCopy(root, board, is_end));
  }
  if (fs::exists(root + "/partial")) {
    RETURN_IF_ERROR(CheckPartial(root, board, is_end));
  }
  return CheckCopies(root, board, is_end);
}

absl::Status KillChecker::CheckDatabase(const std::string& root,
                                        const ScriptBoard& board, bool is_end) {
  const std::string db = root + "/db";
  uint64_t sequence = 0;
  {
    ASSIGN_OR_RETURN(const auto engine, OpenClean(db, "db", KillSchema()));
    const OpenReport& report = engine->open_report();
    sequence = static_cast<uint64_t>(report.sequence);
    tails_cut_ += report.log_bytes_cut > 0 || !report.write_log_cuts.empty();
    checks_.That(sequence >= board.acknowledged.load(),
                 absl::StrCat("acknowledged and there: is ", sequence,
                              ", should be ", board.acknowledged.load()));
    checks_.That(
        sequence <= std::max(board.started.load(), board.acknowledged.load()),
        "nothing is there that was not asked for");
    untold_ += sequence > board.acknowledged.load();
    if (is_end) checks_.Equal(sequence, contents_.size() - 1, "requests");
    ASSIGN_OR_RETURN(const std::vector<IndexInfo> list, engine->ListIndexes());
    bool is_added = false;
    for (const IndexInfo& info : list) {
      is_added |=
          info.index == kAddedIndex && info.state != IndexState::kDropping;
    }
    if (board.index_dropped.load() != 0) {
      checks_.That(!is_added, "an index that was dropped is gone");
    }
    if (is_end) {
      checks_.That(
          absl::IsFailedPrecondition(engine->ListFeedConsumers().status()),
          "the feed is off");
    }
  }
  ASSIGN_OR_RETURN(const uint64_t again, CheckOne(db, "db"));
  checks_.Equal(again, sequence, "the same after another open");
  if (sequence >= contents_.size()) return absl::OkStatus();  // Said above.
  return CheckLog(root, sequence);
}

// From its first record on.
absl::Status KillChecker::CheckLog(const std::string& root, uint64_t last) {
  // Before the log there is no commit.
  const auto log = FindWriteLog(FileSystem::Posix(), root + "/db");
  if (absl::IsNotFound(log.status())) {
    checks_.Equal(last, 0u, "nothing is committed before the log is there");
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(log.status());
  Options options;
  options.in_memory = true;
  ASSIGN_OR_RETURN(const auto engine,
                   Engine::Open("memory", KillSchema(), options));
  if (last > 0) {
    const auto source = OpenWriteLogSource(FileSystem::Posix(), log->directory);
    ASSIGN_OR_RETURN(
        const auto replayer,
        Replayer::Open(engine.get(), source.get(),
                       {.source = "db", .sequences = ReplaySequences::kKeep}));
    RETURN_IF_ERROR(replayer->Run());
    checks_.Equal(replayer->report().position, last, "the log's last sequence");
  }
  ASSIGN_OR_RETURN(const uint64_t content, ContentOf(*engine));
  checks_.Equal(content, contents_[last], "content of the log, replayed");
  return absl::OkStatus();
}

absl::Status KillChecker::CheckCopy(const std::string& root,
                                    const ScriptBoard& board, bool is_end) {
  const std::string copy = root + "/copy";
  ASSIGN_OR_RETURN(const uint64_t sequence,
                   CheckOne(copy, "copy", KillSchema()));
  checks_.That(sequence >= board.replayed.load(),
               "the copy has what the replay reported");
  if (is_end) checks_.Equal(sequence, contents_.size() - 1, "requests copied");
  {
    ASSIGN_OR_RETURN(const auto engine,
                     Engine::Open(copy, Schema(), ScriptOptions()));
    ASSIGN_OR_RETURN(const auto sources, Replayer::ListSources(engine.get()));
    const uint64_t position = sources.empty() ? 0 : sources[0].position;
    checks_.Equal(position, sequence, "the place of the replay");
  }
  const auto log = FindWriteLog(FileSystem::Posix(), copy);
  if (absl::IsNotFound(log.status())) return absl::OkStatus();
  RETURN_IF_ERROR(log.status());
  // Retention has taken the beginning.
  const auto reader = WriteLogReader::Open(FileSystem::Posix(), log->directory);
  if (absl::IsNotFound(reader.status())) return absl::OkStatus();
  RETURN_IF_ERROR(reader.status());
  uint64_t last = sequence;  // A log that was begun anew may be empty.
  v1::WriteLogRecord record;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, (*reader)->Next(&record));
    if (!more) break;
    last = record.sequence();
  }
  checks_.Equal(last, sequence, "the last sequence of the copy's log");
  return absl::OkStatus();
}

absl::Status KillChecker::CheckPartial(const std::string& root,
                                       const ScriptBoard& board, bool is_end) {
  ASSIGN_OR_RETURN(const auto engine,
                   OpenClean(root + "/partial", "partial", PartialSchema()));
  ASSIGN_OR_RETURN(const auto sources, Replayer::ListSources(engine.get()));
  if (sources.empty()) {
    checks_.Equal(board.partial.load(), 0u, "nothing was reported");
    return absl::OkStatus();
  }
  const ReplayedSource& place = sources[0];
  checks_.Equal(place.applied + place.rejected, place.position,
                "each record up to the place was applied or rejected");
  checks_.Equal(static_cast<uint64_t>(engine->open_report().sequence),
                place.applied, "a commit for each record applied");
  checks_.That(place.position >= board.partial.load(),
               "the replay is as far as it reported");
  if (!is_end) return absl::OkStatus();
  std::ifstream in(root + "/rejects");
  uint64_t lines = 0;
  for (std::string line; std::getline(in, line);) ++lines;
  checks_.Equal(lines, place.rejected, "lines of the reject file");
  if (rejected_ == 0) rejected_ = place.rejected;  // Without a kill.
  checks_.Equal(place.rejected, rejected_, "rejected");
  checks_.That(rejected_ > 0, "something is rejected");
  return absl::OkStatus();
}

absl::Status KillChecker::CheckCopies(const std::string& root,
                                      const ScriptBoard& board, bool is_end) {
  const uint64_t checkpointed = board.checkpointed.load();
  if (fs::exists(root + "/checkpoint")) {
    ASSIGN_OR_RETURN(const uint64_t sequence,
                     CheckOne(root + "/checkpoint", "checkpoint"));
    if (checkpointed > 0) {
      checks_.Equal(sequence, checkpointed, "the checkpoint's sequence");
    }
  } else {
    checks_.Equal(checkpointed, 0u, "a checkpoint that was made is there");
  }
  if (fs::exists(root + "/restored")) {
    ASSIGN_OR_RETURN(const uint64_t sequence,
                     CheckOne(root + "/restored", "restored"));
    checks_.Equal(sequence, contents_.size() - 1, "requests restored");
  }
  if (fs::exists(root + "/rescued")) {
    // An older version of a row may claim what another one has come to have.
    ASSIGN_OR_RETURN(
        const auto engine,
        Engine::Open(root + "/rescued", Schema(), ScriptOptions()));
    ASSIGN_OR_RETURN(const VerifyReport verify, engine->Verify({}));
    checks_.Equal(verify.missing + verify.dangling + verify.wrong_entries +
                      verify.wrong_rows,
                  0u, absl::StrCat("rescued: verify: ", verify.Summary()));
  }
  if (is_end) {
    RETURN_IF_ERROR(OpenClean(root + "/damaged", "repaired").status());
  }
  const uint64_t backed_up = board.backed_up.load();
  if (backed_up == 0) return absl::OkStatus();
  const std::string restored = dir_.Sub("restored");
  fs::remove_all(restored);
  ASSIGN_OR_RETURN(const RestoreReport report,
                   Restore(root + "/backup", restored, {}));
  ASSIGN_OR_RETURN(const uint64_t sequence, CheckOne(restored, "backup"));
  checks_.Equal(static_cast<uint64_t>(report.sequence), sequence,
                "what restore reports");
  checks_.That(sequence >= backed_up, "the backup has what it reported");
  return absl::OkStatus();
}

}  // namespace dovetail::test

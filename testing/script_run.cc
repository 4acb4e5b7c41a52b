// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "testing/script_run.h"

#include <functional>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dovetail::test {

uint64_t Fingerprint(const ScriptRequest& request) {
  std::string text = absl::StrCat(request.sequence);
  for (const Mutation& m : request.batch.mutations()) {
    absl::StrAppend(&text, "|", static_cast<int>(m.kind), m.table, "|",
                    m.record, "|", m.target.index(),
                    m.target.match() == RowRef::Match::kAll);
    for (const Value& value : m.target.values()) {
      absl::StrAppend(&text, "|", value.DebugString());
    }
    for (const std::string& field : m.fields)
      absl::StrAppend(&text, "|", field);
    for (const Precondition& condition : m.conditions) {
      absl::StrAppend(&text, "|", static_cast<int>(condition.kind),
                      condition.path, condition.value.DebugString(),
                      static_cast<uint64_t>(condition.version));
    }
  }
  return std::hash<std::string>()(text);
}

absl::StatusOr<std::unique_ptr<Engine>> OpenForTest(
    const CrashTest& test, const std::string& directory, FileSystem* files) {
  Options options;
  if (test.options) options = test.options(directory);
  options.file_system = files;
  return Engine::Open(directory + "/db", test.schema, std::move(options));
}

absl::Status ScriptRun::State::Open() {
  ASSIGN_OR_RETURN(engine, OpenForTest(test, directory, files));
  was_opened = true;
  return absl::OkStatus();
}

void ScriptRun::State::Acknowledge(const WriteOptions& options,
                                   WriteBatch batch, const Commit& commit) {
  const auto sequence = static_cast<uint64_t>(commit.sequence);
  if (sequence <= LastAcknowledged()) {
    Violated(absl::InternalError(
        absl::StrCat("sequences do not grow: sequence=", sequence,
                     " after=", LastAcknowledged())));
  }
  acknowledged.push_back({std::move(batch), sequence});
  if (options.sync) synced = sequence;
  const size_t last = acknowledged.size() - 1;
  if (reference != nullptr && same_as_reference == last &&
      last < reference->size() &&
      (*reference)[last] == Fingerprint(acknowledged[last])) {
    ++same_as_reference;
  }
}

absl::StatusOr<Commit> ScriptRun::Write(const WriteOptions& options,
                                        WriteBatch batch) {
  absl::StatusOr<Commit> commit = state_->engine->Write(options, batch);
  if (commit.ok()) {
    if (state_->unknown.has_value()) {
      state_->Violated(absl::InternalError(
          absl::StrCat("acknowledged after a failed write: sequence=",
                       static_cast<uint64_t>(commit->sequence))));
    }
    state_->Acknowledge(options, std::move(batch), *commit);
    return commit;
  }
  const absl::StatusCode code = commit.status().code();
  if (code != absl::StatusCode::kUnknown) {
    if (state_->reference == nullptr) {
      state_->refused.push_back(
          {std::move(batch), state_->LastAcknowledged(), code});
    }
    return commit;
  }
  if (!state_->unknown.has_value()) {
    state_->unknown = batch;
    if (state_->engine->Write(options, std::move(batch)).ok()) {
      state_->Violated(absl::InternalError(
          "a request was acknowledged after a failed write"));
    }
  }
  return commit;
}

Engine& ScriptRun::engine() { return *state_->engine; }

absl::Status ScriptRun::Reopen() {
  if (state_->unknown.has_value()) {
    return absl::FailedPreconditionError(
        "the outcome of a write is unknown: the run is over");
  }
  RETURN_IF_ERROR(state_->engine->Close());
  state_->engine.reset();
  state_->synced = state_->LastAcknowledged();
  return state_->Open();
}

const std::string& ScriptRun::directory() const { return state_->directory; }

FaultyFileSystem& ScriptRun::files() { return *state_->files; }

}  // namespace dovetail::test

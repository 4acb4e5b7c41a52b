// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// The run without a fault keeps the model as it is after every 64th request.
// What a later run must have left is made from the nearest of these, as far as
// that run got the same answers, and the requests behind it.

#include "dovetail/testing/crash_runner.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dovetail/inspect.h"
#include "testing/file_tree.h"
#include "testing/script_run.h"

namespace dovetail::test {
namespace {

constexpr uint64_t kModelEvery = 64;
constexpr size_t kFailuresKept = 20;

enum class FaultKind { kOnce, kForGood, kPowerCut };

const char* NameOf(FaultKind kind) {
  switch (kind) {
    case FaultKind::kOnce:
      return "once";
    case FaultKind::kForGood:
      return "for_good";
    case FaultKind::kPowerCut:
      return "power_cut";
  }
  return "";
}

// Of the name of a call, such as "sync 000003.log".
std::string VerbOf(const std::string& call) {
  return call.substr(0, call.find(' '));
}

using RecordAndVersion = std::pair<std::string, uint64_t>;

absl::StatusOr<std::vector<RecordAndVersion>> StoredRows(
    Engine& engine, const std::string& table) {
  std::vector<RecordAndVersion> rows;
  absl::Status broken;
  RETURN_IF_ERROR(
      engine.ForEachStored({}, table, "", "", [&](const StoredPair& stored) {
        const absl::StatusOr<RowView> row = KeyInspector::RowOf(stored);
        broken = row.status();
        if (!row.ok()) return false;
        rows.emplace_back(row->record, static_cast<uint64_t>(row->version));
        return true;
      }));
  RETURN_IF_ERROR(broken);
  std::sort(rows.begin(), rows.end());
  return rows;
}

// OK if the database has the model's rows, and no others.
absl::Status CompareRows(Engine& engine, const Model& model) {
  for (const std::string& table : model.TableNames()) {
    std::vector<RecordAndVersion> expected;
    for (const ModelRow* row : model.Rows(table)) {
      expected.emplace_back(row->record, row->version);
    }
    std::sort(expected.begin(), expected.end());
    ASSIGN_OR_RETURN(const std::vector<RecordAndVersion> rows,
                     StoredRows(engine, table));
    if (rows == expected) continue;
    const auto differ = std::mismatch(rows.begin(), rows.end(),
                                      expected.begin(), expected.end());
    return absl::InternalError(absl::StrCat(
        "other rows than the model: table=", table, " is=", rows.size(),
        " should_be=", expected.size(), " first_other_version=",
        differ.first != rows.end() ? absl::StrCat(differ.first->second)
                                   : "none",
        " first_missing_version=",
        differ.second != expected.end() ? absl::StrCat(differ.second->second)
                                        : "none"));
  }
  return absl::OkStatus();
}

}  // namespace

class CrashRunner {
 public:
  explicit CrashRunner(const CrashTest& test)
      : test_(test),
        base_(test.file_system != nullptr ? test.file_system
                                          : FileSystem::Posix()) {}

  absl::StatusOr<CrashReport> Run();

 private:
  using State = ScriptRun::State;

  absl::Status RunWithoutFault();
  // The calls to try, in order.
  std::vector<uint64_t> CallsToTry() const;
  absl::Status RunWithFault(FaultKind kind, uint64_t call);
  // Runs the script in `state`, and leaves no engine open.
  absl::Status RunScript(State* state, bool close);
  absl::Status CutPower(const State& state, uint64_t call);
  // What a database that was opened again has to hold.
  absl::Status CheckDatabase(const State& state, const std::string& directory,
                             FileSystem* files, uint64_t required);
  absl::StatusOr<Model> Expected(const State& state, uint64_t sequence,
                                 bool with_unknown) const;
  absl::Status Predict(const WriteBatch& batch, uint64_t sequence,
                       Model* model) const;
  absl::Status PredictRefusal(const ScriptRequest& request, Model model) const;
  void Fail(const std::string& run, const absl::Status& why);

  const CrashTest& test_;
  FileSystem* const base_;
  std::vector<uint64_t> reference_;  // Fingerprints of its requests.
  std::vector<Model> models_;        // [i]: after 64 * i requests.
  std::map<std::string, uint64_t> first_calls_;  // By verb, of the same run.
  CrashReport report_;
};

absl::StatusOr<CrashReport> CrashRunner::Run() {
  ASSIGN_OR_RETURN(const bool taken, base_->Exists(test_.directory));
  if (taken) {
    return absl::AlreadyExistsError(
        absl::StrCat("the directory is there: directory=", test_.directory));
  }
  RETURN_IF_ERROR(base_->CreateDirectory(test_.directory));
  absl::Status status = RunWithoutFault();
  for (const uint64_t call : CallsToTry()) {
    if (!status.ok()) break;
    if (test_.fail_once) status.Update(RunWithFault(FaultKind::kOnce, call));
    if (test_.fail_for_good) {
      status.Update(RunWithFault(FaultKind::kForGood, call));
    }
    if (test_.power_cuts) {
      status.Update(RunWithFault(FaultKind::kPowerCut, call));
    }
  }
  status.Update(RemoveTree(base_, test_.directory));
  RETURN_IF_ERROR(status);
  return std::move(report_);
}

std::vector<uint64_t> CrashRunner::CallsToTry() const {
  const uint64_t first = std::max<uint64_t>(test_.first_call, 1);
  uint64_t stride = std::max<uint64_t>(test_.stride, 1);
  if (test_.calls_max > 0) {
    stride = std::max(stride, report_.calls / test_.calls_max + 1);
  }
  std::vector<uint64_t> calls;
  for (uint64_t call = first; call <= report_.calls; call += stride) {
    calls.push_back(call);
  }
  for (const auto& [verb, call] : first_calls_) {
    if (call >= first) calls.push_back(call);
  }
  std::sort(calls.begin(), calls.end());
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  return calls;
}

absl::Status CrashRunner::RunWithoutFault() {
  Model model;
  if (test_.model.has_value()) {
    model = *test_.model;
  } else {
    ASSIGN_OR_RETURN(model, Model::Of(test_.schema));
  }
  models_.push_back(model);
  FaultyFileSystem files(base_, test_.seed);
  State state(test_, &files, test_.directory + "/run", nullptr);
  RETURN_IF_ERROR(base_->CreateDirectory(state.directory));
  RETURN_IF_ERROR(RunScript(&state, /*close=*/true));
  RETURN_IF_ERROR(state.violation);
  report_.calls = files.calls();
  uint64_t call = 0;
  for (const std::string& name : files.TakeHistory()) {
    first_calls_.emplace(VerbOf(name), ++call);
  }
  report_.requests = state.acknowledged.size();
  auto refused = state.refused.begin();
  for (const ScriptRequest& request : state.acknowledged) {
    for (;
         refused != state.refused.end() && refused->sequence < request.sequence;
         ++refused) {
      RETURN_IF_ERROR(PredictRefusal(*refused, model));
    }
    RETURN_IF_ERROR(Predict(request.batch, request.sequence, &model));
    reference_.push_back(Fingerprint(request));
    if (reference_.size() % kModelEvery == 0) {
      models_.push_back(model);
    }
  }
  for (; refused != state.refused.end(); ++refused) {
    RETURN_IF_ERROR(PredictRefusal(*refused, model));
  }
  const absl::Status status =
      CheckDatabase(state, state.directory, &files, state.LastAcknowledged());
  if (!status.ok()) {
    return absl::InternalError(
        absl::StrCat("wrong without a fault: ", status.ToString()));
  }
  return RemoveTree(base_, state.directory);
}

absl::Status CrashRunner::RunWithFault(FaultKind kind, uint64_t call) {
  FaultyFileSystem files(base_, test_.seed * 1'000'003 + call);
  State state(test_, &files, test_.directory + "/run", &reference_);
  RETURN_IF_ERROR(base_->CreateDirectory(state.directory));
  files.SetFailuresArePartial(true);
  files.SetDeletionsCanBeLost(kind == FaultKind::kPowerCut);
  files.FailCall(call, absl::InternalError("this call is to fail"),
                 /*from_then_on=*/kind != FaultKind::kOnce);
  // As at a kill, in one run of two; a power cut comes without warning.
  const bool close = kind != FaultKind::kPowerCut && call % 2 == 0;
  RunScript(&state, close).IgnoreError();  // Is to fail.
  const std::string failed_call = files.FailedCall();
  files.FailCall(0, absl::OkStatus());

  report_.not_reached += failed_call.empty();
  report_.not_opened += !state.was_opened;
  report_.acknowledged += state.acknowledged.size();
  report_.unknown += state.unknown.has_value();
  if (!failed_call.empty()) {
    ++report_.failed_calls[VerbOf(failed_call)];
  }
  const std::string run = absl::StrCat(
      "call=", call, " fault=", NameOf(kind), " failed_call=\"", failed_call,
      "\" acknowledged=", state.acknowledged.size(),
      " last=", state.LastAcknowledged(), " synced=", state.synced);
  Fail(run, state.violation);
  if (kind == FaultKind::kPowerCut) {
    ++report_.powered_off;
    Fail(run, CutPower(state, call));
  } else {
    ++(kind == FaultKind::kOnce ? report_.failed_once
                                : report_.failed_for_good);
    Fail(run, CheckDatabase(state, state.directory, &files,
                            state.LastAcknowledged()));
  }
  return RemoveTree(base_, state.directory);
}

absl::Status CrashRunner::RunScript(State* state, bool close) {
  absl::Status status = state->Open();
  if (!status.ok()) return status;
  ScriptRun run(state);
  status = test_.script(run);
  if (close && state->engine != nullptr) status.Update(state->engine->Close());
  state->engine.reset();
  return status;
}

absl::Status CrashRunner::CutPower(const State& state, uint64_t call) {
  using Fate = PowerCutOptions::Fate;
  const std::string left = test_.directory + "/left";
  for (uint64_t i = 0; i < test_.outcomes_per_cut; ++i) {
    PowerCutOptions cut;
    cut.bytes = cut.names = i == 0   ? Fate::kLost
                            : i == 1 ? Fate::kKept
                                     : Fate::kByChance;
    cut.seed = (test_.seed * 1'000'003 + call) * 1'009 + i;
    RETURN_IF_ERROR(state.files->PowerCutInto(state.directory, left, cut));
    ++report_.power_cuts;
    FaultyFileSystem files(base_);  // For syncs that take no time.
    const absl::Status status =
        CheckDatabase(state, left, &files, state.synced);
    RETURN_IF_ERROR(RemoveTree(base_, left));
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat("outcome=", i, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status CrashRunner::CheckDatabase(const State& state,
                                        const std::string& directory,
                                        FileSystem* files, uint64_t required) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                   OpenForTest(test_, directory, files));
  const auto sequence = static_cast<uint64_t>(engine->open_report().sequence);
  report_.tails_cut += engine->open_report().log_bytes_cut > 0;
  if (sequence < required) {
    return absl::InternalError(
        absl::StrCat("an acknowledged request is lost: sequence=", sequence,
                     " should_be_at_least=", required));
  }
  ASSIGN_OR_RETURN(Model expected, Expected(state, sequence, false));
  absl::Status same = CompareRows(*engine, expected);
  const uint64_t last = state.LastAcknowledged();
  if (!same.ok() && state.unknown.has_value() && sequence > last) {
    ASSIGN_OR_RETURN(expected, Expected(state, sequence, true));
    same = CompareRows(*engine, expected);
    report_.unknown_survived += same.ok();
  }
  RETURN_IF_ERROR(same);
  if (sequence < last) {
    ++report_.cuts_with_losses;
    report_.requests_lost += last - sequence;
  }
  ASSIGN_OR_RETURN(const VerifyReport verified, engine->Verify({}));
  if (!verified.clean()) {
    return absl::InternalError(
        absl::StrCat("does not verify: ", verified.Summary()));
  }
  if (test_.check) RETURN_IF_ERROR(test_.check(*engine, expected));
  return engine->Close();
}

absl::StatusOr<Model> CrashRunner::Expected(const State& state,
                                            uint64_t sequence,
                                            bool with_unknown) const {
  const auto& requests = state.acknowledged;
  uint64_t count = 0;
  while (count < requests.size() && requests[count].sequence <= sequence) {
    ++count;
  }
  // The run without a fault has the same models, as far as it is the same run.
  const uint64_t known = std::min(count, state.same_as_reference) / kModelEvery;
  Model model = models_[known];
  for (uint64_t i = known * kModelEvery; i < count; ++i) {
    RETURN_IF_ERROR(Predict(requests[i].batch, requests[i].sequence, &model));
  }
  if (with_unknown) RETURN_IF_ERROR(Predict(*state.unknown, sequence, &model));
  return model;
}

absl::Status CrashRunner::Predict(const WriteBatch& batch, uint64_t sequence,
                                  Model* model) const {
  const absl::Status status =
      test_.predict ? test_.predict(batch, sequence, model).status()
                    : model->Apply(batch, sequence).status();
  if (status.ok()) return status;
  return absl::InternalError(
      absl::StrCat("committed, but not by the model: sequence=", sequence,
                   " model=", status.ToString()));
}

// What the model does not know, limits and a store that is behind, it cannot
// refuse. Of several reasons each may give another one: which row of a request
// comes first is not promised.
absl::Status CrashRunner::PredictRefusal(const ScriptRequest& request,
                                         Model model) const {
  if (request.refused == absl::StatusCode::kResourceExhausted ||
      request.refused == absl::StatusCode::kUnavailable) {
    return absl::OkStatus();
  }
  const absl::Status status =
      test_.predict
          ? test_.predict(request.batch, request.sequence + 1, &model).status()
          : model.Apply(request.batch, request.sequence + 1).status();
  if (!status.ok()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      "refused, but not by the model: after_sequence=", request.sequence,
      " engine=", absl::StatusCodeToString(request.refused)));
}

void CrashRunner::Fail(const std::string& run, const absl::Status& why) {
  if (why.ok()) return;
  ++report_.failure_count;
  if (report_.failures.size() >= kFailuresKept) return;
  report_.failures.push_back(absl::StrCat(run, ": ", why.ToString()));
}

absl::StatusOr<CrashReport> RunCrashTest(const CrashTest& test) {
  return CrashRunner(test).Run();
}

std::string CrashReport::Summary() const {
  std::string out;
  const auto line = [&](std::string_view what, uint64_t count) {
    std::string text(what);
    text.resize(std::max<size_t>(text.size(), 44), ' ');
    absl::StrAppend(&out, text, " ", count, "\n");
  };
  line("file calls without a fault", calls);
  line("requests without a fault", requests);
  line("runs in which a call failed once", failed_once);
  line("runs in which calls failed for good", failed_for_good);
  line("runs in which the power went", powered_off);
  line("  outcomes of these", power_cuts);
  for (const auto& [verb, count] : failed_calls) {
    line("  at " + verb, count);
  }
  line("runs that ended before the call", not_reached);
  line("runs that did not get the database open", not_opened);
  line("requests acknowledged", acknowledged);
  line("requests of unknown outcome", unknown);
  line("  databases with such a one", unknown_survived);
  line("power cuts that lost what was not synced", cuts_with_losses);
  line("  requests lost so", requests_lost);
  line("unsynced tails cut", tails_cut);
  line("failures", failure_count);
  return out;
}

}  // namespace dovetail::test

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/repair.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "engine/verifier.h"

namespace dovetail {
namespace {

// Findings that one round holds in memory, and that one commit settles.
constexpr uint64_t kRoundFindings = 100'000;
constexpr size_t kCommitFindings = 500;

struct Expected {
  bool present = false;
  std::string key;  // Whole store key.
  std::string value;
};

// The entry of `index` that the row under `row_key` should have now.
absl::StatusOr<Expected> ExpectedOf(const TableState& table, int index,
                                    std::string_view row_key,
                                    const SerialView& view) {
  Expected expected;
  ASSIGN_OR_RETURN(const std::optional<CurrentRow> current,
                   view.ReadRow(table, row_key));
  if (!current.has_value()) return expected;
  EncodedRow row;
  RETURN_IF_ERROR(table.compiled->ExtractFields(current->record(), &row));
  row.key = current->key;
  ASSIGN_OR_RETURN(row.offsets, table.compiled->row_key().Split(row.key));
  const IndexDefinition& definition = table.compiled->indexes()[index];
  if (!definition.HasEntry(row.fields)) return expected;
  expected.present = true;
  expected.key = table.entry_prefixes[index];
  RETURN_IF_ERROR(definition.EncodeEntry(row, &expected.key, &expected.value));
  return expected;
}

absl::Status PutExpected(const TableState& table, int index,
                         std::string_view row_key, SerialView& view,
                         int* changed) {
  ASSIGN_OR_RETURN(Expected expected, ExpectedOf(table, index, row_key, view));
  if (!expected.present) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::optional<std::string> is,
                   view.Read(expected.key));
  if (is == expected.value) return absl::OkStatus();
  if (is.has_value() && table.compiled->indexes()[index].unique()) {
    std::string owner;
    const std::string_view entry_key =
        std::string_view(expected.key)
            .substr(table.entry_prefixes[index].size());
    if (table.compiled->indexes()[index]
            .RowKeyOf(entry_key, *is, &owner)
            .ok()) {
      ASSIGN_OR_RETURN(const Expected others,
                       ExpectedOf(table, index, owner, view));
      if (others.present && others.key == expected.key && others.value == *is) {
        return absl::FailedPreconditionError(
            "two rows claim one unique entry; change or delete one of them");
      }
    }
  }
  view.overlay().Put(std::move(expected.key), std::move(expected.value));
  *changed = 1;
  return absl::OkStatus();
}

absl::Status RemoveDangling(const TableState& table, int index,
                            const std::string& entry_key, SerialView& view,
                            int* changed) {
  const std::string key = table.entry_prefixes[index] + entry_key;
  ASSIGN_OR_RETURN(const std::optional<std::string> is, view.Read(key));
  if (!is.has_value()) return absl::OkStatus();
  std::string row_key;
  if (table.compiled->indexes()[index]
          .RowKeyOf(entry_key, *is, &row_key)
          .ok()) {
    const absl::StatusOr<Expected> expected =
        ExpectedOf(table, index, row_key, view);
    if (expected.ok() && expected->present && expected->key == key &&
        expected->value == *is) {
      return absl::OkStatus();
    }
  }
  view.overlay().Delete(key);
  *changed = -1;
  return absl::OkStatus();
}

// Settles one finding inside the serial section, looking at row and entry
// again. FailedPrecondition if it is for a person to settle.
absl::Status Settle(const SchemaState& schema, const Finding& finding,
                    SerialView& view, int* changed) {
  if (finding.kind == Finding::Kind::kDuplicateUnique ||
      finding.kind == Finding::Kind::kWrongRow ||
      finding.kind == Finding::Kind::kWrongDigest) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot be repaired from entries: ", finding.detail));
  }
  ASSIGN_OR_RETURN(const TableState* table, schema.Find(finding.table));
  ASSIGN_OR_RETURN(const int index, FindIndex(*table, finding.index));
  if (finding.kind == Finding::Kind::kDanglingEntry) {
    return RemoveDangling(*table, index, finding.entry_key, view, changed);
  }
  return PutExpected(*table, index, finding.row_key, view, changed);
}

absl::Status SettleAll(const SchemaState& schema,
                       const std::vector<Finding>& findings, size_t begin,
                       size_t end, SerialView& view, RepairReport* report) {
  for (size_t i = begin; i < end; ++i) {
    int changed = 0;  // +1 an entry was put, -1 one was removed.
    const absl::Status status = Settle(schema, findings[i], view, &changed);
    if (absl::IsFailedPrecondition(status)) continue;
    RETURN_IF_ERROR(status);
    report->entries_added += changed > 0 ? 1 : 0;
    report->entries_removed += changed < 0 ? 1 : 0;
    report->already_right += changed == 0 ? 1 : 0;
  }
  return absl::OkStatus();
}

// One round of what verify found. The counts of a commit that failed do not
// reach the report.
absl::Status Settle(Committer& committer, const std::vector<Finding>& findings,
                    RepairReport* report) {
  for (size_t begin = 0; begin < findings.size(); begin += kCommitFindings) {
    const size_t end = std::min(begin + kCommitFindings, findings.size());
    RepairReport step = *report;
    const auto body = [&](const SchemaState& schema, SerialView& view) {
      return SettleAll(schema, findings, begin, end, view, &step);
    };
    RETURN_IF_ERROR(
        committer.RunMaintenance(body, Committer::Leaves::kSyncedChanges));
    *report = std::move(step);
  }
  return absl::OkStatus();
}

// Sets the digests to what is there. Each is corrected by as much as it is
// off, which writers, who change digest and bytes alike, do not change; so it
// holds for the state of the commit that does it.
absl::Status SetDigests(Committer& committer, const VerifyOptions& verify,
                        RepairReport* report) {
  const auto state = committer.published();
  Verifier verifier(*state, verify);
  RETURN_IF_ERROR(verifier.Run().status());
  const RowSums& differences = verifier.digest_differences();
  if (differences.empty()) return absl::OkStatus();
  const auto body = [&](const SchemaState&, SerialView& view) {
    for (const auto& [space, difference] : differences) {
      view.digests().Correct(space, difference);
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(
      committer.RunMaintenance(body, Committer::Leaves::kSyncedChanges));
  report->digests_set += differences.size();
  return absl::OkStatus();
}

absl::Status SettleFindings(Committer& committer, const VerifyOptions& verify,
                            RepairReport* report) {
  std::vector<Finding> findings = report->before.findings;
  while (!findings.empty()) {
    const uint64_t settled = report->entries_added + report->entries_removed;
    RETURN_IF_ERROR(Settle(committer, findings, report));
    // Again only while there was more damage than one round holds, and
    // something came of it.
    if (findings.size() < kRoundFindings ||
        report->entries_added + report->entries_removed == settled) {
      break;
    }
    const auto state = committer.published();
    ASSIGN_OR_RETURN(VerifyReport rest, Verifier(*state, verify).Run());
    findings = std::move(rest.findings);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RepairReport> Repair(Committer& committer,
                                    const RepairOptions& options) {
  VerifyOptions verify;
  verify.progress = options.progress;
  verify.findings_max = kRoundFindings;
  RepairReport report;
  const auto state = committer.published();
  ASSIGN_OR_RETURN(report.before, Verifier(*state, verify).Run());
  report.not_repairable =
      report.before.duplicate_unique + report.before.wrong_rows;
  if (options.dry_run) return report;
  RETURN_IF_ERROR(SettleFindings(committer, verify, &report));
  if (report.before.wrong_digests > 0) {
    RETURN_IF_ERROR(SetDigests(committer, verify, &report));
  }
  return report;
}

}  // namespace dovetail

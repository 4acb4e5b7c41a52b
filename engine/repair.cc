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

using Entry = IndexDefinition::Entry;

// The entries of `index` that the row under `row_key` should have now, with
// whole store keys.
absl::StatusOr<std::vector<Entry>> ExpectedOf(const TableState& table,
                                              int index,
                                              std::string_view row_key,
                                              const SerialView& view) {
  std::vector<Entry> expected;
  ASSIGN_OR_RETURN(const std::optional<CurrentRow> current,
                   view.ReadRow(table, row_key));
  if (!current.has_value()) return expected;
  EncodedRow row;
  RETURN_IF_ERROR(table.compiled->ExtractFields(current->record(), &row));
  row.key = current->key;
  ASSIGN_OR_RETURN(row.offsets, table.compiled->row_key().Split(row.key));
  RETURN_IF_ERROR(table.compiled->indexes()[index].EncodeEntries(
      row, table.entry_prefixes[index], &expected));
  return expected;
}

bool Has(const std::vector<Entry>& entries, const std::string& key,
         const std::string& value) {
  return std::find(entries.begin(), entries.end(), Entry{key, value}) !=
         entries.end();
}

// The one under `entry_key`, if the row has such an entry.
absl::Status PutExpected(const TableState& table, int index,
                         std::string_view row_key, const std::string& entry_key,
                         SerialView& view, int* changed) {
  const std::string key = table.entry_prefixes[index] + entry_key;
  ASSIGN_OR_RETURN(std::vector<Entry> entries,
                   ExpectedOf(table, index, row_key, view));
  const auto found =
      std::find_if(entries.begin(), entries.end(),
                   [&key](const Entry& entry) { return entry.key == key; });
  if (found == entries.end()) return absl::OkStatus();
  Entry& expected = *found;
  ASSIGN_OR_RETURN(const std::optional<std::string> is,
                   view.Read(expected.key));
  if (is == expected.value) return absl::OkStatus();
  if (is.has_value() && table.compiled->indexes()[index].unique()) {
    std::string owner;
    if (table.compiled->indexes()[index]
            .RowKeyOf(entry_key, *is, &owner)
            .ok()) {
      ASSIGN_OR_RETURN(const std::vector<Entry> others,
                       ExpectedOf(table, index, owner, view));
      if (Has(others, expected.key, *is)) {
        return absl::FailedPreconditionError(
            "two rows claim one unique entry; change or delete one of them");
      }
    }
  }
  if (is.has_value()) view.digests().Remove(table, index, entry_key, *is);
  view.digests().Add(table, index, entry_key, expected.value);
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
    const absl::StatusOr<std::vector<Entry>> expected =
        ExpectedOf(table, index, row_key, view);
    if (expected.ok() && Has(*expected, key, *is)) return absl::OkStatus();
  }
  view.digests().Remove(table, index, entry_key, *is);
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
  if (table->compiled->indexes()[index].aggregates()) {
    return absl::FailedPreconditionError("counters are settled by themselves");
  }
  if (finding.kind == Finding::Kind::kDanglingEntry) {
    return RemoveDangling(*table, index, finding.entry_key, view, changed);
  }
  return PutExpected(*table, index, finding.row_key, finding.entry_key, view,
                     changed);
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

// The index of a wrong counter, or -1 if it is another one by now.
int IndexOf(const TableState& table, uint32_t space) {
  for (size_t i = 0; i < table.indexes.size(); ++i) {
    if (table.indexes[i].space().number() == space && table.Maintains(i)) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

// Corrects a counter by as much as it was off when verify looked: writers
// change it by what they change in its rows, so that stays as it is. One that
// does not parse they cannot change, nor the rows of its group, so it is set.
absl::Status SettleGroup(const SchemaState& schema,
                         const Verifier::WrongGroup& wrong, SerialView& view,
                         int* changed) {
  const GroupDifference& difference = wrong.difference;
  const absl::StatusOr<const TableState*> table = schema.Find(wrong.table);
  const int index = table.ok() ? IndexOf(**table, wrong.space) : -1;
  if (index < 0) return absl::OkStatus();
  const std::string key = (*table)->entry_prefixes[index] + difference.group;
  *changed = difference.wanted.count == 0 ? -1 : 1;
  if (difference.counted.has_value()) {
    GroupValue correction = difference.wanted;
    correction += -*difference.counted;
    view.groups().Add(**table, static_cast<size_t>(index), key, correction);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::optional<std::string> is, view.Read(key));
  if (is != difference.has) {
    *changed = 0;
    return absl::OkStatus();
  }
  view.digests().Remove(**table, index, difference.group, *is);
  if (difference.wanted.count == 0) {
    view.overlay().Delete(key);
    return absl::OkStatus();
  }
  std::string value;
  AppendGroupValue(difference.wanted,
                   (*table)->compiled->indexes()[index].sums(), &value);
  view.digests().Add(**table, index, difference.group, value);
  view.overlay().Put(key, std::move(value));
  return absl::OkStatus();
}

absl::Status SettleGroups(Committer& committer,
                          const std::vector<Verifier::WrongGroup>& wrong,
                          RepairReport* report) {
  for (size_t begin = 0; begin < wrong.size(); begin += kCommitFindings) {
    const size_t end = std::min(begin + kCommitFindings, wrong.size());
    RepairReport step = *report;
    const auto body = [&](const SchemaState& schema,
                          SerialView& view) -> absl::Status {
      for (size_t i = begin; i < end; ++i) {
        int changed = 0;
        RETURN_IF_ERROR(SettleGroup(schema, wrong[i], view, &changed));
        step.entries_added += changed > 0 ? 1 : 0;
        step.entries_removed += changed < 0 ? 1 : 0;
        step.already_right += changed == 0 ? 1 : 0;
      }
      return view.groups().Settle(
          view, [](const TableState&, size_t, GroupCounters::Outcome) {});
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
  const SpaceSums& differences = verifier.digest_differences();
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
                            std::vector<Verifier::WrongGroup> wrong_groups,
                            RepairReport* report) {
  std::vector<Finding> findings = report->before.findings;
  while (!findings.empty()) {
    const uint64_t settled = report->entries_added + report->entries_removed;
    RETURN_IF_ERROR(Settle(committer, findings, report));
    RETURN_IF_ERROR(SettleGroups(committer, wrong_groups, report));
    // Again only while there was more damage than one round holds, and
    // something came of it.
    if (findings.size() < kRoundFindings ||
        report->entries_added + report->entries_removed == settled) {
      break;
    }
    const auto state = committer.published();
    Verifier again(*state, verify);
    ASSIGN_OR_RETURN(VerifyReport rest, again.Run());
    findings = std::move(rest.findings);
    wrong_groups = again.wrong_groups();
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
  Verifier verifier(*state, verify);
  ASSIGN_OR_RETURN(report.before, verifier.Run());
  report.not_repairable =
      report.before.duplicate_unique + report.before.wrong_rows;
  if (options.dry_run) return report;
  RETURN_IF_ERROR(
      SettleFindings(committer, verify, verifier.wrong_groups(), &report));
  if (report.before.wrong_digests > 0) {
    RETURN_IF_ERROR(SetDigests(committer, verify, &report));
  }
  return report;
}

}  // namespace dovetail

// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "engine/replay_rejects.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "dovetail/v1/write_log.pb.h"
#include "google/protobuf/util/json_util.h"
#include "index/utf8.h"

namespace dovetail {

absl::StatusOr<std::unique_ptr<ReplayRejects>> ReplayRejects::Open(
    FileSystem* file_system, const std::string& path,
    const v1::ReplayPosition& position) {
  const uint64_t due =
      position.rejects_path() == path ? position.rejects_bytes() : 0;
  uint64_t size = 0;
  ASSIGN_OR_RETURN(const bool exists, file_system->Exists(path));
  if (exists) {
    ASSIGN_OR_RETURN(size, file_system->Size(path));
  }
  // Of a first run that died before its first commit nothing is known, so its
  // lines cannot be told from somebody else's.
  if (size > 0 && position.rejects_path() != path) {
    return absl::AlreadyExistsError(absl::StrCat(
        "the reject file is not empty, and not this replay's; name another: "
        "path=",
        ToAbsl(Quote(path, 1024))));
  }
  if (size < due) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the reject file is shorter than the replay left it; bring it back, "
        "or name another: path=",
        ToAbsl(Quote(path, 1024)), " bytes=", size, " due=", due));
  }
  if (size > due) RETURN_IF_ERROR(file_system->Truncate(path, due));
  ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file,
                   file_system->NewAppendableFile(path));
  // Not make_unique: the constructor is private.
  return std::unique_ptr<ReplayRejects>(
      new ReplayRejects(path, due, std::move(file)));
}

absl::Status ReplayRejects::Add(const ReplayItem& item,
                                std::string_view cause) {
  v1::ReplayReject reject;
  reject.set_position(item.position);
  reject.set_cause(std::string(cause));
  if (item.kind == ReplayItem::Kind::kEffects) {
    *reject.mutable_record() = item.record;
  } else if (IsValidUtf8(item.raw)) {
    reject.set_text(item.raw);
  } else {
    reject.set_raw(item.raw);
  }
  std::string line;
  const auto written =
      google::protobuf::util::MessageToJsonString(reject, &line);
  if (!written.ok()) {
    return absl::InternalError(absl::StrCat(
        "a rejected item cannot be written as JSON: position=", item.position,
        ": ", ToAbsl(written.message().ToString())));
  }
  line.push_back('\n');
  RETURN_IF_ERROR(file_->Append(line));
  RETURN_IF_ERROR(file_->Flush());
  bytes_ += line.size();
  return absl::OkStatus();
}

}  // namespace dovetail

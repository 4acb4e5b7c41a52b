// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "cli/proto_files.h"

#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/exit_code.h"
#include "dovetail/presets.h"
#include "google/protobuf/any.pb.h"
#include "google/protobuf/compiler/importer.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/descriptor_database.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/empty.pb.h"
#include "google/protobuf/field_mask.pb.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/timestamp.pb.h"
#include "google/protobuf/wrappers.pb.h"

namespace dovetail::cli {
namespace {

using google::protobuf::compiler::DiskSourceTree;

constexpr size_t kErrorsMax = 20;

// Protobuf counts lines and columns from 0, and passes -1 for no place.
class Errors final
    : public google::protobuf::compiler::MultiFileErrorCollector {
 public:
  void AddError(const std::string& file, int line, int column,
                const std::string& message) override {
    if (texts_.size() == kErrorsMax) return;
    std::string place = file;
    if (line >= 0) absl::StrAppend(&place, ":", line + 1, ":", column + 1);
    texts_.push_back(absl::StrCat(place, ": ", message));
  }

  std::string Text() const { return absl::StrJoin(texts_, "\n  "); }
  bool empty() const { return texts_.empty(); }

 private:
  std::vector<std::string> texts_;
};

// By name, the files with the record types of presets.
std::map<std::string, google::protobuf::FileDescriptorProto> PresetFiles() {
  std::map<std::string, google::protobuf::FileDescriptorProto> files;
  for (const presets::Preset& preset : presets::All()) {
    const TableBuilder table = preset.make(preset.table);
    for (const auto& file : table.proto().descriptors().file()) {
      files.emplace(file.name(), file);
    }
  }
  return files;
}

// Files that are compiled into this program.
void AddBuiltIn(google::protobuf::SimpleDescriptorDatabase* database) {
  for (const google::protobuf::Descriptor* type :
       {google::protobuf::Any::descriptor(),
        google::protobuf::Duration::descriptor(),
        google::protobuf::Empty::descriptor(),
        google::protobuf::FieldMask::descriptor(),
        google::protobuf::FileDescriptorProto::descriptor(),
        google::protobuf::Struct::descriptor(),
        google::protobuf::Timestamp::descriptor(),
        google::protobuf::StringValue::descriptor()}) {
    google::protobuf::FileDescriptorProto file;
    type->file()->CopyTo(&file);
    database->Add(file);
  }
  for (const auto& [name, file] : PresetFiles()) database->Add(file);
}

}  // namespace

struct ProtoFiles::State {
  State() { AddBuiltIn(&built_in); }

  DiskSourceTree tree;
  Errors errors;
  google::protobuf::SimpleDescriptorDatabase built_in;
  google::protobuf::compiler::SourceTreeDescriptorDatabase database{&tree,
                                                                    &built_in};
  google::protobuf::DescriptorPool pool{&database,
                                        database.GetValidationErrorCollector()};
};

ProtoFiles::ProtoFiles(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
ProtoFiles::~ProtoFiles() = default;

const google::protobuf::DescriptorPool& ProtoFiles::pool() const {
  return state_->pool;
}

absl::StatusOr<std::unique_ptr<ProtoFiles>> ProtoFiles::Load(
    const std::vector<std::string>& files,
    const std::vector<std::string>& roots) {
  auto state = std::make_unique<State>();
  state->database.RecordErrorsTo(&state->errors);
  for (const std::string& root : roots) state->tree.MapPath("", root);
  if (roots.empty()) {
    for (const std::string& file : files) {
      const std::string parent =
          std::filesystem::path(file).parent_path().string();
      state->tree.MapPath("", parent.empty() ? "." : parent);
    }
  }
  for (const std::string& file : files) {
    std::string virtual_file, shadowing;
    switch (
        state->tree.DiskFileToVirtualFile(file, &virtual_file, &shadowing)) {
      case DiskSourceTree::SUCCESS:
        break;
      case DiskSourceTree::CANNOT_OPEN:
        return absl::NotFoundError(absl::StrCat("cannot open the file: path=",
                                                ToAbsl(Quote(file, 1024))));
      case DiskSourceTree::NO_MAPPING:
        return UsageError(
            absl::StrCat("the file is below no --proto-path; add one that it "
                         "is in: path=",
                         ToAbsl(Quote(file, 1024))));
      case DiskSourceTree::SHADOWED:
        return UsageError(
            absl::StrCat("an earlier --proto-path has a file of this name: "
                         "path=",
                         ToAbsl(Quote(file, 1024)),
                         " other=", ToAbsl(Quote(shadowing, 1024))));
    }
    if (state->pool.FindFileByName(virtual_file) == nullptr ||
        !state->errors.empty()) {
      return absl::InvalidArgumentError(state->errors.Text());
    }
  }
  // A type is found only in files that were read; these are always there.
  for (const auto& [name, file] : PresetFiles()) {
    state->pool.FindFileByName(name);
  }
  return std::unique_ptr<ProtoFiles>(new ProtoFiles(std::move(state)));
}

}  // namespace dovetail::cli

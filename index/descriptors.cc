// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/descriptors.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace dovetail {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;

void AddFile(const FileDescriptor& file,
             absl::flat_hash_set<const FileDescriptor*>& done,
             FileDescriptorSet& set) {
  if (!done.insert(&file).second) return;
  for (int i = 0; i < file.dependency_count(); ++i) {
    AddFile(*file.dependency(i), done, set);
  }
  file.CopyTo(set.add_file());
}

class FirstError final : public DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& file, const std::string& element,
                const google::protobuf::Message*, ErrorLocation,
                const std::string& message) override {
    if (text_.empty()) text_ = absl::StrCat(file, ": ", element, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

FileDescriptorSet DescriptorsOf(const google::protobuf::Descriptor& record) {
  FileDescriptorSet set;
  absl::flat_hash_set<const FileDescriptor*> done;
  AddFile(*record.file(), done, set);
  return set;
}

absl::StatusOr<RecordType> LoadRecordType(const FileDescriptorSet& files,
                                          const std::string& full_name) {
  RecordType type;
  type.pool = std::make_unique<DescriptorPool>();
  for (const FileDescriptorProto& file : files.file()) {
    FirstError error;
    if (type.pool->BuildFileCollectingErrors(file, &error) == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("descriptors do not build: ", error.text()));
    }
  }
  type.descriptor = type.pool->FindMessageTypeByName(full_name);
  if (type.descriptor == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "descriptors do not define the record type: record_type=", full_name));
  }
  return type;
}

}  // namespace dovetail

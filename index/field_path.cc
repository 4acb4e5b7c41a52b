// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "index/field_path.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "google/protobuf/descriptor.pb.h"
#include "index/wire_format.h"

namespace dovetail {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;

// A message with at most this many fields is listed whole when no name of it
// is close to the one given.
constexpr int kFieldsListedMax = 12;
constexpr size_t kNamesSuggestedMax = 3;
// Longer names are not compared: the comparison is quadratic.
constexpr size_t kNameBytesCompared = 64;

// So that sellerId, SellerID and seller_id are one name.
std::string Normalized(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != '_') out.push_back(absl::ascii_tolower(c));
  }
  return out;
}

// How many characters to insert, delete or replace to turn `a` into `b`.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// " near=..." or " fields=...", or nothing if there is nothing helpful.
std::string Suggestion(const Descriptor& message, std::string_view segment) {
  const std::string wanted = Normalized(segment.substr(0, kNameBytesCompared));
  std::vector<std::pair<size_t, std::string>> near;
  std::vector<std::string> all;
  for (int i = 0; i < message.field_count(); ++i) {
    const std::string& name = message.field(i)->name();
    all.push_back(name);
    const std::string have =
        Normalized(std::string_view(name).substr(0, kNameBytesCompared));
    const size_t distance = EditDistance(wanted, have);
    const bool contains = wanted.size() >= 3 && have.size() >= 3 &&
                          (have.find(wanted) != std::string::npos ||
                           wanted.find(have) != std::string::npos);
    if (contains || distance <= std::max<size_t>(1, wanted.size() / 3)) {
      near.emplace_back(distance, name);
    }
  }
  if (!near.empty()) {
    std::sort(near.begin(), near.end());
    near.resize(std::min(near.size(), kNamesSuggestedMax));
    return absl::StrCat(
        " near=", absl::StrJoin(near, ",", [](std::string* out, const auto& n) {
          out->append(n.second);
        }));
  }
  if (all.empty() || all.size() > kFieldsListedMax) return "";
  return absl::StrCat(" fields=", absl::StrJoin(all, ","));
}

absl::Status PathError(std::string_view text, std::string_view path,
                       std::string_view segment, const Descriptor& message,
                       std::string_view more = "") {
  return absl::InvalidArgumentError(absl::StrCat(
      ToAbsl(text), " path=", Quote(path), " segment=", Quote(segment),
      " message=", message.full_name(), ToAbsl(more)));
}

}  // namespace

absl::StatusOr<std::vector<const FieldDescriptor*>> ResolvePath(
    const Descriptor& record, std::string_view path) {
  std::vector<const FieldDescriptor*> fields;
  const Descriptor* message = &record;
  for (size_t begin = 0;;) {
    const size_t dot = path.find('.', begin);
    const bool is_last = dot == std::string_view::npos;
    const std::string_view segment =
        path.substr(begin, is_last ? dot : dot - begin);
    if (segment.empty()) {
      return PathError("the field path has an empty part", path, segment,
                       *message);
    }
    const FieldDescriptor* field =
        message->FindFieldByName(std::string(segment));
    if (field == nullptr) {
      return PathError("the message has no field of that name", path, segment,
                       *message, Suggestion(*message, segment));
    }
    if (fields.size() == wire::kDepthMax) {
      return PathError("the field path is longer than messages may nest", path,
                       segment, *message);
    }
    fields.push_back(field);
    if (is_last) return fields;
    if (field->is_repeated()) {
      return PathError(
          field->is_map()
              ? "the field is a map: a path goes through single messages only"
              : "the field is repeated: a path goes through single messages "
                "only",
          path, segment, *message);
    }
    if (field->message_type() == nullptr) {
      return PathError("the field is not a message and has no fields", path,
                       segment, *message,
                       absl::StrCat(" type=", field->type_name()));
    }
    message = field->message_type();
    begin = dot + 1;
  }
}

bool IsTimestamp(const Descriptor& message) {
  if (message.full_name() != "google.protobuf.Timestamp") return false;
  const auto is_plain = [](const FieldDescriptor* field,
                           FieldDescriptor::Type type) {
    return field != nullptr && field->type() == type && !field->is_repeated() &&
           !field->has_presence();
  };
  return is_plain(message.FindFieldByNumber(1), FieldDescriptor::TYPE_INT64) &&
         is_plain(message.FindFieldByNumber(2), FieldDescriptor::TYPE_INT32);
}

std::vector<const FieldDescriptor*> KnownFields(const Descriptor& message) {
  std::vector<const FieldDescriptor*> fields;
  if (message.extension_range_count() > 0) {
    message.file()->pool()->FindAllExtensions(&message, &fields);
  }
  for (int i = 0; i < message.field_count(); ++i) {
    fields.push_back(message.field(i));
  }
  return fields;
}

absl::Status CheckNoMessageSet(const Descriptor& record) {
  absl::flat_hash_set<const Descriptor*> seen = {&record};
  std::vector<const Descriptor*> queue = {&record};
  while (!queue.empty()) {
    const Descriptor* message = queue.back();
    queue.pop_back();
    if (message->options().message_set_wire_format()) {
      return absl::InvalidArgumentError(
          absl::StrCat("message_set_wire_format is not supported message=",
                       message->full_name(), " record=", record.full_name()));
    }
    for (const FieldDescriptor* field : KnownFields(*message)) {
      const Descriptor* type = field->message_type();
      if (type != nullptr && seen.insert(type).second) queue.push_back(type);
    }
  }
  return absl::OkStatus();
}

}  // namespace dovetail

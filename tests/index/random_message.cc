// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.

#include "tests/index/random_message.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/coding.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/unknown_field_set.h"
#include "index/wire_format.h"

namespace dovetail::test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::UnknownField;

uint64_t RandomBits(Random& random) {
  switch (Uniform(random, 5)) {
    case 0:
      return 0;
    case 1:
      return Uniform(random, 50);
    case 2:
      return ~Uniform(random, 50);
    default:
      return random() >> Uniform(random, 64);
  }
}

std::string RandomText(Random& random, bool is_utf8) {
  static constexpr const char* kPieces[] = {
      "a", "order", "é", "\u20ac", "\0", "zz-17", "\U0001F600"};
  static constexpr const char* kBad[] = {"\xff", "\xc0\x80", "\xed\xa0\x80",
                                         "\xe2\x82", "\xf4\x90\x80\x80"};
  std::string text;
  for (uint64_t n = Uniform(random, 6); n > 0; --n) {
    text += kPieces[Uniform(random, std::size(kPieces))];
  }
  if (!is_utf8) text += kBad[Uniform(random, std::size(kBad))];
  if (OneIn(random, 4)) text += "tail";
  return text;
}

int RandomEnum(Random& random, const FieldDescriptor& field) {
  const auto* type = field.enum_type();
  const auto count = static_cast<uint64_t>(type->value_count());
  return type->value(static_cast<int>(Uniform(random, count)))->number();
}

// Sets the field, or adds an element to it.
void SetRandom(Random& random, const FieldDescriptor* field, int depth_max,
               Message* message) {
  const Reflection* reflection = message->GetReflection();
  const uint64_t bits = RandomBits(random);
  const bool add = field->is_repeated();
  switch (field->cpp_type()) {
#define DOVETAIL_SET_(TYPE, NAME, VALUE)                \
  case FieldDescriptor::CPPTYPE_##TYPE:                 \
    add ? reflection->Add##NAME(message, field, VALUE)  \
        : reflection->Set##NAME(message, field, VALUE); \
    break
    DOVETAIL_SET_(BOOL, Bool, (bits & 1) != 0);
    DOVETAIL_SET_(INT32, Int32, static_cast<int32_t>(bits));
    DOVETAIL_SET_(INT64, Int64, static_cast<int64_t>(bits));
    DOVETAIL_SET_(UINT32, UInt32, static_cast<uint32_t>(bits));
    DOVETAIL_SET_(UINT64, UInt64, bits);
    DOVETAIL_SET_(FLOAT, Float, static_cast<float>(bits));
    DOVETAIL_SET_(DOUBLE, Double, -static_cast<double>(bits));
    DOVETAIL_SET_(ENUM, EnumValue, RandomEnum(random, *field));
    DOVETAIL_SET_(STRING, String, RandomText(random, true));
#undef DOVETAIL_SET_
    case FieldDescriptor::CPPTYPE_MESSAGE:
      FillRandom(random,
                 add ? reflection->AddMessage(message, field)
                     : reflection->MutableMessage(message, field),
                 depth_max - 1);
  }
}

// Now and then longer than needed, and beyond what a parser takes.
void AppendAnyVarint(Random& random, uint64_t v, std::string* out) {
  AppendVarint(v, out);
  if (!OneIn(random, 30)) return;
  for (uint64_t n = 1 + Uniform(random, 5); n > 0; --n) {
    out->back() = static_cast<char>(out->back() | 0x80);
    out->push_back(OneIn(random, 4) ? static_cast<char>(random() & 0x7f) : 0);
  }
}

void AppendText(Random& random, std::string_view text, std::string* out) {
  const bool lies = OneIn(random, 300);
  AppendAnyVarint(random, lies ? random() >> Uniform(random, 64) : text.size(),
                  out);
  out->append(text);
}

std::string RandomPacked(Random& random, const FieldDescriptor& field) {
  std::string run;
  for (uint64_t n = Uniform(random, 5); n > 0; --n) {
    switch (wire::WireTypeOf(field)) {
      case wire::kFixed32:
        run.append(4, static_cast<char>(random()));
        break;
      case wire::kFixed64:
        run.append(8, static_cast<char>(random()));
        break;
      default:
        AppendAnyVarint(random, RandomBits(random), &run);
    }
  }
  if (OneIn(random, 60)) run.push_back(static_cast<char>(random()));
  return run;
}

// A value of the wire type, of `field` if that is not null.
void AppendValue(Random& random, wire::WireType type, int number,
                 const FieldDescriptor* field, int depth, std::string* out) {
  const Descriptor* message =
      field == nullptr ? nullptr : field->message_type();
  switch (type) {
    case wire::kVarint:
      AppendAnyVarint(
          random,
          field != nullptr && field->enum_type() != nullptr && !OneIn(random, 4)
              ? static_cast<uint64_t>(RandomEnum(random, *field))
              : RandomBits(random),
          out);
      break;
    case wire::kFixed32:
      out->append(4, static_cast<char>(random()));
      break;
    case wire::kFixed64:
      out->append(8, static_cast<char>(random()));
      break;
    case wire::kLengthDelimited:
      if (message != nullptr && depth > 0) {
        AppendText(random, RandomWire(random, *message, depth - 1), out);
      } else if (message != nullptr) {
        AppendText(random, "", out);
      } else if (field != nullptr && field->is_packable()) {
        AppendText(random, RandomPacked(random, *field), out);
      } else {
        AppendText(random, RandomText(random, !OneIn(random, 60)), out);
      }
      break;
    case wire::kStartGroup:
      if (depth > 0 && message != nullptr) {
        out->append(RandomWire(random, *message, depth - 1));
      } else if (depth > 0) {
        AppendVarint(wire::MakeTag(number, wire::kVarint), out);
        AppendAnyVarint(random, random(), out);
      }
      AppendAnyVarint(random,
                      wire::MakeTag(OneIn(random, 100) ? number + 1 : number,
                                    wire::kEndGroup),
                      out);
      break;
    default:
      break;
  }
}

void AppendRandomField(Random& random, const Descriptor& type, int depth,
                       std::string* out) {
  const FieldDescriptor* field = nullptr;
  int number = static_cast<int>(1 + (random() >> (35 + Uniform(random, 29))));
  wire::WireType wire_type = wire::kVarint;
  if (type.field_count() > 0 && !OneIn(random, 12)) {
    const auto count = static_cast<uint64_t>(type.field_count());
    field = type.field(static_cast<int>(Uniform(random, count)));
    number = field->number();
    wire_type = field->is_packable() && OneIn(random, 2)
                    ? wire::kLengthDelimited
                    : wire::WireTypeOf(*field);
  }
  if (field == nullptr || OneIn(random, 15)) {
    static constexpr wire::WireType kTypes[] = {
        wire::kVarint, wire::kFixed64, wire::kLengthDelimited,
        wire::kStartGroup, wire::kFixed32};
    wire_type = kTypes[Uniform(random, std::size(kTypes))];
    if (wire_type != wire::kLengthDelimited) field = nullptr;
  }
  if (OneIn(random, 2000)) number = 0;
  AppendAnyVarint(random, wire::MakeTag(number, wire_type), out);
  AppendValue(random, wire_type, number, field, depth, out);
}

// Sorts unknown fields by number, in every message.
void Normalize(Message* message) {
  const Reflection* reflection = message->GetReflection();
  auto* unknown = reflection->MutableUnknownFields(message);
  std::vector<const UnknownField*> fields;
  for (int i = 0; i < unknown->field_count(); ++i) {
    fields.push_back(&unknown->field(i));
  }
  std::stable_sort(fields.begin(), fields.end(),
                   [](const UnknownField* a, const UnknownField* b) {
                     return a->number() < b->number();
                   });
  google::protobuf::UnknownFieldSet sorted;
  for (const UnknownField* field : fields) sorted.AddField(*field);
  unknown->Swap(&sorted);
  std::vector<const FieldDescriptor*> set;
  reflection->ListFields(*message, &set);
  for (const FieldDescriptor* field : set) {
    if (field->message_type() == nullptr || field->is_map()) continue;
    if (!field->is_repeated()) {
      Normalize(reflection->MutableMessage(message, field));
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(*message, field); ++i) {
      Normalize(reflection->MutableRepeatedMessage(message, field, i));
    }
  }
}

}  // namespace

uint64_t SeedFromEnvironment(uint64_t fallback) {
  const char* text = std::getenv("DOVETAIL_SEED");
  const uint64_t seed =
      text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
  std::printf("DOVETAIL_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

uint64_t Uniform(Random& random, uint64_t bound) { return random() % bound; }
bool OneIn(Random& random, uint64_t n) { return Uniform(random, n) == 0; }

void FillRandom(Random& random, Message* message, int depth_max) {
  const Descriptor& type = *message->GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    const bool is_message = field->message_type() != nullptr;
    if (is_message && depth_max <= 0) continue;
    if (!field->is_required() && !OneIn(random, is_message ? 4 : 2)) continue;
    const uint64_t count = field->is_repeated() ? 1 + Uniform(random, 3) : 1;
    for (uint64_t n = 0; n < count; ++n) {
      SetRandom(random, field, depth_max, message);
    }
  }
}

std::string RandomWire(Random& random, const Descriptor& type, int depth) {
  std::string bytes;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    if (!field->is_required() || OneIn(random, 8)) continue;
    const wire::WireType wire_type = wire::WireTypeOf(*field);
    AppendAnyVarint(random, wire::MakeTag(field->number(), wire_type), &bytes);
    AppendValue(random, wire_type, field->number(), field, depth, &bytes);
  }
  for (uint64_t n = Uniform(random, 8); n > 0; --n) {
    AppendRandomField(random, type, depth, &bytes);
  }
  return bytes;
}

void DamageBytes(Random& random, std::string* bytes) {
  if (bytes->empty()) {
    bytes->push_back(static_cast<char>(random()));
    return;
  }
  const size_t at = Uniform(random, bytes->size());
  const size_t count = 1 + Uniform(random, bytes->size() - at);
  const size_t to = Uniform(random, bytes->size() + 1);
  switch (Uniform(random, 7)) {
    case 0:
      (*bytes)[at] =
          static_cast<char>((*bytes)[at] ^ (1 << Uniform(random, 8)));
      break;
    case 1:
      (*bytes)[at] = static_cast<char>(random());
      break;
    case 2:
      bytes->resize(at);
      break;
    case 3:
      bytes->insert(at, 1, static_cast<char>(random()));
      break;
    case 4:
      bytes->erase(at, count);
      break;
    case 5:
      bytes->insert(to, bytes->substr(at, count));
      break;
    default: {
      std::vector<std::string> fields = SplitFields(*bytes);
      std::shuffle(fields.begin(), fields.end(), random);
      if (!fields.empty()) bytes->clear();
      for (const std::string& field : fields) bytes->append(field);
    }
  }
}

std::vector<std::string> SplitFields(std::string_view bytes) {
  std::vector<std::string> fields;
  const char* const end = bytes.data() + bytes.size();
  for (const char* p = bytes.data(); p < end;) {
    uint32_t tag;
    const char* const start = p;
    p = wire::ReadTag(p, end, &tag);
    if (p != nullptr) p = wire::SkipValue(p, end, tag, wire::kDepthMax);
    if (p == nullptr) return {};
    fields.emplace_back(start, p);
  }
  return fields;
}

std::string Serialize(const Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  // Maps would otherwise come in an order that depends on addresses.
  coded.SetSerializationDeterministic(true);
  message.SerializePartialToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

std::string Fingerprint(const Message& message) {
  std::unique_ptr<Message> copy(message.New());
  copy->CopyFrom(message);
  Normalize(copy.get());
  return Serialize(*copy);
}

}  // namespace dovetail::test

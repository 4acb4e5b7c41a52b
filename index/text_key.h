// Copyright 2026 The Dovetail Authors. Licensed under the Apache License 2.0.
//
// Parts of TEXT row keys: what key_part.h's functions do for a part with
// is_text. docs/format.md, "TEXT keys", is the specification. Internal to the
// key codec.
//
// A part's bytes are its text, then TextForm::end. So that they can be read
// back from the front, the text either has TextForm::width bytes, or does not
// reach into the first occurrence of `end`, or is the last of the key. Texts:
//   string, bytes     as they are
//   integer, enum     decimal or hexadecimal digits, "-5"
//   bool              "true", "false"
//   Timestamp         the number of milliseconds, or another unit, since 1970
//   TIME32            the number of seconds
//   DESC              desc_from minus the number
//   REVERSE           the characters, or digits, in reverse order
//   DECIMAL           the digits as they are
//   HASH              digits, see text_digits.h
//   BUCKET and such   the number
//   null              null_as

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/v1/schema.pb.h"
#include "index/key_part.h"

namespace dovetail {

// As the functions of key_part.h. REQUIRES: part.is_text.
absl::Status AppendTextPart(const KeyPart& part,
                            std::span<const FieldValue> fields, uint32_t salt,
                            std::string* out);
absl::Status AppendTextValue(const KeyPart& part, const FieldValue& value,
                             std::string* out);
void AppendTextPartNumber(const KeyPart& part, uint32_t number,
                          std::string* out);
absl::StatusOr<std::string_view> ConsumeTextPart(const KeyPart& part,
                                                 std::string_view* key);
absl::StatusOr<Value> DecodeTextPart(const KeyPart& part,
                                     std::string_view bytes);

// Fills part->text; the rest of `part` is compiled. InvalidArgument if the
// part has no text, or could not be read back.
absl::Status BindText(const v1::KeyPart& proto, const TextPlace& place,
                      KeyPart* part);

// InvalidArgument if numbers or hashes could be taken for the separator.
absl::Status CheckTextSeparator(std::string_view separator);

// Where `end` first occurs in text + end: text.size() if the text can stand
// before it.
size_t FirstEnd(std::string_view text, std::string_view end);

}  // namespace dovetail

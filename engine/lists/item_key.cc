#include "liststore/item_key.h"

#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "engine/base/check.h"
#include "engine/base/md5.h"
#include "engine/model/packed_item_key.h"

namespace liststore {
namespace {

static_assert(kItemKeyLength == kItemKeyTextBytes);
static_assert(kItemTimestampNanosMax == kItemKeyNanosMax);

constexpr size_t kBase64Begin = kItemKeyDigits + 1;
constexpr size_t kLastCharacter = 41;  // carries 2 bits of the digest and 4 that are zero
constexpr size_t kPaddingBegin = 42;
constexpr int kNoSextet = -1;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

int SextetOf(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (IsDigit(c)) return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return kNoSextet;
}

absl::Status Unexpected(std::string_view item_key, size_t at, const char* wanted) {
  const auto byte = static_cast<unsigned char>(item_key[at]);
  char found[8];
  const bool printable = byte >= 0x20 && byte < 0x7f;
  std::snprintf(found, sizeof(found), printable ? "'%c'" : "0x%02x", byte);
  return absl::InvalidArgumentError(
      absl::StrCat("item key has ", found, " at position ", at, " where ", wanted, " is expected"));
}

// What the character at `at` should be; nullptr if it is right.
const char* ExpectedAt(std::string_view item_key, size_t at) {
  const char c = item_key[at];
  if (at < kItemKeyDigits) return IsDigit(c) ? nullptr : "a decimal digit";
  if (at == kItemKeyDigits) return c == '#' ? nullptr : "'#'";
  if (at >= kPaddingBegin) return c == '=' ? nullptr : "'='";
  const int sextet = SextetOf(c);
  if (at == kLastCharacter) {
    return sextet != kNoSextet && sextet % 16 == 0 ? nullptr : "one of 'A', 'Q', 'g', 'w'";
  }
  return sextet != kNoSextet ? nullptr : "a character of base64";
}

}  // namespace

absl::StatusOr<std::string> MakeItemKey(uint64_t timestamp_nanos, std::string_view value) {
  if (timestamp_nanos > kItemTimestampNanosMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("timestamp ", timestamp_nanos, " ns exceeds ", kItemTimestampNanosMax, " ns"));
  }
  uint8_t digest[kMd5Bytes];
  Md5(value, digest);
  PackedItemKey packed;
  PackItemKeyFromDigest(timestamp_nanos, digest, packed.data());
  std::string item_key(kItemKeyLength, '\0');
  UnpackItemKey(packed.data(), item_key.data());
  return item_key;
}

absl::StatusOr<ItemKeyParts> ParseItemKey(std::string_view item_key) {
  if (item_key.size() != kItemKeyLength) {
    return absl::InvalidArgumentError(
        absl::StrCat("item key has ", item_key.size(), " bytes, not ", kItemKeyLength));
  }
  for (size_t at = 0; at < kItemKeyLength; ++at) {
    const char* expected = ExpectedAt(item_key, at);
    if (expected != nullptr) return Unexpected(item_key, at, expected);
  }
  ItemKeyParts parts;
  for (const char digit : item_key.substr(0, kItemKeyDigits)) {
    parts.timestamp_nanos = parts.timestamp_nanos * 10 + static_cast<uint64_t>(digit - '0');
  }
  uint32_t bits = 0;  // the last `bit_count` bits are not written yet
  int bit_count = 0;
  size_t written = 0;
  for (const char c : item_key.substr(kBase64Begin, kPaddingBegin - kBase64Begin)) {
    bits = bits << 6 | static_cast<uint32_t>(SextetOf(c));
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    parts.value_md5[written++] = static_cast<uint8_t>(bits >> bit_count);
  }
  LS_CHECK(written == kMd5Bytes && bit_count == 4, "22 characters are 16 bytes and 4 zero bits");
  return parts;
}

std::string ItemKeyLowerBound(uint64_t timestamp_nanos) {
  if (timestamp_nanos > kItemTimestampNanosMax) return ":";  // the character after '9'
  std::string digits(kItemKeyDigits, '0');
  for (size_t i = kItemKeyDigits; timestamp_nanos != 0; timestamp_nanos /= 10) {
    digits[--i] = static_cast<char>('0' + timestamp_nanos % 10);
  }
  return digits;
}

}  // namespace liststore

#include "engine/model/packed_item_key_scalar.h"

#include <array>
#include <cstring>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"

namespace liststore::scalar {
namespace {

using uint128 = unsigned __int128;

constexpr size_t kDigestText = kItemKeyDigits + 1;  // where the base64 begins
constexpr size_t kFullSextets = 21;                 // then one character for the last 2 bits
constexpr uint8_t kNoRank = 0xff;

// The alphabet of base64 in ASCII order: a sextet's rank is its place here.
constexpr char kRanked[] = "+/0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
static_assert(sizeof(kRanked) == 64 + 1);
// The characters that can stand last, where two of six bits carry the digest and the others are
// zero.
constexpr char kLastCharacters[] = "AQgw";

constexpr std::array<uint8_t, 256> kRankOfCharacter = [] {
  std::array<uint8_t, 256> ranks{};
  ranks.fill(kNoRank);
  for (uint8_t rank = 0; rank < 64; ++rank) ranks[static_cast<uint8_t>(kRanked[rank])] = rank;
  return ranks;
}();

// Rank of the character that base64 writes for the value `sextet`.
constexpr uint8_t RankOfSextet(unsigned sextet) {
  if (sextet < 52) return static_cast<uint8_t>(sextet + 12);  // A-Z, a-z
  if (sextet < 62) return static_cast<uint8_t>(sextet - 50);  // 0-9
  return static_cast<uint8_t>(sextet - 62);                   // +, /
}

unsigned SextetAt(uint128 bits, size_t index) {
  return static_cast<unsigned>(bits >> (122 - 6 * index)) & 63;
}

uint128 LoadDigest(const void* from) {
  return uint128{LoadBigEndian64(from)} << 64 | LoadBigEndian64(static_cast<const char*>(from) + 8);
}

void StoreDigest(void* to, uint128 bits) {
  StoreBigEndian64(to, static_cast<uint64_t>(bits >> 64));
  StoreBigEndian64(static_cast<char*>(to) + 8, static_cast<uint64_t>(bits));
}

bool ParseDigest(std::string_view text, uint128& bits) {
  bits = 0;
  for (size_t i = 0; i < kFullSextets; ++i) {
    const uint8_t rank = kRankOfCharacter[static_cast<uint8_t>(text[i])];
    if (rank == kNoRank) return false;
    bits = bits << 6 | rank;
  }
  const char last = text[kFullSextets];
  if (last == '\0') return false;  // strchr below would find the terminator
  const char* found = std::strchr(kLastCharacters, last);
  if (found == nullptr) return false;
  bits = bits << 2 | static_cast<unsigned>(found - kLastCharacters);
  return text.substr(kFullSextets + 1) == "==";
}

}  // namespace

std::optional<uint64_t> ParseItemKeyNanos(const char* digits) {
  uint64_t nanos = 0;
  for (size_t i = 0; i < kItemKeyDigits; ++i) {
    if (digits[i] < '0' || digits[i] > '9') return std::nullopt;
    nanos = nanos * 10 + static_cast<uint64_t>(digits[i] - '0');
  }
  return nanos;
}

bool PackItemKey(std::string_view text, char packed[kPackedItemKeyBytes]) {
  if (text.size() != kItemKeyTextBytes || text[kItemKeyDigits] != '#') return false;
  const std::optional<uint64_t> nanos = ParseItemKeyNanos(text.data());
  uint128 bits;
  if (!nanos || !ParseDigest(text.substr(kDigestText), bits)) return false;
  StoreBigEndian64(packed, *nanos);
  StoreDigest(packed + 8, bits);
  return true;
}

void UnpackItemKey(const char packed[kPackedItemKeyBytes], char text[kItemKeyTextBytes]) {
  uint64_t nanos = LoadBigEndian64(packed);
  LS_DCHECK(nanos <= kItemKeyNanosMax, "an item key holds 19 digits");
  for (size_t i = kItemKeyDigits; i-- > 0; nanos /= 10) {
    text[i] = static_cast<char>('0' + nanos % 10);
  }
  text[kItemKeyDigits] = '#';
  const uint128 bits = LoadDigest(packed + 8);
  char* out = text + kDigestText;
  for (size_t i = 0; i < kFullSextets; ++i) *out++ = kRanked[SextetAt(bits, i)];
  *out++ = kLastCharacters[static_cast<unsigned>(bits) & 3];
  *out++ = '=';
  *out++ = '=';
  LS_DCHECK(out == text + kItemKeyTextBytes, "the text form has 44 characters");
}

void PackItemKeyFromDigest(uint64_t nanos, const uint8_t digest[16],
                           char packed[kPackedItemKeyBytes]) {
  LS_DCHECK(nanos <= kItemKeyNanosMax, "an item key holds 19 digits");
  const uint128 bits = LoadDigest(digest);
  uint128 ranked = 0;
  for (size_t i = 0; i < kFullSextets; ++i) ranked = ranked << 6 | RankOfSextet(SextetAt(bits, i));
  ranked = ranked << 2 | (static_cast<unsigned>(bits) & 3);  // A, Q, g, w are in order already
  StoreBigEndian64(packed, nanos);
  StoreDigest(packed + 8, ranked);
}

}  // namespace liststore::scalar

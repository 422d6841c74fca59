#include "engine/model/packed_item_key.h"

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/model/packed_item_key_scalar.h"
#ifdef __SSE4_1__
#include "engine/model/packed_item_key_vectors.h"
#endif

namespace liststore {

#ifdef __SSE4_1__
namespace {

using namespace item_key_text;

// Characters to ranks; a character outside the alphabet gets some byte that does not map back to
// it.
inline __m128i RanksOf(__m128i characters) {
  const __m128i upper = _mm_cmpgt_epi8(characters, _mm_set1_epi8('A' - 1));
  const __m128i lower = _mm_cmpgt_epi8(characters, _mm_set1_epi8('a' - 1));
  const __m128i plus = _mm_cmpeq_epi8(characters, _mm_set1_epi8('+'));
  __m128i ranks = _mm_sub_epi8(characters, _mm_set1_epi8(46));
  ranks = _mm_sub_epi8(ranks, _mm_and_si128(upper, _mm_set1_epi8(7)));
  ranks = _mm_sub_epi8(ranks, _mm_and_si128(lower, _mm_set1_epi8(6)));
  return _mm_add_epi8(ranks, _mm_and_si128(plus, _mm_set1_epi8(3)));
}

inline __m128i CharactersOf(__m128i ranks) {
  const __m128i upper = _mm_cmpgt_epi8(ranks, _mm_set1_epi8(11));
  const __m128i lower = _mm_cmpgt_epi8(ranks, _mm_set1_epi8(37));
  const __m128i plus = _mm_cmpeq_epi8(ranks, _mm_setzero_si128());
  __m128i characters = _mm_add_epi8(ranks, _mm_set1_epi8(46));
  characters = _mm_add_epi8(characters, _mm_and_si128(upper, _mm_set1_epi8(7)));
  characters = _mm_add_epi8(characters, _mm_and_si128(lower, _mm_set1_epi8(6)));
  return _mm_sub_epi8(characters, _mm_and_si128(plus, _mm_set1_epi8(3)));
}

// Non-zero in some byte when `ranks`, computed from `characters`, are not all proper ranks of them.
inline __m128i RankErrors(__m128i characters, __m128i ranks) {
  return _mm_or_si128(_mm_and_si128(ranks, _mm_set1_epi8(static_cast<char>(0xc0))),
                      _mm_xor_si128(CharactersOf(ranks), characters));
}

// The value of each sextet to the rank of its character.
inline __m128i RanksOfSextets(__m128i sextets) {
  const __m128i digits = _mm_cmpgt_epi8(sextets, _mm_set1_epi8(51));
  const __m128i signs = _mm_cmpgt_epi8(sextets, _mm_set1_epi8(61));
  __m128i ranks = _mm_add_epi8(sextets, _mm_set1_epi8(12));
  ranks = _mm_sub_epi8(ranks, _mm_and_si128(digits, _mm_set1_epi8(62)));
  return _mm_sub_epi8(ranks, _mm_and_si128(signs, _mm_set1_epi8(12)));
}

// Sixteen bytes, each with a sextet, to four lanes of 24 bits.
inline __m128i JoinSextets(__m128i sextets) {
  const __m128i pairs = _mm_maddubs_epi16(sextets, _mm_set1_epi32(0x01400140));
  return _mm_madd_epi16(pairs, _mm_set1_epi32(0x00011000));
}

// Lanes whose bytes are 1, 0, 2, 1 of a big-endian group of three, to its four sextets.
inline __m128i SplitSextets(__m128i groups) {
  const __m128i first_third = _mm_and_si128(groups, _mm_set1_epi32(0x0fc0fc00));
  const __m128i second_fourth = _mm_and_si128(groups, _mm_set1_epi32(0x003f03f0));
  return _mm_or_si128(_mm_mulhi_epu16(first_third, _mm_set1_epi32(0x04000040)),
                      _mm_mullo_epi16(second_fourth, _mm_set1_epi32(0x01000010)));
}

struct Sextets {
  __m128i head;  // 16 of them
  __m128i tail;  // 5, the last 2 bits times 16, then zeros
};

inline Sextets LoadSextets(const void* bytes) {
  const __m128i all = _mm_loadu_si128(static_cast<const __m128i*>(bytes));
  const __m128i head = _mm_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10);
  const __m128i tail =
      _mm_setr_epi8(13, 12, 14, 13, -1, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  return {SplitSextets(_mm_shuffle_epi8(all, head)), SplitSextets(_mm_shuffle_epi8(all, tail))};
}

inline void StoreSextets(void* bytes, const Sextets& sextets) {
  const __m128i head =
      _mm_shuffle_epi8(JoinSextets(sextets.head),
                       _mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1));
  const __m128i tail =
      _mm_shuffle_epi8(JoinSextets(sextets.tail),
                       _mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 2, 1, 0, 6));
  _mm_storeu_si128(static_cast<__m128i*>(bytes), _mm_or_si128(head, tail));
}

// The number in 16 digits.
inline uint64_t ValueOf(__m128i digits) {
  const __m128i twos = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x010a));
  const __m128i fours = _mm_madd_epi16(twos, _mm_set1_epi32(0x00010064));
  const __m128i packed = _mm_packus_epi32(fours, fours);
  const __m128i eights = _mm_madd_epi16(packed, _mm_set1_epi32(0x00012710));
  const uint64_t both = static_cast<uint64_t>(_mm_cvtsi128_si64(eights));
  return (both & 0xffffffff) * kTenTo8 + (both >> 32);
}

}  // namespace

namespace {

// 19 characters; `errors` has a bit set where one is no digit.
struct Nanos {
  uint64_t value = 0;  // where all are
  bool has_errors = false;
  __m128i errors;
};

[[gnu::always_inline]] inline Nanos NanosOf(const char* from) {
  const auto d0 = static_cast<unsigned>(from[0] - '0');
  const auto d1 = static_cast<unsigned>(from[1] - '0');
  const auto d2 = static_cast<unsigned>(from[2] - '0');
  const __m128i digits = _mm_sub_epi8(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + kLowDigits)), _mm_set1_epi8('0'));
  const __m128i nine = _mm_set1_epi8(9);
  return {(d0 * 100 + d1 * 10 + d2) * kTenTo16 + ValueOf(digits), d0 > 9 || d1 > 9 || d2 > 9,
          _mm_xor_si128(_mm_max_epu8(digits, nine), nine)};
}

std::optional<uint64_t> ParseNanos(const char* digits) {
  const Nanos nanos = NanosOf(digits);
  if (nanos.has_errors || !_mm_testz_si128(nanos.errors, nanos.errors)) return std::nullopt;
  return nanos.value;
}

}  // namespace

bool PackItemKey(std::string_view text, char packed[kPackedItemKeyBytes]) {
  if (text.size() != kItemKeyTextBytes) return false;
  const char* from = text.data();
  const Nanos nanos = NanosOf(from);
  if (nanos.has_errors || from[kItemKeyDigits] != '#') return false;

  const __m128i head = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + kDigestText));
  const __m128i head_ranks = RanksOf(head);
  // The eight bytes behind the tail would be zero; they become '+', as the padding does.
  const __m128i plus_above =
      _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, '+', '+', '+', '+', '+', '+', '+', '+');
  const __m128i tail = _mm_or_si128(
      plus_above,
      _mm_sub_epi8(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + kDigestTextTail)),
                   TailPadding()));
  const __m128i tail_ranks = RanksOf(tail);
  const __m128i tail_sextets = _mm_sub_epi8(tail_ranks, TailRankOffset());
  // The last character carries two bits, the padding none.
  const __m128i unused_bits =
      _mm_setr_epi8(0, 0, 0, 0, 0, static_cast<char>(0xcf), -1, -1, 0, 0, 0, 0, 0, 0, 0, 0);

  __m128i errors = _mm_or_si128(nanos.errors, RankErrors(head, head_ranks));
  errors = _mm_or_si128(errors, RankErrors(tail, tail_ranks));
  errors = _mm_or_si128(errors, _mm_and_si128(tail_sextets, unused_bits));
  if (!_mm_testz_si128(errors, errors)) return false;

  StoreBigEndian64(packed, nanos.value);
  StoreSextets(packed + 8, {head_ranks, tail_sextets});
  return true;
}

void UnpackItemKey(const char packed[kPackedItemKeyBytes], char text[kItemKeyTextBytes]) {
  FirstDigits first_digits;
  UnpackNanos(packed, text, first_digits);
  const Sextets ranks = LoadSextets(packed + 8);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(text + kDigestText), CharactersOf(ranks.head));
  const __m128i tail =
      _mm_add_epi8(CharactersOf(_mm_add_epi8(ranks.tail, TailRankOffset())), TailPadding());
  _mm_storel_epi64(reinterpret_cast<__m128i*>(text + kDigestTextTail), tail);
}

void PackItemKeyFromDigest(uint64_t nanos, const uint8_t digest[16],
                           char packed[kPackedItemKeyBytes]) {
  LS_DCHECK(nanos <= kItemKeyNanosMax, "an item key holds 19 digits");
  const Sextets sextets = LoadSextets(digest);
  // Behind the fifth sextet the tail is no sextet: undo the rank of 'A' there.
  const __m128i not_sextets = _mm_setr_epi8(0, 0, 0, 0, 0, 12, 12, 12, 0, 0, 0, 0, 0, 0, 0, 0);
  StoreBigEndian64(packed, nanos);
  StoreSextets(packed + 8, {RanksOfSextets(sextets.head),
                            _mm_sub_epi8(RanksOfSextets(sextets.tail), not_sextets)});
}

#else  // !__SSE4_1__

namespace {

std::optional<uint64_t> ParseNanos(const char* digits) { return scalar::ParseItemKeyNanos(digits); }

}  // namespace

bool PackItemKey(std::string_view text, char packed[kPackedItemKeyBytes]) {
  return scalar::PackItemKey(text, packed);
}

void UnpackItemKey(const char packed[kPackedItemKeyBytes], char text[kItemKeyTextBytes]) {
  scalar::UnpackItemKey(packed, text);
}

void PackItemKeyFromDigest(uint64_t nanos, const uint8_t digest[16],
                           char packed[kPackedItemKeyBytes]) {
  scalar::PackItemKeyFromDigest(nanos, digest, packed);
}

#endif  // __SSE4_1__

uint64_t PackedItemKeyNanos(const char packed[kPackedItemKeyBytes]) {
  return LoadBigEndian64(packed);
}

namespace {

// The packed key behind `key`: the next integer of 24 bytes. False when there is none.
bool Increment(PackedItemKey& key) {
  uint64_t nanos = LoadBigEndian64(key.data());
  uint64_t high = LoadBigEndian64(key.data() + 8);
  uint64_t low = LoadBigEndian64(key.data() + 16);
  low += 1;
  if (low == 0) high += 1;
  if (low == 0 && high == 0) nanos += 1;
  if (nanos > kItemKeyNanosMax) return false;
  StoreBigEndian64(key.data(), nanos);
  StoreBigEndian64(key.data() + 8, high);
  StoreBigEndian64(key.data() + 16, low);
  return true;
}

}  // namespace

std::optional<PackedItemKey> PackItemKeyBound(std::string_view text) {
  PackedItemKey packed;
  switch (text.size()) {
    case kItemKeyDigits:
    case kItemKeyDigits + 1: {
      // "++...+A==" is the first digest in text order; packed it is all zeros.
      if (text.size() > kItemKeyDigits && text[kItemKeyDigits] != '#') return std::nullopt;
      const std::optional<uint64_t> nanos = ParseNanos(text.data());
      if (!nanos) return std::nullopt;
      packed = {};
      StoreBigEndian64(packed.data(), *nanos);
      return packed;
    }
    case kItemKeyTextBytes:
      if (!PackItemKey(text, packed.data())) return std::nullopt;
      return packed;
    case kItemKeyTextBytes + 1:
      if (text.back() != '\0') return std::nullopt;
      text.remove_suffix(1);
      if (!PackItemKey(text, packed.data()) || !Increment(packed)) return std::nullopt;
      return packed;
    default:
      return std::nullopt;
  }
}

}  // namespace liststore

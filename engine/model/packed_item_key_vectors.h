// What is common to packed_item_key.cc and packed_item_key_runs.cc: the text form in vectors of 16
// bytes. For them alone, where the compiler has SSE4.1.
#ifndef LISTSTORE_ENGINE_MODEL_PACKED_ITEM_KEY_VECTORS_H_
#define LISTSTORE_ENGINE_MODEL_PACKED_ITEM_KEY_VECTORS_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/model/packed_item_key.h"

namespace liststore::item_key_text {

// Text: 3 digits, 16 digits, '#', 16 characters of base64 (12 bytes), 6 more (4 bytes), "==".
inline constexpr size_t kLowDigits = 3;
inline constexpr size_t kDigestText = kItemKeyDigits + 1;
inline constexpr size_t kDigestTextTail = kDigestText + 16;
inline constexpr uint64_t kTenTo8 = 100'000'000u;
inline constexpr uint64_t kTenTo16 = kTenTo8 * kTenTo8;

// The tail's eight characters are treated as four sextets, one sextet, the last character and "==".
// The last character's rank is 12 + 16 * bits; '=' is 18 above '+', whose rank is 0.
inline __m128i TailRankOffset() {
  return _mm_setr_epi8(0, 0, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}
inline __m128i TailPadding() {
  return _mm_setr_epi8(0, 0, 0, 0, 0, 0, 18, 18, 0, 0, 0, 0, 0, 0, 0, 0);
}

// Two numbers below 10^8 as 16 digits (0-9, not characters).
inline __m128i DigitsOf(uint64_t high, uint64_t low) {
  const __m128i eights = _mm_set_epi64x(static_cast<long long>(low), static_cast<long long>(high));
  const __m128i thousands = _mm_srli_epi64(_mm_mul_epu32(eights, _mm_set1_epi64x(3518437209)),
                                           45);  // x / 10^4 for x < 10^8
  const __m128i fours = _mm_add_epi32(
      thousands,
      _mm_slli_epi64(_mm_sub_epi32(eights, _mm_mul_epu32(thousands, _mm_set1_epi64x(10'000))), 32));
  const __m128i hundreds =
      _mm_srli_epi16(_mm_mulhi_epu16(fours, _mm_set1_epi16(5243)), 3);  // x / 100 for x < 10^4
  const __m128i twos = _mm_add_epi16(
      hundreds,
      _mm_slli_epi32(_mm_sub_epi16(fours, _mm_mullo_epi16(hundreds, _mm_set1_epi16(100))), 16));
  const __m128i tens = _mm_mulhi_epu16(twos, _mm_set1_epi16(6554));  // x / 10 for x < 100
  return _mm_add_epi8(
      tens, _mm_slli_epi16(_mm_sub_epi16(twos, _mm_mullo_epi16(tens, _mm_set1_epi16(10))), 8));
}

// The first three digits, and a byte that is written over: for 115 days the same.
class FirstDigits {
 public:
  [[gnu::always_inline]] uint32_t Of(uint64_t number) {
    if (number != number_) [[unlikely]] {
      number_ = number;
      const char text[sizeof(text_)] = {static_cast<char>('0' + number / 100),
                                        static_cast<char>('0' + number / 10 % 10),
                                        static_cast<char>('0' + number % 10), '0'};
      std::memcpy(&text_, text, sizeof(text_));
    }
    return text_;
  }

 private:
  uint64_t number_ = UINT64_MAX;
  uint32_t text_ = 0;
};

// The nanoseconds of a packed key as three numbers, of 3, 8 and 8 digits.
struct NanosParts {
  uint64_t first;
  uint64_t high;
  uint64_t low;
};
[[gnu::always_inline]] inline NanosParts PartsOf(const char* packed) {
  const uint64_t nanos = LoadBigEndian64(packed);
  LS_DCHECK(nanos <= kItemKeyNanosMax, "an item key holds 19 digits");
  // By % GCC 12 would divide twice.
  const uint64_t first = nanos / kTenTo16;
  const uint64_t rest = nanos - first * kTenTo16;
  const uint64_t high = rest / kTenTo8;
  return {first, high, rest - high * kTenTo8};
}

// All before the digest.
[[gnu::always_inline]] inline void UnpackNanos(const char* packed, char* text,
                                               FirstDigits& first_digits) {
  const NanosParts parts = PartsOf(packed);
  const uint32_t first = first_digits.Of(parts.first);
  std::memcpy(text, &first, sizeof(first));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(text + kLowDigits),
                   _mm_add_epi8(DigitsOf(parts.high, parts.low), _mm_set1_epi8('0')));
  text[kItemKeyDigits] = '#';
}

}  // namespace liststore::item_key_text

#endif  // LISTSTORE_ENGINE_MODEL_PACKED_ITEM_KEY_VECTORS_H_

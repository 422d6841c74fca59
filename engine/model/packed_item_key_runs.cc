#include "engine/model/packed_item_key_runs.h"

#include <atomic>

#include "engine/base/big_endian.h"
#ifdef __SSE4_1__
#include "engine/model/packed_item_key_vectors.h"
#endif

namespace liststore {
namespace {

constexpr size_t kTextLengthBytes = sizeof(uint32_t);

[[gnu::always_inline]] inline void StoreTextLength(char* cell) {
  StoreBigEndian32(cell, static_cast<uint32_t>(kItemKeyTextBytes));
}

void UnpackRun(const char* packed, size_t packed_stride, size_t count, char* cells,
               size_t cell_stride) {
  for (size_t i = 0; i < count; ++i, packed += packed_stride, cells += cell_stride) {
    StoreTextLength(cells);
    UnpackItemKey(packed, cells + kTextLengthBytes);
  }
}

#ifdef __SSE4_1__
using namespace item_key_text;

// Head and tail of a digest side by side, for machines that have vectors of 32 bytes: a key of a
// run takes 5.0 ns and not 6.1, where UnpackItemKey takes 6.5.
[[gnu::target("avx2")]] void UnpackRunAvx2(const char* packed, size_t packed_stride, size_t count,
                                           char* cells, size_t cell_stride) {
  const __m256i order =
      _mm256_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10,  //
                       13, 12, 14, 13, -1, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m256i rank_offset = _mm256_set_m128i(TailRankOffset(), _mm_setzero_si128());
  const __m256i padding = _mm256_set_m128i(TailPadding(), _mm_setzero_si128());
  FirstDigits first_digits;
  for (size_t i = 0; i < count; ++i, packed += packed_stride, cells += cell_stride) {
    char* const text = cells + kTextLengthBytes;
    StoreTextLength(cells);
    UnpackNanos(packed, text, first_digits);
    const __m128i digest = _mm_loadu_si128(reinterpret_cast<const __m128i*>(packed + 8));
    // As SplitSextets.
    const __m256i groups = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(digest), order);
    const __m256i first_third = _mm256_and_si256(groups, _mm256_set1_epi32(0x0fc0fc00));
    const __m256i second_fourth = _mm256_and_si256(groups, _mm256_set1_epi32(0x003f03f0));
    const __m256i sextets =
        _mm256_or_si256(_mm256_mulhi_epu16(first_third, _mm256_set1_epi32(0x04000040)),
                        _mm256_mullo_epi16(second_fourth, _mm256_set1_epi32(0x01000010)));
    const __m256i ranks = _mm256_add_epi8(sextets, rank_offset);
    // As CharactersOf.
    const __m256i upper = _mm256_cmpgt_epi8(ranks, _mm256_set1_epi8(11));
    const __m256i lower = _mm256_cmpgt_epi8(ranks, _mm256_set1_epi8(37));
    const __m256i plus = _mm256_cmpeq_epi8(ranks, _mm256_setzero_si256());
    __m256i characters = _mm256_add_epi8(ranks, _mm256_set1_epi8(46));
    characters = _mm256_add_epi8(characters, _mm256_and_si256(upper, _mm256_set1_epi8(7)));
    characters = _mm256_add_epi8(characters, _mm256_and_si256(lower, _mm256_set1_epi8(6)));
    characters = _mm256_sub_epi8(characters, _mm256_and_si256(plus, _mm256_set1_epi8(3)));
    characters = _mm256_add_epi8(characters, padding);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(text + kDigestText),
                     _mm256_castsi256_si128(characters));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(text + kDigestTextTail),
                     _mm256_extracti128_si256(characters, 1));
  }
}

// By their ranks.
constexpr char kCharactersByRank[] =
    "+/0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// 10 to the -place in fractions of 2^52, for each place of a number below 10^8: rounded up, which
// is too much by less than 10^8 fractions, and 10^-place, by which a digit would be the next one, is
// more. In the last place it is not: rounded down, and what that loses at most put on top.
constexpr uint64_t kFractions = uint64_t{1} << 52;
constexpr uint64_t PlaceFactor(uint64_t ten_to_place) { return kFractions / ten_to_place + 1; }
constexpr uint64_t kLastPlaceFactor = kFractions / kTenTo8;
constexpr uint64_t kLastPlaceLoss = kFractions % kTenTo8;
static_assert(kTenTo8 < kFractions / (kTenTo8 / 10) && kLastPlaceLoss < kLastPlaceFactor);

// GCC 12 warns of what its own headers leave undefined on purpose (its bug 105593).
#ifndef __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

// The same where vectors have 64 bytes: a character of the digest is one look-up, and a digit what
// ten times a fraction has before its point.
[[gnu::target("avx512bw,avx512vl,avx512ifma,avx512vbmi")]] void UnpackRunAvx512(
    const char* packed, size_t packed_stride, size_t count, char* cells, size_t cell_stride) {
  const __m512i place_factors = _mm512_setr_epi64(
      kLastPlaceFactor, PlaceFactor(10'000'000), PlaceFactor(1'000'000), PlaceFactor(100'000),
      PlaceFactor(10'000), PlaceFactor(1'000), PlaceFactor(100), PlaceFactor(10));
  const __m512i loss = _mm512_setr_epi64(kLastPlaceLoss, 0, 0, 0, 0, 0, 0, 0);
  const __m512i ten = _mm512_set1_epi64(10);
  const __m512i zero_digit = _mm512_set1_epi64('0');
  // The lowest byte of each number, of the first vector and then of the second.
  const __m512i lowest_bytes = _mm512_castsi128_si512(
      _mm_setr_epi8(0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120));
  // Twice six bytes of the digest as a number, then its last four and two zeros.
  const __m256i order = _mm256_setr_epi8(5, 4, 3, 2, 1, 0, 0, 0, 11, 10, 9, 8, 7, 6, 0, 0,  //
                                         0, 0, 15, 14, 13, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  constexpr __mmask32 kTaken = 0x00fcffff;
  // Where each sextet of such a number begins. What is above its six bits the look-up does not see.
  const __m256i sextets_at = _mm256_set1_epi64x(0x00060c12181e242a);
  const __m256i rank_offset = _mm256_set_m128i(TailRankOffset(), _mm_setzero_si128());
  const __m512i alphabet = _mm512_loadu_si512(kCharactersByRank);
  constexpr __mmask32 kPadding = 0x00c00000;
  FirstDigits first_digits;
  for (size_t i = 0; i < count; ++i, packed += packed_stride, cells += cell_stride) {
    char* const text = cells + kTextLengthBytes;
    StoreTextLength(cells);
    const NanosParts parts = PartsOf(packed);
    const uint32_t first = first_digits.Of(parts.first);
    const __m512i high = _mm512_madd52lo_epu64(
        loss, _mm512_set1_epi64(static_cast<int64_t>(parts.high)), place_factors);
    const __m512i low = _mm512_madd52lo_epu64(
        loss, _mm512_set1_epi64(static_cast<int64_t>(parts.low)), place_factors);
    const __m512i digits =
        _mm512_permutex2var_epi8(_mm512_madd52hi_epu64(zero_digit, high, ten), lowest_bytes,
                                 _mm512_madd52hi_epu64(zero_digit, low, ten));
    const __m128i digest = _mm_loadu_si128(reinterpret_cast<const __m128i*>(packed + 8));
    const __m256i numbers =
        _mm256_maskz_permutexvar_epi8(kTaken, order, _mm256_castsi128_si256(digest));
    const __m256i ranks =
        _mm256_add_epi8(_mm256_multishift_epi64_epi8(sextets_at, numbers), rank_offset);
    const __m256i characters = _mm256_mask_mov_epi8(
        _mm512_castsi512_si256(_mm512_permutexvar_epi8(_mm512_castsi256_si512(ranks), alphabet)),
        kPadding, _mm256_set1_epi8('='));
    std::memcpy(text, &first, sizeof(first));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(text + kLowDigits), _mm512_castsi512_si128(digits));
    text[kItemKeyDigits] = '#';
    _mm_storeu_si128(reinterpret_cast<__m128i*>(text + kDigestText),
                     _mm256_castsi256_si128(characters));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(text + kDigestTextTail),
                     _mm256_extracti128_si256(characters, 1));
  }
}

#ifndef __clang__
#pragma GCC diagnostic pop
#endif

#endif  // __SSE4_1__

RunUnpacker::Function FastestHere() {
  RunUnpacker::Function fastest = nullptr;
  for (const RunUnpacker& unpacker : RunUnpackers()) {
    if (unpacker.is_supported) fastest = unpacker.unpack;
  }
  return fastest;
}

void FindAndUnpack(const char* packed, size_t packed_stride, size_t count, char* cells,
                   size_t cell_stride);

// Found out by the first run, whichever file's constructors it comes from: behind a guard each would ask whether
// it was.
constinit std::atomic<RunUnpacker::Function> fastest_here = &FindAndUnpack;

void FindAndUnpack(const char* packed, size_t packed_stride, size_t count, char* cells,
                   size_t cell_stride) {
  const RunUnpacker::Function fastest = FastestHere();
  fastest_here.store(fastest, std::memory_order_relaxed);
  fastest(packed, packed_stride, count, cells, cell_stride);
}

}  // namespace

std::array<RunUnpacker, kRunUnpackers> RunUnpackers() {
  std::array<RunUnpacker, kRunUnpackers> all;
  all[0] = {"one by one", &UnpackRun, true};
#ifdef __SSE4_1__
  all[1] = {"AVX2", &UnpackRunAvx2, __builtin_cpu_supports("avx2") != 0};
  all[2] = {"AVX-512", &UnpackRunAvx512,
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("avx512vbmi")};
#endif
  return all;
}

void UnpackItemKeys(const char* packed, size_t packed_stride, size_t count, char* cells,
                    size_t cell_stride) {
  fastest_here.load(std::memory_order_relaxed)(packed, packed_stride, count, cells, cell_stride);
}

}  // namespace liststore

#include "engine/base/md5.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"

namespace liststore {
namespace {

constexpr size_t kBlockBytes = 64;
constexpr size_t kLengthBytes = 8;  // the message ends in its length in bits

template <typename Word>
struct StateOf {
  Word a = Word{} + 0x67452301;
  Word b = Word{} + 0xefcdab89;
  Word c = Word{} + 0x98badcfe;
  Word d = Word{} + 0x10325476;
};

// The sines of RFC 1321: floor(2^32 * |sin(i + 1)|).
constexpr uint32_t kSines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

// One of 64 steps; a Word is a uint32_t or a vector of them, one for each message. The chain of
// dependent instructions runs through `b`, so whatever does not need it is added first; in round 2
// the two halves of F are disjoint and are added one by one for that reason.
template <int kStep, typename Word>
[[gnu::always_inline]] inline void Step(Word& a, const Word& b, const Word& c, const Word& d,
                                        const char* block) {
  constexpr int kRound = kStep / 16;
  constexpr int kWord = kRound == 0   ? kStep
                        : kRound == 1 ? (5 * kStep + 1) % 16
                        : kRound == 2 ? (3 * kStep + 5) % 16
                                      : 7 * kStep % 16;
  constexpr int kRotations[4][4] = {
      {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  constexpr int kRotation = kRotations[kRound][kStep % 4];
  Word word;  // not by LoadNative: vectors are passed in memory only
  std::memcpy(&word, block + sizeof(Word) * kWord, sizeof(Word));
  a += word + kSines[kStep];
  if constexpr (kRound == 0) a += d ^ (b & (c ^ d));
  if constexpr (kRound == 1) {
    a += c & ~d;
    a += b & d;
  }
  if constexpr (kRound == 2) a += b ^ (c ^ d);
  if constexpr (kRound == 3) a += c ^ (b | ~d);
  a = ((a << kRotation) | (a >> (32 - kRotation))) + b;
}

template <int kStep, typename Word>
[[gnu::always_inline]] inline void FourSteps(StateOf<Word>& s, const char* block) {
  Step<kStep>(s.a, s.b, s.c, s.d, block);
  Step<kStep + 1>(s.d, s.a, s.b, s.c, block);
  Step<kStep + 2>(s.c, s.d, s.a, s.b, block);
  Step<kStep + 3>(s.b, s.c, s.d, s.a, block);
}

template <int kStep, typename Word>
[[gnu::always_inline]] inline void Round(StateOf<Word>& s, const char* block) {
  FourSteps<kStep>(s, block);
  FourSteps<kStep + 4>(s, block);
  FourSteps<kStep + 8>(s, block);
  FourSteps<kStep + 12>(s, block);
}

// `block`: 16 words.
template <typename Word>
void MixBlock(StateOf<Word>& state, const char* block) {
  StateOf<Word> s = state;
  Round<0>(s, block);
  Round<16>(s, block);
  Round<32>(s, block);
  Round<48>(s, block);
  state = {state.a + s.a, state.b + s.b, state.c + s.c, state.d + s.d};
}

// Longer messages take a second block.
constexpr size_t kOneBlockBytesMax = kBlockBytes - 1 - kLengthBytes;

typedef uint32_t FourWords __attribute__((vector_size(16)));
typedef uint32_t EightWords __attribute__((vector_size(32)));

// Digests `count` messages of one block each, at most kLanes, side by side: word i of lane k is
// that of message k. Eight lanes are two registers of x86-64-v2, and the two chains of dependent
// instructions overlap; sixteen spill, and are no faster.
template <typename Word>
void DigestLanes(const std::string_view* values, size_t count, Md5Digest* digests) {
  constexpr size_t kLanes = sizeof(Word) / sizeof(uint32_t);
  alignas(kBlockBytes) char words[kBlockBytes * kLanes] = {};
  for (size_t lane = 0; lane < count; ++lane) {
    const std::string_view value = values[lane];
    LS_DCHECK(value.size() <= kOneBlockBytesMax, "the message is one block");
    char block[kBlockBytes] = {};
    if (!value.empty()) std::memcpy(block, value.data(), value.size());
    block[value.size()] = '\x80';
    StoreNative(block + kBlockBytes - kLengthBytes, uint64_t{value.size()} * 8);
    for (size_t i = 0; i < kBlockBytes / 4; ++i) {
      StoreNative(words + 4 * (i * kLanes + lane), LoadNative<uint32_t>(block + 4 * i));
    }
  }
  StateOf<Word> state;
  MixBlock(state, words);
  for (size_t lane = 0; lane < count; ++lane) {
    uint8_t* const digest = digests[lane].data();
    StoreNative(digest, uint32_t{state.a[lane]});
    StoreNative(digest + 4, uint32_t{state.b[lane]});
    StoreNative(digest + 8, uint32_t{state.c[lane]});
    StoreNative(digest + 12, uint32_t{state.d[lane]});
  }
}

}  // namespace

void Md5OfEach(std::span<const std::string_view> values, std::span<Md5Digest> digests) {
  LS_DCHECK(values.size() <= digests.size(), "every value has a place for its digest");
  for (size_t i = 0; i < values.size();) {
    size_t lanes = 0;  // short values in a row
    const size_t lanes_max = std::min<size_t>(values.size() - i, 8);
    while (lanes < lanes_max && values[i + lanes].size() <= kOneBlockBytesMax) ++lanes;
    if (lanes > 4) {
      DigestLanes<EightWords>(&values[i], lanes, &digests[i]);
    } else if (lanes > 1) {
      DigestLanes<FourWords>(&values[i], lanes, &digests[i]);
    } else {
      Md5(values[i], digests[i].data());
      lanes = 1;
    }
    i += lanes;
  }
}

void Md5(std::string_view bytes, uint8_t digest[kMd5Bytes]) {
  StateOf<uint32_t> state;
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= kBlockBytes; at += kBlockBytes, left -= kBlockBytes) MixBlock(state, at);

  // The rest, a one bit, zeros, the length: one block, or two when the length does not fit.
  char last[2 * kBlockBytes] = {};
  if (left != 0) std::memcpy(last, at, left);
  last[left] = '\x80';
  const size_t last_bytes = left + 1 + kLengthBytes <= kBlockBytes ? kBlockBytes : 2 * kBlockBytes;
  LS_DCHECK(left + 1 + kLengthBytes <= last_bytes, "the padding has room for the length");
  StoreNative(last + last_bytes - kLengthBytes, uint64_t{bytes.size()} * 8);
  MixBlock(state, last);
  if (last_bytes > kBlockBytes) MixBlock(state, last + kBlockBytes);

  StoreNative(digest, state.a);
  StoreNative(digest + 4, state.b);
  StoreNative(digest + 8, state.c);
  StoreNative(digest + 12, state.d);
}

}  // namespace liststore

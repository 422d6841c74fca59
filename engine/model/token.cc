#include "engine/model/token.h"

#include <bit>
#include <cstddef>
#include <limits>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"

namespace liststore {
namespace {

constexpr uint64_t kC1 = 0x87c37b91114253d5u;
constexpr uint64_t kC2 = 0x4cf5ad432745937fu;
constexpr size_t kBlockBytes = 16;

uint64_t MixK1(uint64_t k) { return std::rotl(k * kC1, 31) * kC2; }
uint64_t MixK2(uint64_t k) { return std::rotl(k * kC2, 33) * kC1; }

uint64_t Finish(uint64_t h) {
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
  return h ^ (h >> 33);
}

struct Tail {
  uint64_t low;   // bytes 0-7 of the tail, zero above its end
  uint64_t high;  // bytes 8-14
};

// The last `size` % 16 bytes of `data`.
Tail LoadTail(const char* data, size_t size) {
  const size_t tail_bytes = size % kBlockBytes;
  if (tail_bytes == 0) return {0, 0};
  if (size < kBlockBytes) {
    char padded[kBlockBytes] = {};
    for (size_t i = 0; i < tail_bytes; ++i) padded[i] = data[i];
    return {LoadNative<uint64_t>(padded), LoadNative<uint64_t>(padded + 8)};
  }
  // The last 16 bytes are all there: load them and shift out what belongs to the block before.
  unsigned __int128 last = LoadNative<unsigned __int128>(data + size - kBlockBytes);
  last >>= 8 * (kBlockBytes - tail_bytes);
  return {static_cast<uint64_t>(last), static_cast<uint64_t>(last >> 64)};
}

// The original sign-extends each tail byte before it shifts and xors it in, so a byte >= 0x80 flips
// every bit above itself. Here for all eight bytes at once: a byte is flipped when an odd number of
// bytes below it is negative.
uint64_t XorSignExtensions(uint64_t bytes) {
  constexpr uint64_t kSigns = 0x8080808080808080u;
  if ((bytes & kSigns) == 0) return bytes;  // text, as a rule
  uint64_t flips = ((bytes & kSigns) >> 7) << 8;
  flips ^= flips << 8;
  flips ^= flips << 16;
  flips ^= flips << 32;
  return bytes ^ (flips * 0xff);
}

}  // namespace

Token TokenOf(std::string_view partition_key) {
  const char* data = partition_key.data();
  const size_t size = partition_key.size();
  uint64_t h1 = 0;
  uint64_t h2 = 0;
  for (size_t at = 0; at + kBlockBytes <= size; at += kBlockBytes) {
    h1 ^= MixK1(LoadNative<uint64_t>(data + at));
    h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52dce729;
    h2 ^= MixK2(LoadNative<uint64_t>(data + at + 8));
    h2 = (std::rotl(h2, 31) + h1) * 5 + 0x38495ab5;
  }
  // An empty half of the tail mixes in zero, which changes nothing.
  const Tail tail = LoadTail(data, size);
  LS_DCHECK(tail.high >> 56 == 0, "a tail has at most 15 bytes");
  h1 ^= MixK1(XorSignExtensions(tail.low));
  h2 ^= MixK2(XorSignExtensions(tail.high));
  h1 ^= size;
  h2 ^= size;
  h1 += h2;
  h2 += h1;
  const uint64_t hash = Finish(h1) + Finish(h2);
  constexpr uint64_t kNoToken = uint64_t{1} << 63;  // -2^63, the start of the ring
  if (hash == kNoToken) return {std::numeric_limits<int64_t>::max()};
  return {static_cast<int64_t>(hash)};
}

}  // namespace liststore

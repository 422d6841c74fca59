// A small seeded generator (splitmix64-seeded xoshiro256**): the same seed gives the same sequence
// on every platform, which std::uniform_int_distribution does not promise. Not for secrets.
#ifndef LISTSTORE_ENGINE_BASE_RANDOM_H_
#define LISTSTORE_ENGINE_BASE_RANDOM_H_

#include <cstdint>

namespace liststore {

class Random {
 public:
  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) word = SplitMix(seed);
  }

  // 64 uniform bits.
  uint64_t Next() {
    const uint64_t result = Rotate(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = Rotate(state_[3], 45);
    return result;
  }
  // Uniform in [0, bound); bound > 0. Bias below bound / 2^64.
  uint64_t Below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * bound) >> 64);
  }
  // Uniform in [low, high], both included.
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Below(static_cast<uint64_t>(high - low) + 1));
  }
  // True with probability 1 / n.
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  // Uniform in [0, 1).
  double Fraction() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  // A generator of its own for a named purpose, so that adding one consumer does not shift another.
  Random Stream(uint64_t name) { return Random(Next() ^ (name * 0x9e3779b97f4a7c15u)); }

 private:
  static uint64_t Rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  static uint64_t SplitMix(uint64_t& x) {
    uint64_t z = (x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t state_[4];
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_RANDOM_H_

#include "engine/model/token.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "engine/base/random.h"
#include "tests/support/seed.h"
#include "tests/support/vectors.h"

namespace liststore {
namespace token_test {

using testing::FromHex;

// The original, word for word: MurmurHash3 x64/128 that sign-extends the bytes of its tail.
int64_t PlainHash(std::string_view key) {
  const auto rotl = [](uint64_t x, int k) { return x << k | x >> (64 - k); };
  const uint64_t c1 = 0x87c37b91114253d5u, c2 = 0x4cf5ad432745937fu;
  const auto word = [&](size_t at) {
    uint64_t w = 0;
    for (size_t i = 0; i < 8; ++i) w |= uint64_t{static_cast<uint8_t>(key[at + i])} << (8 * i);
    return w;
  };
  uint64_t h1 = 0, h2 = 0;
  size_t at = 0;
  for (; at + 16 <= key.size(); at += 16) {
    h1 ^= rotl(word(at) * c1, 31) * c2;
    h1 = (rotl(h1, 27) + h2) * 5 + 0x52dce729;
    h2 ^= rotl(word(at + 8) * c2, 33) * c1;
    h2 = (rotl(h2, 31) + h1) * 5 + 0x38495ab5;
  }
  uint64_t k1 = 0, k2 = 0;
  for (size_t i = key.size(); i-- > at;) {
    const auto extended = static_cast<uint64_t>(int64_t{static_cast<int8_t>(key[i])});
    if (i - at >= 8) {
      k2 ^= extended << (8 * (i - at - 8));
    } else {
      k1 ^= extended << (8 * (i - at));
    }
  }
  h2 ^= rotl(k2 * c2, 33) * c1;
  h1 ^= rotl(k1 * c1, 31) * c2;
  h1 ^= key.size();
  h2 ^= key.size();
  h1 += h2;
  h2 += h1;
  const auto mix = [](uint64_t h) {
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 33);
  };
  return static_cast<int64_t>(mix(h1) + mix(h2));
}

TEST(TokenTest, EveryVector) {
  const auto vectors = testing::LoadVectors("tokens.json");
  for (const auto& example : testing::ArrayAt(vectors, "cases")) {
    const std::string_view hex = testing::StringAt(example, "partition_key_hex");
    EXPECT_EQ(TokenOf(FromHex(hex)).value, testing::Int64At(example, "token")) << hex;
  }
}

struct Example {
  std::string_view hex;
  int64_t token;
};

// From the tests of the drivers.
constexpr Example kDriverExamples[] = {
    {"74657374", -6017608668500074083},
    {"7864", 4507812186440344727},
    {"6b72656dc3b3776b69", 4354931215268080151},
    {"fefefefefefefefe", -8927430733708461935},
    {"00104327529fb645dd00b883ec39ae448bb800000400066a6b00", -9223371632693506265},
    {"0102030405060708090a0b0c0d0e0f10", -5563837382979743776},
    {"00010203ffffffffffffffffffffffff", 6463632673159404390},
    {"fefefefefefefefefefefefefefefefefe", -1672437813826982685},
    {"e2e7e2e7e2e701", 2222373981930033306},
    {"0000000000000080", 78142285821850151},
};

TEST(TokenTest, ExamplesOfTheDrivers) {
  for (const Example& example : kDriverExamples) {
    EXPECT_EQ(TokenOf(FromHex(example.hex)).value, example.token) << example.hex;
  }
}

TEST(TokenTest, AgreesWithThePlainFormForEveryLength) {
  Random rng(testing::TestSeed());
  const uint64_t steps = testing::TestSteps(20'000);
  for (uint64_t step = 0; step < steps; ++step) {
    // A buffer of exactly the key's size, so that a sanitizer sees a read beyond it.
    std::string key(step % 80, '\0');
    const bool negative_only = rng.OneIn(4);
    for (char& byte : key) byte = static_cast<char>(rng.Next() | (negative_only ? 0x80 : 0));
    ASSERT_EQ(TokenOf(key).value, PlainHash(key)) << testing::ToHex(key);
  }
}

TEST(TokenTest, BiasedOrderIsTheRingsOrder) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Token{kMin}.biased(), 0u);
  EXPECT_EQ(Token{0}.biased(), uint64_t{1} << 63);
  EXPECT_EQ(Token{kMax}.biased(), ~uint64_t{0});
  for (const int64_t value : {kMin, int64_t{-1}, int64_t{0}, int64_t{1}, kMax}) {
    EXPECT_EQ(Token::FromBiased(Token{value}.biased()).value, value);
  }
}

}  // namespace token_test
}  // namespace liststore

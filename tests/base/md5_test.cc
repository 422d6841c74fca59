#include "engine/base/md5.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include "engine/base/random.h"
#include "tests/support/seed.h"
#include "tests/support/vectors.h"

namespace liststore {
namespace md5_test {

using testing::ToHex;

std::string DigestOf(std::string_view bytes) {
  uint8_t digest[kMd5Bytes];
  Md5(bytes, digest);
  return {reinterpret_cast<const char*>(digest), kMd5Bytes};
}

std::string LibcryptoDigestOf(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EXPECT_EQ(EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_md5(), nullptr), 1);
  return {reinterpret_cast<const char*>(digest), size};
}

struct Example {
  std::string_view text;
  std::string_view digest;
};

// RFC 1321, A.5.
constexpr Example kRfcSuite[] = {
    {"", "d41d8cd98f00b204e9800998ecf8427e"},
    {"a", "0cc175b9c0f1b6a831c399e269772661"},
    {"abc", "900150983cd24fb0d6963f7d28e17f72"},
    {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
    {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
    {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
     "d174ab98d277d9f5a5611c2c9f419d9f"},
    {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
     "57edf4a22be3c955ac49da2e2107b67a"},
};

TEST(Md5Test, SuiteOfTheRfc) {
  for (const Example& example : kRfcSuite) {
    EXPECT_EQ(ToHex(DigestOf(example.text)), example.digest) << example.text;
  }
}

TEST(Md5Test, EveryLengthAroundTheBlocksAgreesWithLibcrypto) {
  Random rng(testing::TestSeed());
  std::string bytes;
  for (size_t size = 0; size < 300; ++size) {
    EXPECT_EQ(ToHex(DigestOf(bytes)), ToHex(LibcryptoDigestOf(bytes))) << size << " bytes";
    bytes.push_back(static_cast<char>(rng.Next()));
  }
}

TEST(Md5Test, RandomInputsAgreeWithLibcrypto) {
  Random rng(testing::TestSeed());
  const uint64_t steps = testing::TestSteps(2'000);
  for (uint64_t step = 0; step < steps; ++step) {
    std::string bytes(rng.Below(step % 100 == 0 ? 100'000 : 200), '\0');
    for (char& byte : bytes) byte = static_cast<char>(rng.Next());
    ASSERT_EQ(DigestOf(bytes), LibcryptoDigestOf(bytes)) << "step " << step;
  }
}

// Groups of every size, with long values among the short ones.
TEST(Md5Test, DigestsMadeTogetherAreThoseMadeAlone) {
  Random rng(testing::TestSeed());
  const uint64_t steps = testing::TestSteps(2'000);
  for (uint64_t step = 0; step < steps; ++step) {
    const bool all_short = step % 3 == 0;
    std::vector<std::string> bytes(rng.Below(20));
    for (std::string& value : bytes) {
      value.resize(rng.Below(all_short || rng.Below(4) != 0 ? 56 : 200));
      for (char& byte : value) byte = static_cast<char>(rng.Next());
    }
    const std::vector<std::string_view> values(bytes.begin(), bytes.end());
    std::vector<Md5Digest> digests(values.size());
    Md5OfEach(values, digests);
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string digest(digests[i].begin(), digests[i].end());
      ASSERT_EQ(ToHex(digest), ToHex(LibcryptoDigestOf(values[i])))
          << "step " << step << ", value " << i << " of " << values.size();
    }
  }
}

}  // namespace md5_test
}  // namespace liststore

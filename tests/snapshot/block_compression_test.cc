#include "engine/snapshot/block_compression.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/snapshot/saved_format.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace block_compression_test {

using snapshot::BlockCompressor;
using snapshot::BlockDecompressor;

constexpr size_t kHead = 5;

std::string Compressed(std::string_view payload) {
  BlockCompressor compressor;
  std::string block;
  EXPECT_TRUE(compressor.Compress(payload, kHead, block));
  return block.substr(kHead);
}

// The payload, or what is wrong.
std::string Plain(std::string_view compressed) {
  BlockDecompressor decompressor;
  std::string plain;
  size_t bytes = 0;
  const std::string wrong = decompressor.Decompress(compressed, plain, bytes);
  return wrong.empty() ? plain.substr(0, bytes) : wrong;
}

TEST(BlockCompressionTest, PayloadsOfAllLengthsComeBack) {
  std::mt19937_64 random(TestSeed());
  BlockCompressor compressor;
  BlockDecompressor decompressor;
  std::string block;
  std::string plain;
  for (const size_t bytes :
       {256, 257, 1'000, 262'144, 1'048'575, 1'048'576, 1'048'577, 5'000'000}) {
    std::string payload(bytes, 'a');
    for (char& c : payload) c = static_cast<char>('a' + random() % 4);
    ASSERT_TRUE(compressor.Compress(payload, kHead, block)) << bytes;
    EXPECT_LT(block.size(), kHead + bytes);
    size_t plain_bytes = 0;
    ASSERT_EQ(decompressor.Decompress(std::string_view(block).substr(kHead), plain, plain_bytes),
              "");
    EXPECT_TRUE(std::string_view(plain).substr(0, plain_bytes) == payload) << bytes;
  }
}

TEST(BlockCompressionTest, WhatWouldBeNoShorterStaysAsItIs) {
  BlockCompressor compressor;
  std::string block;
  EXPECT_FALSE(
      compressor.Compress(std::string(snapshot::kCompressedBytesMin - 1, 'a'), kHead, block));
  std::mt19937_64 random(TestSeed());
  std::string noise(100'000, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  EXPECT_FALSE(compressor.Compress(noise, kHead, block));
  EXPECT_TRUE(compressor.Compress(std::string(1'000, 'a'), kHead, block)) << "and it goes on";
}

TEST(BlockCompressionTest, BytesThatNobodyCompressedAreTold) {
  const std::string payload(10'000, 'x');
  const std::string sound = Compressed(payload);
  ASSERT_EQ(Plain(sound), payload);
  EXPECT_EQ(Plain(""), "a compressed block without a length");
  EXPECT_EQ(Plain("abc"), "a compressed block without a length");
  for (size_t at = 4; at < sound.size(); ++at) {
    EXPECT_NE(Plain(std::string_view(sound).substr(0, at)), payload) << at;
  }
  EXPECT_EQ(Plain(sound + "x"),
            "a compressed block of 10000 bytes that has 10000, and bytes behind it");
  const auto of_length = [&](uint32_t bytes) {
    std::string other = sound;
    StoreNative(other.data(), bytes);
    return Plain(other);
  };
  EXPECT_EQ(of_length(10'001), "a compressed block of 10001 bytes that has 10000");
  EXPECT_EQ(of_length(9'999), "a compressed block of 9999 bytes that has 10000");
  EXPECT_EQ(of_length(0), "a compressed block of 0 bytes that has 1 or more");
  EXPECT_EQ(of_length(UINT32_MAX), "a block of 4294967295 bytes exceeds 536870912");
  std::string noise = sound;
  noise[4] = 'x';
  EXPECT_EQ(Plain(noise), "a block that does not decompress: Unknown frame descriptor");
}

// A few bytes may not make the reader take what they say that they will be.
TEST(BlockCompressionTest, MemoryGrowsWithWhatIsThere) {
  std::string lying = Compressed(std::string(10'000, 'x'));
  StoreNative(lying.data(), static_cast<uint32_t>(snapshot::kPayloadBytesMax));
  BlockDecompressor decompressor;
  std::string plain;
  size_t bytes = 0;
  EXPECT_NE(decompressor.Decompress(lying, plain, bytes), "");
  EXPECT_LE(plain.capacity(), size_t{4} << 20);
}

}  // namespace block_compression_test
}  // namespace liststore::testing

#include "engine/base/big_endian.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace liststore {
namespace big_endian_test {

TEST(BigEndianTest, BytesLieInTheOrderTheyAreWritten) {
  unsigned char bytes[8];
  StoreBigEndian64(bytes, 0x0102030405060708u);
  EXPECT_EQ(0, std::memcmp(bytes, "\x01\x02\x03\x04\x05\x06\x07\x08", 8));
  StoreBigEndian32(bytes, 0xa1b2c3d4u);
  EXPECT_EQ(0, std::memcmp(bytes, "\xa1\xb2\xc3\xd4", 4));
  StoreBigEndian16(bytes, 0xfe01u);
  EXPECT_EQ(0, std::memcmp(bytes, "\xfe\x01", 2));
  StoreNative<uint32_t>(bytes, 0xa1b2c3d4u);
  EXPECT_EQ(0, std::memcmp(bytes, "\xd4\xc3\xb2\xa1", 4));
}

TEST(BigEndianTest, RoundTripsAtEveryAlignment) {
  char buffer[24];
  for (int offset = 0; offset < 8; ++offset) {
    StoreBigEndian64(buffer + offset, 0xfedcba9876543210u);
    EXPECT_EQ(LoadBigEndian64(buffer + offset), 0xfedcba9876543210u);
    StoreBigEndian32(buffer + offset, 0xdeadbeefu);
    EXPECT_EQ(LoadBigEndian32(buffer + offset), 0xdeadbeefu);
    StoreBigEndian16(buffer + offset, 0xbeefu);
    EXPECT_EQ(LoadBigEndian16(buffer + offset), 0xbeefu);
    StoreNative<int64_t>(buffer + offset, -5);
    EXPECT_EQ(LoadNative<int64_t>(buffer + offset), -5);
  }
}

TEST(BigEndianTest, BytesCompareLikeTheNumbers) {
  const uint64_t ascending[] = {
      0, 1, 255, 256, 0xffffffffu, 1ull << 32, 1ull << 63, UINT64_MAX - 1, UINT64_MAX};
  std::string previous;
  for (const uint64_t number : ascending) {
    std::string bytes(8, '\0');
    StoreBigEndian64(bytes.data(), number);
    EXPECT_TRUE(previous.empty() || previous < bytes) << number;
    previous = bytes;
  }
}

}  // namespace big_endian_test
}  // namespace liststore

#include "engine/model/types/duration.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace liststore {
namespace duration_test {

TEST(DurationTest, DecodesItsThreeNumbers) {
  EXPECT_EQ(DecodeDuration(std::string_view("\x02\x04\x06", 3)), (Duration{1, 2, 3}));
  EXPECT_EQ(DecodeDuration(std::string_view("\x01\x03\x05", 3)), (Duration{-1, -2, -3}));
  EXPECT_EQ(DecodeDuration(std::string_view("\0\0\0", 3)), Duration{});
  EXPECT_EQ(DecodeDuration(std::string_view("\0\0\x81\x00", 4)), (Duration{0, 0, 128}));
  // One minute: 120'000'000'000 as a zigzag of six bytes.
  EXPECT_EQ(DecodeDuration(std::string_view("\0\0\xf8\x1b\xf0\x8e\xb0\x00", 8)),
            (Duration{0, 0, 60'000'000'000}));
}

TEST(DurationTest, EncodesWhatItDecodes) {
  for (int bits = 0; bits < 63; ++bits) {
    for (const int64_t sign : {1, -1}) {
      const auto part = static_cast<int32_t>(sign * (int64_t{1} << (bits % 31)));
      const Duration duration{part, 0, sign * (int64_t{1} << bits)};
      EXPECT_EQ(DecodeDuration(EncodeDuration(duration)), duration) << bits;
    }
  }
  const Duration most{INT32_MAX, INT32_MAX, INT64_MAX};
  EXPECT_EQ(DecodeDuration(EncodeDuration(most)), most);
  const Duration least{INT32_MIN, INT32_MIN, INT64_MIN};
  EXPECT_EQ(DecodeDuration(EncodeDuration(least)), least);
  EXPECT_EQ(EncodeDuration({0, 0, 128}), std::string("\0\0\x81\0", 4)) << "the shortest form";
}

TEST(DurationTest, RefusesWhatIsNone) {
  EXPECT_EQ(DecodeDuration(""), std::nullopt);
  EXPECT_EQ(DecodeDuration(std::string_view("\0\x02", 2)), std::nullopt) << "a part is missing";
  EXPECT_EQ(DecodeDuration(std::string_view("\0\0\x80", 3)), std::nullopt) << "a part is cut off";
  EXPECT_EQ(DecodeDuration(std::string_view("\0\0\0\0", 4)), std::nullopt) << "there is more";
  EXPECT_EQ(DecodeDuration(std::string_view("\x02\x01\0", 3)), std::nullopt) << "signs differ";
}

}  // namespace duration_test
}  // namespace liststore

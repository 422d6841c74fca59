#include "engine/base/hash.h"

#include <gtest/gtest.h>

namespace liststore {
namespace hash_test {

// Published values of XXH3-64: what is stored under a hash must be found by the next build.
TEST(HashTest, IsXxh3) {
  EXPECT_EQ(Hash64(""), 0x2d06800538d394c2u);
  EXPECT_EQ(Hash64("liststore"), 0x033933d2c4137d7cu);
}

TEST(HashTest, SeedMatters) { EXPECT_EQ(Hash64("liststore", 7), 0x44a11a9cfbdd7987u); }

}  // namespace hash_test
}  // namespace liststore

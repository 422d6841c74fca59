#include "engine/base/output_buffer.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"

#include "engine/base/random.h"
#include "tests/support/seed.h"

namespace liststore::protocol {
namespace output_buffer_test {

TEST(OutputBufferTest, BehavesLikeAString) {
  Random rng(testing::TestSeed());
  const uint64_t steps = testing::TestSteps(20'000);
  OutputBuffer buffer;
  std::string reference;
  for (uint64_t step = 0; step < steps; ++step) {
    const size_t size = reference.size();
    const std::string bytes(rng.Below(300), static_cast<char>('a' + rng.Below(26)));
    switch (rng.Below(9)) {
      case 0:
        buffer.AppendByte(7);
        reference += '\7';
        break;
      case 1:
        buffer.AppendBigEndian16(0x6162);
        reference += "ab";
        break;
      case 2:
        buffer.AppendBigEndian64(0x6162636465666768);
        reference += "abcdefgh";
        break;
      case 3:
        buffer.Append(bytes);
        reference += bytes;
        break;
      case 4: {
        const size_t at = rng.Below(size + 1);
        char* const to = buffer.Insert(at, bytes.size());
        if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
        reference.insert(at, bytes);
        break;
      }
      case 5: {
        const size_t rest = size - rng.Below(size + 1) / 4;
        buffer.Truncate(rest);
        reference.resize(rest);
        break;
      }
      case 6: {
        const size_t front = rng.Below(size + 1) / 4;
        buffer.DropFront(front);
        reference.erase(0, front);
        break;
      }
      case 7:
        if (size < 4) break;
        buffer.PatchBigEndian32(size - 4, 0x7a797877);
        reference.replace(size - 4, 4, "zyxw");
        ASSERT_EQ(buffer.BigEndian32At(size - 4), 0x7a797877u);
        break;
      case 8:
        if (rng.Below(20) == 0) buffer.ShrinkTo(rng.Below(2000));
        if (rng.Below(200) == 0) {
          buffer.Clear();
          reference.clear();
        }
        break;
    }
    ASSERT_EQ(buffer.size(), reference.size()) << "step " << step;
    ASSERT_EQ(buffer.view(), reference) << "step " << step;
    ASSERT_GE(buffer.capacity(), buffer.size()) << "step " << step;
  }
}

TEST(OutputBufferTest, KeepsItsMemoryUntilItIsTold) {
  OutputBuffer buffer;
  EXPECT_EQ(buffer.capacity(), 0u);
  buffer.Append(std::string(100'000, 'x'));
  const size_t capacity = buffer.capacity();
  buffer.Clear();
  EXPECT_EQ(buffer.capacity(), capacity);
  buffer.ShrinkTo(4096);
  EXPECT_EQ(buffer.capacity(), 4096u);
  buffer.ShrinkTo(0);
  EXPECT_EQ(buffer.capacity(), 0u);
}

TEST(OutputBufferTest, Moves) {
  OutputBuffer buffer;
  buffer.Append("abc");
  OutputBuffer moved(std::move(buffer));
  EXPECT_EQ(moved.view(), "abc");
  OutputBuffer assigned;
  assigned = std::move(moved);
  EXPECT_EQ(assigned.view(), "abc");
}

}  // namespace output_buffer_test
}  // namespace liststore::protocol

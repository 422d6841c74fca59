#include "engine/base/short_copy.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace liststore {
namespace {

// Lengths around every step and both ends. Copies are to blocks of their own size, so that a sanitizer
// sees what is beyond.
constexpr size_t kLengthMax = 200;

std::string TextOf(size_t length) {
  std::string text(length, '\0');
  for (size_t i = 0; i < length; ++i) text[i] = static_cast<char>(i * 7 + 1);
  return text;
}

std::unique_ptr<char[]> BlockOf(const std::string& text) {
  auto block = std::make_unique<char[]>(text.size());
  text.copy(block.get(), text.size());
  return block;
}

TEST(ShortCopyTest, CopiesEveryLength) {
  for (size_t length = 0; length <= kLengthMax; ++length) {
    const std::string text = TextOf(length);
    const auto to = std::make_unique<char[]>(length);
    EXPECT_EQ(CopyShort(text, to.get()), to.get() + length);
    EXPECT_EQ(std::string(to.get(), length), text);
  }
}

TEST(ShortCopyTest, ComparesEveryByteOfEveryLength) {
  for (size_t length = 0; length <= kLengthMax; ++length) {
    const std::string text = TextOf(length);
    const auto a = BlockOf(text);
    EXPECT_TRUE(EqualShort({a.get(), length}, {BlockOf(text).get(), length}));
    for (size_t at = 0; at < length; ++at) {
      std::string other = text;
      other[at] = static_cast<char>(other[at] ^ 0x80);
      const auto b = BlockOf(other);
      ASSERT_FALSE(EqualShort({a.get(), length}, {b.get(), length})) << at << " of " << length;
    }
  }
}

TEST(ShortCopyTest, OtherLengthsDiffer) {
  EXPECT_FALSE(EqualShort("0123456789abcdef", "0123456789abcdefg"));
  EXPECT_FALSE(EqualShort("0123456789abcdefg", "0123456789abcdef"));
  EXPECT_FALSE(EqualShort("", "0"));
}

}  // namespace
}  // namespace liststore

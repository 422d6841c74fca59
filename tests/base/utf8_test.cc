#include "engine/base/utf8.h"

#include <string>

#include <gtest/gtest.h>

namespace liststore {
namespace utf8_test {

struct Example {
  std::string_view rule;
  std::string_view text;
  bool valid;
};

constexpr Example kExamples[] = {
    {"empty", "", true},
    {"ascii, shorter than a word", "abc", true},
    {"ascii, longer than a word", "abcdefgh abcdefgh ", true},
    {"a zero byte is a character", std::string_view("a\0b", 3), true},
    {"two bytes", "caf\xc3\xa9", true},
    {"smallest of two bytes", "\xc2\x80", true},
    {"smallest of three bytes", "\xe0\xa0\x80", true},
    {"last before the surrogates", "\xed\x9f\xbf", true},
    {"first behind the surrogates", "\xee\x80\x80", true},
    {"smallest of four bytes", "\xf0\x90\x80\x80", true},
    {"U+10FFFF", "\xf4\x8f\xbf\xbf", true},
    {"a character across a word's end", "abcdefg\xf0\x9f\x98\x80 abcdefgh", true},
    {"a continuation alone", "\x80", false},
    {"overlong slash", "\xc0\xaf", false},
    {"overlong in two bytes", "\xc1\xbf", false},
    {"overlong in three bytes", "\xe0\x9f\xbf", false},
    {"overlong in four bytes", "\xf0\x8f\xbf\xbf", false},
    {"first surrogate", "\xed\xa0\x80", false},
    {"last surrogate", "\xed\xbf\xbf", false},
    {"behind U+10FFFF", "\xf4\x90\x80\x80", false},
    {"f5 leads nothing", "\xf5\x80\x80\x80", false},
    {"ff leads nothing", "\xff", false},
    {"cut off after one byte", "a\xc3", false},
    {"cut off after two bytes", "a\xe2\x82", false},
    {"cut off after three bytes", "a\xf0\x9f\x98", false},
    {"a letter instead of a continuation", "\xe2\x82z", false},
    {"bad byte in the second word",
     "abcdefgh\xff"
     "bcdefgh",
     false},
};

TEST(Utf8Test, Table) {
  for (const Example& example : kExamples) {
    EXPECT_EQ(IsValidUtf8(example.text), example.valid) << example.rule;
  }
}

TEST(Utf8Test, SaysWhereTheFirstBadCharacterBegins) {
  EXPECT_EQ(ValidUtf8Bytes(""), 0u);
  EXPECT_EQ(ValidUtf8Bytes("abc"), 3u);
  EXPECT_EQ(ValidUtf8Bytes("\x80z"), 0u);
  EXPECT_EQ(ValidUtf8Bytes("abcdefgh\xc3\xa9\xffxyz"), 10u);
  EXPECT_EQ(ValidUtf8Bytes("ab\xe2\x82"), 2u) << "the character, not its last byte";
  EXPECT_EQ(ValidUtf8Bytes("ab\xe2\x82z"), 2u);
  EXPECT_EQ(ValidUtf8Bytes("ab\xed\xa0\x80"), 2u);
}

// Every code point in its only form.
TEST(Utf8Test, EveryCodePoint) {
  for (uint32_t code = 0; code < 0x110000; ++code) {
    std::string text;
    if (code < 0x80) {
      text = {static_cast<char>(code)};
    } else if (code < 0x800) {
      text = {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
    } else if (code < 0x10000) {
      text = {static_cast<char>(0xe0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 63)),
              static_cast<char>(0x80 | (code & 63))};
    } else {
      text = {static_cast<char>(0xf0 | code >> 18), static_cast<char>(0x80 | (code >> 12 & 63)),
              static_cast<char>(0x80 | (code >> 6 & 63)), static_cast<char>(0x80 | (code & 63))};
    }
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    ASSERT_EQ(IsValidUtf8(text), !surrogate) << std::hex << code;
  }
}

}  // namespace utf8_test
}  // namespace liststore

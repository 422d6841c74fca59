#include "engine/cql/values/encode_value.h"

#include <string>
#include <string_view>

#include "engine/model/data_type.h"
#include "gtest/gtest.h"

namespace liststore {
namespace encode_value_test {

std::string Bytes(std::string_view bytes) { return std::string(bytes); }

TEST(EncodeValueTest, NumbersAreBigEndian) {
  EXPECT_EQ(EncodeInt(-2), Bytes("\xff\xff\xff\xfe"));
  EXPECT_EQ(EncodeBigint(258), Bytes({"\0\0\0\0\0\0\1\2", 8}));
  EXPECT_EQ(EncodeDouble(1.0), Bytes({"\x3f\xf0\0\0\0\0\0\0", 8}));
  EXPECT_EQ(EncodeBoolean(true), "\1");
  EXPECT_EQ(EncodeBoolean(false), Bytes({"\0", 1}));
  EXPECT_EQ(EncodeTimestamp(1'999'999), Bytes({"\0\0\0\0\0\0\0\1", 8})) << "milliseconds";
  EXPECT_EQ(EncodeInet({"\x7f\0\0\1", 4}), Bytes({"\x7f\0\0\1", 4}));
}

TEST(EncodeValueTest, SetsAndMapsAreInOrder) {
  EXPECT_EQ(EncodeTextSet({"b", "a", "b"}), EncodeTextList({"a", "b"}));
  EXPECT_EQ(EncodeTextSet({"\xc3\xa9", "z"}), EncodeTextList({"z", "\xc3\xa9"}))
      << "by unsigned bytes";
  EXPECT_EQ(EncodeTextMap({{"k", "v"}}), Bytes({"\0\0\0\1\0\0\0\1k\0\0\0\1v", 14}));
  EXPECT_EQ(EncodeTextList({}), Bytes({"\0\0\0\0", 4}));
}

TEST(EncodeValueTest, WhatComesOutIsValid) {
  const DataType text = CqlType::kText;
  EXPECT_TRUE(DataType::Set(text).IsValid(EncodeTextSet({"a", "b"})));
  EXPECT_TRUE(DataType::List(text).IsValid(EncodeTextList({"a", ""})));
  EXPECT_TRUE(DataType::Map(text, text).IsValid(EncodeTextMap({{"", "x"}, {"y", ""}})));
  EXPECT_TRUE(DataType(CqlType::kUuid).IsValid(EncodeUuid(Uuid::FromRandomBits(1, 2))));
}

}  // namespace encode_value_test
}  // namespace liststore

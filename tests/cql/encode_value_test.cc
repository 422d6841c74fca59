#include "engine/cql/values/encode_value.h"

#include <string>
#include <string_view>

#include "engine/model/types/data_type.h"
#include "gtest/gtest.h"

namespace liststore {
namespace encode_value_test {

std::string Bytes(std::string_view bytes) { return std::string(bytes); }

TEST(EncodeValueTest, NumbersAreBigEndian) {
  EXPECT_EQ(cql::EncodeInt(-2), Bytes("\xff\xff\xff\xfe"));
  EXPECT_EQ(cql::EncodeBigint(258), Bytes({"\0\0\0\0\0\0\1\2", 8}));
  EXPECT_EQ(cql::EncodeDouble(1.0), Bytes({"\x3f\xf0\0\0\0\0\0\0", 8}));
  EXPECT_EQ(cql::EncodeBoolean(true), "\1");
  EXPECT_EQ(cql::EncodeBoolean(false), Bytes({"\0", 1}));
  EXPECT_EQ(cql::EncodeTimestamp(1'999'999), Bytes({"\0\0\0\0\0\0\0\1", 8})) << "milliseconds";
  EXPECT_EQ(cql::EncodeInet({"\x7f\0\0\1", 4}), Bytes({"\x7f\0\0\1", 4}));
}

TEST(EncodeValueTest, SetsAndMapsAreInOrder) {
  EXPECT_EQ(cql::EncodeTextSet({"b", "a", "b"}), cql::EncodeTextList({"a", "b"}));
  EXPECT_EQ(cql::EncodeTextSet({"\xc3\xa9", "z"}), cql::EncodeTextList({"z", "\xc3\xa9"}))
      << "by unsigned bytes";
  EXPECT_EQ(cql::EncodeTextMap({{"k", "v"}}), Bytes({"\0\0\0\1\0\0\0\1k\0\0\0\1v", 14}));
  EXPECT_EQ(cql::EncodeTextList({}), Bytes({"\0\0\0\0", 4}));
}

TEST(EncodeValueTest, WhatComesOutIsValid) {
  const DataType text = CqlType::kText;
  EXPECT_TRUE(DataType::Set(text).IsValid(cql::EncodeTextSet({"a", "b"})));
  EXPECT_TRUE(DataType::List(text).IsValid(cql::EncodeTextList({"a", ""})));
  EXPECT_TRUE(DataType::Map(text, text).IsValid(cql::EncodeTextMap({{"", "x"}, {"y", ""}})));
  EXPECT_TRUE(DataType(CqlType::kUuid).IsValid(cql::EncodeUuid(Uuid::FromRandomBits(1, 2))));
}

}  // namespace encode_value_test
}  // namespace liststore

#include "engine/model/data_type.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace liststore {
namespace {

using namespace std::string_view_literals;

DataType TextMap() { return DataType::Map(CqlType::kText, CqlType::kBlob); }

TEST(DataTypeTest, PrintsAsScyllaDbDoes) {
  EXPECT_EQ(DataType(CqlType::kText).ToString(), "text");
  EXPECT_EQ(DataType::Set(CqlType::kText).ToString(), "set<text>");
  EXPECT_EQ(DataType::Frozen(TextMap()).ToString(), "frozen<map<text, blob>>");
  EXPECT_EQ(DataType::List(DataType::Frozen(DataType::Set(CqlType::kInt))).ToString(),
            "list<frozen<set<int>>>");
  EXPECT_EQ(DataType::Tuple({CqlType::kInt, CqlType::kText}).ToString(),
            "frozen<tuple<int, text>>");
  EXPECT_EQ(DataType::Frozen(CqlType::kInt).ToString(), "int") << "native types have no such form";
}

TEST(DataTypeTest, TypesAreEqualWhenTheirTreesAre) {
  EXPECT_EQ(TextMap(), TextMap());
  EXPECT_NE(TextMap(), DataType::Frozen(TextMap()));
  EXPECT_NE(TextMap(), DataType::Map(CqlType::kText, CqlType::kText));
  EXPECT_TRUE(DataType(CqlType::kInt).is(CqlType::kInt));
  EXPECT_FALSE(TextMap().is(CqlType::kBlob)) << "whatever it is stored as";
}

TEST(DataTypeTest, CollectionsComeApartAsTheyWerePutTogether) {
  const DataType list = DataType::List(CqlType::kText);
  const std::string joined = JoinCollection(list, {"a", "", "bcd"});
  EXPECT_EQ(joined, "\0\0\0\3\0\0\0\1a\0\0\0\0\0\0\0\3bcd"sv);
  EXPECT_EQ(SplitCollection(list, joined), (std::vector<std::string_view>{"a", "", "bcd"}));
  const std::string pairs = JoinCollection(TextMap(), {"k", "v", "l", "w"});
  EXPECT_EQ(pairs.substr(0, 4), "\0\0\0\2"sv) << "a map counts pairs";
  EXPECT_EQ(SplitCollection(TextMap(), pairs), (std::vector<std::string_view>{"k", "v", "l", "w"}));
}

TEST(DataTypeTest, BrokenFramingIsNotValid) {
  const DataType list = DataType::List(CqlType::kInt);
  EXPECT_TRUE(list.IsValid("\0\0\0\1\0\0\0\4\0\0\0\7"sv));
  EXPECT_TRUE(list.IsValid("\0\0\0\0"sv));
  const std::string_view broken[] = {
      ""sv,                            // no count
      "\0\0\0"sv,                      // half a count
      "\xff\xff\xff\xff"sv,            // a negative count
      "\x7f\xff\xff\xff"sv,            // more elements than bytes
      "\0\0\0\1"sv,                    // the element is missing
      "\0\0\0\1\0\0\0\4\0\0\0"sv,      // ... or cut off
      "\0\0\0\1\xff\xff\xff\xff"sv,    // ... or null
      "\0\0\0\1\0\0\0\3\0\0\7"sv,      // ... or no int
      "\0\0\0\1\0\0\0\4\0\0\0\7\0"sv,  // something behind the last
  };
  for (const std::string_view value : broken) EXPECT_FALSE(list.IsValid(value));
}

TEST(DataTypeTest, TuplesMayHoldNullsAndEndEarly) {
  const DataType tuple = DataType::Tuple({CqlType::kInt, CqlType::kText});
  EXPECT_TRUE(tuple.IsValid("\0\0\0\4\0\0\0\7\0\0\0\1x"sv));
  EXPECT_TRUE(tuple.IsValid("\xff\xff\xff\xff\0\0\0\1x"sv));
  EXPECT_TRUE(tuple.IsValid("\0\0\0\4\0\0\0\7"sv));
  EXPECT_FALSE(tuple.IsValid("\0\0\0\4\0\0\0\7\0\0\0\1x\0\0\0\0"sv)) << "one field too many";
  EXPECT_FALSE(tuple.IsValid("\0\0\0\2\0\0"sv));
}

}  // namespace
}  // namespace liststore

#include "engine/model/types/data_type.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace liststore {
namespace data_type_test {

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

DataType UserType(const std::string& name, std::vector<DataType> fields) {
  auto names = std::make_shared<UserTypeNames>();
  names->keyspace = "k";
  names->name = name;
  for (size_t i = 0; i < fields.size(); ++i) names->fields.push_back("f" + std::to_string(i));
  return DataType::User(std::move(names), std::move(fields));
}

TEST(DataTypeTest, KnowsHowLargeItIs) {
  EXPECT_EQ(DataType(CqlType::kText).size(), (TypeSize{2, 1}));
  EXPECT_EQ(TextMap().size(), (TypeSize{6, 2}));
  EXPECT_EQ(DataType::Tuple({CqlType::kText, TextMap()}).size(), (TypeSize{4 + 2 + 6, 3}));
  // Option and count; keyspace, name, field: a length each.
  const DataType user = UserType("u", {CqlType::kInt});
  EXPECT_EQ(user.size(), (TypeSize{4 + 3 + 3 + 4 + 2, 2}));
  EXPECT_EQ(DataType::Frozen(user).size(), user.size());
  EXPECT_EQ(UserType("none", {}).size(), (TypeSize{4 + 3 + 6, 1}));
  DataType deep = CqlType::kInt;
  for (size_t i = 0; i < 40; ++i) deep = DataType::Tuple({deep, deep});
  EXPECT_EQ(deep.size(), (TypeSize{UINT32_MAX, 41}));
}

TEST(DataTypeTest, AUserTypeIsReplacedWhereverItIs) {
  const DataType before = UserType("u", {CqlType::kInt});
  const DataType behind = UserType("u", {CqlType::kInt, TextMap()});
  const DataType other = UserType("v", {CqlType::kInt});
  const auto make = [&](const DataType& type) {
    return DataType::Map(CqlType::kText,
                         DataType::Tuple({type, other, UserType("w", {DataType::Frozen(type)})}));
  };
  EXPECT_EQ(make(before).WithUserType(behind), make(behind));
  EXPECT_EQ(make(before).WithUserType(behind).size(), make(behind).size());
  EXPECT_EQ(before.WithUserType(behind), behind);
  EXPECT_EQ(other.WithUserType(behind), other);
}

TEST(DataTypeTest, WhatIsSharedIsReplacedOnce) {
  const DataType behind = UserType("u", {CqlType::kText});
  DataType before = UserType("u", {CqlType::kInt});
  // As many of them as there are stars.
  for (size_t i = 0; i < 80; ++i) {
    before = DataType::Frozen(before);
    before = UserType("t" + std::to_string(i), {before, before});
  }
  UserTypeReplacement replacement(behind);
  DataType type = replacement.In(before);
  EXPECT_EQ(&type.parameters(), &replacement.In(DataType::Frozen(before)).parameters());
  for (size_t i = 0; i < 80; ++i) {
    const DataType inner = type.parameters()[0];
    EXPECT_EQ(&inner.parameters(), &type.parameters()[1].parameters());
    type = inner;
  }
  EXPECT_EQ(type, DataType::Frozen(behind));
}

TEST(DataTypeTest, TuplesMayHoldNullsAndEndEarly) {
  const DataType tuple = DataType::Tuple({CqlType::kInt, CqlType::kText});
  EXPECT_TRUE(tuple.IsValid("\0\0\0\4\0\0\0\7\0\0\0\1x"sv));
  EXPECT_TRUE(tuple.IsValid("\xff\xff\xff\xff\0\0\0\1x"sv));
  EXPECT_TRUE(tuple.IsValid("\0\0\0\4\0\0\0\7"sv));
  EXPECT_FALSE(tuple.IsValid("\0\0\0\4\0\0\0\7\0\0\0\1x\0\0\0\0"sv)) << "one field too many";
  EXPECT_FALSE(tuple.IsValid("\0\0\0\2\0\0"sv));
}

}  // namespace data_type_test
}  // namespace liststore

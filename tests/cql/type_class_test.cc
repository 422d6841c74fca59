#include "engine/cql/syntax/type_class.h"

#include <gtest/gtest.h>

#include <string>

namespace liststore {
namespace type_class_test {

std::string Marshal(std::string_view name) {
  return "org.apache.cassandra.db.marshal." + std::string(name);
}

// Sources: ScyllaDB db/marshal/type_parser.cc, get_abstract_type; types/types.cc,
// abstract_type::parse_type; Cassandra db/marshal/CompositeType.java, DynamicCompositeType.java,
// toString.
TEST(TypeClassTest, TypesAreShownAsTheyAreInCql) {
  struct Case {
    std::string text;
    std::string shown;
  };
  const Case cases[] = {
      {Marshal("Int32Type"), "int"},
      {"Int32Type", "int"},
      {" UTF8Type ", "text"},
      {"BytesType", "blob"},
      {"LongType", "bigint"},
      {"IntegerType", "varint"},
      {"DateType", "timestamp"},
      {"SimpleDateType", "date"},
      {"CounterColumnType", "counter"},
      {"ReversedType(Int32Type)", "int"},
      {"ListType(Int32Type)", "list<int>"},
      {"SetType(UTF8Type)", "set<text>"},
      {"MapType(UTF8Type, Int32Type)", "map<text, int>"},
      {"FrozenType(ListType(Int32Type))", "frozen<list<int>>"},
      {"ListType(SetType(Int32Type))", "list<frozen<set<int>>>"},
      {"TupleType(Int32Type,UTF8Type)", "frozen<tuple<int, text>>"},
      {"FrozenType(UserType(ks,61646472,6e:Int32Type))", "frozen<addr>"},
      {"CompositeType(UTF8Type, Int32Type)",
       "'" + Marshal("CompositeType(") + Marshal("UTF8Type,") + Marshal("Int32Type)") + "'"},
      {"DynamicCompositeType(s=>UTF8Type, i=>Int32Type)",
       "'" + Marshal("DynamicCompositeType(s=>") + Marshal("UTF8Type,i=>") + Marshal("Int32Type)") +
           "'"},
      {"LexicalUUIDType", "'" + Marshal("LexicalUUIDType") + "'"},
  };
  for (const Case& row : cases) {
    const auto type = cql::ParseTypeClass(row.text);
    ASSERT_TRUE(type.ok()) << row.text << ": " << type.error().message;
    EXPECT_EQ(type->ToString(), row.shown) << row.text;
  }
}

TEST(TypeClassTest, WhatIsNoClassIsRefused) {
  struct Case {
    std::string text;
    std::string error;
  };
  const Case cases[] = {
      {"Foo",
       "Error setting type Foo: Unable to find abstract-type class '" + Marshal("Foo") + "'"},
      {"com.example.Foo",
       "Error setting type com.example.Foo: Unable to find abstract-type class 'com.example.Foo'"},
      {"", "Error setting type : Unable to find abstract-type class ''"},
      {"MapType(Int32Type)",
       "Error setting type MapType(Int32Type): MapType takes exactly 2 type parameters"},
      {"ListType(Int32Type",
       "Cannot parse type ListType(Int32Type: Syntax error parsing "
       "'ListType(Int32Type' at char 18: unexpected end of string"},
  };
  for (const Case& row : cases) {
    const auto type = cql::ParseTypeClass(row.text);
    ASSERT_FALSE(type.ok()) << row.text;
    EXPECT_EQ(type.error().message, row.error) << row.text;
    EXPECT_EQ(type.error().code, CqlErrorCode::kSyntax) << row.text;
  }
  std::string deep = "Int32Type";
  for (int i = 0; i < 1000; ++i) deep = "FrozenType(" + deep + ")";
  EXPECT_FALSE(cql::ParseTypeClass(deep).ok());
}

TEST(TypeClassTest, CustomTypesAreBlobsWithAClass) {
  const DataType type = *cql::ParseTypeClass("CompositeType(Int32Type)");
  EXPECT_TRUE(type.is_custom());
  EXPECT_TRUE(type.is(CqlType::kBlob));
  EXPECT_EQ(type.custom_class(), Marshal("CompositeType(") + Marshal("Int32Type)"));
  EXPECT_NE(type, DataType(CqlType::kBlob));
  EXPECT_EQ(type, *cql::ParseTypeClass(type.custom_class()));
  EXPECT_NE(type, *cql::ParseTypeClass("CompositeType(UTF8Type)"));
}

}  // namespace type_class_test
}  // namespace liststore

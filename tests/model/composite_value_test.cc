// Values of tuples and user types beside their types.
#include "engine/model/types/composite_value.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace liststore {
namespace composite_value_test {

using Fields = std::vector<std::optional<std::string>>;

DataType UserType(size_t fields) {
  auto names = std::make_shared<UserTypeNames>();
  names->keyspace = "ks";
  names->name = "t";
  names->name_in_cql = "t";
  for (size_t i = 0; i < fields; ++i) names->fields.push_back("f" + std::to_string(i));
  return DataType::Frozen(DataType::User(names, std::vector<DataType>(fields, CqlType::kText)));
}

TEST(CompositeValueTest, FieldsAreReadByTypesThatHaveMoreOrFewer) {
  const std::string value = EncodeTuple(Fields{"a", std::nullopt, "c"});
  const auto fields_of = [&](size_t fields) {
    const auto split = SplitTuple(UserType(fields), value);
    return split ? Fields(split->begin(), split->end()) : Fields{"broken"};
  };
  EXPECT_EQ(fields_of(3), (Fields{"a", std::nullopt, "c"}));
  EXPECT_EQ(fields_of(4), (Fields{"a", std::nullopt, "c", std::nullopt}));
  EXPECT_EQ(fields_of(1), (Fields{"a"})) << "of a type that has grown since";
  EXPECT_FALSE(UserType(1).IsValid(value)) << "nobody can send it";
  EXPECT_EQ(CompareValues(UserType(1), value, EncodeTuple(Fields{"a"})), 0);
  EXPECT_GT(CompareValues(UserType(4), value, EncodeTuple(Fields{"a", std::nullopt, "b"})), 0);
}

TEST(CompositeValueTest, BrokenFramingIsNoTuple) {
  const std::string value = EncodeTuple(Fields{"abc"});
  for (size_t bytes = 1; bytes < value.size(); ++bytes) {
    EXPECT_FALSE(SplitTuple(UserType(1), std::string_view(value).substr(0, bytes))) << bytes;
  }
}

}  // namespace composite_value_test
}  // namespace liststore

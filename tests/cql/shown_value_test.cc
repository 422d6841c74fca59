// Values as messages show them: ScyllaDB types/types.cc, data_value::to_parsable_string.
#include "engine/cql/values/shown_value.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/cql/syntax/parser.h"
#include "engine/cql/values/literal.h"
#include "engine/model/types/data_type.h"
#include "gtest/gtest.h"

namespace liststore {
namespace shown_value_test {

std::string Shown(const DataType& type, std::string_view literal) {
  const cql::CqlOr<cql::Expression> term = cql::ParseTerm(literal);
  EXPECT_TRUE(term.ok()) << literal;
  const auto value = cql::EncodeLiteral(*term, type, "c");
  EXPECT_TRUE(value.ok()) << literal;
  return cql::ShownValue(type, *value);
}

struct Example {
  DataType type;
  std::string_view literal;
  std::string_view expected;
};

TEST(ShownValueTest, ValuesAreNoLiterals) {
  using enum CqlType;
  const Example examples[] = {
      {kText, "'it''s'", "'it's'"},
      {kText, "''", "''"},
      {kAscii, "'a'", "'a'"},
      {kBlob, "0x00ff", "00ff"},
      {kBlob, "0x", ""},
      {kInt, "-5", "-5"},
      {kInt, "null", "null"},
      {kDouble, "1.0", "1"},
      {kDouble, "0.25", "0.25"},
      {kBoolean, "TRUE", "true"},
      {kVarint, "100000000000000000000", "100000000000000000000"},
      {kDecimal, "1.5", "1.5"},
      {kDuration, "1mo2d", "1mo2d"},
      {kUuid, "123E4567-E89B-42D3-A456-426655440000", "123e4567-e89b-42d3-a456-426655440000"},
      {kInet, "'127.0.0.1'", "'127.0.0.1'"},
      {kDate, "'2023-11-14'", "'2023-11-14'"},
      {kTime, "'22:13:20'", "'22:13:20.000000000'"},
      {kTimestamp, "1700000000123", "'2023-11-14T22:13:20.123Z'"},
      {kTimestamp, "''", "''"},
      {DataType::List(kText), "['b', 'a']", "['b', 'a']"},
      {DataType::Set(kInt), "{2, 1}", "{1, 2}"},
      {DataType::Map(kInt, kText), "{2: 'b', 1: 'a'}", "{1:'a', 2:'b'}"},
      {DataType::Tuple({kInt, kText}), "(1, null)", "(1, null)"},
  };
  for (const Example& example : examples) {
    EXPECT_EQ(Shown(example.type, example.literal), example.expected) << example.literal;
  }
}

}  // namespace shown_value_test
}  // namespace liststore

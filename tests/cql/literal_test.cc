// Literals to bytes: what is taken, what is refused and in which words; bytes to literals.
#include "engine/cql/values/literal.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/cql/syntax/parser.h"
#include "engine/cql/values/number_text.h"
#include "engine/cql/values/print_value.h"
#include "engine/model/types/composite_value.h"
#include "tests/support/vectors.h"

namespace liststore {
namespace literal_test {

using testing::FromHex;
using testing::ToHex;

DataType TypeOf(std::string_view text) {
  const cql::CqlOr<cql::TypeSpec> spec = cql::ParseType(text);
  EXPECT_TRUE(spec.ok()) << text;
  cql::CqlOr<DataType> type = cql::ToDataType(*spec, "");
  EXPECT_TRUE(type.ok()) << text;
  return *std::move(type);
}

// Hex of the value, "null", or the refusal.
std::string Encoded(std::string_view literal, const DataType& type) {
  const cql::CqlOr<cql::Expression> term = cql::ParseTerm(literal);
  if (!term.ok()) return term.error().message;
  EXPECT_TRUE(cql::IsLiteral(*term)) << literal;
  const cql::CqlOr<std::optional<std::string>> value = cql::EncodeLiteral(*term, type, "c");
  if (!value.ok()) {
    const CqlErrorCode code = value.error().code;
    EXPECT_TRUE(code == CqlErrorCode::kInvalid || code == CqlErrorCode::kServerError) << literal;
    return value.error().message;
  }
  if (!*value) return "null";
  EXPECT_TRUE(type.IsValid(**value)) << literal;
  return ToHex(**value);
}

struct Example {
  std::string_view type;
  std::string_view literal;
  std::string_view hex;
  std::string_view printed;  // empty: as the literal
};

constexpr Example kValues[] = {
    {"int", "1", "00000001", ""},
    {"int", "-2147483648", "80000000", ""},
    {"bigint", "9223372036854775807", "7fffffffffffffff", ""},
    {"counter", "5", "0000000000000005", ""},
    {"smallint", "-1", "ffff", ""},
    {"tinyint", "127", "7f", ""},
    {"varint", "0", "00", ""},
    {"varint", "-129", "ff7f", ""},
    {"varint", "340282366920938463463374607431768211456", "0100000000000000000000000000000000", ""},
    {"varint", "0007", "07", "7"},
    {"decimal", "1.00", "0000000264", ""},
    {"decimal", "-0.5", "00000001fb", ""},
    {"decimal", "1E+2", "fffffffe01", ""},
    {"decimal", "1.5e-10", "0000000b0f", "1.5E-10"},
    {"decimal", "100", "0000000064", ""},
    {"decimal", "0.000", "0000000300", ""},
    {"decimal", "1e2147483648", "8000000001", "1E+2147483648"},
    {"decimal", "5.", "0000000005", "5"},
    {"float", "1.5", "3fc00000", ""},
    {"float", "1", "3f800000", ""},
    {"float", "NaN", "7fc00000", ""},
    {"float", "-infinity", "ff800000", "-Infinity"},
    {"double", "-0", "8000000000000000", ""},
    {"double", "1e400000000000000000000e", "line 1:23 : Unexpected 'e'", ""},
    {"double", "1e-400", "0000000000000000", "0"},
    {"double", "0.1", "3fb999999999999a", ""},
    {"boolean", "true", "01", ""},
    {"boolean", "FALSE", "00", "false"},
    {"text", "'it''s'", "69742773", ""},
    {"text", "$$it's$$", "69742773", "'it''s'"},
    {"text", "''", "", ""},
    {"ascii", "'abc'", "616263", ""},
    {"blob", "0x", "", ""},
    {"blob", "0XCAfe", "cafe", "0xcafe"},
    {"uuid", "F81D4FAE-7dec-41d0-a765-00a0c91e6bf6", "f81d4fae7dec41d0a76500a0c91e6bf6",
     "f81d4fae-7dec-41d0-a765-00a0c91e6bf6"},
    {"timeuuid", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "f81d4fae7dec11d0a76500a0c91e6bf6", ""},
    {"inet", "'127.0.0.1'", "7f000001", ""},
    {"inet", "'::1'", "00000000000000000000000000000001", ""},
    {"inet", "'2001:DB8:0:0:8:800:200C:417A'", "20010db80000000000080800200c417a",
     "'2001:db8::8:800:200c:417a'"},
    {"inet", "'::ffff:1.2.3.4'", "00000000000000000000ffff01020304", "'::ffff:102:304'"},
    {"inet", "'::'", "00000000000000000000000000000000", ""},
    {"inet", "'1::'", "00010000000000000000000000000000", ""},
    {"inet", "''", "", ""},
    {"date", "'1970-01-01'", "80000000", ""},
    {"date", "'2011-02-03'", "80003aa0", ""},
    {"date", "'-5877641-06-23'", "00000000", "0"},
    {"date", "'5881580-07-11'", "ffffffff", "4294967295"},
    {"date", "2147483648", "80000000", "'1970-01-01'"},
    {"date", "'1970-01-32'", "8000001f", "'1970-02-01'"},
    {"date", "'1971-02-29'", "800001a8", "'1971-03-01'"},
    {"timestamp", "'1970-01-01 25:00'", "00000000055d4a80", "'1970-01-02T01:00:00.000Z'"},
    {"timestamp", "9223372036854775808", "7fffffffffffffff", "9223372036854775807"},
    {"time", "'1x:2y:3z'", "00000362d417ae00", "'01:02:03.000000000'"},
    {"date", "'0000-02-29'", "7ff50593", ""},
    {"time", "'04:05:06.789'", "00000d6030ef2340", "'04:05:06.789000000'"},
    {"time", "'23:59:59.999999999'", "00004e94914effff", ""},
    {"time", "'0:0:0'", "0000000000000000", "'00:00:00.000000000'"},
    {"timestamp", "0", "0000000000000000", "'1970-01-01T00:00:00.000Z'"},
    {"timestamp", "'1234'", "00000000000004d2", "'1970-01-01T00:00:01.234Z'"},
    {"timestamp", "-1", "ffffffffffffffff", "'1969-12-31T23:59:59.999Z'"},
    {"timestamp", "'2011-02-03'", "0000012de8d18000", "'2011-02-03T00:00:00.000Z'"},
    {"timestamp", "'2011-02-03 04:05'", "0000012de9b1cde0", "'2011-02-03T04:05:00.000Z'"},
    {"timestamp", "'2011-02-03T04:05:06.78Z'", "0000012de9b1e85c", "'2011-02-03T04:05:06.780Z'"},
    {"timestamp", "'2011-02-03 04:05+0130'", "0000012de95f6820", "'2011-02-03T02:35:00.000Z'"},
    {"timestamp", "'2011-02-03 04:05:00.1-01:00'", "0000012de9e8bcc4",
     "'2011-02-03T05:05:00.100Z'"},
    {"timestamp", "'2011-02-03 04:05+02'", "0000012de943f0e0", "'2011-02-03T02:05:00.000Z'"},
    {"timestamp", "9223372036854775807", "7fffffffffffffff", ""},
    {"timestamp", "-9223372036854775808", "8000000000000000", ""},
    {"duration", "1y2mo3w4d5h6m7s8ms9us10ns", "1c32fc2168cdf9d664", "1y2mo25d5h6m7s8ms9us10ns"},
    {"duration", "-P1Y", "170000", "-1y"},
    {"duration", "P2W", "001c00", "14d"},
    {"duration", "P0001-02-03T00:00:00", "1c0600", "1y2mo3d"},
    {"duration", "0ns", "000000", ""},
    {"list<int>", "[1, 2, 1]", "00000003000000040000000100000004000000020000000400000001", ""},
    {"list<int>", "[]", "00000000", ""},
    {"set<int>", "{2, -1, 2}", "0000000200000004ffffffff0000000400000002", "{-1, 2}"},
    {"set<int>", "{}", "00000000", ""},
    {"map<text, int>", "{'b': 2, 'a': 1, 'b': 3}",
     "0000000200000001610000000400000001000000016200000004"
     "00000002",
     "{'a': 1, 'b': 2}"},
    {"map<text, int>", "{}", "00000000", ""},
    {"tuple<int, text>", "(1, null)", "0000000400000001ffffffff", ""},
    {"tuple<int, text>", "(1)", "0000000400000001", "(1, null)"},
    {"frozen<list<frozen<set<int>>>>", "[{2, 1}, {}]",
     "00000002000000140000000200000004000000010000000400000002"
     "0000000400000000",
     "[{1, 2}, {}]"},
    {"int", "(int) 5", "00000005", "5"},
    {"varint", "(int) 5", "00000005", "5"},
    {"blob", "(int) 5", "00000005", "0x00000005"},
    {"text", "(ascii) 'x'", "78", "'x'"},
    {"frozen<list<int>>", "(list<int>) [1]", "000000010000000400000001", "[1]"},
    // The text of a constant, taken apart: ScyllaDB types/types.cc, from_string_visitor.
    {"tuple<int, text>", "'0:x'", "00000004000000000000000178", "(0, 'x')"},
    {"tuple<int, text>", "'1'", "0000000400000001", "(1, null)"},
    {"tuple<int, text>", "5", "0000000400000005", "(5, null)"},
    {"tuple<int, text>", "'@:x'", "ffffffff0000000178", "(null, 'x')"},
    {"tuple<text, text>", "'a\\:b:\\@'", "00000003613a620000000140", "('a:b', '@')"},
    {"tuple<boolean, blob>", "'TRUE:cafe'", "000000010100000002cafe", "(true, 0xcafe)"},
    {"tuple<int, frozen<tuple<int>>>", "'1:2'",
     "00000004000000010000000800000004"
     "00000002",
     "(1, (2))"},
    {"int", "null", "null", "null"},
    {"list<int>", "null", "null", "null"},
};

TEST(EncodeLiteralTest, ValuesAndTheirPrintedForm) {
  for (const Example& example : kValues) {
    const DataType type = TypeOf(example.type);
    EXPECT_EQ(Encoded(example.literal, type), example.hex)
        << example.type << " " << example.literal;
    if (example.hex.find(':') != std::string_view::npos) continue;
    const std::string value = example.hex == "null" ? "" : FromHex(example.hex);
    const std::string printed =
        example.hex == "null" ? cql::PrintValue(type, std::nullopt) : cql::PrintValue(type, value);
    EXPECT_EQ(printed, example.printed.empty() ? example.literal : example.printed) << example.type;
  }
}

struct RefusalExample {
  std::string_view type;
  std::string_view literal;
  std::string_view message;
};

constexpr RefusalExample kRefusals[] = {
    {"int", "'x'", "Invalid STRING constant (x) for \"c\" of type int"},
    {"int", "1.5", "Invalid FLOAT constant (1.5) for \"c\" of type int"},
    {"int", "true", "Invalid BOOLEAN constant (true) for \"c\" of type int"},
    {"text", "5", "Invalid INTEGER constant (5) for \"c\" of type text"},
    {"text", "0xff", "Invalid HEX constant (0xff) for \"c\" of type text"},
    {"blob", "'x'", "Invalid STRING constant (x) for \"c\" of type blob"},
    {"uuid", "'x'", "Invalid STRING constant (x) for \"c\" of type uuid"},
    {"text", "123e4567-e89b-12d3-a456-426655440000",
     "Invalid UUID constant (123e4567-e89b-12d3-a456-426655440000) for \"c\" of type text"},
    {"text", "1h", "Invalid DURATION constant (1h) for \"c\" of type text"},
    {"time", "5", "Invalid INTEGER constant (5) for \"c\" of type time"},
    {"list<int>", "5", "Invalid INTEGER constant (5) for \"c\" of type list<int>"},
    // ScyllaDB types/types.cc, from_string_visitor.
    {"tuple<int, text>", "'1:x:y'",
     "marshaling error: Invalid tuple literal: too many elements. Type frozen<tuple<int, text>> "
     "expects 2 but got 3"},
    {"tuple<int, text>", "'a:x'", "marshaling error: Invalid number format 'a'"},
    {"tuple<int>", "1.5", "marshaling error: Invalid number format '1.5'"},
    {"tuple<boolean>", "'maybe'", "marshaling error: unable to make boolean from 'maybe'"},
    {"tuple<list<int>>", "'1'",
     "marshaling error: a collection, of type frozen<list<int>>, cannot be written within the text "
     "of a tuple"},
    {"int", "2147483648",
     "marshaling error: Value out of range for type org.apache.cassandra.db.marshal.Int32Type: "
     "'2147483648'"},
    {"tinyint", "-129",
     "marshaling error: Value out of range for type org.apache.cassandra.db.marshal.ByteType: "
     "'-129'"},
    {"smallint", "32768",
     "marshaling error: Value out of range for type org.apache.cassandra.db.marshal.ShortType: "
     "'32768'"},
    {"bigint", "9223372036854775808",
     "marshaling error: Invalid number format '9223372036854775808'"},
    {"float", "1e40", "marshaling error: Invalid number format '1e40'"},
    {"double", "1e400", "marshaling error: Invalid number format '1e400'"},
    {"decimal", "NaN", "marshaling error: unable to make BigDecimal from 'NaN'"},
    {"decimal", "1e2147483649", "marshaling error: unable to make BigDecimal from '1e2147483649'"},
    {"decimal", "1e99999999999999999999",
     "marshaling error: unable to make BigDecimal from '1e99999999999999999999'"},
    {"blob", "0xf", "An hex string representing bytes must have an even length"},
    {"timeuuid", "123e4567-e89b-42d3-a456-426655440000",
     "marshaling error: Unsupported UUID version (4)"},
    {"inet", "'localhost'", "marshaling error: Failed to parse inet_addr from 'localhost'"},
    {"inet", "'1.2.3'", "marshaling error: Failed to parse inet_addr from '1.2.3'"},
    {"inet", "'1.2.3.256'", "marshaling error: Failed to parse inet_addr from '1.2.3.256'"},
    {"inet", "'01.2.3.4'", "marshaling error: Failed to parse inet_addr from '01.2.3.4'"},
    {"inet", "'1:2:3:4:5:6:7'", "marshaling error: Failed to parse inet_addr from '1:2:3:4:5:6:7'"},
    {"inet", "'1::2::3'", "marshaling error: Failed to parse inet_addr from '1::2::3'"},
    {"inet", "'1:2:3:4:5:6:7:8:'",
     "marshaling error: Failed to parse inet_addr from '1:2:3:4:5:6:7:8:'"},
    {"ascii", "'\xc3\xa9'",
     "marshaling error: Invalid ASCII character in string literal: '\xc3\xa9'"},
    {"text", "'ab\xff'",
     "marshaling error: Validation failed - non-UTF8 character in a UTF8 string, at byte offset 2"},
    {"date", "'2011-02'",
     "marshaling error: Unable to coerce '2011-02' to a formatted date (long)"},
    {"date", "'x'", "marshaling error: Unable to coerce 'x' to a formatted date (long)"},
    // ScyllaDB types/types.cc, simple_date_type_impl::from_string_view.
    {"date", "-1", "marshaling error: Unable to make unsigned int (for date) from -1"},
    {"date", "'-123'", "marshaling error: Unable to make unsigned int (for date) from -123"},
    {"date", "4294967296",
     "marshaling error: Unable to make unsigned int (for date) from 4294967296"},
    {"date", "'99999999999999999999'",
     "marshaling error: Unable to make unsigned int (for date) from 9223372036854775807"},
    {"date", "'5881580-07-12'",
     "marshaling error: Input date 5881580-07-12 is greater than max supported date 5881580-07-11"},
    {"date", "'-5877641-06-22'",
     "marshaling error: Input date -5877641-06-22 is less than min supported date -5877641-06-23"},
    {"time", "'24:00:00'", "marshaling error: Hour out of bounds (24)."},
    {"time", "'00:60:00'", "marshaling error: Minute out of bounds (60)."},
    {"time", "'00:00:60'", "marshaling error: Second out of bounds (60)."},
    {"time", "'00:00'", "marshaling error: Timestamp format must be hh:mm:ss[.fffffffff]"},
    {"time", "'00:00:00.1234567890'",
     "marshaling error: more than 9 nanosecond digits: 00:00:00.1234567890"},
    {"time", "'00::00'", "stol"},
    {"time", "'-1:00:00'", "marshaling error: Hour out of bounds (-1)."},
    {"time", "'00:00:00.-5'", "marshaling error: Nanosecond out of bounds (-50000000)."},
    {"timestamp", "'now'",
     "marshaling error: unable to parse date 'now': marshaling error: Unable to parse timestamp "
     "from 'now'"},
    {"timestamp", "'2011-13-01'",
     "marshaling error: unable to parse date '2011-13-01': "
     "boost::wrapexcept<boost::gregorian::bad_month> (Month number is out of range 1..12)"},
    {"timestamp", "'2011-02-32'",
     "marshaling error: unable to parse date '2011-02-32': "
     "boost::wrapexcept<boost::gregorian::bad_day_of_month> (Day of month value is out of range "
     "1..31)"},
    {"timestamp", "'2011-02-29'",
     "marshaling error: unable to parse date '2011-02-29': "
     "boost::wrapexcept<boost::gregorian::bad_day_of_month> (Day of month is not valid for year)"},
    {"timestamp", "'2011-02-03 04:05:06.1234'",
     "marshaling error: unable to parse date '2011-02-03 04:05:06.1234': marshaling error: "
     "Milliseconds length exceeds expected (4)"},
    {"timestamp", "'2011-02-03 CET'",
     "marshaling error: unable to parse date '2011-02-03 CET': marshaling error: Unable to parse "
     "timezone ' cet'"},
    {"timestamp", "'2011-02-03CET'",
     "marshaling error: unable to parse date '2011-02-03CET': marshaling error: Unable to parse "
     "timezone 'cet'"},
    {"duration", "1m2h", "marshaling error: Invalid duration. The minutes should be after hours"},
    {"duration", "1m2m",
     "marshaling error: Invalid duration. The minutes are specified multiple times"},
    {"duration", "2147483648d",
     "marshaling error: Invalid duration. The number of days must be less than or equal to "
     "2147483647"},
    {"duration", "178956970y8mo",
     "marshaling error: Invalid duration. The number of months must be less than or equal to 7"},
    {"duration", "99999999999999999999d",
     "marshaling error: Invalid duration. The count for the days is out of range"},
    {"int", "[1]", "Invalid list literal for c of type int"},
    {"int", "{1}", "Invalid set literal for c of type int"},
    {"int", "{1: 2}", "Invalid map literal for c of type int"},
    {"int", "(1, 2)", "Invalid tuple type literal for c of type int"},
    {"int", "{a: 1}", "Invalid user type literal for c of type int"},
    {"list<int>", "{1}", "Invalid set literal for c of type list<int>"},
    {"map<int, int>", "{1}", "Invalid set literal for c of type map<int, int>"},
    {"list<int>", "['x']", "Invalid list literal for c: value 'x' is not of type int"},
    {"set<text>", "{1}", "Invalid set literal for c: value 1 is not of type text"},
    {"map<int, text>", "{'a': 'b'}", "Invalid map literal for c: key 'a' is not of type int"},
    {"map<int, text>", "{1: 2}", "Invalid map literal for c: value 2 is not of type text"},
    {"list<frozen<list<int>>>", "[['x']]",
     "Invalid list literal for c: value ['x'] is not of type frozen<list<int>>"},
    {"list<int>", "[null]", "Invalid NULL element in list"},
    {"frozen<list<int>>", "[null]", "Cannot store NULL in list or set"},
    {"map<int, int>", "{1: null}", "null is not supported inside collections"},
    {"list<int>", "[9999999999]",
     "marshaling error: Value out of range for type org.apache.cassandra.db.marshal.Int32Type: "
     "'9999999999'"},
    {"tuple<int>", "(1, 2)",
     "Invalid tuple literal for c: too many elements. Type frozen<tuple<int>> expects 1 but got 2"},
    {"tuple<int, text>", "(1, 2)", "Invalid tuple literal for c: component 1 is not of type text"},
    {"counter", "null", "Invalid null value for counter increment/decrement"},
    {"text", "(int) 5", "Cannot assign value (int) 5 to c of type text"},
    {"int", "(text) 5", "Cannot cast value 5 to type text"},
    {"int", "(address) 5", "Unknown type address"},
};

TEST(EncodeLiteralTest, RefusalsAreInScyllaDbsWords) {
  for (const RefusalExample& example : kRefusals) {
    EXPECT_EQ(Encoded(example.literal, TypeOf(example.type)), example.message)
        << example.type << " " << example.literal;
  }
}

TEST(EncodeLiteralTest, DigitsAreBounded) {
  const std::string most(cql::kLiteralDigitsMax, '7');
  const std::string value = Encoded(most, CqlType::kVarint);
  EXPECT_EQ(value.size() / 2, size_t{27213});
  EXPECT_EQ(value.substr(0, 8), "4944d457");
  EXPECT_EQ(Encoded(most + "7", CqlType::kVarint),
            "marshaling error: a number of 65536 digits exceeds the maximum of 65535");
  EXPECT_EQ(Encoded("0." + most, CqlType::kDecimal),
            "marshaling error: a number of 65536 digits exceeds the maximum of 65535");
}

TEST(EncodeLiteralTest, MessagesNameThePart) {
  EXPECT_EQ(cql::ElementReceiver("c"), "value(c)");
  EXPECT_EQ(cql::KeyReceiver("c"), "key(c)");
  EXPECT_EQ(cql::FieldReceiver("c", 2), "c[2]");
}

TEST(PrintValueTest, WhatHasNoLiteralPrintsAsTheFunctionThatMakesIt) {
  EXPECT_EQ(cql::PrintValue(CqlType::kInt, ""), "blobasint(0x)");
  EXPECT_EQ(cql::PrintValue(CqlType::kUuid, ""), "blobasuuid(0x)");
  EXPECT_EQ(cql::PrintValue(CqlType::kTimestamp, ""), "''");
  EXPECT_EQ(cql::PrintValue(CqlType::kVarint, std::string(30'000, '\1')).substr(0, 18),
            "blobasvarint(0x010");
  EXPECT_EQ(cql::PrintValue(CqlType::kBoolean, "\x7f"), "true");
}

// Encodes elements given as decimal ints.
std::string Ints(const DataType& type, const std::vector<int>& numbers) {
  std::vector<std::string> elements;
  for (const int number : numbers) {
    elements.push_back(*cql::EncodeConstant({cql::ConstantKind::kInteger, std::to_string(number)},
                                            CqlType::kInt, "c"));
  }
  return EncodeCollection(type, std::move(elements));
}

TEST(CompareValuesTest, CollectionsCompareByElements) {
  const DataType list = DataType::List(CqlType::kInt);
  EXPECT_LT(CompareValues(list, Ints(list, {-1}), Ints(list, {1})), 0);
  EXPECT_LT(CompareValues(list, Ints(list, {1}), Ints(list, {1, 0})), 0);
  EXPECT_GT(CompareValues(list, Ints(list, {2}), Ints(list, {1, 9})), 0);
  EXPECT_EQ(CompareValues(list, Ints(list, {1, 2}), Ints(list, {1, 2})), 0);
  const DataType set = DataType::Set(CqlType::kInt);
  EXPECT_EQ(CompareValues(set, Ints(set, {2, 1, 2}), Ints(set, {1, 2})), 0);
  const DataType tuple = DataType::Tuple({CqlType::kText, CqlType::kText});
  EXPECT_LT(CompareValues(tuple, EncodeTuple({std::nullopt}), EncodeTuple({""})), 0);
  EXPECT_EQ(CompareValues(tuple, EncodeTuple({"a"}), EncodeTuple({"a", std::nullopt})), 0);
}

}  // namespace literal_test
}  // namespace liststore

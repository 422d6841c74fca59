// JSON texts, JSON of values and values of JSON. What ScyllaDB takes and answers: its
// test/cqlpy/test_json.py, cassandra_tests/validation/entities/json_test.py.
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/random.h"
#include "engine/cql/syntax/parser.h"
#include "engine/cql/values/decode_json.h"
#include "engine/cql/values/encode_json.h"
#include "engine/cql/values/json_row.h"
#include "engine/cql/values/json_value.h"
#include "engine/cql/values/literal.h"
#include "engine/cql/values/marshal_name.h"
#include "engine/cql/values/print_value.h"
#include "engine/model/types/composite_value.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"

namespace liststore {
namespace json_test {

// ---- Texts

// Read and printed again; or why it cannot be read.
std::string Reprinted(std::string_view text) {
  const cql::CqlOr<cql::JsonValue> json = cql::ParseJson(text);
  return json.ok() ? cql::PrintJson(*json) : json.error().message;
}

struct TextExample {
  std::string_view text;
  std::string_view expected;  // "!" stands for "Parsing JSON failed: "
};

const TextExample kTexts[] = {
    {"null", "null"},
    {" \t\r\ntrue ", "true"},
    {"false", "false"},
    {R"("it's")", R"("it's")"},
    {R"("\"\\\/\b\f\n\r\t")", R"("\"\\/\b\f\n\r\t")"},
    {R"("\u0041\u00e9\u20AC\ud83d\ude00\u0000")", "\"Aé€😀\\u0000\""},
    {"\"\x7f é\"", "\"\x7f é\""},
    {"[]", "[]"},
    {"[ 1 , [ ] , {} ]", "[1,[],{}]"},
    {R"({"a" : 1, "a": {"b":[null]} })", R"({"a":1,"a":{"b":[null]}})"},
    {"0", "0"},
    {"-0", "0"},
    {"-1", "-1"},
    {"9223372036854775807", "9223372036854775807"},
    {"18446744073709551615", "18446744073709551615"},
    {"18446744073709551616", "18446744073709552000.0"},
    {"-9223372036854775809", "-9223372036854776000.0"},
    {"1.0", "1.0"},
    {"-0.0", "-0.0"},
    {"1e2", "100.0"},
    {"1.5E+3", "1500.0"},
    {"12.34", "12.34"},
    {"1e-5", "0.00001"},
    {"0.0000012", "0.0000012"},
    {"1e-7", "1e-7"},
    {"1.25e-9", "1.25e-9"},
    {"1e20", "100000000000000000000.0"},
    {"123e19", "1.23e21"},
    {"1e21", "1e21"},
    {"1e-400", "0.0"},

    {"", "!The document is empty. at 0"},
    {"  ", "!The document is empty. at 2"},
    {"dog", "!Invalid value. at 0"},
    {"nul", "!Invalid value. at 3"},
    {"trve", "!Invalid value. at 2"},
    {"1 2", "!The document root must not be followed by other values. at 2"},
    {"01", "!The document root must not be followed by other values. at 1"},
    {"-", "!Invalid value. at 1"},
    {"+1", "!Invalid value. at 0"},
    {"1.", "!Miss fraction part in number. at 2"},
    {"1e", "!Miss exponent in number. at 2"},
    {" 1e400", "!Number too big to be stored in double. at 1"},
    {"[1", "!Missing a comma or ] after an array element. at 2"},
    {"[1,]", "!Invalid value. at 3"},
    {"[1 2]", "!Missing a comma or ] after an array element. at 3"},
    {"{17: 3}", "!Missing a name for object member. at 1"},
    {R"({"a"})", "!Missing a colon after a name of object member. at 4"},
    {R"({"a":1)", "!Missing a comma or } after an object member. at 6"},
    {R"({"a":1,})", "!Missing a name for object member. at 7"},
    {R"("a)", "!Missing a closing quotation mark in string. at 2"},
    {"\"a\nb\"", "!Invalid encoding in string. at 2"},
    {R"("a\x")", "!Invalid escape character in string. at 2"},
    {R"("\)", "!Invalid escape character in string. at 1"},
    {R"("\u12g4")", "!Incorrect hex digit after \\u escape in string. at 1"},
    {R"("\u12)", "!Incorrect hex digit after \\u escape in string. at 1"},
    {R"("\ud800")", "!The surrogate pair in string is invalid. at 1"},
    {R"("\ude00")", "!The surrogate pair in string is invalid. at 1"},
    {R"("\ud800\u0041")", "!The surrogate pair in string is invalid. at 1"},
};

TEST(JsonTextTest, IsReadAsRapidJsonReadsIt) {
  for (const auto& [text, expected] : kTexts) {
    const bool fails = expected.starts_with('!');
    EXPECT_EQ(Reprinted(text), fails ? "Parsing JSON failed: " + std::string(expected.substr(1))
                                     : std::string(expected))
        << text;
  }
}

TEST(JsonTextTest, NestsAsDeepAsInScyllaDb) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(Reprinted(nested(cql::kJsonNestingMax)), nested(cql::kJsonNestingMax));
  EXPECT_EQ(Reprinted(nested(cql::kJsonNestingMax + 1)), "Max nested level reached: 78");
  EXPECT_EQ(Reprinted(std::string(1'000'000, '[')), "Max nested level reached: 78");
  std::string many = "[1";
  for (size_t i = 1; i < cql::kJsonValuesMax; ++i) many += ",1";
  EXPECT_EQ(Reprinted(many + "]"), "The JSON has more than 4194304 values");
  // What lies side by side does not count.
  EXPECT_EQ(Reprinted("[[],[],[]]"), "[[],[],[]]");
}

// ---- Values

DataType TypeNamed(std::string_view text) {
  static const UserTypes types = {
      {"person", DataType::User(std::make_shared<UserTypeNames>(
                                    UserTypeNames{"ks", "person", "person", {"name", "Age"}}),
                                {CqlType::kText, CqlType::kInt})}};
  const cql::CqlOr<cql::TypeSpec> spec = cql::ParseType(text);
  EXPECT_TRUE(spec.ok()) << text;
  const cql::CqlOr<DataType> type = cql::ToDataType(*spec, "ks", types);
  EXPECT_TRUE(type.ok()) << text;
  return *type;
}

// The value as a literal; or the error.
std::string Decoded(const DataType& type, std::string_view json) {
  const cql::CqlOr<cql::JsonValue> value = cql::ParseJson(json);
  EXPECT_TRUE(value.ok()) << json;
  const cql::CqlOr<std::string> bytes = cql::DecodeJson(*value, type);
  if (!bytes.ok()) {
    EXPECT_EQ(bytes.error().code, CqlErrorCode::kServerError);
    return bytes.error().message;
  }
  EXPECT_TRUE(type.IsValid(*bytes)) << json;
  return cql::PrintValue(type, *bytes);
}

std::string Encoded(const DataType& type, std::string_view literal) {
  const cql::CqlOr<cql::Expression> term = cql::ParseTerm(literal);
  EXPECT_TRUE(term.ok()) << literal;
  const auto value = cql::EncodeLiteral(*term, type, "c");
  EXPECT_TRUE(value.ok()) << literal << ": " << (value.ok() ? "" : value.error().message);
  const cql::CqlOr<std::string> json = cql::EncodeJson(type, *value);
  return json.ok() ? *json : json.error().message;
}

struct ValueExample {
  std::string_view type;
  std::string_view json;
  std::string_view expected;  // a literal; "!": "marshaling error: "
};

const ValueExample kDecoded[] = {
    {"ascii", R"("a \" b")", "'a \" b'"},
    {"ascii", R"("é")", "!Invalid ASCII character in string literal: 'é'"},
    {"ascii", "3", "rjson::to_string_view expects a string value, got: kNumberType"},
    {"text", R"("\u2013")", "'–'"},
    {"text", R"("")", "''"},
    {"text", "true", "rjson::to_string_view expects a string value, got: kTrueType"},
    {"text", "null", "rjson::to_string_view expects a string value, got: kNullType"},
    {"text", "[]", "rjson::to_string_view expects a string value, got: kArrayType"},

    {"tinyint", "127", "127"},
    {"tinyint", "-128", "-128"},
    {"tinyint", "128", "!Value 128 out of range"},
    {"smallint", "32768", "!Value 32768 out of range"},
    {"int", "123123", "123123"},
    {"int", R"("123123")", "123123"},
    {"int", "1e6", "1000000"},
    {"int", "12.0", "12"},
    {"int", "2147483648", "!Value 2147483648 out of range"},
    {"int", "-2147483649", "!Value -2147483649 out of range"},
    {"int", "1e30", "!Value 1e+30 out of range"},
    {"int", "1.5",
     "!Incorrect JSON floating-point value for int64 type: 1.5 (it should not contain fractional "
     "part 0.5)"},
    {"int", R"("")", "!Invalid number format ''"},
    {"int", R"("abc")", "!Invalid number format 'abc'"},
    {"int", R"("2147483648")",
     "!Value out of range for type org.apache.cassandra.db.marshal.Int32Type: '2147483648'"},
    {"int", "true", "!Incorrect JSON value for int64 type: true"},
    {"int", "null", "!Incorrect JSON value for int64 type: null"},
    {"int", R"(["a b"])", R"(!Incorrect JSON value for int64 type: ["a b"])"},
    {"bigint", "9223372036854775807", "9223372036854775807"},
    {"bigint", "-9223372036854775808", "-9223372036854775808"},
    {"bigint", "9223372036854775808", "!Value 9223372036854775808 out of range"},
    {"bigint", "18446744073709551616", "!Value 1.8446744073709552e+19 out of range"},
    {"bigint", "9223372036854775808.0", "!Value 9.223372036854776e+18 out of range"},
    {"bigint", "1.23456789E+9", "1234567890"},
    {"counter", "5", "5"},
    {"counter", R"("5")", "!Counters must be represented as JSON integer"},

    {"double", "123123.123123", "123123.123123"},
    {"double", "123123", "123123"},
    {"double", R"("123123")", "123123"},
    {"double", R"("NaN")", "NaN"},
    {"double", R"("-Infinity")", "-Infinity"},
    {"double", R"("")", "blobasdouble(0x)"},
    {"double", "true", "!JSON value must be represented as double or string"},
    {"double", R"("xyz")", "!Invalid number format 'xyz'"},
    {"float", "0.5", "0.5"},
    {"float", "1e300", "Infinity"},
    {"float", "-1e300", "-Infinity"},
    {"float", "18446744073709551615", "1.8446744e+19"},
    {"varint", "123123123123", "123123123123"},
    {"varint", R"("-1234567890123456789012345678901234567890")",
     "-1234567890123456789012345678901234567890"},
    {"varint", "123.123", "!unable to make int from '123.123'"},
    {"varint", "1e2", "!unable to make int from '100.0'"},
    {"varint", "true", "!unable to make int from 'true'"},
    {"varint", R"("")", "blobasvarint(0x)"},
    {"decimal", "123123.123123", "123123.123123"},
    {"decimal", "123123", "123123"},
    {"decimal", "1.10", "1.1"},
    {"decimal", R"("1.10")", "1.10"},
    {"decimal", "1e2", "100.0"},
    {"decimal", R"("-1.23E-12")", "-1.23E-12"},
    {"decimal", R"("x")", "!unable to make BigDecimal from 'x'"},
    {"decimal", "true", "!true must be represented as numeric or string in JSON"},

    {"boolean", "true", "true"},
    {"boolean", R"(" fALSe ")", "false"},
    {"boolean", R"("abc")", R"(!Invalid JSON object "abc")"},
    {"boolean", "1", "!Invalid JSON object 1"},
    {"blob", R"("0x00000001")", "0x00000001"},
    {"blob", R"("0x")", "0x"},
    {"blob", R"("123")", "!Blob JSON strings must start with 0x"},
    {"blob", R"("")", "!Blob JSON strings must start with 0x"},
    {"blob", R"("0x123")", "An hex string representing bytes must have an even length"},
    {"blob", "123", "!bytes_type must be represented as string in JSON, instead got '123'"},
    {"date", R"("1987-03-23")", "'1987-03-23'"},
    {"date", "123", "!simple_date_type must be represented as string in JSON, instead got '123'"},
    {"time", R"("07:35:07.000111222")", "'07:35:07.000111222'"},
    {"time", "1", "!time_type must be represented as string in JSON, instead got '1'"},
    {"timestamp", "123123123123", "'1973-11-26T00:52:03.123Z'"},
    {"timestamp", R"("2014-01-01 12:15:45+0000")", "'2014-01-01T12:15:45.000Z'"},
    {"timestamp", "123.456",
     "!Incorrect JSON floating-point value for int64 type: 123.456 (it should not contain "
     "fractional part 0.45600000000000307)"},
    {"timestamp", "true", "!timestamp_type must be represented as string or integer"},
    {"timestamp", R"("0000-12-31 23:59:59.999Z")", "-62135596800001"},
    {"timestamp", R"("-292275055-05-16 16:47:04.192Z")", "-9223372036854775808"},
    {"timestamp", R"("-292275055-05-16 16:47:04.191Z")",
     "!unable to parse date '-292275055-05-16 16:47:04.191Z': marshaling error: Unable to parse "
     "timestamp from '-292275055-05-16 16:47:04.191z'"},
    {"timestamp", R"("1399-12-31 00:00:00.000Z")", "-17987529600000"},
    {"timestamp", R"("1399-12-31")",
     "!unable to parse date '1399-12-31': boost::wrapexcept<boost::gregorian::bad_year> (Year is "
     "out of valid range: 1400..9999)"},
    {"timestamp", R"("1399-02-29 00:00:00.000Z")",
     "!unable to parse date '1399-02-29 00:00:00.000Z': "
     "boost::wrapexcept<boost::gregorian::bad_year> (Year is out of valid range: 1400..9999)"},
    {"inet", R"("::1")", "'::1'"},
    {"inet", "1", "!inet_addr_type must be represented as string in JSON, instead got '1'"},
    {"uuid", R"("6BDDC89A-5644-11E4-97FC-56847AFE9799")", "6bddc89a-5644-11e4-97fc-56847afe9799"},
    {"uuid", R"("00000000-0000-0000-zzzz-000000000000")",
     "!Cannot parse uuid from '00000000-0000-0000-zzzz-000000000000'"},
    {"uuid", "123.456", "!uuid_type must be represented as string in JSON, instead got '123.456'"},
    {"timeuuid", R"("00000000-0000-0000-0000-000000000000")", "!Unsupported UUID version (0)"},
    {"duration", R"("53us")", "53us"},
    {"duration", R"("P2W")", "14d"},
    {"duration", "5", "!duration_type must be represented as string in JSON, instead got '5'"},

    {"list<int>", "[3, 1, 3]", "[3, 1, 3]"},
    {"list<int>", "[]", "[]"},
    {"list<int>", "[null]", "!Incorrect JSON value for int64 type: null"},
    {"list<int>", "{}", "!list_type must be represented as JSON Array"},
    {"set<int>", "[3, 1, 3]", "{1, 3}"},
    {"set<int>", "123", "!set_type must be represented as JSON Array"},
    {"map<text, int>", R"({"b": 2, "a": 1, "b": 3})", "{'a': 1, 'b': 2}"},
    {"map<text, int>", R"({"a": null})", "!Incorrect JSON value for int64 type: null"},
    {"map<text, int>", "[]", "!map_type must be represented as JSON Object"},
    {"map<int, int>", R"({"17": 3})", "{17: 3}"},
    {"map<boolean, int>", R"({"true": 3})", "{true: 3}"},
    {"map<blob, int>", R"({"0x12ab3e": 3})", "{0x12ab3e: 3}"},
    {"map<date, int>", R"({"2011-02-03": 3})", "{'2011-02-03': 3}"},
    {"map<frozen<list<int>>, int>", R"({"[1, 2]": 3, "[]": 0})", "{[]: 0, [1, 2]: 3}"},
    {"map<frozen<list<int>>, int>", R"({"x": 3})",
     R"(!Failed parsing map_key "x": Parsing JSON failed: Invalid value. at 0)"},
    {"map<frozen<tuple<int, text>>, boolean>", R"({"[0, \"a\"]": true})", "{(0, 'a'): true}"},
    {"tuple<int, text>", R"([1, "a"])", "(1, 'a')"},
    {"tuple<int, text>", "[1]", "(1, null)"},
    {"tuple<int, text>", "[1, \"a\", 2]", "!Too many values (3) for tuple with size 2"},
    {"tuple<int, text>", "[null, \"a\"]", "!Incorrect JSON value for int64 type: null"},
    {"tuple<int, text>", "{}", "!tuple_type must be represented as JSON Array"},
    {"person", R"({"Age": 7, "name": "x"})", "{name: 'x', \"Age\": 7}"},
    {"person", R"({"Age": null})", "{name: null, \"Age\": null}"},
    {"person", R"({"name": "x", "name": "y"})", "{name: 'x', \"Age\": null}"},
    {"person", R"({"age": 7})", "!Extraneous field definition for user type person: age"},
    {"person", "[]", "!user_type must be represented as JSON Object"},
    {"list<frozen<person>>", R"([{"name": "x"}])", "[{name: 'x', \"Age\": null}]"},
};

TEST(JsonValueTest, ValuesAreTakenAsScyllaDbTakesThem) {
  for (const auto& [type, json, expected] : kDecoded) {
    EXPECT_EQ(Decoded(TypeNamed(type), json),
              expected.starts_with('!') ? "marshaling error: " + std::string(expected.substr(1))
                                        : std::string(expected))
        << type << " of " << json;
  }
}

struct EncodedExample {
  std::string_view type;
  std::string_view literal;
  std::string_view json;
};

const EncodedExample kEncoded[] = {
    {"int", "null", "null"},
    {"ascii", "'ascii text'", R"("ascii text")"},
    {"text", "'a\"b\\c\n'", R"("a\"b\\c\n")"},
    {"text", "'\x01\x1f'", R"("\u0001\u001F")"},
    {"text", "'萢'", "\"萢\""},
    {"text", "''", "\"\""},
    {"tinyint", "-128", "-128"},
    {"smallint", "32767", "32767"},
    {"int", "-123123", "-123123"},
    {"bigint", "123123123123", "123123123123"},
    {"double", "123.456", "123.456"},
    {"double", "123123.123123", "123123.123123"},
    {"double", "123123", "123123"},
    {"double", "-0.0", "-0"},
    {"double", "0.0001", "0.0001"},
    {"double", "0.00001", "1e-05"},
    {"double", "1e15", "1000000000000000"},
    {"double", "1e16", "1e+16"},
    {"double", "1.25e-300", "1.25e-300"},
    {"double", "NaN", "null"},
    {"double", "-Infinity", "null"},
    {"float", "123.123", "123.123"},
    {"float", "0.1", "0.1"},
    {"varint", "123123123123123123123", "123123123123123123123"},
    {"decimal", "123123.1230", "123123.1230"},
    {"decimal", "-1.23E-12", "-1.23E-12"},
    {"decimal", "1e1000", "1E+1000"},
    {"boolean", "false", "false"},
    {"blob", "0x00000001", R"("0x00000001")"},
    {"blob", "0x", R"("0x")"},
    {"date", "'1987-03-23'", R"("1987-03-23")"},
    {"date", "0", R"("-5877641-06-23")"},
    {"date", "4294967295", R"("5881580-07-11")"},
    {"time", "'00:00:00.000000123'", R"("00:00:00.000000123")"},
    {"timestamp", "'2014-01-01 12:15:45Z'", R"("2014-01-01 12:15:45.000Z")"},
    {"timestamp", "-62135596800001", R"("0000-12-31 23:59:59.999Z")"},
    {"timestamp", "-99999999999999999", R"("-3166904-02-24 14:13:20.001Z")"},
    {"timestamp", "''", "\"\""},
    {"inet", "'127.0.0.1'", R"("127.0.0.1")"},
    {"inet", "'::1'", R"("::1")"},
    {"uuid", "6BDDC89A-5644-11E4-97FC-56847AFE9799", R"("6bddc89a-5644-11e4-97fc-56847afe9799")"},
    {"duration", "P1Y1M2DT10H5M", R"("1y1mo2d10h5m")"},
    {"duration", "0ns", R"("")"},
    {"list<text>", "['b', 'a']", R"(["b", "a"])"},
    {"list<int>", "[]", "[]"},
    {"set<int>", "{3, 1}", "[1, 3]"},
    {"map<text, int>", "{'a': 1, 'b': 2}", R"({"a": 1, "b": 2})"},
    {"map<int, boolean>", "{0: true, 1: false}", R"({"0": true, "1": false})"},
    {"map<frozen<tuple<text, int>>, int>", "{('hello', 3): 7}", R"({"[\"hello\", 3]": 7})"},
    {"map<frozen<map<frozen<set<text>>, text>>, int>", "{{{'0'}: 'a'}: 1}",
     R"({"{\"[\\\"0\\\"]\": \"a\"}": 1})"},
    {"tuple<int, text>", "(1, null)", "[1, null]"},
    {"tuple<int, text>", "(1)", "[1]"},
    {"person", "{name: 'x'}", R"({"name": "x", "Age": null})"},
};

TEST(JsonValueTest, ValuesAreShownAsScyllaDbShowsThem) {
  for (const auto& [type, literal, json] : kEncoded) {
    EXPECT_EQ(Encoded(TypeNamed(type), literal), json) << type << " of " << literal;
  }
}

TEST(JsonValueTest, NumbersOfNoBytesHaveNoJson) {
  using enum CqlType;
  for (const CqlType type :
       {kTinyint, kInt, kBigint, kFloat, kDouble, kVarint, kDecimal, kBoolean}) {
    const cql::CqlOr<std::string> json = cql::EncodeJson(type, "");
    ASSERT_FALSE(json.ok()) << CqlTypeName(type);
    EXPECT_EQ(json.error(),
              cql::CqlError::Invalid("Cannot create JSON string - deserialization error"));
  }
  EXPECT_EQ(*cql::EncodeJson(kUuid, ""), "\"\"");
  const cql::CqlOr<std::string> endless = cql::EncodeJson(kVarint, std::string(30'000, 'x'));
  ASSERT_FALSE(endless.ok());
  EXPECT_EQ(endless.error().message,
            "Cannot create JSON string - a number of more than 65535 digits");
}

// ---- fromJson

TEST(FromJsonTest, ErrorsAreFunctionFailures) {
  const cql::CqlOr<std::optional<std::string>> syntax = cql::FromJson("dog", CqlType::kInt, "ks");
  ASSERT_FALSE(syntax.ok());
  EXPECT_EQ(syntax.error().code, CqlErrorCode::kFunctionFailure);
  EXPECT_EQ(syntax.error().message,
            "execution of fromJson failed: Failed parsing fromJson parameter: Parsing JSON "
            "failed: Invalid value. at 0");
  EXPECT_EQ(std::get<cql::FunctionFailureDetail>(syntax.error().detail),
            (cql::FunctionFailureDetail{
                "ks", "fromJson", {"org.apache.cassandra.db.marshal.Int32Type"}}));

  const cql::CqlOr<std::optional<std::string>> value = cql::FromJson("true", CqlType::kInt, "ks");
  ASSERT_FALSE(value.ok());
  EXPECT_EQ(value.error().message,
            "execution of fromjson failed: Failed execution of function system.fromjson: "
            "marshal_exception (marshaling error: Incorrect JSON value for int64 type: true)");
  EXPECT_EQ(std::get<cql::FunctionFailureDetail>(value.error().detail),
            (cql::FunctionFailureDetail{
                "system", "fromjson", {"org.apache.cassandra.db.marshal.UTF8Type"}}));

  const cql::CqlOr<std::optional<std::string>> text = cql::FromJson("5", CqlType::kText, "ks");
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().message,
            "execution of fromjson failed: Failed execution of function system.fromjson: "
            "std::runtime_error (rjson::to_string_view expects a string value, got: kNumberType)");
  EXPECT_EQ(*cql::FromJson("null", CqlType::kInt, "ks"), std::nullopt);
}

TEST(MarshalNameTest, TypesAreNamedByTheirClasses) {
  const std::string prefix = "org.apache.cassandra.db.marshal.";
  EXPECT_EQ(cql::MarshalTypeName(TypeNamed("frozen<list<int>>")),
            prefix + "FrozenType(" + prefix + "ListType(" + prefix + "Int32Type))");
  EXPECT_EQ(cql::MarshalTypeName(TypeNamed("tuple<int, text>")),
            prefix + "TupleType(" + prefix + "Int32Type," + prefix + "UTF8Type)");
  EXPECT_EQ(cql::MarshalTypeName(TypeNamed("person")),
            prefix + "UserType(ks,706572736f6e,6e616d65:" + prefix + "UTF8Type,416765:" + prefix +
                "Int32Type)");
}

// ---- Rows of INSERT JSON

std::string Row(std::optional<std::string_view> text) {
  const DataType columns =
      DataType::User(std::make_shared<UserTypeNames>(UserTypeNames{"", "", "", {"k", "Foo", "v"}}),
                     {CqlType::kInt, CqlType::kInt, CqlType::kText});
  const cql::CqlOr<std::string> row = cql::DecodeJsonRow(text, columns);
  if (!row.ok()) {
    return (row.error().code == CqlErrorCode::kInvalid ? "" : "server: ") + row.error().message;
  }
  std::string shown;
  for (size_t i = 0; i < 3; ++i) {
    const cql::JsonCell cell = cql::JsonCellOf(*row, i);
    shown += i == 0 ? "" : " ";
    shown += cell.is_named ? cql::PrintValue(columns.parameters()[i], cell.value) : "-";
  }
  return shown;
}

TEST(JsonRowTest, NamesAreFoldedUnlessTheyAreQuoted) {
  EXPECT_EQ(Row(R"({"k": 1, "\"Foo\"": 2, "v": "x"})"), "1 2 'x'");
  EXPECT_EQ(Row(R"({"K": 1, "\"v\"": "x"})"), "1 - 'x'");
  EXPECT_EQ(Row(R"({"v": null})"), "- - null");
  EXPECT_EQ(Row("{}"), "- - -");
  EXPECT_EQ(Row(R"({"k": 1, "K": 2, "\"k\"": 3})"), "1 - -") << "the first counts";
  EXPECT_EQ(Row(R"({"k": 0, "foo": 0})"), "JSON values map contains unrecognized column: foo");
  EXPECT_EQ(Row(R"({"k": 0, "\"K\"": 0})"), "JSON values map contains unrecognized column: K");
  EXPECT_EQ(Row(R"({"\"": 0})"), "JSON values map contains unrecognized column: \"");
}

TEST(JsonRowTest, WhatIsNoObjectOfItsColumnsIsRefused) {
  EXPECT_EQ(Row(std::nullopt), "Got null for INSERT JSON values");
  for (const std::string_view text : {"null", R"("notamap")", "12.34", "[1]", "true"}) {
    EXPECT_EQ(Row(text), "server: JSON assert failed on condition 'IsObject()'") << text;
  }
  EXPECT_EQ(Row("{"), "server: Parsing JSON failed: Missing a name for object member. at 1");
  EXPECT_EQ(Row(R"({"k": "notanint", "zzz": 0})"),
            "server: marshaling error: Invalid number format 'notanint'");
}

// ---- There and back

TEST(JsonValueTest, WhatIsShownIsTakenAgain) {
  // But for varints and decimals, whose digits a JSON number does not keep.
  constexpr std::string_view kTypes[] = {"text",
                                         "ascii",
                                         "tinyint",
                                         "smallint",
                                         "int",
                                         "bigint",

                                         "double",
                                         "float",
                                         "boolean",
                                         "blob",
                                         "date",
                                         "time",
                                         "timestamp",
                                         "uuid",
                                         "duration",
                                         "inet",
                                         "list<int>",
                                         "set<text>",
                                         "map<int, text>",
                                         "map<double, text>",
                                         "map<frozen<list<text>>, frozen<set<int>>>",
                                         "tuple<int, text>",
                                         "list<frozen<person>>",
                                         "map<frozen<person>, frozen<tuple<text, blob>>>"};
  Random rng(testing::TestSeed());
  const uint64_t steps = testing::TestSteps(20'000);
  uint64_t taken = 0;
  for (uint64_t step = 0; step < steps; ++step) {
    const DataType type = TypeNamed(kTypes[rng.Below(std::size(kTypes))]);
    // Bytes of chance, of which enough are values of the shorter types.
    std::string bytes(rng.Below(24), '\0');
    for (char& c : bytes) c = static_cast<char>(rng.OneIn(3) ? rng.Below(256) : rng.Below(3));
    if (!type.IsValid(bytes)) continue;
    const cql::CqlOr<std::string> json = cql::EncodeJson(type, bytes);
    if (!json.ok() || json->find("null") != std::string::npos) continue;
    // A duration of nothing has no units.
    if (type.is(CqlType::kDuration) && *json == R"("")") continue;
    const cql::CqlOr<cql::JsonValue> read = cql::ParseJson(*json);
    ASSERT_TRUE(read.ok()) << "step " << step << ": " << *json << ": " << read.error().message;
    const cql::CqlOr<std::string> again = cql::DecodeJson(*read, type);
    ASSERT_TRUE(again.ok()) << "step " << step << ": " << *json << ": " << again.error().message;
    ASSERT_EQ(*cql::EncodeJson(type, *again), *json) << "step " << step;
    ++taken;
  }
  EXPECT_GT(taken, steps / 20) << "the test has looked at something";
}

}  // namespace json_test
}  // namespace liststore

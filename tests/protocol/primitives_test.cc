#include "engine/protocol/primitives.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

#include "tests/protocol/wire.h"

namespace liststore::protocol {
namespace primitives_test {

using namespace std::string_view_literals;

TEST(BodyReaderTest, ReadsEveryNotation) {
  const std::string body = Bytes(
      "07 fffe fffffffe 8000000000000001 0003 616263 00000002 6465 0002 00ff 00000001 66 ffffffff "
      "000a 6768");
  BodyReader reader(body);
  EXPECT_EQ(reader.ReadByte(), 7);
  EXPECT_EQ(reader.ReadShort(), 0xfffe);
  EXPECT_EQ(reader.ReadInt(), -2);
  EXPECT_EQ(reader.ReadLong(), INT64_MIN + 1);
  EXPECT_EQ(reader.ReadString(), "abc");
  EXPECT_EQ(reader.ReadLongString(), "de");
  EXPECT_EQ(reader.ReadShortBytes(), "\x00\xff"sv);
  EXPECT_EQ(reader.ReadBytes(), Value::Of("f"));
  EXPECT_TRUE(reader.ReadBytes().is_null());
  EXPECT_EQ(reader.ReadConsistency(), Consistency::kLocalOne);
  EXPECT_EQ(reader.rest(), "gh");
  EXPECT_TRUE(reader.ok());
  EXPECT_FALSE(reader.TakeError());
}

TEST(BodyReaderTest, ValuesOfEitherVersion) {
  struct Row {
    std::string_view rule;
    std::string_view hex;
    ProtocolVersion version;
    Value value;
  };
  const Row table[] = {
      {"bytes", "00000002 6162", ProtocolVersion::kV4, Value::Of("ab")},
      {"empty is not null", "00000000", ProtocolVersion::kV4, Value::Of("")},
      {"null", "ffffffff", ProtocolVersion::kV4, Value::Null()},
      {"unset", "fffffffe", ProtocolVersion::kV4, Value::Unset()},
      {"v3 knows no unset", "fffffffe", ProtocolVersion::kV3, Value::Null()},
      {"v3 takes every negative length for null", "80000000", ProtocolVersion::kV3, Value::Null()},
  };
  for (const Row& row : table) {
    const std::string body = Bytes(row.hex);
    BodyReader reader(body);
    EXPECT_EQ(reader.ReadValue(row.version), row.value) << row.rule;
    EXPECT_TRUE(reader.ok()) << row.rule;
    EXPECT_EQ(reader.bytes_left(), 0u) << row.rule;
  }
}

struct Failure {
  std::string_view rule;
  std::string_view hex;
  void (*read)(BodyReader&);
  std::string_view message;
};

TEST(BodyReaderTest, FailuresHaveScyllaDbsTexts) {
  const Failure table[] = {
      {"byte", "", [](BodyReader& r) { r.ReadByte(); },
       "truncated frame: expected 1 bytes, length is 0"},
      {"short", "00", [](BodyReader& r) { r.ReadShort(); },
       "truncated frame: expected 2 bytes, length is 1"},
      {"int", "000000", [](BodyReader& r) { r.ReadInt(); },
       "truncated frame: expected 4 bytes, length is 3"},
      {"long", "00000000000000", [](BodyReader& r) { r.ReadLong(); },
       "truncated frame: expected 8 bytes, length is 7"},
      {"string", "0005 6162", [](BodyReader& r) { r.ReadString(); },
       "truncated frame: expected 5 bytes, length is 2"},
      {"long string", "00000005 6162", [](BodyReader& r) { r.ReadLongString(); },
       "truncated frame: expected 5 bytes, length is 2"},
      {"long string of negative length", "ffffffff 6162", [](BodyReader& r) { r.ReadLongString(); },
       "truncated frame: expected 18446744073709551615 bytes, length is 2"},
      {"short bytes", "0001", [](BodyReader& r) { r.ReadShortBytes(); },
       "truncated frame: expected 1 bytes, length is 0"},
      {"bytes", "7fffffff 61", [](BodyReader& r) { r.ReadBytes(); },
       "truncated frame: expected 2147483647 bytes, length is 1"},
      {"value", "00000003 6162", [](BodyReader& r) { r.ReadValue(ProtocolVersion::kV4); },
       "truncated frame: expected 3 bytes, length is 2"},
      {"value of length -3", "fffffffd", [](BodyReader& r) { r.ReadValue(ProtocolVersion::kV4); },
       "invalid value length: -3"},
      {"no UTF-8", "0004 61c3a9ff", [](BodyReader& r) { r.ReadString(); },
       "Cannot decode string as UTF8, invalid character at byte offset 3"},
      {"a character cut off", "00000003 6162c3", [](BodyReader& r) { r.ReadLongString(); },
       "Cannot decode string as UTF8, invalid character at byte offset 2"},
      {"consistency", "000b", [](BodyReader& r) { r.ReadConsistency(); },
       "Unknown code 11 for a consistency level"},
      {"consistency, as a signed number", "ffff", [](BodyReader& r) { r.ReadConsistency(); },
       "Unknown code -1 for a consistency level"},
  };
  for (const Failure& row : table) {
    SCOPED_TRACE(row.rule);
    const std::string body = Bytes(row.hex);
    BodyReader reader(body);
    row.read(reader);
    EXPECT_FALSE(reader.ok());
    EXPECT_EQ(reader.bytes_left(), 0u) << "nothing more is read";
    EXPECT_EQ(reader.ReadLong(), 0) << "reading on is harmless";
    EXPECT_EQ(reader.ReadString(), "");
    EXPECT_TRUE(reader.ReadValue(ProtocolVersion::kV4).is_null());
    const std::optional<ProtocolError> error = reader.TakeError();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->message, row.message) << "the first failure stays";
    EXPECT_EQ(error->code, ErrorCode::kProtocolError);
  }
}

TEST(AppendTest, EveryNotation) {
  OutputBuffer out;
  AppendString(out, "ab");
  AppendLongString(out, "c");
  AppendShortBytes(out, "\xff");
  AppendInt(out, -2);
  AppendConsistency(out, Consistency::kLocalQuorum);
  AppendBytes(out, "");
  AppendNull(out);
  AppendValue(out, Value::Of("d"));
  AppendValue(out, Value::Null());
  AppendValue(out, Value::Unset());
  const std::string_view texts[] = {"e", ""};
  AppendStringList(out, texts);
  const BytesPair entries[] = {{"f", Value::Of("g")}, {"h", Value::Null()}};
  AppendBytesMap(out, entries);
  AppendInet(out, {{127, 0, 0, 1}, 4, 9042});
  AppendInet(out, {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 16, 1});
  EXPECT_EQ(Hex(out), Hex("0002 6162  00000001 63  0001 ff  fffffffe  0006  00000000  ffffffff "
                          "00000001 64  ffffffff  fffffffe  0002 0001 65 0000 "
                          "0002 0001 66 00000001 67 0001 68 ffffffff "
                          "04 7f000001 00002352  10 00000000000000000000000000000001 00000001"));
}

TEST(AppendTest, LongTextsAreCutBetweenCharacters) {
  struct Row {
    std::string_view rule;
    std::string text;
    size_t bytes;
  };
  const std::string most(kShortMax - 2, 'a');
  const Row table[] = {
      {"what fits stays", most + "bc", kShortMax},
      {"ascii", most + "bcd", kShortMax},
      {"a character of two bytes that fits", most + "\xc3\xa9z", kShortMax},
      {"a character of two bytes that does not", most + "b\xc3\xa9", kShortMax - 1},
      {"of three", most + "\xe2\x82\xac", kShortMax - 2},
      {"of four", most + "\xf0\x9f\x98\x80", kShortMax - 2},
      {"no UTF-8 at all", std::string(70'000, '\x80'), kShortMax},
  };
  for (const Row& row : table) {
    OutputBuffer out;
    AppendTruncatedString(out, row.text);
    EXPECT_EQ(out.size(), 2 + row.bytes) << row.rule;
    EXPECT_EQ(out.view().substr(2), std::string_view(row.text).substr(0, row.bytes)) << row.rule;
  }
}

TEST(ConsistencyTest, Names) {
  EXPECT_STREQ(ConsistencyName(Consistency::kAny), "ANY");
  EXPECT_STREQ(ConsistencyName(Consistency::kLocalOne), "LOCAL_ONE");
  EXPECT_STREQ(ConsistencyName(Consistency::kEachQuorum), "EACH_QUORUM");
}

}  // namespace primitives_test
}  // namespace liststore::protocol

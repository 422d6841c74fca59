#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "engine/protocol/response.h"
#include "tests/protocol/wire.h"

namespace liststore::protocol {
namespace control_test {

TEST(EncodeControlTest, ReadyAndAuthentication) {
  OutputBuffer out;
  EncodeReady(out, {});
  EXPECT_EQ(Hex(out), Hex("84 00 0000 02 00000000"));

  out.Clear();
  ResponseContext v3;
  v3.version = ProtocolVersion::kV3;
  v3.stream = 7;
  EncodeAuthenticate(out, v3, "a.B");
  EXPECT_EQ(Hex(out), Hex("83 00 0007 03 00000005 0003 612e42"));

  out.Clear();
  EncodeAuthChallenge(out, {}, Value::Of("x"));
  EncodeAuthSuccess(out, {}, Value::Null());
  EXPECT_EQ(Hex(out), Hex("84 00 0000 0e 00000005 00000001 78"
                          "84 00 0000 10 00000004 ffffffff"))
      << "frames follow one another";
}

TEST(EncodeControlTest, Supported) {
  OutputBuffer out;
  const std::vector<SupportedOption> options = {{"A", {"x", ""}}, {"B", {}}};
  EncodeSupported(out, {}, options);
  EXPECT_EQ(Hex(out), Hex("84 00 0000 06 00000011 0002 0001 41 0002 0001 78 0000 0001 42 0000"));
}

TEST(EncodeControlTest, TracingWarningsAndPayloadGoInTheirOrder) {
  const std::string_view warnings[] = {"w"};
  const BytesPair payload[] = {{"k", Value::Of("v")}};
  ResponseContext context;
  context.tracing_id = "0123456789abcdef";
  context.warnings = warnings;
  context.custom_payload = payload;
  OutputBuffer out;
  EncodeVoid(out, context);
  EXPECT_EQ(Hex(out), Hex("84 0e 0000 08 00000023"
                          "30313233343536373839616263646566"
                          "0001 0001 77"
                          "0001 0001 6b 00000001 76"
                          "00000001"));
  out.Clear();
  context.version = ProtocolVersion::kV3;
  EncodeVoid(out, context);
  EXPECT_EQ(Hex(out), Hex("83 02 0000 08 00000014 30313233343536373839616263646566 00000001"))
      << "version 3 has neither warnings nor payloads";
}

TEST(EncodeControlTest, EventsOfNodes) {
  const InetAddress node = {{127, 0, 0, 1}, 4, 9042};
  OutputBuffer out;
  EncodeEvent(out, ProtocolVersion::kV4, TopologyChange{TopologyChange::Change::kNewNode, node});
  EXPECT_EQ(Hex(out), Hex("84 00 ffff 0c 00000024 000f 544f504f4c4f47595f4348414e4745"
                          "0008 4e45575f4e4f4445 04 7f000001 00002352"));
  out.Clear();
  EncodeEvent(out, ProtocolVersion::kV3, StatusChange{StatusChange::Change::kDown, node});
  EXPECT_EQ(Hex(out), Hex("83 00 ffff 0c 0000001e 000d 5354415455535f4348414e4745"
                          "0004 444f574e 04 7f000001 00002352"));
}

struct SchemaRow {
  std::string_view rule;
  ProtocolVersion version;
  SchemaChange change;
  std::string_view hex;  // <change><target><options>
};

TEST(EncodeControlTest, SchemaChanges) {
  using Change = SchemaChange::Change;
  using Target = SchemaChange::Target;
  const std::string_view arguments[] = {"int"};
  const SchemaRow table[] = {
      {"keyspace",
       ProtocolVersion::kV4,
       {Change::kCreated, Target::kKeyspace, "ks", "", {}},
       "0007 43524541544544 0008 4b45595350414345 0002 6b73"},
      {"table",
       ProtocolVersion::kV3,
       {Change::kUpdated, Target::kTable, "ks", "t", {}},
       "0007 55504441544544 0005 5441424c45 0002 6b73 0001 74"},
      {"type",
       ProtocolVersion::kV4,
       {Change::kDropped, Target::kType, "ks", "u", {}},
       "0007 44524f50504544 0004 54595045 0002 6b73 0001 75"},
      {"function",
       ProtocolVersion::kV4,
       {Change::kCreated, Target::kFunction, "ks", "f", arguments},
       "0007 43524541544544 0008 46554e4354494f4e 0002 6b73 0001 66 0001 0003 696e74"},
      {"aggregate",
       ProtocolVersion::kV4,
       {Change::kCreated, Target::kAggregate, "ks", "a", {}},
       "0007 43524541544544 0009 414747524547415445 0002 6b73 0001 61 0000"},
      {"version 3 is told of a function's keyspace",
       ProtocolVersion::kV3,
       {Change::kCreated, Target::kFunction, "ks", "f", arguments},
       "0007 55504441544544 0008 4b45595350414345 0002 6b73"},
  };
  for (const SchemaRow& row : table) {
    SCOPED_TRACE(row.rule);
    const std::string options = Bytes(row.hex);
    OutputBuffer result;
    ResponseContext context;
    context.version = row.version;
    EncodeSchemaChange(result, context, row.change);
    EXPECT_EQ(testing::ToHex(result.ViewFrom(kFrameHeaderBytes)),
              Hex("00000005") + testing::ToHex(options));
    EXPECT_EQ(result.BigEndian32At(5), 4 + options.size());

    OutputBuffer event;
    EncodeEvent(event, row.version, row.change);
    EXPECT_EQ(testing::ToHex(event.ViewFrom(kFrameHeaderBytes)),
              Hex("000d 534348454d415f4348414e4745") + testing::ToHex(options));
  }
}

}  // namespace control_test
}  // namespace liststore::protocol

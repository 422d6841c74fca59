#include "engine/protocol/request.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gtest/gtest.h"

#include "tests/protocol/wire.h"

namespace liststore::protocol {
namespace request_test {

// A body and what is decoded from it, together, since the one views into the other.
class Decoded {
 public:
  Decoded(Opcode opcode, std::string_view hex, ProtocolVersion version = ProtocolVersion::kV4,
          Extensions negotiated = {}, uint8_t flags = 0)
      : body_(Bytes(hex)) {
    error_ =
        DecodeRequest(RequestHeader(opcode, version, flags), body_, negotiated, scratch_, request_);
  }

  const std::optional<ProtocolError>& error() const { return error_; }
  const Request& request() const { return request_; }
  template <typename Message>
  const Message& As() const {
    EXPECT_FALSE(error_) << error_->message;
    return std::get<Message>(request_.message);
  }

 private:
  std::string body_;
  RequestScratch scratch_;
  Request request_;
  std::optional<ProtocolError> error_;
};

std::vector<Value> List(std::span<const Value> values) { return {values.begin(), values.end()}; }

// The EXECUTE of the handshake every driver goes through: id, values, skip metadata, page size and
// timestamp.
constexpr std::string_view kExecuteBody =
    "0010 e967c0edb6f0f16f63284a8f03cbf4c1  0001 27"
    "0004  00000002 6631  00000002 6531  00000000  00000004 00000002"
    "00001388  00060a24181e4000";

TEST(DecodeRequestTest, Execute) {
  const Decoded decoded(Opcode::kExecute, kExecuteBody);
  const auto& execute = decoded.As<Execute>();
  EXPECT_EQ(execute.id, Bytes("e967c0edb6f0f16f63284a8f03cbf4c1"));
  EXPECT_FALSE(execute.result_metadata_id);
  const QueryParameters& parameters = execute.parameters;
  EXPECT_EQ(parameters.consistency, Consistency::kOne);
  EXPECT_EQ(List(parameters.values),
            (std::vector<Value>{Value::Of("f1"), Value::Of("e1"), Value::Of(""),
                                Value::Of(std::string_view("\0\0\0\2", 4))}));
  EXPECT_TRUE(parameters.value_names.empty());
  EXPECT_TRUE(parameters.skip_metadata);
  EXPECT_EQ(parameters.page_size, 5000);
  EXPECT_TRUE(parameters.paging_state.empty());
  EXPECT_EQ(parameters.serial_consistency, Consistency::kSerial);
  EXPECT_EQ(parameters.default_timestamp, 1'700'000'000'000'000);
  EXPECT_FALSE(decoded.request().tracing);
}

TEST(DecodeRequestTest, ExecuteWithMetadataId) {
  const Decoded decoded(Opcode::kExecute, "0001 aa 0002 bbcc 0006 00", ProtocolVersion::kV4,
                        {.metadata_id = true});
  const auto& execute = decoded.As<Execute>();
  EXPECT_EQ(execute.id, "\xaa");
  EXPECT_EQ(execute.result_metadata_id, "\xbb\xcc");
  EXPECT_EQ(execute.parameters.consistency, Consistency::kLocalQuorum);
}

TEST(DecodeRequestTest, QueryWithEverything) {
  const Decoded decoded(Opcode::kQuery,
                        "00000001 71  0004 7d"
                        "0003  0001 61 00000001 31  0001 62 ffffffff  0001 61 fffffffe"
                        "ffffffff  00000002 abcd  0009  8000000000000001  ffff");
  const auto& query = decoded.As<Query>();
  EXPECT_EQ(query.query, "q");
  const QueryParameters& parameters = query.parameters;
  EXPECT_EQ(List(parameters.values),
            (std::vector<Value>{Value::Of("1"), Value::Null(), Value::Unset()}));
  ASSERT_EQ(parameters.value_names.size(), 3u);
  EXPECT_EQ(parameters.value_names[0], "a");
  EXPECT_EQ(parameters.value_names[1], "b");
  EXPECT_EQ(parameters.value_names[2], "a");
  EXPECT_FALSE(parameters.skip_metadata);
  EXPECT_FALSE(parameters.page_size) << "none above 0 is none";
  EXPECT_EQ(parameters.paging_state, "\xab\xcd");
  EXPECT_EQ(parameters.serial_consistency, Consistency::kLocalSerial);
  EXPECT_EQ(parameters.default_timestamp, INT64_MIN + 1);
}

TEST(DecodeRequestTest, QueryWithNothing) {
  const Decoded decoded(Opcode::kQuery, "00000000 0001 00", ProtocolVersion::kV3);
  const auto& query = decoded.As<Query>();
  EXPECT_EQ(query.query, "");
  EXPECT_TRUE(query.parameters.values.empty());
  EXPECT_FALSE(query.parameters.page_size);
  EXPECT_FALSE(query.parameters.default_timestamp);
}

TEST(DecodeRequestTest, UnsetIsNullInVersion3) {
  const Decoded decoded(Opcode::kQuery, "00000000 0001 01 0001 fffffffe", ProtocolVersion::kV3);
  EXPECT_EQ(List(decoded.As<Query>().parameters.values), std::vector<Value>{Value::Null()});
}

TEST(DecodeRequestTest, Prepare) {
  const Decoded decoded(Opcode::kPrepare, "00000002 c3a9");
  EXPECT_EQ(decoded.As<Prepare>().query, "\xc3\xa9");
}

TEST(DecodeRequestTest, Batch) {
  const Decoded decoded(Opcode::kBatch,
                        "01 0003"
                        "00 00000002 7131 0002 00000001 61 ffffffff"
                        "01 0002 6964 0000"
                        "00 00000002 7132 0001 00000001 62"
                        "0004 30 0008 0000000000000005");
  const auto& batch = decoded.As<Batch>();
  EXPECT_EQ(batch.type, BatchType::kUnlogged);
  ASSERT_EQ(batch.statements.size(), 3u);
  EXPECT_EQ(batch.statements[0].kind, BatchStatement::Kind::kQuery);
  EXPECT_EQ(batch.statements[0].query_or_id, "q1");
  EXPECT_EQ(List(batch.statements[0].values), (std::vector<Value>{Value::Of("a"), Value::Null()}));
  EXPECT_EQ(batch.statements[1].kind, BatchStatement::Kind::kPrepared);
  EXPECT_EQ(batch.statements[1].query_or_id, "id");
  EXPECT_TRUE(batch.statements[1].values.empty());
  EXPECT_EQ(List(batch.statements[2].values), std::vector<Value>{Value::Of("b")});
  EXPECT_EQ(batch.parameters.consistency, Consistency::kQuorum);
  EXPECT_EQ(batch.parameters.serial_consistency, Consistency::kSerial);
  EXPECT_EQ(batch.parameters.default_timestamp, 5);
}

TEST(DecodeRequestTest, EmptyBatch) {
  const Decoded decoded(Opcode::kBatch, "00 0000 0001 00");
  EXPECT_EQ(decoded.As<Batch>().type, BatchType::kLogged);
  EXPECT_TRUE(decoded.As<Batch>().statements.empty());
}

TEST(DecodeRequestTest, Startup) {
  const Decoded decoded(Opcode::kStartup, "0001 000b 43514c5f56455253494f4e 0005 332e302e30");
  const auto& startup = decoded.As<Startup>();
  EXPECT_EQ(startup.Option("CQL_VERSION"), "3.0.0");
  EXPECT_FALSE(startup.Option("COMPRESSION"));
  EXPECT_EQ(startup.compression, Compression::kNone);
  EXPECT_EQ(startup.extensions, Extensions());
}

// A [string map] as a body, in hexadecimal.
std::string StringMap(std::initializer_list<StringPair> pairs) {
  OutputBuffer out;
  out.AppendBigEndian16(static_cast<uint16_t>(pairs.size()));
  for (const StringPair& pair : pairs) {
    AppendString(out, pair.key);
    AppendString(out, pair.value);
  }
  return Hex(out);
}

TEST(DecodeRequestTest, StartupChoosesCompressionAndExtensions) {
  const Decoded snappy(Opcode::kStartup, StringMap({{"COMPRESSION", "SNAPPY"},
                                                    {"SCYLLA_LWT_ADD_METADATA_MARK", "anything"},
                                                    {"SCYLLA_USE_METADATA_ID", ""},
                                                    {"DRIVER_NAME", "x"}}));
  EXPECT_EQ(snappy.As<Startup>().compression, Compression::kSnappy);
  EXPECT_EQ(snappy.As<Startup>().extensions, (Extensions{.lwt_mark = true, .metadata_id = true}));
  const Decoded lz4(Opcode::kStartup, StringMap({{"COMPRESSION", "lz4"},
                                                 {"SCYLLA_RATE_LIMIT_ERROR", ""},
                                                 {"TABLETS_ROUTING_V1", ""},
                                                 {"COMPRESSION", "none"}}));
  EXPECT_EQ(lz4.As<Startup>().compression, Compression::kLz4) << "the first of a name counts";
  EXPECT_EQ(lz4.As<Startup>().extensions,
            (Extensions{.rate_limit_error = true, .tablets_routing = true}));
  const Decoded unknown(Opcode::kStartup, StringMap({{"COMPRESSION", "Deflate"}}));
  ASSERT_TRUE(unknown.error());
  EXPECT_EQ(unknown.error()->message, "Unknown compression algorithm: deflate");
}

TEST(DecodeRequestTest, Options) {
  const Decoded decoded(Opcode::kOptions, "", ProtocolVersion::kV4, {}, kFrameTracing);
  decoded.As<Options>();
  EXPECT_TRUE(decoded.request().tracing);
}

TEST(DecodeRequestTest, Register) {
  const Decoded decoded(Opcode::kRegister,
                        "0002 000d 5354415455535f4348414e4745 000d 534348454d415f4348414e4745");
  const auto& message = decoded.As<Register>();
  ASSERT_EQ(message.event_types.size(), 2u);
  EXPECT_EQ(message.event_types[0], EventType::kStatusChange);
  EXPECT_EQ(message.event_types[1], EventType::kSchemaChange);
}

TEST(DecodeRequestTest, AuthResponse) {
  const Decoded decoded(Opcode::kAuthResponse, "00000005 0075 007077");
  const PlainCredentials credentials = ParsePlainToken(decoded.As<AuthResponse>().token.bytes());
  EXPECT_EQ(credentials.user, "u");
  EXPECT_EQ(credentials.password, "pw");
  const Decoded null(Opcode::kAuthResponse, "ffffffff");
  EXPECT_TRUE(null.As<AuthResponse>().token.is_null());
}

TEST(ParsePlainTokenTest, IsTakenApartFromItsEnd) {
  using namespace std::string_view_literals;
  struct Example {
    std::string_view token, user, password;
  };
  constexpr Example kExamples[] = {
      {"z\0u\0p"sv, "u", "p"}, {"\0u\0p"sv, "u", "p"},   {"\0\0p"sv, "", "p"},
      {"\0u\0"sv, "", "u"},    {"\0u\0p\0"sv, "u", "p"}, {"\0a\0u\0p"sv, "u", "p"},
      {"\0u"sv, "", "u"},      {"u"sv, "", ""},          {""sv, "", ""},
  };
  for (const Example& example : kExamples) {
    const PlainCredentials credentials = ParsePlainToken(example.token);
    EXPECT_EQ(credentials.user, example.user) << example.token;
    EXPECT_EQ(credentials.password, example.password) << example.token;
  }
}

TEST(DecodeRequestTest, CustomPayloadGoesBeforeTheMessage) {
  const std::string_view body = "0002 0001 6b 00000001 76 0001 6c ffffffff 00000001 71 0001 00";
  const Decoded decoded(Opcode::kQuery, body, ProtocolVersion::kV4, {}, kFrameCustomPayload);
  EXPECT_EQ(decoded.As<Query>().query, "q");
  ASSERT_EQ(decoded.request().custom_payload.size(), 2u);
  EXPECT_EQ(decoded.request().custom_payload[0], (BytesPair{"k", Value::Of("v")}));
  EXPECT_EQ(decoded.request().custom_payload[1], (BytesPair{"l", Value::Null()}));
  const Decoded v3(Opcode::kQuery, "00000001 71 0001 00", ProtocolVersion::kV3, {},
                   kFrameCustomPayload);
  EXPECT_EQ(v3.As<Query>().query, "q") << "version 3 has no such flag";
}

struct Refused {
  std::string_view rule;
  Opcode opcode;
  std::string_view hex;
  std::string_view message;
};

TEST(DecodeRequestTest, RefusalsHaveScyllaDbsTexts) {
  const Refused table[] = {
      {"an empty QUERY", Opcode::kQuery, "", "truncated frame: expected 4 bytes, length is 0"},
      {"a query longer than its frame", Opcode::kQuery, "00000009 71",
       "truncated frame: expected 9 bytes, length is 1"},
      {"a query that is no text", Opcode::kQuery, "00000002 71ff 0001 00",
       "Cannot decode string as UTF8, invalid character at byte offset 1"},
      {"no consistency", Opcode::kQuery, "00000001 71 00",
       "truncated frame: expected 2 bytes, length is 1"},
      {"unknown consistency", Opcode::kQuery, "00000001 71 000b 00",
       "Unknown code 11 for a consistency level"},
      {"unknown serial consistency", Opcode::kQuery, "00000001 71 0001 10 0100",
       "Unknown code 256 for a consistency level"},
      {"fewer values than said", Opcode::kQuery, "00000001 71 0001 01 ffff 00000000",
       "truncated frame: expected 4 bytes, length is 0"},
      {"a value of length -3", Opcode::kQuery, "00000001 71 0001 01 0001 fffffffd",
       "invalid value length: -3"},
      {"a name that is no text", Opcode::kQuery, "00000001 71 0001 41 0001 0001 80 00000000",
       "Cannot decode string as UTF8, invalid character at byte offset 0"},
      {"the timestamp that means none", Opcode::kQuery, "00000001 71 0001 20 8000000000000000",
       "Out of bound timestamp, must be in [-9223372036854775807, 9223372036854775807] (got "
       "-9223372036854775808)"},
      {"a page size cut off", Opcode::kExecute, "0000 0001 04 0000",
       "truncated frame: expected 4 bytes, length is 2"},
      {"a paging state cut off", Opcode::kExecute, "0000 0001 08 00000002 00",
       "truncated frame: expected 2 bytes, length is 1"},
      {"batch kind", Opcode::kBatch, "00 0001 02",
       "Invalid query kind in BATCH messages. Must be 0 or 1 but got 2"},
      {"batch type", Opcode::kBatch, "03 0000 0001 00", "Invalid BATCH type 3"},
      {"a batch cut off", Opcode::kBatch, "00 0002 00 00000000 0000",
       "truncated frame: expected 1 bytes, length is 0"},
      {"an event of another name", Opcode::kRegister, "0001 0001 58",
       "Invalid value 'X' for Event.Type"},
      {"options cut off", Opcode::kStartup, "0001 0001 41",
       "truncated frame: expected 2 bytes, length is 0"},
      {"a token cut off", Opcode::kAuthResponse, "00000001",
       "truncated frame: expected 1 bytes, length is 0"},
      {"a response", Opcode::kResult, "00000001", "Unknown opcode 8"},
      {"no opcode", static_cast<Opcode>(0xc8), "", "Unknown opcode 200"},
  };
  for (const Refused& row : table) {
    const Decoded decoded(row.opcode, row.hex);
    ASSERT_TRUE(decoded.error()) << row.rule;
    EXPECT_EQ(decoded.error()->message, row.message) << row.rule;
    EXPECT_EQ(decoded.error()->code, ErrorCode::kProtocolError) << row.rule;
  }
}

// Every body cut off anywhere is refused, and none of them reads behind its end (AddressSanitizer).
TEST(DecodeRequestTest, EveryCutIsRefused) {
  const std::pair<Opcode, std::string_view> bodies[] = {
      {Opcode::kExecute, kExecuteBody},
      {Opcode::kStartup, "0001 000b 43514c5f56455253494f4e 0005 332e302e30"},
      {Opcode::kBatch, "01 0001 01 0002 6964 0001 00000001 62 0004 30 0008 0000000000000005"},
      {Opcode::kQuery, "00000001 71 0004 5d 0001 0001 61 00000001 31 00000001 00000001 ab 0009"},
      {Opcode::kRegister, "0001 000d 5354415455535f4348414e4745"},
  };
  for (const auto& [opcode, hex] : bodies) {
    const std::string whole = Bytes(hex);
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
      // A copy of just these bytes, so that one too many is seen.
      const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(bytes));
      RequestScratch scratch;
      Request request;
      const std::optional<ProtocolError> error =
          DecodeRequest(RequestHeader(opcode), {cut.data(), cut.size()}, {}, scratch, request);
      ASSERT_TRUE(error) << static_cast<int>(opcode) << " cut at " << bytes;
      EXPECT_NE(error->message.find("truncated frame"), std::string::npos);
    }
  }
}

}  // namespace request_test
}  // namespace liststore::protocol

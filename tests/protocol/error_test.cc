#include <string>
#include <string_view>

#include "gtest/gtest.h"

#include "engine/protocol/response.h"
#include "tests/protocol/wire.h"

namespace liststore::protocol {
namespace error_test {

struct Row {
  std::string_view rule;
  ProtocolVersion version;
  ErrorResponse error;
  std::string_view body;  // behind the header, message "m"
};

TEST(EncodeErrorTest, EveryCodeHasItsFields) {
  using enum ProtocolVersion;
  const std::string_view types[] = {"int", "text"};
  const Row table[] = {
      {"SERVER_ERROR", kV4, {ErrorCode::kServerError, "m", {}}, "00000000 0001 6d"},
      {"PROTOCOL_ERROR", kV4, {ErrorCode::kProtocolError, "m", {}}, "0000000a 0001 6d"},
      {"BAD_CREDENTIALS", kV4, {ErrorCode::kBadCredentials, "m", {}}, "00000100 0001 6d"},
      {"UNAVAILABLE",
       kV4,
       {ErrorCode::kUnavailable, "m", UnavailableDetails{Consistency::kAll, 3, 1}},
       "00001000 0001 6d 0005 00000003 00000001"},
      {"OVERLOADED", kV4, {ErrorCode::kOverloaded, "m", {}}, "00001001 0001 6d"},
      {"IS_BOOTSTRAPPING", kV4, {ErrorCode::kIsBootstrapping, "m", {}}, "00001002 0001 6d"},
      {"TRUNCATE_ERROR", kV4, {ErrorCode::kTruncateError, "m", {}}, "00001003 0001 6d"},
      {"WRITE_TIMEOUT",
       kV4,
       {ErrorCode::kWriteTimeout, "m",
        WriteTimeoutDetails{Consistency::kQuorum, 1, 2, WriteType::kUnloggedBatch}},
       "00001100 0001 6d 0004 00000001 00000002 000e 554e4c4f474745445f4241544348"},
      {"READ_TIMEOUT",
       kV4,
       {ErrorCode::kReadTimeout, "m", ReadTimeoutDetails{Consistency::kOne, 0, 1, true}},
       "00001200 0001 6d 0001 00000000 00000001 01"},
      {"READ_FAILURE",
       kV4,
       {ErrorCode::kReadFailure, "m", ReadFailureDetails{Consistency::kOne, 0, 1, 2, false}},
       "00001300 0001 6d 0001 00000000 00000001 00000002 00"},
      {"READ_FAILURE is a timeout in v3",
       kV3,
       {ErrorCode::kReadFailure, "m", ReadFailureDetails{Consistency::kOne, 0, 1, 2, true}},
       "00001200 0001 6d 0001 00000000 00000001 01"},
      {"FUNCTION_FAILURE",
       kV4,
       {ErrorCode::kFunctionFailure, "m", FunctionFailureDetails{"ks", "f", types}},
       "00001400 0001 6d 0002 6b73 0001 66 0002 0003 696e74 0004 74657874"},
      {"FUNCTION_FAILURE is an invalid request in v3",
       kV3,
       {ErrorCode::kFunctionFailure, "m", FunctionFailureDetails{"ks", "f", types}},
       "00002200 0001 6d"},
      {"WRITE_FAILURE",
       kV4,
       {ErrorCode::kWriteFailure, "m",
        WriteFailureDetails{Consistency::kOne, 0, 1, 2, WriteType::kSimple}},
       "00001500 0001 6d 0001 00000000 00000001 00000002 0006 53494d504c45"},
      {"WRITE_FAILURE is a timeout in v3",
       kV3,
       {ErrorCode::kWriteFailure, "m",
        WriteFailureDetails{Consistency::kOne, 0, 1, 2, WriteType::kCas}},
       "00001100 0001 6d 0001 00000000 00000001 0003 434153"},
      {"SYNTAX_ERROR", kV4, {ErrorCode::kSyntax, "m", {}}, "00002000 0001 6d"},
      {"UNAUTHORIZED", kV4, {ErrorCode::kUnauthorized, "m", {}}, "00002100 0001 6d"},
      {"INVALID", kV4, {ErrorCode::kInvalid, "m", {}}, "00002200 0001 6d"},
      {"CONFIG_ERROR", kV4, {ErrorCode::kConfig, "m", {}}, "00002300 0001 6d"},
      {"ALREADY_EXISTS, a table",
       kV4,
       {ErrorCode::kAlreadyExists, "m", AlreadyExistsDetails{"ks", "t"}},
       "00002400 0001 6d 0002 6b73 0001 74"},
      {"ALREADY_EXISTS, a keyspace",
       kV3,
       {ErrorCode::kAlreadyExists, "m", AlreadyExistsDetails{"ks", ""}},
       "00002400 0001 6d 0002 6b73 0000"},
      {"UNPREPARED",
       kV4,
       {ErrorCode::kUnprepared, "m", UnpreparedDetails{"\xaa\xbb"}},
       "00002500 0001 6d 0002 aabb"},
      {"RATE_LIMIT_ERROR that was not negotiated",
       kV4,
       {ErrorCode::kRateLimit, "m", RateLimitDetails{true, false}},
       "00002300 0001 6d"},
  };
  for (const Row& row : table) {
    SCOPED_TRACE(row.rule);
    OutputBuffer out;
    ResponseContext context;
    context.version = row.version;
    context.stream = 0x0102;
    EncodeError(out, context, row.error);
    const std::string body = Bytes(row.body);
    OutputBuffer expected;
    StoreResponseHeader(expected.Extend(kFrameHeaderBytes), row.version, 0, 0x0102, Opcode::kError,
                        static_cast<uint32_t>(body.size()));
    expected.Append(body);
    EXPECT_EQ(Hex(out), Hex(expected));
  }
}

TEST(EncodeErrorTest, RateLimitErrorThatWasNegotiated) {
  OutputBuffer out;
  ResponseContext context;
  context.extensions.rate_limit_error = true;
  EncodeError(out, context,
              ErrorResponse{ErrorCode::kRateLimit, "m", RateLimitDetails{true, false}});
  EXPECT_EQ(Hex(out), Hex("84 00 0000 00 00000009 0000f000 0001 6d 01 00"));
}

TEST(EncodeErrorTest, LongMessagesAreCutBetweenCharacters) {
  std::string message(kShortMax - 1, 'x');
  message += "\xc3\xa9 and more";
  OutputBuffer out;
  EncodeError(out, {}, ProtocolError{ErrorCode::kInvalid, message});
  EXPECT_EQ(out.size(), kFrameHeaderBytes + 4 + 2 + kShortMax - 1);
  EXPECT_EQ(out.BigEndian32At(5), out.size() - kFrameHeaderBytes);
}

TEST(EncodeErrorTest, WriteTypes) {
  EXPECT_EQ(WriteTypeName(WriteType::kBatch), "BATCH");
  EXPECT_EQ(WriteTypeName(WriteType::kCounter), "COUNTER");
  EXPECT_EQ(WriteTypeName(WriteType::kBatchLog), "BATCH_LOG");
  EXPECT_EQ(WriteTypeName(WriteType::kView), "VIEW");
  EXPECT_EQ(WriteTypeName(WriteType::kCdc), "CDC");
}

}  // namespace error_test
}  // namespace liststore::protocol

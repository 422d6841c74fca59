#include "engine/protocol/frame.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "engine/protocol/response.h"
#include "tests/protocol/wire.h"

namespace liststore::protocol {
namespace frame_test {

using Outcome = FrameCutter::Outcome;

TEST(FrameCutterTest, CutsAHeaderIntoItsFields) {
  FrameCutter cutter;
  Frame frame;
  const std::string bytes = Bytes("03 02 fffe 07 00000003 616263 04");
  ASSERT_EQ(cutter.Next(bytes, frame), Outcome::kFrame);
  EXPECT_EQ(frame.header.version, ProtocolVersion::kV3);
  EXPECT_EQ(frame.header.flags, kFrameTracing);
  EXPECT_EQ(frame.header.stream, -2);
  EXPECT_EQ(frame.header.opcode, 7);
  EXPECT_EQ(frame.header.body_bytes, 3u);
  EXPECT_EQ(frame.body, "abc");
  EXPECT_EQ(frame.body.data(), bytes.data() + kFrameHeaderBytes) << "the body is not copied";
  EXPECT_EQ(frame.bytes(), bytes.size() - 1);
}

TEST(FrameCutterTest, SaysHowManyBytesAreMissing) {
  FrameCutter cutter;
  Frame frame;
  const std::string bytes = Bytes("04 00 0000 05 00000003 616263");
  EXPECT_EQ(cutter.Next({}, frame), Outcome::kIncomplete);
  EXPECT_EQ(cutter.bytes_missing(), 1u) << "the version is looked at alone";
  for (size_t received = 1; received < bytes.size(); ++received) {
    ASSERT_EQ(cutter.Next(std::string_view(bytes).substr(0, received), frame),
              Outcome::kIncomplete);
    const size_t wanted = received < kFrameHeaderBytes ? kFrameHeaderBytes : bytes.size();
    EXPECT_EQ(cutter.bytes_missing(), wanted - received);
  }
  EXPECT_EQ(cutter.Next(bytes, frame), Outcome::kFrame);
  EXPECT_EQ(cutter.Next({}, frame), Outcome::kIncomplete);
  EXPECT_EQ(cutter.bytes_missing(), kFrameHeaderBytes) << "later frames are wanted whole";
}

struct Refused {
  std::string_view rule;
  std::string first;  // a frame that goes before, if any
  std::string bytes;
  std::string_view message;
  std::string_view answer;
};

TEST(FrameCutterTest, RefusesWhatIsNoFrame) {
  const Refused table[] = {
      {"version 5, known by its first byte", "", "05", "Invalid or unsupported protocol version: 5",
       "84 00 0000 00 00000030 0000000a 002a"
       "496e76616c6964206f7220756e737570706f727465642070726f746f636f6c2076657273696f6e3a2035"},
      {"version 2", "", "02 00 00 07 00000000", "Invalid or unsupported protocol version: 2", ""},
      {"DSE's version 2", "", "42 00 0000 05 00000000",
       "Invalid or unsupported protocol version: 66", ""},
      {"a response", "", "84 00 0000 02 00000000", "Invalid or unsupported protocol version: 132",
       ""},
      {"text", "", "47", "Invalid or unsupported protocol version: 71", ""},
      {"the version changes", "03 00 0000 05 00000000", "04 00 0007 05 00000000",
       "Invalid message version. Got 4 but previous messages on this connection had version 3", ""},
      {"the first frame is large", "", "04 00 0001 01 000186a1",
       "Initial message size too large (100001), rejecting as invalid", ""},
      {"a later frame is too large", "04 00 0000 05 00000000", "04 00 0007 05 10000001",
       "request size too large (frame size 268435457; estimate 536878914; allowed 536878912)", ""},
  };
  for (const Refused& row : table) {
    SCOPED_TRACE(row.rule);
    FrameCutter cutter;
    Frame frame;
    if (!row.first.empty()) {
      ASSERT_EQ(cutter.Next(Bytes(row.first), frame), Outcome::kFrame);
    }
    ASSERT_EQ(cutter.Next(Bytes(row.bytes), frame), Outcome::kRefused);
    EXPECT_EQ(cutter.refusal().error.message, row.message);
    OutputBuffer out;
    EncodeRefusal(out, cutter.refusal());
    if (!row.answer.empty()) {
      EXPECT_EQ(Hex(out), Hex(row.answer));
    }
    EXPECT_EQ(cutter.Next(Bytes("04 00 0000 05 00000000"), frame), Outcome::kRefused)
        << "there is no way back";
  }
}

TEST(FrameCutterTest, HeaderErrorsAreAnsweredOnStream0AndOversizedOnesOnTheirOwn) {
  Frame frame;
  FrameCutter version;
  EXPECT_EQ(version.Next(Bytes("05 00 0009 05 00000000"), frame), Outcome::kRefused);
  EXPECT_EQ(version.refusal().stream, 0);
  EXPECT_EQ(version.refusal().version, ProtocolVersion::kV4);
  EXPECT_EQ(version.refusal().error.code, ErrorCode::kProtocolError);

  FrameCutter size(1000);
  EXPECT_EQ(size.Next(Bytes("03 00 0009 05 000003e9"), frame), Outcome::kRefused);
  EXPECT_EQ(size.refusal().stream, 9);
  EXPECT_EQ(size.refusal().version, ProtocolVersion::kV3);
  EXPECT_EQ(size.refusal().error.code, ErrorCode::kInvalid);
}

TEST(FrameCutterTest, LimitsAreInclusive) {
  Frame frame;
  FrameCutter first;
  EXPECT_EQ(first.Next(Bytes("04 00 0000 01 000186a0"), frame), Outcome::kIncomplete);
  EXPECT_EQ(first.bytes_missing(), 100'000u);
  FrameCutter later;
  ASSERT_EQ(later.Next(Bytes("04 00 0000 05 00000000"), frame), Outcome::kFrame);
  EXPECT_EQ(later.Next(Bytes("04 00 0000 07 10000000"), frame), Outcome::kIncomplete);
  EXPECT_EQ(later.bytes_missing(), size_t{kFrameBodyBytesMax});
}

TEST(FrameCutterTest, PeeksAtWholeFramesBehindTheFirst) {
  FrameCutter cutter(1000);
  Frame frame;
  FrameHeader header;
  const std::string bytes = Bytes("03 02 fffe 07 00000003 616263 03");
  EXPECT_FALSE(cutter.Peek(bytes, header)) << "whether it is the first that it may be is not asked";
  ASSERT_EQ(cutter.Next(bytes, frame), Outcome::kFrame);
  const FrameHeader first = frame.header;
  for (size_t received = 0; received <= bytes.size(); ++received) {
    const std::string_view some = std::string_view(bytes).substr(0, received);
    const bool is_whole = received >= bytes.size() - 1;
    ASSERT_EQ(cutter.Peek(some, header), is_whole) << received;
    ASSERT_EQ(cutter.Next(some, frame), is_whole ? Outcome::kFrame : Outcome::kIncomplete);
  }
  EXPECT_EQ(header, first);
  EXPECT_EQ(frame.body, "abc");
  EXPECT_TRUE(cutter.Peek(Bytes("03 00 0000 07 000003e8") + std::string(1000, 'x'), header));
  EXPECT_FALSE(cutter.Peek(Bytes("03 00 0000 07 000003e9") + std::string(1001, 'x'), header));
  const std::string of_another_version = Bytes("04 00 0000 07 00000000");
  EXPECT_FALSE(cutter.Peek(of_another_version, header));
  ASSERT_EQ(cutter.Next(of_another_version, frame), Outcome::kRefused);
  EXPECT_FALSE(cutter.Peek(bytes, header)) << "there is no way back";
}

struct Place {
  std::string_view rule;
  ConnectionPhase phase;
  uint8_t opcode;
  std::string_view message;  // empty: in its place
};

TEST(CheckOpcodeTest, EveryPhaseHasItsOpcodes) {
  using enum ConnectionPhase;
  const Place table[] = {
      {"STARTUP first", kUninitialised, 0x01, ""},
      {"OPTIONS first", kUninitialised, 0x05, ""},
      {"QUERY first", kUninitialised, 0x07, "Unexpected message 7, expecting STARTUP or OPTIONS"},
      {"unknown first", kUninitialised, 0xff,
       "Unexpected message 255, expecting STARTUP or OPTIONS"},
      {"AUTH_RESPONSE when asked", kAuthenticating, 0x0f, ""},
      {"OPTIONS when asked", kAuthenticating, 0x05,
       "Unexpected message 5, expecting SASL_RESPONSE"},
      {"STARTUP again", kReady, 0x01,
       "Unexpected message STARTUP, the connection is already initialized"},
      {"OPTIONS as a heartbeat", kReady, 0x05, ""},
      {"QUERY", kReady, 0x07, ""},
      {"PREPARE", kReady, 0x09, ""},
      {"EXECUTE", kReady, 0x0a, ""},
      {"REGISTER", kReady, 0x0b, ""},
      {"BATCH", kReady, 0x0d, ""},
      {"CREDENTIALS of version 1", kReady, 0x04, "Unknown opcode 4"},
      {"a response", kReady, 0x08, "Unknown opcode 8"},
      {"behind the last", kReady, 0x11, "Unknown opcode 17"},
  };
  for (const Place& row : table) {
    const std::optional<ProtocolError> error = CheckOpcode(row.phase, row.opcode);
    EXPECT_EQ(error.has_value(), !row.message.empty()) << row.rule;
    if (error) {
      EXPECT_EQ(error->message, row.message) << row.rule;
      EXPECT_EQ(error->code, ErrorCode::kProtocolError) << row.rule;
    }
  }
}

}  // namespace frame_test
}  // namespace liststore::protocol

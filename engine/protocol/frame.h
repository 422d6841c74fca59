// Frames of the CQL native protocol, versions 3 and 4: the header, and cutting a stream of received
// bytes into frames.
//
//   version(1) flags(1) stream(2) opcode(1) length(4) body(length)        big-endian
//
// Source: native_protocol_v4.spec section 2; ScyllaDB transport/server.cc (read_frame,
// parse_frame).
#ifndef LISTSTORE_ENGINE_PROTOCOL_FRAME_H_
#define LISTSTORE_ENGINE_PROTOCOL_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/big_endian.h"
#include "engine/protocol/error_code.h"

namespace liststore::protocol {

// The versions that ScyllaDB speaks (of those that drivers still use).
enum class ProtocolVersion : uint8_t {
  kV3 = 3,
  kV4 = 4
};
inline constexpr ProtocolVersion kProtocolVersionMax = ProtocolVersion::kV4;
// Set in the version byte of a response.
inline constexpr uint8_t kResponseDirection = 0x80;

enum class Opcode : uint8_t {
  kError = 0x00,
  kStartup = 0x01,
  kReady = 0x02,
  kAuthenticate = 0x03,
  kOptions = 0x05,
  kSupported = 0x06,
  kQuery = 0x07,
  kResult = 0x08,
  kPrepare = 0x09,
  kExecute = 0x0a,
  kRegister = 0x0b,
  kEvent = 0x0c,
  kBatch = 0x0d,
  kAuthChallenge = 0x0e,
  kAuthResponse = 0x0f,
  kAuthSuccess = 0x10,
};

// Bits of the flags byte.
inline constexpr uint8_t kFrameCompressed = 0x01;
inline constexpr uint8_t kFrameTracing = 0x02;
inline constexpr uint8_t kFrameCustomPayload = 0x04;  // v4
inline constexpr uint8_t kFrameWarnings = 0x08;       // v4, responses

inline constexpr size_t kFrameHeaderBytes = 9;
// The specification's limit on the length of a body, compressed or not.
inline constexpr uint32_t kFrameBodyBytesMax = 256u << 20;
// The first frame of a connection carries a few options; a longer one is not CQL.
// Source: ScyllaDB transport/server.cc, read_frame.
inline constexpr uint32_t kFirstFrameBodyBytesMax = 100'000;
// Before it has logged in nobody sends a longer one.
inline constexpr uint32_t kLoginFrameBodyBytesMax = 64u << 10;
// The stream of pushed events, and the one that header errors are answered on.
inline constexpr int16_t kEventStream = -1;
inline constexpr int16_t kHeaderErrorStream = 0;

struct FrameHeader {
  ProtocolVersion version = kProtocolVersionMax;
  uint8_t flags = 0;
  int16_t stream = 0;
  // As received: need not be a known Opcode (CheckOpcode).
  uint8_t opcode = 0;
  uint32_t body_bytes = 0;

  bool operator==(const FrameHeader&) const = default;
};

// A frame where it was received: valid while those bytes are.
struct Frame {
  FrameHeader header;
  // As received, so compressed when kFrameCompressed is set.
  std::string_view body;

  // What it takes of the received bytes.
  size_t bytes() const { return kFrameHeaderBytes + body.size(); }
};

// A stream that cannot be cut any further. The connection answers one ERROR with this version on
// this stream, discards what else the client sends, and closes.
struct FrameRefusal {
  ProtocolError error;
  ProtocolVersion version = kProtocolVersionMax;
  int16_t stream = kHeaderErrorStream;
};

// Cuts the bytes that one connection receives into frames. Belongs to that connection and is used
// by one thread at a time. 16 bytes and the refusal; O(1) a call, never copies.
//
//   while (cutter.Next(received.substr(used), frame) == FrameCutter::Outcome::kFrame) {
//     ...; used += frame.bytes();
//   }
//
// The first byte decides about the version, before more has come: what is no version 3 or 4 is
// refused with `Invalid or unsupported protocol version: N`, answered as version 4, as ScyllaDB
// does; drivers that try version 5 first look for that text. Every later frame must have the
// version of the first.
class FrameCutter {
 public:
  enum class Outcome {
    kFrame,
    // bytes_missing() tells how many bytes are lacking at least.
    kIncomplete,
    // refusal() tells why; every further call says so again.
    kRefused,
  };

  // Bodies longer than `body_bytes_max` are refused with kInvalid and ScyllaDB's text of an
  // oversized request, on the frame's own stream. At most kFrameBodyBytesMax.
  // kLoginFrameBodyBytesMax is said to hold until the client has logged in.
  explicit FrameCutter(uint32_t body_bytes_max = kFrameBodyBytesMax);

  uint32_t body_bytes_max() const { return body_bytes_max_; }
  // From the next frame on.
  void set_body_bytes_max(uint32_t bytes) { body_bytes_max_ = bytes; }

  // Looks at the front of `received`. On kFrame, `frame` views into it and the caller drops
  // frame.bytes() before the next call; otherwise `frame` is unchanged.
  Outcome Next(std::string_view received, Frame& frame);

  // Whether `received` begins with a whole frame that Next would cut, and its header then. Behind the
  // first frame; before it, and where there is none, it is for Next to say.
  bool Peek(std::string_view received, FrameHeader& header) const {
    if (received.size() < kFrameHeaderBytes || !first_frame_cut_ || refusal_) return false;
    if (static_cast<uint8_t>(received[0]) != static_cast<uint8_t>(*version_)) return false;
    header = HeaderAt(received.data());
    return header.body_bytes <= body_bytes_max_ &&
           header.body_bytes <= received.size() - kFrameHeaderBytes;
  }

  // After kIncomplete: the frame cannot be complete with fewer more bytes. Once the header is there
  // it is exact. At least 1.
  size_t bytes_missing() const { return bytes_missing_; }
  // After kRefused.
  const FrameRefusal& refusal() const;

 private:
  // Of the version that was agreed on.
  FrameHeader HeaderAt(const char* at) const {
    return {.version = *version_,
            .flags = static_cast<uint8_t>(at[1]),
            .stream = static_cast<int16_t>(LoadBigEndian16(at + 2)),
            .opcode = static_cast<uint8_t>(at[4]),
            .body_bytes = LoadBigEndian32(at + 5)};
  }
  Outcome Refuse(ErrorCode code, std::string message, int16_t stream);
  Outcome Incomplete(size_t bytes_missing);

  uint32_t body_bytes_max_;
  size_t bytes_missing_ = 1;
  std::optional<ProtocolVersion> version_;  // of the first frame, once it has begun
  bool first_frame_cut_ = false;
  std::optional<FrameRefusal> refusal_;
};

// Writes the 9 bytes of a response's header to `to`.
void StoreResponseHeader(char* to, ProtocolVersion version, uint8_t flags, int16_t stream,
                         Opcode opcode, uint32_t body_bytes);

// How far a connection has come. STARTUP answered by READY leads to kReady, by AUTHENTICATE to
// kAuthenticating, and AUTH_SUCCESS from there to kReady.
enum class ConnectionPhase : uint8_t {
  kUninitialised,
  kAuthenticating,
  kReady
};

// Nullopt when a request with this opcode is in its place; else the error to answer on the
// request's stream. The connection stays open.
// Source: ScyllaDB transport/server.cc, process_request_one.
std::optional<ProtocolError> CheckOpcode(ConnectionPhase phase, uint8_t opcode);
// Whether nearly every request is: then there is nothing to be checked.
inline bool IsStatementInItsPlace(ConnectionPhase phase, uint8_t opcode) {
  return phase == ConnectionPhase::kReady && opcode == static_cast<uint8_t>(Opcode::kExecute);
}

}  // namespace liststore::protocol

#endif  // LISTSTORE_ENGINE_PROTOCOL_FRAME_H_

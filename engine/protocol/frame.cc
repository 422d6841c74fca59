#include "engine/protocol/frame.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"

namespace liststore::protocol {
namespace {

// What ScyllaDB reckons a request to need in memory (transport/server.cc, process_request).
uint64_t MemoryEstimate(uint64_t body_bytes) { return 2 * body_bytes + 8000; }

std::string TooLargeMessage(uint32_t body_bytes, uint32_t body_bytes_max) {
  if (body_bytes_max == kLoginFrameBodyBytesMax) {
    return absl::StrCat("request size too large (frame size ", body_bytes,
                        "; allowed before the client has logged in ", body_bytes_max, ")");
  }
  return absl::StrCat("request size too large (frame size ", body_bytes, "; estimate ",
                      MemoryEstimate(body_bytes), "; allowed ", MemoryEstimate(body_bytes_max),
                      ")");
}

bool IsSpoken(uint8_t version) {
  return version == static_cast<uint8_t>(ProtocolVersion::kV3) ||
         version == static_cast<uint8_t>(ProtocolVersion::kV4);
}

}  // namespace

FrameCutter::FrameCutter(uint32_t body_bytes_max) : body_bytes_max_(body_bytes_max) {
  LS_CHECK(body_bytes_max <= kFrameBodyBytesMax, "no body is longer than the protocol allows");
}

FrameCutter::Outcome FrameCutter::Next(std::string_view received, Frame& frame) {
  FrameHeader header;
  if (Peek(received, header)) {
    frame = {header, received.substr(kFrameHeaderBytes, header.body_bytes)};
    return Outcome::kFrame;
  }
  if (refusal_) return Outcome::kRefused;
  if (received.empty()) return Incomplete(version_ ? kFrameHeaderBytes : 1);

  const auto version = static_cast<uint8_t>(received[0]);
  if (!version_) {
    if (!IsSpoken(version)) {
      return Refuse(ErrorCode::kProtocolError,
                    absl::StrCat("Invalid or unsupported protocol version: ", version),
                    kHeaderErrorStream);
    }
    version_ = static_cast<ProtocolVersion>(version);
  }
  if (received.size() < kFrameHeaderBytes) return Incomplete(kFrameHeaderBytes - received.size());
  if (version != static_cast<uint8_t>(*version_)) {
    return Refuse(ErrorCode::kProtocolError,
                  absl::StrCat("Invalid message version. Got ", version,
                               " but previous messages on this connection had version ",
                               static_cast<int>(*version_)),
                  kHeaderErrorStream);
  }

  header = HeaderAt(received.data());
  if (!first_frame_cut_ && header.body_bytes > kFirstFrameBodyBytesMax) {
    return Refuse(ErrorCode::kProtocolError,
                  absl::StrCat("Initial message size too large (", header.body_bytes,
                               "), rejecting as invalid"),
                  kHeaderErrorStream);
  }
  if (header.body_bytes > body_bytes_max_) {
    return Refuse(ErrorCode::kInvalid, TooLargeMessage(header.body_bytes, body_bytes_max_),
                  header.stream);
  }
  const size_t bytes = kFrameHeaderBytes + header.body_bytes;
  if (received.size() < bytes) return Incomplete(bytes - received.size());

  first_frame_cut_ = true;
  frame = {header, received.substr(kFrameHeaderBytes, header.body_bytes)};
  LS_DCHECK(frame.bytes() == bytes, "a frame takes its header and its body");
  return Outcome::kFrame;
}

const FrameRefusal& FrameCutter::refusal() const {
  LS_CHECK(refusal_.has_value(), "only a refused stream has a refusal");
  return *refusal_;
}

FrameCutter::Outcome FrameCutter::Refuse(ErrorCode code, std::string message, int16_t stream) {
  refusal_ = FrameRefusal{.error = {code, std::move(message)},
                          .version = version_.value_or(kProtocolVersionMax),
                          .stream = stream};
  return Outcome::kRefused;
}

FrameCutter::Outcome FrameCutter::Incomplete(size_t bytes_missing) {
  LS_DCHECK(bytes_missing > 0, "an incomplete frame lacks something");
  bytes_missing_ = bytes_missing;
  return Outcome::kIncomplete;
}

void StoreResponseHeader(char* to, ProtocolVersion version, uint8_t flags, int16_t stream,
                         Opcode opcode, uint32_t body_bytes) {
  LS_DCHECK(body_bytes <= kFrameBodyBytesMax, "no body is longer than the protocol allows");
  to[0] = static_cast<char>(static_cast<uint8_t>(version) | kResponseDirection);
  to[1] = static_cast<char>(flags);
  StoreBigEndian16(to + 2, static_cast<uint16_t>(stream));
  to[4] = static_cast<char>(opcode);
  StoreBigEndian32(to + 5, body_bytes);
}

std::optional<ProtocolError> CheckOpcode(ConnectionPhase phase, uint8_t opcode) {
  const auto refuse = [](std::string message) {
    return ProtocolError{ErrorCode::kProtocolError, std::move(message)};
  };
  switch (phase) {
    case ConnectionPhase::kUninitialised:
      if (opcode == static_cast<uint8_t>(Opcode::kStartup) ||
          opcode == static_cast<uint8_t>(Opcode::kOptions)) {
        return std::nullopt;
      }
      return refuse(absl::StrCat("Unexpected message ", opcode, ", expecting STARTUP or OPTIONS"));
    case ConnectionPhase::kAuthenticating:
      if (opcode == static_cast<uint8_t>(Opcode::kAuthResponse)) return std::nullopt;
      return refuse(absl::StrCat("Unexpected message ", opcode, ", expecting SASL_RESPONSE"));
    case ConnectionPhase::kReady:
      break;
  }
  switch (static_cast<Opcode>(opcode)) {
    case Opcode::kStartup:
      return refuse("Unexpected message STARTUP, the connection is already initialized");
    case Opcode::kOptions:
    case Opcode::kQuery:
    case Opcode::kPrepare:
    case Opcode::kExecute:
    case Opcode::kRegister:
    case Opcode::kBatch:
    case Opcode::kAuthResponse:
      return std::nullopt;
    default:
      return refuse(absl::StrCat("Unknown opcode ", opcode));
  }
}

}  // namespace liststore::protocol

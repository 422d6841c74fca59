// ErrorCode: the codes of the ERROR message; ProtocolError: why bytes of a client were refused.
#ifndef LISTSTORE_ENGINE_PROTOCOL_ERROR_CODE_H_
#define LISTSTORE_ENGINE_PROTOCOL_ERROR_CODE_H_

#include <cstdint>
#include <string>

namespace liststore::protocol {

// Source: native_protocol_v4.spec section 9; kRateLimitError: ScyllaDB
// docs/dev/protocol-extensions.md.
enum class ErrorCode : int32_t {
  kServerError = 0x0000,
  kProtocolError = 0x000a,
  kBadCredentials = 0x0100,
  kUnavailable = 0x1000,
  kOverloaded = 0x1001,
  kIsBootstrapping = 0x1002,
  kTruncateError = 0x1003,
  kWriteTimeout = 0x1100,
  kReadTimeout = 0x1200,
  kReadFailure = 0x1300,
  kFunctionFailure = 0x1400,
  kWriteFailure = 0x1500,
  kSyntaxError = 0x2000,
  kUnauthorized = 0x2100,
  kInvalid = 0x2200,
  kConfigError = 0x2300,
  kAlreadyExists = 0x2400,
  kUnprepared = 0x2500,
  // Only on connections that negotiated it; others get kConfigError.
  kRateLimitError = 0xf000,
};

// What this layer answers bad input with: as a rule kProtocolError. The message is ScyllaDB's where
// ScyllaDB has one, since drivers and tests look for parts of it. EncodeError takes it as it is.
struct ProtocolError {
  ErrorCode code = ErrorCode::kProtocolError;
  std::string message;

  bool operator==(const ProtocolError&) const = default;
};

}  // namespace liststore::protocol

#endif  // LISTSTORE_ENGINE_PROTOCOL_ERROR_CODE_H_

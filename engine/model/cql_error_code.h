// CqlErrorCode: the codes of what CQL answers instead of a result.
#ifndef LISTSTORE_ENGINE_MODEL_CQL_ERROR_CODE_H_
#define LISTSTORE_ENGINE_MODEL_CQL_ERROR_CODE_H_

#include <cstdint>

namespace liststore {

// The values are the protocol's own. Source: native_protocol_v4.spec, section 9; kRateLimit:
// ScyllaDB docs/dev/protocol-extensions.md.
enum class CqlErrorCode : int32_t {
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
  kSyntax = 0x2000,
  kUnauthorized = 0x2100,
  kInvalid = 0x2200,
  kConfig = 0x2300,
  kAlreadyExists = 0x2400,
  kUnprepared = 0x2500,
  // Only on connections that negotiated it; others get kConfig.
  kRateLimit = 0xf000,
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_CQL_ERROR_CODE_H_

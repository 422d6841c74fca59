// ErrorCode: the codes of the ERROR message; ProtocolError: why bytes of a client were refused.
#ifndef LISTSTORE_ENGINE_PROTOCOL_ERROR_CODE_H_
#define LISTSTORE_ENGINE_PROTOCOL_ERROR_CODE_H_

#include <string>

#include "engine/model/cql_error_code.h"

namespace liststore::protocol {

using ErrorCode = CqlErrorCode;

// What this layer answers bad input with: as a rule kProtocolError. The message is ScyllaDB's where
// ScyllaDB has one, since drivers and tests look for parts of it. EncodeError takes it as it is.
struct ProtocolError {
  ErrorCode code = ErrorCode::kProtocolError;
  std::string message;

  bool operator==(const ProtocolError&) const = default;
};

}  // namespace liststore::protocol

#endif  // LISTSTORE_ENGINE_PROTOCOL_ERROR_CODE_H_

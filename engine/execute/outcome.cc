#include "engine/execute/outcome.h"

namespace liststore {

const char* Outcome::Name() const {
  if (!answered) return "no_answer";
  if (!error) return "ok";
  switch (*error) {
    case CqlErrorCode::kServerError:
      return "server_error";
    case CqlErrorCode::kProtocolError:
      return "protocol_error";
    case CqlErrorCode::kBadCredentials:
      return "bad_credentials";
    case CqlErrorCode::kUnavailable:
      return "unavailable";
    case CqlErrorCode::kOverloaded:
      return "overloaded";
    case CqlErrorCode::kIsBootstrapping:
      return "is_bootstrapping";
    case CqlErrorCode::kTruncateError:
      return "truncate_error";
    case CqlErrorCode::kWriteTimeout:
      return "write_timeout";
    case CqlErrorCode::kReadTimeout:
      return "read_timeout";
    case CqlErrorCode::kReadFailure:
      return "read_failure";
    case CqlErrorCode::kFunctionFailure:
      return "function_failure";
    case CqlErrorCode::kWriteFailure:
      return "write_failure";
    case CqlErrorCode::kSyntax:
      return "syntax";
    case CqlErrorCode::kUnauthorized:
      return "unauthorized";
    case CqlErrorCode::kInvalid:
      return "invalid";
    case CqlErrorCode::kConfig:
      return "config_error";
    case CqlErrorCode::kAlreadyExists:
      return "already_exists";
    case CqlErrorCode::kUnprepared:
      return "unprepared";
    case CqlErrorCode::kRateLimit:
      return "rate_limit";
  }
  return "error";
}

}  // namespace liststore

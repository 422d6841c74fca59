#include "engine/execute/outcome.h"

#include <utility>

namespace liststore::execute {

const char* Outcome::Name() const {
  using enum CqlErrorCode;
  static constexpr std::pair<CqlErrorCode, const char*> kNames[] = {
      {kServerError, "server_error"},
      {kProtocolError, "protocol_error"},
      {kBadCredentials, "bad_credentials"},
      {kUnavailable, "unavailable"},
      {kOverloaded, "overloaded"},
      {kIsBootstrapping, "is_bootstrapping"},
      {kTruncateError, "truncate_error"},
      {kWriteTimeout, "write_timeout"},
      {kReadTimeout, "read_timeout"},
      {kReadFailure, "read_failure"},
      {kFunctionFailure, "function_failure"},
      {kWriteFailure, "write_failure"},
      {kSyntax, "syntax"},
      {kUnauthorized, "unauthorized"},
      {kInvalid, "invalid"},
      {kConfig, "config_error"},
      {kAlreadyExists, "already_exists"},
      {kUnprepared, "unprepared"},
      {kRateLimit, "rate_limit"}};
  if (!answered) return "no_answer";
  if (!error) return "ok";
  for (const auto& [code, name] : kNames) {
    if (code == *error) return name;
  }
  return "error";
}

}  // namespace liststore::execute

#include <chrono>
#include <optional>
#include <string>

#include "engine/faces/cql/handlers.h"

namespace liststore::cql_face {
namespace {

// Why whoever sent the token may not come in; nullopt: they may.
std::optional<std::string> WhyNot(const protocol::PlainCredentials& given,
                                  roles::Authenticator& authenticator) {
  // Source: ScyllaDB auth/sasl_challenge.cc.
  if (given.user.empty()) return "Authentication ID must not be null";
  if (given.password.empty()) return "Password must not be null";
  return authenticator.LogIn(given.user, given.password);
}

}  // namespace

void HandleAuthResponse(const protocol::AuthResponse& auth,
                        const protocol::ResponseContext& response, const ServerContext& server,
                        ConnectionState& state, OutputBuffer& out) {
  const auto refuse = [&](protocol::ErrorCode code, const std::string& message) {
    protocol::EncodeError(out, response, protocol::ProtocolError{code, message});
  };
  if (state.phase != protocol::ConnectionPhase::kAuthenticating) {
    refuse(protocol::ErrorCode::kProtocolError,
           "Unexpected message AUTH_RESPONSE, the connection is not authenticating");
    return;
  }
  if (state.refuses_logins) {
    state.failed_logins = server.logins->limits().failures_max;
    refuse(protocol::ErrorCode::kOverloaded,
           "Too many attempts to log in wait behind wrong passwords of this address");
    return;
  }
  protocol::PlainCredentials given;
  if (auth.token.has_bytes()) given = protocol::ParsePlainToken(auth.token.bytes());
  if (const auto refusal = WhyNot(given, *server.authenticator)) {
    server.logins->NoteFailure(state.client.peer_address, std::chrono::steady_clock::now());
    ++state.failed_logins;
    refuse(protocol::ErrorCode::kBadCredentials, *refusal);
    return;
  }
  server.logins->NoteSuccess(state.client.peer_address);
  state.client.user = given.user;
  state.client.has_logged_in = true;
  state.BecomeReady(server.body_bytes_max);
  protocol::EncodeAuthSuccess(out, response, protocol::Value::Null());
}

}  // namespace liststore::cql_face

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include "engine/faces/cql/handlers.h"

namespace liststore::cql_face {
namespace {

// Takes the same time wherever the two differ, so that a client cannot find out a password letter
// by letter. Their lengths it may find out.
bool IsSame(std::string_view given, std::string_view expected) {
  if (given.size() != expected.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < given.size(); ++i) {
    difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(expected[i]);
  }
  return difference == 0;
}

}  // namespace

void HandleAuthResponse(const protocol::AuthResponse& auth,
                        const protocol::ResponseContext& response, const ServerContext& server,
                        ConnectionState& state, OutputBuffer& out) {
  const auto refuse = [&](protocol::ErrorCode code, const char* message) {
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
  std::optional<protocol::PlainCredentials> given;
  if (auth.token.has_bytes()) given = protocol::ParsePlainToken(auth.token.bytes());
  // Both are compared, so that the time does not tell which was wrong.
  const bool user_is_right = given && IsSame(given->user, server.credentials->user);
  const bool password_is_right = given && IsSame(given->password, server.credentials->password);
  if (!user_is_right || !password_is_right) {
    server.logins->NoteFailure(state.client.peer_address, std::chrono::steady_clock::now());
    ++state.failed_logins;
    // Source of the text: ScyllaDB auth/password_authenticator.cc.
    refuse(protocol::ErrorCode::kBadCredentials, "Username and/or password are incorrect");
    return;
  }
  server.logins->NoteSuccess(state.client.peer_address);
  state.client.user = given->user;
  state.BecomeReady(server.body_bytes_max);
  protocol::EncodeAuthSuccess(out, response, protocol::Value::Null());
}

}  // namespace liststore::cql_face

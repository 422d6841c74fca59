#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/faces/cql/handlers.h"
#include "engine/roles/password_hash.h"

namespace liststore::cql_face {
namespace {

// Of a role's name, as a statement may write it: more than any has.
constexpr size_t kNameBytesMax = 4096;

void Refuse(const protocol::FrameHeader& header, protocol::ErrorCode code,
            const std::string& message, const ConnectionState& state, OutputBuffer& out) {
  protocol::EncodeError(out, execute::ResponseContextOf(header, state.client),
                        protocol::ProtocolError{code, message});
}

// What is wrong with a token before anything is compared. Source: ScyllaDB auth/sasl_challenge.cc.
std::optional<std::string> ProblemOf(const protocol::PlainCredentials& given) {
  if (given.user.empty()) return "Authentication ID must not be null";
  if (given.password.empty()) return "Password must not be null";
  // Nothing is held of names that are none.
  if (given.user.size() > kNameBytesMax) return "Username and/or password are incorrect";
  return std::nullopt;
}

}  // namespace

void HandleAuthResponse(const protocol::AuthResponse& auth, const protocol::FrameHeader& header,
                        const ServerContext& server, ConnectionState& state, OutputBuffer& out) {
  if (state.phase != protocol::ConnectionPhase::kAuthenticating) {
    return Refuse(header, protocol::ErrorCode::kProtocolError,
                  "Unexpected message AUTH_RESPONSE, the connection is not authenticating", state,
                  out);
  }
  if (state.refuses_logins) {
    state.failed_logins = server.logins->limits().failures_max;
    return Refuse(header, protocol::ErrorCode::kOverloaded,
                  "Too many attempts to log in wait behind wrong passwords of this address", state,
                  out);
  }
  protocol::PlainCredentials given;
  if (auth.token.has_bytes()) given = protocol::ParsePlainToken(auth.token.bytes());
  CheckedLogin login{{header, std::string(given.user), std::string(given.password)},
                     ProblemOf(given)};
  if (!login.refusal) {
    // A password that is too long is told without hashing.
    if (server.long_work != nullptr && given.password.size() <= roles::kPasswordBytesMax &&
        server.authenticator->TakesLong(given.user, given.password)) {
      state.login = std::move(login.attempt);
      return;
    }
    login.refusal = server.authenticator->LogIn(given.user, given.password);
  }
  AnswerLogin(login, server, state, out);
}

void AnswerLogin(const CheckedLogin& login, const ServerContext& server, ConnectionState& state,
                 OutputBuffer& out) {
  const protocol::FrameHeader& header = login.attempt.header;
  if (login.refusal) {
    server.logins->NoteFailure(state.client.peer_address, std::chrono::steady_clock::now());
    ++state.failed_logins;
    return Refuse(header, protocol::ErrorCode::kBadCredentials, *login.refusal, state, out);
  }
  server.logins->NoteSuccess(state.client.peer_address);
  state.client.user = login.attempt.user;
  state.client.has_logged_in = true;
  state.BecomeReady(server.body_bytes_max);
  protocol::EncodeAuthSuccess(out, execute::ResponseContextOf(header, state.client),
                              protocol::Value::Null());
}

void RefuseLogin(const LoginAttempt& attempt, const ServerContext& server, ConnectionState& state,
                 OutputBuffer& out) {
  Refuse(
      attempt.header, protocol::ErrorCode::kOverloaded,
      absl::StrCat("Too many passwords and statements that take long wait for a thread: there are ",
                   server.long_work->pool.queued_max(), " at most; try again later"),
      state, out);
}

}  // namespace liststore::cql_face

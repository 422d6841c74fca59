// Requests that need no statements: each answered at once, by a function in a file of its own.
// They append one response frame to `out` and change the connection's state. Callers have asked
// CheckOpcode whether the request is in its place.
#ifndef LISTSTORE_ENGINE_FACES_CQL_HANDLERS_H_
#define LISTSTORE_ENGINE_FACES_CQL_HANDLERS_H_

#include "engine/base/output_buffer.h"
#include "engine/faces/cql/connection_state.h"
#include "engine/faces/cql/server_context.h"
#include "engine/protocol/frame.h"
#include "engine/protocol/request.h"
#include "engine/protocol/response.h"

namespace liststore::cql_face {

// READY, or AUTHENTICATE when the server asks for a password. Compression and extensions hold from
// the next frame on.
void HandleStartup(const protocol::Startup& startup, const protocol::ResponseContext& response,
                   const ServerContext& server, ConnectionState& state, OutputBuffer& out);
// SUPPORTED, in every phase: drivers use OPTIONS as heartbeat.
void HandleOptions(const protocol::ResponseContext& response, const ServerContext& server,
                   const ConnectionState& state, OutputBuffer& out);
// AUTH_SUCCESS, or an ERROR that leaves the connection where it was, and counts. No answer where a
// password has to be hashed and there are threads for it: `state.login` has what is to be checked.
void HandleAuthResponse(const protocol::AuthResponse& auth, const protocol::FrameHeader& header,
                        const ServerContext& server, ConnectionState& state, OutputBuffer& out);
// The same, when that is done.
void AnswerLogin(const CheckedLogin& login, const ServerContext& server, ConnectionState& state,
                 OutputBuffer& out);
// An ERROR that counts for nothing: there is no thread that would check the password.
void RefuseLogin(const LoginAttempt& attempt, const ServerContext& server, ConnectionState& state,
                 OutputBuffer& out);
// READY; adds to what the connection was registered for.
void HandleRegister(const protocol::Register& request, const protocol::ResponseContext& response,
                    ConnectionState& state, OutputBuffer& out);

}  // namespace liststore::cql_face

#endif  // LISTSTORE_ENGINE_FACES_CQL_HANDLERS_H_

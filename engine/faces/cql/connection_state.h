// ConnectionState: how far a connection has come in the protocol, and what it has agreed on.
#ifndef LISTSTORE_ENGINE_FACES_CQL_CONNECTION_STATE_H_
#define LISTSTORE_ENGINE_FACES_CQL_CONNECTION_STATE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/output_buffer.h"
#include "engine/execute/client_state.h"
#include "engine/protocol/compression.h"
#include "engine/protocol/frame.h"
#include "engine/protocol/request.h"

namespace liststore::cql_face {

// One bit for each protocol::EventType.
using EventTypes = uint8_t;
inline EventTypes BitOf(protocol::EventType type) {
  return static_cast<EventTypes>(1u << static_cast<unsigned>(type));
}

// A name and a password that are to be compared with those of the roles.
struct LoginAttempt {
  protocol::FrameHeader header;  // of its request
  std::string user;
  std::string password;
};
// Why not; nullopt: they may come in.
struct CheckedLogin {
  LoginAttempt attempt;
  std::optional<std::string> refusal;
};

// Owned by a session, used on its loop only.
struct ConnectionState {
  // `body_bytes_max`: of a request's body, compressed or not.
  explicit ConnectionState(uint32_t body_bytes_max)
      : cutter(std::min(body_bytes_max, protocol::kLoginFrameBodyBytesMax)) {}

  // All is agreed. `body_bytes_max`: from now on.
  void BecomeReady(uint32_t body_bytes_max) {
    phase = protocol::ConnectionPhase::kReady;
    cutter.set_body_bytes_max(body_bytes_max);
  }

  protocol::FrameCutter cutter;
  protocol::ConnectionPhase phase = protocol::ConnectionPhase::kUninitialised;
  int failed_logins = 0;
  bool refuses_logins = false;  // unheard
  // Is to be checked in another place; nothing that came after it is dealt with before.
  std::optional<LoginAttempt> login;
  // Of the frames after STARTUP.
  protocol::Compression compression = protocol::Compression::kNone;
  EventTypes registered = 0;
  // Frames that were cut and decoded, whose requests were postponed: they come before what is
  // received next.
  OutputBuffer postponed;
  execute::ClientState client;
};

}  // namespace liststore::cql_face

#endif  // LISTSTORE_ENGINE_FACES_CQL_CONNECTION_STATE_H_

#include "engine/faces/cql/handlers.h"

namespace liststore::cql_face {

void HandleRegister(const protocol::Register& request, const protocol::ResponseContext& response,
                    ConnectionState& state, OutputBuffer& out) {
  for (const protocol::EventType type : request.event_types) state.registered |= BitOf(type);
  protocol::EncodeReady(out, response);
}

}  // namespace liststore::cql_face

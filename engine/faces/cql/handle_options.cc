#include "engine/base/check.h"
#include "engine/faces/cql/handlers.h"

namespace liststore::cql_face {

void HandleOptions(const protocol::ResponseContext& response, const ServerContext& server,
                   const ConnectionState& state, OutputBuffer& out) {
  LS_CHECK(state.client.shard < server.supported.size(), "a connection is on one of the shards");
  protocol::EncodeSupported(out, response, server.supported[state.client.shard]);
}

}  // namespace liststore::cql_face

#include "engine/base/check.h"
#include "engine/faces/cql/handlers.h"

namespace liststore::cql_face {

void HandleStartup(const protocol::Startup& startup, const protocol::ResponseContext& response,
                   const ServerContext& server, ConnectionState& state, OutputBuffer& out) {
  LS_DCHECK(state.phase == protocol::ConnectionPhase::kUninitialised, "STARTUP comes first");
  // The value of CQL_VERSION is not looked at: drivers send whatever they were written for.
  execute::ClientState& client = state.client;
  client.protocol_version = response.version;
  client.driver_name = startup.Option("DRIVER_NAME").value_or("");
  client.driver_version = startup.Option("DRIVER_VERSION").value_or("");
  size_t bytes = 0;
  for (const protocol::StringPair& option : startup.options) {
    bytes += option.key.size() + option.value.size();
    if (bytes > execute::kStartupOptionsBytesMax) break;
    // The first of several with one name counts, as everywhere.
    client.startup_options.emplace(option.key, option.value);
  }
  client.extensions = startup.extensions & server.extensions;
  state.compression = startup.compression;
  if (server.authenticator != nullptr) {
    state.phase = protocol::ConnectionPhase::kAuthenticating;
    protocol::EncodeAuthenticate(out, response, protocol::kPasswordAuthenticator);
    return;
  }
  client.user = "anonymous";
  state.BecomeReady(server.body_bytes_max);
  protocol::EncodeReady(out, response);
}

}  // namespace liststore::cql_face

// DynamoDB's API of a server: its port, and what is behind it.
#ifndef LISTSTORE_ENGINE_SERVE_SERVER_DYNAMODB_H_
#define LISTSTORE_ENGINE_SERVE_SERVER_DYNAMODB_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/execute/feature_tally.h"
#include "engine/execute/request_handler.h"
#include "engine/faces/http/http_face.h"
#include "engine/network/server.h"
#include "engine/network/tls.h"
#include "engine/roles/role_store.h"
#include "engine/shard/engine.h"
#include "liststore/clock.h"
#include "liststore/server_notices.h"

namespace liststore {

// What the port is made of. Everything outlives the server.
struct ServerDynamodbParts {
  network::Server& server;
  // Where statements go.
  execute::RequestHandler& statements;
  shard::Engine& engine;
  const Clock& clock;
  // As StatementHandler's.
  std::function<uint64_t()> resets;
  // Where is counted what is refused by name.
  execute::FeatureTally& tally;
  const network::TlsAcceptor* tls = nullptr;  // nullptr: plain
  std::string credentials = {};               // as CqlServerOptions::dynamodb_credentials
  const roles::RoleStore* roles = nullptr;    // where clients log in; nullptr: they do not
  std::function<void(const CqlConnectionNotice&)> on_connection = {};  // may be empty
  uint64_t result_bytes_max = 0;  // of results that are under way, all together
};

// Binds the port (0: any free one); `parts.server` is not started yet. InvalidArgument: the credentials are none, or
// there are none where clients log in. Else the errors of HttpFace::Open.
absl::StatusOr<std::unique_ptr<http_face::HttpFace>> OpenDynamodb(const std::string& address,
                                                                  uint16_t port,
                                                                  ServerDynamodbParts parts);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_SERVE_SERVER_DYNAMODB_H_

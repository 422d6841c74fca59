// HTTP of a server: which resources there are, and what they ask.
#ifndef LISTSTORE_ENGINE_SERVE_SERVER_HTTP_H_
#define LISTSTORE_ENGINE_SERVE_SERVER_HTTP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/execute/request_handler.h"
#include "engine/faces/http/http_face.h"
#include "engine/faces/http/session.h"
#include "engine/network/server.h"
#include "engine/network/tls.h"
#include "engine/serve/metrics_page.h"
#include "liststore/server_notices.h"

namespace liststore {

// What the port is made of. Everything outlives the server.
struct ServerHttpParts {
  network::Server& server;
  // Where the API's requests go.
  execute::RequestHandler& statements;
  const network::TlsAcceptor* tls = nullptr;                           // nullptr: plain
  http_face::LogIn log_in = {};                                        // empty: nobody logs in
  std::function<void(const CqlConnectionNotice&)> on_connection = {};  // may be empty
  uint64_t result_bytes_max = 0;  // of results that are under way, all together
  // For GET /ready. Called by loops.
  std::function<bool()> is_ready;
  MetricsSources metrics;
};

// Binds the port (0: any free one); `parts.server` is not started yet. Errors: HttpFace::Open's.
absl::StatusOr<std::unique_ptr<http_face::HttpFace>> OpenHttp(const std::string& address,
                                                              uint16_t port, ServerHttpParts parts);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_SERVE_SERVER_HTTP_H_

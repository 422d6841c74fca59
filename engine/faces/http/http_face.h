// HttpFace: HTTP on a server's port.
#ifndef LISTSTORE_ENGINE_FACES_HTTP_HTTP_FACE_H_
#define LISTSTORE_ENGINE_FACES_HTTP_HTTP_FACE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/faces/http/message.h"
#include "engine/faces/http/resource.h"
#include "engine/faces/http/session.h"
#include "engine/faces/http/site.h"
#include "engine/network/server.h"
#include "engine/network/tls.h"

namespace liststore::http_face {

struct HttpFaceOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 0;              // 0: any free one
  const char* protocol = "HTTP";  // what clients speak, for people; a literal
  // nullptr: plain; outlives the server.
  const network::TlsAcceptor* tls = nullptr;
  HttpLimits limits = {};
  // In which a request comes whole, once it has begun.
  std::chrono::nanoseconds request_time = std::chrono::seconds(10);
  // Says who may log in; empty: everybody, without being asked.
  LogIn log_in = {};
  // Called by loops for each client that comes and goes; may be empty.
  std::function<void(const CqlConnectionNotice&)> on_connection = {};
  // For answers that are not immediate, and how many requests may wait for one of them.
  uint32_t threads = 2;
  size_t queued_max = 256;
  // Of results that are under way, all together.
  uint64_t result_bytes_max = UINT64_MAX / 4;
};

// GET /health, and GET /ready: immediate, for whoever looks after processes. `is_ready`: called by
// loops.
std::vector<Resource> ProbeResources(std::function<bool()> is_ready);

// Outlives the server.
class HttpFace {
 public:
  // Binds the port; `server` is not started yet. Errors: Listener::Open's.
  static absl::StatusOr<std::unique_ptr<HttpFace>> Open(network::Server& server,
                                                        const HttpFaceOptions& options,
                                                        std::vector<Resource> resources);
  static absl::StatusOr<std::unique_ptr<HttpFace>> Open(network::Server& server,
                                                        const HttpFaceOptions& options,
                                                        std::unique_ptr<Site> site);
  HttpFace(const HttpFace&) = delete;
  HttpFace& operator=(const HttpFace&) = delete;

  // Any thread; constant.
  uint16_t port() const { return port_; }
  // Waits for what is under way; when the server has stopped, and before it goes. Again: nothing.
  void Stop() { context_->pool.Stop(); }
  uint64_t requests() const { return context_->requests.load(std::memory_order_relaxed); }
  // Requests that wait for a thread, and those that have one.
  size_t waiting_requests() const { return context_->pool.queued(); }
  size_t running_requests() const { return context_->pool.running(); }
  uint64_t refused() const { return context_->refused.load(std::memory_order_relaxed); }

 private:
  HttpFace() = default;

  std::unique_ptr<HttpContext> context_;
  std::vector<std::unique_ptr<HttpSessionFactory>> factories_;  // one for each loop
  uint16_t port_ = 0;
};

}  // namespace liststore::http_face

#endif  // LISTSTORE_ENGINE_FACES_HTTP_HTTP_FACE_H_

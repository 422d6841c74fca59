#include "engine/faces/http/http_face.h"

#include <algorithm>
#include <utility>

#include "engine/base/status_macros.h"

namespace liststore::http_face {

std::vector<Resource> ProbeResources(std::function<bool()> is_ready) {
  std::vector<Resource> resources;
  resources.push_back({.path = "/health",
                       .methods = {"GET"},
                       .summary = "The process lives and its loops turn",
                       .is_immediate = true,
                       .answer = [](const HttpCall&) {
                         HttpAnswer answer;
                         answer.body = "{\"status\":\"alive\"}\n";
                         return answer;
                       }});
  resources.push_back({.path = "/ready",
                       .methods = {"GET"},
                       .summary = "Requests are accepted: 200, else 503",
                       .is_immediate = true,
                       .answer = [is_ready = std::move(is_ready)](const HttpCall&) {
                         if (!is_ready()) {
                           return ErrorAnswer(503, "not_ready",
                                              "The server starts, stops, or has no room for what "
                                              "clients ask");
                         }
                         HttpAnswer answer;
                         answer.body = "{\"status\":\"ready\"}\n";
                         return answer;
                       }});
  return resources;
}

absl::StatusOr<std::unique_ptr<HttpFace>> HttpFace::Open(network::Server& server,
                                                         const HttpFaceOptions& options,
                                                         std::vector<Resource> resources) {
  return Open(server, options, std::make_unique<ResourceSite>(std::move(resources)));
}

absl::StatusOr<std::unique_ptr<HttpFace>> HttpFace::Open(network::Server& server,
                                                         const HttpFaceOptions& options,
                                                         std::unique_ptr<Site> site) {
  std::unique_ptr<HttpFace> face(new HttpFace);
  face->context_ = std::make_unique<HttpContext>(std::move(site), options.threads,
                                                 options.queued_max, options.result_bytes_max);
  HttpContext& context = *face->context_;
  context.protocol = options.protocol;
  context.limits = options.limits;
  context.limits.body_bytes_max =
      std::min<uint64_t>(context.limits.body_bytes_max, server.limits().input_bytes_max);
  context.request_time = options.request_time;
  context.log_in = options.log_in;
  context.on_connection = options.on_connection;
  context.looks_at_host = !options.log_in && options.tls == nullptr;
  std::vector<network::SessionFactory*> factories;
  for (uint32_t loop = 0; loop < server.loop_count(); ++loop) {
    face->factories_.push_back(std::make_unique<HttpSessionFactory>(server.loop(loop), context));
    factories.push_back(face->factories_.back().get());
  }
  LS_ASSIGN_OR_RETURN(face->port_, server.Listen(options.address, options.port, factories,
                                                 network::LoopChoice::kNextInTurn, options.tls));
  return face;
}

}  // namespace liststore::http_face

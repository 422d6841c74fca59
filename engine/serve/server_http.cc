#include "engine/serve/server_http.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "engine/base/prometheus_text.h"
#include "engine/faces/http/api.h"
#include "engine/faces/http/message.h"
#include "engine/faces/http/page.h"
#include "engine/faces/http/resource.h"

namespace liststore {
namespace {

http_face::Resource MetricsResource(MetricsSources sources) {
  return {.path = "/metrics",
          .methods = {"GET"},
          .summary = "Everything that is counted, in the text format of Prometheus",
          .answer =
              [sources = std::move(sources)](const http_face::HttpCall&) {
                http_face::HttpAnswer answer;
                answer.content_type = kPrometheusContentType;
                answer.body = MetricsPage(sources);
                return answer;
              },
          // Prometheus finds what it scrapes by name, and nobody's data is on the page.
          .takes_any_host = true};
}

}  // namespace

absl::StatusOr<std::unique_ptr<http_face::HttpFace>> OpenHttp(const std::string& address,
                                                              uint16_t port,
                                                              ServerHttpParts parts) {
  http_face::HttpFaceOptions http;
  http.address = address;
  http.port = port;
  http.tls = parts.tls;
  http.result_bytes_max = parts.result_bytes_max;
  http.log_in = std::move(parts.log_in);
  http.on_connection = std::move(parts.on_connection);
  std::vector<http_face::Resource> resources = http_face::ProbeResources(std::move(parts.is_ready));
  resources.push_back(http_face::PageResource());
  resources.push_back(MetricsResource(std::move(parts.metrics)));
  std::ranges::move(http_face::ApiResources(parts.statements), std::back_inserter(resources));
  return http_face::HttpFace::Open(parts.server, http, std::move(resources));
}

}  // namespace liststore

// The API: the tables of the keyspace liststore, and any statement of CQL, over HTTP. Everything is
// asked as a statement, of the handler that CQL's clients have: permissions, faults and the journal hold
// for it as they do for them.
#ifndef LISTSTORE_ENGINE_FACES_HTTP_API_H_
#define LISTSTORE_ENGINE_FACES_HTTP_API_H_

#include <cstddef>
#include <string>
#include <vector>

#include "engine/execute/request_handler.h"
#include "engine/faces/http/resource.h"

namespace liststore::http_face {

// Bytes of JSON of one answer; more is refused.
inline constexpr size_t kJsonBytesMax = size_t{32} << 20;
// Rows of a page, where the client says nothing, and at most.
inline constexpr int kPageSizeDefault = 1000;
inline constexpr int kPageSizeMax = 10'000;

// /api/<table>, /api/query and /api/openapi.json. `handler` outlives them.
std::vector<Resource> ApiResources(execute::RequestHandler& handler);

// OpenAPI 3.0.3, in JSON: what ApiResources, /, /health, /ready and /metrics take and answer.
std::string OpenApiDocument();

}  // namespace liststore::http_face

#endif  // LISTSTORE_ENGINE_FACES_HTTP_API_H_

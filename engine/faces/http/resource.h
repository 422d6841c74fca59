// Resource: what is found under a path, and who answers there.
#ifndef LISTSTORE_ENGINE_FACES_HTTP_RESOURCE_H_
#define LISTSTORE_ENGINE_FACES_HTTP_RESOURCE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/execute/client_state.h"
#include "engine/faces/http/message.h"

namespace liststore::http_face {

// A request that has found its resource.
struct HttpCall {
  const HttpRequest& request;
  // What stands for the "{name}" of the resource's path, decoded.
  const std::string& name;
  // As whom statements are run; logged in where clients log in.
  execute::ClientState& client;
};

struct Resource {
  std::string path;                  // "/health", or "/api/faults/{name}": one segment, not empty
  std::vector<std::string> methods;  // HEAD goes with GET
  std::string summary;               // a line for people
  // True: the loop answers, at once and with no lane held, and nobody has to log in. False: a thread
  // beside the loops answers, may take its time, and asks for a login where clients have to log in.
  bool is_immediate = false;
  // Called by any thread, for several clients at once.
  std::function<HttpAnswer(const HttpCall& call)> answer;
  // Whatever name the client calls the server by; immediate ones do so anyway.
  bool takes_any_host = false;
};

// The resources of a server. Constant while it runs; any thread.
class Resources {
 public:
  explicit Resources(std::vector<Resource> resources) : resources_(std::move(resources)) {}

  struct Found {
    const Resource* resource = nullptr;  // nullptr: `refusal` is the answer
    std::string name;
    HttpAnswer refusal;  // 400, 404 with what there is, 405 with Allow, 204 of OPTIONS
  };
  // O(resources).
  Found Find(const HttpRequest& request) const;
  const std::vector<Resource>& all() const { return resources_; }

 private:
  HttpAnswer NotFound(std::string_view path) const;

  const std::vector<Resource> resources_;
};

}  // namespace liststore::http_face

#endif  // LISTSTORE_ENGINE_FACES_HTTP_RESOURCE_H_

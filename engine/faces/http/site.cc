#include "engine/faces/http/site.h"

namespace liststore::http_face {

std::optional<HttpAnswer> ResourceSite::AnswerAtOnce(const HttpRequest& request) const {
  Resources::Found found = resources_.Find(request);
  if (found.resource == nullptr) return std::move(found.refusal);
  if (!found.resource->is_immediate) return std::nullopt;
  // Without a client: nothing of it is asked.
  execute::ClientState nobody;
  return found.resource->answer({request, found.name, nobody});
}

bool ResourceSite::TakesAnyHost(const HttpRequest& request) const {
  const Resources::Found found = resources_.Find(request);
  return found.resource != nullptr && found.resource->takes_any_host;
}

HttpAnswer ResourceSite::Answer(SiteCall& call) const {
  Resources::Found found = resources_.Find(call.request);
  if (found.resource == nullptr) return std::move(found.refusal);
  return found.resource->answer({call.request, found.name, call.client});
}

}  // namespace liststore::http_face

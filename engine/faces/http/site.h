// Site: what a port of HTTP serves: who answers which request.
#ifndef LISTSTORE_ENGINE_FACES_HTTP_SITE_H_
#define LISTSTORE_ENGINE_FACES_HTTP_SITE_H_

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/execute/client_state.h"
#include "engine/execute/request_view.h"
#include "engine/faces/http/message.h"
#include "engine/faces/http/resource.h"

namespace liststore::http_face {

struct SiteCall {
  const HttpRequest& request;
  // As whom statements are run.
  execute::ClientState& client;
  // What a handler has found out about the first statement where the loop began it; nullptr: nothing.
  std::shared_ptr<const execute::RequestMemo> memo;
};

// Any thread, for several clients at once; constant while the server runs.
class Site {
 public:
  virtual ~Site() = default;
  // What needs no statement and no client: answered on the loop, also where the server has too much
  // to do. nullopt: there is more to it.
  virtual std::optional<HttpAnswer> AnswerAtOnce(const HttpRequest& request) const = 0;
  // Whatever name the client calls the server by.
  virtual bool TakesAnyHost(const HttpRequest& request) const = 0;
  // AnswerOnLoop is worth a try.
  virtual bool MayAnswerOnLoop(const HttpRequest& /*request*/) const { return false; }
  // On the loop, where others wait: `call.client` has a place that defers. nullopt: it takes longer,
  // and nothing was done that may not be done again; Answer is called then.
  virtual std::optional<HttpAnswer> AnswerOnLoop(SiteCall& /*call*/) const { return std::nullopt; }
  // On a thread beside the loops.
  virtual HttpAnswer Answer(SiteCall& call) const = 0;
};

// Resources under their paths.
class ResourceSite final : public Site {
 public:
  explicit ResourceSite(std::vector<Resource> resources) : resources_(std::move(resources)) {}

  std::optional<HttpAnswer> AnswerAtOnce(const HttpRequest& request) const override;
  bool TakesAnyHost(const HttpRequest& request) const override;
  HttpAnswer Answer(SiteCall& call) const override;

 private:
  const Resources resources_;
};

}  // namespace liststore::http_face

#endif  // LISTSTORE_ENGINE_FACES_HTTP_SITE_H_

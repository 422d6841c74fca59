// DynamodbSite: DynamoDB's API as what a port of HTTP serves.
#ifndef LISTSTORE_ENGINE_FACES_DYNAMODB_DYNAMODB_SITE_H_
#define LISTSTORE_ENGINE_FACES_DYNAMODB_DYNAMODB_SITE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/cql/syntax/unsupported.h"
#include "engine/execute/request_handler.h"
#include "engine/faces/dynamodb/operation.h"
#include "engine/faces/dynamodb/signature.h"
#include "engine/faces/http/message.h"
#include "engine/faces/http/site.h"
#include "engine/model/schema.h"

namespace liststore::dynamodb_face {

// Everything outlives the site.
struct DynamodbParts {
  execute::RequestHandler& statements;
  std::function<std::shared_ptr<const Schema>()> schema;
  std::function<uint64_t()> now_nanos;
  // How often the data went back to what it was.
  std::function<uint64_t()> resets;
  std::function<void(cql::CqlFeature feature, std::string_view operation)> count_refused;
  // See Operations.
  uint64_t answer_bytes_max = UINT64_MAX;
  // Whose requests are taken; empty: everybody's, and signatures are not looked at.
  Credentials credentials = {};
  // Access keys are roles, by whose permissions statements are judged: whether the role may log in now. Empty: they
  // are none.
  std::function<bool(std::string_view role)> may_log_in = {};
};

// Source: DynamoDB's API reference, "DynamoDB low-level API".
class DynamodbSite final : public http_face::Site {
 public:
  // Of a request: a batch of 16 MB as Amazon counts, and its JSON around it.
  static constexpr uint64_t kBodyBytesMax = uint64_t{24} << 20;

  explicit DynamodbSite(DynamodbParts parts);

  // GET /, which says that it is there; what is no request of the API.
  std::optional<http_face::HttpAnswer> AnswerAtOnce(
      const http_face::HttpRequest& request) const override;
  // Programs call it by any name; pages in browsers say where they are from.
  bool TakesAnyHost(const http_face::HttpRequest& request) const override {
    return request.origin.empty();
  }
  bool MayAnswerOnLoop(const http_face::HttpRequest& request) const override;
  std::optional<http_face::HttpAnswer> AnswerOnLoop(http_face::SiteCall& call) const override;
  http_face::HttpAnswer Answer(http_face::SiteCall& call) const override;

 private:
  // nullopt: it is deferred.
  std::optional<http_face::HttpAnswer> Run(http_face::SiteCall& call) const;
  http_face::HttpAnswer ErrorAnswerOf(const Error& error, std::string_view members = {}) const;
  http_face::HttpAnswer BodyAnswer(int status, std::string body) const;
  std::string NewRequestId() const;

  const Credentials credentials_;
  const std::function<bool(std::string_view)> may_log_in_;
  // Its caches are its own affair.
  const std::unique_ptr<Operations> server_;
  mutable std::atomic<uint64_t> requests_{0};
  const uint64_t seed_;
};

}  // namespace liststore::dynamodb_face

#endif  // LISTSTORE_ENGINE_FACES_DYNAMODB_DYNAMODB_SITE_H_

#include "engine/serve/server_dynamodb.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/faces/dynamodb/dynamodb_site.h"
#include "engine/faces/dynamodb/signature.h"

namespace liststore {
namespace {

// For requests that take longer than a loop has.
constexpr uint32_t kDynamodbThreads = 4;
constexpr uint32_t kDynamodbHeaderBytesMax = 32 << 10;

}  // namespace

absl::StatusOr<std::unique_ptr<http_face::HttpFace>> OpenDynamodb(const std::string& address,
                                                                  uint16_t port,
                                                                  ServerDynamodbParts parts) {
  dynamodb_face::DynamodbParts site{
      .statements = parts.statements,
      .schema = [&engine = parts.engine] { return engine.catalog().snapshot(); },
      .now_nanos = [&clock = parts.clock] { return clock.NowNanos(); },
      .resets = std::move(parts.resets),
      .count_refused =
          [&tally = parts.tally, &clock = parts.clock](cql::CqlFeature feature,
                                                       std::string_view operation) {
            tally.Add(feature, operation, clock.NowNanos());
          },
      .answer_bytes_max = parts.result_bytes_max,
      .credentials = {},
      .may_log_in = {}};
  if (parts.roles != nullptr) {
    site.may_log_in = [&roles = *parts.roles](std::string_view name) {
      const std::shared_ptr<const roles::RoleState> state = roles.snapshot();
      const roles::Role* const role = state->Find(name);
      return role != nullptr && role->can_login;
    };
  }
  if (!parts.credentials.empty()) {
    std::string error;
    std::optional<dynamodb_face::Credentials> credentials =
        dynamodb_face::ParseCredentials(parts.credentials, &error);
    if (!credentials) {
      return absl::InvalidArgumentError(absl::StrCat("dynamodb_credentials: ", error));
    }
    site.credentials = *std::move(credentials);
  } else if (parts.roles != nullptr) {
    return absl::InvalidArgumentError(
        "dynamodb_port is given and clients log in, but there are no dynamodb_credentials that "
        "would say who asks there");
  }
  http_face::HttpFaceOptions http;
  http.address = address;
  http.port = port;
  http.protocol = "DynamoDB";
  http.tls = parts.tls;
  http.threads = kDynamodbThreads;
  http.result_bytes_max = parts.result_bytes_max;
  http.on_connection = std::move(parts.on_connection);
  http.limits.header_bytes_max = kDynamodbHeaderBytesMax;
  http.limits.body_bytes_max = dynamodb_face::DynamodbSite::kBodyBytesMax;
  http.limits.keeps_fields = true;
  return http_face::HttpFace::Open(parts.server, http,
                                   std::make_unique<dynamodb_face::DynamodbSite>(std::move(site)));
}

}  // namespace liststore

#include "engine/faces/dynamodb/dynamodb_site.h"

#include <random>
#include <utility>

#include "engine/base/random.h"
#include "engine/dynamodb/values/json.h"
#include "engine/faces/dynamodb/statement_runner.h"

namespace liststore::dynamodb_face {
namespace {

using http_face::HttpAnswer;
using http_face::HttpRequest;

constexpr std::string_view kVersion = "DynamoDB_20120810.";
constexpr std::string_view kStreamsVersion = "DynamoDBStreams_20120810.";
// A longer one takes milliseconds to read.
constexpr size_t kLoopBodyBytes = size_t{64} << 10;
// Values and names of one request: 12 bytes of a tree each.
constexpr size_t kJsonNodesMax = size_t{2} << 20;
// Of an operation whose tables change all the while.
constexpr int kBeginningsMax = 32;

std::string_view TargetOf(const HttpRequest& request) {
  return request.fields.Find("x-amz-target");
}

// "GetItem" of "DynamoDB_20120810.GetItem"; empty: of another API.
std::string_view OperationNameOf(std::string_view target) {
  for (const std::string_view version : {kVersion, kStreamsVersion}) {
    if (target.starts_with(version)) return target.substr(version.size());
  }
  return {};
}

uint64_t RandomSeed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

}  // namespace

DynamodbSite::DynamodbSite(DynamodbParts parts)
    : credentials_(std::move(parts.credentials)),
      may_log_in_(std::move(parts.may_log_in)),
      server_(new Operations{.statements = parts.statements,
                             .schema = std::move(parts.schema),
                             .now_nanos = std::move(parts.now_nanos),
                             .resets = std::move(parts.resets),
                             .count_refused = std::move(parts.count_refused),
                             .answer_bytes_max = parts.answer_bytes_max}),
      seed_(RandomSeed()) {}

// 52 letters and digits, as Amazon's are.
std::string DynamodbSite::NewRequestId() const {
  Random random(seed_ + requests_.fetch_add(1, std::memory_order_relaxed));
  std::string id;
  constexpr std::string_view kLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUV";
  while (id.size() < 52) {
    uint64_t bits = random.Next();
    for (int i = 0; i < 12 && id.size() < 52; ++i, bits >>= 5) id += kLetters[bits & 31];
  }
  return id;
}

HttpAnswer DynamodbSite::BodyAnswer(int status, std::string body) const {
  HttpAnswer answer;
  answer.status = status;
  answer.content_type = "application/x-amz-json-1.0";
  answer.body = std::move(body);
  answer.fields.emplace_back("x-amzn-RequestId", NewRequestId());
  return answer;
}

HttpAnswer DynamodbSite::ErrorAnswerOf(const Error& error, std::string_view members) const {
  std::string body = Cat("{\"__type\":\"", dynamodb::TypeOf(error.code), "\",\"message\":");
  // What CQL says has the client's own bytes in it, checked before.
  dynamodb::AppendJsonString(error.message, body);
  AppendTo(body, members, "}");
  return BodyAnswer(dynamodb::HttpStatusOf(error.code), std::move(body));
}

std::optional<HttpAnswer> DynamodbSite::AnswerAtOnce(const HttpRequest& request) const {
  if (request.method == "GET" || request.method == "HEAD") {
    if (request.path() == "/") {
      HttpAnswer answer;
      answer.content_type = "text/plain";
      answer.body = Cat("healthy: ", request.host, "\n");
      return answer;
    }
    return http_face::ErrorAnswer(404, "not_found",
                                  "There is GET / and DynamoDB's API by POST / here");
  }
  if (request.method != "POST") {
    return http_face::ErrorAnswer(405, "method_not_allowed", "/ takes GET and POST");
  }
  const std::string_view target = TargetOf(request);
  const std::string_view name = OperationNameOf(target);
  if (name.empty()) {
    return ErrorAnswerOf({ErrorCode::kUnknownOperation, "An unknown operation was requested."});
  }
  if (const std::optional<cql::CqlFeature> feature = RefusedOperation(name)) {
    const cql::CqlFeatureFacts& facts = cql::FactsOf(*feature);
    server_->count_refused(*feature, name);
    return ErrorAnswerOf(
        {ErrorCode::kUnknownOperation, Cat("liststore does not support ", facts.name, " (", name,
                                           "); instead: ", facts.instead, " [", facts.code, "]")});
  }
  if (FindOperation(name) == nullptr) {
    return ErrorAnswerOf({ErrorCode::kUnknownOperation, "An unknown operation was requested."});
  }
  return std::nullopt;
}

bool DynamodbSite::MayAnswerOnLoop(const HttpRequest& request) const {
  const Operation* const operation = FindOperation(OperationNameOf(TargetOf(request)));
  return operation != nullptr && operation->is_short && request.body.size() <= kLoopBodyBytes;
}

std::optional<HttpAnswer> DynamodbSite::AnswerOnLoop(http_face::SiteCall& call) const {
  return Run(call);
}

HttpAnswer DynamodbSite::Answer(http_face::SiteCall& call) const {
  std::optional<HttpAnswer> answer = Run(call);
  // Nothing is deferred beside the loops.
  if (!answer) return ErrorAnswerOf({ErrorCode::kInternalServerError, "The request was stopped"});
  return *std::move(answer);
}

std::optional<HttpAnswer> DynamodbSite::Run(http_face::SiteCall& call) const {
  const HttpRequest& request = call.request;
  if (!credentials_.empty()) {
    const ErrorOr<std::string> key = CheckSignature(request, credentials_);
    if (!key.ok()) return ErrorAnswerOf(key.error());
    // With each request: roles change.
    if (may_log_in_ && !may_log_in_(*key)) return ErrorAnswerOf(UnrecognizedClient());
    if (may_log_in_ && call.client.user != *key) {
      call.client.user = *key;
      call.client.has_logged_in = true;
      call.client.permissions = {};
      call.client.journal_client = nullptr;
    }
  }
  // Its strings are unescaped in place.
  ErrorOr<dynamodb::JsonDocument> document =
      dynamodb::JsonDocument::Parse(request.body, kJsonNodesMax);
  if (!document.ok()) return ErrorAnswerOf(document.error());
  if (!document->root().is_object()) {
    return ErrorAnswerOf({ErrorCode::kSerialization, "The body is no object of JSON"});
  }
  // Refusals of rate limits are to be told from other errors.
  call.client.extensions.rate_limit_error = true;
  StatementRunner run(server_->statements, call.client, std::move(call.memo));
  OperationCall operation{.server = *server_,
                          .run = run,
                          .request = document->root(),
                          .body = request.body,
                          .host = request.host};
  const OperationFunction function = FindOperation(OperationNameOf(TargetOf(request)))->function;
  ErrorOr<std::string> result = function(operation);
  for (int again = 0; run.TakeStale() && again < kBeginningsMax; ++again) {
    operation.error_members.clear();
    result = function(operation);
  }
  HttpAnswer answer;
  switch (run.stop()) {
    case StatementRunner::Stop::kDeferred:
      call.memo = run.TakeMemo();
      return std::nullopt;
    case StatementRunner::Stop::kWithheld:
      answer.is_withheld = true;
      break;
    case StatementRunner::Stop::kClosed:
      answer.is_withheld = answer.closes = true;
      break;
    case StatementRunner::Stop::kNo:
      answer = result.ok() ? BodyAnswer(200, *std::move(result))
                           : ErrorAnswerOf(result.error(), operation.error_members);
  }
  answer.delay = run.delay();
  answer.has_written = run.TakeHasWritten();
  return answer;
}

}  // namespace liststore::dynamodb_face

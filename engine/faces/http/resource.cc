#include "engine/faces/http/resource.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_join.h"
#include "engine/base/strings.h"
#include "engine/cql/values/json_value.h"
#include "engine/faces/http/text.h"

namespace liststore::http_face {
namespace {

// Of a path that is said again in an error.
constexpr size_t kSaidBytesMax = 256;

enum class Match : uint8_t {
  kNo,
  kYes,
  kBadName
};

// `pattern` ends with "{...}", or is the path.
Match MatchPath(std::string_view pattern, std::string_view path, std::string& name) {
  const size_t brace = pattern.find('{');
  if (brace == std::string_view::npos) return pattern == path ? Match::kYes : Match::kNo;
  if (!path.starts_with(pattern.substr(0, brace))) return Match::kNo;
  const std::string_view segment = path.substr(brace);
  if (segment.empty() || segment.find('/') != std::string_view::npos) return Match::kNo;
  std::optional<std::string> decoded = PercentDecoded(segment);
  if (!decoded) return Match::kBadName;
  name = *std::move(decoded);
  return Match::kYes;
}

bool Takes(const Resource& resource, std::string_view method) {
  const auto has = [&](std::string_view one) {
    return std::ranges::find(resource.methods, one) != resource.methods.end();
  };
  return has(method) || (method == "HEAD" && has("GET"));
}

std::string Allow(const std::vector<const Resource*>& resources) {
  std::vector<std::string> methods;
  for (const Resource* resource : resources) {
    for (const std::string& method : resource->methods) {
      methods.push_back(method);
      if (method == "GET") methods.emplace_back("HEAD");
    }
  }
  methods.emplace_back("OPTIONS");
  return absl::StrJoin(methods, ", ");
}

}  // namespace

Resources::Found Resources::Find(const HttpRequest& request) const {
  Found found;
  std::vector<const Resource*> at_path;
  for (const Resource& resource : resources_) {
    const Match match = MatchPath(resource.path, request.path(), found.name);
    if (match == Match::kBadName) {
      found.refusal = ErrorAnswer(400, "bad_path",
                                  "The path is not percent-encoded UTF-8: a % stands before two "
                                  "hexadecimal digits");
      return found;
    }
    if (match == Match::kNo) continue;
    if (Takes(resource, request.method)) {
      found.resource = &resource;
      return found;
    }
    at_path.push_back(&resource);
  }
  if (at_path.empty()) {
    found.refusal = NotFound(request.path());
    return found;
  }
  const std::string allow = Allow(at_path);
  if (request.method == "OPTIONS") {
    found.refusal.status = 204;
  } else {
    found.refusal = ErrorAnswer(405, "method_not_allowed",
                                Cat(FrontOf(request.path(), kSaidBytesMax), " takes ", allow));
  }
  found.refusal.fields.emplace_back("Allow", allow);
  return found;
}

HttpAnswer Resources::NotFound(std::string_view path) const {
  HttpAnswer answer;
  answer.status = 404;
  std::string said(path.substr(0, kSaidBytesMax));
  // As it was sent: maybe no text.
  std::ranges::replace_if(
      said, [](char c) { return static_cast<unsigned char>(c) >= 0x7f; }, '?');
  answer.body = Cat(R"({"error":{"status":404,"code":"not_found","message":)",
                    cql::QuoteJson(Cat("There is no ", said, "; `paths` is what there is")),
                    R"(},"paths":[)");
  const char* comma = "";
  for (const Resource& resource : resources_) {
    for (const std::string& method : resource.methods) {
      AppendTo(answer.body, std::exchange(comma, ","), R"({"method":")", method, R"(","path":)",
               cql::QuoteJson(resource.path), R"(,"summary":)", cql::QuoteJson(resource.summary),
               "}");
    }
  }
  answer.body += "]}\n";
  return answer;
}

}  // namespace liststore::http_face

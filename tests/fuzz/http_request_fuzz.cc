// A client's bytes over HTTP: the first two say how they are cut, and the limits; the rest is the stream.
// Requests are the same however the stream is cut, nothing is held beyond the limits, and what is found
// for a request can be written down.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/output_buffer.h"
#include "engine/base/utf8.h"
#include "engine/faces/http/request_parser.h"
#include "engine/faces/http/resource.h"

namespace liststore::http_face {
namespace {

const Resources& All() {
  static const Resources kAll = [] {
    std::vector<Resource> all;
    const auto nothing = [](const HttpCall&) { return HttpAnswer(); };
    all.push_back({"/health", {"GET"}, "", true, nothing});
    all.push_back({"/api/faults", {"GET", "POST"}, "", false, nothing});
    all.push_back({"/api/faults/{name}", {"DELETE"}, "", false, nothing});
    return Resources(std::move(all));
  }();
  return kAll;
}

std::vector<std::string> Parse(std::string_view stream, size_t step, const HttpLimits& limits) {
  std::vector<std::string> seen;
  RequestParser parser(limits);
  std::string waiting;
  for (size_t at = 0; at < stream.size(); at += step) {
    waiting += stream.substr(at, step);
    while (!waiting.empty()) {
      size_t consumed = 0;
      HttpRequest request;
      const RequestParser::Outcome outcome = parser.Next(waiting, consumed, request);
      LS_CHECK(consumed <= waiting.size(), "no more is taken than there is");
      // Of each byte of a header 24, and what one call has taken beyond the limit.
      LS_CHECK(parser.held_bytes() <=
                   (1 + 24 * 3) * limits.header_bytes_max + 2 * limits.body_bytes_max + 4096,
               "what is held is within the limits");
      waiting.erase(0, consumed);
      if (outcome == RequestParser::Outcome::kIncomplete) break;
      if (outcome == RequestParser::Outcome::kRefused) {
        LS_CHECK(parser.refusal().status >= 400, "a refusal is an error");
        // Which limit is met first may depend on how much has come.
        seen.emplace_back("refused");
        return seen;
      }
      LS_CHECK(request.body.size() <= limits.body_bytes_max, "bodies are within the limit");
      size_t field_bytes = 0;
      request.fields.ForEach([&](std::string_view name, std::string_view value) {
        field_bytes += name.size() + value.size() + 2;
      });
      LS_CHECK(field_bytes <= request.fields.held_bytes(), "fields are what is held of them");
      const Resources::Found found = All().Find(request);
      LS_CHECK(IsValidUtf8(found.name) && IsValidUtf8(found.refusal.body), "answers are texts");
      (void)QueryParameters(request.query());
      OutputBuffer out;
      AppendAnswerHeader(found.refusal, request, false, out);
      LS_CHECK(out.view().ends_with("\r\n\r\n"), "a header has an end");
      seen.push_back(request.method + " " + request.target + "\n" + request.body);
    }
    LS_CHECK(waiting.size() <= limits.header_bytes_max + step, "what is not taken is bounded");
  }
  return seen;
}

}  // namespace
}  // namespace liststore::http_face

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace liststore::http_face;
  if (size < 2) return 0;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 2, size - 2);
  const HttpLimits limits = {.header_bytes_max = 64u + 16u * (data[1] % 64),
                             .body_bytes_max = 1u << (data[1] / 16),
                             .keeps_fields = data[0] >= 128};
  const size_t step = 1 + data[0] % 64;
  auto whole = Parse(stream, std::max<size_t>(stream.size(), 1), limits);
  auto cut = Parse(stream, step, limits);
  // What has not ended may be seen to be none by one of them already.
  auto& longer = whole.size() > cut.size() ? whole : cut;
  const auto& shorter = whole.size() > cut.size() ? cut : whole;
  if (longer.size() == shorter.size() + 1 && longer.back() == "refused") longer.pop_back();
  LS_CHECK(whole == cut, "requests are the same however they are cut");
  return 0;
}

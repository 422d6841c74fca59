#include "engine/faces/http/page.h"

#include <string>

#include "absl/strings/ascii.h"
#include "engine/base/strings.h"
#include "engine/faces/http/text.h"

namespace liststore::http_face {
namespace {

// RFC 9110, 13.1.2: `field` is "*", or a list that has `tag`, weak or not.
bool Names(std::string_view field, std::string_view tag) {
  while (!field.empty()) {
    const size_t comma = field.find(',');
    std::string_view one = field.substr(0, comma);
    field.remove_prefix(comma == std::string_view::npos ? field.size() : comma + 1);
    const auto stripped = absl::StripAsciiWhitespace(ToAbsl(one));
    one = {stripped.data(), stripped.size()};
    if (one.starts_with("W/")) one.remove_prefix(2);
    if (one == tag || one == "*") return true;
  }
  return false;
}

// Its own style and script by their hashes, its own server, and nothing else: text of a row that came to
// be HTML would be dead, and the browser lets no script make HTML of text.
std::string Policy() {
  return Cat("default-src 'none'; script-src '", kPageScriptHash, "'; style-src '", kPageStyleHash,
             "'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
             "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'");
}

HttpAnswer AnswerPage(const HttpCall& call) {
  const std::string tag = Cat("\"", kPageHash.substr(0, 32), "\"");
  HttpAnswer answer;
  // Kept by the browser alone, which asks each time whether it is still the one.
  answer.cache_control = "private, no-cache";
  answer.fields = {{"ETag", tag},
                   {"Content-Security-Policy", Policy()},
                   {"Referrer-Policy", "no-referrer"},
                   {"X-Frame-Options", "DENY"}};
  if (Names(call.request.if_none_match, tag)) {
    answer.status = 304;
    return answer;
  }
  answer.content_type = "text/html; charset=utf-8";
  answer.body = kPageHtml;
  return answer;
}

}  // namespace

Resource PageResource() {
  return {.path = "/",
          .methods = {"GET"},
          .summary = "A page for people: charts, tables, journal, faults, clock and CQL",
          .answer = AnswerPage};
}

}  // namespace liststore::http_face

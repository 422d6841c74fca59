#include "engine/faces/http/request_parser.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <string>
#include <utility>

#include "engine/faces/http/text.h"

namespace liststore::http_face {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

std::string TextOf(beast::string_view text) { return {text.data(), text.size()}; }

// What is held for a byte of fields at most: the shortest field has four, and an entry of a list and
// of a tree.
constexpr size_t kHeldForHeaderByte = 24;

}  // namespace

struct RequestParser::State {
  http::request_parser<http::string_body> parser;
  bool has_begun = false;
  bool was_continued = false;
  size_t header_bytes = 0;  // that are taken of it
};

RequestParser::RequestParser(const HttpLimits& limits) : limits_(limits) {}
RequestParser::~RequestParser() = default;

RequestParser::Outcome RequestParser::Next(std::string_view received, size_t& consumed,
                                           HttpRequest& request) {
  consumed = 0;
  if (received.empty()) return Outcome::kIncomplete;
  if (state_ == nullptr) {
    state_ = std::make_unique<State>();
    state_->parser.header_limit(limits_.header_bytes_max);
    state_->parser.body_limit(limits_.body_bytes_max);
  }
  auto& parser = state_->parser;
  state_->has_begun = true;
  while (!parser.is_done() && consumed < received.size()) {
    beast::error_code error;
    const std::string_view rest = received.substr(consumed);
    const bool had_header = parser.is_header_done();
    const size_t taken = parser.put(boost::asio::const_buffer(rest.data(), rest.size()), error);
    consumed += taken;
    // The parser's own limit is of one call. Whole lines that come one by one add up here.
    if (!had_header) {
      state_->header_bytes += taken;
      if (state_->header_bytes > limits_.header_bytes_max) error = http::error::header_limit;
      // Before that a call ends with the header, so that it is known how long it is.
      if (parser.is_header_done()) parser.eager(true);
      if (!error && parser.is_header_done() && !HasPlainBody()) return Outcome::kRefused;
    }
    if (error == http::error::need_more) {
      // A line that is longer than all may be is refused, however slowly it comes.
      if (received.size() - consumed > limits_.header_bytes_max)
        error = http::error::header_limit;
      else if (taken == 0)
        break;
      else
        continue;
    }
    if (error) {
      Refuse(error.category() == make_error_code(http::error::bad_method).category()
                 ? error.value()
                 : static_cast<int>(http::error::bad_value));
      return Outcome::kRefused;
    }
    if (taken == 0) break;
  }
  if (!parser.is_done()) return Outcome::kIncomplete;
  if (IsAmbiguous()) return Outcome::kRefused;
  auto message = parser.release();
  request = {};
  request.method = TextOf(message.method_string());
  request.target = TextOf(message.target());
  request.is_http_1_0 = message.version() < 11;
  request.keeps_alive = message.keep_alive();
  request.authorization = TextOf(message[http::field::authorization]);
  request.content_type = TextOf(message[http::field::content_type]);
  request.origin = TextOf(message[http::field::origin]);
  request.host = TextOf(message[http::field::host]);
  request.if_none_match = TextOf(message[http::field::if_none_match]);
  if (limits_.keeps_fields) {
    for (const auto& field : message) {
      request.fields.Add(TextOf(field.name_string()), TextOf(field.value()));
    }
  }
  request.body = std::move(message.body());
  state_.reset();
  return Outcome::kRequest;
}

bool RequestParser::is_begun() const { return state_ != nullptr && state_->has_begun; }

bool RequestParser::TakeContinue() {
  if (state_ == nullptr || state_->was_continued || !state_->parser.is_header_done()) return false;
  const auto& message = state_->parser.get();
  if (message.version() < 11 || !beast::iequals(message[http::field::expect], "100-continue")) {
    return false;
  }
  state_->was_continued = true;
  return true;
}

size_t RequestParser::held_bytes() const {
  if (state_ == nullptr) return 0;
  return sizeof(State) + limits_.header_bytes_max + kHeldForHeaderByte * state_->header_bytes +
         state_->parser.get().body().capacity();
}

// Beast 1.81 ends the process, where it has its assertions, on some bodies of chunks that come in small
// pieces; clients of a body of 64 KiB know its length.
bool RequestParser::HasPlainBody() {
  if (state_->parser.get().count(http::field::transfer_encoding) == 0) return true;
  refusal_ = ErrorAnswer(411, "length_required",
                         "Bodies come with Content-Length, and not by Transfer-Encoding");
  return false;
}

bool RequestParser::IsAmbiguous() {
  if (state_->parser.get().count(http::field::host) <= 1) return false;
  refusal_ = ErrorAnswer(400, "bad_request", "Host is given twice; send it once");
  return true;
}

void RequestParser::Refuse(int code) {
  switch (static_cast<http::error>(code)) {
    case http::error::header_limit:
      refusal_ = ErrorAnswer(431, "header_too_large",
                             Cat("The request line and fields have more than ",
                                 limits_.header_bytes_max, " bytes; send fewer or shorter fields"));
      return;
    case http::error::body_limit:
    case http::error::buffer_overflow:
      refusal_ = ErrorAnswer(413, "body_too_large",
                             Cat("The body has more than ", limits_.body_bytes_max,
                                 " bytes; send it in several requests, or over CQL"));
      return;
    case http::error::bad_version:
      refusal_ = ErrorAnswer(505, "bad_version", "HTTP/1.1 and HTTP/1.0 are spoken here");
      return;
    default:
      refusal_ = ErrorAnswer(400, "bad_request",
                             Cat("This is no request of HTTP/1.1: ",
                                 http::make_error_code(static_cast<http::error>(code)).message()));
  }
}

void AppendAnswerHeader(const HttpAnswer& answer, const HttpRequest& request, bool ends,
                        OutputBuffer& out) {
  std::string header =
      Cat("HTTP/1.1 ", answer.status, " ",
          TextOf(http::obsolete_reason(static_cast<http::status>(answer.status))), "\r\n");
  if (!answer.body.empty()) AppendTo(header, "Content-Type: ", answer.content_type, "\r\n");
  // 204 and 304 say themselves that there is no body.
  if (answer.status != 204 && answer.status != 304) {
    AppendTo(header, "Content-Length: ", answer.body.size(), "\r\n");
  }
  AppendTo(header, "Cache-Control: ", answer.cache_control,
           "\r\nX-Content-Type-Options: nosniff\r\n");
  for (const auto& [name, value] : answer.fields) {
    AppendTo(header, name, ": ", value, "\r\n");
  }
  if (ends) {
    header += "Connection: close\r\n";
  } else if (request.is_http_1_0) {
    header += "Connection: keep-alive\r\n";
  }
  header += "\r\n";
  out.Append(header);
}

}  // namespace liststore::http_face

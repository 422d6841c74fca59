// RequestParser: the bytes of a client -> requests, and answers -> bytes.
#ifndef LISTSTORE_ENGINE_FACES_HTTP_REQUEST_PARSER_H_
#define LISTSTORE_ENGINE_FACES_HTTP_REQUEST_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/base/output_buffer.h"
#include "engine/faces/http/message.h"

namespace liststore::http_face {

// Owned by a session. Bytes are taken as they come: what it holds of a request is within the limits,
// and what is left to the caller is less than a line. Linear in the bytes, however they are cut.
class RequestParser {
 public:
  enum class Outcome : uint8_t {
    kIncomplete,
    kRequest,  // whole
    kRefused,  // `refusal()` says why; nothing else can be read
  };

  explicit RequestParser(const HttpLimits& limits);
  ~RequestParser();

  // Takes what it can of the front of `received`, `consumed` bytes, up to the end of one request.
  Outcome Next(std::string_view received, size_t& consumed, HttpRequest& request);
  // 400, 413, 417, 431 or 505, with the limit named where it is one.
  const HttpAnswer& refusal() const { return refusal_; }
  // Something of a request has come, and not all.
  bool is_begun() const;
  // Once for each request: its client waits to be told that it may send the body.
  bool TakeContinue();
  // Of the request that has begun.
  size_t held_bytes() const;

 private:
  struct State;

  // Of a request that has come whole: what may be read as two different ones.
  bool IsAmbiguous();
  // False: it is refused.
  bool HasPlainBody();
  void Refuse(int code);

  const HttpLimits limits_;
  std::unique_ptr<State> state_;  // nullptr: nothing has begun
  HttpAnswer refusal_;
};

// A status line, fields and, unless it answers HEAD, the body. `ends`: the connection is closed
// behind it.
void AppendAnswerHeader(const HttpAnswer& answer, const HttpRequest& request, bool ends,
                        OutputBuffer& out);
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace liststore::http_face

#endif  // LISTSTORE_ENGINE_FACES_HTTP_REQUEST_PARSER_H_

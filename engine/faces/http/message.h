// HttpRequest and HttpAnswer: what a client asks, and what it gets, without bytes of the wire.
#ifndef LISTSTORE_ENGINE_FACES_HTTP_MESSAGE_H_
#define LISTSTORE_ENGINE_FACES_HTTP_MESSAGE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace liststore::http_face {

// What a request may bring, in bytes. What is more is refused before it is held.
struct HttpLimits {
  // The request line and all fields. Answered 431.
  uint32_t header_bytes_max = 16 << 10;
  // Answered 413. A statement of so many bytes takes some 20 MiB while it is planned.
  uint64_t body_bytes_max = 64 << 10;
  // Requests have all their fields, and not those alone that HttpRequest names.
  bool keeps_fields = false;
};

// All fields of a request, in their order: names in lower case, values without blanks around them. In one text, so
// that they take no more than they came with.
class HttpFields {
 public:
  void Add(std::string_view name, std::string_view value);
  // Calls `visit(name, value)` for each.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    std::string_view rest = text_;
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find(':'));
      rest.remove_prefix(name.size() + 1);
      const std::string_view value = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(value.size() + 1);
      visit(name, value);
    }
  }
  // Of the first of that name, in lower case; empty: there is none. O(bytes up to it).
  std::string_view Find(std::string_view name) const;
  bool empty() const { return text_.empty(); }
  size_t held_bytes() const { return text_.capacity(); }

 private:
  std::string text_;  // "name:value\n" each: neither can have what ends it
};

struct HttpRequest {
  std::string method;  // "GET"
  std::string target;  // "/api/faults?limit=3", as it was sent
  bool is_http_1_0 = false;
  bool keeps_alive = true;
  std::string authorization;  // of fields their values; empty: not sent
  std::string content_type;
  std::string origin;
  std::string host;
  std::string if_none_match;
  HttpFields fields;  // where HttpLimits::keeps_fields
  std::string body;

  // Of the target: what stands before a '?', and behind it.
  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
  std::string_view query() const {
    const size_t mark = target.find('?');
    return mark == std::string::npos ? std::string_view()
                                     : std::string_view(target).substr(mark + 1);
  }
};

struct HttpAnswer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  // Of Cache-Control: figures are kept by nobody.
  std::string cache_control = "no-store";
  // Further fields, without line ends.
  std::vector<std::pair<std::string, std::string>> fields;
  // That it waits for once it is there.
  std::chrono::nanoseconds delay{0};
  // The connection ends: behind it, or without it.
  bool closes = false;
  bool is_withheld = false;
  // Something was written that it speaks of.
  bool has_written = false;
};

// {"error":{"status":404,"code":"not_found","message":"..."}}
HttpAnswer ErrorAnswer(int status, std::string_view code, std::string_view message);

// "%2F" -> "/"; nullopt: not so written, or no UTF-8. '+' stays what it is.
std::optional<std::string> PercentDecoded(std::string_view text);
// "limit=3&name=a%20b" in its order; nullopt: as above. What has no '=' has an empty value.
std::optional<std::vector<std::pair<std::string, std::string>>> QueryParameters(
    std::string_view query);

}  // namespace liststore::http_face

#endif  // LISTSTORE_ENGINE_FACES_HTTP_MESSAGE_H_

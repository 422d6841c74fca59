// HttpClient: a client of HTTP/1.1 that sends any bytes and reads whole answers.
#ifndef LISTSTORE_TESTS_FACES_HTTP_HTTP_CLIENT_H_
#define LISTSTORE_TESTS_FACES_HTTP_HTTP_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tests/support/raw_cql_client.h"

namespace liststore::testing {

struct HttpReply {
  int status = 0;
  std::map<std::string, std::string> fields;  // names in lower case
  std::string body;
};

// Takes one answer from the front of `bytes`; nullopt: it is not whole.
std::optional<HttpReply> TakeReply(std::string& bytes, bool is_of_head = false);

// One connection. Blocks as RawCqlClient does. One thread.
class HttpClient {
 public:
  explicit HttpClient(uint16_t port) : raw_(port) {}

  // "GET /health" and further lines, without line ends.
  static std::string Text(std::string_view method_and_target, std::string_view body = {},
                          std::string_view more_fields = {});
  bool Send(std::string_view bytes) { return raw_.Send(bytes); }
  // The next answer; its status is 0 where the connection has ended before.
  HttpReply Read(bool is_of_head = false);
  HttpReply Ask(std::string_view method_and_target, std::string_view body = {},
                std::string_view more_fields = {});
  // Nothing more comes: the server has ended it.
  bool HasEnded() { return received_.empty() && !raw_.ReadSome(); }
  RawCqlClient& raw() { return raw_; }

 private:
  RawCqlClient raw_;
  std::string received_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_FACES_HTTP_HTTP_CLIENT_H_

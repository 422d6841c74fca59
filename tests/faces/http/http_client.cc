#include "tests/faces/http/http_client.h"

#include <cctype>
#include <cstdlib>

namespace liststore::testing {

std::optional<HttpReply> TakeReply(std::string& bytes, bool is_of_head) {
  const size_t end = bytes.find("\r\n\r\n");
  if (end == std::string::npos) return std::nullopt;
  HttpReply reply;
  reply.status = std::atoi(bytes.substr(std::string_view("HTTP/1.1 ").size()).c_str());
  for (size_t at = bytes.find("\r\n"); at < end;) {
    const size_t line_end = bytes.find("\r\n", at + 2);
    const std::string line = bytes.substr(at + 2, line_end - at - 2);
    const size_t colon = line.find(": ");
    std::string name = line.substr(0, colon);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    reply.fields[name] = line.substr(colon + 2);
    at = line_end;
  }
  const bool has_body = !is_of_head && reply.fields.contains("content-length");
  const size_t body_bytes =
      has_body ? std::strtoull(reply.fields["content-length"].c_str(), nullptr, 10) : 0;
  if (bytes.size() < end + 4 + body_bytes) return std::nullopt;
  reply.body = bytes.substr(end + 4, body_bytes);
  bytes.erase(0, end + 4 + body_bytes);
  return reply;
}

std::string HttpClient::Text(std::string_view method_and_target, std::string_view body,
                             std::string_view more_fields) {
  std::string text(method_and_target);
  text += " HTTP/1.1\r\nHost: localhost\r\n";
  if (!body.empty()) {
    text +=
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  }
  text += more_fields;
  text += "\r\n";
  text += body;
  return text;
}

HttpReply HttpClient::Read(bool is_of_head) {
  while (true) {
    if (std::optional<HttpReply> reply = TakeReply(received_, is_of_head)) return *reply;
    const std::optional<std::string> more = raw_.ReadSome();
    if (!more) return {};
    received_ += *more;
  }
}

HttpReply HttpClient::Ask(std::string_view method_and_target, std::string_view body,
                          std::string_view more_fields) {
  if (!Send(Text(method_and_target, body, more_fields))) return {};
  return Read(method_and_target.starts_with("HEAD"));
}

}  // namespace liststore::testing

#include "tests/support/raw_cql_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "gtest/gtest.h"

namespace liststore::testing {
namespace {

constexpr size_t kHeaderBytes = 9;
constexpr int kTimeoutSeconds = 20;

void AppendShort(std::string& to, size_t value) {
  LS_CHECK(value <= 0xffff, "a [short] has 16 bits");
  char bytes[2];
  StoreBigEndian16(bytes, static_cast<uint16_t>(value));
  to.append(bytes, sizeof(bytes));
}

void AppendInt(std::string& to, size_t value) {
  char bytes[4];
  StoreBigEndian32(bytes, static_cast<uint32_t>(value));
  to.append(bytes, sizeof(bytes));
}

void AppendString(std::string& to, std::string_view text) {
  AppendShort(to, text.size());
  to += text;
}

union Address {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

socklen_t MakeAddress(const std::string& text, uint16_t port, Address& address) {
  std::memset(&address, 0, sizeof(address));
  if (inet_pton(AF_INET, text.c_str(), &address.v4.sin_addr) == 1) {
    address.v4.sin_family = AF_INET;
    address.v4.sin_port = htons(port);
    return sizeof(address.v4);
  }
  LS_CHECK(inet_pton(AF_INET6, text.c_str(), &address.v6.sin6_addr) == 1,
           "a test names an IPv4 or IPv6 address");
  address.v6.sin6_family = AF_INET6;
  address.v6.sin6_port = htons(port);
  return sizeof(address.v6);
}

}  // namespace

std::string RawFrame::Bytes() const {
  std::string bytes(kHeaderBytes, '\0');
  bytes[0] = static_cast<char>(version);
  bytes[1] = static_cast<char>(flags);
  StoreBigEndian16(bytes.data() + 2, static_cast<uint16_t>(stream));
  bytes[4] = static_cast<char>(opcode);
  StoreBigEndian32(bytes.data() + 5, static_cast<uint32_t>(body.size()));
  return bytes + body;
}

std::string StartupBody(const std::vector<std::pair<std::string, std::string>>& options) {
  std::string body;
  AppendShort(body, options.size());
  for (const auto& [key, value] : options) {
    AppendString(body, key);
    AppendString(body, value);
  }
  return body;
}

std::string QueryBody(std::string_view text) {
  std::string body;
  AppendInt(body, text.size());
  body += text;
  AppendShort(body, 1);  // consistency ONE
  body += '\0';          // no flags
  return body;
}

std::string StringListBody(const std::vector<std::string>& texts) {
  std::string body;
  AppendShort(body, texts.size());
  for (const std::string& text : texts) AppendString(body, text);
  return body;
}

std::string BytesBody(std::string_view bytes) {
  std::string body;
  AppendInt(body, bytes.size());
  body += bytes;
  return body;
}

int32_t ErrorCodeOf(const RawFrame& frame) {
  LS_CHECK(frame.opcode == 0 && frame.body.size() >= 6, "the frame is an ERROR");
  return static_cast<int32_t>(LoadBigEndian32(frame.body.data()));
}

std::string ErrorMessageOf(const RawFrame& frame) {
  LS_CHECK(frame.opcode == 0 && frame.body.size() >= 6, "the frame is an ERROR");
  return frame.body.substr(6, LoadBigEndian16(frame.body.data() + 4));
}

std::vector<std::string> OneColumnOf(const RawFrame& frame) {
  constexpr uint8_t kResultOpcode = 0x08;
  EXPECT_EQ(frame.opcode, kResultOpcode) << (frame.opcode == 0 ? ErrorMessageOf(frame) : "");
  if (frame.opcode != kResultOpcode) return {};
  std::string_view body = frame.body;
  body.remove_prefix(4 + 4 + 4);  // the kind, the flags, how many columns
  for (int name = 0; name < 3; ++name) body.remove_prefix(2 + LoadBigEndian16(body.data()));
  body.remove_prefix(2);  // its type
  std::vector<std::string> rows(LoadBigEndian32(body.data()));
  body.remove_prefix(4);
  for (std::string& row : rows) {
    const auto length = static_cast<int32_t>(LoadBigEndian32(body.data()));
    body.remove_prefix(4);
    if (length < 0) continue;
    row = body.substr(0, static_cast<size_t>(length));
    body.remove_prefix(static_cast<size_t>(length));
  }
  return rows;
}

RawCqlClient::RawCqlClient(uint16_t port, const std::string& address, uint16_t source_port,
                           int receive_buffer_bytes) {
  Address to;
  const socklen_t length = MakeAddress(address, port, to);
  fd_ = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  LS_CHECK(fd_ >= 0, "a socket can be made");
  SetTimeout(kTimeoutSeconds);
  const int one = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  if (receive_buffer_bytes != 0) {
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof(receive_buffer_bytes));
  }
  if (source_port != 0) {
    Address from;
    const socklen_t from_length = MakeAddress(address, source_port, from);
    setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    LS_CHECK(bind(fd_, &from.any, from_length) == 0, "the source port is free");
  }
  LS_CHECK(connect(fd_, &to.any, length) == 0, "the server listens");
}

void RawCqlClient::SetTimeout(int seconds) {
  const timeval timeout{seconds, 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
}

RawCqlClient::~RawCqlClient() { Close(); }

RawCqlClient::RawCqlClient(RawCqlClient&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      bears_lateness_(other.bears_lateness_),
      is_late_(other.is_late_) {}

void RawCqlClient::BeLate(const char* expectation) {
  LS_CHECK(bears_lateness_, expectation);
  is_late_ = true;
}

bool RawCqlClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) BeLate("the server reads in time");
      return false;
    }
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

size_t RawCqlClient::SendSome(std::string_view bytes) {
  const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent < 0 ? 0 : static_cast<size_t>(sent);
}

bool RawCqlClient::ReadExactly(char* to, size_t bytes) {
  while (bytes > 0) {
    const ssize_t received = recv(fd_, to, bytes, 0);
    // With a timeout, also when the process was stopped and goes on.
    if (received < 0 && errno == EINTR) continue;
    if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      BeLate("the server answers in time");
    }
    if (received <= 0) return false;
    to += received;
    bytes -= static_cast<size_t>(received);
  }
  return true;
}

bool RawCqlClient::HasAnswer() const {
  pollfd socket{.fd = fd_, .events = POLLIN, .revents = 0};
  return poll(&socket, 1, 0) > 0;
}

std::optional<RawFrame> RawCqlClient::Read() {
  char header[kHeaderBytes];
  if (!ReadExactly(header, sizeof(header))) return std::nullopt;
  RawFrame frame;
  frame.version = static_cast<uint8_t>(header[0]);
  frame.flags = static_cast<uint8_t>(header[1]);
  frame.stream = static_cast<int16_t>(LoadBigEndian16(header + 2));
  frame.opcode = static_cast<uint8_t>(header[4]);
  frame.body.resize(LoadBigEndian32(header + 5));
  if (!ReadExactly(frame.body.data(), frame.body.size())) return std::nullopt;
  return frame;
}

std::optional<std::string> RawCqlClient::ReadBytes(size_t bytes) {
  std::string read(bytes, '\0');
  if (!ReadExactly(read.data(), bytes)) return std::nullopt;
  return read;
}

std::optional<std::string> RawCqlClient::ReadSome() {
  std::string bytes(size_t{64} << 10, '\0');
  ssize_t received;
  do {
    received = recv(fd_, bytes.data(), bytes.size(), 0);
  } while (received < 0 && errno == EINTR);
  if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    BeLate("the server answers in time");
  if (received <= 0) return std::nullopt;
  bytes.resize(static_cast<size_t>(received));
  return bytes;
}

std::string RawCqlClient::ReadAll() {
  std::string all;
  char byte;
  while (ReadExactly(&byte, 1)) all += byte;
  return all;
}

std::optional<RawFrame> RawCqlClient::Ask(const RawFrame& frame) {
  if (!Send(frame)) return std::nullopt;
  return Read();
}

bool RawCqlClient::StartUp(const std::vector<std::pair<std::string, std::string>>& options) {
  const auto answer = Ask({.opcode = 0x01, .body = StartupBody(options)});
  return answer && answer->opcode == 0x02;
}

std::optional<RawFrame> RawCqlClient::Query(std::string_view text, int16_t stream) {
  return Ask({.stream = stream, .opcode = 0x07, .body = QueryBody(text)});
}

void RawCqlClient::ShutDownWrites() { shutdown(fd_, SHUT_WR); }

void RawCqlClient::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

uint16_t RawCqlClient::source_port() const {
  Address address;
  socklen_t length = sizeof(address);
  LS_CHECK(getsockname(fd_, &address.any, &length) == 0, "a connected socket has an address");
  return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}

}  // namespace liststore::testing

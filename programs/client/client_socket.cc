#include "programs/client/client_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/loopback_congestion.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"

namespace liststore {
namespace {

// To begin with: a connection that stays idle costs no more.
constexpr size_t kReceiveBytes = size_t{4} << 10;

struct AddressParts {
  std::string host;
  std::string port;
};

// getaddrinfo() takes a number of more than 16 bits for another port.
bool IsPort(std::string_view text) {
  uint32_t port = 0;
  return absl::SimpleAtoi(ToAbsl(text), &port) && port > 0 && port <= 0xffff;
}

absl::StatusOr<AddressParts> Split(std::string_view server) {
  const size_t colon = server.rfind(':');
  std::string_view host = server.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    host = {};
  }
  if (colon == std::string_view::npos || host.empty() || !IsPort(server.substr(colon + 1))) {
    return absl::InvalidArgumentError(absl::StrCat("'", ToAbsl(server), "' is not HOST:PORT"));
  }
  return AddressParts{std::string(host), std::string(server.substr(colon + 1))};
}

}  // namespace

ClientSocket::ClientSocket(std::string_view server, int fd)
    : server_(server), fd_(fd), received_(kReceiveBytes) {}

ClientSocket::~ClientSocket() { close(fd_); }

absl::StatusOr<std::unique_ptr<ClientSocket>> ClientSocket::Connect(std::string_view server,
                                                                    const ClientTlsOptions& tls) {
  LS_ASSIGN_OR_RETURN(const AddressParts parts, Split(server));
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  int failure = getaddrinfo(parts.host.c_str(), parts.port.c_str(), &hints, &found);
  // RFC 6761, 6.3: what that name means needs no /etc/hosts and no DNS. A container of a program alone has neither.
  if (failure != 0 && parts.host == "localhost") {
    failure = getaddrinfo("127.0.0.1", parts.port.c_str(), &hints, &found);
  }
  if (failure != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot find ", ToAbsl(server), ": ", gai_strerror(failure)));
  }
  int fd = -1;
  int error = 0;
  for (const addrinfo* at = found; at != nullptr && fd < 0; at = at->ai_next) {
    const int candidate = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (candidate >= 0 && connect(candidate, at->ai_addr, at->ai_addrlen) == 0) {
      fd = candidate;
      break;
    }
    error = errno;
    if (candidate >= 0) close(candidate);
  }
  freeaddrinfo(found);
  if (fd < 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot connect to ", ToAbsl(server), ": ", strerror(error)));
  }
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  UseLoopbackCongestion(fd);
  std::unique_ptr<ClientSocket> connected(new ClientSocket(server, fd));
  connected->SetTimeout(kTimeout);
  if (tls.IsWanted()) LS_RETURN_IF_ERROR(connected->ShakeHands(tls, parts.host));
  return connected;
}

void ClientSocket::SetTimeout(std::chrono::seconds timeout) {
  timeout_ = timeout;
  const timeval value{static_cast<time_t>(timeout.count()), 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &value, sizeof(value));
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &value, sizeof(value));
}

absl::Status ClientSocket::ShakeHands(const ClientTlsOptions& options, const std::string& host) {
  LS_ASSIGN_OR_RETURN(tls_, ClientTls::Create(options, host));
  std::vector<char> bytes(kReceiveBytes);
  while (true) {
    const absl::StatusOr<bool> is_done = tls_->ShakeHands();
    // An alert says why, if there is one.
    const absl::Status sent = SendBytes(tls_->TakeOutput());
    if (!is_done.ok()) return Named(is_done.status());
    LS_RETURN_IF_ERROR(sent);
    if (*is_done) return absl::OkStatus();
    LS_ASSIGN_OR_RETURN(const size_t count, ReceiveBytes(bytes.data(), bytes.size()));
    tls_->Give({bytes.data(), count});
  }
}

absl::Status ClientSocket::Named(const absl::Status& status) const {
  return absl::Status(status.code(), absl::StrCat(server_, ": ", status.message()));
}

absl::Status ClientSocket::Lost(const char* what, int error) const {
  if (error == EAGAIN || error == EWOULDBLOCK) {
    return absl::DeadlineExceededError(
        absl::StrCat(server_, ": ", what, ": nothing for ", timeout_.count(), " s"));
  }
  return absl::UnavailableError(
      absl::StrCat(server_, ": ", what, ": ", error == 0 ? "connection closed" : strerror(error)));
}

absl::Status ClientSocket::Send(std::string_view bytes) {
  if (tls_ == nullptr) return SendBytes(bytes);
  const absl::StatusOr<std::string_view> encrypted = tls_->Encrypt(bytes);
  return encrypted.ok() ? SendBytes(*encrypted) : Named(encrypted.status());
}

absl::Status ClientSocket::SendBytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return Lost("sending", errno);
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> ClientSocket::ReceiveBytes(char* to, size_t bytes) {
  ssize_t count;
  do {
    count = recv(fd_, to, bytes, 0);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return Lost("receiving", count == 0 ? 0 : errno);
  return static_cast<size_t>(count);
}

absl::Status ClientSocket::Receive() {
  if (begin_ > 0) {
    std::copy(received_.begin() + static_cast<ptrdiff_t>(begin_),
              received_.begin() + static_cast<ptrdiff_t>(end_), received_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  LS_DCHECK(end_ < received_.size(), "there is room to read into");
  if (tls_ != nullptr) return ReceiveTls();
  LS_ASSIGN_OR_RETURN(const size_t count,
                      ReceiveBytes(received_.data() + end_, received_.size() - end_));
  end_ += count;
  // There was more, or may have been: the next read is a larger one.
  if (end_ == received_.size()) received_.resize(2 * received_.size());
  return absl::OkStatus();
}

absl::Status ClientSocket::ReceiveTls() {
  const size_t begin = end_;
  while (end_ == begin) {
    encrypted_.resize(std::max(encrypted_.size(), received_.size()));
    LS_ASSIGN_OR_RETURN(const size_t count, ReceiveBytes(encrypted_.data(), encrypted_.size()));
    tls_->Give({encrypted_.data(), count});
    if (const absl::Status status = tls_->Decrypt(&received_, &end_); !status.ok()) {
      return Named(status);
    }
  }
  if (end_ == received_.size()) received_.resize(2 * received_.size());
  // The server may have asked for new keys.
  return SendBytes(tls_->TakeOutput());
}

void ClientSocket::Take(size_t bytes) {
  LS_CHECK(bytes <= end_ - begin_, "only what has arrived is taken");
  begin_ += bytes;
}

}  // namespace liststore

#include "engine/network/listener.h"

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/base/check.h"

namespace liststore::network {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Connections accepted in a row; then others have their turn.
constexpr int kAcceptedMax = 64;
// When there are no descriptors, until some may have been closed.
constexpr std::chrono::milliseconds kRetryTime(50);

bool IsTransient(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

std::string Shown(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return endpoint.address().is_v6() ? absl::StrCat("[", address, "]:", endpoint.port())
                                    : absl::StrCat(address, ":", endpoint.port());
}

absl::Status Refusal(const tcp::endpoint& endpoint, const error_code& error) {
  if (error == asio::error::address_in_use) {
    return absl::AlreadyExistsError(absl::StrCat(Shown(endpoint), " is already in use"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("cannot listen on ", Shown(endpoint), ": ", error.message()));
}

Listener::Peer PeerOf(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return {};
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    std::string bytes(reinterpret_cast<const char*>(&v6.sin6_addr), sizeof(v6.sin6_addr));
    if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) bytes.erase(0, 12);
    return {std::move(bytes), ntohs(v6.sin6_port)};
  }
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
  return {std::string(reinterpret_cast<const char*>(&v4.sin_addr), sizeof(v4.sin_addr)),
          ntohs(v4.sin_port)};
}

}  // namespace

struct Listener::Impl {
  Impl(asio::io_context& context, Accept accept_in)
      : acceptor(context), timer(context), accept(std::move(accept_in)) {}

  error_code Open(const tcp::endpoint& endpoint) {
    error_code error;
    acceptor.open(endpoint.protocol(), error);
    // A port that was in use a moment ago still has connections in TIME_WAIT.
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error && endpoint.address().is_v6()) acceptor.set_option(asio::ip::v6_only(false), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (!error) acceptor.non_blocking(true, error);
    return error;
  }

  // Each is noted once it is waited for: the heap may refuse it. Tick goes on then.
  void Wait() {
    acceptor.async_wait(tcp::acceptor::wait_read, [this](const error_code& error) {
      waits = false;
      if (error || !acceptor.is_open()) return;
      if (AcceptSome()) {
        Wait();
      } else {
        WaitForDescriptors();
      }
    });
    waits = true;
  }

  void WaitForDescriptors() {
    timer.expires_after(kRetryTime);
    timer.async_wait([this](const error_code& error) {
      waits = false;
      if (!error && acceptor.is_open()) Wait();
    });
    waits = true;
  }

  // False: the process has no descriptors left, or no memory.
  bool AcceptSome() try {
    for (int i = 0; i < kAcceptedMax; ++i) {
      Descriptor socket(
          accept4(acceptor.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (socket.get() >= 0) {
        const Peer peer = PeerOf(socket.get());
        accept(std::move(socket), peer);
      } else if (IsTransient(errno)) {
        return false;
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return true;
      }
      // Else that one connection has failed already (ECONNABORTED and the like).
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  tcp::acceptor acceptor;
  asio::steady_timer timer;
  const Accept accept;
  uint16_t port = 0;
  bool waits = false;  // for clients, or descriptors
};

absl::StatusOr<std::unique_ptr<Listener>> Listener::Open(runtime::EventLoop& loop,
                                                         const std::string& address, uint16_t port,
                                                         Accept accept) {
  LS_DCHECK(accept, "somebody takes the connections");
  error_code error;
  const std::string name = address == "localhost" ? "127.0.0.1" : address;
  const asio::ip::address ip = asio::ip::make_address(name, error);
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", address, "' is no IPv4 or IPv6 address to listen on"));
  }
  auto impl = std::make_unique<Impl>(loop.context(), std::move(accept));
  const tcp::endpoint endpoint(ip, port);
  error = impl->Open(endpoint);
  if (error) return Refusal(endpoint, error);
  impl->port = impl->acceptor.local_endpoint(error).port();
  if (error) return Refusal(endpoint, error);
  return std::unique_ptr<Listener>(new Listener(std::move(impl)));
}

Listener::Listener(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Listener::~Listener() = default;

void Listener::Start() { impl_->Wait(); }

void Listener::Tick() {
  if (!impl_->waits && impl_->acceptor.is_open()) impl_->Wait();
}

void Listener::Close() {
  if (!impl_->acceptor.is_open()) return;
  impl_->AcceptSome();
  error_code ignored;
  impl_->acceptor.close(ignored);
  impl_->timer.cancel();
}

uint16_t Listener::port() const { return impl_->port; }

uint64_t FileLimit() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

}  // namespace liststore::network

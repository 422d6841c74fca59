#include "bench/peers/frame_loop.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/loopback_congestion.h"

namespace liststore {
namespace {

constexpr size_t kReceiveBytes = size_t{64} << 10;
constexpr int kEventsMax = 64;
constexpr int kBacklog = 1'024;

absl::Status Failed(const char* what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", strerror(errno)));
}

}  // namespace

struct FrameLoop::Connection {
  explicit Connection(int socket) : fd(socket) {}
  ~Connection() { close(fd); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const int fd;
  OutputBuffer received;  // the beginning of a request whose end has not arrived
  OutputBuffer answers;   // of them what has not been sent
  bool waits = false;     // for room in the socket
};

absl::StatusOr<std::unique_ptr<FrameLoop>> FrameLoop::Listen(FrameAnswers& answers) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return Failed("no socket can be made");
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const bool listens =
      bind(fd, any, length) == 0 && listen(fd, kBacklog) == 0 && getsockname(fd, any, &length) == 0;
  const int epoll = listens ? epoll_create1(EPOLL_CLOEXEC) : -1;
  if (epoll < 0) {
    const absl::Status failed = Failed("127.0.0.1 cannot be listened on");
    close(fd);
    return failed;
  }
  return std::unique_ptr<FrameLoop>(new FrameLoop(answers, fd, epoll, ntohs(address.sin_port)));
}

FrameLoop::FrameLoop(FrameAnswers& answers, int listening, int epoll, uint16_t port)
    : answers_(answers), listening_(listening), epoll_(epoll), port_(port) {
  Watch(listening_, EPOLLIN, EPOLL_CTL_ADD);
}

FrameLoop::~FrameLoop() {
  close(listening_);
  close(epoll_);
}

void FrameLoop::Watch(int fd, uint32_t events, int operation) const {
  epoll_event event = {};
  event.events = events;
  event.data.fd = fd;
  LS_CHECK(epoll_ctl(epoll_, operation, fd, &event) == 0, "an open socket can be watched");
}

absl::Status FrameLoop::Run(int input) {
  epoll_event of_input = {};
  of_input.events = EPOLLIN;
  of_input.data.fd = input;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, input, &of_input) != 0) {
    return Failed(
        "standard input must be a pipe, a socket or a terminal, whose end ends the server");
  }
  while (true) {
    epoll_event events[kEventsMax];
    const int count = epoll_wait(epoll_, events, kEventsMax, -1);
    if (count < 0 && errno != EINTR) return Failed("epoll_wait");
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      if (fd == listening_) {
        Accept();
      } else if (fd == input) {
        char ignored[4'096];
        const ssize_t bytes = read(input, ignored, sizeof(ignored));
        if (bytes == 0 || (bytes < 0 && errno != EINTR && errno != EAGAIN)) return absl::OkStatus();
      } else {
        Serve(*connections_.at(fd), events[i].events);
      }
    }
  }
}

void FrameLoop::Accept() {
  while (true) {
    const int fd = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    const int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    UseLoopbackCongestion(fd);
    connections_.emplace(fd, std::make_unique<Connection>(fd));
    Watch(fd, EPOLLIN, EPOLL_CTL_ADD);
  }
}

void FrameLoop::Serve(Connection& connection, uint32_t events) {
  const bool goes_on = (events & EPOLLOUT) != 0 ? Send(connection) : Receive(connection);
  if (goes_on) return;
  connections_.erase(connection.fd);  // closing the socket ends the watch
}

bool FrameLoop::Receive(Connection& connection) {
  OutputBuffer& received = connection.received;
  const size_t before = received.size();
  char* const to = received.Extend(kReceiveBytes);
  const ssize_t count = recv(connection.fd, to, kReceiveBytes, 0);
  received.Truncate(before + (count > 0 ? static_cast<size_t>(count) : 0));
  if (count <= 0) return count < 0 && (errno == EAGAIN || errno == EINTR);
  const std::optional<size_t> answered = answers_.Answer(received.view(), connection.answers);
  if (!answered) return false;
  received.DropFront(*answered);
  return connection.answers.empty() || Send(connection);
}

bool FrameLoop::Send(Connection& connection) {
  OutputBuffer& answers = connection.answers;
  const ssize_t sent = send(connection.fd, answers.data(), answers.size(), MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
  if (sent > 0) answers.DropFront(static_cast<size_t>(sent));
  const bool waits = !answers.empty();
  if (waits != connection.waits) {
    connection.waits = waits;
    Watch(connection.fd, waits ? EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
  }
  return true;
}

}  // namespace liststore

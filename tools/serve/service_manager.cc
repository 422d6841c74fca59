#include "tools/serve/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/base/strings.h"

namespace liststore {
namespace {

// Loops that have nothing to do come round once a second.
constexpr std::chrono::seconds kSilenceMin(3);

// Of what is kept: three and a reload or two.
constexpr size_t kKeptMax = 8;

std::string_view Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// A socket that is connected to the one of this name; -1: there is none.
int ConnectTo(std::string_view name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const bool is_named = name.size() > 1 && (name.front() == '/' || name.front() == '@');
  if (!is_named || name.size() >= sizeof(address.sun_path)) return -1;
  std::memcpy(address.sun_path, name.data(), name.size());
  // An abstract name begins with a zero byte, and ends where the address does.
  if (name.front() == '@') address.sun_path[0] = '\0';
  const size_t bytes =
      offsetof(sockaddr_un, sun_path) + name.size() + (name.front() == '/' ? 1 : 0);
  const int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (file < 0) return -1;
  if (connect(file, reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(bytes)) ==
      0) {
    return file;
  }
  close(file);
  return -1;
}

// WATCHDOG_PID says whom it is meant for, where that is not everybody.
std::optional<std::chrono::nanoseconds> WatchdogPeriod() {
  uint64_t micros = 0;
  if (!absl::SimpleAtoi(ToAbsl(Variable("WATCHDOG_USEC")), &micros) || micros < 2) {
    return std::nullopt;
  }
  const std::string_view meant = Variable("WATCHDOG_PID");
  int64_t pid = 0;
  if (!meant.empty() && (!absl::SimpleAtoi(ToAbsl(meant), &pid) || pid != getpid())) {
    return std::nullopt;
  }
  constexpr uint64_t kMicrosMax = uint64_t{365} * 86'400 * 1'000'000;
  return std::chrono::microseconds(std::min(micros, kMicrosMax) / 2);
}

}  // namespace

ServiceManager::ServiceManager() : socket_(ConnectTo(Variable("NOTIFY_SOCKET"))) {
  if (is_there()) watchdog_period_ = WatchdogPeriod();
}

ServiceManager::~ServiceManager() {
  if (is_there()) close(socket_);
}

void ServiceManager::Ready(std::string_view status) {
  SendOrKeep(absl::StrCat("READY=1\nSTATUS=", ToAbsl(status)), status);
}

void ServiceManager::Reloading() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  SendOrKeep(absl::StrCat("RELOADING=1\nMONOTONIC_USEC=",
                          int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000),
             status_);
}

void ServiceManager::Stopping(std::string_view status) {
  SendOrKeep(absl::StrCat("STOPPING=1\nSTATUS=", ToAbsl(status)), status);
}

void ServiceManager::Status(std::string_view status) {
  Resend();
  if (!is_there() || status == status_ || !kept_.empty()) return;
  if (Send(absl::StrCat("STATUS=", ToAbsl(status)))) status_ = status;
}

void ServiceManager::LookAfter(std::chrono::nanoseconds longest_turn, Instant now) {
  Resend();
  if (!watchdog_period_ || now < next_ || !kept_.empty()) return;
  if (longest_turn > std::max<std::chrono::nanoseconds>(*watchdog_period_, kSilenceMin)) return;
  // Whoever calls comes a little late: then the next time would be one too late.
  if (Send("WATCHDOG=1")) next_ = now + *watchdog_period_ / 2;
}

void ServiceManager::Resend() {
  while (!kept_.empty() && Send(kept_.front())) kept_.pop_front();
}

void ServiceManager::SendOrKeep(std::string state, std::string_view status) {
  if (!is_there()) return;
  // Of what has piled up the last counts.
  if (kept_.size() == kKeptMax) kept_.pop_front();
  kept_.push_back(std::move(state));
  Resend();
  status_ = kept_.empty() ? std::string(status) : std::string();
}

bool ServiceManager::Send(const std::string& state) const {
  if (send(socket_, state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return true;
  // Else nobody listens any more.
  return errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS && errno != EINTR;
}

}  // namespace liststore

#include "bench/load/load_target.h"

#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore {
namespace {

constexpr int kEventsMax = 64;
constexpr std::chrono::milliseconds kAwake(5);

}  // namespace

LoadPoll::LoadPoll(const LoadTarget& target) : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  LS_CHECK(epoll_ >= 0, "an epoll can be made");
  for (size_t i = 0; i < target.connections(); ++i) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = i;
    LS_CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, target.fd(i), &event) == 0,
             "an open socket can be watched");
  }
}

LoadPoll::~LoadPoll() { close(epoll_); }

int LoadPoll::Look(int millis, epoll_event* events) const {
  int count;
  do {
    count = epoll_wait(epoll_, events, kEventsMax, millis);
  } while (count < 0 && errno == EINTR);
  LS_CHECK(count >= 0, "an epoll of our own can be waited for");
  return count;
}

absl::Status LoadPoll::Wait(int millis,
                            const std::function<absl::Status(size_t connection)>& receive) {
  epoll_event events[kEventsMax];
  int count = Look(0, events);
  if (count == 0 && millis > 0) {
    const auto begin = std::chrono::steady_clock::now();
    auto waited = std::chrono::steady_clock::duration(0);
    while (count == 0 && waited < kAwake) {
      sched_yield();  // where both sides have to share a core
      count = Look(0, events);
      waited = std::chrono::steady_clock::now() - begin;
    }
    idle_nanos_ += static_cast<uint64_t>(std::chrono::nanoseconds(waited).count());
    if (count == 0) count = Look(millis, events);
  }
  if (count == 0 && millis > 0) {
    return absl::DeadlineExceededError("the server does not answer");
  }
  for (int i = 0; i < count; ++i) {
    LS_RETURN_IF_ERROR(receive(static_cast<size_t>(events[i].data.u64)));
  }
  return absl::OkStatus();
}

}  // namespace liststore

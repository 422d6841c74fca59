#include "tools/liststore/load_target.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore {

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

absl::Status LoadPoll::Wait(int millis,
                            const std::function<absl::Status(size_t connection)>& receive) {
  epoll_event events[64];
  int count;
  do {
    count = epoll_wait(epoll_, events, 64, millis);
  } while (count < 0 && errno == EINTR);
  LS_CHECK(count >= 0, "an epoll of our own can be waited for");
  if (count == 0 && millis > 0) {
    return absl::DeadlineExceededError("the server does not answer");
  }
  for (int i = 0; i < count; ++i) {
    LS_RETURN_IF_ERROR(receive(static_cast<size_t>(events[i].data.u64)));
  }
  return absl::OkStatus();
}

}  // namespace liststore

#include "tools/serve/wait_for_stop.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace liststore {
namespace {

// Standard input has ended. What comes before is read and forgotten.
bool InputEnded() {
  char bytes[4096];
  const ssize_t count = read(STDIN_FILENO, bytes, sizeof(bytes));
  return count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN);
}

}  // namespace

std::string_view WaitForStop(int signals, bool until_eof, const WaitCalls& calls) {
  using Steady = std::chrono::steady_clock;
  Steady::time_point next = Steady::now() + calls.period;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Steady::now());
    pollfd waits[2] = {{signals, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    const int ready =
        poll(waits, until_eof ? 2 : 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (Steady::now() >= next) {
      LeaveOutWhatIsRefused(calls.on_period);
      next = Steady::now() + calls.period;
    }
    if (ready <= 0) continue;
    signalfd_siginfo info;
    if (waits[0].revents != 0 && read(signals, &info, sizeof(info)) == sizeof(info)) {
      switch (info.ssi_signo) {
        case SIGHUP:
          LeaveOutWhatIsRefused(calls.on_hangup);
          continue;
        case SIGUSR1:
          LeaveOutWhatIsRefused(calls.on_user);
          continue;
        default:
          return info.ssi_signo == SIGINT ? "SIGINT" : "SIGTERM";
      }
    }
    if (until_eof && waits[1].revents != 0 && InputEnded()) return "end of standard input";
  }
}

}  // namespace liststore

// WaitForStop: what the main thread of `liststore serve` does while the server runs.
#ifndef LISTSTORE_TOOLS_SERVE_WAIT_FOR_STOP_H_
#define LISTSTORE_TOOLS_SERVE_WAIT_FOR_STOP_H_

#include <chrono>
#include <functional>
#include <new>
#include <string_view>

namespace liststore {

// What the heap refuses is left out: the server goes on, or ends as it should.
template <typename Call>
void LeaveOutWhatIsRefused(const Call& call) {
  try {
    call();
  } catch (const std::bad_alloc&) {
    // There is no memory to say so.
  }
}

// What is done while the server runs. What std::bad_alloc ends is left out that time.
struct WaitCalls {
  std::function<void()> on_hangup;  // SIGHUP
  std::function<void()> on_user;    // SIGUSR1
  std::function<void()> on_period;  // over and over
  std::chrono::nanoseconds period = std::chrono::seconds(1);
};

// Waits for SIGINT or SIGTERM, which come out of `signals`, a signalfd, or, if asked, for the end of standard
// input; returns which. Asks nothing of the heap.
std::string_view WaitForStop(int signals, bool until_eof, const WaitCalls& calls);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SERVE_WAIT_FOR_STOP_H_

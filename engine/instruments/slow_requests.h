// SlowRequests: tells of requests that took long, as an operator's log wants to know them.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_SLOW_REQUESTS_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_SLOW_REQUESTS_H_

#include <chrono>
#include <functional>
#include <new>
#include <span>
#include <utility>

#include "engine/execute/client_state.h"
#include "engine/execute/request_view.h"
#include "engine/execute/statement_cache.h"
#include "liststore/server_notices.h"

namespace liststore::instruments {

// Thread-safe, if `tell` is.
class SlowRequests {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  using Tell = std::function<void(const CqlSlowRequest&)>;

  // `tell` is called for what took `time_min` or longer, by the thread that has dealt with it.
  SlowRequests(std::chrono::nanoseconds time_min, Tell tell)
      : time_min_(time_min), tell_(std::move(tell)) {}
  SlowRequests(const SlowRequests&) = delete;
  SlowRequests& operator=(const SlowRequests&) = delete;

  // Requests that were handed over together were dealt with from `begin` to `end`, or left for later. A
  // comparison; what is slow costs some us. `statements`: where prepared ones are looked up that a fault has
  // met before anybody did.
  void Note(std::span<execute::RequestView> requests, execute::ClientState& client,
            const execute::StatementCache& statements, Instant begin, Instant end) const {
    if (end - client.read_at < time_min_) return;
    try {
      TellOf(requests, client, statements, begin, end);
    } catch (const std::bad_alloc&) {
      // It has been dealt with, and its answer goes out: what cannot be told is left out.
    }
  }

 private:
  void TellOf(std::span<execute::RequestView> requests, execute::ClientState& client,
              const execute::StatementCache& statements, Instant begin, Instant end) const;

  const std::chrono::nanoseconds time_min_;
  const Tell tell_;
};

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_SLOW_REQUESTS_H_

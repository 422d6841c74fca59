// LongStatements: the statements of a session that take too long for its loop, at work on other
// threads.
#ifndef LISTSTORE_ENGINE_FACES_CQL_LONG_STATEMENTS_H_
#define LISTSTORE_ENGINE_FACES_CQL_LONG_STATEMENTS_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/output_buffer.h"
#include "engine/execute/request_handler.h"
#include "engine/execute/select/work_pace.h"
#include "engine/faces/cql/connection_state.h"
#include "engine/network/session.h"
#include "engine/protocol/compression.h"
#include "engine/protocol/frame.h"
#include "engine/runtime/event_loop.h"
#include "engine/runtime/worker_pool.h"

namespace liststore::cql_face {

// A request that a handler deferred.
struct DeferredRequest {
  protocol::FrameHeader header;
  std::string body;             // as it came
  size_t plain_body_bytes = 0;  // decompressed
  execute::Deferral deferral = execute::Deferral::kNo;
  std::shared_ptr<const execute::RequestMemo> memo;
};

// What the sessions of a server share for them. Thread-safe. Its pool is stopped when the server
// has stopped, and before its loops and the handler go.
struct LongWork {
  LongWork(uint32_t threads, size_t queued_max, uint64_t result_bytes_max, uint64_t work_bytes_max,
           std::function<void(uint64_t bytes)> on_work_given)
      : pool(threads, queued_max, work_bytes_max, std::move(on_work_given)),
        results(result_bytes_max) {}

  // Its memory is that of large requests while they are planned and carried out; small ones take none
  // of it.
  runtime::WorkerPool pool;
  execute::ResultBudget results;
  std::atomic<uint64_t> begun{0};
  std::atomic<uint64_t> refused{0};
};

// How long a loop works at a statement before that is deferred, in vain then. When many have been
// lately, less: a thousand clients that send such statements at the same time cost it a thousand
// times that. The loop's thread only.
class LoopPatience {
 public:
  // For the next requests. A comparison as a rule.
  execute::WorkPlace Place();
  void NoteDeferral();

 private:
  static constexpr int kDeferralsMax = 2;
  static constexpr int kLessPatience = 16;
  static constexpr std::chrono::seconds kWindow{1};

  std::chrono::steady_clock::time_point since_ = {};
  int deferrals_ = 0;  // since then
};

// Owned by a session, used on its loop only. Each statement starts over on a thread of the pool,
// and its answer is handed over when it is done. A statement whose session goes is stopped at its
// next step.
class LongStatements {
 public:
  // What a client may have at work or waiting at once.
  static constexpr size_t kCountMax = 64;
  // Of their requests and answers; one more may come beside.
  static constexpr size_t kBytesMax = size_t{4} << 20;

  // Everything outlives it. `client_id`: of the one client among those of the pool. `work`: nullptr
  // where nothing is deferred.
  LongStatements(runtime::EventLoop& loop, network::Client& client,
                 execute::RequestHandler& handler, LongWork* work, uint64_t client_id);
  ~LongStatements();
  LongStatements(const LongStatements&) = delete;
  LongStatements& operator=(const LongStatements&) = delete;

  bool empty() const { return statements_.empty(); }
  // Nothing else is dealt with: those behind one of these wait for it, or there are enough.
  bool holds_back() const {
    return in_order_ > 0 || statements_.size() >= kCountMax || held_bytes_ > kBytesMax;
  }
  size_t held_bytes() const { return held_bytes_; }

  // Begins one as soon as there is a thread; where too much waits, appends that it is refused.
  void Add(DeferredRequest request, const ConnectionState& state, OutputBuffer& out);
  // Appends the answers that have come, until the turn is spent; what their handler orders beside
  // goes into `orders`. What statements have changed of the client is seen in `state`.
  void TakeDone(const network::Turn& turn, ConnectionState& state,
                execute::ConnectionOrders& orders);
  // Appends to each that is still at work that the server stops.
  void Abandon(ConnectionState& state, OutputBuffer& out);

 private:
  struct Statement;

  // Any thread: carries it out.
  static void Work(Statement& statement, execute::RequestHandler& handler);
  void NoteDone(const Statement& statement);
  void Remove(size_t index);

  runtime::EventLoop& loop_;
  network::Client& client_;
  execute::RequestHandler& handler_;
  LongWork* const work_;
  const uint64_t client_id_;
  std::vector<std::shared_ptr<Statement>> statements_;
  size_t in_order_ = 0;  // of them
  size_t held_bytes_ = 0;
};

}  // namespace liststore::cql_face

#endif  // LISTSTORE_ENGINE_FACES_CQL_LONG_STATEMENTS_H_

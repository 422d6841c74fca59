// Turns of a loop that took long: what was done in them, and how much of the time the loop was
// ready and did not have its core. The table liststore.slow_turns; its columns are described in
// docs/cql_support.md.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_SLOW_TURNS_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_SLOW_TURNS_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "engine/base/mutex.h"
#include "engine/base/output_buffer.h"
#include "engine/cql/schema/virtual_table.h"
#include "engine/execute/request_handler.h"
#include "engine/execute/statement_cache.h"
#include "engine/instruments/hot_partitions.h"
#include "engine/instruments/request_metrics.h"
#include "engine/instruments/slow_requests.h"
#include "liststore/clock.h"

namespace liststore::instruments {

struct SlowTurn {
  uint64_t number = 0;    // from 1, of all
  uint64_t at_nanos = 0;  // when it was over, by the server's clock
  uint64_t took_nanos = 0;
  uint64_t waited_nanos = 0;  // of that for a core, at most; 0 where the kernel keeps no account
  uint32_t loop = 0;
  std::string work;  // "64 requests: 60 EXECUTE feat.clicks, 4 QUERY system.local"
};

// Thread-safe.
class SlowTurns {
 public:
  // Shorter ones are none: a loop lets others have their turn after as long.
  static constexpr std::chrono::nanoseconds kTimeMin = std::chrono::milliseconds(1);
  static constexpr size_t kKept = 128;
  // Of one loop; more are counted alone: where each turn is slow, what is asked about them would make
  // them slower.
  static constexpr int kDescribedPerSecond = 8;

  // What was done, and by which loop.
  struct Work {
    uint32_t loop = 0;
    std::string text;
  };

  // `clock` is the server's, and outlives this.
  explicit SlowTurns(const Clock& clock) : clock_(clock) {}
  SlowTurns(const SlowTurns&) = delete;
  SlowTurns& operator=(const SlowTurns&) = delete;

  // One that began then is over. If it was long it is kept, and `describe` is asked what was done. The
  // loop's thread: how long that has waited for its core is told since the last slow turn, or look.
  template <typename Describe>
  void NoteEnd(std::chrono::steady_clock::time_point begin, Describe&& describe) {
    NoteEnd(begin, std::chrono::steady_clock::now(), std::forward<Describe>(describe));
  }
  template <typename Describe>
  void NoteEnd(std::chrono::steady_clock::time_point begin,
               std::chrono::steady_clock::time_point now, Describe&& describe) {
    if (now - begin < kTimeMin) [[likely]]
      return;
    const uint64_t number = count_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (IsToBeDescribed(now)) Record(number, now - begin, describe());
  }
  // By each loop, at least once a second: what it has waited until then is of no slow turn. Looks
  // twice a second at most.
  static void LookNowAndThen(std::chrono::steady_clock::time_point now);

  // Newest first.
  std::vector<SlowTurn> Recent() const;
  // All so far.
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  static bool IsToBeDescribed(std::chrono::steady_clock::time_point now);
  void Record(uint64_t number, std::chrono::nanoseconds took, Work work);

  const Clock& clock_;
  std::atomic<uint64_t> count_{0};
  mutable Mutex mutex_;
  std::deque<SlowTurn> recent_ ABSL_GUARDED_BY(mutex_);  // the newest last, kKept at most
};

// Notes what another handler takes long for on a loop, counts what it deals with, and has some of it looked at
// for its partitions. Statements that
// are dealt with beside take their time and keep nobody waiting: they are no slow turns, but may be slow
// requests. On a loop a request is slow where its turn is. Two readings of the clock a group.
class SlowTurnHandler final : public execute::RequestHandler {
 public:
  // All outlive this. `hot`: who looks which partitions are asked for. `metrics`: nullptr: nothing is
  // counted. `slow_requests`: nullptr: nobody is told. `statements`: where `next` looks prepared ones up.
  SlowTurnHandler(SlowTurns& turns, HotPartitions& hot, RequestMetrics* metrics,
                  const SlowRequests* slow_requests, const execute::StatementCache& statements,
                  execute::RequestHandler& next)
      : turns_(turns),
        hot_(hot),
        metrics_(metrics),
        slow_requests_(slow_requests),
        statements_(statements),
        next_(next) {}

  execute::ConnectionOrders Handle(std::span<execute::RequestView> requests,
                                   execute::ClientState& client, OutputBuffer& out) override;

 private:
  SlowTurns& turns_;
  HotPartitions& hot_;
  RequestMetrics* const metrics_;
  const SlowRequests* const slow_requests_;
  const execute::StatementCache& statements_;
  execute::RequestHandler& next_;
};

// What these requests are: how many of which kind, and of which tables, the most frequent ones first.
// No values, and of texts nothing but the table.
std::string DescribeRequests(std::span<execute::RequestView> requests, std::string_view keyspace);

// `turns` outlives the table.
std::unique_ptr<cql::VirtualTable> MakeSlowTurnsTable(const SlowTurns& turns);

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_SLOW_TURNS_H_

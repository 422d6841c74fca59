// RequestMetrics: how many requests there were, of which tables, how they came out and how long they
// took. What `GET /metrics` shows of requests.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_REQUEST_METRICS_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_REQUEST_METRICS_H_

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "engine/base/mutex.h"
#include "engine/cql/syntax/statement_outline.h"
#include "engine/execute/client_state.h"
#include "engine/execute/request_view.h"
#include "engine/execute/statement_cache.h"

namespace liststore::instruments {

// Times by buckets, two for each power of two of microseconds: 1, 1.5, 2, 3, 4, 6 ... and beyond 16 s.
// A quantile is known to half of itself at worst.
class LatencyBuckets {
 public:
  static constexpr size_t kBounds = 49;
  static const std::array<double, kBounds>& BoundsInMicros();
  // O(1): the first whose bound is not below, kBounds for none.
  static size_t IndexOf(std::chrono::nanoseconds time) {
    const int64_t nanos = time.count();
    if (nanos <= 1000) return 0;
    // The highest two bits of what is above a bound say between which two it lies.
    const auto above = static_cast<uint64_t>(nanos - 1) / 500;  // >= 2: 1 us
    const auto octave = static_cast<unsigned>(std::bit_width(above)) - 2;
    const size_t half = (above >> octave) & 1;
    const size_t index = size_t{2} * octave + half + 1;
    return index < kBounds ? index : kBounds;
  }
};

// What a latency is of, in ScyllaDB's words for a coordinator.
enum class LatencyKind : uint8_t {
  kRead,
  kWrite,
  kOther
};
inline constexpr size_t kLatencyKinds = 3;

struct RequestCount {
  std::string keyspace;  // empty with the table: of none, or the series of those that came too late
  std::string table;
  cql::StatementOp op = cql::StatementOp::kOther;
  std::string_view outcome;  // "ok", "read_timeout", "no_answer", ...
  uint64_t count = 0;
};
struct LatencyCounts {
  std::array<uint64_t, LatencyBuckets::kBounds + 1> buckets{};
  uint64_t sum_nanos = 0;
};

// Each loop counts for itself, by plain loads and stores that others may read; what runs beside the
// loops shares one more place. A group of requests of one prepared statement costs some ten
// instructions a request and a few for the group; a text is looked at as far as its table's name.
// At most kSeriesMax pairs of a table and an operation are told apart: the first that come. What comes
// later is counted together, by operation, as of the table "_others", and so are texts that failed and
// whose table no other was counted of: a client may name whatever it likes. 40 KiB for each loop at most, and their names.
class RequestMetrics {
 public:
  static constexpr size_t kSeriesMax = 4096;
  static constexpr std::string_view kOthers = "_others";

  explicit RequestMetrics(uint32_t loops);
  RequestMetrics(const RequestMetrics&) = delete;
  RequestMetrics& operator=(const RequestMetrics&) = delete;

  // Requests were dealt with, `took` after their bytes had been read; those that are to be handed over
  // once more count when they are. By the client's loop, or where its place says otherwise by
  // anybody.
  // `statements`: where prepared ones are looked up that a fault has met before anybody did.
  void Note(std::span<execute::RequestView> requests, execute::ClientState& client,
            const execute::StatementCache& statements, std::chrono::nanoseconds took);

  // The sums over all loops, any thread: each sample is of some moment during the call.
  std::vector<RequestCount> Requests() const;
  LatencyCounts Latencies(LatencyKind kind) const;
  std::vector<LatencyCounts> LatenciesByLoop(LatencyKind kind) const;

 private:
  using Series = uint32_t;  // 0: not known yet
  using Key = std::tuple<std::string, std::string, cql::StatementOp>;
  static constexpr size_t kChunkCells = 64;
  // Beside those of tables one for each operation, of those that came too late.
  static constexpr size_t kOps = static_cast<size_t>(cql::StatementOp::kOther) + 1;
  static constexpr size_t kCells = kSeriesMax + kOps + 1;
  static constexpr size_t kChunks = kCells / kChunkCells + 1;

  using Cells = std::array<std::atomic<uint64_t>, kChunkCells>;
  struct Latency {
    std::array<std::atomic<uint64_t>, LatencyBuckets::kBounds + 1> buckets{};
    std::atomic<uint64_t> sum_nanos{0};
  };
  struct alignas(64) Place {
    bool is_shared = false;  // several threads count here
    // Of texts, so that loops need not ask all others; of who counts here alone.
    std::map<Key, Series> known;
    std::array<std::atomic<Cells*>, kChunks> answered{};
    std::array<Latency, kLatencyKinds> latencies;
    mutable Mutex mutex;
    // Those that came out otherwise: hardly ever any.
    std::map<std::pair<Series, std::string_view>, uint64_t> others ABSL_GUARDED_BY(mutex);
    std::vector<std::unique_ptr<Cells>> cells ABSL_GUARDED_BY(mutex);
  };

  Series SeriesOf(Place& place, execute::RequestView& request, execute::ClientState& client,
                  const execute::StatementCache& cache);
  // `may_enter`: else a series that is not there yet is not made, and it is one of the others.
  Series SeriesOf(Place& place, const cql::StatementOutline& outline, bool may_enter);
  // 0: there are too many, or it is not there and may not be made.
  Series Enter(const Key& key, bool may_enter);
  static void Count(Place& place, Series series, uint64_t count);
  static void AddCells(Place& place, size_t chunk);
  static void Add(std::atomic<uint64_t>& to, uint64_t count, bool is_shared) {
    if (is_shared) {
      to.fetch_add(count, std::memory_order_relaxed);
    } else {
      to.store(to.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    }
  }
  static LatencyKind KindOf(cql::StatementOp op);
  void AddTo(LatencyCounts& sum, const Place& place, LatencyKind kind) const;

  // The last one is of what runs beside the loops.
  std::vector<std::unique_ptr<Place>> places_;
  std::array<std::atomic<uint8_t>, kCells> kinds_{};  // LatencyKind of each series
  mutable Mutex mutex_;
  std::map<Key, Series> series_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_REQUEST_METRICS_H_

// Journal: the last requests of a server's clients, for tests that ask what their code has sent.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "engine/base/cacheline.h"
#include "engine/base/mutex.h"
#include "engine/base/thread_stripe.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/instruments/journal_block.h"
#include "engine/instruments/journal_record.h"
#include "engine/instruments/journal_writer.h"
#include "engine/instruments/resettable.h"

namespace liststore::instruments {

// Records that may be kept: some 20 MB of requests with a few short values, and an answer of 30 MB
// for who reads them all, which the wire has to hold in one frame.
inline constexpr size_t kJournalCapacityMax = 100'000;

// What records may take with the statements that they hold, unless somebody says otherwise.
inline constexpr size_t kJournalBytesMax = size_t{64} << 20;

struct JournalCounts {
  bool enabled = false;
  size_t capacity = 0;
  uint64_t recorded = 0;  // since the journal was cleared
  size_t kept = 0;
  uint64_t dropped = 0;   // of those recorded: the oldest, for want of room
  uint64_t last_seq = 0;  // of all there ever were
};

// The last records, in blocks that are written once and given back when the last of their records
// has become too old. Thread-safe. Loops write side by side: each into blocks of its own, under a
// lock that another thread rarely wants, held while the bytes of a group of requests are copied; what
// they share is the number of the last record, once for a group. Readers hold blocks, and lock all
// for a moment. Owned by the server; outlives its handlers.
//
// Invariants: (1) records, all shelves together, are in ascending, gapless order of seq; (2) recorded
// = kept + dropped, and kept <= capacity; (3) it is enabled only with a capacity; (4) blocks but the
// last of each shelf take `bytes_max` at most, with the statements that each of them holds, whoever
// else does.
class Journal final : public Resettable {
 public:
  // `capacity` at most kJournalCapacityMax; 0: nothing is recorded until a capacity is set.
  explicit Journal(size_t capacity, size_t bytes_max = kJournalBytesMax);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // A load: for those who ask with every request.
  bool enabled() const { return enabled_.load(std::memory_order_relaxed); }

  // Records `count` requests in a row: calls `fill(i, writer)` for each i below `count`. `fill`
  // runs under a lock, and so does nothing but copy. Nothing, when it is not enabled.
  template <typename Fill>
  void Append(size_t count, const Fill& fill) {
    Shelf& shelf = shelves_[ThreadStripe(kShelvesLog2)];
    bool has_new_block = false;
    {
      const MutexLock lock(shelf.mutex);
      if (!enabled()) return;
      // Under the lock: whoever has all of them finds no number without its record.
      const uint64_t first = last_seq_.fetch_add(count, std::memory_order_relaxed) + 1;
      JournalWriter writer;
      JournalBlock* block = nullptr;
      for (uint64_t seq = first; seq < first + count; ++seq) {
        if (block == nullptr || !block->HasRoom()) [[unlikely]]
          block = &BlockWithRoom(shelf, seq, &has_new_block);
        writer.Begin(*block, seq);
        fill(static_cast<size_t>(seq - first), writer);
        writer.Finish();
      }
      DropBelow(FirstOf(first + count - 1), shelf);
      if (has_new_block) NoteBytes(shelf);
    }
    if (has_new_block) [[unlikely]]
      LookAtAllShelves();
  }

  JournalCounts counts() const;
  // Blocks and what they hold; what several hold counts for each.
  size_t bytes() const ABSL_NO_THREAD_SAFETY_ANALYSIS;
  size_t bytes_max() const { return bytes_max_.load(std::memory_order_relaxed); }
  // What is more goes at once, the oldest first.
  void set_bytes_max(size_t bytes);
  // Calls `visit` with each record that is there when it begins, the oldest first, with nothing
  // locked. Views in a record are valid during its visit.
  void ForEach(const std::function<void(const JournalRecord&)>& visit) const
      ABSL_NO_THREAD_SAFETY_ANALYSIS;

  // Forgets all records and counts; seq goes on.
  void Clear() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void Reset() override { Clear(); }
  // Changes what is given, both or nothing. A smaller capacity drops the oldest records. Invalid:
  // above kJournalCapacityMax, negative, or enabled without a capacity. A capacity of 0 that comes
  // alone ends recording.
  cql::CqlStatus Configure(std::optional<bool> enabled, std::optional<int64_t> capacity);

 private:
  // Threads find theirs by ThreadStripe.
  static constexpr int kShelvesLog2 = 5;
  static constexpr size_t kShelves = size_t{1} << kShelvesLog2;

  // Blocks of those who write here.
  struct alignas(kCacheLineBytes) Shelf {
    mutable Mutex mutex;
    // The first may begin with records that are dropped.
    std::deque<std::shared_ptr<JournalBlock>> blocks ABSL_GUARDED_BY(mutex);
    // As of the beginning of the last block; a look from any thread.
    std::atomic<size_t> bytes{0};
  };
  // All shelves locked, in their order: nobody writes. The analysis of locks knows no arrays of them.
  class AllLocked;

  // The last block; a new one when it is full.
  static JournalBlock& BlockWithRoom(Shelf& shelf, uint64_t seq, bool* has_new_block)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shelf.mutex);
  // Blocks that have no record from `seq` on.
  static void DropBelow(uint64_t seq, Shelf& shelf) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shelf.mutex);
  static void NoteBytes(Shelf& shelf) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shelf.mutex);
  // The first record that is kept when `last_seq` is the last one.
  uint64_t FirstOf(uint64_t last_seq) const {
    const uint64_t capacity = capacity_.load(std::memory_order_relaxed);
    const uint64_t by_capacity = last_seq + 1 - std::min(capacity, last_seq);
    return std::max(by_capacity, first_seq_.load(std::memory_order_relaxed));
  }
  // Drops what is too old or too much, where many blocks have been begun or they take too much.
  void LookAtAllShelves();
  void DropInAll(const AllLocked& all) ABSL_NO_THREAD_SAFETY_ANALYSIS;

  std::atomic<size_t> bytes_max_;
  std::atomic<bool> enabled_;
  // Changed with all shelves locked.
  std::atomic<size_t> capacity_;
  std::atomic<uint64_t> first_seq_{1};    // none before is kept, whatever the capacity
  std::atomic<uint64_t> cleared_seq_{0};  // the last one when the journal was cleared
  std::array<Shelf, kShelves> shelves_;
  // Apart from what is read with every group.
  alignas(kCacheLineBytes) std::atomic<uint64_t> last_seq_{0};
  std::atomic<uint64_t> blocks_begun_{0};
};

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_H_

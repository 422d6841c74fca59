// Journal: the last requests of a server's clients, for tests that ask what their code has sent.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "engine/base/mutex.h"
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
// has become too old. Thread-safe: one lock for a group of requests, held while their bytes are
// copied; readers hold blocks and lock for a moment. Owned by the server; outlives its handlers.
//
// Invariants: (1) records are in ascending, gapless order of seq; (2) recorded = kept + dropped,
// and kept <= capacity; (3) it is enabled only with a capacity; (4) blocks but the last take
// `bytes_max` at most, with the statements that each of them holds, whoever else does.
class Journal final : public Resettable {
 public:
  // `capacity` at most kJournalCapacityMax; 0: nothing is recorded until a capacity is set.
  explicit Journal(size_t capacity, size_t bytes_max = kJournalBytesMax);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // A load: for those who ask with every request.
  bool enabled() const { return enabled_.load(std::memory_order_relaxed); }

  // Records `count` requests in a row: calls `fill(i, writer)` for each i below `count`. `fill`
  // runs under the lock, and so does nothing but copy. Nothing, when it is not enabled.
  template <typename Fill>
  void Append(size_t count, const Fill& fill) {
    const MutexLock lock(mutex_);
    if (capacity_ == 0 || !enabled()) return;
    JournalWriter writer;
    for (size_t i = 0; i < count; ++i) {
      writer.Begin(BlockWithRoom());
      fill(i, writer);
      writer.Finish();
      ++last_seq_;
    }
    DropAbove(capacity_);
    // Behind all of them: the writer looks at the block of the record before.
    if (std::exchange(has_new_block_, false)) DropAboveBytes();
  }

  JournalCounts counts() const;
  // Blocks and what they hold; what several hold counts for each.
  size_t bytes() const;
  size_t bytes_max() const { return bytes_max_.load(std::memory_order_relaxed); }
  // What is more goes at once, the oldest first.
  void set_bytes_max(size_t bytes);
  // Calls `visit` with each record that is there when it begins, the oldest first, with nothing
  // locked. Views in a record are valid during its visit.
  void ForEach(const std::function<void(const JournalRecord&)>& visit) const;

  // Forgets all records and counts; seq goes on.
  void Clear();
  void Reset() override { Clear(); }
  // Changes what is given, both or nothing. A smaller capacity drops the oldest records. Invalid:
  // above kJournalCapacityMax, negative, or enabled without a capacity. A capacity of 0 that comes
  // alone ends recording.
  cql::CqlStatus Configure(std::optional<bool> enabled, std::optional<int64_t> capacity);

 private:
  // The last block; a new one when it is full.
  JournalBlock& BlockWithRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  size_t kept() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return static_cast<size_t>(last_seq_ + 1 - first_seq_);
  }
  // The oldest records, until `records_max` are left.
  void DropAbove(size_t records_max) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The oldest blocks, until the others take bytes_max() at most.
  void DropAboveBytes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  size_t BlockBytes() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<size_t> bytes_max_;

  std::atomic<bool> enabled_;
  mutable Mutex mutex_;
  size_t capacity_ ABSL_GUARDED_BY(mutex_);
  // The first may begin with records that are dropped.
  std::deque<std::shared_ptr<JournalBlock>> blocks_ ABSL_GUARDED_BY(mutex_);
  uint64_t first_seq_ ABSL_GUARDED_BY(mutex_) = 1;  // of those that are kept
  uint64_t last_seq_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
  bool has_new_block_ ABSL_GUARDED_BY(mutex_) = false;  // since its bytes were looked at
};

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_H_

// LaneEviction: what a lane evicts, over all of its tables: from which of them the next partition
// goes, and what a call keeps from going. docs/cache.md says how it chooses; decisions/0023 why so.
#ifndef LISTSTORE_ENGINE_STORAGE_LANE_EVICTION_H_
#define LISTSTORE_ENGINE_STORAGE_LANE_EVICTION_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace liststore::storage {

class Table;

// Partitions are on probation or main ones, each within its table (EvictionState). The order over
// the tables is this: while more than a tenth of all partitions are on probation, the table whose
// oldest entry is the oldest; else a hand that goes over one table's directory to its end, and then
// over the next one's. With one table it is the order of that table.
//
// One per lane, used by the lane's holder only, except evictions(). Tables are borrowed; their
// shells live as long as the lane. Choosing is O(log tables); a table that was emptied costs the
// hand one look until something comes to it again. Allocates where tables join, and never after.
// 160 B, and 24 B a table.
//
// Invariants (Verify checks them):
//  (1) partitions_ and on_probation_ are the sums over the tables that take part;
//  (2) a table that takes part and has a partition is in tables_, at its own place;
//  (3) one whose queue has entries is in offers_ once.
class LaneEviction {
 public:
  struct Evicted {
    size_t partitions = 0;
    uint64_t bytes = 0;  // that blocks gave back
  };

  LaneEviction() = default;
  LaneEviction(const LaneEviction&) = delete;
  LaneEviction& operator=(const LaneEviction&) = delete;

  // Partitions at these addresses, ascending, are not evicted until the next call. Borrowed.
  void Guard(std::span<const uint64_t> addresses) { guarded_ = addresses; }
  // After a refusal: evicts a sixteenth of what is here, times 2^`doublings`, between 4 KiB and 64
  // KiB times that; pulls together what is left, and gives what comes free to the budget. False:
  // there is nothing to evict.
  bool EvictAfterRefusal(uint32_t doublings, int64_t now_seconds);
  // For a batch: every table that it has made grow pays for it.
  void PayOwed(int64_t now_seconds);
  // Partitions evicted for memory, ever. Any thread.
  uint64_t evictions() const { return evictions_.load(std::memory_order_relaxed); }

  void Verify() const;

 private:
  friend class Table;

  // An entry that a table's queue has, or had: the number of a push. What is oldest in the queue now
  // is as old or younger.
  struct Offer {
    uint64_t push = 0;
    Table* table = nullptr;
    bool operator<(const Offer& other) const { return push > other.push; }  // the oldest on top
  };

  // ---- For tables.

  // Another table may take part; room is made for it.
  void Admit();
  // One that goes: it owes nothing any more.
  void Dismiss(Table& table);
  void Join(Table& table);
  void Leave(Table& table);
  // A partition of one that takes part comes, or goes.
  void NoteComing(Table& table) {
    ++partitions_;
    NoteListed(table);
  }
  void NoteGoing() { --partitions_; }
  void NoteOnProbation(ptrdiff_t change) { on_probation_ += static_cast<size_t>(change); }
  // The lane's count of pushes, which an entry remembers.
  uint32_t NextPush() { return static_cast<uint32_t>(++pushes_); }
  // A table's queue has its first entry.
  void OfferTable(Table& table);
  void Owes(Table& table);
  void NoteEvicted() {
    evictions_.store(evictions_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  bool IsGuarded(uint64_t address) const {
    return writing_ == address || std::binary_search(guarded_.begin(), guarded_.end(), address);
  }
  // Evicts at least `bytes` of blocks, or `partitions_max`, or all there is. `grown`: whose growth is
  // paid for; nullptr: nobody's. What evictions leave behind is for Tidy.
  Evicted Evict(Table* grown, uint64_t bytes, size_t partitions_max, int64_t now_seconds);
  // Stale timers, holes and ghosts of the tables that were evicted from since the last time.
  void Tidy();
  template <typename Then>
  void Tidy(const Then& then);
  // Pulls together the table that was evicted from last, if that is another one and worth it.
  bool CompactLast(const Table& grown, size_t blocks);

  // ---- Choosing.

  void NoteListed(Table& table);
  void Unlist(Table& table);
  // nullptr: no queue has an entry.
  Table* OldestOnProbation();
  uint64_t PushOf(uint32_t push) const {
    return pushes_ - static_cast<uint32_t>(static_cast<uint32_t>(pushes_) - push);
  }
  size_t EvictFromMain(size_t partitions_max, int64_t now_seconds, Evicted& evicted);
  // The hand has come to the end of its table.
  void MoveHandOn(int64_t now_seconds);
  void NoteEvictedFrom(Table& table, size_t partitions, uint64_t bytes, Evicted& evicted);

  std::vector<Table*> tables_;
  std::vector<Offer> offers_;  // a heap
  size_t hand_ = 0;            // in tables_
  size_t admitted_ = 0;
  size_t partitions_ = 0;
  size_t on_probation_ = 0;
  uint64_t pushes_ = 0;
  uint64_t debt_bytes_ = 0;  // to be evicted for what tables have taken

  // Never evicted: the partition of the write under way, and those of its call.
  std::optional<uint64_t> writing_;
  std::span<const uint64_t> guarded_;

  Table* last_ = nullptr;      // evicted from
  Table* untidied_ = nullptr;  // lists through EvictionState
  Table* owing_ = nullptr;
  std::atomic<uint64_t> evictions_{0};  // the holder adds
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_LANE_EVICTION_H_

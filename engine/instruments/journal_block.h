// JournalBlock: records of the journal, one behind the other as they are written, so that writing
// one touches the next few lines of memory and nothing else.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_BLOCK_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_BLOCK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/instruments/journal_format.h"
#include "engine/instruments/journal_record.h"

namespace liststore::instruments {

// Bytes of a block: some 500 records of requests with a few short values.
inline constexpr size_t kJournalBlockBytes = size_t{64} << 10;
// What its records' statements may take until it is full.
inline constexpr size_t kJournalHeldBytesMax = size_t{4} << 20;

// Records are written by one thread at a time (journal_writer.h); what is written never changes,
// and may be read by others as long as they came to know `bytes()` by the writer's lock. Whoever
// reads holds the block.
class JournalBlock {
 public:
  // Of records that ascend from `first_seq`.
  explicit JournalBlock(uint64_t first_seq)
      : first_seq_(first_seq),
        next_seq_(first_seq),
        memory_(std::make_unique_for_overwrite<char[]>(kJournalBlockBytes)) {}
  JournalBlock(const JournalBlock&) = delete;
  JournalBlock& operator=(const JournalBlock&) = delete;

  // Whether one more record fits, however long.
  bool HasRoom() const {
    return kJournalBlockBytes - bytes_ >= journal_format::kRecordBytesMax &&
           held_bytes_ < kJournalHeldBytesMax;
  }
  // Of itself and of what it holds.
  size_t bytes_taken() const { return kJournalBlockBytes + held_bytes_; }
  // That of the records in it.
  size_t bytes() const { return bytes_; }
  // Behind the last record's.
  uint64_t next_seq() const { return next_seq_; }
  uint64_t first_seq() const { return first_seq_; }

 private:
  friend class JournalWriter;
  friend class JournalBlockReader;

  // Keeps what records point at, once for records in a row. What is held already is not touched:
  // counts of holders are shared by all loops.
  template <typename Owned>
  void Hold(const std::shared_ptr<const Owned>& owned, size_t bytes) {
    if (HoldsLately(owned.get())) return;
    held_.push_back(owned);
    held_bytes_ += bytes;
  }
  bool HoldsLately(const void* owned) const {
    // As many clients and statements may take turns without being held again and again.
    constexpr size_t kLookedAt = 16;
    const size_t end = held_.size() - std::min(held_.size(), kLookedAt);
    for (size_t i = held_.size(); i-- > end;) {
      if (held_[i].get() == owned) return true;
    }
    return false;
  }

  const uint64_t first_seq_;
  uint64_t next_seq_;  // of a record that follows on the last one
  const std::unique_ptr<char[]> memory_;
  size_t bytes_ = 0;
  SharedFacts shared_;                               // of the last record
  const cql::PlannedStatement* prepared_ = nullptr;  // the last one, held
  std::vector<std::shared_ptr<const void>> held_;
  size_t held_bytes_ = 0;
};

// Reads a block's records, the oldest first. Holds nothing: the block outlives it.
class JournalBlockReader {
 public:
  // Of those that lie in the first `bytes`, which were `block.bytes()` at some time.
  JournalBlockReader(const JournalBlock& block, size_t bytes)
      : rest_(block.memory_.get(), bytes), seq_(block.first_seq_) {}

  bool done() const { return rest_.empty(); }
  // O(1). Not when done.
  JournalRecord Next();

 private:
  std::string_view rest_;
  uint64_t seq_;           // of the next record
  SharedFacts shared_;     // of the record before it
  std::string_view part_;  // the PartHeader of the last record that has one of its own
};

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_BLOCK_H_

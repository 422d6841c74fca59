// JournalBlock: records of the journal, one behind the other as they are written, so that writing
// one touches the next few lines of memory and nothing else.
#ifndef LISTSTORE_ENGINE_CONTROL_JOURNAL_BLOCK_H_
#define LISTSTORE_ENGINE_CONTROL_JOURNAL_BLOCK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/control/journal_record.h"

namespace liststore {

// Bytes of a block: some 500 records of requests with a few short values.
inline constexpr size_t kJournalBlockBytes = size_t{64} << 10;
// No record takes more: what is kept of it, and what stands in front of its parts.
inline constexpr size_t kJournalRecordBytesMax = kRecordedBytesMax + 2400;

// Records are written by one thread at a time (JournalWriter); what is written never changes, and
// may be read by others as long as they came to know `bytes()` by the writer's lock. Whoever reads
// holds the block.
class JournalBlock {
 public:
  // Of the records from `first_seq` on.
  explicit JournalBlock(uint64_t first_seq)
      : first_seq_(first_seq),
        memory_(std::make_unique_for_overwrite<char[]>(kJournalBlockBytes)) {}
  JournalBlock(const JournalBlock&) = delete;
  JournalBlock& operator=(const JournalBlock&) = delete;

  // Whether one more record fits, however long.
  bool HasRoom() const { return kJournalBlockBytes - bytes_ >= kJournalRecordBytesMax; }
  // That of the records in it.
  size_t bytes() const { return bytes_; }
  uint64_t first_seq() const { return first_seq_; }

 private:
  friend class JournalWriter;
  friend class JournalBlockReader;

  // Keeps what records point at, once for records in a row. What is held already is not touched:
  // counts of holders are shared by all loops.
  template <typename Owned>
  void Hold(const std::shared_ptr<const Owned>& owned) {
    if (!HoldsLately(owned.get())) held_.push_back(owned);
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
  const std::unique_ptr<char[]> memory_;
  size_t bytes_ = 0;
  SharedFacts shared_;                          // of the last record
  const PlannedStatement* prepared_ = nullptr;  // the last one, held
  std::vector<std::shared_ptr<const void>> held_;
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
  uint64_t seq_;        // of the next record
  SharedFacts shared_;  // of the record before it
};

// Writes one record: for each statement what it is and its values, then the error, at any time the
// facts, and Finish. Of the block's memory nothing is read.
class JournalWriter {
 public:
  // `block` has room, and outlives this.
  explicit JournalWriter(JournalBlock& block);
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // The caller's to set until Finish; SetClient for the client.
  JournalFacts facts;

  void SetClient(const std::shared_ptr<const JournalClient>& client) {
    if (client.get() != block_.shared_.client) block_.Hold(client);
    facts.client = client.get();
  }
  // The next statement. Those behind kRecordedStatementsMax are left out, with their values.
  void AddText(std::string_view text);
  template <typename Statement>  // of PlannedStatement, or more
  void AddPrepared(const std::shared_ptr<const Statement>& prepared) {
    if (!BeginPart()) return;
    prepared_ = prepared.get();
    if (prepared_ == block_.prepared_) return;
    block_.Hold(prepared);
    block_.prepared_ = prepared_;
  }
  // A prepared statement that is not known any more.
  void AddUnknown() { AddText({}); }
  // The values of the last statement as the protocol (v4) has them, for each a [string] name, when
  // they have names, and a [value]; false, and nothing is added, when a value may be too long.
  bool AddSentValues(std::string_view sent, size_t count, bool have_names);
  // One value more of the last statement, or its first: either all have names or none.
  void AddValue(const BoundValue& value, std::optional<std::string_view> name = std::nullopt);
  // Behind all statements.
  void SetError(std::string_view message);

  // The record is the block's.
  void Finish();

 private:
  bool BeginPart();
  void FinishPart();
  void Append(std::string_view bytes);
  // What texts, values and the error may still take.
  size_t room() const { return kRecordedBytesMax - recorded_bytes_; }

  JournalBlock& block_;
  char* end_;                                   // of what is written
  char* part_ = nullptr;                        // where the last statement begins
  const PlannedStatement* prepared_ = nullptr;  // of it
  uint32_t text_bytes_ = 0;
  uint16_t value_count_ = 0;
  bool is_text_cut_ = false;
  bool have_names_ = false;
  uint8_t statement_count_ = 0;
  bool leaves_out_statements_ = false;
  uint16_t error_bytes_ = 0;
  size_t recorded_bytes_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_CONTROL_JOURNAL_BLOCK_H_

// JournalWriter: writes requests into the blocks of a journal.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_WRITER_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/base/cacheline.h"
#include "engine/base/check.h"
#include "engine/base/short_copy.h"
#include "engine/instruments/journal_block.h"
#include "engine/instruments/journal_format.h"
#include "engine/instruments/journal_record.h"

namespace liststore::instruments {

// Writes records one behind the other. Of each: Begin; for each statement what it is and its
// values, then the error, at any time the facts; Finish. Or Begin and Repeat. Of the blocks' memory
// nothing is read.
class JournalWriter {
 public:
  JournalWriter() = default;
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // Record number `seq` in `block`, which has room, and outlives this. Numbers ascend in a block.
  void Begin(JournalBlock& block, uint64_t seq);

  // Writes the whole record, and finishes it, when it has the facts and the statement of the one
  // before, which was written by this as well, but the given timestamp and values. False, and
  // nothing is written: values may be too long, or are of another number, or the record before was
  // no prepared statement without error, or lies in another block.
  [[nodiscard]] bool Repeat(std::optional<int64_t> timestamp, std::string_view sent_values,
                            size_t value_count);

  // The caller's to set until Finish; SetClient for the client.
  JournalFacts facts;

  void SetClient(const std::shared_ptr<const JournalClient>& client) {
    if (client.get() != block_->shared_.client) block_->Hold(client, sizeof(JournalClient));
    facts.client = client.get();
  }
  // The next statement. Those behind kRecordedStatementsMax are left out, with their values.
  void AddText(std::string_view text);
  // Counting holders takes longer than recording: it is held where it is another than before.
  // `bytes`: what it takes, and the journal with it.
  void AddPrepared(const cql::PlannedStatement& prepared, size_t bytes = 0) {
    if (!BeginPart()) return;
    part_.prepared = &prepared;
    if (part_.prepared == block_->prepared_) return;
    block_->Hold(prepared.shared_from_this(), bytes);
    block_->prepared_ = part_.prepared;
  }
  // A prepared statement that is not known any more.
  void AddUnknown() { AddText({}); }
  // The values of the last statement as the protocol (v4) has them, for each a [string] name, when
  // they have names, and a [value]; false, and nothing is added, when a value may be too long.
  bool AddSentValues(std::string_view sent, size_t count, bool have_names);
  // One value more of the last statement, or its first: either all have names or none.
  void AddValue(const cql::BoundValue& value, std::optional<std::string_view> name = std::nullopt);
  // Behind all statements.
  void SetError(std::string_view message);

  // The record is the block's, unless Repeat has made it so.
  void Finish();

 private:
  // The usual lengths of records, for what is asked for before it is written.
  static constexpr size_t kUsualRecordBytes = 128;
  // Records of a group follow each other sooner than a line comes: some of them ahead.
  static constexpr size_t kPrefetchedAheadBytes = 8 * kUsualRecordBytes;

  bool BeginPart();
  void FinishPart();
  void Append(std::string_view bytes);
  // What texts, values and the error may still take.
  size_t room() const { return kRecordedBytesMax - recorded_bytes_; }
  char* begin() const { return block_->memory_.get() + block_->bytes_; }

  JournalBlock* block_ = nullptr;
  uint64_t seq_ = 0;
  // Where the record before lies, when Repeat may take its facts and its statement.
  const JournalBlock* repeatable_ = nullptr;
  size_t repeatable_values_ = 0;
  char* end_ = nullptr;         // of what is written
  char* part_begin_ = nullptr;  // of the last statement
  journal_format::PartHeader part_;
  uint8_t statement_count_ = 0;
  bool leaves_out_statements_ = false;
  bool is_finished_ = false;
  uint16_t error_bytes_ = 0;
  size_t recorded_bytes_ = 0;
};

// ---- What every request goes through, inline.

inline void JournalWriter::Begin(JournalBlock& block, uint64_t seq) {
  LS_CHECK(block.HasRoom(), "a record is begun where it has room");
  LS_DCHECK(seq >= block.next_seq_, "numbers ascend");
  block_ = &block;
  seq_ = seq;
  end_ = begin() + sizeof(journal_format::RecordHeader);
  is_finished_ = false;
  // The lines that one of the next records will take: nobody has looked at them since the block was
  // given out, and a store that waits for its line makes others wait.
  for (size_t line = 0; line < kUsualRecordBytes; line += kCacheLineBytes) {
    __builtin_prefetch(end_ + kPrefetchedAheadBytes + line, 1);
  }
}

inline bool JournalWriter::Repeat(std::optional<int64_t> timestamp, std::string_view sent_values,
                                  size_t value_count) {
  if (repeatable_ != block_ || value_count != repeatable_values_ ||
      sent_values.size() > kRecordedValueBytesMax) {
    return false;
  }
  journal_format::RecordHeader header;
  header.timestamp = timestamp.value_or(0);
  header.has_timestamp = timestamp.has_value();
  header.statement_count = 1;
  header.repeats = true;
  header.bytes = static_cast<uint32_t>(sizeof(header) + sent_values.size());
  char* const at = begin();
  std::memcpy(at, &header, sizeof(header));
  CopyShort(sent_values, at + sizeof(header));
  // It follows on the record before, which was written by this.
  LS_DCHECK(seq_ == block_->next_seq_, "records of one writer follow on each other");
  block_->bytes_ += header.bytes;
  block_->next_seq_ = seq_ + 1;
  is_finished_ = true;
  return true;
}

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_JOURNAL_WRITER_H_

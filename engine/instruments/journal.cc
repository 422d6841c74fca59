#include "engine/instruments/journal.h"

#include <string>
#include <utility>
#include <vector>

#include "engine/base/check.h"

namespace liststore::instruments {

Journal::Journal(size_t capacity, size_t bytes_max)
    : bytes_max_(bytes_max), enabled_(capacity > 0), capacity_(capacity) {
  LS_CHECK(capacity <= kJournalCapacityMax, "whoever takes a capacity in checks it");
}

JournalBlock& Journal::BlockWithRoom() {
  if (blocks_.empty() || !blocks_.back()->HasRoom()) {
    has_new_block_ = true;
    blocks_.push_back(std::make_shared<JournalBlock>(last_seq_ + 1));
  }
  return *blocks_.back();
}

void Journal::DropAbove(size_t records_max) {
  if (kept() <= records_max) return;
  const uint64_t dropped = kept() - records_max;
  dropped_ += dropped;
  first_seq_ += dropped;
  // A block ends where the next one begins. What somebody reads lives until it was read.
  while (blocks_.size() > 1 && blocks_[1]->first_seq() <= first_seq_) blocks_.pop_front();
}

void Journal::DropAboveBytes() {
  size_t bytes = BlockBytes();
  while (blocks_.size() > 1 && bytes > bytes_max()) {
    bytes -= blocks_.front()->bytes_taken();
    const uint64_t kept_from = blocks_[1]->first_seq();
    dropped_ += kept_from - first_seq_;
    first_seq_ = kept_from;
    blocks_.pop_front();
  }
}

size_t Journal::BlockBytes() const {
  size_t bytes = 0;
  for (const auto& block : blocks_) bytes += block->bytes_taken();
  return bytes;
}

size_t Journal::bytes() const {
  const MutexLock lock(mutex_);
  return BlockBytes();
}

void Journal::set_bytes_max(size_t bytes) {
  const MutexLock lock(mutex_);
  bytes_max_.store(bytes, std::memory_order_relaxed);
  DropAboveBytes();
}

void Journal::ForEach(const std::function<void(const JournalRecord&)>& visit) const {
  struct Part {
    std::shared_ptr<const JournalBlock> records;
    size_t bytes = 0;
  };
  std::vector<Part> parts;
  uint64_t first_seq = 0;
  {
    const MutexLock lock(mutex_);
    first_seq = first_seq_;
    parts.reserve(blocks_.size());
    for (const auto& block : blocks_) parts.push_back({block, block->bytes()});
  }
  for (const Part& part : parts) {
    for (JournalBlockReader reader(*part.records, part.bytes); !reader.done();) {
      const JournalRecord record = reader.Next();
      if (record.seq() >= first_seq) visit(record);
    }
  }
}

JournalCounts Journal::counts() const {
  const MutexLock lock(mutex_);
  LS_DCHECK(kept() <= capacity_, "no more is kept than may be");
  return {enabled(), capacity_, kept() + dropped_, kept(), dropped_, last_seq_};
}

void Journal::Clear() {
  const MutexLock lock(mutex_);
  blocks_.clear();
  first_seq_ = last_seq_ + 1;
  dropped_ = 0;
}

cql::CqlStatus Journal::Configure(std::optional<bool> enabled, std::optional<int64_t> capacity) {
  const MutexLock lock(mutex_);
  if (capacity && (*capacity < 0 || std::cmp_greater(*capacity, kJournalCapacityMax))) {
    return cql::CqlError::Invalid("liststore.journal: capacity is " + std::to_string(*capacity) +
                                  ", not 0 to " + std::to_string(kJournalCapacityMax));
  }
  const size_t capacity_then = capacity ? static_cast<size_t>(*capacity) : capacity_;
  if (enabled.value_or(false) && capacity_then == 0) {
    return cql::CqlError::Invalid("liststore.journal: cannot be enabled with a capacity of 0");
  }
  capacity_ = capacity_then;
  DropAbove(capacity_);
  if (kept() == 0) blocks_.clear();
  enabled_.store(enabled.value_or(this->enabled()) && capacity_then > 0, std::memory_order_relaxed);
  return {};
}

}  // namespace liststore::instruments

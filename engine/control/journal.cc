#include "engine/control/journal.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/check.h"

namespace liststore {

Journal::Journal(size_t capacity) : enabled_(capacity > 0), capacity_(capacity) {
  LS_CHECK(capacity <= kJournalCapacityMax, "whoever takes a capacity in checks it");
}

JournalRecord& Journal::NextRecord() {
  const uint64_t seq = ++last_seq_;
  JournalRecord* record = nullptr;
  if (records_.size() < capacity_) {
    record = &records_.emplace_back();
  } else {
    record = &records_[next_];
    next_ = next_ + 1 == capacity_ ? 0 : next_ + 1;
    ++dropped_;
    // A record lies in four lines, which nobody has looked at since the ring came by.
    const char* const ahead = reinterpret_cast<const char*>(&records_[next_]);
    for (size_t line = 0; line < sizeof(JournalRecord); line += 64) {
      __builtin_prefetch(ahead + line, 1);
    }
  }
  record->Begin();
  record->seq = seq;
  return *record;
}

const JournalRecord& Journal::At(size_t i) const {
  LS_DCHECK(i < records_.size(), "a record is one of those that are kept");
  const size_t at = next_ + i;
  return records_[at < records_.size() ? at : at - records_.size()];
}

std::vector<JournalRecord> Journal::After(uint64_t seq, size_t records_max) const {
  std::vector<JournalRecord> records;
  const MutexLock lock(mutex_);
  if (seq >= last_seq_ || records_.empty()) return records;
  const uint64_t oldest = last_seq_ - records_.size() + 1;
  size_t i = seq < oldest ? 0 : static_cast<size_t>(seq + 1 - oldest);
  const size_t end = std::min(records_.size(), i + records_max);
  records.reserve(end - i);
  for (; i < end; ++i) records.push_back(At(i));
  return records;
}

void Journal::ForEach(const std::function<void(const JournalRecord&)>& visit) const {
  // Under one lock so many: loops wait for it.
  constexpr size_t kRecordsPerLock = 256;
  const uint64_t last_seq = counts().last_seq;
  uint64_t seq = 0;
  while (seq < last_seq) {
    const std::vector<JournalRecord> records = After(seq, kRecordsPerLock);
    if (records.empty()) return;
    for (const JournalRecord& record : records) {
      seq = record.seq;
      if (seq > last_seq) return;
      visit(record);
    }
  }
}

JournalCounts Journal::counts() const {
  const MutexLock lock(mutex_);
  LS_DCHECK(records_.size() <= capacity_, "no more is kept than may be");
  return {enabled(), capacity_, records_.size() + dropped_, records_.size(), dropped_, last_seq_};
}

void Journal::Clear() {
  const MutexLock lock(mutex_);
  records_ = {};
  next_ = 0;
  dropped_ = 0;
}

CqlStatus Journal::Configure(std::optional<bool> enabled, std::optional<int64_t> capacity) {
  const MutexLock lock(mutex_);
  if (capacity && (*capacity < 0 || std::cmp_greater(*capacity, kJournalCapacityMax))) {
    return CqlError::Invalid("liststore.journal: capacity is " + std::to_string(*capacity) +
                             ", not 0 to " + std::to_string(kJournalCapacityMax));
  }
  const size_t capacity_then = capacity ? static_cast<size_t>(*capacity) : capacity_;
  if (enabled.value_or(false) && capacity_then == 0) {
    return CqlError::Invalid("liststore.journal: cannot be enabled with a capacity of 0");
  }
  Resize(capacity_then);
  enabled_.store(enabled.value_or(this->enabled()) && capacity_then > 0, std::memory_order_relaxed);
  return {};
}

void Journal::Resize(size_t capacity) {
  if (capacity == capacity_) return;
  const size_t kept = std::min(records_.size(), capacity);
  dropped_ += records_.size() - kept;
  std::rotate(records_.begin(), records_.begin() + static_cast<ptrdiff_t>(next_), records_.end());
  records_.erase(records_.begin(), records_.end() - static_cast<ptrdiff_t>(kept));
  records_.shrink_to_fit();
  next_ = 0;
  capacity_ = capacity;
}

}  // namespace liststore

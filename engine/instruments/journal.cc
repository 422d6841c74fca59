#include "engine/instruments/journal.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/check.h"

namespace liststore::instruments {
namespace {

// After so many new blocks, shelves on which nobody writes any more give theirs back.
constexpr uint64_t kBlocksBetweenLooks = 64;

size_t BytesOf(const std::deque<std::shared_ptr<JournalBlock>>& blocks) {
  size_t bytes = 0;
  for (const auto& block : blocks) bytes += block->bytes_taken();
  return bytes;
}

}  // namespace

class Journal::AllLocked {
 public:
  explicit AllLocked(const Journal& journal) ABSL_NO_THREAD_SAFETY_ANALYSIS : journal_(journal) {
    for (const Shelf& shelf : journal_.shelves_) shelf.mutex.Lock();
  }
  ~AllLocked() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (const Shelf& shelf : journal_.shelves_) shelf.mutex.Unlock();
  }
  AllLocked(const AllLocked&) = delete;
  AllLocked& operator=(const AllLocked&) = delete;

  uint64_t last_seq() const { return journal_.last_seq_.load(std::memory_order_relaxed); }
  uint64_t first_seq() const { return journal_.FirstOf(last_seq()); }

 private:
  const Journal& journal_;
};

Journal::Journal(size_t capacity, size_t bytes_max)
    : bytes_max_(bytes_max), enabled_(capacity > 0), capacity_(capacity) {
  LS_CHECK(capacity <= kJournalCapacityMax, "whoever takes a capacity in checks it");
}

JournalBlock& Journal::BlockWithRoom(Shelf& shelf, uint64_t seq, bool* has_new_block) {
  if (shelf.blocks.empty() || !shelf.blocks.back()->HasRoom()) {
    *has_new_block = true;
    shelf.blocks.push_back(std::make_shared<JournalBlock>(seq));
  }
  return *shelf.blocks.back();
}

// A block ends before the next one begins. What somebody reads lives until it was read.
void Journal::DropBelow(uint64_t seq, Shelf& shelf) {
  while (shelf.blocks.size() > 1 && shelf.blocks[1]->first_seq() <= seq) shelf.blocks.pop_front();
}

void Journal::NoteBytes(Shelf& shelf) {
  shelf.bytes.store(BytesOf(shelf.blocks), std::memory_order_relaxed);
}

void Journal::LookAtAllShelves() {
  size_t bytes = 0;
  for (const Shelf& shelf : shelves_) bytes += shelf.bytes.load(std::memory_order_relaxed);
  const uint64_t begun = blocks_begun_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (bytes <= bytes_max() && begun % kBlocksBetweenLooks != 0) return;
  DropInAll(AllLocked(*this));
}

// What is too old; then, the oldest first, what is too much.
void Journal::DropInAll(const AllLocked& all) {
  size_t bytes = 0;
  for (Shelf& shelf : shelves_) {
    // Of one on which nobody writes, the last block too.
    if (!shelf.blocks.empty() && shelf.blocks.back()->next_seq() <= all.first_seq()) {
      shelf.blocks.clear();
    }
    DropBelow(all.first_seq(), shelf);
    bytes += BytesOf(shelf.blocks);
  }
  while (bytes > bytes_max()) {
    Shelf* oldest = nullptr;
    for (Shelf& shelf : shelves_) {
      if (shelf.blocks.size() < 2) continue;
      if (oldest == nullptr ||
          shelf.blocks.front()->first_seq() < oldest->blocks.front()->first_seq()) {
        oldest = &shelf;
      }
    }
    if (oldest == nullptr) break;
    bytes -= oldest->blocks.front()->bytes_taken();
    oldest->blocks.pop_front();
    // What others have that is older goes with it: nothing is missing in between.
    const uint64_t first = oldest->blocks.front()->first_seq();
    first_seq_.store(std::max(first, all.first_seq()), std::memory_order_relaxed);
  }
  for (Shelf& shelf : shelves_) {
    DropBelow(all.first_seq(), shelf);
    NoteBytes(shelf);
  }
}

size_t Journal::bytes() const {
  const AllLocked all(*this);
  size_t bytes = 0;
  for (const Shelf& shelf : shelves_) bytes += BytesOf(shelf.blocks);
  return bytes;
}

void Journal::set_bytes_max(size_t bytes) {
  const AllLocked all(*this);
  bytes_max_.store(bytes, std::memory_order_relaxed);
  DropInAll(all);
}

void Journal::ForEach(const std::function<void(const JournalRecord&)>& visit) const {
  // Of one shelf, block after block.
  struct Part {
    std::shared_ptr<const JournalBlock> records;
    JournalBlockReader reader;
    JournalRecord record = {};
  };
  std::vector<std::vector<Part>> shelves;
  uint64_t first_seq = 0;
  {
    const AllLocked all(*this);
    first_seq = all.first_seq();
    for (const Shelf& shelf : shelves_) {
      std::vector<Part> parts;
      for (auto block = shelf.blocks.rbegin(); block != shelf.blocks.rend(); ++block) {
        parts.push_back({*block, JournalBlockReader(**block, (*block)->bytes())});
      }
      if (!parts.empty()) shelves.push_back(std::move(parts));
    }
  }
  // The next record of a shelf, in the last of its parts; false: there is none.
  const auto next = [](std::vector<Part>& parts) {
    while (!parts.empty() && parts.back().reader.done()) parts.pop_back();
    if (!parts.empty()) parts.back().record = parts.back().reader.Next();
    return !parts.empty();
  };
  std::erase_if(shelves, [&next](std::vector<Part>& parts) { return !next(parts); });
  const auto later = [](const std::vector<Part>& a, const std::vector<Part>& b) {
    return a.back().record.seq() > b.back().record.seq();
  };
  std::make_heap(shelves.begin(), shelves.end(), later);
  while (!shelves.empty()) {
    std::pop_heap(shelves.begin(), shelves.end(), later);
    const JournalRecord& record = shelves.back().back().record;
    if (record.seq() >= first_seq) visit(record);
    if (next(shelves.back())) {
      std::push_heap(shelves.begin(), shelves.end(), later);
    } else {
      shelves.pop_back();
    }
  }
}

JournalCounts Journal::counts() const {
  const AllLocked all(*this);
  const uint64_t last = all.last_seq();
  const uint64_t before = cleared_seq_.load(std::memory_order_relaxed);
  const auto kept = static_cast<size_t>(last + 1 - all.first_seq());
  const size_t capacity = capacity_.load(std::memory_order_relaxed);
  LS_DCHECK(kept <= capacity, "no more is kept than may be");
  return {enabled(), capacity, last - before, kept, last - before - kept, last};
}

void Journal::Clear() {
  const AllLocked all(*this);
  for (Shelf& shelf : shelves_) {
    shelf.blocks.clear();
    NoteBytes(shelf);
  }
  first_seq_.store(all.last_seq() + 1, std::memory_order_relaxed);
  cleared_seq_.store(all.last_seq(), std::memory_order_relaxed);
}

cql::CqlStatus Journal::Configure(std::optional<bool> enabled, std::optional<int64_t> capacity) {
  const AllLocked all(*this);
  if (capacity && (*capacity < 0 || std::cmp_greater(*capacity, kJournalCapacityMax))) {
    return cql::CqlError::Invalid("liststore.journal: capacity is " + std::to_string(*capacity) +
                                  ", not 0 to " + std::to_string(kJournalCapacityMax));
  }
  const size_t capacity_then =
      capacity ? static_cast<size_t>(*capacity) : capacity_.load(std::memory_order_relaxed);
  if (enabled.value_or(false) && capacity_then == 0) {
    return cql::CqlError::Invalid("liststore.journal: cannot be enabled with a capacity of 0");
  }
  // What was dropped under the smaller capacity, before or now, stays so.
  first_seq_.store(all.first_seq(), std::memory_order_relaxed);
  capacity_.store(capacity_then, std::memory_order_relaxed);
  first_seq_.store(all.first_seq(), std::memory_order_relaxed);
  DropInAll(all);
  enabled_.store(enabled.value_or(this->enabled()) && capacity_then > 0, std::memory_order_relaxed);
  return {};
}

}  // namespace liststore::instruments

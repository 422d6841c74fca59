// Usage: how partitions were used, as counts; and who keeps such counts for parts of a table.
#ifndef LISTSTORE_ENGINE_MODEL_USAGE_H_
#define LISTSTORE_ENGINE_MODEL_USAGE_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace liststore {

struct Usage {
  uint64_t hits = 0;          // reads of complete partitions
  uint64_t partial_hits = 0;  // of partial ones
  uint64_t misses = 0;        // of absent ones
  uint64_t upserts = 0;       // calls, each on one partition
  uint64_t puts = 0;
  uint64_t evictions = 0;  // for memory
  uint64_t evicted_rows = 0;
  uint64_t forgotten = 0;
  uint64_t forgotten_rows = 0;

  void Add(const Usage& other);
  bool operator==(const Usage&) const = default;
  bool any() const { return !(*this == Usage{}); }
};

// All of its counts.
inline constexpr std::array kUsageCounts = {
    &Usage::hits,      &Usage::partial_hits, &Usage::misses,    &Usage::upserts,       &Usage::puts,
    &Usage::evictions, &Usage::evicted_rows, &Usage::forgotten, &Usage::forgotten_rows};
static_assert(sizeof(Usage) == kUsageCounts.size() * sizeof(uint64_t), "every count is listed");

inline void Usage::Add(const Usage& other) {
  for (const auto count : kUsageCounts) this->*count += other.*count;
}

// Keeps the counts of all lanes for each first component of the partition keys. Called under lanes
// that are held: must not wait for anybody.
class UsageOwner {
 public:
  virtual ~UsageOwner() = default;
  // The component as the owner keeps it, bytes that live as long as the owner; empty: nobody counts
  // for it.
  virtual std::string_view FindComponent(std::string_view framed_component) = 0;
  // Any thread.
  virtual void AddUsage(std::string_view framed_component, const Usage& usage) = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_USAGE_H_

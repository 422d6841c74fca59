// MemoryWatch: when it is said that memory for rows runs short.
#ifndef LISTSTORE_ENGINE_SERVE_MEMORY_WATCH_H_
#define LISTSTORE_ENGINE_SERVE_MEMORY_WATCH_H_

#include <cstdint>
#include <optional>

#include "liststore/cql_server.h"

namespace liststore {

// Looks now and then, and says each thing once: when four fifths of the limit are held, and when
// writes were refused, or partitions evicted, at it. Both may be said again when less than seven
// tenths have been held in between, so that what moves about a bound says nothing new. What is full
// when it is looked at first is said to be full alone. O(1), allocates nothing. One thread at a time.
class MemoryWatch {
 public:
  struct Figures {
    uint64_t held_bytes = 0;
    uint64_t limit_bytes = 0;
    // Writes that were refused, and partitions that were evicted, since the start.
    uint64_t short_of_memory = 0;
  };

  // Under another limit everything may be said again.
  void LimitHasChanged() { said_nearly_ = said_full_ = false; }

  std::optional<CqlMemoryNotice::Kind> Look(const Figures& now) {
    const bool fell_short = now.short_of_memory != short_of_memory_;
    short_of_memory_ = now.short_of_memory;
    if (now.held_bytes < Part(now.limit_bytes, kQuietTenths)) {
      // A write that was refused all the same was too large, which is its client's affair.
      said_nearly_ = said_full_ = false;
      return std::nullopt;
    }
    if (fell_short && !said_full_) {
      said_nearly_ = said_full_ = true;
      return CqlMemoryNotice::Kind::kFull;
    }
    if (!said_nearly_ && now.held_bytes >= Part(now.limit_bytes, kNearlyTenths)) {
      said_nearly_ = true;
      return CqlMemoryNotice::Kind::kNearlyFull;
    }
    return std::nullopt;
  }

 private:
  static constexpr uint64_t kNearlyTenths = 8;
  static constexpr uint64_t kQuietTenths = 7;
  static uint64_t Part(uint64_t bytes, uint64_t tenths) { return bytes / 10 * tenths; }

  uint64_t short_of_memory_ = 0;
  bool said_nearly_ = false;
  bool said_full_ = false;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_SERVE_MEMORY_WATCH_H_

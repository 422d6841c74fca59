// The remaining time of an item that is added.
#ifndef LISTSTORE_ENGINE_LISTS_REMAINING_TIME_H_
#define LISTSTORE_ENGINE_LISTS_REMAINING_TIME_H_

#include <cstdint>

#include "engine/base/check.h"
#include "engine/base/seconds.h"
#include "engine/model/packed_item_key.h"
#include "engine/model/time.h"

namespace liststore {

// The sum below stays within 64 bits for every timestamp and TTL that the store accepts.
static_assert(kItemKeyNanosMax + static_cast<uint64_t>(kTtlSecondsMax) * kNanosPerSecond >
                  kItemKeyNanosMax,
              "the end of every item fits unsigned 64-bit nanoseconds");

// max(0, floor((timestamp + TTL - now) / 1 s)), exact for all instants. 0: the item is not stored.
constexpr int64_t RemainingSeconds(uint64_t timestamp_nanos, int64_t ttl_seconds,
                                   uint64_t now_nanos) {
  LS_DCHECK(timestamp_nanos <= kItemKeyNanosMax, "the timestamp was checked");
  LS_DCHECK(ttl_seconds >= 1 && ttl_seconds <= kTtlSecondsMax, "the TTL was checked");
  const uint64_t end_nanos = timestamp_nanos + static_cast<uint64_t>(ttl_seconds) * kNanosPerSecond;
  return end_nanos <= now_nanos ? 0 : WholeSeconds(end_nanos - now_nanos);
}

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_LISTS_REMAINING_TIME_H_

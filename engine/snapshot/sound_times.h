// Times that a store itself can have written: additions to them do not overflow.
#ifndef LISTSTORE_ENGINE_SNAPSHOT_SOUND_TIMES_H_
#define LISTSTORE_ENGINE_SNAPSHOT_SOUND_TIMES_H_

#include <cstdint>

#include "engine/model/cell.h"
#include "engine/model/time.h"

namespace liststore::snapshot {

inline constexpr int64_t kSecondsMax = int64_t{1} << 40;
inline bool IsSoundSecond(int64_t seconds) {
  return seconds > -kSecondsMax && seconds < kSecondsMax;
}
inline bool IsSound(const Liveness& liveness) {
  if (!liveness.present()) return false;
  if (liveness.ttl_seconds == 0) return liveness.expiry_seconds == kNoExpiry;
  return liveness.ttl_seconds > 0 && liveness.ttl_seconds <= kTtlSecondsMax &&
         liveness.expiry_seconds != kNoExpiry && IsSoundSecond(liveness.expiry_seconds);
}
inline bool IsSound(const Tombstone& tombstone) {
  return tombstone.present() && IsSoundSecond(tombstone.deletion_seconds);
}

}  // namespace liststore::snapshot

#endif  // LISTSTORE_ENGINE_SNAPSHOT_SOUND_TIMES_H_

// TimeuuidSource: the timeuuids of a server, by its clock.
#ifndef LISTSTORE_ENGINE_EXECUTE_WRITE_TIMEUUID_SOURCE_H_
#define LISTSTORE_ENGINE_EXECUTE_WRITE_TIMEUUID_SOURCE_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "engine/base/mutex.h"
#include "engine/model/types/timeuuid.h"
#include "engine/model/types/uuid.h"
#include "liststore/clock.h"

namespace liststore::execute {

// Each is unique, and greater than all before it, also while the clock stands still: then it takes
// the next tick of 100 ns. When the clock goes back, as a reset's does, they go back with it, and
// differ from those of that time before by what stands behind the time (RFC 4122, section 4.1.5).
// Thread-safe. O(1), a mutex.
class TimeuuidSource {
 public:
  // `clock` outlives it. `node`: random bits, by which two servers differ.
  TimeuuidSource(const Clock& clock, const Uuid& node);

  Uuid Next();

 private:
  const Clock& clock_;
  Mutex mutex_;
  // Of the clock at the last call, and of the last timeuuid.
  TimeuuidTicks clock_ticks_ ABSL_GUARDED_BY(mutex_) = 0;
  TimeuuidTicks last_ticks_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t sequence_ ABSL_GUARDED_BY(mutex_);  // 62 bits
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_WRITE_TIMEUUID_SOURCE_H_

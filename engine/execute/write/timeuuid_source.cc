#include "engine/execute/write/timeuuid_source.h"

#include <algorithm>

#include "engine/base/big_endian.h"

namespace liststore::execute {
namespace {

constexpr uint64_t kSequenceBits = (uint64_t{1} << 62) - 1;
constexpr uint64_t kVariant = uint64_t{1} << 63;  // of RFC 4122: the two bits in front

}  // namespace

TimeuuidSource::TimeuuidSource(const Clock& clock, const Uuid& node)
    : clock_(clock), sequence_(LoadBigEndian64(node.bytes.data() + 8) & kSequenceBits) {}

Uuid TimeuuidSource::Next() {
  const MutexLock lock(mutex_);
  // Read in here: of two threads' readings the later one never comes first.
  const TimeuuidTicks ticks = TimeuuidTicksAt(clock_.NowNanos());
  if (ticks < clock_ticks_) {
    sequence_ = (sequence_ + 1) & kSequenceBits;
    last_ticks_ = 0;
  }
  clock_ticks_ = ticks;
  last_ticks_ = std::max(ticks, last_ticks_ + 1);
  return MakeTimeuuid(last_ticks_, kVariant | sequence_);
}

}  // namespace liststore::execute

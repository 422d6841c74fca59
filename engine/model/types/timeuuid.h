// Timeuuids: UUIDs of version 1, which carry an instant in steps of 100 ns. Sources: RFC 4122,
// section 4.2; ScyllaDB utils/UUID_gen.hh.
#ifndef LISTSTORE_ENGINE_MODEL_TYPES_TIMEUUID_H_
#define LISTSTORE_ENGINE_MODEL_TYPES_TIMEUUID_H_

#include <cstdint>
#include <string_view>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/model/types/uuid.h"
#include "engine/model/types/uuid_order.h"

namespace liststore {

// Steps of 100 ns since 15 October 1582, which is where timeuuids count from.
using TimeuuidTicks = uint64_t;
inline constexpr TimeuuidTicks kTimeuuidTicksAtEpoch = 0x01b2'1dd2'1381'4000;
inline constexpr TimeuuidTicks kTimeuuidTicksMax = (uint64_t{1} << 60) - 1;
inline constexpr int64_t kTimeuuidTicksPerMillisecond = 10'000;

// The first and the last of the timeuuids of one tick, whose low 8 bytes sort as signed ones.
inline constexpr uint64_t kTimeuuidLowFirst = 0x8080'8080'8080'8080;
inline constexpr uint64_t kTimeuuidLowLast = 0x7f7f'7f7f'7f7f'7f7f;

constexpr TimeuuidTicks TimeuuidTicksAt(uint64_t unix_nanos) {
  return kTimeuuidTicksAtEpoch + unix_nanos / 100;
}

// `low`: what makes it unique among those of its tick. Of a UUID that is handed out its first two
// bits are 10; those of the two bounds above are not.
inline Uuid MakeTimeuuid(TimeuuidTicks ticks, uint64_t low) {
  LS_CHECK(ticks <= kTimeuuidTicksMax, "a timeuuid has 60 bits of time");
  Uuid uuid;
  StoreBigEndian64(uuid.bytes.data(), TimeLast(uint64_t{kTimeuuidVersion} << 60 | ticks));
  StoreBigEndian64(uuid.bytes.data() + 8, low);
  return uuid;
}

// Of a timeuuid's 16 bytes.
inline TimeuuidTicks TicksOfTimeuuid(std::string_view uuid) {
  LS_CHECK(uuid.size() == 16, "a UUID has 16 bytes");
  return TimeFirst(LoadBigEndian64(uuid.data())) & kTimeuuidTicksMax;
}
// Milliseconds since the Unix epoch, rounded towards the past.
inline int64_t MillisecondsOfTimeuuid(std::string_view uuid) {
  constexpr auto kEpoch = static_cast<int64_t>(kTimeuuidTicksAtEpoch);
  return static_cast<int64_t>(TicksOfTimeuuid(uuid)) / kTimeuuidTicksPerMillisecond -
         kEpoch / kTimeuuidTicksPerMillisecond;
}

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_TYPES_TIMEUUID_H_

#include "engine/durable/clock_record.h"

#include "engine/base/byte_coding.h"

namespace liststore::durable {

void AppendClockEvent(const ClockState& clock, std::string& out) {
  Put(out, kClockEvent);
  Put(out, static_cast<uint8_t>(clock.setting.mode));
  Put(out, clock.setting.factor_millionths);
  Put(out, clock.now_nanos);
}

std::optional<ClockState> ClockIn(std::string_view event) {
  ByteReader input(event);
  if (input.Take<uint8_t>() != kClockEvent) return std::nullopt;
  ClockState clock;
  const auto mode = input.Take<uint8_t>();
  clock.setting.factor_millionths = input.Take<uint64_t>();
  clock.now_nanos = input.Take<uint64_t>();
  if (mode > static_cast<uint8_t>(ServerClock::Mode::kScaled)) return std::nullopt;
  clock.setting.mode = static_cast<ServerClock::Mode>(mode);
  if (!input.AtEnd() || clock.now_nanos > ServerClock::kNanosMax ||
      clock.setting.factor_millionths < 1 ||
      clock.setting.factor_millionths > ServerClock::kFactorMax) {
    return std::nullopt;
  }
  return clock;
}

}  // namespace liststore::durable

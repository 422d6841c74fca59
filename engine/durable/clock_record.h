// How a clock stands, as an event of the log.
#ifndef LISTSTORE_ENGINE_DURABLE_CLOCK_RECORD_H_
#define LISTSTORE_ENGINE_DURABLE_CLOCK_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "liststore/server_clock.h"

namespace liststore::durable {

// The first byte of an event: what it is about.
inline constexpr uint8_t kRolesEvent = 1;
inline constexpr uint8_t kClockEvent = 2;
inline constexpr uint8_t kHoldingEvent = 3;  // of list stores: lists/list_keeper.h

struct ClockState {
  ServerClock::Setting setting;
  uint64_t now_nanos = 0;  // of one that does not follow the machine

  bool operator==(const ClockState&) const = default;
};

void AppendClockEvent(const ClockState& clock, std::string& out);
inline bool IsEvent(std::string_view event, uint8_t kind) {
  return !event.empty() && static_cast<uint8_t>(event.front()) == kind;
}
inline bool IsClockEvent(std::string_view event) { return IsEvent(event, kClockEvent); }
// nullopt: no encoder wrote this.
std::optional<ClockState> ClockIn(std::string_view event);

}  // namespace liststore::durable

#endif  // LISTSTORE_ENGINE_DURABLE_CLOCK_RECORD_H_

// What stands in the log beside rows and tables, in no order with them: roles, and moves of the clock.
#ifndef LISTSTORE_ENGINE_DURABLE_EVENTS_H_
#define LISTSTORE_ENGINE_DURABLE_EVENTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/roles/role_state.h"
#include "liststore/server_clock.h"

namespace liststore::durable {

struct ClockState {
  ServerClock::Setting setting;
  uint64_t now_nanos = 0;  // of one that does not follow the machine

  bool operator==(const ClockState&) const = default;
};

// Appends an event that makes the roles of `before` those of `after`: hashes, never passwords. O(all of
// both), and the bytes of what differs.
void AppendRoleEvent(const roles::RoleState& before, const roles::RoleState& after,
                     std::string& out);
void AppendClockEvent(const ClockState& clock, std::string& out);

// What events come to.
struct EventState {
  roles::RoleState roles;
  bool has_roles = false;  // some event was of them
  std::optional<ClockState> clock;
};
// False: no encoder wrote this, and `state` may have a part of it.
bool ApplyEvent(std::string_view event, EventState& state);

}  // namespace liststore::durable

#endif  // LISTSTORE_ENGINE_DURABLE_EVENTS_H_

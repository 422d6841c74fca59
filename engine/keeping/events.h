// What stands in the log beside rows and tables, in no order with them: roles, and moves of the clock.
#ifndef LISTSTORE_ENGINE_KEEPING_EVENTS_H_
#define LISTSTORE_ENGINE_KEEPING_EVENTS_H_

#include <optional>
#include <string>
#include <string_view>

#include "engine/durable/clock_record.h"
#include "engine/roles/role_state.h"

namespace liststore::keeping {

// Appends an event that makes the roles of `before` those of `after`: hashes, never passwords. O(all of
// both), and the bytes of what differs.
void AppendRoleEvent(const roles::RoleState& before, const roles::RoleState& after,
                     std::string& out);

// What events come to.
struct EventState {
  roles::RoleState roles;
  bool has_roles = false;  // some event was of them
  std::optional<durable::ClockState> clock;
  std::string holding;  // of a list store whose directory it is, as it was written
};
// False: no encoder wrote this, and `state` may have a part of it.
bool ApplyEvent(std::string_view event, EventState& state);

}  // namespace liststore::keeping

#endif  // LISTSTORE_ENGINE_KEEPING_EVENTS_H_

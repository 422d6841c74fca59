// Who listens on a port, as far as /proc tells.
#ifndef LISTSTORE_TOOLS_SERVE_PORT_OWNER_H_
#define LISTSTORE_TOOLS_SERVE_PORT_OWNER_H_

#include <cstdint>
#include <optional>
#include <string>

namespace liststore {

struct PortOwner {
  int pid = 0;
  std::string name;  // of the program, as the kernel keeps it: up to 15 bytes
};

// The first process found that has a TCP socket listening on this port, on any address. nullopt:
// none, or one whose files this process may not see. O(open files of all processes): some ms.
std::optional<PortOwner> FindPortOwner(uint16_t port);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_SERVE_PORT_OWNER_H_

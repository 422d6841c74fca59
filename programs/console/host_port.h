// Addresses of servers as people write them.
#ifndef LISTSTORE_PROGRAMS_CONSOLE_HOST_PORT_H_
#define LISTSTORE_PROGRAMS_CONSOLE_HOST_PORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace liststore {

struct HostPort {
  std::string host;  // without brackets
  std::optional<uint16_t> port = std::nullopt;

  bool operator==(const HostPort&) const = default;
};

// HOST, HOST:PORT, [IPV6]:PORT, [IPV6] or IPV6. nullopt: none of these, or no port from 0 to 65535.
std::optional<HostPort> ParseHostPort(std::string_view text);
// HOST:PORT, [IPV6]:PORT where the host has colons.
std::string HostPortText(std::string_view host, uint16_t port);

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CONSOLE_HOST_PORT_H_

// How a client's end of its connection is said.
#ifndef LISTSTORE_ENGINE_EXECUTE_PEER_TEXT_H_
#define LISTSTORE_ENGINE_EXECUTE_PEER_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace liststore::execute {

// HOST:PORT, [IPV6]:PORT. `address`: 4 or 16 bytes.
std::string PeerText(std::string_view address, uint16_t port);

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_PEER_TEXT_H_

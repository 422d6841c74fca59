#include "engine/execute/peer_text.h"

#include "engine/cql/values/inet_text.h"

namespace liststore::execute {

std::string PeerText(std::string_view address, uint16_t port) {
  const std::string text = cql::PrintInet(address);
  return (address.size() == 16 ? "[" + text + "]" : text) + ":" + std::to_string(port);
}

}  // namespace liststore::execute

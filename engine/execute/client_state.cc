#include "engine/execute/client_state.h"

#include "engine/cql/values/inet_text.h"

namespace liststore::execute {

std::string ClientState::PeerText() const {
  const std::string address = cql::PrintInet(peer_address);
  return (peer_address.size() == 16 ? "[" + address + "]" : address) + ":" +
         std::to_string(peer_port);
}

}  // namespace liststore::execute

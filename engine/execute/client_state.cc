#include "engine/execute/client_state.h"

#include "engine/execute/peer_text.h"

namespace liststore::execute {

std::string ClientState::PeerText() const { return execute::PeerText(peer_address, peer_port); }

}  // namespace liststore::execute

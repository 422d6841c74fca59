// ConnectedClients: who is connected, for whoever lists them (system.clients).
#ifndef LISTSTORE_ENGINE_FACES_CQL_CONNECTED_CLIENTS_H_
#define LISTSTORE_ENGINE_FACES_CQL_CONNECTED_CLIENTS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "engine/base/mutex.h"
#include "engine/cql/schema/virtual_table.h"
#include "engine/execute/client_state.h"

namespace liststore::cql_face {

// Connections enter when they have begun the handshake and leave when they are closed; in between
// their entry is a copy, renewed when the handshake goes on (a later USE does not show).
// Thread-safe; O(log connections) but Clients. Outside of the data path.
class ConnectedClients final : public cql::ClientDirectory {
 public:
  // By shard and the connection's number there.
  using Id = std::pair<uint32_t, uint64_t>;

  void Put(Id id, const execute::ClientState& client) {
    MutexLock lock(mutex_);
    clients_.insert_or_assign(id, client);
  }
  // Nothing, when it never entered.
  void Remove(Id id) {
    MutexLock lock(mutex_);
    clients_.erase(id);
  }
  // By shard.
  std::vector<cql::ClientFacts> Clients() const override {
    MutexLock lock(mutex_);
    std::vector<cql::ClientFacts> list;
    list.reserve(clients_.size());
    for (const auto& [id, client] : clients_) {
      cql::ClientFacts facts;
      facts.address = client.peer_address;
      facts.port = client.peer_port;
      facts.protocol_version = static_cast<int32_t>(client.protocol_version);
      facts.shard = static_cast<int32_t>(client.shard);
      facts.driver_name = client.driver_name;
      facts.driver_version = client.driver_version;
      facts.user = client.user;
      facts.tls_protocol = client.tls_protocol;
      facts.tls_cipher_suite = client.tls_cipher_suite;
      facts.options = client.startup_options;
      facts.is_ready = !client.user.empty();
      list.push_back(std::move(facts));
    }
    return list;
  }

 private:
  mutable Mutex mutex_;
  std::map<Id, execute::ClientState> clients_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace liststore::cql_face

#endif  // LISTSTORE_ENGINE_FACES_CQL_CONNECTED_CLIENTS_H_

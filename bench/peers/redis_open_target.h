// Reads and insertions of sorted sets for OpenLoad.
#ifndef LISTSTORE_BENCH_PEERS_REDIS_OPEN_TARGET_H_
#define LISTSTORE_BENCH_PEERS_REDIS_OPEN_TARGET_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "bench/peers/redis_load.h"
#include "tools/liststore/open_load.h"

namespace liststore {

// Commands of a connection are answered in their order: they take its places in turn. One thread.
class RedisOpenTarget final : public OpenTarget {
 public:
  // All of them outlive it. Both sources take slots of connections * kOpenInFlight.
  RedisOpenTarget(const RedisLoad::Clients& clients, RedisSource& selects, RedisSource& inserts);

  size_t connections() const override { return clients_.size(); }
  int fd(size_t connection) const override { return clients_[connection]->fd(); }
  std::optional<size_t> Append(size_t connection, bool insert) override;
  absl::Status Send(size_t connection) override { return clients_[connection]->Send(); }
  absl::Status Receive(size_t connection, std::vector<size_t>* answered) override;

 private:
  struct Turn {
    size_t next_sent = 0;
    size_t next_answered = 0;
  };
  size_t SlotOf(size_t connection, size_t turn) const {
    return connection * kOpenInFlight + turn % kOpenInFlight;
  }

  const RedisLoad::Clients& clients_;
  RedisSource& selects_;
  RedisSource& inserts_;
  std::vector<Turn> turns_;          // by connection
  std::vector<RedisSource*> asked_;  // by slot
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_PEERS_REDIS_OPEN_TARGET_H_

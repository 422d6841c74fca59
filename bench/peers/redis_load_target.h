// A load's requests to a Redis server.
#ifndef LISTSTORE_BENCH_PEERS_REDIS_LOAD_TARGET_H_
#define LISTSTORE_BENCH_PEERS_REDIS_LOAD_TARGET_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "bench/load/load_target.h"
#include "bench/peers/redis_client.h"

namespace liststore {

// Where commands come from and replies go.
class RedisSource {
 public:
  virtual ~RedisSource() = default;
  // Appends the next command; false: there are no more. `slot` has none under way.
  virtual bool Next(size_t slot, RedisRequests& requests) = 0;
  // An error ends the load.
  virtual absl::Status OnReply(size_t slot, const RedisReply& reply) = 0;
};

// Commands of a connection are answered in their order: they take its places in turn. One thread.
class RedisLoadTarget final : public LoadTarget {
 public:
  using Clients = std::vector<std::unique_ptr<RedisClient>>;

  // Clients and sources outlive it.
  RedisLoadTarget(const Clients& clients, size_t places, std::vector<RedisSource*> sources);

  size_t connections() const override { return clients_.size(); }
  size_t places() const override { return places_; }
  int fd(size_t connection) const override { return clients_[connection]->fd(); }
  bool HasPlace(size_t connection) const override {
    return turns_[connection].appended - turns_[connection].answered < places_;
  }
  std::optional<size_t> Append(size_t connection, size_t source) override;
  absl::Status Send(size_t connection) override { return clients_[connection]->Send(); }
  absl::Status Receive(size_t connection) override { return clients_[connection]->Receive(); }
  absl::Status Take(size_t connection, std::vector<size_t>* answered) override;

 private:
  // Commands of a connection, since the beginning.
  struct Turn {
    size_t appended = 0;
    size_t answered = 0;
  };
  size_t SlotOf(size_t connection, size_t turn) const {
    return connection * places_ + turn % places_;
  }

  const Clients& clients_;
  const size_t places_;
  const std::vector<RedisSource*> sources_;
  std::vector<Turn> turns_;          // by connection
  std::vector<RedisSource*> asked_;  // by slot
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_PEERS_REDIS_LOAD_TARGET_H_

// A load's requests over CQL.
#ifndef LISTSTORE_BENCH_WIRE_CQL_LOAD_TARGET_H_
#define LISTSTORE_BENCH_WIRE_CQL_LOAD_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "bench/load/load_target.h"
#include "programs/client/cql_client.h"

namespace liststore {

// Where requests come from and replies go.
class WireSource {
 public:
  virtual ~WireSource() = default;
  // Appends the next request, on `stream`; false: there are no more. `slot` has none under way.
  virtual bool Next(size_t slot, int16_t stream, CqlRequests& requests) = 0;
  // An error ends the load.
  virtual absl::Status OnReply(size_t slot, const CqlReply& reply) = 0;
};

// A slot is a connection and one of its streams: answers come in any order. One thread.
class CqlLoadTarget final : public LoadTarget {
 public:
  using Clients = std::vector<std::unique_ptr<CqlClient>>;

  // Clients and sources outlive it. `places` on each connection, at most 32,767.
  CqlLoadTarget(const Clients& clients, size_t places, std::vector<WireSource*> sources);

  size_t connections() const override { return clients_.size(); }
  size_t places() const override { return places_; }
  int fd(size_t connection) const override { return clients_[connection]->fd(); }
  bool HasPlace(size_t connection) const override { return !free_[connection].empty(); }
  std::optional<size_t> Append(size_t connection, size_t source) override;
  absl::Status Send(size_t connection) override { return clients_[connection]->Send(); }
  absl::Status Receive(size_t connection) override { return clients_[connection]->Receive(); }
  absl::Status Take(size_t connection, std::vector<size_t>* answered) override;

 private:
  const Clients& clients_;
  const size_t places_;
  const std::vector<WireSource*> sources_;
  std::vector<std::vector<int16_t>> free_;  // streams, by connection
  std::vector<WireSource*> asked_;          // by slot; nullptr: nothing under way
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_WIRE_CQL_LOAD_TARGET_H_

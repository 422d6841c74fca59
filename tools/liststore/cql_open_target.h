// Reads and insertions by prepared statements for OpenLoad.
#ifndef LISTSTORE_TOOLS_LISTSTORE_CQL_OPEN_TARGET_H_
#define LISTSTORE_TOOLS_LISTSTORE_CQL_OPEN_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "tools/liststore/open_load.h"
#include "tools/liststore/wire_load.h"

namespace liststore {

// A slot is a connection and one of its streams. One thread.
class CqlOpenTarget final : public OpenTarget {
 public:
  // All of them outlive it. Both sources take slots of connections * kOpenInFlight.
  CqlOpenTarget(const WireLoad::Clients& clients, WireSource& selects, WireSource& inserts);

  size_t connections() const override { return clients_.size(); }
  int fd(size_t connection) const override { return clients_[connection]->fd(); }
  std::optional<size_t> Append(size_t connection, bool insert) override;
  absl::Status Send(size_t connection) override { return clients_[connection]->Send(); }
  absl::Status Receive(size_t connection, std::vector<size_t>* answered) override;

 private:
  const WireLoad::Clients& clients_;
  WireSource& selects_;
  WireSource& inserts_;
  std::vector<std::vector<int16_t>> free_;  // streams, by connection
  std::vector<WireSource*> asked_;          // by slot; nullptr: nothing under way
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_LISTSTORE_CQL_OPEN_TARGET_H_

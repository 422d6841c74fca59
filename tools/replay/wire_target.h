// A replay's store behind CQL: the list model by the statements that a service sends to ScyllaDB.
#ifndef LISTSTORE_TOOLS_REPLAY_WIRE_TARGET_H_
#define LISTSTORE_TOOLS_REPLAY_WIRE_TARGET_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "programs/client/cql_client.h"
#include "tools/replay/replay_target.h"

namespace liststore {

// A liststore server with a manual clock and no list items. Features and their TTLs are the
// client's to know, as they are a service's; an item's remaining time is computed here. A call is
// a round trip, or several: a removal by value looks for the keys first, a removal of all counts
// what is alive first.
class WireTarget final : public ReplayTarget {
 public:
  // Makes the tables and moves the clock to `first_at_nanos`. FailedPrecondition: the server is no
  // liststore server with a manual clock, its clock is behind that instant, or holds items.
  static absl::StatusOr<std::unique_ptr<WireTarget>> Open(std::string_view server,
                                                          const ClientTlsOptions& tls,
                                                          uint64_t first_at_nanos);

  absl::Status MoveClock(uint64_t now_nanos) override;
  absl::Status CreateFeature(const Operation& operation) override;
  absl::StatusOr<AddResult> Add(const Operation& operation) override;
  absl::Status Get(const Operation& operation) override;
  absl::StatusOr<size_t> RemoveValue(const Operation& operation) override;
  absl::StatusOr<size_t> RemoveAll(const Operation& operation) override;

  size_t size() const override { return items_.size(); }
  std::string item_key(size_t index) const override { return std::string(items_.at(index, 1)); }
  std::string value(size_t index) const override { return std::string(items_.at(index, 0)); }

  ReplayMemory Memory() const override { return {}; }
  size_t Reclaim(size_t /*items_max*/) override { return 0; }
  uint64_t expired() const override { return 0; }
  absl::StatusOr<uint64_t> CountLive(BusiestList* busiest) override;
  uint64_t now_nanos() const override { return now_nanos_; }
  uint32_t shards() const override { return 0; }
  const ListStore* store() const override { return nullptr; }
  std::string server() const override { return client_->server(); }

 private:
  static constexpr size_t kKeysPerDelete = 10;

  explicit WireTarget(std::unique_ptr<CqlClient> client) : client_(std::move(client)) {}
  absl::Status CheckClock(uint64_t first_at_nanos);
  absl::Status Prepare();
  // DELETE ... item_key IN (`keys`).
  absl::Status Delete(std::string_view feature_key, std::string_view entity_id,
                      const std::vector<std::string_view>& keys);

  const std::unique_ptr<CqlClient> client_;
  uint64_t now_nanos_ = 0;
  std::map<std::string, int64_t, std::less<>> ttl_seconds_;  // by feature_key
  std::string move_clock_, insert_, select_, select_by_value_, count_, delete_all_;
  std::array<std::string, kKeysPerDelete> delete_keys_;  // by their number, less one
  CqlRows items_;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_REPLAY_WIRE_TARGET_H_

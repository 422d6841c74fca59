// GoneRecords: what goes of a lane's part of a table without a write, evicted or forgotten, written down.
#ifndef LISTSTORE_ENGINE_SHARD_GONE_RECORDS_H_
#define LISTSTORE_ENGINE_SHARD_GONE_RECORDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/eviction.h"
#include "engine/model/table_schema.h"

namespace liststore::shard {

class Lane;

// Under the hold of the lane, which has a log. What that has no room for waits here, in its order.
class GoneRecords final : public EvictionWitness {
 public:
  GoneRecords(Lane& lane, TableId table) : lane_(lane), table_(table) {}

  TableId table() const { return table_; }
  void OnEvicted(std::string_view partition_key, int64_t now_seconds) override;
  // False: some wait for room.
  bool WriteDownAll(int64_t now_seconds);

 private:
  bool WriteDown(std::string_view partition_key, int64_t now_seconds);

  Lane& lane_;
  const TableId table_;
  std::string record_;
  std::vector<std::string> waiting_;
  bool is_lost_ = false;  // the heap had no room for a key: which one nobody knows
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_GONE_RECORDS_H_

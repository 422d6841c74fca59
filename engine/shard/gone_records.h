// GoneRecords: what goes of a lane's part of a table without a write, evicted or forgotten, written down.
#ifndef LISTSTORE_ENGINE_SHARD_GONE_RECORDS_H_
#define LISTSTORE_ENGINE_SHARD_GONE_RECORDS_H_

#include <algorithm>
#include <cstddef>
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
  GoneRecords(Lane& lane, TableId table) : lane_(lane), table_(table) {
    record_.reserve(kRecordBytesAhead);
  }

  TableId table() const { return table_; }
  void OnEvicted(std::string_view partition_key, int64_t now_seconds) override;
  // False: some wait for room, or are lost.
  bool WriteDownAll(int64_t now_seconds);

  // Keys for which the heap had no room: which ones nobody knows. Nothing is written before all of them are
  // forgiven: a snapshot that was begun when there were so many does not have them, and the log from before it
  // goes.
  uint64_t lost() const { return lost_; }
  void Forgive(uint64_t lost) { forgiven_ = std::max(forgiven_, lost); }

 private:
  // Records of all but the longest keys find their memory there.
  static constexpr size_t kRecordBytesAhead = 1024;

  bool WriteDown(std::string_view partition_key, int64_t now_seconds);

  Lane& lane_;
  const TableId table_;
  std::string record_;
  std::vector<std::string> waiting_;
  uint64_t lost_ = 0;
  uint64_t forgiven_ = 0;
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_GONE_RECORDS_H_

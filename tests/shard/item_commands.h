// Numbered items on an engine's table of list items, for tests that speak of what is in a list and
// not of commands.
#ifndef LISTSTORE_TESTS_SHARD_ITEM_COMMANDS_H_
#define LISTSTORE_TESTS_SHARD_ITEM_COMMANDS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/shard/engine.h"

namespace liststore::testing {

inline constexpr uint64_t kNanosPerSecond = 1'000'000'000;
// A time for tests that need any.
inline constexpr uint64_t kNoonNanos = 1'700'000'000 * kNanosPerSecond;

// Serialised key of two components.
std::string ListKey(std::string_view feature_key, std::string_view entity_id);
// The item key with this number of nanoseconds; one for each number.
PackedItemKey ItemNumber(uint64_t number);

// Items by number.
using Items = std::map<uint64_t, std::string>;

// Upserts of several partitions with all that they borrow.
class ItemUpserts {
 public:
  explicit ItemUpserts(TableId table) : table_(table) {}
  ItemUpserts(const ItemUpserts&) = delete;
  ItemUpserts& operator=(const ItemUpserts&) = delete;

  // One command more. `ttl_seconds` counts from `now_nanos`; 0: the items last.
  void Add(std::string_view partition_key, const Items& items, uint64_t now_nanos = 0,
           int64_t ttl_seconds = 0);
  std::vector<Command>& commands() { return commands_; }

 private:
  struct Borrowed {
    std::string partition_key;
    std::deque<std::string> values;
    std::deque<PackedItemKey> keys;
    std::deque<CellUpdate> cells;
    std::vector<RowUpdate> rows;
  };

  const TableId table_;
  std::deque<Borrowed> borrowed_;
  std::vector<Command> commands_;
};

// Reads for Engine::ReadGroup.
struct GroupOfReads {
  struct Read {
    std::string_view partition_key;
    RowSink* sink = nullptr;
    PartitionInfo info = {};
  };
  size_t size() const { return reads.size(); }
  std::string_view key(size_t i) const { return reads[i].partition_key; }
  RowSink& sink(size_t i) { return *reads[i].sink; }
  void SetInfo(size_t i, const PartitionInfo& info) { reads[i].info = info; }

  std::vector<Read> reads;
};

// One command each, at `now_nanos`.
Reply AddItem(shard::Engine& engine, TableId table, std::string_view partition_key, uint64_t number,
              std::string_view value, uint64_t now_nanos, int64_t ttl_seconds = 0,
              WriteTimestamp timestamp = WriteTimestamp::None());
Reply AddItems(shard::Engine& engine, TableId table, std::string_view partition_key,
               const Items& items, uint64_t now_nanos);
Reply RemoveItem(shard::Engine& engine, TableId table, std::string_view partition_key,
                 uint64_t number, uint64_t now_nanos,
                 WriteTimestamp timestamp = WriteTimestamp::None());
Reply RemoveList(shard::Engine& engine, TableId table, std::string_view partition_key,
                 uint64_t now_nanos);
Items ReadItems(shard::Engine& engine, TableId table, std::string_view partition_key,
                uint64_t now_nanos);
uint64_t CountItems(shard::Engine& engine, TableId table, std::string_view partition_key,
                    uint64_t now_nanos);

// All live partitions, in the order of the scan, a page of `limit` at a time.
std::vector<std::string> ScanAll(shard::Engine& engine, TableId table, uint64_t now_nanos,
                                 size_t limit = 1'000);
// Everything that lives in a table.
std::map<std::string, Items> Contents(shard::Engine& engine, TableId table, uint64_t now_nanos);
// Until nothing waits.
void ReclaimAll(shard::Engine& engine, uint64_t now_nanos);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SHARD_ITEM_COMMANDS_H_

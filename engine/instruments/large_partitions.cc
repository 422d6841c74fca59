#include "engine/instruments/large_partitions.h"

#include <utility>

#include "engine/cql/values/partition_key_text.h"
#include "engine/model/stored_row.h"
#include "engine/shard/engine.h"

namespace liststore::instruments {
namespace {

// Adds up what it is sent, and keeps the largest.
class SizeSink final : public StoredRowSink {
 public:
  SizeSink(const TableDefinition& table, LargePartitions& found) : table_(table), found_(found) {}

  void OnPartition(const StoredPartition& partition) override {
    key_ = partition.key;
    bytes_ = partition.key.size();
  }
  void OnRow(const StoredRow& row) override {
    bytes_ += row.key.bytes.size();
    for (const StoredCell& cell : row.cells) {
      bytes_ += cell.view.value.size() + cell.path.size();
    }
  }
  void OnPartitionEnd() override {
    sent_bytes_ += bytes_;
    if (bytes_ <= kLintPartitionBytesMax) return;
    ++found_.count;
    if (bytes_ < found_.largest_bytes) return;
    std::string key = cql::PartitionKeyText(table_, key_);
    if (bytes_ == found_.largest_bytes && found_.largest_key < key) return;
    found_.largest_bytes = bytes_;
    found_.largest_key = std::move(key);
  }
  // Large ones are sent one at a time, so that nobody waits long for a lane.
  bool Full() const override { return sent_bytes_ > kLintPartitionBytesMax; }
  void BeginSlice() { sent_bytes_ = 0; }

 private:
  const TableDefinition& table_;
  LargePartitions& found_;
  std::string key_;
  uint64_t bytes_ = 0;
  uint64_t sent_bytes_ = 0;
};

}  // namespace

std::vector<LargePartitions> FindLargePartitions(shard::Engine& engine, const Schema& schema,
                                                 uint64_t now_nanos) {
  std::vector<LargePartitions> all;
  for (const auto& [name, keyspace] : schema.keyspaces) {
    if (keyspace->is_system()) continue;
    for (const auto& [table_name, table] : keyspace->tables) {
      if (table->is_virtual) continue;
      // No block is smaller than what it holds.
      if (engine.StatsOf(table->storage.id).live_bytes <= kLintPartitionBytesMax) continue;
      LargePartitions found;
      SizeSink sink(*table, found);
      shard::CopyPosition position;
      OpStatus status = OpStatus::kOk;
      while (!position.done && status == OpStatus::kOk) {
        sink.BeginSlice();
        status = engine.CopyOut(table->storage.id, now_nanos, position, sink);
      }
      // A table that was dropped meanwhile has none.
      if (status != OpStatus::kOk || found.count == 0) continue;
      found.table = name + "." + table_name;
      all.push_back(std::move(found));
    }
  }
  return all;
}

}  // namespace liststore::instruments

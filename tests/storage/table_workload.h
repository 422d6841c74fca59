// Random schemas, keys, values, times and operations for model tests of Table. One TableWorkload is
// one run: what it draws at the start (its plan) stays, so that runs differ in kind and not only in
// detail. Swarm weights: most runs have some operations switched off, so that states that need,
// say, many writes and no deletion are reached too.
#ifndef LISTSTORE_TESTS_STORAGE_TABLE_WORKLOAD_H_
#define LISTSTORE_TESTS_STORAGE_TABLE_WORKLOAD_H_

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/random.h"
#include "engine/model/mutation.h"
#include "engine/model/table_schema.h"
#include "engine/storage/table.h"

namespace liststore::testing {

enum class TableOp : uint8_t {
  kUpsert,
  kUpsertMany,
  kUpsertPledged,
  kDeleteRows,
  kDeleteRange,
  kDeletePartition,
  kDeleteByValue,
  kRead,
  kReadByValue,
  kCountRows,
  kScan,
  kTruncateAll,
  kTruncateFirst,
  kTick,
  kReclaim,
};
inline constexpr size_t kTableOps = static_cast<size_t>(TableOp::kReclaim) + 1;
std::string_view TableOpName(TableOp op);

// The schema of list items: the one that storage is tuned for.
TableSchema ListItemsSchema();
// 1-3 partition key columns, 0-3 clustering columns of any type and direction, 0-5 regular columns,
// 0-2 indexes.
TableSchema RandomSchema(Random& rng);

// Where keys come from in a run. Pooled keys and values live as long as the workload.
struct PooledKey {
  std::string plain;
  PackedItemKey packed;
  ClusteringKeyView view;
};

// A range that owns its bytes.
struct OwnedRange {
  std::string lower_bytes;
  std::string upper_bytes;
  bool from_begin = true;
  bool to_end = true;
  ClusteringRange View(bool packs_item_keys) const;
};

// Rows of one upsert; the views lead into it and into the workload's pools. May be moved, not
// copied.
struct UpsertBatch {
  UpsertBatch() = default;
  UpsertBatch(UpsertBatch&&) = default;

  std::vector<RowUpdate> rows;
  std::vector<std::vector<CellUpdate>> cells;
};

struct WorkloadPlan {
  enum class Timestamps {
    kOwn,
    kForeign,
    kOwnThenForeign
  };

  Timestamps timestamps = Timestamps::kOwn;
  uint64_t switch_step = 0;            // kOwnThenForeign: from here on
  bool foreign_follows_clock = false;  // else they stay around a fixed value
  bool foreign_extremes = false;       // sometimes the smallest and largest timestamps there are
  int64_t foreign_window = 0;
  size_t partitions = 1;
  size_t keys = 1;                  // distinct clustering keys
  uint64_t distinct_addresses = 0;  // 0: as many as partitions
  uint64_t value_bytes_fixed = 0;   // 0: lengths vary
  bool huge_values = false;
  // Columns, regular or static, whose cells are elements; indexed ones never.
  uint64_t element_columns = 0;
  bool hot = false;  // only whole rows of list items under canonical keys, so that reads send runs
  size_t many_rows_max = 40;  // of one kUpsertMany
  int ttl_kind = 0;
  int clock_kind = 0;
  uint64_t memory_limit_bytes = 0;  // 0: ample
  std::array<uint32_t, kTableOps> weights{};

  // Partitions become trees of leaves.
  bool large() const { return keys >= 1'000; }
};

class TableWorkload {
 public:
  explicit TableWorkload(uint64_t seed);

  // One of the elements.
  template <typename Container>
  const auto& Pick(const Container& container) {
    return container[rng_.Below(std::size(container))];
  }

  const TableSchema& schema() const { return schema_; }
  const WorkloadPlan& plan() const { return plan_; }
  bool packs() const { return schema_.packs_item_keys(); }
  const std::vector<std::string>& partition_keys() const { return partition_keys_; }
  Random& rng() { return rng_; }
  int64_t now_seconds() const { return now_seconds_; }
  bool HasIndex() const { return !schema_.indexes.empty(); }

  TableOp NextOp(uint64_t step);
  // Lets some time pass; often none.
  void Tick();
  // For who decides the time: it may go back, as that of a store which is reset does.
  void SetTime(int64_t now_seconds) { now_seconds_ = now_seconds; }
  // Under what the write of `step` runs.
  WriteContext NextContext(uint64_t step);

  std::string_view RandomPartitionKey() { return Pick(partition_keys_); }
  std::string_view RandomFirstComponent() { return Pick(first_components_); }
  const PooledKey& RandomKey() { return Pick(keys_); }
  // `narrow`: hardly ever more than a few rows.
  OwnedRange RandomRange(bool narrow);
  std::string_view RandomValue();
  ColumnId RandomIndexedColumn() { return Pick(schema_.indexes).column; }
  UpsertBatch RandomUpsert(bool many);

 private:
  void DrawPlan();
  void DrawTimes();
  void DrawWeights();
  void MakePartitionKeys();
  void MakeClusteringKeys();
  void MakeValues();
  bool HasElements(bool is_static, size_t column) const;
  void AddElements(ColumnId column, std::vector<CellUpdate>& cells);
  std::string RandomItemKeyLike();
  std::string RandomTypedKey();
  std::string RandomBoundBytes(size_t key_index);
  int64_t RandomTtl();
  WriteTimestamp OwnTimestamp();
  WriteTimestamp ForeignTimestamp();

  Random rng_;
  TableSchema schema_;
  WorkloadPlan plan_;
  std::vector<std::string> first_components_;
  std::vector<std::string> partition_keys_;
  std::vector<PooledKey> keys_;      // ascending
  std::vector<std::string> values_;  // repeated ones
  std::vector<std::string> paths_;   // of elements
  std::string noise_;                // others are pieces of this
  uint64_t weight_total_ = 0;
  int64_t now_seconds_ = 1'700'000'000;
  int64_t own_micros_ = 0;
  int64_t foreign_last_ = 0;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_STORAGE_TABLE_WORKLOAD_H_

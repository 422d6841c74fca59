#include "engine/execute/write/counter_additions.h"

#include <array>
#include <deque>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/command/conditional_write.h"
#include "engine/cql/plan/counters.h"

namespace liststore::execute {

cql::CqlStatus CounterAdditions::Add(const cql::ModificationPlan& plan, cql::BoundValues values) {
  LS_CHECK(plan.is_counter && plan.kind == cql::ModificationPlan::Kind::kUpdate,
           "counters are changed by UPDATE");
  std::vector<std::string> keys;
  LS_RETURN_IF_ERROR(
      cql::EncodePartitionKeys(*plan.table, plan.partition_key, values, cql::KeyUse::kWrite, keys));
  std::vector<cql::EncodedRange> ranges;
  LS_RETURN_IF_ERROR(
      cql::EncodeRanges(*plan.table, plan.clustering, values, cql::KeyUse::kWrite, ranges));
  for (const cql::CellAssignment& assignment : plan.assignments) {
    int64_t addition = 0;
    bool unset = false;
    LS_RETURN_IF_ERROR(cql::ResolveAddition(assignment, values, addition, unset));
    if (unset) continue;
    for (const std::string& key : keys) {
      Partition& partition = PartitionOf(plan.table->storage, key);
      for (const cql::EncodedRange& range : ranges) {
        Row& row = partition.rows[range.lower];
        row.range = range;
        row.columns[assignment.column] += static_cast<uint64_t>(addition);
      }
    }
  }
  for (const cql::CellAssignment& assignment : plan.static_assignments) {
    int64_t addition = 0;
    bool unset = false;
    LS_RETURN_IF_ERROR(cql::ResolveAddition(assignment, values, addition, unset));
    // Once for each row that is named, as there. An IN of nothing adds nothing.
    if (unset || ranges.empty()) continue;
    for (const std::string& key : keys) {
      Columns& statics = PartitionOf(plan.table->storage, key).statics;
      statics[assignment.column] += static_cast<uint64_t>(addition) * ranges.size();
    }
  }
  return {};
}

CounterAdditions::Partition& CounterAdditions::PartitionOf(const TableSchema& storage,
                                                           const std::string& key) {
  Partition& partition = partitions_[{storage.id.value, storage.id.generation, key}];
  partition.table = storage.id;
  partition.packs_item_keys = storage.packs_item_keys();
  return partition;
}

// What one partition's counters become, once the lane is held and they can be read.
class CounterAdditions::Sum final : public RowConditions {
 public:
  explicit Sum(const Partition& partition) : partition_(partition) {
    for (const auto& [key, row] : partition.rows) {
      ranges_.push_back(row.range.View(partition.packs_item_keys));
      AddCounters(row.columns);
    }
    if (!partition.statics.empty()) AddCounters(partition.statics);
    // The static row comes with a range.
    if (ranges_.empty()) ranges_.emplace_back();
    MakeUpdates();
  }

  RowLook Look(std::string_view partition_key) {
    return {.table = partition_.table,
            .partition_key = partition_key,
            .rows = ranges_,
            .with_static_row = !partition_.statics.empty(),
            .conditions = this};
  }
  Command Write(std::string_view partition_key) const {
    return {.table = partition_.table,
            .partition_key = partition_key,
            .body = UpsertCommand{updates_},
            .timestamp = WriteTimestamp::None(),
            .evictions = nullptr};
  }

  void OnAttempt() override {
    for (Counters& counters : rows_) counters.sums = counters.additions;
  }
  void OnStaticRow(std::span<const LiveCellView> cells) override { AddUp(cells, rows_.back()); }
  void OnRow(size_t index, const RowView& row) override {
    // Else it is one of those that the static row came with.
    if (index < partition_.rows.size()) AddUp(row.cells, rows_[index]);
  }
  bool Hold() override {
    for (Counters& counters : rows_) {
      for (size_t i = 0; i < counters.sums.size(); ++i) {
        StoreBigEndian64(counters.bytes[i].data(), counters.sums[i]);
      }
    }
    return true;
  }

 private:
  // Of one row; as many of each as counters are added to.
  struct Counters {
    std::vector<ColumnId> columns;  // ascending
    std::vector<uint64_t> additions;
    std::vector<uint64_t> sums;
    std::vector<std::array<char, sizeof(uint64_t)>> bytes;
    std::vector<CellUpdate> cells;
    PackedItemKey packed;
  };

  void AddCounters(const Columns& columns) {
    Counters& counters = rows_.emplace_back();
    for (const auto& [column, addition] : columns) {
      counters.columns.push_back(column);
      counters.additions.push_back(addition);
    }
    counters.sums.resize(columns.size());
    counters.bytes.resize(columns.size());
  }
  static void AddUp(std::span<const LiveCellView> cells, Counters& counters) {
    for (const LiveCellView& cell : cells) {
      for (size_t i = 0; i < counters.columns.size(); ++i) {
        if (counters.columns[i] != cell.column) continue;
        LS_CHECK(cell.value.size() == sizeof(uint64_t), "a counter has eight bytes");
        counters.sums[i] += LoadBigEndian64(cell.value.data());
      }
    }
  }

  void MakeUpdates() {
    size_t index = 0;
    for (const auto& [key, row] : partition_.rows) {
      Counters& counters = rows_[index++];
      AddUpdate(MakeClusteringKey(key, partition_.packs_item_keys, counters.packed), counters);
    }
    if (partition_.statics.empty()) return;
    AddUpdate({}, rows_.back());
    updates_.back().of_static_row = true;
  }
  void AddUpdate(ClusteringKeyView key, Counters& counters) {
    for (size_t i = 0; i < counters.columns.size(); ++i) {
      const std::array<char, sizeof(uint64_t)>& bytes = counters.bytes[i];
      counters.cells.push_back(
          {.column = counters.columns[i], .value = {bytes.data(), bytes.size()}});
    }
    updates_.push_back({.key = key,
                        .marker = false,
                        .ttl_seconds = 0,
                        .expiry_seconds = kNoExpiry,
                        .cells = counters.cells});
  }

  const Partition& partition_;
  std::vector<ClusteringRange> ranges_;
  // Those of the static row come last. Does not grow once updates_ borrows from it.
  std::vector<Counters> rows_;
  std::vector<RowUpdate> updates_;
};

ConditionalReply CounterAdditions::Apply(shard::Engine& engine, std::span<const Command> deletions,
                                         uint64_t now_nanos) const {
  LS_CHECK(!empty(), "something is added");
  std::deque<Sum> sums;
  std::vector<RowLook> looks;
  std::vector<Command> writes;
  for (const auto& [id, partition] : partitions_) {
    const std::string& key = std::get<2>(id);
    Sum& sum = sums.emplace_back(partition);
    looks.push_back(sum.Look(key));
    writes.push_back(sum.Write(key));
  }
  writes.insert(writes.end(), deletions.begin(), deletions.end());
  const ConditionalReply reply =
      engine.ExecuteConditional({.looks = looks, .writes = writes}, now_nanos);
  LS_DCHECK(reply.status != OpStatus::kOk || reply.applied, "sums depend on nothing");
  return reply;
}

}  // namespace liststore::execute

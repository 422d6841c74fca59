// Lists for the steps of a read: in tables of the storage as the engine keeps them, and in directories
// of the steps' own, whose references are those of the tables.
#ifndef LISTSTORE_BENCH_STEPS_STEP_LISTS_H_
#define LISTSTORE_BENCH_STEPS_STEP_LISTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/memory/memory_budget.h"
#include "engine/memory/page_pool.h"
#include "engine/model/table_schema.h"
#include "engine/runtime/lane_ownership.h"
#include "engine/shard/router.h"
#include "engine/storage/partition/partition.h"
#include "engine/storage/partition_directory.h"
#include "engine/storage/table.h"

namespace liststore {

inline constexpr uint64_t kStepItems = 20;  // of each list
inline constexpr size_t kStepLimit = 10;
inline constexpr size_t kStepValueBytes = 24;
inline constexpr size_t kStepRowBytes = kPackedItemKeyBytes + kStepValueBytes;

struct StepKeyOf {
  std::string_view operator()(uint64_t reference) const {
    return storage::Partition::KeyOf(reference);
  }
};
using StepDirectory = storage::PartitionDirectory<StepKeyOf>;

// One lane's part of them.
struct StepLane {
  StepLane(const TableSchema& schema, memory::PagePool& pool, memory::MemoryBudget& budget,
           const storage::AddressOf& address_of)
      : table(schema, pool, budget, address_of), arena(pool, budget), directory(arena) {}

  runtime::LaneOwnership ownership;
  storage::Table table;
  memory::Arena arena;
  StepDirectory directory;
};

// Not thread-safe. Nothing moves once it is made.
class StepLists final : private storage::AddressOf {
 public:
  // As many lanes as an embedded store of two cores has. `now_seconds`: long before any row expires.
  StepLists(uint32_t lists, int64_t now_seconds);
  StepLists(const StepLists&) = delete;
  StepLists& operator=(const StepLists&) = delete;

  uint32_t size() const { return static_cast<uint32_t>(references_.size()); }
  // See storage::Partition: where the rows of list `number` are.
  uint64_t reference(uint32_t number) const { return references_[number]; }
  const uint64_t* reference_place(uint32_t number) const { return &references_[number]; }
  const shard::Router& router() const { return router_; }
  StepLane& lane(uint32_t number) { return *lanes_[number]; }
  storage::PartitionContext& context() { return context_; }

 private:
  uint64_t operator()(std::string_view partition_key) const override;
  void Load(uint32_t number, int64_t now_seconds);

  const shard::Router router_{2, 4};
  const TableSchema schema_;
  memory::MemoryBudget budget_{memory::MemoryBudget::kUnlimited};
  memory::PagePool pool_{budget_};
  memory::Arena arena_{pool_, budget_};
  storage::PartitionContext context_{schema_, arena_};  // for handles that read alone
  std::vector<std::unique_ptr<StepLane>> lanes_;
  std::vector<uint64_t> references_;
};

// The partition key of list `number`, 45 bytes.
std::string StepPartitionKey(uint32_t number);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_STEPS_STEP_LISTS_H_

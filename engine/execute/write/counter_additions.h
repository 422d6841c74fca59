// CounterAdditions: what a statement, or a batch, adds to counters.
#ifndef LISTSTORE_ENGINE_EXECUTE_WRITE_COUNTER_ADDITIONS_H_
#define LISTSTORE_ENGINE_EXECUTE_WRITE_COUNTER_ADDITIONS_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>

#include "engine/cql/plan/bound_values.h"
#include "engine/cql/plan/instantiate.h"
#include "engine/cql/plan/plan.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/model/op_status.h"
#include "engine/shard/engine.h"

namespace liststore::execute {

// What is added to one counter adds up. Owns its keys. One execution, by one thread.
class CounterAdditions {
 public:
  CounterAdditions() = default;
  CounterAdditions(const CounterAdditions&) = delete;
  CounterAdditions& operator=(const CounterAdditions&) = delete;

  // An UPDATE of a table of counters. Invalid: as WriteSet::Add; a null.
  cql::CqlStatus Add(const cql::ModificationPlan& plan, cql::BoundValues values);

  bool empty() const { return partitions_.empty(); }

  // Adds, and applies `deletions` behind it: one step, and all or nothing (Engine::ExecuteBatch).
  // What does not fit behind INT64_MAX goes on from INT64_MIN. A counter without a value begins at
  // zero. Something is added.
  ConditionalReply Apply(shard::Engine& engine, std::span<const Command> deletions,
                         uint64_t now_nanos) const;

 private:
  using Columns = std::map<ColumnId, uint64_t>;  // what is added, modulo 2^64
  struct Row {
    cql::EncodedRange range;
    Columns columns;
  };
  struct Partition {
    TableId table;
    bool packs_item_keys = false;
    std::map<std::string, Row> rows;  // by encoded key
    Columns statics;
  };
  class Sum;

  Partition& PartitionOf(const TableSchema& storage, const std::string& key);

  // By number and generation of the table, and partition key.
  std::map<std::tuple<uint16_t, uint32_t, std::string>, Partition> partitions_;
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_WRITE_COUNTER_ADDITIONS_H_

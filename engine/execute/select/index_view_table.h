// IndexViewTable: the view of an index as a table that can be read. Nothing is stored in it: its
// rows follow from those of the index's table.
#ifndef LISTSTORE_ENGINE_EXECUTE_SELECT_INDEX_VIEW_TABLE_H_
#define LISTSTORE_ENGINE_EXECUTE_SELECT_INDEX_VIEW_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cql/schema/virtual_table.h"
#include "engine/execute/select/virtual_rows.h"
#include "engine/execute/select/work_pace.h"
#include "engine/shard/engine.h"

namespace liststore::execute {

// A row is there as long as what it follows from: a live value in the indexed column, or, where that
// is a key column, a live row. All columns are keys, so that there are no times to show.
class IndexViewTable final : public VirtualRows {
 public:
  // `engine`, `view` and `pace` outlive it. `keys`: the partition keys whose rows are wanted;
  // nullopt: all. `pace`: nullptr: it takes as long as it takes.
  IndexViewTable(shard::Engine& engine, const TableDefinition& view,
                 std::optional<std::vector<std::string>> keys, WorkPace* pace,
                 const cql::VirtualReadContext& context);
  ~IndexViewTable() override;

  void Begin(const cql::TokenRange& tokens, const std::optional<RowPlace>& behind) override;
  // Each partition of the table is read at an instant of its own, 1024 rows at a time. A local index
  // has its rows where the table has its partitions: only those that are named are read, or, in
  // their order, as many as have `count` rows. A global one has them anywhere: all partitions are
  // looked at, and no more than some `count` rows kept. O(rows looked at + rows found * log).
  std::vector<cql::VirtualRow> Next(uint64_t count) override;

  // How the last Next ended. Rows that are incomplete are none.
  enum class Outcome : uint8_t {
    kRead,
    kGone,      // table or index are other ones by now: plan again
    kTooLarge,  // more than kResultBytesMax
    kStopped,   // by the pace
  };
  Outcome outcome() const { return outcome_; }

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;  // nullptr: it is gone
  Outcome outcome_ = Outcome::kRead;
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_SELECT_INDEX_VIEW_TABLE_H_

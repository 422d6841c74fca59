// IndexViewTable: the view of an index as a table that can be read. Nothing is stored in it: its
// rows follow from those of the index's table.
#ifndef LISTSTORE_ENGINE_EXECUTE_SELECT_INDEX_VIEW_TABLE_H_
#define LISTSTORE_ENGINE_EXECUTE_SELECT_INDEX_VIEW_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cql/schema/virtual_table.h"
#include "engine/execute/select/work_pace.h"
#include "engine/shard/engine.h"

namespace liststore::execute {

// Of one SELECT, and of the thread that runs it. A row is there as long as what it follows from: a
// live value in the indexed column, or, where that is a key column, a live row. All columns are
// keys, so that there are no times to show.
class IndexViewTable final : public cql::VirtualTable {
 public:
  // `engine` and `pace` outlive it. `keys`: the partition keys whose rows are wanted; nullopt: all.
  // `pace`: nullptr: it takes as long as it takes.
  IndexViewTable(shard::Engine& engine, std::shared_ptr<const TableDefinition> view,
                 std::optional<std::vector<std::string>> keys, WorkPace* pace)
      : engine_(engine), view_(std::move(view)), keys_(std::move(keys)), pace_(pace) {}

  const std::shared_ptr<const TableDefinition>& definition() const override { return view_; }
  // Those of `keys` alone. Each partition of the table is read at an instant of its own, 1024 rows
  // at a time; of a local index only those that `keys` names. O(rows looked at + rows found * log).
  std::vector<cql::VirtualRow> Rows(const cql::VirtualReadContext& context) const override;

  // How the last Rows ended. Rows that are incomplete are none.
  enum class Outcome : uint8_t {
    kRead,
    kGone,      // table or index are other ones by now: plan again
    kTooLarge,  // more than kResultBytesMax
    kStopped,   // by the pace
  };
  Outcome outcome() const { return outcome_; }

 private:
  shard::Engine& engine_;
  const std::shared_ptr<const TableDefinition> view_;
  const std::optional<std::vector<std::string>> keys_;
  WorkPace* const pace_;
  mutable Outcome outcome_ = Outcome::kRead;
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_SELECT_INDEX_VIEW_TABLE_H_

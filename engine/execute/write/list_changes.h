// ListChanges: what a statement, or a batch, changes in lists by what they hold: elements by their
// index, and all of some value.
#ifndef LISTSTORE_ENGINE_EXECUTE_WRITE_LIST_CHANGES_H_
#define LISTSTORE_ENGINE_EXECUTE_WRITE_LIST_CHANGES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/command/conditional_write.h"
#include "engine/cql/plan/instantiate.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/model/mutation.h"
#include "engine/model/types/data_type.h"

namespace liststore::execute {

// A change of the elements of one list. Values are borrowed.
struct ElementChange {
  enum class Kind : uint8_t {
    kSet,      // the element at `index` becomes `value`, or goes where that is null
    kDelete,   // the same goes
    kDiscard,  // all elements that are among `values` go
  };
  Kind kind = Kind::kSet;
  ColumnId column = 0;
  int32_t index = 0;
  std::optional<std::string_view> value;
  std::vector<std::string_view> values;
  DataType type = CqlType::kBlob;  // of the elements, for kDiscard
};

// Of one partition. The changes of a row are seen against the row as it was before all of them, as
// in ScyllaDB; what they come to goes to the row's update, behind the cells that it has. One
// execution, by one thread.
class ListChanges final : public RowConditions {
 public:
  ListChanges() = default;
  ListChanges(const ListChanges&) = delete;
  ListChanges& operator=(const ListChanges&) = delete;

  void Clear() {
    rows_.clear();
    looked_.clear();
    looked_by_key_.clear();
    of_static_row_ = nullptr;
  }
  bool empty() const { return rows_.empty(); }
  // Whether there are any of the row that was added last.
  bool Changes(size_t row) const { return !rows_.empty() && rows_.back().number == row; }

  // `row`: whose update it is, by any number, one after the other. `range`: that row's; nullptr: it
  // is the static row.
  void Add(size_t row, const cql::EncodedRange* range, ElementChange change);

  // Changes `updates` of rows of these numbers, in the same order, when Hold() is called. Both
  // outlive the look, which is valid until the next Add.
  RowLook Look(TableId table, std::string_view partition_key, bool packs_item_keys,
               std::span<const size_t> numbers, std::span<RowUpdate> updates);

  // Of the last Hold(). Invalid, in ScyllaDB's words: a list that is null, an index out of bounds. Or more
  // is looked for than one request may.
  const cql::CqlStatus& status() const { return status_; }

  // ---- RowConditions

  void OnAttempt() override;
  void OnStaticRow(std::span<const LiveCellView> cells) override;
  void OnRow(size_t index, const RowView& row) override;
  bool Hold() override;

 private:
  struct Element {
    std::string path;
    std::string value;
  };
  // A stored row, whose lists are taken once, however many updates are about it.
  struct Looked {
    std::optional<cql::EncodedRange> range;          // nullopt: the static row
    std::map<ColumnId, std::vector<Element>> lists;  // as they were, of the columns that change
  };
  struct Row {
    size_t number = 0;
    Looked* looked = nullptr;
    std::vector<ElementChange> changes;
    RowUpdate* update = nullptr;
    std::span<const CellUpdate> fixed;  // what the update has by itself
    std::vector<CellUpdate> cells;      // of the update
  };

  // That row's; nullptr: the static one's.
  Looked& LookedAt(const cql::EncodedRange* range);
  static void Take(std::span<const LiveCellView> cells, Looked& looked);
  cql::CqlStatus Apply(const ElementChange& change, Row& row);
  void Discard(const ElementChange& change, const std::vector<Element>& list, Row& row);

  std::deque<Row> rows_;
  std::deque<Looked> looked_;
  std::map<std::string, Looked*> looked_by_key_;
  Looked* of_static_row_ = nullptr;
  std::vector<Looked*> looked_at_;  // of ranges_; none for a range that stands for no row
  std::vector<ClusteringRange> ranges_;
  uint64_t searched_ = 0;  // elements, of the attempt
  cql::CqlStatus status_;
};

}  // namespace liststore::execute

#endif  // LISTSTORE_ENGINE_EXECUTE_WRITE_LIST_CHANGES_H_

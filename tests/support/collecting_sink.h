// A RowSink that copies what it is sent and checks, while at it, what every sender must keep: calls
// within their size, rows in the order of the read, cells in order, keys packed exactly when
// their table packs them and they are item keys.
#ifndef LISTSTORE_TESTS_SUPPORT_COLLECTING_SINK_H_
#define LISTSTORE_TESTS_SUPPORT_COLLECTING_SINK_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "engine/model/row_view.h"

namespace liststore::testing {

struct CollectedCell {
  ColumnId column = 0;
  Liveness liveness;
  std::string value;
  std::string path = {};
  bool operator==(const CollectedCell&) const = default;
};

struct CollectedRow {
  std::string key;  // plain encoded form
  Liveness marker;
  std::vector<CollectedCell> cells;
  // It came in a packed run: of the rest only the value of the one cell is known.
  bool from_run = false;
  bool is_static = false;  // the static row, which has no key
};

// Whether `actual` shows `expected` as far as its form lets it.
bool SameRow(const CollectedRow& expected, const CollectedRow& actual);
std::ostream& operator<<(std::ostream& out, const CollectedRow& row);

// Where the two differ first, in words; empty when they do not.
std::string FirstDifference(const std::vector<CollectedRow>& expected,
                            const std::vector<CollectedRow>& actual);

class CollectingSink : public RowSink {
 public:
  // `descending`: the direction of the read that will be collected. `packs_item_keys`: of its
  // table.
  CollectingSink(bool packs_item_keys, bool descending, bool accepts_packed_runs)
      : packs_item_keys_(packs_item_keys),
        descending_(descending),
        accepts_packed_runs_(accepts_packed_runs) {}

  void OnRows(std::span<const RowView> rows) override;
  void OnPackedRun(const PackedRun& run) override;
  bool AcceptsPackedRuns() const override { return accepts_packed_runs_; }
  void OnStaticRow(std::span<const LiveCellView> cells) override;

  // The static row, where there is one, before the others.
  const std::vector<CollectedRow>& rows() const { return rows_; }
  uint64_t rows_from_runs() const { return rows_from_runs_; }
  // The first promise broken by the sender; empty: none.
  const std::string& complaint() const { return complaint_; }

 private:
  void Add(CollectedRow row);
  void AddCells(std::span<const LiveCellView> cells, CollectedRow& row);
  void Complain(const std::string& what);

  const bool packs_item_keys_;
  const bool descending_;
  const bool accepts_packed_runs_;
  std::vector<CollectedRow> rows_;
  uint64_t rows_from_runs_ = 0;
  std::string complaint_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_COLLECTING_SINK_H_

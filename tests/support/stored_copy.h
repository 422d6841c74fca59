// A StoredRowSink that keeps what it is sent, with bytes of its own, so that it can be put in
// elsewhere.
#ifndef LISTSTORE_TESTS_SUPPORT_STORED_COPY_H_
#define LISTSTORE_TESTS_SUPPORT_STORED_COPY_H_

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/packed_item_key.h"
#include "engine/model/stored_row.h"

namespace liststore::testing {

class StoredCopy final : public StoredRowSink {
 public:
  struct Part {
    StoredPartition head;
    std::vector<StoredRange> ranges;
    std::vector<StoredCell> static_cells;
    std::vector<StoredRow> rows;
    std::deque<std::vector<StoredCell>> cells;  // by row
  };

  // `packs`: of the table; keys are packed wherever they can be.
  explicit StoredCopy(bool packs) : packs_(packs) {}

  void OnPartition(const StoredPartition& partition) override {
    Part& part = parts_.emplace_back();
    part.head = partition;
    part.head.key = Keep(partition.key);
    for (StoredRange range : partition.ranges) {
      range.range.lower.bytes = Keep(range.range.lower.bytes);
      range.range.upper.bytes = Keep(range.range.upper.bytes);
      part.ranges.push_back(range);
    }
    part.head.ranges = part.ranges;
    part.static_cells = KeepCells(partition.static_cells);
    part.head.static_cells = part.static_cells;
  }
  void OnRow(const StoredRow& row) override {
    Part& part = parts_.back();
    const std::vector<StoredCell>& cells = part.cells.emplace_back(KeepCells(row.cells));
    StoredRow& kept = part.rows.emplace_back(row);
    kept.cells = cells;
    PackedItemKey packed;
    char text[kItemKeyTextBytes];
    const ClusteringKeyView key = MakeClusteringKey(PlainKey(row.key, text), packs_, packed);
    kept.key = {Keep(key.bytes), key.packed};
  }
  void OnPartitionEnd() override {}
  bool Full() const override { return false; }

  const std::deque<Part>& parts() const { return parts_; }

 private:
  std::vector<StoredCell> KeepCells(std::span<const StoredCell> cells) {
    std::vector<StoredCell> kept(cells.begin(), cells.end());
    for (StoredCell& cell : kept) {
      cell.view.value = Keep(cell.view.value);
      cell.path = Keep(cell.path);
    }
    return kept;
  }
  std::string_view Keep(std::string_view bytes) { return bytes_.emplace_back(bytes); }

  const bool packs_;
  std::deque<Part> parts_;
  std::deque<std::string> bytes_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_STORED_COPY_H_

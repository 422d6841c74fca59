// RowsInOrder: the rows of a write or of a copy, as Partition::Append takes them.
#ifndef LISTSTORE_ENGINE_STORAGE_PARTITION_ROWS_IN_ORDER_H_
#define LISTSTORE_ENGINE_STORAGE_PARTITION_ROWS_IN_ORDER_H_

#include <cstddef>
#include <span>

#include "absl/container/inlined_vector.h"
#include "engine/model/expiry.h"
#include "engine/model/hot_row.h"
#include "engine/model/mutation.h"

namespace liststore::storage {

// Packed keys, strictly ascending. Made before anything is reserved or changed: the heap may refuse
// what more than kInlineRows take (std::bad_alloc), and later nothing may fail.
class RowsInOrder {
 public:
  static constexpr size_t kInlineRows = 64;

  // Rows of the hot shape with packed keys. Of two that are the same in all one is left, as a merge
  // would leave it. False: two of one key differ, or are over; one by one they find out which stays.
  // O(n) where keys ascend or descend, else O(n log n) comparisons.
  bool Take(std::span<const RowUpdate> rows, const WriteContext& write);
  // Those that have an effect at `now`; borrows `rows` where that is all of them. False: a key is
  // not packed, or they do not ascend.
  bool Take(std::span<const HotRow> rows, const GracePolicy& grace, int64_t now_seconds);

  std::span<const HotRow> rows() const { return rows_; }

 private:
  bool TakeSorted(std::span<const RowUpdate> rows, const WriteContext& write);

  std::span<const HotRow> rows_;
  absl::InlinedVector<HotRow, kInlineRows> own_;
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_PARTITION_ROWS_IN_ORDER_H_

// Table::Reserve: how a write gets its memory before it begins. For the sources of Table.
#ifndef LISTSTORE_ENGINE_STORAGE_TABLE_RESERVE_H_
#define LISTSTORE_ENGINE_STORAGE_TABLE_RESERVE_H_

#include <cstddef>
#include <cstdint>

#include "engine/storage/table.h"

namespace liststore::storage {

template <typename Bytes>
bool Table::Reserve(int64_t now_seconds, memory::MemoryBudget::Purpose purpose, Bytes&& bytes) {
  size_t total = 0;
  const auto count = [&] {
    rows_bytes_max_ = 0;
    deletions_ = {};
    rows_cells_ = 0;
    row_cells_met_ = 0;
    rewritten_cells_ = 0;
    large_row_ = {};
    return bytes();
  };
  if (redeeming_) {
    count();
    return true;
  }
  const auto attempt = [&] {
    total = count() + pledged_bytes_.value_or(0);
    if (large_row_.any() || !arena_.Reserve(total, purpose)) return false;
    context_.PrepareScratch(rows_bytes_max_);
    if (deletions_.bytes != 0 || deletions_.cells != 0) {
      context_.PrepareDeletion(rows_bytes_max_, deletions_.bytes, deletions_.cells);
    }
    return true;
  };
  if (attempt()) return true;
  if (large_row_.any()) return false;
  constexpr size_t kUnitsPerRefusal = 512;
  // What cannot fit is not to empty the whole store in the attempt.
  too_large_ = cache_ != nullptr && total > budget_.grow_limit_bytes();
  if (too_large_) return false;
  if (pledged_bytes_ || replaying_) return false;
  return Reclaim(now_seconds, kUnitsPerRefusal) != 0 && attempt();
}

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_TABLE_RESERVE_H_

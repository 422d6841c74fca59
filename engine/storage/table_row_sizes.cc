// The largest row: what a write would make of rows that may become too large.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "engine/storage/table.h"

namespace liststore::storage {

static_assert(kRowBytesMax == memory::MemoryBudget::kRowBytesMax);

namespace {

struct SizedUpdate {
  const RowUpdate* update;
  WriteTimestamp timestamp;
};

int CompareRows(const RowUpdate& a, const RowUpdate& b) {
  if (a.of_static_row != b.of_static_row) return a.of_static_row ? -1 : 1;
  return a.of_static_row ? 0 : CompareKeys(a.key, b.key);
}

// What the update may add to the row, whatever is there.
uint64_t AddedBytesMax(const RowUpdate& update) {
  RowBody alone;
  // A timestamp, and no grace: nothing of it is gone.
  constexpr int64_t kGraceSeconds = int64_t{1} << 40;
  alone.Merge(update, {WriteTimestamp{1}, 0, true}, {kGraceSeconds, INT64_MIN});
  return alone.CountedBytes();
}

// Cells of whole columns that it deletes.
uint64_t NullsOf(const RowUpdate& update) {
  return static_cast<uint64_t>(std::ranges::count_if(
      update.cells, [](const CellUpdate& cell) { return !cell.live && cell.path.empty(); }));
}

// Of each: column, flags, timestamp and instant.
constexpr uint64_t kNullBytes = 2 + 1 + 8 + 8;

}  // namespace

void Table::FindLargeRow(const DirectorySlot* slot, std::span<const SharedUpsert> upserts,
                         const WriteContext& write) {
  const bool may_be_long = rows_bytes_max_ > budget_.row_bytes_max();
  std::vector<SizedUpdate> updates;
  std::vector<const RowUpdate*> together;  // under one timestamp
  for (const SharedUpsert& upsert : upserts) {
    const bool own = !upsert.timestamp.is_none();
    for (const RowUpdate& row : upsert.rows) {
      updates.push_back({&row, own ? upsert.timestamp : write.timestamp});
    }
  }
  std::ranges::stable_sort(updates, [](const SizedUpdate& a, const SizedUpdate& b) {
    return CompareRows(*a.update, *b.update) < 0;
  });
  for (auto first = updates.begin(); first != updates.end();) {
    const auto last = std::find_if(first, updates.end(), [&](const SizedUpdate& other) {
      return CompareRows(*first->update, *other.update) != 0;
    });
    RowBody& body = context_.body;
    if (slot == nullptr) {
      body.Clear();
    } else {
      uint64_t reference = slot->reference;
      Partition(context_, reference).DecodeStored(*first->update, body);
    }
    body.Purge(write.now_seconds, context_.grace);
    uint64_t most = body.CountedBytes();
    uint64_t most_cells = body.cells().size();
    // It may have had more before it was bounded: what makes it smaller is no reason to refuse. Nor is
    // a null where nothing was, which leaves a few bytes, once for each column.
    uint64_t bound = std::max(budget_.row_bytes_max(), most);
    uint64_t cells_bound = std::max(row_cells_max(), most_cells);
    for (auto at = first; at != last; ++at) {
      if (may_be_long) most += AddedBytesMax(*at->update);
      most_cells += at->update->cells.size();
      const uint64_t nulls = NullsOf(*at->update);
      bound += nulls * kNullBytes;
      cells_bound += nulls;
    }
    while (first != last && (most > bound || most_cells > cells_bound)) {
      const auto next = std::find_if(first, last, [&](const SizedUpdate& other) {
        return other.timestamp != first->timestamp;
      });
      together.clear();
      for (auto at = first; at != next; ++at) together.push_back(at->update);
      body.MergeAll(together, {first->timestamp, write.now_seconds, write.foreign_timestamp},
                    context_.grace);
      if (const uint64_t bytes = body.CountedBytes(); bytes > bound) {
        large_row_.bytes = std::max(large_row_.bytes, bytes);
      }
      if (const uint64_t cells = body.cells().size(); cells > cells_bound) {
        large_row_.cells = std::max(large_row_.cells, cells);
      }
      first = next;
    }
    first = last;
  }
  context_.has_large_scratch = true;
  context_.TrimScratch();
}

}  // namespace liststore::storage

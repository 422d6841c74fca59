#include "engine/storage/partition/rows_in_order.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/base/check.h"
#include "engine/model/packed_item_key.h"

namespace liststore::storage {
namespace {

HotRow HotRowOf(const RowUpdate& row, const WriteContext& write) {
  LS_DCHECK(row.marker && row.cells.size() == 1 && row.cells[0].live,
            "the row is of the hot shape");
  return {row.key, row.cells[0].value, {write.timestamp, row.expiry_seconds, row.ttl_seconds}};
}

int CompareRows(const RowUpdate& a, const RowUpdate& b) {
  return ComparePackedItemKeys(a.key.bytes.data(), b.key.bytes.data());
}

}  // namespace

bool RowsInOrder::Take(std::span<const RowUpdate> rows, const WriteContext& write) {
  bool ascend = true;
  bool descend = true;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].key.packed) return false;
    if (i == 0) continue;
    const int order = CompareRows(rows[i - 1], rows[i]);
    ascend &= order < 0;
    descend &= order > 0;
    if (!ascend && !descend) return TakeSorted(rows, write);
  }
  own_.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    own_.push_back(HotRowOf(rows[ascend ? i : rows.size() - 1 - i], write));
  }
  rows_ = own_;
  return true;
}

bool RowsInOrder::TakeSorted(std::span<const RowUpdate> rows, const WriteContext& write) {
  // Two keys have other nanoseconds as a rule.
  using Place = std::pair<uint64_t, uint32_t>;  // the key's first bytes, as a number; index
  absl::InlinedVector<Place, kInlineRows> order;
  order.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].key.packed) return false;
    order.emplace_back(LoadBigEndian64(rows[i].key.bytes.data()), static_cast<uint32_t>(i));
  }
  std::ranges::sort(order, [&](const Place& a, const Place& b) {
    if (a.first != b.first) return a.first < b.first;
    const int keys = CompareRows(rows[a.second], rows[b.second]);
    return keys != 0 ? keys < 0 : a.second < b.second;
  });
  own_.reserve(rows.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const HotRow row = HotRowOf(rows[order[i].second], write);
    if (i > 0 && order[i - 1].first == order[i].first && row.key.bytes == own_.back().key.bytes) {
      const HotRow& same = own_.back();
      if (row.value != same.value || row.liveness != same.liveness ||
          !row.liveness.LiveAt(write.now_seconds)) {
        return false;
      }
      continue;
    }
    own_.push_back(row);
  }
  rows_ = own_;
  return true;
}

bool RowsInOrder::Take(std::span<const HotRow> rows, const GracePolicy& grace,
                       int64_t now_seconds) {
  size_t gone = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].key.packed) return false;
    if (i > 0 && ComparePackedItemKeys(rows[i - 1].key.bytes.data(), rows[i].key.bytes.data()) >= 0)
      return false;
    if (grace.Gone(rows[i].liveness, now_seconds)) ++gone;
  }
  rows_ = rows;
  if (gone == 0) return true;
  own_.reserve(rows.size() - gone);
  for (const HotRow& row : rows) {
    if (!grace.Gone(row.liveness, now_seconds)) own_.push_back(row);
  }
  rows_ = own_;
  return true;
}

}  // namespace liststore::storage

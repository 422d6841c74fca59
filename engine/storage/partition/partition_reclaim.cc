// Giving back what a partition holds of rows that are over.
#include <algorithm>
#include <new>

#include "engine/base/check.h"
#include "engine/storage/partition/partition.h"

namespace liststore::storage {
namespace {

// What freeing a leaf that was cut is, in rows that are looked at.
constexpr size_t kUnitsOfLeaf = 8;
constexpr size_t kUnitsOfIndexedLeaf = 256;

}  // namespace

uint32_t Partition::NextEvent() const {
  uint32_t next = kNeverExpires;
  if (kept_empty() && fresh_until_seconds() != 0) next = ToEvent(fresh_until_seconds());
  if (!large()) return std::min(next, Leaf(BlockOf(reference_)).header().earliest_expiry);
  const LargePartition& partition = LargeOf(reference_);
  // At once.
  if (partition.has_remains()) return 1;
  next = std::min({next, partition.tree.earliest_expiry(), partition.static_row.event()});
  if (partition.tombstone.present()) {
    next = std::min(next, ToEvent(partition.tombstone.PurgeSeconds(context_.grace.grace_seconds)));
  }
  return std::min(next, ToEvent(partition.ranges.NextPurge(context_.grace)));
}

void Partition::NoteExpired(ClusteringKeyView key, std::string_view value, int64_t at_seconds) {
  char text[kItemKeyTextBytes];
  // The row goes in any case: what the heap has nothing for is not told.
  try {
    context_.expiries->push_back({std::string(this->key()), std::string(PlainKey(key, text)),
                                  std::string(value), at_seconds});
  } catch (const std::bad_alloc&) {
  }
}

bool Partition::PurgeBody(ClusteringKeyView key, int64_t now_seconds) {
  if (context_.expiries == nullptr) [[likely]] {
    return context_.body.Purge(now_seconds, context_.grace);
  }
  constexpr ColumnId column = 0;  // the only one
  const RowBody::Cell* const before = context_.body.LiveCell(column);
  // The value is the leaf's; shadows have none any more, and were told of when it went.
  const std::string_view value = before == nullptr ? std::string_view() : before->view.value;
  const int64_t at_seconds = before == nullptr ? 0 : before->view.liveness.expiry_seconds;
  const bool changed = context_.body.Purge(now_seconds, context_.grace);
  if (!value.empty() && context_.body.LiveCell(column) == nullptr) {
    NoteExpired(key, value, at_seconds);
  }
  return changed;
}

void Partition::EraseExpired(LeafRef& at, int64_t now_seconds) {
  // From the back, neighbours together: rows that go do not move those still to be looked at.
  size_t index = Leaf(at.block).size();
  while (index > 0 && at.block != nullptr) {
    const Leaf leaf(at.block);
    const size_t last = index;
    while (index > 0 && EventCame(leaf.meta(index - 1).expiry, now_seconds)) {
      NoteExpired(leaf, --index);
    }
    if (index == last) {
      --index;
      continue;
    }
    context_.expired_rows += last - index;
    EraseRows(at, index, last);
  }
}

void Partition::ReclaimLeaf(LeafRef at, int64_t now_seconds) {
  // Simple rows that leave no shadow only go, an eighth quicker than by the way below.
  if (Leaf(at.block).all_simple() && context_.grace.grace_seconds == 0) {
    EraseExpired(at, now_seconds);
    if (large() && at.block != nullptr && WantsShrink(Leaf(at.block))) ShrinkLeaf(at);
    return;
  }
  CoverRows(at, 0, Leaf(at.block).size(), Tombstone{}, now_seconds);
  // What has expired but still shadows older writes is put again as a complex row without its
  // value, whose meta says when the shadow ends; else the leaf would stay due until then.
  for (size_t i = 0; at.block != nullptr && i < Leaf(at.block).size(); ++i) {
    const Leaf leaf(at.block);
    const RowMeta meta = leaf.meta(i);
    if (meta.complex() || !EventCame(meta.expiry, now_seconds)) continue;
    const size_t rows = leaf.size();
    NoteExpired(leaf, i);
    DecodeRow(leaf, i, context_.body);
    context_.body.DropValues();
    PutBody(at, i, true, leaf.key(i), now_seconds, true);
    if (at.block == nullptr || Leaf(at.block).size() != rows)
      return;  // split; the rest comes next time
  }
  if (large() && at.block != nullptr && WantsShrink(Leaf(at.block))) ShrinkLeaf(at);
}

size_t Partition::Reclaim(int64_t now_seconds, size_t budget) {
  if (has_remains()) {
    // A look at its header, a block that is freed, and, where there are indexes, every row.
    LargePartition& partition = LargeOf(reference_);
    if (!partition.tree.has_cut()) return partition.ranges.FreeDead(std::max<size_t>(budget, 1));
    const size_t units_of_leaf = partition.indexed() ? kUnitsOfIndexedLeaf : kUnitsOfLeaf;
    return FreeCutLeaves(std::max<size_t>(budget / units_of_leaf, 1)) * units_of_leaf;
  }
  const size_t ranges = large() ? LargeOf(reference_).ranges.size() : 0;
  PurgeTombstones(now_seconds);
  ReclaimStatic(now_seconds);
  const auto due =
      static_cast<uint32_t>(std::clamp<int64_t>(now_seconds, 0, int64_t{kNeverExpires} - 1));
  size_t rows = large() ? ranges - LargeOf(reference_).ranges.size() : 0;
  do {
    LeafRef at{nullptr, {}};
    if (!large()) {
      at.block = BlockOf(reference_);
      if (Leaf(at.block).empty() || Leaf(at.block).header().earliest_expiry > due) break;
    } else {
      if (!LargeOf(reference_).tree.FindDue(due, at.position)) break;
      at.block = LargeOf(reference_).tree.leaf(at.position).block();
    }
    const Leaf leaf(at.block);
    rows += leaf.size();
    ReclaimLeaf(at, now_seconds);
  } while (rows < budget && large());
  return std::max<size_t>(rows, 1);
}

}  // namespace liststore::storage

// Views: reads that keep pointing to where rows lie, and how writes make way for them.
#include <cstring>

#include "engine/base/check.h"
#include "engine/storage/table.h"

namespace liststore::storage {

ViewPin* Table::View(const PartitionRef& partition, const ReadSpec& spec, int64_t now_seconds,
                     ViewSink& sink, uint64_t& rows) {
  pins_.Drain();
  rows = 0;
  const DirectorySlot* slot = FindForRead(partition);
  if (slot == nullptr) return nullptr;
  uint64_t reference = slot->reference;
  // Leaves of large partitions have no header of their own to spare: their rows are copied.
  char* const block = Partition::IsLarge(reference) ? nullptr : Partition::BlockOf(reference);
  if (block == nullptr) {
    sink.OnBlock({});
  } else {
    sink.OnBlock({block, Leaf(block).block_bytes()});
  }
  rows = Partition(context_, reference).Read(spec, now_seconds, sink);
  return sink.PointsIntoBlock() ? pins_.Pin(block) : nullptr;
}

bool Table::IsPinned(const DirectorySlot* slot) {
  return slot != nullptr && !Partition::IsLarge(slot->reference) &&
         Leaf(Partition::BlockOf(slot->reference)).pinned();
}

size_t Table::UnpinBytes(const DirectorySlot* slot) {
  if (baseline_epoch_ != 0) [[unlikely]] {
    if (const size_t bytes = BaselineBytes(slot); bytes != 0) return bytes;
  }
  if (__builtin_expect(!IsPinned(slot), true)) return 0;
  pins_.Drain();  // the views may have gone
  return IsPinned(slot) ? Leaf(Partition::BlockOf(slot->reference)).block_bytes() : 0;
}

void Table::Unpin(DirectorySlot* slot) {
  if (IsOfBaseline(slot->reference)) [[unlikely]]
    return KeepBefore(slot);
  if (__builtin_expect(!IsPinned(slot), true)) return;
  pins_.Drain();  // the views may have gone
  if (!IsPinned(slot)) return;
  char* const block = Partition::BlockOf(slot->reference);
  const size_t bytes = Leaf(block).block_bytes();
  char* const copy = static_cast<char*>(arena_.Allocate(bytes, memory::Arena::Mobility::kMovable));
  std::memcpy(copy, block, bytes);
  // Blocks of external rows belong to the copy from here on.
  Leaf(copy).set_pinned(false);
  slot->reference = Partition::MovedReference(slot->reference, copy);
  pins_.Orphan(block);
}

void Table::Bury(uint64_t reference) {
  if (Partition::IsLarge(reference)) {
    LargePartition& large = Partition::LargeOf(reference);
    large.next_dead = dead_;
    dead_ = &large;
    return;
  }
  Leaf leaf(Partition::BlockOf(reference));
  if (leaf.pinned()) {
    // Views hold no row that keeps bytes elsewhere.
    const Partition handle(context_, reference);
    context_.rows -= leaf.size();
    context_.held -= handle.tombstone_counts();
    leaf.FreeExternals(arena_);
    pins_.Orphan(leaf.block());
    return;
  }
  LS_CHECK(Partition(context_, reference).Destroy(1), "one step takes a small partition apart");
}

bool Table::MayMove(const void* block) const {
  return !Leaf::IsPinned(static_cast<const char*>(block));
}

}  // namespace liststore::storage

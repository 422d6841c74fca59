#include "engine/storage/pin_table.h"

#include <memory>

#include "engine/base/check.h"
#include "engine/storage/partition/leaf.h"

namespace liststore::storage {

PinTable::~PinTable() {
  Drain();
  LS_CHECK(blocks_.empty(), "views go before their store");
}

void PinTable::Post(ViewPin* pin) {
  pin->next = posted_.load(std::memory_order_relaxed);
  // Release: what the view has read comes before the block is given back.
  while (!posted_.compare_exchange_weak(pin->next, pin, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
}

ViewPin* PinTable::Pin(char* block) {
  auto pin = std::make_unique<ViewPin>(ViewPin{this, block, nullptr});
  Block& pinned = blocks_[block];
  if (pinned.pins++ == 0) {
    Leaf leaf(block);
    LS_CHECK(!leaf.pinned(), "a block without pins is not pinned");
    leaf.set_pinned(true);
    pinned.bytes = leaf.block_bytes();
  }
  return pin.release();
}

void PinTable::Orphan(char* block) {
  const auto found = blocks_.find(block);
  LS_CHECK(found != blocks_.end() && !found->second.orphan, "a partition leaves its block once");
  found->second.orphan = true;
  ++orphans_;
}

size_t PinTable::Drain() {
  if (!HasPosted()) return 0;
  size_t drained = 0;
  ViewPin* next = posted_.exchange(nullptr, std::memory_order_acquire);
  while (next != nullptr) {
    const std::unique_ptr<ViewPin> pin(next);
    next = pin->next;
    ++drained;
    const auto found = blocks_.find(pin->block);
    LS_CHECK(found != blocks_.end() && found->second.pins > 0, "a view lets go of its block once");
    if (--found->second.pins > 0) continue;
    if (found->second.orphan) {
      --orphans_;
      arena_.Free(pin->block, found->second.bytes);
    } else {
      Leaf(pin->block).set_pinned(false);
    }
    blocks_.erase(found);
  }
  return drained;
}

void PinTable::Verify() const {
  size_t orphans = 0;
  for (const auto& [block, pinned] : blocks_) {
    LS_CHECK(pinned.pins > 0, "(1) a block has pins");
    if (pinned.orphan) {
      ++orphans;
    } else {
      LS_CHECK(Leaf(block).pinned(), "(2) a pinned leaf says so");
    }
  }
  LS_CHECK(orphans == orphans_, "orphans are counted");
}

}  // namespace liststore::storage

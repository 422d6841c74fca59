#include "engine/lists/feature_entry.h"

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/lists/list_key.h"

namespace liststore {
namespace {

constexpr size_t kSlotsMin = 64;

}  // namespace

FeatureEntry::FeatureEntry(std::string_view feature_key, uint64_t hash)
    : framed_feature_key_(FramedFeatureKey(feature_key)), hash_(hash) {}

FeatureEntryTable::FeatureEntryTable() {
  all_slots_.push_back(std::make_unique<Slots>(kSlotsMin));
  newest_.store(all_slots_.back().get(), std::memory_order_release);
}

FeatureEntry* FeatureEntryTable::FindIn(const Slots& slots, std::string_view feature_key,
                                        uint64_t hash) {
  for (size_t at = hash & slots.mask;; at = (at + 1) & slots.mask) {
    FeatureEntry* const entry = slots.slots[at].load(std::memory_order_acquire);
    if (entry == nullptr) return nullptr;
    if (entry->hash() == hash && entry->feature_key() == feature_key) return entry;
  }
}

void FeatureEntryTable::InsertInto(Slots& slots, FeatureEntry* entry) {
  size_t at = entry->hash() & slots.mask;
  while (slots.slots[at].load(std::memory_order_relaxed) != nullptr) at = (at + 1) & slots.mask;
  slots.slots[at].store(entry, std::memory_order_release);
}

FeatureEntry* FeatureEntryTable::Find(std::string_view feature_key) const {
  return FindIn(*newest_.load(std::memory_order_acquire), feature_key, Hash64(feature_key));
}

FeatureEntry* FeatureEntryTable::FindOrInsert(std::string_view feature_key) {
  const uint64_t hash = Hash64(feature_key);
  Slots* slots = all_slots_.back().get();
  if (FeatureEntry* const entry = FindIn(*slots, feature_key, hash)) return entry;

  if ((entries_.size() + 1) * 2 > slots->mask + 1) {
    all_slots_.push_back(std::make_unique<Slots>((slots->mask + 1) * 2));
    slots = all_slots_.back().get();
    for (const auto& entry : entries_) InsertInto(*slots, entry.get());
    // Published with all entries: a reader that misses one here would have missed it before too.
    newest_.store(slots, std::memory_order_release);
  }
  entries_.push_back(std::make_unique<FeatureEntry>(feature_key, hash));
  InsertInto(*slots, entries_.back().get());
  return entries_.back().get();
}

size_t FeatureEntryTable::CountExisting() const {
  size_t existing = 0;
  for (const auto& entry : entries_) {
    if (entry->ttl_seconds() != 0) ++existing;
  }
  return existing;
}

void FeatureEntryTable::Verify() const {
  const Slots& slots = *all_slots_.back();
  LS_CHECK(newest_.load(std::memory_order_acquire) == &slots, "readers use the newest slots");
  size_t filled = 0;
  for (size_t at = 0; at <= slots.mask; ++at) {
    if (slots.slots[at].load(std::memory_order_acquire) != nullptr) ++filled;
  }
  LS_CHECK(filled == entries_.size(), "(1) every entry has one slot");
  LS_CHECK(filled * 2 <= slots.mask + 1, "(3) half of the slots are empty");
  for (const auto& entry : entries_) {
    LS_CHECK(FindIn(slots, entry->feature_key(), entry->hash()) == entry.get(),
             "(1), (2) an entry is found by its key");
  }
}

}  // namespace liststore

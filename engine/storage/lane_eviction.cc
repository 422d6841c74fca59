#include "engine/storage/lane_eviction.h"

#include <utility>

#include "engine/base/check.h"
#include "engine/storage/table.h"

namespace liststore::storage {
namespace {

// The part of all partitions that probation is for. Measured: decisions/0008.
constexpr size_t kProbationPart = 10;
// After so many that were all used, the least used of those last looked at goes: no write pays for
// a whole round of the hand.
constexpr size_t kLooksPerVictim = 32;
constexpr size_t kLeavesPerStep = 16;
// What is evicted after a refusal at a time: more holes than compaction leaves alone, a slab or
// two.
constexpr uint64_t kRefusalPart = 16;
constexpr uint64_t kRefusalBytesMin = uint64_t{4} << 10;
constexpr uint64_t kRefusalBytesMax = uint64_t{64} << 10;
constexpr size_t kUnitsPerEviction = 2048;
// Tables whose bytes are added up for that. With more, the lane is taken to be large.
constexpr size_t kTablesAddedUp = 64;

}  // namespace

// --- Tables that take part -----------------------------------------------------------------------

void LaneEviction::Admit() {
  ++admitted_;
  tables_.reserve(admitted_);
  offers_.reserve(admitted_);
}

void LaneEviction::Join(Table& table) {
  const EvictionState& state = *table.cache_;
  partitions_ += table.directory_.size();
  on_probation_ += state.on_probation;
  NoteListed(table);
  if (!state.probation.empty()) OfferTable(table);
}

void LaneEviction::Leave(Table& table) {
  EvictionState& state = *table.cache_;
  partitions_ -= table.directory_.size();
  on_probation_ -= state.on_probation;
  if (state.is_listed) Unlist(table);
  if (std::exchange(state.is_offered, false)) {
    std::erase_if(offers_, [&](const Offer& offer) { return offer.table == &table; });
    std::make_heap(offers_.begin(), offers_.end());
  }
  if (last_ == &table) last_ = nullptr;
}

void LaneEviction::NoteListed(Table& table) {
  EvictionState& state = *table.cache_;
  if (state.is_listed) [[likely]]
    return;
  state.is_listed = true;
  state.place = tables_.size();
  tables_.push_back(&table);
}

// The last one takes its place.
void LaneEviction::Unlist(Table& table) {
  EvictionState& state = *table.cache_;
  state.is_listed = false;
  tables_[state.place] = tables_.back();
  tables_[state.place]->cache_->place = state.place;
  tables_.pop_back();
  if (hand_ >= tables_.size()) hand_ = 0;
}

void LaneEviction::OfferTable(Table& table) {
  EvictionState& state = *table.cache_;
  if (std::exchange(state.is_offered, true)) return;
  offers_.push_back({PushOf(state.probation.OldestPush()), &table});
  std::push_heap(offers_.begin(), offers_.end());
}

// --- Choosing ------------------------------------------------------------------------------------

Table* LaneEviction::OldestOnProbation() {
  while (!offers_.empty()) {
    const Offer top = offers_.front();
    EvictionState& state = *top.table->cache_;
    const bool is_empty = state.probation.empty();
    if (!is_empty && offers_.size() == 1) return top.table;
    const uint64_t push = is_empty ? 0 : PushOf(state.probation.OldestPush());
    if (!is_empty && push <= top.push) return top.table;
    std::pop_heap(offers_.begin(), offers_.end());
    if (is_empty) {
      state.is_offered = false;
      offers_.pop_back();
    } else {
      offers_.back().push = push;
      std::push_heap(offers_.begin(), offers_.end());
    }
  }
  return nullptr;
}

void LaneEviction::MoveHandOn(int64_t now_seconds) {
  if (tables_.size() == 1) return;
  Table& table = *tables_[hand_];
  if (table.directory_.size() == 0 && !table.WantsReclaim(now_seconds)) {
    Unlist(table);  // another one is at its place
  } else {
    hand_ = (hand_ + 1) % tables_.size();
  }
}

// --- Evicting ------------------------------------------------------------------------------------

void LaneEviction::NoteEvictedFrom(Table& table, size_t partitions, uint64_t bytes,
                                   Evicted& evicted) {
  EvictionState& state = *table.cache_;
  evicted.partitions += partitions;
  evicted.bytes += bytes;
  // What others gave back is not what it has paid for.
  state.paid_live_bytes -= std::min(state.paid_live_bytes, bytes);
  if (partitions != 0) last_ = &table;
  if (partitions != 0 && state.untidied == 0) {
    state.next_untidied = untidied_;
    untidied_ = &table;
  }
  state.untidied += partitions;
  if (state.untidied != 0) table.evicted_bytes_ += bytes;
}

size_t LaneEviction::EvictFromMain(size_t partitions_max, int64_t now_seconds, Evicted& evicted) {
  Table::HandTurn turn;
  turn.left = partitions_max;
  size_t ends = 0;
  size_t went = 0;
  while (turn.looked_at < kLooksPerVictim && turn.left != 0 && !tables_.empty()) {
    Table& table = *tables_[hand_];
    const size_t left = turn.left;
    bool ended = false;
    const uint64_t bytes = table.BytesFreedBy([&] { ended = table.TurnHand(turn, now_seconds); });
    NoteEvictedFrom(table, left - turn.left, bytes, evicted);
    went += left - turn.left;
    if (!ended) continue;
    MoveHandOn(now_seconds);
    if (++ends >= tables_.size() && partitions_ <= Table::kLookedAtTogether) break;
  }
  if (went == 0 && turn.least_of != nullptr) {
    Table& table = *turn.least_of;
    const uint64_t bytes = table.BytesFreedBy(
        [&] { table.EvictOne(turn.least.first, turn.least.second, now_seconds); });
    NoteEvictedFrom(table, 1, bytes, evicted);
    went = 1;
  }
  return went;
}

LaneEviction::Evicted LaneEviction::Evict(Table* grown, uint64_t bytes, size_t partitions_max,
                                          int64_t now_seconds) {
  Evicted evicted;
  // Turns of the hand in a row that evicted nothing: so many that all of it is guarded, or a
  // baseline's.
  size_t in_vain = 0;
  const size_t turns_max = 4 + partitions_ / kLooksPerVictim + tables_.size();
  Table* at = grown;  // where something may be left of what was evicted
  while (evicted.partitions < partitions_max && evicted.bytes < bytes && in_vain < turns_max) {
    if (at != nullptr && at->dead_ != nullptr) {
      const uint64_t freed = at->BytesFreedBy([&] { at->ReclaimDead(kLeavesPerStep); });
      NoteEvictedFrom(*at, 0, freed, evicted);
      continue;
    }
    if (partitions_ == 0) break;
    const size_t main = partitions_ - on_probation_;
    Table* const oldest = OldestOnProbation();
    const bool from_probation =
        oldest != nullptr &&
        (on_probation_ * kProbationPart > partitions_ || main == 0 || in_vain != 0);
    if (tables_.empty()) break;
    at = from_probation ? oldest : tables_[hand_];
    // As many as will do if they are of middling size.
    const size_t wanted =
        std::min<uint64_t>(std::min(partitions_max - evicted.partitions, Table::kLookedAtTogether),
                           (bytes - evicted.bytes) / at->AveragePartitionBytes() + 1);
    // Each turn takes entries out of the queue, whether or not a partition goes.
    if (from_probation) {
      size_t went = 0;
      const uint64_t freed =
          at->BytesFreedBy([&] { went = at->EvictFromProbation(wanted, now_seconds); });
      NoteEvictedFrom(*at, went, freed, evicted);
      continue;
    }
    const size_t went = EvictFromMain(wanted, now_seconds, evicted);
    if (went != 0) at = last_;
    in_vain = went != 0 ? 0 : in_vain + 1;
  }
  return evicted;
}

template <typename Then>
void LaneEviction::Tidy(const Then& then) {
  while (untidied_ != nullptr) {
    Table& table = *untidied_;
    EvictionState& state = *table.cache_;
    untidied_ = std::exchange(state.next_untidied, nullptr);
    table.TidyAfterEviction(std::exchange(state.untidied, 0));
    then(table);
  }
}

void LaneEviction::Tidy() {
  Tidy([](Table& /*table*/) {});
}

bool LaneEviction::CompactLast(const Table& grown, size_t blocks) {
  if (last_ == nullptr || last_ == &grown || !last_->arena_.WorthCompacting()) return false;
  last_->arena_.Compact(blocks, *last_);
  return true;
}

bool LaneEviction::EvictAfterRefusal(uint32_t doublings, int64_t now_seconds) {
  if (tables_.empty()) return false;
  uint64_t live = 0;
  for (size_t i = 0; i < std::min(tables_.size(), kTablesAddedUp); ++i) {
    live += tables_[i]->arena_.live_bytes();
  }
  if (tables_.size() > kTablesAddedUp) live = UINT64_MAX;
  const uint64_t bytes = std::clamp(live / kRefusalPart, kRefusalBytesMin, kRefusalBytesMax)
                         << doublings;
  const Evicted evicted = Evict(tables_[hand_], bytes, SIZE_MAX, now_seconds);
  // What evictions leave behind: timers, an oversized directory, holes.
  size_t units = 0;
  const auto pull_together = [&](Table& table) {
    if (units < kUnitsPerEviction && table.WantsReclaim(now_seconds)) {
      units += table.Reclaim(now_seconds, kUnitsPerEviction - units);
    }
    table.arena_.ReleaseCredit();
    table.cache_->paid_live_bytes = table.arena_.live_bytes();
  };
  if (evicted.partitions == 0) {
    for (Table* const table : tables_) pull_together(*table);
  } else {
    Tidy(pull_together);
  }
  return evicted.partitions != 0 || units != 0 || evicted.bytes != 0;
}

void LaneEviction::Dismiss(Table& table) {
  --admitted_;
  // Where the heap has refused something, what was to be done may wait still.
  const auto take_out = [&table](Table*& list, Table* EvictionState::*next) {
    for (Table** at = &list; *at != nullptr; at = &((*at)->cache_.get()->*next)) {
      if (*at != &table) continue;
      *at = table.cache_.get()->*next;
      return;
    }
  };
  take_out(owing_, &EvictionState::next_owing);
  take_out(untidied_, &EvictionState::next_untidied);
}

// --- Paying --------------------------------------------------------------------------------------

void LaneEviction::Owes(Table& table) {
  EvictionState& state = *table.cache_;
  if (std::exchange(state.owes, true)) return;
  state.next_owing = owing_;
  owing_ = &table;
}

void LaneEviction::PayOwed(int64_t now_seconds) {
  while (owing_ != nullptr) {
    Table& table = *owing_;
    owing_ = std::exchange(table.cache_->next_owing, nullptr);
    table.cache_->owes = false;
    table.PayForGrowth(now_seconds);
  }
}

void LaneEviction::Verify() const {
  size_t partitions = 0;
  size_t on_probation = 0;
  for (size_t i = 0; i < tables_.size(); ++i) {
    const EvictionState& state = *tables_[i]->cache_;
    LS_CHECK(state.takes_part && state.is_listed && state.place == i, "(2) a table has its place");
    partitions += tables_[i]->directory_.size();
    on_probation += state.on_probation;
    const auto offers = std::count_if(offers_.begin(), offers_.end(), [&](const Offer& offer) {
      return offer.table == tables_[i];
    });
    LS_CHECK(offers == (state.is_offered ? 1 : 0), "(3) a table is offered once");
    LS_CHECK(state.is_offered || state.probation.empty(), "(3) what has entries is offered");
  }
  LS_CHECK(partitions == partitions_, "(1) partitions are counted");
  LS_CHECK(on_probation == on_probation_, "(1) and those on probation");
  LS_CHECK(untidied_ == nullptr && owing_ == nullptr, "nothing is left between calls");
}

}  // namespace liststore::storage

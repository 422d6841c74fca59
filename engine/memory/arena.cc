#include "engine/memory/arena.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <new>
#include <utility>

#include "engine/memory/memory_poison.h"

namespace liststore::memory {
namespace {

// Of which so many are there whenever a write is let in: what it takes of slabs and of classes beside
// what it brings.
constexpr size_t kSlabNotesMin = 32;
constexpr size_t kClassNotesMin = 12;

// The highest level whose slabs aim at no more than `bytes`.
uint8_t LevelWithin(uint64_t bytes) {
  if (bytes < PagePool::kPageBytes) return 0;
  const auto level = static_cast<uint64_t>(std::bit_width(bytes / PagePool::kPageBytes)) - 1;
  return static_cast<uint8_t>(std::min<uint64_t>(level, size_classes::kLevels - 1));
}

// The bits of word `word` that stand for blocks.
uint64_t BlockBits(size_t capacity, size_t word) {
  const size_t rest = capacity - word * 64;
  return rest >= 64 ? ~uint64_t{0} : (uint64_t{1} << rest) - 1;
}

}  // namespace

size_t Arena::Slab::IndexOf(const void* at) const {
  const auto offset =
      static_cast<size_t>(static_cast<const char*>(at) - reinterpret_cast<const char*>(this)) -
      first_block;
  const size_t index =
      (offset / size_classes::kUnitBytes * size_classes::kReciprocals[size_class]) >> 32;
  LS_CHECK(index < capacity && index * size_classes::kBlockBytes[size_class] == offset,
           "a block is named by its start");
  return index;
}

Arena::~Arena() {
  for (Slab* slab : slabs_) pool_.Free(slab, slab->bytes());
  for (const auto& [block, bytes] : large_) pool_.Free(block, bytes);
  budget_.Release(held_bytes_ + credit_bytes_);
}

// ---- Credit ------------------------------------------------------------------------------------

// Slabs stay below 1/16 of what they are added to, and below 1/4096 of the limit.
uint8_t Arena::LevelFor(uint64_t held_bytes) const {
  return LevelWithin(std::min(held_bytes / 16, budget_.limit_bytes() / 4096));
}

// What is taken of the budget in advance, so that it is not asked for every slab.
uint64_t Arena::CreditStep() const {
  constexpr uint64_t kPage = PagePool::kPageBytes;
  const uint64_t step = std::clamp<uint64_t>(held_bytes_ / 32, kPage, uint64_t{256} << 10);
  return std::min(step, std::max(budget_.limit_bytes() / 4096, kPage));
}

// First as generously as may be; close to the limit with what is just needed and the smallest slabs.
// What goes into the slack leaves nothing for a later write to begin with.
bool Arena::ReserveSlowly(uint64_t bytes, MemoryBudget::Purpose purpose) {
  constexpr auto kGrow = MemoryBudget::Purpose::kGrow;
  PrepareNotes(bytes);
  if (!pool_.MayTake(purpose != kGrow)) return false;
  if (bytes > PagePool::kBackedBytes && !pool_.SetAside(bytes, aside_)) return false;
  if ((!pool_.refuses() && TryReserve(bytes, kGrow, LevelFor(held_bytes_), CreditStep())) ||
      TryReserve(bytes, kGrow, 0, 0)) {
    took_slack_ = false;
    return true;
  }
  if (purpose == kGrow || !TryReserve(bytes, purpose, 0, 0)) return false;
  took_slack_ = true;
  return true;
}

// What slabs and blocks are noted in comes from the heap, which may refuse. A write that was let in
// begins a slab for each page it brings, at most, and some of what it takes besides.
void Arena::PrepareNotes(uint64_t bytes) {
  const size_t slabs = bytes / PagePool::kPageBytes + kSlabNotesMin;
  if (slabs_.capacity() - slabs_.size() < slabs) {
    slabs_.reserve(slabs_.size() + std::max(slabs_.size(), 2 * slabs));
  }
  if (classes_.capacity() - classes_.size() < kClassNotesMin) {
    classes_.reserve(classes_.size() + 2 * kClassNotesMin);
  }
  const size_t large = bytes / size_classes::kBlockBytesMax;
  while (large_notes_.size() < large) {
    std::map<char*, size_t> note;
    note.emplace(nullptr, 0);
    large_notes_.push_back(note.extract(note.begin()));
  }
  wants_notes_ = false;
}

bool Arena::TryReserve(uint64_t bytes, MemoryBudget::Purpose purpose, uint8_t level,
                       uint64_t more) {
  const uint64_t missing = bytes + more - std::min(credit_bytes_, bytes + more);
  if (!budget_.TryHold(missing, purpose)) return false;
  credit_bytes_ += missing;
  level_ = level;
  reserved_bytes_ = bytes;
  return true;
}

void Arena::ReleaseCredit() {
  if (empty_ != nullptr) ReleaseSlab(empty_);
  aside_.Clear();
  if (credit_bytes_ != 0) budget_.Release(credit_bytes_);
  credit_bytes_ = 0;
  reserved_bytes_ = 0;
}

void Arena::SpendCredit(uint64_t bytes) {
  if (credit_bytes_ < bytes) TakeSlack(bytes - credit_bytes_);
  credit_bytes_ -= bytes;
  reserved_bytes_ -= std::min(reserved_bytes_, bytes);
  held_bytes_ += bytes;
}

// Where the slack is used up too, the limit is passed by a slab or two, and the next reservation
// finds that. Ending the process for it would serve nobody.
void Arena::TakeSlack(uint64_t bytes) {
  if (!budget_.TryHold(bytes, MemoryBudget::Purpose::kFinish)) {
    budget_.HoldBeyondLimit(bytes);
    ++slabs_beyond_limit_;
  }
  took_slack_ = true;
  credit_bytes_ += bytes;
}

// Keeps what the reservation still needs and a little for the slabs to come.
void Arena::EarnCredit(uint64_t bytes) {
  LS_CHECK(held_bytes_ >= bytes, "only held pages become credit");
  held_bytes_ -= bytes;
  credit_bytes_ += bytes;
  const uint64_t step = CreditStep();
  if (credit_bytes_ <= reserved_bytes_ + 4 * step) return;
  const uint64_t kept = reserved_bytes_ + 2 * step;
  budget_.Release(credit_bytes_ - kept);
  credit_bytes_ = kept;
}

// ---- Blocks ------------------------------------------------------------------------------------

void* Arena::Allocate(size_t bytes, Mobility mobility) {
  if (bytes > size_classes::kBlockBytesMax) return AllocateLarge(bytes);
  SizeClass& c = ClassFor(size_classes::ClassOf(bytes), mobility);
  if (c.current == nullptr) {
    ChooseCurrent(c);
    if (c.current == nullptr) c.current = NewSlab(c);
  }
  return TakeBlock(c);
}

// The lowest free block of the current slab: pages not reached so far stay untouched.
char* Arena::TakeBlock(SizeClass& c) {
  Slab* const slab = c.current;
  uint64_t* const words = slab->free_blocks();
  size_t word = slab->first_word;
  while (words[word] == 0) {
    ++word;
    LS_CHECK(word < slab->words(), "the current slab has a free block");
  }
  const size_t index = word * 64 + static_cast<size_t>(std::countr_zero(words[word]));
  words[word] &= words[word] - 1;
  slab->first_word = static_cast<uint16_t>(word);
  if (slab->live++ == 0 && slab == empty_) empty_ = nullptr;
  if (slab->live > slab->live_high) {
    c.current = nullptr;
    Link(slab);
  }
  LS_DCHECK(c.free_blocks > 0, "the count includes the block taken");
  if (c.free_blocks-- == c.compact_above + 1) --classes_worth_compacting_;
  const size_t bytes = size_classes::kBlockBytes[c.size_class];
  live_bytes_ += bytes;
  char* const block = slab->block(index);
  UnpoisonMemory(block, bytes);
  return block;
}

void Arena::Free(void* block, size_t bytes) {
  if (bytes > size_classes::kBlockBytesMax) return FreeLarge(block, bytes);
  auto* slab = static_cast<Slab*>(PagePool::RunOf(block));
  LS_CHECK(slab->arena == this, "a block is freed where it was allocated");
  LS_CHECK(slab->size_class == size_classes::ClassOf(bytes), "a block is freed with its size");
  ReturnBlock(classes_[slab->class_index], slab, slab->IndexOf(block));
}

void Arena::ReturnBlock(SizeClass& c, Slab* slab, size_t index) {
  const size_t word = index / 64;
  const uint64_t bit = uint64_t{1} << (index % 64);
  LS_CHECK((slab->free_blocks()[word] & bit) == 0, "a block is freed once");
  slab->free_blocks()[word] |= bit;
  slab->first_word = std::min(slab->first_word, static_cast<uint16_t>(word));
  const size_t bytes = size_classes::kBlockBytes[c.size_class];
  live_bytes_ -= bytes;
  PoisonMemory(slab->block(index), bytes);
  if (c.free_blocks++ == c.compact_above) ++classes_worth_compacting_;
  --slab->live;
  if (slab->live >= slab->live_low) return;
  if (slab->live == 0) return SlabEmptied(slab);
  Unlink(slab);
  Link(slab);
}

void* Arena::AllocateLarge(size_t bytes) {
  const size_t block_bytes = BlockBytes(bytes);
  SpendCredit(block_bytes);
  live_bytes_ += block_bytes;
  void* block = pool_.Allocate(block_bytes, &aside_);
  bool is_new = false;
  if (large_notes_.empty()) {
    is_new = large_.emplace(static_cast<char*>(block), block_bytes).second;
  } else {
    auto note = std::move(large_notes_.back());
    large_notes_.pop_back();
    note.key() = static_cast<char*>(block);
    note.mapped() = block_bytes;
    is_new = large_.insert(std::move(note)).inserted;
  }
  LS_CHECK(is_new, "the pool hands out a run once");
  return block;
}

void Arena::FreeLarge(void* block, size_t bytes) {
  const auto found = large_.find(static_cast<char*>(block));
  LS_CHECK(found != large_.end(), "a large block is freed once, where it was allocated");
  const size_t block_bytes = found->second;
  LS_CHECK(block_bytes == BlockBytes(bytes), "a block is freed with its size");
  large_.erase(found);
  live_bytes_ -= block_bytes;
  pool_.Free(block, block_bytes);
  EarnCredit(block_bytes);
}

// ---- Slabs -------------------------------------------------------------------------------------

Arena::SizeClass& Arena::ClassFor(size_t size_class, Mobility mobility) {
  uint8_t& number = class_numbers_[static_cast<size_t>(mobility)][size_class];
  if (number == 0) {
    SizeClass& c = classes_.emplace_back();
    c.size_class = static_cast<uint8_t>(size_class);
    c.mobility = mobility;
    number = static_cast<uint8_t>(classes_.size());
    wants_notes_ |= classes_.capacity() - classes_.size() < kClassNotesMin;
  }
  return classes_[number - 1u];
}

// The fullest partly used slab, so that the others may empty; none if all are full.
void Arena::ChooseCurrent(SizeClass& c) {
  for (int band = kBands - 1; band >= 0; --band) {
    Slab* const slab = c.bands[band];
    if (slab == nullptr) continue;
    Unlink(slab);
    slab->band = kCurrentBand;
    slab->live_low = 1;
    slab->live_high = static_cast<uint16_t>(slab->capacity - 1);
    c.current = slab;
    return;
  }
}

Arena::Slab* Arena::NewSlab(SizeClass& c) {
  const auto& pages_at = size_classes::kSlabPages[c.size_class];
  uint8_t pages = pages_at[std::min(level_, LevelWithin(c.held_bytes / 16))];
  // What takes from the slack takes the least.
  if (credit_bytes_ < pages * PagePool::kPageBytes) pages = pages_at[0];
  const size_t bytes = pages * PagePool::kPageBytes;
  SpendCredit(bytes);
  auto* slab = new (pool_.Allocate(bytes, &aside_)) Slab{};
  const size_t capacity = size_classes::Capacity(bytes, size_classes::kBlockBytes[c.size_class]);
  slab->arena = this;
  slab->place = static_cast<uint32_t>(slabs_.size());
  slabs_.push_back(slab);
  wants_notes_ |= slabs_.capacity() - slabs_.size() < kSlabNotesMin;
  slab->capacity = static_cast<uint16_t>(capacity);
  slab->live_low = 1;
  slab->live_high = static_cast<uint16_t>(capacity - 1);
  slab->first_block = static_cast<uint16_t>(size_classes::FirstBlock(capacity));
  slab->pages = pages;
  slab->class_index = static_cast<uint8_t>(&c - classes_.data());
  slab->size_class = c.size_class;
  slab->band = kCurrentBand;
  for (size_t word = 0; word < slab->words(); ++word) {
    slab->free_blocks()[word] = BlockBits(capacity, word);
  }
  PoisonMemory(slab->block(0), bytes - slab->first_block);
  CountSlab(c, slab, true);
  return slab;
}

void Arena::ReleaseSlab(Slab* slab) {
  LS_CHECK(slab->live == 0, "only an empty slab goes back");
  Unlink(slab);
  if (slab == empty_) empty_ = nullptr;
  CountSlab(classes_[slab->class_index], slab, false);
  slabs_.back()->place = slab->place;
  slabs_[slab->place] = slabs_.back();
  slabs_.pop_back();
  const size_t bytes = slab->bytes();
  pool_.Free(slab, bytes);
  EarnCredit(bytes);
}

// Keeps it in place of the one kept so far: a table whose last block comes and goes would else take
// a slab from the pool each time.
void Arena::SlabEmptied(Slab* slab) {
  if (slab->band != kCurrentBand) {
    Unlink(slab);
    Link(slab);
  }
  if (empty_ != nullptr) ReleaseSlab(empty_);
  empty_ = slab;
}

void Arena::CountSlab(SizeClass& c, const Slab* slab, bool added) {
  const bool was_worth = c.WorthCompacting();
  if (added) {
    c.held_bytes += slab->bytes();
    c.blocks += slab->capacity;
    c.free_blocks += slab->capacity;
    c.slab_blocks_max = std::max(c.slab_blocks_max, slab->capacity);
  } else {
    c.held_bytes -= slab->bytes();
    c.blocks -= slab->capacity;
    c.free_blocks -= slab->capacity;
    if (c.blocks == 0) c.slab_blocks_max = 0;
  }
  // More holes than the largest slab has blocks: whichever slab is emptied, the others can take it
  // all.
  if (c.mobility == Mobility::kMovable) c.compact_above = c.slab_blocks_max + c.blocks / 20;
  if (was_worth) --classes_worth_compacting_;
  if (c.WorthCompacting()) ++classes_worth_compacting_;
}

// Puts it into the list that its count of live blocks asks for.
void Arena::Link(Slab* slab) {
  const unsigned capacity = slab->capacity;
  const unsigned band = slab->live == capacity ? kFullBand : slab->live * kBands / capacity;
  const auto first_of = [capacity](unsigned b) { return (b * capacity + kBands - 1) / kBands; };
  const unsigned low = band == kFullBand ? capacity : std::max(first_of(band), 1u);
  const unsigned high = band == kFullBand ? capacity : first_of(band + 1) - 1;
  slab->band = static_cast<uint8_t>(band);
  slab->live_low = static_cast<uint16_t>(low);
  slab->live_high = static_cast<uint16_t>(high);
  if (band == kFullBand) return;
  Slab*& head = classes_[slab->class_index].bands[band];
  slab->next = head;
  slab->previous = nullptr;
  if (head != nullptr) head->previous = slab;
  head = slab;
}

void Arena::Unlink(Slab* slab) {
  SizeClass& c = classes_[slab->class_index];
  if (slab->band >= kBands) {
    if (c.current == slab) c.current = nullptr;
    return;
  }
  if (slab->next != nullptr) slab->next->previous = slab->previous;
  if (slab->previous != nullptr) {
    slab->previous->next = slab->next;
  } else {
    LS_CHECK(c.bands[slab->band] == slab, "a slab is in the list it names");
    c.bands[slab->band] = slab->next;
  }
}

// ---- Compaction --------------------------------------------------------------------------------

size_t Arena::Compact(size_t blocks_max, Relocator& relocator) {
  if (empty_ != nullptr && WorthCompacting())
    ReleaseSlab(empty_);  // its holes are not worth a move
  size_t moved = 0;
  size_t idle = 0;  // classes in a row in which nothing may be moved
  while (moved < blocks_max && WorthCompacting() && idle <= classes_.size()) {
    if (next_class_ >= classes_.size()) next_class_ = 0;
    SizeClass& c = classes_[next_class_];
    const size_t moved_here =
        c.WorthCompacting() ? CompactClass(c, blocks_max - moved, relocator) : 0;
    moved += moved_here;
    idle = moved_here == 0 ? idle + 1 : 0;
    if (moved_here == 0 || !c.WorthCompacting()) ++next_class_;
  }
  return moved;
}

size_t Arena::CompactClass(SizeClass& c, size_t blocks_max, Relocator& relocator) {
  if (c.current != nullptr) {  // it may be the emptiest
    Slab* const current = c.current;
    Unlink(current);
    Link(current);
  }
  size_t moved = 0;
  Slab* stuck = nullptr;  // emptied but for what may not be moved; aside until the end
  while (moved < blocks_max && c.WorthCompacting()) {
    Slab* const* emptiest =
        std::find_if(c.bands, c.bands + kBands, [](const Slab* slab) { return slab != nullptr; });
    if (emptiest == c.bands + kBands) {
      LS_CHECK(stuck != nullptr, "a class with holes has a slab with holes");
      break;
    }
    const Slab* const stuck_before = stuck;
    const size_t moved_here = MoveBlocks(c, *emptiest, blocks_max - moved, relocator, stuck);
    moved += moved_here;
    if (moved_here == 0 && stuck == stuck_before) break;  // no holes left but in those aside
  }
  while (stuck != nullptr) {
    Slab* const next = stuck->next;
    Link(stuck);
    stuck = next;
  }
  return moved;
}

size_t Arena::MoveBlocks(SizeClass& c, Slab* victim, size_t blocks_max, Relocator& relocator,
                         Slab*& stuck) {
  Unlink(victim);
  victim->band = kCurrentBand;
  victim->live_low = 0;  // its blocks are returned without moving it between lists
  const size_t bytes = size_classes::kBlockBytes[c.size_class];
  size_t moved = 0;
  size_t kept = 0;  // may not be moved
  bool full = false;
  for (size_t word = 0; word < victim->words() && !full; ++word) {
    uint64_t live = ~victim->free_blocks()[word] & BlockBits(victim->capacity, word);
    for (; live != 0 && moved < blocks_max; live &= live - 1) {
      const size_t index = word * 64 + static_cast<size_t>(std::countr_zero(live));
      char* const from = victim->block(index);
      if (!relocator.MayMove(from)) {
        ++kept;
        continue;
      }
      if (c.current == nullptr) ChooseCurrent(c);
      if (c.current == nullptr) {
        LS_CHECK(stuck != nullptr, "the other slabs have room for all blocks of one");
        full = true;
        break;
      }
      char* const to = TakeBlock(c);
      std::memcpy(to, from, bytes);
      relocator.Moved(from, to, bytes);
      ReturnBlock(c, victim, index);
      ++moved;
    }
  }
  if (victim->live == 0) {
    ReleaseSlab(victim);
  } else if (kept == victim->live && !full) {
    victim->next = stuck;
    stuck = victim;
  } else {
    Link(victim);
  }
  return moved;
}

// ---- Verify ------------------------------------------------------------------------------------

void Arena::Verify() const {
  struct Sums {
    uint64_t held_bytes, blocks, live, unlisted;
  };
  std::vector<Sums> sums(classes_.size());
  for (size_t i = 0; i < slabs_.size(); ++i) {
    const Slab* slab = slabs_[i];
    LS_CHECK(slab->arena == this && slab->place == i, "a slab knows its place");
    LS_CHECK(slab->class_index < classes_.size(), "a slab knows its class");
    VerifySlab(classes_[slab->class_index], slab);
    Sums& sum = sums[slab->class_index];
    sum.held_bytes += slab->bytes();
    sum.blocks += slab->capacity;
    sum.live += slab->live;
    sum.unlisted += slab->band < kBands ? 0 : 1;
  }
  uint64_t held_bytes = 0, live_bytes = 0, listed = 0, unlisted = 0;
  uint32_t worth = 0;
  for (size_t i = 0; i < classes_.size(); ++i) {
    const SizeClass& c = classes_[i];
    LS_CHECK(sums[i].held_bytes == c.held_bytes && sums[i].blocks == c.blocks, "slabs are counted");
    LS_CHECK(sums[i].blocks - sums[i].live == c.free_blocks, "free blocks are counted");
    held_bytes += c.held_bytes;
    live_bytes += sums[i].live * size_classes::kBlockBytes[c.size_class];
    listed += VerifyLists(c);
    unlisted += sums[i].unlisted;
    worth += c.WorthCompacting() ? 1 : 0;
  }
  for (const auto& [block, bytes] : large_) {
    LS_CHECK(bytes > size_classes::kBlockBytesMax && bytes % PagePool::kPageBytes == 0,
             "large blocks are whole pages");
    held_bytes += bytes;
    live_bytes += bytes;
  }
  LS_CHECK(listed + unlisted == slabs_.size(), "(1) no slab is lost");
  LS_CHECK(held_bytes == held_bytes_ && live_bytes == live_bytes_, "(3) the sums are exact");
  LS_CHECK(credit_bytes_ >= reserved_bytes_, "the credit covers the reservation");
  LS_CHECK(worth == classes_worth_compacting_, "classes worth compacting are counted");
  LS_CHECK(budget_.held_bytes() >= held_bytes_ + credit_bytes_, "(4) all of it is in the budget");
}

// Returns how many slabs the lists of the class hold.
size_t Arena::VerifyLists(const SizeClass& c) const {
  size_t listed = 0;
  for (int band = 0; band < kBands; ++band) {
    const Slab* previous = nullptr;
    for (const Slab* slab = c.bands[band]; slab != nullptr; slab = slab->next, ++listed) {
      LS_CHECK(slab->band == band && slab->previous == previous, "lists are linked both ways");
      LS_CHECK(&classes_[slab->class_index] == &c, "a list holds slabs of one class");
      previous = slab;
    }
  }
  return listed;
}

void Arena::VerifySlab(const SizeClass& c, const Slab* slab) const {
  LS_CHECK(slab->size_class == c.size_class, "a slab knows its class");
  LS_CHECK(slab->live > 0 || slab == empty_, "at most one empty slab is kept");
  LS_CHECK((slab->band == kCurrentBand) == (slab == c.current), "(1) one slab is current");
  const bool is_full = slab->live == slab->capacity;
  LS_CHECK(is_full == (slab->band == kFullBand), "(1) full slabs say so");
  if (slab->band < kBands) {
    LS_CHECK(slab->live * kBands / slab->capacity == slab->band, "(1) its band fits its count");
  }
  size_t free_blocks = 0;
  for (size_t word = 0; word < slab->words(); ++word) {
    const uint64_t bits = slab->free_blocks()[word];
    LS_CHECK((bits & ~BlockBits(slab->capacity, word)) == 0, "bits beyond the blocks are clear");
    LS_CHECK(word >= slab->first_word || bits == 0, "no free block below first_word");
    free_blocks += static_cast<size_t>(std::popcount(bits));
  }
  LS_CHECK(free_blocks + slab->live == slab->capacity, "(2) the bitmap agrees with the count");
  const char* last = reinterpret_cast<const char*>(slab) + slab->bytes() - 1;
  LS_CHECK(PagePool::RunOf(last) == slab, "a slab is one run");
}

}  // namespace liststore::memory

#include "engine/storage/partition/value_index.h"

#include <cstring>
#include <utility>

#include "engine/base/check.h"

namespace liststore::storage {

ValueIndex::ValueIndex(memory::Arena& arena)
    : arena_(&arena),
      segments_(memory::ArenaAllocator<Segment*>(&arena)),
      overflow_(std::less<>(), memory::ArenaAllocator<uint64_t>(&arena)) {}

ValueIndex::ValueIndex(ValueIndex&& other) noexcept
    : arena_(other.arena_),
      segments_(std::move(other.segments_)),
      buckets_(std::exchange(other.buckets_, 0)),
      size_(std::exchange(other.size_, 0)),
      overflow_(std::move(other.overflow_)) {
  other.segments_.clear();
  other.overflow_.clear();
}

// --- Entries -------------------------------------------------------------------------------------

uint64_t* ValueIndex::Find(const Bucket& bucket, uint64_t entry) const {
  uint64_t* const at = LowerBound(bucket, entry);
  return at != bucket.entries + bucket.count && *at == entry ? at : nullptr;
}

bool ValueIndex::Contains(uint32_t hash, uint32_t leaf_id) const {
  if (buckets_ == 0) return false;
  const uint64_t entry = Entry(hash, leaf_id);
  return Find(BucketAt(NumberOf(hash)), entry) != nullptr || overflow_.contains(entry);
}

void ValueIndex::Add(uint32_t hash, uint32_t leaf_id) {
  const uint64_t entry = Entry(hash, leaf_id);
  if (buckets_ == 0) AddBucket();
  Bucket& bucket = BucketAt(NumberOf(hash));
  uint64_t* at = LowerBound(bucket, entry);
  if (at != bucket.entries + bucket.count && *at == entry) return;
  if (!overflow_.empty() && overflow_.contains(entry)) return;
  ++size_;
  if (bucket.count == bucket.capacity && bucket.capacity >= kBucketEntriesMax) [[unlikely]] {
    overflow_.insert(entry);
  } else {
    if (bucket.count == bucket.capacity) {
      const ptrdiff_t place = at - bucket.entries;
      Reallocate(bucket, std::max(kFirstEntries, bucket.capacity + bucket.capacity / size_t{2}));
      at = bucket.entries + place;
    }
    uint64_t* const end = bucket.entries + bucket.count;
    std::memmove(at + 1, at, static_cast<size_t>(end - at) * sizeof(uint64_t));
    *at = entry;
    ++bucket.count;
  }
  if (size_ > buckets_ * kEntriesPerBucket) SplitOne();
}

void ValueIndex::Remove(uint32_t hash, uint32_t leaf_id) {
  if (buckets_ == 0) return;
  const uint64_t entry = Entry(hash, leaf_id);
  Bucket& bucket = BucketAt(NumberOf(hash));
  if (uint64_t* const at = Find(bucket, entry)) {
    uint64_t* const end = bucket.entries + bucket.count;
    std::memmove(at, at + 1, static_cast<size_t>(end - at - 1) * sizeof(uint64_t));
    --bucket.count;
  } else if (overflow_.erase(entry) == 0) {
    return;
  }
  --size_;
  if (size_ == 0) {
    clear();
  } else if (buckets_ > 1 && size_ < buckets_ * (kEntriesPerBucket / 2)) {
    MergeOne();
  }
}

void ValueIndex::Rename(uint32_t hash, uint32_t from_leaf_id, uint32_t to_leaf_id) {
  if (buckets_ == 0) return;
  const uint64_t from = Entry(hash, from_leaf_id);
  const uint64_t to = Entry(hash, to_leaf_id);
  Bucket& bucket = BucketAt(NumberOf(hash));
  if (uint64_t* const at = Find(bucket, from)) {
    LS_DCHECK(!Contains(hash, to_leaf_id), "the other leaf had no such rows");
    // Between the two are only others of this hash.
    uint64_t* const target = LowerBound(bucket, to);
    if (at < target) {
      std::rotate(at, at + 1, target);
      *(target - 1) = to;
    } else {
      std::rotate(target, at, at + 1);
      *target = to;
    }
  } else if (overflow_.erase(from) != 0) {
    overflow_.insert(to);
  }
}

void ValueIndex::Reserve(size_t entries) {
  LS_DCHECK(buckets_ == 0, "room is made at the beginning");
  const size_t buckets = (entries + kEntriesPerBucket - 1) / kEntriesPerBucket;
  segments_.reserve((buckets + kSegmentBuckets - 1) / kSegmentBuckets);
  while (buckets_ < buckets) {
    AddBucket();
    Reallocate(BucketAt(buckets_ - 1), kEntriesPerBucket);
  }
}

void ValueIndex::CopyFrom(const ValueIndex& from) {
  LS_DCHECK(buckets_ == 0 && arena_ == from.arena_, "an empty index becomes another one");
  segments_.reserve(from.segments_.size());
  while (buckets_ < from.buckets_) {
    const Bucket& bucket = from.BucketAt(buckets_);
    AddBucket();
    if (bucket.capacity == 0) continue;
    Bucket& copy = BucketAt(buckets_ - 1);
    copy.entries = static_cast<uint64_t*>(
        arena_->Allocate(bucket.capacity * sizeof(uint64_t), memory::Arena::Mobility::kFixed));
    copy.capacity = bucket.capacity;
    copy.count = bucket.count;
    std::memcpy(copy.entries, bucket.entries, bucket.count * sizeof(uint64_t));
  }
  overflow_ = from.overflow_;
  size_ = from.size_;
}

size_t ValueIndex::CopyBytes(const ValueIndex& from) {
  constexpr size_t kOverflowBytes = 32;  // of an entry, with its share of a node
  size_t bytes = memory::Arena::BlockBytes(from.segments_.size() * sizeof(Segment*)) +
                 from.segments_.size() * memory::Arena::BlockBytes(sizeof(Segment)) +
                 from.overflow_.size() * kOverflowBytes;
  for (size_t number = 0; number < from.buckets_; ++number) {
    bytes += memory::Arena::BlockBytes(from.BucketAt(number).capacity * sizeof(uint64_t));
  }
  return bytes;
}

void ValueIndex::ReleaseSpare() {
  if (size_ == 0) return clear();
  while (buckets_ > 1 && size_ < buckets_ * (kEntriesPerBucket / 2)) {
    const size_t number = buckets_ - 1;
    const Bucket& last = BucketAt(number);
    Bucket& into = BucketAt(number - std::bit_floor(number));
    const size_t count = size_t{last.count} + into.count;
    if (count > kBucketEntriesMax) return;
    if (std::max(last.capacity, into.capacity) < count) Reallocate(into, count);
    MergeOne();
  }
}

// --- Buckets -------------------------------------------------------------------------------------

void ValueIndex::Reallocate(Bucket& bucket, size_t capacity) {
  LS_DCHECK(capacity >= bucket.count, "the entries fit");
  const size_t fitting = CapacityFor(std::min(capacity, kBucketEntriesMax));
  auto* const block = static_cast<uint64_t*>(
      arena_->Allocate(fitting * sizeof(uint64_t), memory::Arena::Mobility::kFixed));
  if (bucket.count > 0) std::memcpy(block, bucket.entries, bucket.count * sizeof(uint64_t));
  if (bucket.capacity > 0) arena_->Free(bucket.entries, bucket.capacity * sizeof(uint64_t));
  bucket.entries = block;
  bucket.capacity = static_cast<uint32_t>(fitting);
}

void ValueIndex::FreeBlock(Bucket& bucket) {
  if (bucket.capacity > 0) arena_->Free(bucket.entries, bucket.capacity * sizeof(uint64_t));
  bucket = Bucket();
}

void ValueIndex::AddBucket() {
  if (buckets_ == segments_.size() * kSegmentBuckets) {
    auto* const segment =
        static_cast<Segment*>(arena_->Allocate(sizeof(Segment), memory::Arena::Mobility::kFixed));
    std::fill(std::begin(segment->buckets), std::end(segment->buckets), Bucket());
    segments_.push_back(segment);
  }
  ++buckets_;
}

void ValueIndex::DropLastBucket() {
  FreeBlock(BucketAt(buckets_ - 1));
  --buckets_;
  if (buckets_ % kSegmentBuckets == 0) {
    arena_->Free(segments_.back(), sizeof(Segment));
    segments_.pop_back();
  }
}

// The next bucket in turn gives the entries that have one bit more to a new one.
void ValueIndex::SplitOne() {
  const size_t bit = std::bit_floor(buckets_);
  const size_t number = buckets_;
  AddBucket();
  Bucket& from = BucketAt(number - bit);
  Bucket& into = BucketAt(number);
  const auto goes = [bit](uint64_t entry) { return (HashOf(entry) & bit) != 0; };
  const auto moved =
      static_cast<size_t>(std::count_if(from.entries, from.entries + from.count, goes));
  if (moved == 0) return;
  Reallocate(into, std::max(kFirstEntries, moved + moved / 4));
  uint64_t* kept = from.entries;
  for (uint64_t* at = from.entries; at != from.entries + from.count; ++at) {
    if (goes(*at)) {
      into.entries[into.count++] = *at;
    } else {
      *kept++ = *at;
    }
  }
  from.count = static_cast<uint32_t>(kept - from.entries);
  // It had room for both: 14 bytes an entry otherwise, with this 11.
  if (CapacityFor(from.count + from.count / 4 + 1) < from.capacity) {
    Reallocate(from, from.count + from.count / 4 + 1);
  }
}

// The last bucket goes back to where it was split from, if one of their blocks has room for both.
void ValueIndex::MergeOne() {
  const size_t number = buckets_ - 1;
  Bucket& last = BucketAt(number);
  Bucket& into = BucketAt(number - std::bit_floor(number));
  const size_t count = size_t{last.count} + into.count;
  if (std::max(last.capacity, into.capacity) < count) return;
  if (into.capacity < count) std::swap(last, into);
  if (last.count > 0) {
    std::memcpy(into.entries + into.count, last.entries, last.count * sizeof(uint64_t));
    into.count = static_cast<uint32_t>(count);
    std::sort(into.entries, into.entries + count);
  }
  DropLastBucket();
}

void ValueIndex::clear() {
  overflow_.clear();
  while (buckets_ > 0) DropLastBucket();
  segments_.clear();
  segments_.shrink_to_fit();
  size_ = 0;
}

// --- Verify --------------------------------------------------------------------------------------

void ValueIndex::Verify() const {
  LS_CHECK((size_ == 0) == (buckets_ == 0), "memory is held while there are entries");
  LS_CHECK(segments_.size() == (buckets_ + kSegmentBuckets - 1) / kSegmentBuckets,
           "segments hold buckets");
  size_t entries = overflow_.size();
  for (size_t number = 0; number < buckets_; ++number) {
    const Bucket& bucket = BucketAt(number);
    LS_CHECK(bucket.count <= bucket.capacity, "(2) entries fit into their block");
    for (size_t i = 0; i < bucket.count; ++i) {
      LS_CHECK(NumberOf(HashOf(bucket.entries[i])) == number, "(1) an entry lies in its bucket");
      LS_CHECK(i == 0 || bucket.entries[i - 1] < bucket.entries[i], "(2) entries ascend");
    }
    entries += bucket.count;
  }
  for (const uint64_t entry : overflow_) {
    LS_CHECK(Find(BucketAt(NumberOf(HashOf(entry))), entry) == nullptr,
             "(1) an entry is there once");
  }
  LS_CHECK(entries == size_, "(1) size() counts every entry");
}

}  // namespace liststore::storage

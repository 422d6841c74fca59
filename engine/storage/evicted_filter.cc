#include "engine/storage/evicted_filter.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/base/check.h"

namespace liststore::storage {

void EvictedFilter::Allocate(size_t bytes) {
  LS_CHECK(words_ == nullptr && std::has_single_bit(bytes) && bytes >= kBytesMin,
           "a filter is allocated once, in a size that has two halves of whole lines");
  words_ = static_cast<uint64_t*>(arena_.Allocate(bytes, memory::Arena::Mobility::kFixed));
  bytes_ = bytes;
  std::memset(words_, 0, bytes);
}

void EvictedFilter::Clear() {
  if (words_ != nullptr) arena_.Free(words_, bytes_);
  words_ = nullptr;
  bytes_ = 0;
  halves_[0] = halves_[1] = {};
}

EvictedFilter::Place EvictedFilter::PlaceOf(uint64_t address) const {
  const uint64_t hash = address * 0x9e37'79b9'7f4a'7c15u;
  const size_t lines = WordsPerHalf() / kWordsPerLine;
  Place place;
  place.word = (hash >> 40 & (lines - 1)) * kWordsPerLine;
  for (int i = 0; i < 2; ++i) {
    const uint64_t bit = hash >> (22 - 9 * i);
    place.words[i] = bit >> 6 & (kWordsPerLine - 1);
    place.bits[i] = uint64_t{1} << (bit & 63);
  }
  return place;
}

void EvictedFilter::Add(uint64_t address, uint32_t last_expiry, int64_t now_seconds) {
  if (words_ == nullptr) return;
  const size_t bits_per_half = WordsPerHalf() * 64;
  if (halves_[current_].bits_set * 2 > bits_per_half) {
    Half& other = halves_[1 - current_];
    if (EventCame(other.last_expiry, now_seconds)) {
      current_ = 1 - current_;
      std::memset(words_ + current_ * WordsPerHalf(), 0, bytes_ / 2);
      other = {};
    }
  }
  Half& half = halves_[current_];
  const Place place = PlaceOf(address);
  uint64_t* const line = words_ + current_ * WordsPerHalf() + place.word;
  for (int i = 0; i < 2; ++i) {
    uint64_t& word = line[place.words[i]];
    if ((word & place.bits[i]) != 0) continue;
    word |= place.bits[i];
    ++half.bits_set;
  }
  half.last_expiry = std::max(half.last_expiry, last_expiry);
}

bool EvictedFilter::MayContain(uint64_t address) const {
  if (words_ == nullptr) return false;
  const Place place = PlaceOf(address);
  for (size_t half = 0; half < 2; ++half) {
    const uint64_t* const line = words_ + half * WordsPerHalf() + place.word;
    if ((line[place.words[0]] & place.bits[0]) != 0 &&
        (line[place.words[1]] & place.bits[1]) != 0) {
      return true;
    }
  }
  return false;
}

}  // namespace liststore::storage

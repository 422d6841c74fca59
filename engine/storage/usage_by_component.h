// UsageCounters: how the partitions of a table are used; and UsageByComponent, the same for each
// first component of their keys.
#ifndef LISTSTORE_ENGINE_STORAGE_USAGE_BY_COMPONENT_H_
#define LISTSTORE_ENGINE_STORAGE_USAGE_BY_COMPONENT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/big_endian.h"
#include "engine/base/cacheline.h"
#include "engine/base/hash.h"
#include "engine/model/usage.h"

namespace liststore::storage {

// Counts in the lane, under its hold, so that a count is an increment of memory that is in the
// cache: a locked one would cost a twentieth of a read. Places for 16 components; another one that
// needs a taken place sends what was counted there to its owner first. Components are told apart by
// 64 bits of hash, which stand in one line with the counters of reads and additions: comparing the
// bytes would be a line more to wait for, at the end of a read when nothing is left to overlap it.
//
// One per table and lane, used by the lane's holder only. A hundredth of a read that hits; 2 KiB.
class UsageByComponent {
 public:
  explicit UsageByComponent(UsageOwner& owner) : owner_(owner) {}
  UsageByComponent(const UsageByComponent&) = delete;
  UsageByComponent& operator=(const UsageByComponent&) = delete;

  // Where the uses of a partition are counted, for the length of one operation. `key`: composite,
  // its first component framed: length in two bytes, the bytes, a zero.
  [[gnu::always_inline]] Usage& Of(std::string_view key) {
    const std::string_view component = key.substr(0, FramedBytes(key));
    const uint64_t hash = HashOf(component) | 1;  // 0 is nobody's
    Place& place = places_[hash >> 60];
    if (place.hash == hash) [[likely]]
      return place.usage;
    return Replace(place, hash, component);
  }
  // Sends everything to the owner.
  void Flush() {
    for (Place& place : places_) Send(place);
  }
  // All that was ever counted, whether it was sent or not.
  Usage total() const {
    Usage total = sent_;
    for (const Place& place : places_) total.Add(place.usage);
    total.Add(nobodys_);
    return total;
  }

 private:
  static constexpr size_t kPlaces = 16;
  struct alignas(kCacheLineBytes) Place {
    uint64_t hash = 0;
    Usage usage;
    std::string_view component;  // framed; lives with the owner
  };

  static size_t FramedBytes(std::string_view key) {
    return size_t{LoadBigEndian16(key.data())} + 3;
  }
  // In line for the usual lengths, without the call of Hash64. Multiplied words,
  // whose halves are folded, see every bit of a component of up to 32 bytes.
  [[gnu::always_inline]] static uint64_t HashOf(std::string_view component) {
    const size_t bytes = component.size();
    if (bytes < 8 || bytes > 32) [[unlikely]]
      return Hash64(component);
    const char* const first = component.data();
    const char* const last = first + bytes - 8;
    const size_t inner = bytes > 16 ? 8 : 0;  // else the same words again
    return Fold(LoadNative<uint64_t>(first) ^ 0x9e3779b97f4a7c15,
                LoadNative<uint64_t>(last) ^ (0xbf58476d1ce4e5b9 + bytes)) ^
           Fold(LoadNative<uint64_t>(first + inner) ^ 0x94d049bb133111eb,
                LoadNative<uint64_t>(last - inner) ^ 0xd6e8feb86659fd93);
  }
  static uint64_t Fold(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  void Send(Place& place) {
    if (place.hash != 0 && place.usage.any()) owner_.AddUsage(place.component, place.usage);
    sent_.Add(place.usage);
    place.usage = {};
  }
  [[gnu::noinline]] Usage& Replace(Place& place, uint64_t hash, std::string_view component) {
    Send(place);
    place.component = owner_.FindComponent(component);
    // Somebody may count for it later: it is asked for again.
    place.hash = place.component.empty() ? 0 : hash;
    return place.component.empty() ? nobodys_ : place.usage;
  }

  UsageOwner& owner_;
  std::array<Place, kPlaces> places_;
  Usage sent_;
  Usage nobodys_;
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_USAGE_BY_COMPONENT_H_

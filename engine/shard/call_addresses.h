// CallAddresses: the partitions that one call writes to, by lane: which lanes it takes, and what is
// not evicted to make room for it.
#ifndef LISTSTORE_ENGINE_SHARD_CALL_ADDRESSES_H_
#define LISTSTORE_ENGINE_SHARD_CALL_ADDRESSES_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/container/inlined_vector.h"

namespace liststore::shard {

// Owned by the call. Allocates nothing for up to 16 partitions.
class CallAddresses {
 public:
  CallAddresses() = default;
  CallAddresses(const CallAddresses&) = delete;
  CallAddresses& operator=(const CallAddresses&) = delete;

  void Add(uint32_t lane, uint64_t address) { places_.push_back({lane, address}); }
  // After the last Add, before all that follows.
  void Sort() {
    std::sort(places_.begin(), places_.end());
    for (const auto& [lane, address] : places_) addresses_.push_back(address);
  }
  // Ascending. O(log partitions).
  std::span<const uint64_t> In(uint32_t lane) const {
    const auto less = [](const Place& place, uint32_t number) { return place.first < number; };
    const auto first = std::lower_bound(places_.begin(), places_.end(), lane, less);
    const auto last = std::lower_bound(first, places_.end(), lane + 1, less);
    return {addresses_.data() + (first - places_.begin()), static_cast<size_t>(last - first)};
  }
  // Whether some partition, or another at its address, was added twice. O(partitions).
  bool AnyTwice() const {
    return std::adjacent_find(places_.begin(), places_.end()) != places_.end();
  }
  // By ascending number, each once.
  template <typename Visitor>
  void ForEachLane(Visitor&& visit) const {
    for (size_t i = 0; i < places_.size(); ++i) {
      if (i == 0 || places_[i].first != places_[i - 1].first) visit(places_[i].first);
    }
  }

 private:
  using Place = std::pair<uint32_t, uint64_t>;
  absl::InlinedVector<Place, 16> places_;
  absl::InlinedVector<uint64_t, 16> addresses_;
};

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_CALL_ADDRESSES_H_

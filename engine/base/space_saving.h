// SpaceSaving: the keys that come most often in a stream, in bounded memory.
#ifndef LISTSTORE_ENGINE_BASE_SPACE_SAVING_H_
#define LISTSTORE_ENGINE_BASE_SPACE_SAVING_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/hash.h"

namespace liststore {

// The algorithm of Metwally, Agrawal and El Abbadi (Efficient computation of frequent and top-k elements in
// data streams, 2005), with weights. So many keys as there are counters are counted exactly; one more takes over
// the counter that has counted least, with what that has counted as its possible error. Of a stream of weight N
// and k counters:
//   - a counter is never below the weight of its key, and above it by its `error` at most;
//   - no error, and no weight of a key without a counter, is above least(), which is N / k at most. So every
//     key of more than N / k has a counter.
// Single-threaded. Memory: the counters' keys, and 100 bytes and a Detail for each, taken when the first key
// comes. O(log k) and the hash of a key for each addition.
//
// Invariants (Verify() checks them): (1) the counters are a heap, by what they have counted; (2) each is in the
// chain of its hash, once; (3) all together have counted total().
template <typename Detail>
class SpaceSaving {
 public:
  struct Counter {
    std::string key;
    uint64_t count = 0;
    uint64_t error = 0;
    Detail detail = {};  // the caller's; begins anew with another key

   private:
    friend class SpaceSaving;
    uint64_t hash = 0;
    uint32_t next = kNone;  // in its chain
    uint32_t place = 0;     // in the heap
  };

  explicit SpaceSaving(uint32_t counters) : capacity_(counters) {
    LS_CHECK(counters > 0 && counters < kNone / 2, "there is a counter");
  }
  SpaceSaving(const SpaceSaving&) = delete;
  SpaceSaving& operator=(const SpaceSaving&) = delete;

  // `key` came, `weight` times. What is known of it beside; valid until the next call. Throws
  // std::bad_alloc, and has done nothing then.
  Detail& Add(std::string_view key, uint64_t weight) {
    const uint64_t hash = Hash64(key);
    uint32_t at = Find(key, hash);
    if (at == kNone)
      at = counters_.size() < capacity_ ? NewCounter(key, hash) : TakeOver(key, hash);
    total_ += weight;
    Counter& counter = counters_[at];
    counter.count += weight;
    Sink({counter.count, at}, counter.place);
    return counter.detail;
  }

  const std::vector<Counter>& counters() const { return counters_; }
  uint64_t total() const { return total_; }
  // What a key without a counter may have come, at most.
  uint64_t least() const { return counters_.size() < capacity_ ? 0 : heap_.front().count; }
  // nullptr: it has none.
  const Counter* Find(std::string_view key) const {
    const uint32_t at = Find(key, Hash64(key));
    return at == kNone ? nullptr : &counters_[at];
  }

  // Back to the beginning. Gives all memory back.
  void Clear() {
    std::vector<Counter>().swap(counters_);
    std::vector<Entry>().swap(heap_);
    std::vector<uint32_t>().swap(chains_);
    total_ = 0;
  }

  // That it holds. O(counters).
  size_t bytes() const {
    constexpr size_t kWithin = 15;  // of a string, without a block of its own
    size_t bytes = counters_.capacity() * sizeof(Counter) + heap_.capacity() * sizeof(Entry) +
                   chains_.capacity() * sizeof(uint32_t);
    for (const Counter& counter : counters_) {
      if (counter.key.capacity() > kWithin) bytes += counter.key.capacity() + 1;
    }
    return bytes;
  }

  void Verify() const {
    uint64_t sum = 0;
    for (uint32_t at = 0; at < counters_.size(); ++at) {
      const Counter& counter = counters_[at];
      LS_CHECK(heap_[counter.place].at == at && heap_[counter.place].count == counter.count,
               "(1) a counter knows its place");
      LS_CHECK(counter.place == 0 || heap_[(counter.place - 1) / 2].count <= counter.count,
               "(1) none has counted less than the one above it");
      LS_CHECK(Find(counter.key, counter.hash) == at, "(2) a counter is found by its key");
      LS_CHECK(counter.error <= counter.count && counter.error <= total_ / capacity_,
               "errors are small");
      sum += counter.count;
    }
    size_t chained = 0;
    for (uint32_t at : chains_) {
      for (; at != kNone; at = counters_[at].next) ++chained;
    }
    LS_CHECK(chained == counters_.size(), "(2) each is in one chain");
    LS_CHECK(sum == total_, "(3) all that came was counted");
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Of the heap: with the count beside, so that it is not looked for.
  struct Entry {
    uint64_t count = 0;
    uint32_t at = 0;
  };

  uint32_t& ChainOf(uint64_t hash) { return chains_[hash & (chains_.size() - 1)]; }
  uint32_t Find(std::string_view key, uint64_t hash) const {
    if (chains_.empty()) return kNone;
    uint32_t at = chains_[hash & (chains_.size() - 1)];
    while (at != kNone && (counters_[at].hash != hash || counters_[at].key != key)) {
      at = counters_[at].next;
    }
    return at;
  }

  uint32_t NewCounter(std::string_view key, uint64_t hash) {
    if (chains_.empty()) {
      counters_.reserve(capacity_);
      heap_.reserve(capacity_);
      chains_.resize(std::bit_ceil(size_t{capacity_}), kNone);
    }
    Counter counter;
    counter.key = key;
    // From here on nothing is asked of the heap.
    const auto at = static_cast<uint32_t>(counters_.size());
    counters_.push_back(std::move(counter));
    heap_.push_back({0, at});
    Chain(at, hash);
    // It has counted nothing: nobody stands above it.
    uint32_t place = at;
    for (; place > 0; place = (place - 1) / 2) Put(heap_[(place - 1) / 2], place);
    Put({0, at}, place);
    return at;
  }

  uint32_t TakeOver(std::string_view key, uint64_t hash) {
    const uint32_t at = heap_.front().at;
    Counter& counter = counters_[at];
    counter.key.reserve(key.size());  // from here on nothing is asked of the heap
    uint32_t* link = &ChainOf(counter.hash);
    while (*link != at) link = &counters_[*link].next;
    *link = counter.next;
    counter.key.assign(key);
    counter.error = counter.count;
    counter.detail = {};
    Chain(at, hash);
    return at;
  }

  void Chain(uint32_t at, uint64_t hash) {
    counters_[at].hash = hash;
    counters_[at].next = std::exchange(ChainOf(hash), at);
  }

  void Put(const Entry& entry, uint32_t place) {
    heap_[place] = entry;
    counters_[entry.at].place = place;
  }
  // From `place` on down to where it belongs: it has counted more than it had there.
  void Sink(const Entry& entry, uint32_t place) {
    const auto size = static_cast<uint32_t>(heap_.size());
    for (uint32_t below = 2 * place + 1; below < size; below = 2 * place + 1) {
      if (below + 1 < size && heap_[below + 1].count < heap_[below].count) ++below;
      if (entry.count <= heap_[below].count) break;
      Put(heap_[below], place);
      place = below;
    }
    Put(entry, place);
  }

  const uint32_t capacity_;
  std::vector<Counter> counters_;  // up to capacity_, which is reserved
  std::vector<Entry> heap_;        // the one that has counted least first
  std::vector<uint32_t> chains_;   // the first counter of each
  uint64_t total_ = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_BASE_SPACE_SAVING_H_

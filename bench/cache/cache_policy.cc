#include "bench/cache/cache_policy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <list>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "engine/base/check.h"

namespace liststore {
namespace {

uint64_t Mix(uint64_t key) {
  key = (key ^ (key >> 30)) * 0xbf58'476d'1ce4'e5b9u;
  key = (key ^ (key >> 27)) * 0x94d0'49bb'1331'11ebu;
  return key ^ (key >> 31);
}

class Fifo final : public CachePolicy {
 public:
  explicit Fifo(size_t capacity) : capacity_(capacity) {}
  bool Access(uint64_t key) override {
    if (held_.contains(key)) return true;
    if (held_.size() == capacity_) {
      held_.erase(queue_.front());
      queue_.pop_front();
    }
    held_.insert(key);
    queue_.push_back(key);
    return false;
  }

 private:
  const size_t capacity_;
  absl::flat_hash_set<uint64_t> held_;
  std::deque<uint64_t> queue_;
};

// Keys in the order of their last access.
class LruList {
 public:
  size_t size() const { return places_.size(); }
  bool Contains(uint64_t key) const { return places_.contains(key); }
  void Touch(uint64_t key) { order_.splice(order_.begin(), order_, places_.at(key)); }
  void Insert(uint64_t key) {
    order_.push_front(key);
    places_[key] = order_.begin();
  }
  void Erase(uint64_t key) {
    const auto at = places_.find(key);
    order_.erase(at->second);
    places_.erase(at);
  }
  uint64_t Last() const { return order_.back(); }
  uint64_t TakeLast() {
    const uint64_t key = Last();
    Erase(key);
    return key;
  }

 private:
  std::list<uint64_t> order_;
  absl::flat_hash_map<uint64_t, std::list<uint64_t>::iterator> places_;
};

class Lru final : public CachePolicy {
 public:
  explicit Lru(size_t capacity) : capacity_(capacity) {}
  bool Access(uint64_t key) override {
    if (keys_.Contains(key)) {
      keys_.Touch(key);
      return true;
    }
    if (keys_.size() == capacity_) keys_.TakeLast();
    keys_.Insert(key);
    return false;
  }

 private:
  const size_t capacity_;
  LruList keys_;
};

// Approximate counts of accesses, up to 15; all halved after ten times as many as there are keys.
// Four rows of twice as many counters as keys: a byte each, for simplicity.
class CountSketch {
 public:
  explicit CountSketch(size_t capacity)
      : sample_(capacity * 10), rows_(std::bit_ceil(capacity * 2)), counts_(rows_ * kRows) {}
  void Add(uint64_t key) {
    for (size_t row = 0; row < kRows; ++row) {
      uint8_t& count = CountOf(key, row);
      if (count < 15) ++count;
    }
    if (++added_ < sample_) return;
    for (uint8_t& count : counts_) count /= 2;
    added_ /= 2;
  }
  int Estimate(uint64_t key) {
    int least = 15;
    for (size_t row = 0; row < kRows; ++row) least = std::min<int>(least, CountOf(key, row));
    return least;
  }

 private:
  static constexpr size_t kRows = 4;
  uint8_t& CountOf(uint64_t key, size_t row) {
    return counts_[row * rows_ + (Mix(key + row * 0x9e37'79b9'7f4a'7c15u) & (rows_ - 1))];
  }
  const size_t sample_;
  const size_t rows_;
  size_t added_ = 0;
  std::vector<uint8_t> counts_;
};

// Einziger, Friedman, Manes: "TinyLFU: A Highly Efficient Cache Admission Policy", 2017.
class WTinyLfu final : public CachePolicy {
 public:
  explicit WTinyLfu(size_t capacity)
      : window_capacity_(std::max<size_t>(capacity / 100, 1)),
        main_capacity_(capacity - window_capacity_),
        protected_capacity_(main_capacity_ * 8 / 10),
        sketch_(capacity) {}

  bool Access(uint64_t key) override {
    sketch_.Add(key);
    if (window_.Contains(key)) {
      window_.Touch(key);
      return true;
    }
    if (protected_.Contains(key)) {
      protected_.Touch(key);
      return true;
    }
    if (probation_.Contains(key)) {
      probation_.Erase(key);
      protected_.Insert(key);
      if (protected_.size() > protected_capacity_) probation_.Insert(protected_.TakeLast());
      return true;
    }
    window_.Insert(key);
    if (window_.size() > window_capacity_) Admit(window_.TakeLast());
    return false;
  }

 private:
  void Admit(uint64_t candidate) {
    if (probation_.size() + protected_.size() < main_capacity_) {
      probation_.Insert(candidate);
      return;
    }
    LruList& from = probation_.size() != 0 ? probation_ : protected_;
    if (sketch_.Estimate(candidate) <= sketch_.Estimate(from.Last())) return;
    from.TakeLast();
    probation_.Insert(candidate);
  }

  const size_t window_capacity_;
  const size_t main_capacity_;
  const size_t protected_capacity_;
  CountSketch sketch_;
  LruList window_;
  LruList probation_;
  LruList protected_;
};

// The last `capacity` keys that were added.
class Ghosts {
 public:
  explicit Ghosts(size_t capacity) : capacity_(capacity) {}
  void Add(uint64_t key) {
    order_.push_back(key);
    ++times_[key];
    if (order_.size() <= capacity_) return;
    const auto oldest = times_.find(order_.front());
    order_.pop_front();
    if (oldest != times_.end() && --oldest->second == 0) times_.erase(oldest);
  }
  bool Contains(uint64_t key) const { return times_.contains(key); }

 private:
  const size_t capacity_;
  std::deque<uint64_t> order_;
  absl::flat_hash_map<uint64_t, int> times_;
};

// Yang, Zhang, Qiu, Yue, Rashmi: "FIFO Queues are All You Need for Cache Eviction", 2023.
class S3Fifo final : public CachePolicy {
 public:
  S3Fifo(size_t capacity, const S3FifoParameters& parameters)
      : capacity_(capacity),
        small_capacity_(std::max<size_t>(
            static_cast<size_t>(static_cast<double>(capacity) * parameters.small_part), 1)),
        parameters_(parameters),
        ghosts_(capacity - small_capacity_) {}

  bool Access(uint64_t key) override {
    const auto held = uses_.find(key);
    if (held != uses_.end()) {
      held->second = std::min(held->second + 1, parameters_.uses_max);
      return true;
    }
    while (uses_.size() >= capacity_) Evict();
    uses_.emplace(key, 0);
    (ghosts_.Contains(key) ? main_ : small_).push_back(key);
    return false;
  }

 private:
  void Evict() {
    if (small_.size() >= small_capacity_ || main_.empty()) {
      EvictFromSmall();
    } else {
      EvictFromMain();
    }
  }
  void EvictFromSmall() {
    while (!small_.empty()) {
      const uint64_t key = small_.front();
      small_.pop_front();
      int& uses = uses_.at(key);
      if (uses >= parameters_.uses_to_stay) {
        uses = 0;
        main_.push_back(key);
        continue;
      }
      uses_.erase(key);
      ghosts_.Add(key);
      return;
    }
  }
  void EvictFromMain() {
    for (;;) {
      const uint64_t key = main_.front();
      main_.pop_front();
      int& uses = uses_.at(key);
      if (uses == 0) {
        uses_.erase(key);
        return;
      }
      --uses;
      main_.push_back(key);
    }
  }

  const size_t capacity_;
  const size_t small_capacity_;
  const S3FifoParameters parameters_;
  absl::flat_hash_map<uint64_t, int> uses_;
  std::deque<uint64_t> small_;
  std::deque<uint64_t> main_;
  Ghosts ghosts_;
};

// As S3-FIFO, with a hand over the keys in the order of their hashes in place of the main FIFO.
class Hand final : public CachePolicy {
 public:
  Hand(size_t capacity, const S3FifoParameters& parameters)
      : capacity_(capacity),
        small_capacity_(std::max<size_t>(
            static_cast<size_t>(static_cast<double>(capacity) * parameters.small_part), 1)),
        parameters_(parameters),
        ghosts_(capacity) {}

  bool Access(uint64_t key) override {
    const auto held = held_.find(Mix(key));
    if (held != held_.end()) {
      Entry& entry = held->second;
      entry.uses = std::min(entry.uses + 1, parameters_.uses_max);
      return true;
    }
    while (held_.size() >= capacity_) Evict();
    const bool on_probation = !ghosts_.Contains(key);
    held_.emplace(Mix(key), Entry{0, on_probation, key});
    if (on_probation) small_.push_back(key);
    return false;
  }

 private:
  struct Entry {
    int uses;
    bool on_probation;
    uint64_t key;
  };
  void Evict() {
    if (small_.size() >= small_capacity_ || small_.size() == held_.size()) {
      const uint64_t key = small_.front();
      small_.pop_front();
      const auto at = held_.find(Mix(key));
      if (at->second.uses >= parameters_.uses_to_stay) {
        at->second.uses = 0;
        at->second.on_probation = false;
        return;
      }
      held_.erase(at);
      ghosts_.Add(key);
      return;
    }
    auto at = held_.lower_bound(hand_);
    for (;; ++at) {
      if (at == held_.end()) at = held_.begin();
      if (at->second.on_probation) continue;
      if (at->second.uses == 0) break;
      --at->second.uses;
    }
    hand_ = at->first + 1;
    held_.erase(at);
  }

  const size_t capacity_;
  const size_t small_capacity_;
  const S3FifoParameters parameters_;
  std::map<uint64_t, Entry> held_;  // by hash
  std::deque<uint64_t> small_;
  uint64_t hand_ = 0;
  Ghosts ghosts_;
};

}  // namespace

std::string_view NameOf(CachePolicyKind kind) {
  switch (kind) {
    case CachePolicyKind::kFifo:
      return "FIFO";
    case CachePolicyKind::kLru:
      return "LRU";
    case CachePolicyKind::kWTinyLfu:
      return "W-TinyLFU";
    case CachePolicyKind::kS3Fifo:
      return "S3-FIFO";
    case CachePolicyKind::kHand:
      return "S3-FIFO, hand";
  }
  LS_UNREACHABLE("every policy has a name");
}

std::unique_ptr<CachePolicy> MakeCachePolicy(CachePolicyKind kind, size_t capacity,
                                             const S3FifoParameters& parameters) {
  LS_CHECK(capacity >= 10, "a cache that is simulated holds ten keys");
  switch (kind) {
    case CachePolicyKind::kFifo:
      return std::make_unique<Fifo>(capacity);
    case CachePolicyKind::kLru:
      return std::make_unique<Lru>(capacity);
    case CachePolicyKind::kWTinyLfu:
      return std::make_unique<WTinyLfu>(capacity);
    case CachePolicyKind::kS3Fifo:
      return std::make_unique<S3Fifo>(capacity, parameters);
    case CachePolicyKind::kHand:
      return std::make_unique<Hand>(capacity, parameters);
  }
  LS_UNREACHABLE("every policy is known");
}

}  // namespace liststore

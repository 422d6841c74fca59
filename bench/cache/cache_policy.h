// Cache policies, simulated over keys of equal size: what an access hits, what has to go. To
// compare by hit rate; nothing of the engine is in here.
#ifndef LISTSTORE_BENCH_CACHE_CACHE_POLICY_H_
#define LISTSTORE_BENCH_CACHE_CACHE_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace liststore {

// One thread.
class CachePolicy {
 public:
  virtual ~CachePolicy() = default;
  // Whether `key` is held. One that is not comes in, and another goes if need be.
  virtual bool Access(uint64_t key) = 0;
};

enum class CachePolicyKind {
  kFifo,
  kLru,
  kWTinyLfu,  // window 1 %, segmented LRU, counts of 4 bits halved after ten times the capacity
  kS3Fifo,    // small FIFO 10 %, main FIFO, ghosts of as many as the main has, counts to 3
  kHand,      // the store's: as S3-FIFO, but the main part is gone over in the order of hashes
};
inline constexpr CachePolicyKind kCachePolicies[] = {
    CachePolicyKind::kFifo, CachePolicyKind::kLru, CachePolicyKind::kWTinyLfu,
    CachePolicyKind::kS3Fifo, CachePolicyKind::kHand};
std::string_view NameOf(CachePolicyKind kind);

// Of S3-FIFO and what is made of it.
struct S3FifoParameters {
  double small_part = 0.1;
  int uses_to_stay = 1;  // reads in the small part that move a key to the main one
  int uses_max = 3;
};

// `capacity`: keys, at least 10.
std::unique_ptr<CachePolicy> MakeCachePolicy(CachePolicyKind kind, size_t capacity,
                                             const S3FifoParameters& parameters = {});

}  // namespace liststore

#endif  // LISTSTORE_BENCH_CACHE_CACHE_POLICY_H_

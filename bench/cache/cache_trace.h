// CacheTrace: which lists are asked for, one after the other.
#ifndef LISTSTORE_BENCH_CACHE_CACHE_TRACE_H_
#define LISTSTORE_BENCH_CACHE_CACHE_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace liststore {

struct CacheTrace {
  std::string name;
  std::vector<uint32_t> keys;
  size_t distinct = 0;  // keys there are: what a size in per cent is of
};

// `accesses` of `keys` keys, key k in proportion to 1 / (k + 1)^exponent.
CacheTrace ZipfTrace(double exponent, uint32_t keys, size_t accesses, uint64_t seed);
// The same, but every 20,000 accesses 5,000 keys that nobody asks for again are read through.
CacheTrace ScannedZipfTrace(double exponent, uint32_t keys, size_t accesses, uint64_t seed);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_CACHE_CACHE_TRACE_H_

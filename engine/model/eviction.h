// Evictions: partitions that a table gave up, as it tells those who asked.
#ifndef LISTSTORE_ENGINE_MODEL_EVICTION_H_
#define LISTSTORE_ENGINE_MODEL_EVICTION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace liststore {

enum class EvictionCause : uint8_t {
  kMemory,     // a write needed its memory
  kForgotten,  // asked for
};

struct Eviction {
  std::string partition_key;
  uint64_t rows = 0;
  EvictionCause cause = EvictionCause::kMemory;
};

// What the commands of one call evicted, in order. Filled under lanes that are held, one at a time
// for one call; read by the caller afterwards.
using EvictionLog = std::vector<Eviction>;

// Told of what goes of a table for memory, under the hold of its lane, before it goes. It must not call the table.
class EvictionWitness {
 public:
  virtual ~EvictionWitness() = default;
  virtual void OnEvicted(std::string_view partition_key, int64_t now_seconds) = 0;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_EVICTION_H_

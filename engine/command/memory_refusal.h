// MemoryRefusal: why there was no memory for a write.
#ifndef LISTSTORE_ENGINE_COMMAND_MEMORY_REFUSAL_H_
#define LISTSTORE_ENGINE_COMMAND_MEMORY_REFUSAL_H_

#include <cstdint>
#include <string>

namespace liststore {

// Of kOutOfMemory there are two kinds: the limit is reached, or the machine gives no page although
// the limit would allow it.
struct MemoryRefusal {
  uint64_t limit_bytes = 0;
  uint64_t machine_bytes = 0;  // what the machine refused; 0: it was the limit
  bool has_mark = false;       // some of what is held is kept for one (shard/baseline.h)

  // "the memory limit of 1048576 bytes is reached", or what the machine refused and the way out.
  std::string Text() const;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_COMMAND_MEMORY_REFUSAL_H_

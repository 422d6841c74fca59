#ifndef LISTSTORE_ENGINE_SHARD_LIMIT_AROUND_H_
#define LISTSTORE_ENGINE_SHARD_LIMIT_AROUND_H_

#include <cstdint>

namespace liststore::shard {

// The least limit of an engine that holds `held_bytes` at which what gives back (deletions, expiries) has the whole
// slack of memory::MemoryBudget, and nothing grows.
uint64_t LimitAround(uint64_t held_bytes);

}  // namespace liststore::shard

#endif  // LISTSTORE_ENGINE_SHARD_LIMIT_AROUND_H_

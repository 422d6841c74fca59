// How much of a partition a table holds, for tables that are caches of something larger.
#ifndef LISTSTORE_ENGINE_MODEL_PRESENCE_H_
#define LISTSTORE_ENGINE_MODEL_PRESENCE_H_

#include <cstdint>

namespace liststore {

enum class Presence : uint8_t {
  kAbsent,    // no live row, and no note that there is none
  kPartial,   // begun by an upsert while more of it may have been elsewhere
  kComplete,  // all rows; perhaps none
};

// What a read learns of its partition beside the rows.
struct PartitionInfo {
  Presence presence = Presence::kAbsent;
  int64_t fresh_until_seconds = 0;  // 0: for ever, or nobody said
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_PRESENCE_H_

// How much of a partition a table holds, for tables that are caches of something larger.
#ifndef LISTSTORE_ENGINE_MODEL_PRESENCE_H_
#define LISTSTORE_ENGINE_MODEL_PRESENCE_H_

#include <algorithm>
#include <cstdint>
#include <limits>

namespace liststore {

enum class Presence : uint8_t {
  kAbsent,    // no live row, and no note that there is none
  kPartial,   // begun by an upsert while more of it may have been elsewhere
  kComplete,  // all rows; perhaps none
};

// What a read or a count learns of its partition beside the rows.
struct PartitionInfo {
  Presence presence = Presence::kAbsent;
  // Rows that were passed over: deleted or over, and not reclaimed yet. More than it holds: as many
  // as it holds.
  uint32_t dead_rows = 0;
  int64_t fresh_until_seconds = 0;  // 0: forever, or nobody said

  void SetDeadRows(uint64_t rows) {
    dead_rows =
        static_cast<uint32_t>(std::min<uint64_t>(rows, std::numeric_limits<uint32_t>::max()));
  }
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_PRESENCE_H_

// ExpirySearch: what a search for the next expiry knows and may still spend. Plain data.
#ifndef LISTSTORE_ENGINE_STORAGE_PARTITION_EXPIRY_SEARCH_H_
#define LISTSTORE_ENGINE_STORAGE_PARTITION_EXPIRY_SEARCH_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "engine/model/cell.h"
#include "engine/model/stored_row.h"
#include "engine/storage/partition/leaf.h"

namespace liststore::storage {

struct ExpirySearch {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

  int64_t now_seconds = 0;
  int64_t earliest = kNone;  // of what was found so far; kNone: nothing
  size_t budget = 0;         // partitions, leaves and rows that are still to be looked at, about

  void Consider(const Liveness& liveness) {
    if (!liveness.expiring() || !liveness.LiveAt(now_seconds)) return;
    earliest = std::min(earliest, liveness.expiry_seconds);
  }
  void Consider(std::span<const StoredCell> cells) {
    for (const StoredCell& cell : cells) {
      if (cell.view.live) Consider(cell.view.liveness);
    }
  }
  // Whether `event`, of a leaf or a row, may stand for an expiry before the earliest. It is a lower
  // bound, but beyond the year 2106, where there is none.
  bool MayBeEarlier(uint32_t event) const {
    return event == kNeverExpires ? earliest > kNeverExpires : event < earliest;
  }
  void Spend(size_t units) { budget -= std::min(budget, units); }
};

// Where to go on within a large partition: at the leaf that has this key or would have it.
struct ExpiryPlace {
  bool within = false;  // else at its beginning
  std::string key;
  bool packed = false;
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_PARTITION_EXPIRY_SEARCH_H_

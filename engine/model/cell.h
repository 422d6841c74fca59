// Cells, row markers and deletions: what they hold and which of two wins.
// Source of the rules: ScyllaDB `mutation/atomic_cell.cc` (compare_atomic_cell_for_merge),
// `mutation/mutation_partition.hh`; docs/data_model.md explains them with examples.
#ifndef LISTSTORE_ENGINE_MODEL_CELL_H_
#define LISTSTORE_ENGINE_MODEL_CELL_H_

#include <cstdint>
#include <string_view>

#include "engine/model/time.h"

namespace liststore {

// When something was written and when it ends; a row marker is just this.
struct Liveness {
  WriteTimestamp timestamp;            // none: absent
  int64_t expiry_seconds = kNoExpiry;  // kNoExpiry: lasts
  int64_t ttl_seconds = 0;             // 0 exactly when it lasts

  bool present() const { return !timestamp.is_none(); }
  bool expiring() const { return expiry_seconds != kNoExpiry; }
  bool LiveAt(int64_t now_seconds) const {
    return present() && !IsExpired(expiry_seconds, now_seconds);
  }
  // The second of writing, which counts as the deletion time once it has expired.
  int64_t written_seconds() const { return expiry_seconds - ttl_seconds; }
  // From when on it leaves no trace: it has expired and its shadow (writes of the same or an older
  // timestamp stay hidden under it) has lasted gc_grace since the write. kNoExpiry: never.
  int64_t PurgeSeconds(int64_t gc_grace_seconds) const {
    if (!expiring()) return kNoExpiry;
    const int64_t shadow_end = written_seconds() + gc_grace_seconds;
    return shadow_end > expiry_seconds ? shadow_end : expiry_seconds;
  }
  bool operator==(const Liveness&) const = default;
};

// A deletion: covers what was written at or before its timestamp.
struct Tombstone {
  WriteTimestamp timestamp;      // none: no deletion
  int64_t deletion_seconds = 0;  // when it was made, by the clock

  bool present() const { return !timestamp.is_none(); }
  bool Covers(WriteTimestamp written) const { return present() && written <= timestamp; }
  // From when on it leaves no trace.
  int64_t PurgeSeconds(int64_t gc_grace_seconds) const {
    return deletion_seconds + gc_grace_seconds;
  }
  bool PurgeableAt(int64_t now_seconds, int64_t gc_grace_seconds) const {
    return PurgeSeconds(gc_grace_seconds) <= now_seconds;
  }
  // The larger timestamp, then the later deletion.
  static const Tombstone& Stronger(const Tombstone& a, const Tombstone& b) {
    if (a.timestamp != b.timestamp) return a.timestamp < b.timestamp ? b : a;
    return a.deletion_seconds < b.deletion_seconds ? b : a;
  }
  bool operator==(const Tombstone&) const = default;
};

// How long what is over keeps its effect on later writes. A table that has only seen timestamps of
// its own has a grace of zero; what had expired when the first foreign timestamp came
// (`start_seconds`) is gone for good, so that the answer does not depend on whether its bytes had
// been reclaimed.
struct GracePolicy {
  int64_t grace_seconds = 0;
  int64_t start_seconds = 0;

  // True when an expired marker or cell has no effect any more.
  bool Gone(const Liveness& liveness, int64_t now_seconds) const {
    if (!liveness.expiring() || liveness.expiry_seconds > now_seconds) return false;
    return liveness.expiry_seconds <= start_seconds ||
           liveness.PurgeSeconds(grace_seconds) <= now_seconds;
  }
  // When something happens to it next: it expires or, when it has, its shadow ends. kNoExpiry:
  // never.
  int64_t NextEvent(const Liveness& liveness, int64_t now_seconds) const {
    if (!liveness.expiring() || liveness.expiry_seconds > now_seconds)
      return liveness.expiry_seconds;
    return liveness.expiry_seconds <= start_seconds ? liveness.expiry_seconds
                                                    : liveness.PurgeSeconds(grace_seconds);
  }
  // Gone, for a deletion (of a row, a range, a partition, or a dead cell).
  bool Gone(int64_t deletion_seconds, int64_t now_seconds) const {
    return deletion_seconds + grace_seconds <= now_seconds;
  }
  bool Gone(const Tombstone& tombstone, int64_t now_seconds) const {
    return Gone(tombstone.deletion_seconds, now_seconds);
  }
};

// A cell as seen by reconciliation; `value` is borrowed.
struct CellView {
  bool live = true;              // false: a dead cell (a null was written, or the column deleted)
  Liveness liveness;             // of a live cell; of a dead one only the timestamp counts
  int64_t deletion_seconds = 0;  // of a dead cell
  std::string_view value;        // of a live cell
};

// Negative: `b` wins; positive: `a` wins; 0: equal in all that counts. The comparison never looks
// at the current time. Order: timestamp; dead beats live; both dead: later deletion; expiring beats
// lasting; later expiry; smaller TTL (written later); larger value.
int CompareCells(const CellView& a, const CellView& b);
// The same for row markers, which have no value.
int CompareMarkers(const Liveness& a, const Liveness& b);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_CELL_H_

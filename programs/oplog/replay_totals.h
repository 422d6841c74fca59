// What a replay sums up, in the words of the expected answers' last line.
#ifndef LISTSTORE_PROGRAMS_OPLOG_REPLAY_TOTALS_H_
#define LISTSTORE_PROGRAMS_OPLOG_REPLAY_TOTALS_H_

#include <cstdint>
#include <string>

namespace liststore {

// The answer to one `get`.
struct ReadAnswer {
  uint64_t line = 0;   // of the get in the log, from 1
  uint64_t items = 0;  // returned
  std::string md5;     // of the item keys, newest first, joined by newlines
};

struct ReplayTotals {
  uint64_t reads = 0;
  uint64_t returned = 0;         // items over all reads
  uint64_t stored = 0;           // an overwritten item counts again
  uint64_t skipped_expired = 0;  // items whose time had passed when they arrived
  uint64_t removed_live = 0;
  uint64_t live_at_end = 0;
  std::string md5;  // of the reads' digests, one after the other
};

// What the table of list items holds at a moment. Of a report: at the sampled one at which it held
// most rows; all zero where nobody can tell, as behind a wire.
struct ReplayMemory {
  uint64_t rows = 0;        // stored, expired ones that wait for reclamation included
  uint64_t live_bytes = 0;  // in use for them: keys, indexes, timers and directory included
  uint64_t held_bytes = 0;  // pages that hold live_bytes
  double BytesPerItem() const {
    return rows == 0 ? 0 : static_cast<double>(live_bytes) / static_cast<double>(rows);
  }
};

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_OPLOG_REPLAY_TOTALS_H_

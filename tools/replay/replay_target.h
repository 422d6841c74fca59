// What a replay runs its operations against: a store in this process, or one behind a wire.
#ifndef LISTSTORE_TOOLS_REPLAY_REPLAY_TARGET_H_
#define LISTSTORE_TOOLS_REPLAY_REPLAY_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "liststore/list_store.h"
#include "programs/oplog/operation.h"
#include "programs/oplog/replay_totals.h"
#include "tools/replay/read_items.h"

namespace liststore {

// The list with the most live items, empty when none has any.
struct BusiestList {
  std::string entity_type, feature, version, entity_id;
  uint64_t items = 0;
};

// One thread. Operations are the store's errors and answers; each call is timed as a whole.
class ReplayTarget : public ReadItems {
 public:
  // Moves the store's clock. Never back. Not timed.
  virtual absl::Status MoveClock(uint64_t now_nanos) = 0;

  // Creating a feature again changes the TTL of what is added from then on.
  virtual absl::Status CreateFeature(const Operation& operation) = 0;
  virtual absl::StatusOr<AddResult> Add(const Operation& operation) = 0;
  // What it returned is read as ReadItems, until the next one.
  virtual absl::Status Get(const Operation& operation) = 0;
  // How many live items they removed.
  virtual absl::StatusOr<size_t> RemoveValue(const Operation& operation) = 0;
  virtual absl::StatusOr<size_t> RemoveAll(const Operation& operation) = 0;

  // Between operations. What the table of list items holds now; nothing where that is not known.
  virtual ReplayMemory Memory() const = 0;
  // Gives back the memory of up to `items_max` items; returns how many it found.
  virtual size_t Reclaim(size_t items_max) = 0;
  // Items reclaimed because their time had passed.
  virtual uint64_t expired() const = 0;
  // At the end: all live items.
  virtual absl::StatusOr<uint64_t> CountLive(BusiestList* busiest) = 0;

  virtual uint64_t now_nanos() const = 0;
  virtual uint32_t shards() const = 0;               // 0: not known
  virtual const ListStore* store() const = 0;        // nullptr: it is not in this process
  virtual std::string server() const { return {}; }  // empty: it is in this process
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_REPLAY_REPLAY_TARGET_H_

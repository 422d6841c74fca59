// A store, here or behind a wire, that lives through an operation log, and what was measured while
// it did.
#ifndef LISTSTORE_TOOLS_REPLAY_REPLAY_SESSION_H_
#define LISTSTORE_TOOLS_REPLAY_REPLAY_SESSION_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/histogram.h"
#include "programs/client/client_tls.h"
#include "programs/oplog/operation.h"
#include "programs/oplog/replay_totals.h"
#include "tools/replay/md5_hex.h"
#include "tools/replay/read_items.h"
#include "tools/replay/replay_target.h"

namespace liststore {

// Times inside the store. Kept outside a session, so that several rounds add up.
struct ReplayTimes {
  Histogram operations[kOperationKinds];  // nanoseconds, by kind
  uint64_t engine_nanos = 0;              // sum over all operations
  uint64_t reclaim_nanos = 0;  // giving memory back between operations: not in engine_nanos
};

// One thread. The store's clock stands at the instant of the operation executed last. Only the call
// into the store is timed (two reads of the monotonic clock, about 50 ns, are in it); digests,
// samples and reclamation are not.
class ReplaySession {
 public:
  struct Settings {
    uint32_t shards = 0;              // 0: one for each core
    uint64_t memory_limit_bytes = 0;  // 0: the store's own choice
    std::string via = {};             // HOST:PORT of a server, instead of a store in this process
    ClientTlsOptions tls = {};        // to that server
  };
  static constexpr uint64_t kSampleInterval = 64;
  // Of expired and removed items, given back at each sample.
  static constexpr size_t kReclaimBudget = 1000;

  // `first_at_nanos`: when the store opens. `times` must outlive the session.
  static absl::StatusOr<std::unique_ptr<ReplaySession>> Open(const Settings& settings,
                                                             uint64_t first_at_nanos,
                                                             ReplayTimes* times);
  ReplaySession(const ReplaySession&) = delete;
  ReplaySession& operator=(const ReplaySession&) = delete;

  // The store's error, if it refuses the operation. Instants must not go back.
  absl::Status Execute(const Operation& operation);
  // After a `get`: what it returned, and that as an answer. The items last until the next `get`.
  const ReadItems& items() const { return *target_; }
  const ReadAnswer& answer() const { return answer_; }

  // Counts what lives and gives back the rest. Nothing may be executed afterwards.
  absl::Status Finish();
  // Complete after Finish().
  const ReplayTotals& totals() const { return totals_; }
  const ReplayMemory& memory() const { return memory_; }
  // Items reclaimed because their time had passed.
  uint64_t expired() const { return expired_; }
  uint64_t executed() const { return executed_; }
  // The list with the most live items at the end, empty when none has any, or behind a wire.
  // Borrows from the session.
  ListId busiest_list() const;

  const ReplayTarget& target() const { return *target_; }

 private:
  explicit ReplaySession(ReplayTimes* times) : times_(*times) {}
  // The timed part of Execute.
  absl::Status Apply(const Operation& operation);
  void DigestItems(uint64_t line);
  void SampleAndReclaim();

  std::unique_ptr<ReplayTarget> target_;
  ReplayTimes& times_;

  ReadAnswer answer_;
  Md5Hex items_digest_;
  Md5Hex reads_digest_;

  uint64_t executed_ = 0;
  uint64_t expired_ = 0;
  ReplayTotals totals_;
  ReplayMemory memory_;

  BusiestList busiest_;
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_REPLAY_REPLAY_SESSION_H_

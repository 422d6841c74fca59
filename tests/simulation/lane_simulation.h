// Many callers on one thread: lanes as an engine has them, and a scheduler that decides at each
// turn who goes on, from a seed. What threads do to each other in one instruction here takes as
// many turns as it likes: a caller takes a lane, loses its core, runs a command, loses it again;
// meanwhile others leave mail until their budget is spent, time goes by, nobody reclaims, or
// somebody with a lane in his hands is slow at it.
//
// Each command is run on a ReferenceEngine too, when and where it ran here, and the replies are
// compared: the order in which a lane's commands ran is the order that counts. Nothing but the seed
// decides, so that equal seeds give equal digests.
#ifndef LISTSTORE_TESTS_SIMULATION_LANE_SIMULATION_H_
#define LISTSTORE_TESTS_SIMULATION_LANE_SIMULATION_H_

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/memory/memory_budget.h"
#include "engine/memory/page_pool.h"
#include "engine/runtime/lane_ownership.h"
#include "engine/shard/lane.h"
#include "engine/shard/router.h"
#include "tests/reference/reference_engine.h"
#include "tests/shard/command_workload.h"

namespace liststore::testing {

class LaneSimulation {
 public:
  struct Counts {
    uint64_t commands = 0;
    uint64_t as_mail = 0;            // of them by a holder who was somebody else
    uint64_t budgets_spent = 0;      // turns at which a caller had to wait for its mail
    uint64_t lanes_found_taken = 0;  // attempts to take a lane that failed
    uint64_t mail_at_once_max = 0;   // served in one release
    uint64_t truncations = 0;        // each with all lanes in one hand
    uint64_t reclaimed_units = 0;
    uint64_t rows_compared = 0;
  };

  explicit LaneSimulation(uint64_t seed);
  ~LaneSimulation();
  LaneSimulation(const LaneSimulation&) = delete;
  LaneSimulation& operator=(const LaneSimulation&) = delete;

  // Takes that many turns, lets everybody finish, and compares everything that is stored.
  // Test assertions: look at HasFatalFailure().
  void Run(uint64_t turns);

  // Of all replies in the order in which commands ran, and of the final contents.
  uint64_t digest() const { return digest_; }
  const Counts& counts() const { return counts_; }

 private:
  class Errand;  // a command on its way
  class Caller;
  class Truncator;
  class Reclaimer;
  friend class Errand;

  // Whoever gets turns.
  class Actor {
   public:
    virtual ~Actor() = default;
    virtual void Turn() = 0;
    // Begins nothing new. False: it still has something to finish.
    virtual bool Finish() = 0;
  };
  // How often kinds of things are done in this run: some never.
  struct Habits {
    uint64_t callers = 1;
    uint64_t post_one_in = 2;  // of a caller's commands
    uint64_t burst_posts = 1;  // at most, in one turn
    uint64_t slow_one_in = 4;  // of holders: turns pass while the lane is held
    uint64_t slow_turns_max = 1;
    uint64_t tick_one_in = 10;  // of turns
    bool reclaims = true;
    bool truncates = true;
  };

  Habits DrawHabits();
  Random& rng() { return workload_.rng(); }
  std::unique_ptr<OwnedCommand> DrawCommand();
  // The clock as a caller reads it; see ExecuteHeld.
  uint64_t now() const { return workload_.now_nanos(); }
  uint32_t LaneOf(const OwnedCommand& owned) const {
    return router_.PlaceOf(TokenOf(owned.command.partition_key)).lane;
  }
  // Runs a command in its lane, which is held, and on the reference.
  void ExecuteHeld(OwnedCommand& owned, uint64_t issued_nanos);
  void Release(uint32_t lane);
  void TruncateHeld();
  void DigestNumber(uint64_t number);
  void DigestRows(const CollectingSink& sink);
  void Verify();
  void CompareContents();
  void DrainAndCheckMemory();

  CommandWorkload workload_;
  const shard::Router router_;
  memory::MemoryBudget budget_;
  memory::PagePool pool_;
  std::vector<std::unique_ptr<shard::Lane>> lanes_;
  ReferenceEngine reference_;
  const Habits habits_;
  std::vector<std::unique_ptr<Actor>> actors_;
  std::vector<uint64_t> actor_weights_;
  uint64_t turn_ = 0;
  uint64_t served_in_release_ = 0;
  bool releasing_ = false;
  uint64_t digest_ = 0;
  Counts counts_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SIMULATION_LANE_SIMULATION_H_

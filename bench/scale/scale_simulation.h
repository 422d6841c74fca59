// Loops, lanes, cores, memory and network of a server, as events in simulated time.
//
// A lane is taken as in engine/runtime/lane_ownership.cc: at once where it is free; else by trying for 64
// pauses, or until mail is seen in it; then as mail that the holder serves, with the lane handed on after
// 64 pieces to one that is awake. Who waits spins, then yields, then sleeps.
#ifndef LISTSTORE_BENCH_SCALE_SCALE_SIMULATION_H_
#define LISTSTORE_BENCH_SCALE_SCALE_SIMULATION_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "bench/measure/workload.h"
#include "bench/scale/processors.h"
#include "bench/scale/scale_setup.h"
#include "bench/scale/written_lines.h"
#include "engine/base/random.h"

namespace liststore {

// What all cores share and get one after the other: memory and network, by bytes; a lock, by time.
class SharedChannel {
 public:
  // 0: without a limit.
  explicit SharedChannel(double units_per_ns) : units_per_ns_(units_per_ns) {}
  // How many nanoseconds it takes until so much has passed behind all that was asked for before.
  double Take(double units, Picos now);

 private:
  const double units_per_ns_;
  Picos free_at_ = 0;
};

// One run. One thread; memory for loops x lanes x 4 bytes. Equal setups give equal results.
class ScaleSimulation {
 public:
  explicit ScaleSimulation(const ScaleSetup& setup);
  ScaleResult Run();

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;

  enum class Phase : uint8_t {
    kOutside,     // its own work, for all of a group
    kHolding,     // its own request, with the lane
    kServing,     // another's, with the lane
    kLeaving,     // has let go, and pays for it
    kTrying,      // looks whether the lane becomes free
    kSpinning,    // its request is mail
    kYielding,    // the same, offering its core
    kSleeping,    // the same, without a core
    kCollecting,  // its mail was served
  };
  struct Request {
    uint64_t list = 0;
    uint32_t lane = 0;
    bool write = false;
    bool cached = false;   // its list is one of those that caches hold
    bool fetched = false;  // or was fetched beforehand
    double lines_due = 0;  // of the lane, whose word came when it was looked into beforehand
  };
  struct Loop {
    Phase phase = Phase::kOutside;
    std::vector<Request> group;
    size_t next = 0;            // of them
    uint32_t serves = kNobody;  // kServing: whose request
    int yields = 0;
    uint64_t done_in_turn = 0;
    Picos wanted = 0;  // since when it wants the lane

    const Request& request() const { return group[next]; }
  };
  struct LaneState {
    uint32_t holder = kNobody;
    int served = 0;       // by this holder, in a row
    bool shared = false;  // others have looked at its word since it was taken
    std::deque<uint32_t> mail;
    std::deque<uint32_t> trying;
    std::vector<uint32_t> sleepers;  // served, and to be woken
  };

  void BeginGroup(uint32_t number);
  Request Draw(uint32_t number);
  uint64_t DrawList();
  void LookAhead(Request& request, uint32_t core);

  void OnDone(uint32_t number);
  void OnCore(uint32_t number);
  void Want(uint32_t number);
  void Hold(uint32_t number);
  void Post(uint32_t number);
  void LetGo(uint32_t number);
  void Serve(uint32_t number, uint32_t other);
  void Served(uint32_t number);
  void Leave(uint32_t number, LaneState& lane);
  void LookAgain(uint32_t number);
  void Finish(uint32_t number);

  void NoteWait(const Loop& loop);
  LaneState& LaneOf(const Loop& loop) { return lanes_[loop.request().lane]; }
  const RequestCosts& CostsOf(const Request& request) const {
    return request.write ? setup_.costs.write : setup_.costs.read;
  }
  uint32_t CoreOf(uint32_t number) const { return processors_.core_of(number); }
  // A time around `nanos`.
  double Spread(double nanos);
  double Transfer(double lines);
  // What is added to a turn of so many requests: the journal, and those who have it before.
  double Journal(uint64_t requests, uint32_t core);
  Picos WorkInLane(const Request& request, uint32_t core, bool fetched, double lines_more);

  const ScaleSetup setup_;
  Random random_;
  std::optional<ZipfRanks> zipf_;
  Processors processors_;
  SharedChannel memory_;
  SharedChannel network_;
  SharedChannel journal_;
  std::vector<Loop> loops_;
  std::vector<LaneState> lanes_;
  WrittenLines lines_of_lanes_;
  WrittenLines lines_of_lists_;
  WrittenLines lines_of_journal_;
  ScaleResult result_;
};

}  // namespace liststore

#endif  // LISTSTORE_BENCH_SCALE_SCALE_SIMULATION_H_

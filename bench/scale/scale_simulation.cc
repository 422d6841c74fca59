#include "bench/scale/scale_simulation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/check.h"

namespace liststore {
namespace {

// As in engine/runtime/lane_ownership.cc.
constexpr double kTryPauses = 64;
constexpr double kSpinPauses = 200;
constexpr int kYieldsMax = 64;
constexpr int kServedMax = 64;

// Lists that stay in the caches of the cores however many others there are: the hottest.
constexpr uint64_t kCachedLists = 1'024;

// The lane of a list: any, and always the same.
uint32_t LaneOfList(uint64_t list, uint32_t lanes) {
  uint64_t x = (list + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return static_cast<uint32_t>(((x >> 32) * lanes) >> 32);
}

ScaleSetup Checked(const ScaleSetup& setup) {
  LS_CHECK(setup.loops > 0 && setup.lanes_per_loop > 0, "there are loops and lanes");
  LS_CHECK(setup.lists > 0 && setup.costs.group > 0, "there are lists and requests");
  LS_CHECK(setup.costs.requests_a_turn > 0, "a turn has requests");
  LS_CHECK(setup.aware_percent == 0 || setup.lists >= 64 * setup.lanes(),
           "each shard has lists of its own");
  return setup;
}

constexpr double kBitsPerByte = 8;

}  // namespace

double SharedChannel::Take(double units, Picos now) {
  if (units_per_ns_ <= 0) return 0;
  free_at_ = std::max(free_at_, now) + ToPicos(units / units_per_ns_);
  return static_cast<double>(free_at_ - now) / 1e3;
}

ScaleSimulation::ScaleSimulation(const ScaleSetup& setup)
    : setup_(Checked(setup)),
      random_(setup.seed),
      processors_(setup.loops, setup.cores_used(),
                  {ToPicos(setup.costs.slice_ns), ToPicos(setup.costs.switch_ns)}),
      memory_(setup.costs.memory_gb_per_s),
      network_(setup.costs.network_gbit_per_s / kBitsPerByte),
      journal_(setup.costs.journal_ns > 0 ? 1 : 0),
      loops_(setup.loops),
      lanes_(setup.lanes()),
      lines_of_lanes_(setup.lanes(), setup.cores_used()),
      lines_of_lists_(std::min(setup.lists, kCachedLists), setup.cores_used()),
      lines_of_journal_(1, setup.cores_used()) {
  if (setup.mix == ScaleMix::kZipf) zipf_.emplace(setup.lists, setup.zipf);
}

ScaleResult ScaleSimulation::Run() {
  for (uint32_t i = 0; i < setup_.loops; ++i) processors_.Wake(i, 0, Processors::kForever);
  const Picos counted = ToPicos(setup_.milliseconds * 1e6);
  const Picos start = counted / 10;
  const auto run_until = [this](Picos end) {
    for (;;) {
      const Processors::Event event = processors_.Next(end);
      if (event.kind == Processors::Event::Kind::kNone) return;
      if (event.kind == Processors::Event::Kind::kDone) {
        OnDone(event.thread);
      } else {
        OnCore(event.thread);
      }
    }
  };
  run_until(start);
  result_ = {};
  const Picos changing = processors_.changing();
  run_until(start + counted);
  result_.seconds = setup_.milliseconds / 1e3;
  result_.cores_ns = setup_.milliseconds * 1e6 * setup_.cores_used();
  result_.switch_ns = static_cast<double>(processors_.changing() - changing) / 1e3;
  return result_;
}

// --- Requests ------------------------------------------------------------------------------------

uint64_t ScaleSimulation::DrawList() {
  return setup_.mix == ScaleMix::kZipf ? zipf_->Next(random_) : random_.Below(setup_.lists);
}

ScaleSimulation::Request ScaleSimulation::Draw(uint32_t number) {
  const auto with_percent = [this](double percent) { return random_.Fraction() * 100 < percent; };
  Request request;
  request.write = with_percent(setup_.write_percent);
  if (setup_.mix == ScaleMix::kHot && with_percent(setup_.hot_percent)) {
    request.lane = LaneOfList(request.list, setup_.lanes());
  } else {
    const bool own = with_percent(setup_.aware_percent);
    do {
      request.list = DrawList();
      request.lane = LaneOfList(request.list, setup_.lanes());
    } while (own && request.lane / setup_.lanes_per_loop != number);
  }
  request.cached = request.list < kCachedLists;
  return request;
}

// As Engine::GroupAhead: takes the lane for a moment where it is free, and fetches the list.
void ScaleSimulation::LookAhead(Request& request, uint32_t core) {
  if (lanes_[request.lane].holder != kNobody) return;
  request.fetched = true;
  if (lines_of_lanes_.Write(request.lane, core)) {
    request.lines_due = std::max(0.0, CostsOf(request).lane_lines - 1);
  }
}

// Draws the next requests, and works for them outside of lanes.
void ScaleSimulation::BeginGroup(uint32_t number) {
  Loop& loop = loops_[number];
  loop.phase = Phase::kOutside;
  loop.next = 0;
  loop.group.clear();
  double work = 0, transfers = 0;
  double memory_bytes = 0, network_bytes = 0;
  for (uint64_t i = 0; i < setup_.costs.group; ++i) {
    Request request = Draw(number);
    const RequestCosts& costs = CostsOf(request);
    work += Spread(costs.outside_ns);
    network_bytes += static_cast<double>(costs.network_bytes);
    if (setup_.costs.group > 1) LookAhead(request, CoreOf(number));
    if (request.fetched && !request.cached) memory_bytes += static_cast<double>(costs.memory_bytes);
    if (request.lines_due > 0) transfers += 1;
    loop.group.push_back(request);
  }
  loop.done_in_turn += loop.group.size();
  const bool turn_ends = loop.done_in_turn >= setup_.costs.requests_a_turn;
  if (turn_ends) work += Spread(setup_.costs.turn_ns);
  result_.work_ns += work;
  work += Transfer(transfers);
  if (turn_ends) work += Journal(std::exchange(loop.done_in_turn, 0), CoreOf(number));
  const Picos now = processors_.now();
  const double memory = memory_.Take(memory_bytes, now);
  const double network = network_.Take(network_bytes, now);
  const double longest = std::max({work, memory, network});
  (network > memory ? result_.network_ns : result_.memory_ns) += longest - work;
  processors_.Work(number, ToPicos(longest));
}

void ScaleSimulation::Finish(uint32_t number) {
  ++result_.requests;
  Loop& loop = loops_[number];
  if (++loop.next < loop.group.size()) {
    Want(number);
  } else {
    BeginGroup(number);
  }
}

// --- Times ---------------------------------------------------------------------------------------

double ScaleSimulation::Spread(double nanos) {
  if (setup_.spread == WorkSpread::kHalf) return nanos * (0.5 + random_.Fraction());
  return -nanos * std::log1p(-random_.Fraction());
}

double ScaleSimulation::Transfer(double lines) {
  const double nanos = lines * setup_.costs.transfer_ns;
  result_.transfer_ns += nanos;
  return nanos;
}

double ScaleSimulation::Journal(uint64_t requests, uint32_t core) {
  if (setup_.costs.journal_ns <= 0) return 0;
  const double writing = setup_.costs.journal_ns * static_cast<double>(requests);
  const double lines = lines_of_journal_.Write(0, core) ? Transfer(setup_.costs.journal_lines) : 0;
  const double until_done = journal_.Take(writing + lines, processors_.now());
  result_.work_ns += writing;
  result_.journal_ns += until_done - writing - lines;
  return until_done;
}

// What `core` does for a request once it has the lane; it fetches `lines_more` besides.
Picos ScaleSimulation::WorkInLane(const Request& request, uint32_t core, bool fetched,
                                  double lines_more) {
  const RequestCosts& costs = CostsOf(request);
  double work = Spread(costs.in_lane_ns);
  const bool misses = !request.cached && !fetched;
  const double missing = misses ? Spread(costs.missing_ns) : 0;
  // Where lists are fetched beforehand, one that was not is the fault of who had the lane.
  result_.work_ns += setup_.costs.group == 1 ? work + missing : work;
  work += missing;
  double lines = lines_more;
  if (lines_of_lanes_.Write(request.lane, core)) lines += costs.lane_lines;
  if (request.cached) {
    const bool moves = request.write ? lines_of_lists_.Write(request.list, core)
                                     : lines_of_lists_.Read(request.list, core);
    if (moves) lines += costs.list_lines;
  }
  work += Transfer(lines);
  if (misses) {
    const double memory = memory_.Take(static_cast<double>(costs.memory_bytes), processors_.now());
    if (memory > work) {
      result_.memory_ns += memory - work;
      work = memory;
    }
  }
  return ToPicos(work);
}

void ScaleSimulation::NoteWait(const Loop& loop) {
  result_.waits.Record((processors_.now() - loop.wanted) / 1'000);
}

// --- Lanes ---------------------------------------------------------------------------------------

void ScaleSimulation::OnDone(uint32_t number) {
  switch (loops_[number].phase) {
    case Phase::kOutside:
      return Want(number);
    case Phase::kHolding:
      return LetGo(number);
    case Phase::kServing:
      return Served(number);
    case Phase::kLeaving:
    case Phase::kCollecting:
      return Finish(number);
    case Phase::kTrying:
      std::erase(LaneOf(loops_[number]).trying, number);
      return Post(number);
    case Phase::kSpinning:
      loops_[number].phase = Phase::kYielding;
      loops_[number].yields = 0;
      return LookAgain(number);
    case Phase::kYielding:
      return LookAgain(number);
    case Phase::kSleeping:
      LS_UNREACHABLE("who sleeps does no work");
  }
}

// It had to wait for its core, or is there for the first time: much may have happened meanwhile.
void ScaleSimulation::OnCore(uint32_t number) {
  Loop& loop = loops_[number];
  if (loop.group.empty()) return BeginGroup(number);
  if (loop.phase == Phase::kYielding) return LookAgain(number);
  if (loop.phase != Phase::kTrying) return;
  LaneState& lane = LaneOf(loop);
  if (lane.holder != kNobody && lane.mail.empty()) return;
  std::erase(lane.trying, number);
  Post(number);
}

void ScaleSimulation::Want(uint32_t number) {
  Loop& loop = loops_[number];
  loop.wanted = processors_.now();
  LaneState& lane = LaneOf(loop);
  if (lane.holder == kNobody) return Hold(number);
  ++result_.found_taken;
  lane.shared = true;
  if (!lane.mail.empty()) return Post(number);
  loop.phase = Phase::kTrying;
  lane.trying.push_back(number);
  processors_.Work(number, ToPicos(kTryPauses * setup_.costs.pause_ns));
}

void ScaleSimulation::Hold(uint32_t number) {
  Loop& loop = loops_[number];
  NoteWait(loop);
  LaneState& lane = LaneOf(loop);
  lane.holder = number;
  lane.served = 0;
  // Those who go on trying look at it.
  lane.shared = !lane.trying.empty();
  loop.phase = Phase::kHolding;
  const Request& request = loop.request();
  processors_.Work(number, WorkInLane(request, CoreOf(number), request.fetched, request.lines_due));
}

// Leaves the request in the lane; takes the lane where it has become free.
void ScaleSimulation::Post(uint32_t number) {
  Loop& loop = loops_[number];
  LaneState& lane = LaneOf(loop);
  if (lane.holder == kNobody) return Hold(number);
  loop.phase = Phase::kSpinning;
  lane.mail.push_back(number);
  lane.shared = true;
  processors_.Work(number, ToPicos(kSpinPauses * setup_.costs.pause_ns));
  // Whoever tries beside it sees the mail, and leaves its own.
  const auto sees = [this](uint32_t other) { return processors_.OnCore(other); };
  const auto other = std::ranges::find_if(lane.trying, sees);
  if (other == lane.trying.end()) return;
  const uint32_t next = *other;
  lane.trying.erase(other);
  Post(next);
}

// The holder has done what it had in hand.
void ScaleSimulation::LetGo(uint32_t number) {
  LaneState& lane = LaneOf(loops_[number]);
  if (lane.mail.empty()) {
    Leave(number, lane);
    lane.holder = kNobody;
    // Of those who try, the first that has a core gets it.
    const auto next = std::ranges::find_if(
        lane.trying, [this](uint32_t other) { return processors_.OnCore(other); });
    if (next == lane.trying.end()) return;
    const uint32_t taker = *next;
    lane.trying.erase(next);
    return Hold(taker);
  }
  const uint32_t next = lane.mail.front();
  lane.mail.pop_front();
  if (lane.served < kServedMax || loops_[next].phase == Phase::kSleeping) {
    return Serve(number, next);
  }
  // It goes on with what is left in the lane.
  Leave(number, lane);
  Hold(next);
}

void ScaleSimulation::Serve(uint32_t number, uint32_t other) {
  NoteWait(loops_[other]);
  ++result_.as_mail;
  loops_[number].phase = Phase::kServing;
  loops_[number].serves = other;
  // One line for what is asked; what was fetched beforehand was fetched by another core.
  processors_.Work(number, WorkInLane(loops_[other].request(), CoreOf(number), false, 1));
}

void ScaleSimulation::Served(uint32_t number) {
  const uint32_t other = loops_[number].serves;
  LaneState& lane = LaneOf(loops_[number]);
  ++lane.served;
  if (loops_[other].phase == Phase::kSleeping) {
    lane.sleepers.push_back(other);
  } else {
    processors_.Work(other, ToPicos(Transfer(1)));
  }
  loops_[other].phase = Phase::kCollecting;
  LetGo(number);
}

// The holder goes on with its own: after the word has come back from those who looked at it, and after it
// has rung for those who sleep.
void ScaleSimulation::Leave(uint32_t number, LaneState& lane) {
  double work = lane.shared ? Transfer(1) : 0;
  if (!lane.sleepers.empty()) {
    result_.switch_ns += setup_.costs.wake_ns;
    work += setup_.costs.wake_ns;
  }
  for (const uint32_t sleeper : lane.sleepers) {
    processors_.Wake(sleeper, ToPicos(setup_.costs.wake_ns), ToPicos(Transfer(1)));
  }
  lane.sleepers.clear();
  loops_[number].phase = Phase::kLeaving;
  processors_.Work(number, ToPicos(work));
}

// Between two offers of its core.
void ScaleSimulation::LookAgain(uint32_t number) {
  Loop& loop = loops_[number];
  if (loop.yields++ == kYieldsMax) {
    ++result_.sleeps;
    loop.phase = Phase::kSleeping;
    return processors_.Sleep(number);
  }
  processors_.Work(number, Processors::kForever);
  if (!processors_.Yield(number)) processors_.Work(number, ToPicos(setup_.costs.yield_ns));
}

}  // namespace liststore

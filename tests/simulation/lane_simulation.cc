#include "tests/simulation/lane_simulation.h"

#include <algorithm>
#include <string>

#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "gtest/gtest.h"

namespace liststore::testing {
namespace {

constexpr uint64_t kSimulatedSecondNanos = 1'000'000'000;
constexpr uint64_t kAmpleBytes = uint64_t{1} << 40;

uint32_t ShardsOf(uint64_t seed) {
  constexpr uint32_t kShards[] = {1, 2, 3, 5};
  return kShards[Random(seed).Below(std::size(kShards))];
}
// Few lanes, so that callers meet.
uint32_t LanesLog2Of(uint64_t seed) { return static_cast<uint32_t>(Random(~seed).Below(3)); }

}  // namespace

// --- Actors ---

class LaneSimulation::Errand : public runtime::LaneOwnership::Node {
 public:
  Errand(LaneSimulation& simulation, uint64_t number, std::unique_ptr<OwnedCommand> owned)
      : Node(&Errand::Run),
        simulation_(simulation),
        number_(number),
        owned_(std::move(owned)),
        lane_(simulation.LaneOf(*owned_)),
        issued_nanos_(simulation.now()) {}

  uint32_t lane() const { return lane_; }
  uint64_t number() const { return number_; }
  // By whoever holds the lane.
  void ExecuteHeld() {
    simulation_.ExecuteHeld(*owned_, issued_nanos_);
    if (last_run_of_lane != nullptr) {
      EXPECT_GT(number_, *last_run_of_lane) << "a caller's commands keep their order in a lane";
      *last_run_of_lane = number_;
    }
  }

  uint64_t* last_run_of_lane = nullptr;

 private:
  static void Run(Node* node) {
    auto* self = static_cast<Errand*>(node);
    if (self->simulation_.releasing_) {
      ++self->simulation_.counts_.as_mail;
      ++self->simulation_.served_in_release_;
    }
    self->ExecuteHeld();
  }

  LaneSimulation& simulation_;
  const uint64_t number_;
  const std::unique_ptr<OwnedCommand> owned_;
  const uint32_t lane_;
  const uint64_t issued_nanos_;
};

// A thread that runs commands: takes a lane, or leaves the command to whoever has it.
class LaneSimulation::Caller : public Actor {
 public:
  explicit Caller(LaneSimulation& simulation)
      : simulation_(simulation),
        budgets_(simulation.lanes_.size()),
        newest_post_(simulation.lanes_.size()),
        last_run_(simulation.lanes_.size()) {}

  void Turn() override {
    Reap();
    if (held_) return GoOnHolding();
    if (!errand_) errand_ = Draw();
    if (simulation_.rng().OneIn(simulation_.habits_.post_one_in)) {
      Burst();
    } else {
      TryTake();
    }
  }

  bool Finish() override {
    Reap();
    if (held_) {
      GoOnHolding();
    } else if (errand_) {
      TryTake();
    }
    return !held_ && !errand_ && posted_.empty();
  }

 private:
  std::unique_ptr<Errand> Draw() {
    auto errand = std::make_unique<Errand>(simulation_, ++drawn_, simulation_.DrawCommand());
    errand->last_run_of_lane = &last_run_[errand->lane()];
    return errand;
  }

  // Takes the lane as a thread does that finds it free; turns may pass before it does anything.
  void TryTake() {
    shard::Lane& lane = *simulation_.lanes_[errand_->lane()];
    if (!lane.ownership.TryAcquire()) {
      ++simulation_.counts_.lanes_found_taken;
      return;
    }
    EXPECT_TRUE(newest_post_[errand_->lane()] == nullptr)
        << "own mail is served before a lane is free";
    held_ = errand_->lane();
    const Habits& habits = simulation_.habits_;
    Random& rng = simulation_.rng();
    wait_turns_ = rng.OneIn(habits.slow_one_in) ? rng.Below(habits.slow_turns_max + 1) : 0;
    if (wait_turns_ == 0) GoOnHolding();
  }

  void GoOnHolding() {
    if (wait_turns_ > 0) {
      --wait_turns_;
      return;
    }
    if (errand_) {
      errand_->ExecuteHeld();
      errand_.reset();
      // The core may be lost between the work and the release as well.
      Random& rng = simulation_.rng();
      if (rng.OneIn(simulation_.habits_.slow_one_in)) {
        wait_turns_ = rng.Below(simulation_.habits_.slow_turns_max + 1);
        if (wait_turns_ > 0) return;
      }
    }
    simulation_.Release(*held_);
    held_.reset();
  }

  // Leaves commands where they belong as long as budgets allow, and waits where one is spent.
  void Burst() {
    for (uint64_t i = simulation_.rng().Below(simulation_.habits_.burst_posts) + 1; i > 0; --i) {
      if (!errand_) errand_ = Draw();
      const uint32_t number = errand_->lane();
      runtime::PostBudget& budget = budgets_[number];
      if (budget.Exhausted()) {
        ++simulation_.counts_.budgets_spent;
        EXPECT_FALSE(newest_post_[number]->IsDone());
        return;
      }
      shard::Lane& lane = *simulation_.lanes_[number];
      if (lane.ownership.TryRunOrPost(*errand_, budget)) {
        errand_.reset();
        return;  // the lane was free: that was the work of a turn
      }
      EXPECT_TRUE(lane.ownership.MailWaits());
      newest_post_[number] = errand_.get();
      posted_.push_back(std::move(errand_));
    }
  }

  // What has been served; budgets whose newest post it was are whole again.
  void Reap() {
    for (size_t i = 0; i < newest_post_.size(); ++i) {
      if (newest_post_[i] == nullptr || !newest_post_[i]->IsDone()) continue;
      budgets_[i].Renew();
      newest_post_[i] = nullptr;
    }
    std::erase_if(posted_, [](const auto& errand) { return errand->IsDone(); });
  }

  LaneSimulation& simulation_;
  std::unique_ptr<Errand> errand_;  // the next one
  std::optional<uint32_t> held_;    // lane
  uint64_t wait_turns_ = 0;
  uint64_t drawn_ = 0;
  std::vector<runtime::PostBudget> budgets_;  // by lane
  std::vector<Errand*> newest_post_;          // by lane; not yet seen done
  std::vector<uint64_t> last_run_;            // by lane: number of the newest command that ran
  std::deque<std::unique_ptr<Errand>> posted_;
};

// Takes all lanes, in ascending order, and truncates with all of them in its hands.
class LaneSimulation::Truncator : public Actor {
 public:
  explicit Truncator(LaneSimulation& simulation) : simulation_(simulation) {}

  void Turn() override {
    if (taken_ == 0 && !simulation_.rng().OneIn(60)) return;
    GoOn();
  }
  bool Finish() override {
    if (taken_ > 0) GoOn();
    return taken_ == 0;
  }

 private:
  void GoOn() {
    auto& lanes = simulation_.lanes_;
    if (!truncated_) {
      if (lanes[taken_]->ownership.TryAcquire()) ++taken_;
      if (taken_ < lanes.size()) return;
      simulation_.TruncateHeld();
      truncated_ = true;
      return;
    }
    simulation_.Release(static_cast<uint32_t>(--taken_));
    if (taken_ == 0) truncated_ = false;
  }

  LaneSimulation& simulation_;
  size_t taken_ = 0;
  bool truncated_ = false;
};

// Visits lanes for what is due; a slow one keeps the lane between its slices.
class LaneSimulation::Reclaimer : public Actor {
 public:
  explicit Reclaimer(LaneSimulation& simulation) : simulation_(simulation) {}

  void Turn() override {
    Random& rng = simulation_.rng();
    if (!held_) {
      const auto lane = static_cast<uint32_t>(rng.Below(simulation_.lanes_.size()));
      if (!simulation_.lanes_[lane]->ownership.TryAcquire()) return;
      held_ = lane;
    }
    Slice(1 + rng.Below(200));
    if (rng.OneIn(simulation_.habits_.slow_one_in)) return;
    LetGo();
  }
  bool Finish() override {
    if (held_) LetGo();
    return true;
  }

 private:
  void Slice(size_t budget) {
    shard::Lane& lane = *simulation_.lanes_[*held_];
    const auto now_seconds = static_cast<int64_t>(simulation_.now() / kSimulatedSecondNanos);
    for (uint16_t i = 0; i < lane.table_count(); ++i) {
      storage::Table& table = lane.table(TableId{i});
      if (!table.WantsReclaim(now_seconds)) continue;
      simulation_.counts_.reclaimed_units += table.Reclaim(now_seconds, budget);
    }
  }
  void LetGo() {
    simulation_.Release(*held_);
    held_.reset();
  }

  LaneSimulation& simulation_;
  std::optional<uint32_t> held_;
};

// --- The simulation ---

LaneSimulation::LaneSimulation(uint64_t seed)
    : workload_(seed, static_cast<uint16_t>(1 + seed % 2)),
      router_(ShardsOf(seed), LanesLog2Of(seed)),
      budget_(kAmpleBytes),
      pool_(budget_),
      reference_(router_),
      habits_(DrawHabits()) {
  for (uint32_t i = 0; i < router_.lanes(); ++i) {
    lanes_.push_back(std::make_unique<shard::Lane>(router_, pool_, budget_));
  }
  for (uint16_t i = 0; i < workload_.tables(); ++i) {
    TableSchema schema = workload_.schema();
    schema.id = reference_.CreateTable(schema);
    for (const auto& lane : lanes_) lane->Add(*lane->Prepare(schema, 0));
  }
  for (uint64_t i = 0; i < habits_.callers; ++i) actors_.push_back(std::make_unique<Caller>(*this));
  if (habits_.reclaims) actors_.push_back(std::make_unique<Reclaimer>(*this));
  if (habits_.truncates) actors_.push_back(std::make_unique<Truncator>(*this));
  // Some get few turns.
  for (size_t i = 0; i < actors_.size(); ++i) actor_weights_.push_back(rng().OneIn(4) ? 1 : 10);
}

LaneSimulation::~LaneSimulation() = default;

LaneSimulation::Habits LaneSimulation::DrawHabits() {
  constexpr uint64_t kPostOneIn[] = {1, 2, 4, 1'000'000};
  constexpr uint64_t kBursts[] = {1, 4, 100, 300};
  constexpr uint64_t kSlowOneIn[] = {1, 2, 8, 50};
  constexpr uint64_t kSlowTurns[] = {1, 5, 40, 400};
  constexpr uint64_t kTickOneIn[] = {3, 20, 200};
  Habits habits;
  TableWorkload& draw = workload_.base();
  habits.callers = 1 + rng().Below(8);
  habits.post_one_in = draw.Pick(kPostOneIn);
  habits.burst_posts = draw.Pick(kBursts);
  habits.slow_one_in = draw.Pick(kSlowOneIn);
  habits.slow_turns_max = draw.Pick(kSlowTurns);
  habits.tick_one_in = draw.Pick(kTickOneIn);
  habits.reclaims = !rng().OneIn(5);
  habits.truncates = rng().OneIn(2);
  return habits;
}

std::unique_ptr<OwnedCommand> LaneSimulation::DrawCommand() {
  for (;;) {
    const TableOp op = workload_.base().NextOp(turn_);
    if (IsCommand(op)) return workload_.Make(op, turn_);
  }
}

void LaneSimulation::Run(uint64_t turns) {
  uint64_t weights = 0;
  for (const uint64_t weight : actor_weights_) weights += weight;
  const uint64_t verify_every = workload_.plan().large() ? 1'000 : 200;
  for (; turn_ < turns && !::testing::Test::HasFailure(); ++turn_) {
    workload_.JumpInSecond();
    if (rng().OneIn(habits_.tick_one_in)) workload_.Tick();
    uint64_t ticket = rng().Below(weights);
    size_t next = 0;
    while (ticket >= actor_weights_[next]) ticket -= actor_weights_[next++];
    actors_[next]->Turn();
    if (turn_ % verify_every == 0) Verify();
  }
  // Whoever waits for a lane gets it in the end: nobody begins anything new.
  constexpr int kRoundsMax = 1'000'000;
  int rounds = 0;
  for (bool finished = false; !finished;) {
    finished = true;
    for (const auto& actor : actors_) finished &= actor->Finish();
    LS_CHECK(++rounds < kRoundsMax, "everybody comes to an end");
  }
  if (::testing::Test::HasFailure()) return;
  for (const auto& lane : lanes_) EXPECT_FALSE(lane->ownership.MailWaits());
  Verify();
  CompareContents();
  if (!::testing::Test::HasFailure()) DrainAndCheckMemory();
}

void LaneSimulation::Release(uint32_t lane) {
  releasing_ = true;
  served_in_release_ = 0;
  lanes_[lane]->ownership.Release();
  counts_.mail_at_once_max = std::max(counts_.mail_at_once_max, served_in_release_);
  releasing_ = false;
}

// The caller read the clock when it issued the command, others may have read a later one since:
// within a second a lane sees time go to and fro. Seconds decide what has expired and what was
// reclaimed meanwhile, so that for them the present counts, TTLs included.
void LaneSimulation::ExecuteHeld(OwnedCommand& owned, uint64_t issued_nanos) {
  const uint64_t second = now() / kSimulatedSecondNanos;
  const uint64_t now_nanos = std::max(issued_nanos, second * kSimulatedSecondNanos);
  for (RowUpdate& row : owned.batch.rows) {
    if (row.ttl_seconds != 0) row.expiry_seconds = static_cast<int64_t>(second) + row.ttl_seconds;
  }
  const Command& command = owned.command;
  const shard::Router::Place place = router_.PlaceOf(TokenOf(command.partition_key));
  Reply reply;
  lanes_[place.lane]->Execute(command, place.address, now_nanos, reply);
  ++counts_.commands;
  WriteTimestamp timestamp = command.timestamp;
  if (IsWrite(command)) {
    if (timestamp.is_none()) {
      timestamp = reference_.NextTimestamp(command.partition_key, now_nanos);
    }
    EXPECT_EQ(reply.timestamp.micros, timestamp.micros);
  }
  const Reply expected =
      reference_.Execute(command, now_nanos, timestamp, owned.expected_sink.get());
  EXPECT_EQ(reply.status, OpStatus::kOk) << "memory is ample";
  EXPECT_EQ(reply.rows, expected.rows) << TableOpName(owned.op) << " at turn " << turn_;
  if (owned.sink != nullptr) {
    EXPECT_EQ(FirstDifference(owned.expected_sink->rows(), owned.sink->rows()), "");
    EXPECT_EQ(owned.sink->complaint(), "");
    counts_.rows_compared += reply.rows;
    DigestRows(*owned.sink);
  }
  DigestNumber(place.lane);
  DigestNumber(reply.rows);
  DigestNumber(static_cast<uint64_t>(reply.timestamp.micros));
}

void LaneSimulation::TruncateHeld() {
  const TableId table = workload_.RandomTable();
  ++counts_.truncations;
  if (workload_.schema().partition_key.size() > 1 && rng().OneIn(2)) {
    const std::string_view component = workload_.base().RandomFirstComponent();
    for (const auto& lane : lanes_) lane->table(table).TruncateFirstComponent(component);
    reference_.TruncateFirstComponent(table, component);
  } else {
    for (const auto& lane : lanes_) lane->table(table).TruncateAll();
    reference_.TruncateTable(table);
  }
}

// --- Looking at all of it ---

void LaneSimulation::DigestNumber(uint64_t number) {
  digest_ = Hash64({reinterpret_cast<const char*>(&number), sizeof(number)}, digest_);
}

void LaneSimulation::DigestRows(const CollectingSink& sink) {
  for (const CollectedRow& row : sink.rows()) {
    digest_ = Hash64(row.key, digest_);
    for (const CollectedCell& cell : row.cells) digest_ = Hash64(cell.value, digest_);
  }
}

// In whoever's hands the lanes are: there is one thread.
void LaneSimulation::Verify() {
  for (const auto& lane : lanes_) {
    for (uint16_t i = 0; i < lane->table_count(); ++i) lane->table(TableId{i}).Verify();
  }
  pool_.Verify();
}

void LaneSimulation::CompareContents() {
  for (uint16_t i = 0; i < workload_.tables(); ++i) {
    uint64_t rows = 0;
    for (const std::string& key : workload_.partition_keys()) {
      const auto owned = workload_.MakeReadAll(TableId{i}, key, true, false);
      const uint64_t before = counts_.rows_compared;
      ExecuteHeld(*owned, now());
      rows += counts_.rows_compared - before;
    }
    EXPECT_EQ(rows, reference_.CountAll(TableId{i}, now())) << "every partition is known";
  }
}

// Nothing is left of truncated tables once the work is done.
void LaneSimulation::DrainAndCheckMemory() {
  const auto now_seconds = static_cast<int64_t>(now() / kSimulatedSecondNanos);
  constexpr int kTurnsMax = 1'000'000;
  for (const auto& lane : lanes_) {
    for (uint16_t i = 0; i < lane->table_count(); ++i) {
      storage::Table& table = lane->table(TableId{i});
      table.TruncateAll();
      int turns = 0;
      while (table.Reclaim(now_seconds, 100) > 0) {
        LS_CHECK(++turns < kTurnsMax, "reclamation comes to an end");
      }
      EXPECT_EQ(table.stats().partitions, 0u);
      EXPECT_EQ(table.stats().rows, 0u);
    }
  }
}

}  // namespace liststore::testing

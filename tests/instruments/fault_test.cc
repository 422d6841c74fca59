#include "engine/instruments/fault.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <string>
#include <vector>

#include "engine/instruments/fault_plan.h"
#include "tests/support/seed.h"

namespace liststore {
namespace fault_test {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(FaultAction, IsReadFromText) {
  for (const char* name :
       {"read_timeout", "write_timeout", "unavailable", "overloaded", "server_error", "unprepared",
        "rate_limit", "close_connection", "no_answer"}) {
    const auto action = instruments::ParseFaultAction(name);
    ASSERT_TRUE(action.ok()) << name;
    EXPECT_EQ(ToString(action->kind), name);
    std::string upper(name);
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    ASSERT_TRUE(instruments::ParseFaultAction(upper).ok()) << upper;
    EXPECT_EQ(instruments::ParseFaultAction(upper)->kind, action->kind);
  }
  const auto fixed = instruments::ParseFaultAction("delay 200ms");
  ASSERT_TRUE(fixed.ok());
  EXPECT_EQ(fixed->kind, instruments::FaultAction::Kind::kDelay);
  for (const double fraction : {0.0, 0.3, 0.7, 0.995, 0.9999}) {
    EXPECT_EQ(fixed->delay.At(fraction), milliseconds(200));
  }
  const auto range = instruments::ParseFaultAction(" delay  5ms..0.02s ");
  ASSERT_TRUE(range.ok());
  EXPECT_EQ(range->delay.At(0), milliseconds(5));
  EXPECT_NEAR(static_cast<double>(range->delay.At(0.5).count()), 12.5e6, 10);
  EXPECT_NEAR(static_cast<double>(range->delay.At(0.9).count()), 18.5e6, 10);
  const auto percentiles = instruments::ParseFaultAction("delay p50=1ms p99=20ms p999=200ms");
  ASSERT_TRUE(percentiles.ok());
  EXPECT_EQ(percentiles->delay,
            (instruments::DelayDistribution{true, nanoseconds(0), milliseconds(1), milliseconds(20),
                                            milliseconds(200)}));
}

TEST(FaultAction, WhatIsNoneIsRefusedByName) {
  for (const char* text :
       {"", "read timeout", "timeout", "read_timeout 3", "delay", "delay 3", "delay ms",
        "delay -1ms", "delay 2h", "delay 3601s", "delay 20ms..5ms", "delay 1ms 2ms",
        "delay p50=3ms p99=2ms p999=4ms", "delay p50=1ms p99=2ms", "delay nan s"}) {
    const auto action = instruments::ParseFaultAction(text);
    ASSERT_FALSE(action.ok()) << text;
    EXPECT_EQ(action.error().code, CqlErrorCode::kInvalid);
    EXPECT_NE(action.error().message.find("'" + std::string(text) + "'"), std::string::npos);
  }
}

TEST(DelayDistribution, HasItsPercentiles) {
  const instruments::DelayDistribution delay =
      instruments::ParseFaultAction("delay p50=1ms p99=20ms p999=200ms")->delay;
  Random random(testing::TestSeed());
  std::vector<nanoseconds> drawn(100'000);
  for (nanoseconds& time : drawn) time = delay.At(random.Fraction());
  std::ranges::sort(drawn);
  const auto at = [&](double part) {
    return static_cast<double>(
        drawn[static_cast<size_t>(part * static_cast<double>(drawn.size()))].count());
  };
  EXPECT_NEAR(at(0.5), 1e6, 0.1e6);
  EXPECT_NEAR(at(0.99), 20e6, 4e6);
  EXPECT_GT(at(0.9995), 100e6);
}

// A request of everything that conditions may ask for.
struct Request {
  instruments::FaultRequest request;
  Request() {
    request.op = cql::StatementOp::kSelect;
    request.tables = {"feat.clicks"};
    request.text = "SELECT item FROM feat.clicks WHERE user = ?";
    request.consistency = "LOCAL_QUORUM";
    request.address = "127.0.0.1:4711";
    request.driver = "A Driver";
    request.is_prepared = true;
    request.keys = {"u1"};
  }
};

TEST(FaultCondition, EveryPartMustHold) {
  const Request at;
  EXPECT_TRUE(instruments::FaultCondition().Holds(at.request));
  using Change = void (*)(instruments::FaultCondition&);
  const std::pair<Change, bool> cases[] = {
      {[](instruments::FaultCondition& c) { c.op = cql::StatementOp::kSelect; }, true},
      {[](instruments::FaultCondition& c) { c.op = cql::StatementOp::kInsert; }, false},
      {[](instruments::FaultCondition& c) { c.table = "feat.clicks"; }, true},
      {[](instruments::FaultCondition& c) { c.table = "feat.click"; }, false},
      {[](instruments::FaultCondition& c) { c.statement = "user = ?"; }, true},
      {[](instruments::FaultCondition& c) { c.statement = "ttl"; }, false},
      {[](instruments::FaultCondition& c) { c.consistency = "LOCAL_QUORUM"; }, true},
      {[](instruments::FaultCondition& c) { c.consistency = "QUORUM"; }, false},
      {[](instruments::FaultCondition& c) { c.key = "u1"; }, true},
      {[](instruments::FaultCondition& c) { c.key = "u2"; }, false},
      {[](instruments::FaultCondition& c) { c.connection = "127.0.0.1:4711"; }, true},
      {[](instruments::FaultCondition& c) { c.connection = "A Driver"; }, true},
      {[](instruments::FaultCondition& c) { c.connection = "127.0.0.1:4712"; }, false},
  };
  for (const auto& [change, holds] : cases) {
    instruments::FaultCondition condition;
    change(condition);
    EXPECT_EQ(condition.Holds(at.request), holds) << &change - &cases[0].first;
    // Together with one that holds, and one that does not.
    condition.table = condition.table.value_or("feat.clicks");
    EXPECT_EQ(condition.Holds(at.request), holds);
    condition.statement = "no part of it";
    EXPECT_FALSE(condition.Holds(at.request));
  }
}

TEST(FaultCondition, PrepareAndTheSystemAreMeantOnlyByName) {
  Request at;
  at.request.op = cql::StatementOp::kPrepare;
  EXPECT_FALSE(instruments::FaultCondition().Holds(at.request));
  instruments::FaultCondition prepare;
  prepare.op = cql::StatementOp::kPrepare;
  EXPECT_TRUE(prepare.Holds(at.request));

  Request system;
  system.request.of_system = true;
  EXPECT_FALSE(instruments::FaultCondition().Holds(system.request));
  instruments::FaultCondition table;
  table.table = "feat.clicks";
  EXPECT_TRUE(table.Holds(system.request));
}

instruments::Fault Named(const std::string& name, const char* action) {
  instruments::Fault fault;
  fault.name = name;
  fault.action_text = action;
  fault.action = *instruments::ParseFaultAction(action);
  return fault;
}

TEST(FaultPlan, AFaultIsMetAsOftenAsItSays) {
  instruments::FaultPlan plan;
  const Request at;
  EXPECT_FALSE(plan.armed());
  instruments::Fault fault = Named("f", "read_timeout");
  fault.times = 3;
  ASSERT_TRUE(plan.Put(fault));
  EXPECT_TRUE(plan.armed());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(plan.Meet(at.request).has_value());
  EXPECT_FALSE(plan.armed());
  EXPECT_FALSE(plan.Meet(at.request).has_value());
  ASSERT_EQ(plan.List().size(), 1u) << "what it did can still be seen";
  EXPECT_EQ(plan.List()[0].hits, 3u);
  ASSERT_TRUE(plan.Put(fault)) << "again";
  EXPECT_EQ(plan.List()[0].hits, 0u);
  EXPECT_TRUE(plan.Meet(at.request).has_value());
  plan.Remove("f");
  plan.Remove("f");
  EXPECT_FALSE(plan.armed());
}

TEST(FaultPlan, TheFirstByNameIsMet) {
  instruments::FaultPlan plan;
  const Request at;
  instruments::Fault first = Named("a", "unavailable");
  first.times = 1;
  ASSERT_TRUE(plan.Put(Named("b", "overloaded")));
  ASSERT_TRUE(plan.Put(first));
  EXPECT_EQ(plan.Meet(at.request)->name, "a");
  EXPECT_EQ(plan.Meet(at.request)->name, "b");
  plan.Reset();
  EXPECT_FALSE(plan.Meet(at.request).has_value());
}

TEST(FaultPlan, OnlyWhatIsPreparedCanBecomeUnprepared) {
  instruments::FaultPlan plan;
  Request at;
  ASSERT_TRUE(plan.Put(Named("f", "unprepared")));
  at.request.is_prepared = false;
  EXPECT_FALSE(plan.Meet(at.request).has_value());
  at.request.is_prepared = true;
  EXPECT_TRUE(plan.Meet(at.request).has_value());
}

TEST(FaultPlan, KeysAreAskedForOnlyWhereAFaultGoesByThem) {
  instruments::FaultPlan plan;
  Request at;
  at.request.keys.clear();
  ASSERT_TRUE(plan.Put(Named("any", "delay 1ms")));
  EXPECT_FALSE(plan.AsksForKeys(at.request));
  instruments::Fault of_key = Named("f", "overloaded");
  of_key.times = 1;
  of_key.condition.key = "u1";
  of_key.condition.table = "feat.views";
  ASSERT_TRUE(plan.Put(of_key));
  EXPECT_FALSE(plan.AsksForKeys(at.request)) << "of another table";
  of_key.name = "a";
  of_key.condition.table = "feat.clicks";
  ASSERT_TRUE(plan.Put(of_key));
  EXPECT_TRUE(plan.AsksForKeys(at.request));
  at.request.keys = {"u0", "u1"};
  EXPECT_EQ(plan.Meet(at.request)->name, "a");
  EXPECT_FALSE(plan.AsksForKeys(at.request)) << "it is used up";
}

TEST(FaultPlan, TheSeedDecides) {
  const Request at;
  const auto run = [&](uint64_t seed) {
    instruments::FaultPlan plan;
    instruments::Fault fault = Named("f", "delay 1ms..9ms");
    fault.probability = 0.3;
    fault.seed = seed;
    EXPECT_TRUE(plan.Put(fault));
    std::vector<int64_t> delays;
    for (int i = 0; i < 1000; ++i) {
      const auto hit = plan.Meet(at.request);
      delays.push_back(hit ? hit->delay.count() : -1);
    }
    return delays;
  };
  const std::vector<int64_t> first = run(7);
  EXPECT_EQ(first, run(7));
  EXPECT_NE(first, run(8));
  const auto misses = std::ranges::count(first, -1);
  EXPECT_GT(misses, 600);
  EXPECT_LT(misses, 800);
}

TEST(FaultPlan, ThereIsABoundToThem) {
  instruments::FaultPlan plan;
  for (size_t i = 0; i < instruments::FaultPlan::kFaultsMax; ++i) {
    ASSERT_TRUE(plan.Put(Named(std::to_string(i), "no_answer")));
  }
  EXPECT_FALSE(plan.Put(Named("one more", "no_answer")));
  EXPECT_TRUE(plan.Put(Named("7", "overloaded"))) << "in place of one";
  EXPECT_EQ(plan.List().size(), instruments::FaultPlan::kFaultsMax);
}

}  // namespace fault_test
}  // namespace liststore

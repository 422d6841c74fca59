#include "engine/storage/ttl_wheel.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "engine/base/random.h"
#include "tests/storage/test_arena.h"
#include "tests/support/seed.h"

namespace liststore {
namespace ttl_wheel_test {

using Entry = storage::TtlWheel::Entry;

constexpr int64_t kDay = 86'400;
constexpr int64_t kYear = 365 * kDay;
constexpr int64_t kNow = 1'724'949'845;  // 2024-08-29

// Advances in slices until nothing is left, and returns what was handed out.
std::vector<uint32_t> DrainAt(storage::TtlWheel& wheel, int64_t now, size_t budget = 64) {
  std::vector<uint32_t> due;
  do {
    const size_t used =
        wheel.Advance(now, budget, [&](const Entry& entry) { due.push_back(entry.when_seconds); });
    EXPECT_LE(used, budget);
  } while (wheel.HasDue(now));
  wheel.Verify();
  return due;
}

TEST(TtlWheel, HandsOutAnEntryAtItsSecondAndNotBefore) {
  for (const int64_t ttl : {int64_t{1}, int64_t{63}, int64_t{64}, int64_t{65}, int64_t{4095},
                            int64_t{4096}, kDay, 30 * kDay, kYear, 20 * kYear}) {
    SCOPED_TRACE(ttl);
    TestArena arena;
    storage::TtlWheel wheel(arena.arena());
    EXPECT_TRUE(DrainAt(wheel, kNow).empty());
    wheel.Schedule(
        {.address = 7, .when_seconds = static_cast<uint32_t>(kNow + ttl), .partition_tag = 9});
    EXPECT_EQ(wheel.NextWhen(), kNow + ttl);
    EXPECT_TRUE(DrainAt(wheel, kNow + ttl - 1).empty());
    EXPECT_FALSE(wheel.HasDue(kNow + ttl - 1));
    EXPECT_EQ(wheel.NextWhen(), kNow + ttl);
    ASSERT_TRUE(wheel.HasDue(kNow + ttl));
    wheel.Advance(kNow + ttl, 100, [&](const Entry& entry) {
      EXPECT_EQ(entry.address, 7u);
      EXPECT_EQ(entry.when_seconds, kNow + ttl);
      EXPECT_EQ(entry.partition_tag, 9u);
    });
    EXPECT_TRUE(wheel.empty());
    EXPECT_EQ(wheel.bytes(), 0u);
    EXPECT_EQ(wheel.NextWhen(), std::nullopt);
  }
}

TEST(TtlWheel, TheLastSecondsOf32BitsAndTimesBeyond) {
  TestArena arena;
  storage::TtlWheel wheel(arena.arena());
  wheel.Schedule({1, UINT32_MAX - 1, 0});
  wheel.Schedule({2, 0, 0});
  EXPECT_EQ(DrainAt(wheel, kNow), std::vector<uint32_t>{0});
  EXPECT_TRUE(DrainAt(wheel, int64_t{UINT32_MAX} - 2).empty());
  EXPECT_EQ(DrainAt(wheel, int64_t{1} << 40), std::vector<uint32_t>{UINT32_MAX - 1});
  wheel.Schedule({3, 5, 0});
  EXPECT_EQ(DrainAt(wheel, int64_t{1} << 41), std::vector<uint32_t>{5});
}

TEST(TtlWheel, SaysSinceWhenItIsBehind) {
  TestArena arena;
  storage::TtlWheel wheel(arena.arena());
  EXPECT_EQ(wheel.BehindSeconds(kNow), 0u) << "nothing is there";
  DrainAt(wheel, kNow);
  wheel.Schedule({1, static_cast<uint32_t>(kNow + 5), 0});
  wheel.Schedule({2, static_cast<uint32_t>(kNow + 10), 0});
  EXPECT_EQ(wheel.BehindSeconds(kNow + 4), 0u);
  EXPECT_EQ(wheel.BehindSeconds(kNow + 5), 0u) << "since now";
  EXPECT_EQ(wheel.BehindSeconds(kNow + 9), 4u);
  // One of two that are due.
  EXPECT_EQ(wheel.Advance(kNow + 12, 1, [](const Entry&) {}), 1u);
  EXPECT_EQ(wheel.BehindSeconds(kNow + 12), 2u);
  DrainAt(wheel, kNow + 12);
  EXPECT_EQ(wheel.BehindSeconds(kNow + 100), 0u);
  // Far ahead it lies in a wide slot, which has to be looked at long before.
  wheel.Schedule({3, static_cast<uint32_t>(kNow + kYear), 0});
  EXPECT_TRUE(wheel.HasDue(kNow + kYear - 1));
  EXPECT_EQ(wheel.BehindSeconds(kNow + kYear - 1), 0u);
  EXPECT_GE(wheel.BehindSeconds(kNow + 30 * kYear), uint32_t{kYear});
}

TEST(TtlWheel, WorkOfACallStaysWithinItsBudget) {
  TestArena arena;
  storage::TtlWheel wheel(arena.arena());
  DrainAt(wheel, kNow);
  constexpr size_t kEntries = 1'000'000;
  for (size_t i = 0; i < kEntries; ++i) {
    wheel.Schedule({i, static_cast<uint32_t>(kNow + 30 * kDay), 0});
  }
  EXPECT_LT(static_cast<double>(wheel.bytes()) / kEntries, 16.6);
  wheel.Verify();
  size_t handed_out = 0;
  size_t calls = 0;
  for (const int64_t now : {kNow + 29 * kDay, kNow + 30 * kDay - 1, kNow + 30 * kDay}) {
    while (wheel.HasDue(now)) {
      ++calls;
      ASSERT_LE(wheel.Advance(now, 1000,
                              [&](const Entry& entry) {
                                ASSERT_LE(entry.when_seconds, now);
                                ++handed_out;
                              }),
                1000u);
    }
  }
  EXPECT_EQ(handed_out, kEntries);
  EXPECT_LE(calls, 5u * 1000 + 10);  // each entry moves at most five times
  EXPECT_EQ(arena.arena().live_bytes(), 0u);
}

TEST(TtlWheel, AJumpOfYearsCostsTheEntriesNotTheTicks) {
  TestArena arena;
  storage::TtlWheel wheel(arena.arena());
  DrainAt(wheel, kNow);
  for (int64_t i = 0; i < 100; ++i) {
    wheel.Schedule({0, static_cast<uint32_t>(kNow + 1 + i * 60 * kDay), 0});
  }
  size_t handed_out = 0;
  const size_t used =
      wheel.Advance(kNow + 10 * kYear, SIZE_MAX, [&](const Entry&) { ++handed_out; });
  EXPECT_EQ(handed_out, 61u);  // the first, and one each 60 days of 3650
  EXPECT_LE(used, 100u);
  wheel.Verify();
}

TEST(TtlWheel, AClockThatStepsBackFindsItsEntriesAgain) {
  TestArena arena;
  storage::TtlWheel wheel(arena.arena());
  DrainAt(wheel, kNow);
  wheel.Schedule({1, static_cast<uint32_t>(kNow + 100), 0});
  wheel.Schedule({2, static_cast<uint32_t>(kNow + kYear), 0});

  // By a little: waits.
  wheel.Schedule({3, static_cast<uint32_t>(kNow - 5), 0});
  EXPECT_FALSE(wheel.HasDue(kNow - 10));
  EXPECT_TRUE(DrainAt(wheel, kNow - 10).empty());
  EXPECT_EQ(DrainAt(wheel, kNow).size(), 1u);

  // By a month: what is scheduled then is due in time.
  wheel.Schedule({4, static_cast<uint32_t>(kNow - 29 * kDay), 0});
  EXPECT_TRUE(DrainAt(wheel, kNow - 30 * kDay, 1).empty());
  EXPECT_EQ(DrainAt(wheel, kNow - 29 * kDay).size(), 1u);
  EXPECT_EQ(DrainAt(wheel, kNow + 99).size(), 0u);
  EXPECT_EQ(DrainAt(wheel, kNow + 100).size(), 1u);
  EXPECT_EQ(DrainAt(wheel, kNow + kYear).size(), 1u);
}

// A step back of less than kStepBackSecondsMax would else hold up what is scheduled behind it.
TEST(TtlWheel, AnEmptyWheelBeginsAgainAtAnyTime) {
  TestArena arena;
  storage::TtlWheel wheel(arena.arena());
  wheel.Schedule({.address = 1, .when_seconds = kNow, .partition_tag = 0});
  EXPECT_EQ(DrainAt(wheel, kNow).size(), 1u);
  wheel.Restart();
  wheel.Schedule({.address = 2, .when_seconds = kNow - 30, .partition_tag = 0});
  EXPECT_TRUE(DrainAt(wheel, kNow - 31).empty());
  EXPECT_EQ(DrainAt(wheel, kNow - 30), (std::vector<uint32_t>{kNow - 30}));
}

TEST(TtlWheel, GoesOnWithoutMemory) {
  TestArena arena;
  storage::TtlWheel wheel(arena.arena());
  DrainAt(wheel, kNow);
  Random rng(testing::TestSeed());
  std::multiset<int64_t> expected;
  for (int i = 0; i < 3000; ++i) {
    const int64_t when = kNow + rng.Between(1, 3 * kDay);
    expected.insert(when);
    wheel.Schedule({0, static_cast<uint32_t>(when), 0});
  }
  // What the arena holds by now is all there will ever be.
  arena.arena().ReleaseCredit();
  arena.budget().set_limit(0);
  ASSERT_FALSE(arena.arena().Reserve(64));
  const size_t bytes = wheel.bytes();
  for (int64_t now = kNow; !expected.empty(); now += rng.Between(1, rng.OneIn(4) ? 4000 : 30)) {
    if (!expected.empty()) {
      ASSERT_LE(wheel.NextWhen(), *expected.begin());
    }
    for (const uint32_t when : DrainAt(wheel, now, 1 + rng.Below(100))) {
      ASSERT_LE(when, now);
      const auto known = expected.find(when);
      ASSERT_NE(known, expected.end());
      expected.erase(known);
    }
    ASSERT_TRUE(expected.empty() || *expected.begin() > now);
    ASSERT_LE(wheel.bytes(), bytes);
    if (!rng.OneIn(3)) continue;
    wheel.Sweep(300, [&](const Entry& entry) {
      const bool keep = !rng.OneIn(16);
      if (!keep) expected.erase(expected.find(entry.when_seconds));
      return keep;
    });
    wheel.Verify();
  }
  EXPECT_EQ(arena.arena().live_bytes(), 0u);
}

// Entries are told apart by address, and each is known to be stale or not.
class WheelModel {
 public:
  // A wheel that was never advanced stands at time 0.
  explicit WheelModel(uint64_t seed) : rng_(seed), seconds_max_(SpanOfRun()) {
    if (rng_.OneIn(2)) wheel_.Advance(now_, 1, [](const Entry&) {});
  }

  void Step() {
    const uint64_t choice = rng_.Below(100);
    if (choice < 50) {
      Schedule(now_ + (rng_.OneIn(20) ? -rng_.Between(0, 1000) : rng_.Between(0, seconds_max_)));
    } else if (choice < 60) {
      MakeStale();
    } else if (choice < 70) {
      now_ += rng_.OneIn(10) ? rng_.Between(0, seconds_max_) : rng_.Between(0, seconds_max_ / 100);
    } else if (choice < 97) {
      Advance(1 + rng_.Below(rng_.OneIn(3) ? 1000 : 8));
    } else {
      Sweep(1 + rng_.Below(200));
    }
  }
  void Verify() {
    wheel_.Verify();
    ASSERT_EQ(wheel_.size(), entries_.size());
    const auto next = wheel_.NextWhen();
    ASSERT_EQ(next.has_value(), !entries_.empty());
    if (next.has_value()) {
      ASSERT_EQ(*next, by_when_.begin()->first);
    }
    // What is due is known to be due.
    if (next.has_value() && *next <= now_) {
      ASSERT_TRUE(wheel_.HasDue(now_));
    }
  }
  void AdvanceToTheEnd() {
    while (!entries_.empty()) {
      now_ = std::max(now_, *wheel_.NextWhen());
      Advance(1000);
    }
    EXPECT_EQ(wheel_.bytes(), 0u);
    EXPECT_EQ(arena_.arena().live_bytes(), 0u);
    EXPECT_EQ(wheel_.NextWhen(), std::nullopt);
  }
  size_t sweeps() const { return sweeps_; }

 private:
  struct Known {
    uint32_t when;
    uint32_t tag;
    bool stale;
    bool stale_in_pass;  // became so, or was scheduled, after the pass began
  };

  int64_t SpanOfRun() {
    const int64_t spans[] = {10, 100, 5000, kDay, 30 * kDay, 2 * kYear, 20 * kYear};
    return spans[rng_.Below(std::size(spans))];
  }
  void Schedule(int64_t when) {
    const Entry entry{next_address_++,
                      static_cast<uint32_t>(std::clamp<int64_t>(when, 0, UINT32_MAX - 1)),
                      static_cast<uint32_t>(rng_.Next())};
    wheel_.Schedule(entry);
    entries_[entry.address] = {entry.when_seconds, entry.partition_tag, false, in_pass_};
    by_when_.emplace(entry.when_seconds, entry.address);
  }
  void MakeStale() {
    if (entries_.empty()) return;
    auto it = entries_.lower_bound(rng_.Below(next_address_));
    if (it == entries_.end() || it->second.stale) return;
    it->second.stale = true;
    it->second.stale_in_pass = in_pass_;
    wheel_.NoteStale();
  }
  void Forget(uint64_t address) {
    const auto it = entries_.find(address);
    auto when = by_when_.lower_bound(it->second.when);
    while (when->second != address) ++when;
    by_when_.erase(when);
    entries_.erase(it);
  }
  void Advance(size_t budget) {
    const size_t before = entries_.size();
    size_t handed_out = 0;
    size_t scheduled = 0;
    const size_t used = wheel_.Advance(now_, budget, [&](const Entry& entry) {
      ++handed_out;
      ASSERT_TRUE(entries_.contains(entry.address));
      const Known known = entries_[entry.address];
      EXPECT_EQ(known.when, entry.when_seconds);
      EXPECT_EQ(known.tag, entry.partition_tag);
      EXPECT_LE(entry.when_seconds, now_);
      if (known.stale) wheel_.NoteStaleHandedOut();
      Forget(entry.address);
      if (rng_.OneIn(4)) {
        ++scheduled;
        Schedule(now_ + 1 + rng_.Between(0, seconds_max_));
      }
    });
    ASSERT_LE(used, budget);
    ASSERT_EQ(entries_.size(), before - handed_out + scheduled);
    if (used < budget) {
      ASSERT_FALSE(wheel_.HasDue(now_));
      ASSERT_TRUE(by_when_.empty() || by_when_.begin()->first > now_);
    }
  }
  void Sweep(size_t budget) {
    in_pass_ = true;
    const size_t used = wheel_.Sweep(budget, [&](const Entry& entry) {
      const bool keep = !entries_[entry.address].stale;
      if (!keep) Forget(entry.address);
      return keep;
    });
    ASSERT_LE(used, budget);
    if (used == budget) return;
    ++sweeps_;
    in_pass_ = false;
    for (auto& [address, known] : entries_) {
      ASSERT_TRUE(!known.stale || known.stale_in_pass) << "a pass missed " << address;
      known.stale_in_pass = false;
    }
  }

  Random rng_;
  TestArena arena_;
  storage::TtlWheel wheel_{arena_.arena()};
  std::map<uint64_t, Known> entries_;
  std::multimap<int64_t, uint64_t> by_when_;
  int64_t seconds_max_;
  int64_t now_ = kNow;
  uint64_t next_address_ = 1;
  bool in_pass_ = false;
  size_t sweeps_ = 0;
};

TEST(TtlWheel, AgreesWithAMultimap) {
  const uint64_t seed = testing::TestSeed();
  const uint64_t steps = testing::TestSteps(4000);
  size_t sweeps = 0;
  for (uint64_t round = 0; round < 30; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    WheelModel model(seed + round);
    for (uint64_t step = 0; step < steps; ++step) {
      model.Step();
      if (step % 16 == 0) model.Verify();
      if (::testing::Test::HasFailure()) return;
    }
    model.Verify();
    model.AdvanceToTheEnd();
    sweeps += model.sweeps();
  }
  EXPECT_GT(sweeps, 30u);
}

TEST(TtlWheel, SweepsKeepMemoryNearWhatIsLive) {
  TestArena arena;
  storage::TtlWheel wheel(arena.arena());
  DrainAt(wheel, kNow);
  Random rng(testing::TestSeed());
  // 1000 partitions, each scheduled again over and over: only its last entry is live.
  std::vector<uint32_t> live(1000, 0);
  for (int step = 0; step < 200'000; ++step) {
    const uint64_t partition = rng.Below(live.size());
    if (live[partition] != 0) wheel.NoteStale();
    // Every expiry of a run is another second, or an entry could not be told from its forerunner.
    live[partition] = static_cast<uint32_t>(kNow + 100 + step);
    wheel.Schedule({partition, live[partition], 0});
    if (wheel.WantsSweep()) {
      wheel.Sweep(16,
                  [&](const Entry& entry) { return live[entry.address] == entry.when_seconds; });
    }
    ASSERT_LE(wheel.size(), 2 * live.size() + 3000);
  }
  wheel.Verify();
  EXPECT_LT(wheel.bytes(), 40 * wheel.size() + 8192);
}

TEST(TtlWheel, ClearGivesEverythingBack) {
  TestArena arena;
  storage::TtlWheel wheel(arena.arena());
  for (uint32_t i = 0; i < 5000; ++i) wheel.Schedule({i, i * i * 100, 0});
  wheel.Clear();
  EXPECT_EQ(arena.arena().live_bytes(), 0u);
  EXPECT_FALSE(wheel.HasDue(INT64_MAX));
  wheel.Verify();
}

}  // namespace ttl_wheel_test
}  // namespace liststore

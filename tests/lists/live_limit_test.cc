// The memory limit of a store that is changed while it is used, up and down, under both policies.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/lists/store_fixture.h"

namespace liststore::testing {
namespace live_limit_test {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kLimitBytes = 32 * kMiB;
// What a write leaves free below a limit (memory/memory_budget.h): a 32nd of these.
constexpr uint64_t RoomFor(uint64_t limit) { return limit - limit / 32; }
// Every lane evicts up to 64 KiB at a step, and gives back what lies beside it.
constexpr uint64_t kStepBytes = kMiB;

class LiveLimitTest : public StoreTest {
 protected:
  void Open(MemoryPolicy policy) {
    Options options;
    options.clock = &clock;
    options.shards = 2;
    options.memory_limit_bytes = kLimitBytes;
    options.memory_policy = policy;
    if (policy == MemoryPolicy::kEvict) {
      options.eviction_listener = [this](const EvictedList& list) {
        evicted.emplace(list.entity_id);
      };
    }
    Reopen(options);
    CreateHistory();
  }
  // Lists of one item, until one is refused or there are `lists` of them; how many went in.
  uint64_t Fill(uint64_t first, uint64_t lists) {
    const std::string value(500, 'v');
    for (uint64_t i = 0; i < lists; ++i) {
      if (!Add(History(std::to_string(first + i)), kNow, value).ok()) return i;
    }
    return lists;
  }
  uint64_t Held() const { return store->GetStats().held_bytes; }
  uint64_t Lists() const { return store->GetStats().tables[0].partitions; }

  std::set<std::string> evicted;
};

TEST_F(LiveLimitTest, ABoundIsNamedAndNothingChanges) {
  Open(MemoryPolicy::kReject);
  EXPECT_EQ(Say(store->SetMemoryLimit(kMiB - 1)),
            "INVALID_ARGUMENT: memory limit 1048575 is less than 1048576");
  EXPECT_EQ(store->GetStats().memory_limit_bytes, kLimitBytes);
}

TEST_F(LiveLimitTest, RaisedItGivesRoomToWritesThatWereRefused) {
  Open(MemoryPolicy::kReject);
  const uint64_t lists = Fill(0, UINT64_MAX);
  ASSERT_EQ(Fill(lists, 1), 0u) << "it is full";
  EXPECT_EQ(Say(store->SetMemoryLimit(2 * kLimitBytes)), "OK");
  EXPECT_EQ(store->GetStats().memory_limit_bytes, 2 * kLimitBytes);
  const uint64_t more = Fill(lists, UINT64_MAX);
  EXPECT_GT(more, lists / 10 * 9) << "as much again";
  EXPECT_LE(Held(), 2 * kLimitBytes);
}

// It is taken; nothing that is stored goes for it.
TEST_F(LiveLimitTest, LoweredBelowWhatIsHeldItRefusesUntilRemovalsHaveMadeRoom) {
  Open(MemoryPolicy::kReject);
  constexpr uint64_t kLower = 16 * kMiB;
  const uint64_t lists = Fill(0, UINT64_MAX);
  const absl::Status lowered = store->SetMemoryLimit(kLower);
  EXPECT_EQ(lowered.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(std::string(lowered.message()),
            "the memory limit is 16777216 now, and " + std::to_string(Held()) +
                " bytes are held: writes are refused until removals and expiries have made room");
  EXPECT_EQ(Lists(), lists);
  EXPECT_EQ(Fill(lists, 1), 0u);
  uint64_t removed = 0;
  while (Fill(lists, 1) == 0) {
    ASSERT_LT(removed, lists);
    for (int i = 0; i < 100; ++i, ++removed) {
      ASSERT_TRUE(store->RemoveAllListItems(History(std::to_string(removed))).ok());
    }
    while (store->Reclaim() != 0) {
    }
  }
  EXPECT_LE(Held(), kLower);
  EXPECT_GT(removed, lists / 3);
  EXPECT_LT(removed, lists / 3 * 2) << "half of it has room";
  // In its bounds it is no matter.
  EXPECT_EQ(Say(store->SetMemoryLimit(kLower)), "OK");
}

TEST_F(LiveLimitTest, LoweredItReclaimsWhatIsOverFirst) {
  Open(MemoryPolicy::kReject);
  ASSERT_EQ(Say(store->SetListFeatureTtl("user", "history", 50)), "OK");
  ASSERT_EQ(Fill(0, 20'000), 20'000u);
  clock.AdvanceSeconds(51);
  EXPECT_EQ(Say(store->SetMemoryLimit(2 * kMiB)), "OK");
}

TEST_F(LiveLimitTest, LoweredItEvictsWhatIsNeededAndNotMore) {
  Open(MemoryPolicy::kEvict);
  Fill(0, 200'000);
  const uint64_t before = Lists();
  evicted.clear();
  for (const uint64_t limit : {24 * kMiB, 20 * kMiB, 8 * kMiB}) {
    EXPECT_EQ(Say(store->SetMemoryLimit(limit)), "OK");
    EXPECT_LE(Held(), RoomFor(limit));
    EXPECT_GE(Held() + kStepBytes, RoomFor(limit)) << "of " << limit;
  }
  EXPECT_EQ(evicted.size(), before - Lists()) << "the listener was told of each";
  EXPECT_EQ(store->GetStats().refused_writes, 0u);
  // Where it fits, nothing goes.
  evicted.clear();
  EXPECT_EQ(Say(store->SetMemoryLimit(kLimitBytes)), "OK");
  EXPECT_EQ(Say(store->SetMemoryLimit(10 * kMiB)), "OK");
  EXPECT_TRUE(evicted.empty());
  // And there is room again above.
  EXPECT_EQ(Say(store->SetMemoryLimit(kLimitBytes)), "OK");
  Fill(1'000'000, 8'000);
  EXPECT_TRUE(evicted.empty());
}

TEST_F(LiveLimitTest, ListsThatAreReadSurviveALowerLimit) {
  Open(MemoryPolicy::kEvict);
  Fill(0, 20'000);
  for (int pass = 0; pass < 2; ++pass) {
    for (uint64_t i = 0; i < 1'000; ++i) Get(History(std::to_string(i)));
  }
  EXPECT_EQ(Say(store->SetMemoryLimit(8 * kMiB)), "OK");
  size_t kept = 0;
  for (uint64_t i = 0; i < 1'000; ++i) kept += Count(History(std::to_string(i)));
  EXPECT_GE(kept, 990u);
}

TEST_F(LiveLimitTest, ItMovesWhileOthersWriteAndRead) {
  Open(MemoryPolicy::kEvict);
  std::atomic<bool> stops{false};
  std::atomic<uint64_t> refused{0};
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 2; ++thread) {
    threads.emplace_back([&, thread] {
      const std::string value(300, 'v');
      ListItems items;
      for (uint64_t i = thread; !stops; i += 2) {
        const std::string id = std::to_string(i);
        const NewItem item{kNow, value};
        if (!store->AddListItems(History(id), {&item, 1}).ok()) ++refused;
        EXPECT_TRUE(store->GetListItems(History(std::to_string(i / 2)), {}, &items).ok());
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Say(store->SetMemoryLimit((i % 2 == 0 ? 8 : 24) * kMiB)), "OK");
    EXPECT_LE(Held(), 24 * kMiB);
  }
  stops = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, 0u);
}

}  // namespace live_limit_test
}  // namespace liststore::testing

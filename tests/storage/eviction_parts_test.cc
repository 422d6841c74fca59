// The parts of an evicting table, each by itself: queue, ghosts, filter, marks, counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/model/partition_key.h"
#include "engine/storage/change_marks.h"
#include "engine/storage/evicted_filter.h"
#include "engine/storage/ghost_set.h"
#include "engine/storage/probation_queue.h"
#include "engine/storage/usage_by_component.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace eviction_parts_test {

class EvictionPartsTest : public ::testing::Test {
 protected:
  void Reserve(size_t bytes) { ASSERT_TRUE(arena.Reserve(bytes)); }

  // As random as a token's.
  static uint64_t AddressOf(uint64_t number) { return Random(number).Next(); }

  memory::MemoryBudget budget{uint64_t{64} << 20};
  memory::PagePool pool{budget};
  memory::Arena arena{pool, budget};
  Random random{TestSeed()};
  size_t exact_ = 0;
};

TEST_F(EvictionPartsTest, TheQueueIsAFifo) {
  storage::ProbationQueue queue(arena);
  std::deque<uint64_t> model;
  for (uint64_t step = 0; step < TestSteps(20'000); ++step) {
    if (random.Below(100) < (step / 1000 % 2 == 0 ? 60u : 40u)) {
      Reserve(queue.ReserveBytes());
      const uint64_t address = random.Next();
      queue.Push(address, static_cast<uint32_t>(step));
      model.push_back(address);
    } else if (!model.empty()) {
      ASSERT_EQ(queue.Pop(), model.front()) << "step " << step;
      model.pop_front();
    }
    ASSERT_EQ(queue.size(), model.size());
    if (step % 100 == 0) queue.Verify();
  }
  std::vector<uint64_t> entries;
  queue.ForEach([&](uint64_t address) { entries.push_back(address); });
  EXPECT_EQ(entries, std::vector<uint64_t>(model.begin(), model.end()));
  EXPECT_EQ(arena.slabs_beyond_limit(), 0u);
  queue.Clear();
  queue.Verify();
  EXPECT_EQ(arena.live_bytes(), 0u);
}

// Other tables of the lane push in between, in bursts, and the count wraps around.
TEST_F(EvictionPartsTest, TheQueueKnowsHowOldItsOldestEntryIs) {
  constexpr size_t kInAChunk = 125;
  storage::ProbationQueue queue(arena);
  std::deque<uint32_t> model;
  auto push = static_cast<uint32_t>(-5'000);
  for (uint64_t step = 0; step < TestSteps(20'000); ++step) {
    push += random.OneIn(200) ? static_cast<uint32_t>(random.Below(1'000)) : 1;
    if (random.Below(100) < (step / 1000 % 2 == 0 ? 60u : 40u)) {
      Reserve(queue.ReserveBytes());
      queue.Push(step, push);
      model.push_back(push);
    } else if (!model.empty()) {
      queue.Pop();
      model.pop_front();
    }
    if (model.empty()) continue;
    // What lies in one chunk is between its ends.
    const size_t last = std::min(model.size(), kInAChunk) - 1;
    const auto off = static_cast<int32_t>(queue.OldestPush() - model.front());
    const auto spread = static_cast<int32_t>(model[last] - model.front());
    ASSERT_LE(off, spread) << "step " << step;
    ASSERT_GE(off, -int32_t{kInAChunk} * 1'000) << "step " << step;
    if (off == 0) ++exact_;
  }
  EXPECT_GT(exact_, 0u);
  queue.Clear();
}

// Partitions come, go and come back without ever being popped: the queue stays small, and each that
// is there has an entry.
TEST_F(EvictionPartsTest, TheSweepKeepsTheQueueSmall) {
  storage::ProbationQueue queue(arena);
  std::map<uint64_t, uint8_t> live;  // and their sweep bits
  for (uint64_t step = 0; step < TestSteps(50'000); ++step) {
    const uint64_t address = random.Below(200);
    if (live.erase(address) != 0) continue;
    Reserve(queue.ReserveBytes());
    live[address] = queue.sweep_bit();
    queue.Push(address, static_cast<uint32_t>(step));
    if (queue.WantsSweep(live.size())) {
      queue.Sweep([&](uint64_t entry) {
        const auto at = live.find(entry);
        if (at == live.end() || at->second == queue.sweep_bit()) return false;
        at->second = queue.sweep_bit();
        return true;
      });
    }
    ASSERT_LE(queue.size(), 4 * live.size() + 300) << "step " << step;
    if (step % 500 != 0) continue;
    queue.Verify();
    std::set<uint64_t> entries;
    queue.ForEach([&](uint64_t entry) { entries.insert(entry); });
    for (const auto& [there, bit] : live) ASSERT_TRUE(entries.contains(there)) << "step " << step;
  }
  EXPECT_EQ(arena.slabs_beyond_limit(), 0u);
}

TEST_F(EvictionPartsTest, GhostsAreRememberedForAsLongAsTheyAreMany) {
  constexpr size_t kGhosts = 4096;
  storage::GhostSet ghosts(arena);
  Reserve(memory::Arena::BlockBytes(storage::GhostSet::BytesFor(kGhosts)));
  ghosts.Grow(kGhosts);
  ASSERT_EQ(ghosts.capacity(), kGhosts);
  size_t recent = 0;
  size_t old = 0;
  size_t strangers = 0;
  for (uint64_t i = 1; i <= 100'000; ++i) {
    ghosts.Add(AddressOf(i));
    if (i <= 20'000) continue;
    recent += ghosts.Take(AddressOf(i - kGhosts / 4)) ? 1 : 0;
    old += ghosts.Take(AddressOf(i - 4 * kGhosts)) ? 1 : 0;
    strangers += ghosts.Take(random.Next()) ? 1 : 0;
  }
  EXPECT_GT(recent, 80'000 * 8 / 10);
  EXPECT_LT(old, 80u);
  EXPECT_LT(strangers, 80u);
  const uint64_t address = random.Next();
  ghosts.Add(address);
  EXPECT_TRUE(ghosts.Take(address));
  EXPECT_FALSE(ghosts.Take(address)) << "it is taken out";
}

TEST_F(EvictionPartsTest, TheFilterForgetsNothingThatIsNotOver) {
  storage::EvictedFilter filter(arena);
  EXPECT_FALSE(filter.MayContain(17));
  Reserve(memory::Arena::BlockBytes(4096));
  filter.Allocate(4096);
  // All of it lives for 1,000 s, and some of it comes each second.
  std::deque<std::pair<uint64_t, int64_t>> added;
  size_t false_answers = 0;
  constexpr int64_t kSeconds = 20'000;
  for (int64_t now = 1; now <= kSeconds; ++now) {
    const uint64_t address = random.Next();
    filter.Add(address, static_cast<uint32_t>(now + 1000), now);
    added.emplace_back(address, now + 1000);
    while (added.front().second <= now) added.pop_front();
    if (now % 10 == 0) {
      for (const auto& [known, expiry] : added) ASSERT_TRUE(filter.MayContain(known)) << now;
    }
    false_answers += filter.MayContain(random.Next()) ? 1 : 0;
  }
  // 32,768 bits for some thousand addresses at a time; never swamped by the 20,000 in all.
  EXPECT_LT(false_answers, static_cast<size_t>(kSeconds / 2));
}

TEST_F(EvictionPartsTest, AFullFilterTakesEverythingForEvicted) {
  storage::EvictedFilter filter(arena);
  Reserve(memory::Arena::BlockBytes(storage::EvictedFilter::kBytesMin));
  filter.Allocate(storage::EvictedFilter::kBytesMin);
  std::vector<uint64_t> added;
  for (int i = 0; i < 20'000; ++i) {
    added.push_back(random.Next());
    filter.Add(added.back(), storage::kNeverExpires, 1);
  }
  for (const uint64_t address : added) ASSERT_TRUE(filter.MayContain(address));
  size_t unknown = 0;
  for (int i = 0; i < 1000; ++i) unknown += filter.MayContain(random.Next()) ? 1 : 0;
  EXPECT_GT(unknown, 900u);
}

TEST_F(EvictionPartsTest, MarksSeeEveryChange) {
  storage::ChangeMarks marks;
  marks.Note(5);
  EXPECT_TRUE(marks.ChangedSince(5, 1)) << "nobody has taken a mark";
  const uint64_t mark = marks.Mark();
  EXPECT_FALSE(marks.ChangedSince(5, mark));
  marks.Note(5);
  EXPECT_TRUE(marks.ChangedSince(5, mark));
  EXPECT_FALSE(marks.ChangedSince(uint64_t{1} << 63, mark)) << "another stretch";
  EXPECT_FALSE(marks.ChangedSince(5, marks.Mark()));
  const uint64_t before = marks.Mark();
  marks.NoteAll();
  EXPECT_TRUE(marks.ChangedSince(uint64_t{1} << 63, before));
  EXPECT_FALSE(marks.ChangedSince(uint64_t{1} << 63, marks.Mark()));
  EXPECT_TRUE(marks.ChangedSince(5, UINT64_MAX)) << "nobody gave it out";
}

class CountingOwner final : public UsageOwner {
 public:
  std::string_view FindComponent(std::string_view framed) override {
    if (framed.find("unknown") != std::string_view::npos) return {};
    return *names.emplace(framed).first;
  }
  void AddUsage(std::string_view framed, const Usage& usage) override {
    counts[std::string(framed)].Add(usage);
  }
  std::set<std::string, std::less<>> names;
  std::map<std::string, Usage> counts;
};

TEST_F(EvictionPartsTest, UsesAreCountedWhateverTheComponents) {
  CountingOwner owner;
  storage::UsageByComponent usage(owner);
  std::map<std::string, uint64_t> model;
  for (uint64_t step = 0; step < TestSteps(20'000); ++step) {
    // More than there are places; with names of every length, and such as differ in one byte.
    std::string name(random.Below(40), 'a' + static_cast<char>(random.Below(2)));
    if (!name.empty()) name[random.Below(name.size())] = 'c';
    const std::string component = random.OneIn(10) ? "unknown" + name : name;
    std::string key;
    const std::string_view components[] = {component, "id"};
    AppendPartitionKey(components, key);
    ++usage.Of(key).hits;
    if (random.OneIn(5'000)) usage.Flush();
    if (component.size() == name.size()) ++model[key.substr(0, component.size() + 3)];
  }
  EXPECT_EQ(usage.total().hits, TestSteps(20'000)) << "sent or not, and nobody's";
  usage.Flush();
  EXPECT_EQ(usage.total().hits, TestSteps(20'000));
  ASSERT_EQ(owner.counts.size(), model.size());
  for (const auto& [component, hits] : model) EXPECT_EQ(owner.counts[component].hits, hits);
}

}  // namespace eviction_parts_test
}  // namespace liststore::testing

// Several threads on one engine. Each knows exactly what some partitions hold, because only it
// writes there, and all share a few hot ones in which each knows its own items. Meanwhile tables
// are scanned, truncated and reclaimed. What is lost, doubled or overlapping shows in what a thread
// reads, in the totals, or to ThreadSanitizer.
//
// LISTSTORE_STEPS is the number of operations over all threads.
#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/random.h"
#include "engine/shard/engine.h"
#include "gtest/gtest.h"
#include "tests/shard/item_commands.h"
#include "tests/storage/table_workload.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace engine_stress_test {

constexpr uint64_t kThreads = 4;
constexpr uint64_t kHotLists = 3;
constexpr uint64_t kAnchors = 200;
// Items of a thread are numbered from here, so that shared lists hold some of each.
constexpr uint64_t kNumbersPerThread = 1'000'000'000;

std::string HotKey(uint64_t i) { return ListKey("hot", std::to_string(i)); }
std::string AnchorKey(uint64_t i) { return ListKey("anchor", std::to_string(i)); }

bool IsOwn(uint64_t thread, uint64_t number) { return number / kNumbersPerThread == thread + 1; }

Items OwnItems(uint64_t thread, const Items& items) {
  Items own;
  for (const auto& item : items) {
    if (IsOwn(thread, item.first)) own.insert(item);
  }
  return own;
}

// What all threads of a run share.
struct Scene {
  explicit Scene(const shard::EngineOptions& options) : engine(options) {
    lists = engine.CreateTable(ListItemsSchema());
    scratch = engine.CreateTable(ListItemsSchema());
  }

  shard::Engine engine;
  TableId lists;
  TableId scratch;  // truncated by anybody at any time
  std::atomic<uint64_t> now_nanos = kNoonNanos;
  std::atomic<uint64_t> commands = 0;
  std::atomic<bool> stop = false;
};

// One thread's part. Own partitions belong to one feature of its own.
class Worker {
 public:
  Worker(Scene& scene, uint64_t thread, uint64_t seed)
      : scene_(scene),
        engine_(scene.engine),
        thread_(thread),
        feature_("thread " + std::to_string(thread)),
        rng_(seed + thread) {}

  void Run(uint64_t steps) {
    for (uint64_t i = 0; i < steps && !::testing::Test::HasFailure(); ++i) Step();
  }

  // At the end, alone.
  void CheckAll();
  const std::map<std::string, Items>& hot() const { return hot_; }
  const std::map<std::string, Items>& own() const { return own_; }

 private:
  uint64_t now() { return scene_.now_nanos.load(std::memory_order_relaxed); }
  std::string RandomOwnKey() { return ListKey(feature_, std::to_string(rng_.Below(300))); }
  uint64_t NewNumber() { return (thread_ + 1) * kNumbersPerThread + ++numbers_; }

  void Step();
  void ChangeHot();
  void ChangeOwn();
  void ReadOwn(const std::string& key);
  void AddExpiring();
  void AddGroup();
  void AddBatch();
  void TouchScratch();
  void TruncateOwnFeature();
  void ScanAnchors();

  Scene& scene_;
  shard::Engine& engine_;
  const uint64_t thread_;
  const std::string feature_;
  Random rng_;
  uint64_t numbers_ = 0;
  std::map<std::string, Items> own_;
  std::map<std::string, Items> hot_;  // this thread's items in shared lists
};

void Worker::Step() {
  scene_.now_nanos.fetch_add(1'000'000, std::memory_order_relaxed);
  scene_.commands.fetch_add(1, std::memory_order_relaxed);
  const uint64_t ticket = rng_.Below(1'000);
  if (ticket < 300) return ChangeHot();
  if (ticket < 600) return ChangeOwn();
  if (ticket < 750) return ReadOwn(RandomOwnKey());
  if (ticket < 830) return AddExpiring();
  if (ticket < 870) return AddGroup();
  if (ticket < 910) return AddBatch();
  if (ticket < 995) return TouchScratch();
  if (ticket < 998) return ScanAnchors();
  if (rng_.OneIn(4)) return TruncateOwnFeature();
}

void Worker::ChangeHot() {
  const std::string key = HotKey(rng_.Below(kHotLists));
  Items& items = hot_[key];
  if (items.size() < 30 && !rng_.OneIn(3)) {
    const uint64_t number = NewNumber();
    items[number] = std::to_string(number);
    AddItem(engine_, scene_.lists, key, number, items[number], now());
  } else if (!items.empty()) {
    const auto victim = std::next(items.begin(), static_cast<int64_t>(rng_.Below(items.size())));
    const Reply reply = RemoveItem(engine_, scene_.lists, key, victim->first, now());
    EXPECT_EQ(reply.rows, 1u) << "nobody else takes this thread's items";
    items.erase(victim);
  }
  if (!rng_.OneIn(8)) return;
  EXPECT_EQ(OwnItems(thread_, ReadItems(engine_, scene_.lists, key, now())), items);
}

void Worker::ChangeOwn() {
  const std::string key = RandomOwnKey();
  Items& items = own_[key];
  if (rng_.OneIn(40)) {
    const Reply reply = RemoveList(engine_, scene_.lists, key, now());
    EXPECT_EQ(reply.rows, items.size());
    items.clear();
  } else if (!items.empty() && rng_.OneIn(3)) {
    const Reply reply = RemoveItem(engine_, scene_.lists, key, items.begin()->first, now());
    EXPECT_EQ(reply.rows, 1u);
    items.erase(items.begin());
  } else {
    const bool again = !items.empty() && rng_.OneIn(3);
    const uint64_t number = again ? items.begin()->first : NewNumber();
    items[number] = std::string(rng_.Below(200), static_cast<char>('a' + rng_.Below(26)));
    AddItem(engine_, scene_.lists, key, number, items[number], now());
  }
}

void Worker::ReadOwn(const std::string& key) {
  EXPECT_EQ(ReadItems(engine_, scene_.lists, key, now()), own_[key]);
}

// A list of items that end: those that must have, or cannot have yet, whoever's clock is looked at.
void Worker::AddExpiring() {
  const std::string key = ListKey("expiring", std::to_string(thread_));
  const uint64_t added_nanos = now();
  const int64_t ttl = rng_.Between(1, 3);
  const uint64_t number = NewNumber();
  AddItem(engine_, scene_.lists, key, number, std::to_string(ttl), added_nanos, ttl);
  const uint64_t read_nanos = now();
  const Items items = ReadItems(engine_, scene_.lists, key, read_nanos);
  const uint64_t latest_nanos = now();
  if (latest_nanos / kNanosPerSecond < added_nanos / kNanosPerSecond + static_cast<uint64_t>(ttl)) {
    EXPECT_TRUE(items.contains(number)) << "it has not expired by anybody's clock";
  }
  if (read_nanos / kNanosPerSecond >= added_nanos / kNanosPerSecond + static_cast<uint64_t>(ttl)) {
    EXPECT_FALSE(items.contains(number));
  }
  // The clock moves 1 ms a step: of three seconds' additions no more than that many are left.
  EXPECT_LE(items.size(), 4'000u);
}

void Worker::AddGroup() {
  ItemUpserts upserts(scene_.lists);
  for (uint64_t i = 1 + rng_.Below(40); i > 0; --i) {
    const std::string key = RandomOwnKey();
    const uint64_t number = NewNumber();
    upserts.Add(key, {{number, "group"}});
    own_[key][number] = "group";
  }
  std::vector<Reply> replies(upserts.commands().size());
  engine_.ExecuteGroup(upserts.commands(), now(), replies);
  for (const Reply& reply : replies) EXPECT_EQ(reply.status, OpStatus::kOk);
}

void Worker::AddBatch() {
  ItemUpserts upserts(scene_.lists);
  for (uint64_t i = 1 + rng_.Below(20); i > 0; --i) {
    const std::string key = RandomOwnKey();
    const uint64_t number = NewNumber();
    upserts.Add(key, {{number, "batch"}});
    own_[key][number] = "batch";
  }
  std::vector<Reply> replies(upserts.commands().size());
  EXPECT_EQ(engine_.ExecuteAllOrNothing(upserts.commands(), now(), replies), OpStatus::kOk);
}

void Worker::TouchScratch() {
  const std::string key = ListKey("scratch", std::to_string(rng_.Below(50)));
  AddItem(engine_, scene_.scratch, key, NewNumber(), "gone soon", now(), rng_.OneIn(2) ? 5 : 0);
  if (rng_.OneIn(4)) ReadItems(engine_, scene_.scratch, key, now());
  if (rng_.OneIn(200)) engine_.TruncateTable(scene_.scratch);
}

void Worker::TruncateOwnFeature() {
  engine_.TruncateFirstComponent(scene_.lists, feature_);
  own_.clear();
  EXPECT_EQ(CountItems(engine_, scene_.lists, RandomOwnKey(), now()), 0u);
}

// Partitions that nobody touches are in every scan, once and in order.
void Worker::ScanAnchors() {
  std::vector<std::string> anchors;
  shard::ScanPosition position;
  while (!position.done) {
    std::vector<std::string> page;
    engine_.ScanPartitions(scene_.lists, "anchor", 64, now(), position, page);
    anchors.insert(anchors.end(), page.begin(), page.end());
  }
  EXPECT_EQ(anchors.size(), kAnchors);
  const bool ordered = std::is_sorted(
      anchors.begin(), anchors.end(),
      [](const auto& a, const auto& b) { return TokenOf(a).value < TokenOf(b).value; });
  EXPECT_TRUE(ordered);
  EXPECT_EQ(std::set<std::string>(anchors.begin(), anchors.end()).size(), anchors.size());
}

void Worker::CheckAll() {
  for (const auto& list : own_) {
    ReadOwn(list.first);
    EXPECT_EQ(CountItems(engine_, scene_.lists, list.first, now()), list.second.size());
  }
}

TEST(EngineStressTest, EverybodyFindsWhatIsTheirs) {
  const uint64_t seed = TestSeed();
  const uint64_t steps = TestSteps(400'000);
  shard::EngineOptions options;
  options.shards = 2;
  options.lanes_per_shard_log2 = 2;  // few, so that threads meet
  Scene scene(options);
  shard::Engine& engine = scene.engine;
  for (uint64_t i = 0; i < kAnchors; ++i) {
    AddItem(engine, scene.lists, AnchorKey(i), i, "stays", kNoonNanos);
  }
  std::vector<std::unique_ptr<Worker>> workers;
  for (uint64_t i = 0; i < kThreads; ++i) {
    workers.push_back(std::make_unique<Worker>(scene, i, seed));
  }
  std::vector<std::thread> threads;
  for (const auto& worker : workers) {
    threads.emplace_back([&worker, steps] { worker->Run(steps / kThreads); });
  }
  std::thread reclaimer([&] {
    while (!scene.stop.load(std::memory_order_relaxed)) {
      const uint64_t now = scene.now_nanos.load(std::memory_order_relaxed);
      if (engine.Reclaim(now, 200) == 0) std::this_thread::yield();
      engine.NextExpirySeconds();
      EXPECT_LE(engine.StatsOf(scene.lists).live_bytes, engine.memory_limit_bytes());
    }
  });
  for (std::thread& thread : threads) thread.join();
  scene.stop.store(true, std::memory_order_relaxed);
  reclaimer.join();
  if (HasFailure()) return;

  engine.Verify();
  EXPECT_EQ(engine.refused_writes(), 0u);
  const uint64_t end_nanos = scene.now_nanos.load() + 10 * kNanosPerSecond;
  std::map<std::string, Items> expected;
  for (uint64_t i = 0; i < kAnchors; ++i) expected[AnchorKey(i)] = {{i, "stays"}};
  for (const auto& worker : workers) {
    worker->CheckAll();
    for (const auto& list : worker->own()) expected[list.first] = list.second;
    for (const auto& list : worker->hot()) {
      expected[list.first].insert(list.second.begin(), list.second.end());
    }
  }
  std::erase_if(expected, [](const auto& list) { return list.second.empty(); });
  EXPECT_EQ(Contents(engine, scene.lists, end_nanos), expected);
  engine.TruncateTable(scene.scratch);
  ReclaimAll(engine, end_nanos);
  engine.Verify();
  EXPECT_EQ(engine.StatsOf(scene.lists).partitions, expected.size());
  EXPECT_EQ(engine.StatsOf(scene.scratch).partitions, 0u);
  EXPECT_EQ(engine.StatsOf(scene.scratch).live_bytes, 0u);
}

// --- At the memory limit ---

// Adds to its own lists until memory is refused, makes room, and goes on. What was refused must not
// have changed anything.
class GreedyWorker {
 public:
  GreedyWorker(Scene& scene, uint64_t thread, uint64_t seed)
      : scene_(scene), engine_(scene.engine), thread_(thread), rng_(seed + thread) {}

  void Run(uint64_t steps) {
    for (uint64_t i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      if (rng_.OneIn(8)) {
        Batch();
      } else {
        Add();
      }
      EXPECT_LE(engine_.held_bytes(), engine_.memory_limit_bytes());
    }
  }
  void CheckAll() {
    for (const auto& list : lists_) CheckList(list.first);
  }
  uint64_t refused() const { return refused_; }
  uint64_t accepted() const { return accepted_; }

 private:
  static constexpr uint64_t kLists = 200;

  std::string RandomKey() {
    return ListKey("thread " + std::to_string(thread_), std::to_string(rng_.Below(kLists)));
  }
  // Short for the most part, now and then larger than a slab's block.
  std::string RandomValue() {
    const uint64_t bytes = rng_.OneIn(50) ? 40'000 : (rng_.OneIn(4) ? 2'000 : 100);
    return std::string(rng_.Below(bytes), static_cast<char>('a' + rng_.Below(26)));
  }
  void CheckList(const std::string& key) {
    EXPECT_EQ(ReadItems(engine_, scene_.lists, key, kNoonNanos), lists_[key]);
  }
  void Refused() {
    ++refused_;
    // A little goes, so that there is something to refuse again soon.
    for (uint64_t i = 0; i < kLists / 40; ++i) {
      const std::string key = RandomKey();
      const Reply reply = RemoveList(engine_, scene_.lists, key, kNoonNanos);
      EXPECT_EQ(reply.status, OpStatus::kOk) << "without tombstones a deletion needs no memory";
      EXPECT_EQ(reply.rows, lists_[key].size());
      lists_.erase(key);
    }
  }
  void Add() {
    const std::string key = RandomKey();
    Items items;
    for (uint64_t i = 1 + rng_.Below(4); i > 0; --i) items[rng_.Below(300)] = RandomValue();
    if (AddItems(engine_, scene_.lists, key, items, kNoonNanos).status == OpStatus::kOk) {
      ++accepted_;
      for (const auto& [number, value] : items) lists_[key][number] = value;
      return;
    }
    CheckList(key);
    Refused();
  }
  void Batch() {
    ItemUpserts upserts(scene_.lists);
    std::map<std::string, Items> added;
    for (uint64_t i = 1 + rng_.Below(10); i > 0; --i) {
      const std::string key = RandomKey();
      const Items items = {{rng_.Below(300), RandomValue()}};
      // One timestamp for all: of two values for one item the larger would win.
      if (added.contains(key)) continue;
      added[key] = items;
      upserts.Add(key, items);
    }
    std::vector<Reply> replies(upserts.commands().size());
    if (engine_.ExecuteAllOrNothing(upserts.commands(), kNoonNanos, replies) == OpStatus::kOk) {
      ++accepted_;
      for (const auto& [key, items] : added) {
        for (const auto& [number, value] : items) lists_[key][number] = value;
      }
      return;
    }
    for (const auto& list : added) CheckList(list.first);
    Refused();
  }

  Scene& scene_;
  shard::Engine& engine_;
  const uint64_t thread_;
  Random rng_;
  std::map<std::string, Items> lists_;
  uint64_t refused_ = 0;
  uint64_t accepted_ = 0;
};

TEST(EngineStressTest, TheMemoryLimitHolds) {
  const uint64_t seed = TestSeed();
  const uint64_t steps = TestSteps(400'000) / 2;
  shard::EngineOptions options;
  options.shards = 2;
  options.lanes_per_shard_log2 = 2;
  options.memory_limit_bytes = uint64_t{24} << 20;
  Scene scene(options);
  shard::Engine& engine = scene.engine;
  std::vector<std::unique_ptr<GreedyWorker>> workers;
  for (uint64_t i = 0; i < kThreads; ++i) {
    workers.push_back(std::make_unique<GreedyWorker>(scene, i, seed));
  }
  std::vector<std::thread> threads;
  for (const auto& worker : workers) {
    threads.emplace_back([&worker, steps] { worker->Run(steps / kThreads); });
  }
  std::thread watcher([&] {
    while (!scene.stop.load(std::memory_order_relaxed)) {
      EXPECT_LE(engine.held_bytes(), engine.memory_limit_bytes());
      std::this_thread::yield();
    }
  });
  for (std::thread& thread : threads) thread.join();
  scene.stop.store(true, std::memory_order_relaxed);
  watcher.join();
  if (HasFailure()) return;

  engine.Verify();
  uint64_t refused = 0;
  uint64_t accepted = 0;
  for (const auto& worker : workers) {
    worker->CheckAll();
    refused += worker->refused();
    accepted += worker->accepted();
  }
  std::printf("%" PRIu64 " writes accepted, %" PRIu64 " refused, %" PRIu64 " bytes held\n",
              accepted, refused, engine.held_bytes());
  EXPECT_EQ(engine.refused_writes(), refused);
  if (steps >= 20'000) {
    EXPECT_GT(refused, 0u) << "the limit was met";
  }
  EXPECT_GT(accepted, refused);
}

}  // namespace engine_stress_test
}  // namespace liststore::testing

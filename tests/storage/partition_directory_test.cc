#include "engine/storage/partition_directory.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "engine/base/random.h"
#include "tests/storage/test_arena.h"
#include "tests/support/seed.h"

namespace liststore {
namespace partition_directory_test {

using Key = std::pair<uint64_t, std::string>;

struct KeyOfString {
  std::string_view operator()(uint64_t reference) const {
    return *reinterpret_cast<const std::string*>(reference);
  }
};
using Directory = storage::PartitionDirectory<KeyOfString>;

storage::DirectorySlot* ReserveAndInsert(TestArena& arena, Directory& directory, uint64_t address,
                                         const std::string& key, uint64_t reference) {
  const bool reserved = arena.arena().Reserve(directory.ReserveBytesForInsert());
  EXPECT_TRUE(reserved);
  return directory.Insert(address, key, reference);
}

void ReserveAndTidy(TestArena& arena, Directory& directory) {
  const bool reserved = arena.arena().Reserve(directory.ReserveBytesForTidy());
  EXPECT_TRUE(reserved);
  directory.Tidy();
}

uint64_t ReferenceTo(const std::string& key) { return reinterpret_cast<uint64_t>(&key); }

// How a run draws its addresses.
struct Shape {
  const char* name;
  uint64_t (*address)(Random& rng);
};

const Shape kShapes[] = {
    {"uniform", [](Random& rng) { return rng.Next(); }},
    {"few distinct", [](Random& rng) { return rng.Below(300) << 55; }},
    {"one address", [](Random&) { return uint64_t{1} << 40; }},
    {"neighbours", [](Random& rng) { return (uint64_t{7} << 60) + rng.Below(2000); }},
    {"both ends",
     [](Random& rng) {
       const uint64_t near = rng.Below(3);
       return rng.OneIn(2) ? near : UINT64_MAX - near;
     }},
    {"clusters", [](Random& rng) { return (rng.Below(50) << 58) + (rng.Below(64) << 40); }},
    {"uniform with one heavy address",
     [](Random& rng) { return rng.OneIn(4) ? UINT64_MAX / 3 : rng.Next(); }},
};

class DirectoryModel {
 public:
  DirectoryModel(const Shape& shape, uint64_t seed) : shape_(shape), rng_(seed) {}

  void Step(uint64_t insert_percent) {
    const uint64_t choice = rng_.Below(100);
    if (choice < insert_percent) {
      Insert();
    } else if (choice < 85) {
      Erase();
    } else if (choice < 97) {
      Find();
    } else if (choice < 98) {
      Relocate();
    } else {
      directory_.PrefetchSlot(rng_.Next());
      if (rng_.OneIn(4)) Scan();
      if (rng_.OneIn(2) && directory_.WantsTidy()) ReserveAndTidy(arena_, directory_);
    }
    if (directory_.migrating()) ++steps_migrating_;
    overflow_max_ = std::max(overflow_max_, directory_.overflow_size());
  }
  void EraseAll() {
    while (!model_.empty()) Erase();
    EXPECT_EQ(directory_.bytes(), 0u);
    EXPECT_EQ(arena_.arena().live_bytes(), 0u);
    directory_.Verify();
  }
  void Scan() {
    const uint64_t from = rng_.OneIn(3) ? 0 : RandomKey().first;
    const size_t limit = rng_.OneIn(2) ? SIZE_MAX : 1 + rng_.Below(20);
    size_t visited = 0;
    auto expected = model_.lower_bound(Key{from, ""});
    directory_.ScanFrom(from, [&](storage::DirectorySlot& slot) {
      EXPECT_NE(expected, model_.end());
      if (expected == model_.end()) return false;
      EXPECT_EQ(slot.address, expected->first.first);
      EXPECT_EQ(slot.reference, ReferenceTo(*expected->second));
      ++expected;
      return ++visited < limit;
    });
    EXPECT_TRUE(visited == limit || expected == model_.end());
  }
  void Verify() {
    directory_.Verify();
    ASSERT_EQ(directory_.size(), model_.size());
  }

  Directory& directory() { return directory_; }
  size_t steps_migrating() const { return steps_migrating_; }
  size_t overflow_max() const { return overflow_max_; }

 private:
  Key RandomKey() {
    if (!model_.empty() && rng_.OneIn(2)) {
      const auto near = model_.lower_bound(Key{shape_.address(rng_), ""});
      return near != model_.end() ? near->first : model_.begin()->first;
    }
    return Key{shape_.address(rng_), std::to_string(rng_.Below(5000))};
  }
  void Insert() {
    const Key key = RandomKey();
    if (model_.contains(key)) return;
    auto text = std::make_unique<std::string>(key.second);
    const size_t held = arena_.arena().live_bytes();
    const size_t reserve = directory_.ReserveBytesForInsert();
    const storage::DirectorySlot* slot =
        ReserveAndInsert(arena_, directory_, key.first, key.second, ReferenceTo(*text));
    EXPECT_EQ(slot->address, key.first);
    EXPECT_EQ(slot->reference, ReferenceTo(*text));
    if (directory_.overflow_size() == 0) {
      EXPECT_LE(arena_.arena().live_bytes(), held + reserve);
    }
    model_.emplace(key, std::move(text));
  }
  void Erase() {
    if (model_.empty()) return;
    auto victim = model_.lower_bound(RandomKey());
    if (victim == model_.end()) victim = model_.begin();
    directory_.Erase(victim->first.first, victim->first.second);
    model_.erase(victim);
  }
  void Find() {
    const Key key = RandomKey();
    const auto expected = model_.find(key);
    const storage::DirectorySlot* found = std::as_const(directory_).Find(key.first, key.second);
    ASSERT_EQ(found != nullptr, expected != model_.end());
    if (found != nullptr) {
      EXPECT_EQ(found->reference, ReferenceTo(*expected->second));
    }
  }
  // What compaction does: the partition moves, its key stays.
  void Relocate() {
    if (model_.empty()) return;
    auto it = model_.lower_bound(RandomKey());
    if (it == model_.end()) it = model_.begin();
    auto moved = std::make_unique<std::string>(*it->second);
    directory_.Find(it->first.first, it->first.second)->reference = ReferenceTo(*moved);
    it->second = std::move(moved);
  }

  const Shape& shape_;
  Random rng_;
  std::map<Key, std::unique_ptr<std::string>> model_;
  TestArena arena_;
  Directory directory_{arena_.arena()};
  size_t steps_migrating_ = 0;
  size_t overflow_max_ = 0;
};

TEST(PartitionDirectory, AgreesWithAnOrderedMap) {
  const uint64_t seed = testing::TestSeed();
  const uint64_t steps = testing::TestSteps(20'000);
  for (const Shape& shape : kShapes) {
    for (uint64_t round = 0; round < 3; ++round) {
      SCOPED_TRACE(std::string(shape.name) + ", round " + std::to_string(round));
      DirectoryModel model(shape, seed + round);
      for (uint64_t step = 0; step < steps; ++step) {
        // Grows, then shrinks, then lives on the edge of both.
        const uint64_t phase = step * 4 / steps;
        model.Step(phase < 2 ? 75 : phase == 2 ? 10 : 45);
        if (step % 256 == 0) model.Verify();
        if (::testing::Test::HasFatalFailure()) return;
      }
      model.Verify();
      model.Scan();
      model.EraseAll();
    }
  }
}

TEST(PartitionDirectory, MigratesGraduallyAndCheckedAtEveryStep) {
  DirectoryModel model(kShapes[0], testing::TestSeed());
  for (int step = 0; step < 3000; ++step) {
    model.Step(80);
    model.Verify();
    if (step % 16 == 0) model.Scan();
  }
  EXPECT_GT(model.steps_migrating(), 100u);
  EXPECT_EQ(model.overflow_max(), 0u);
}

TEST(PartitionDirectory, ChosenCollisionsGoToTheOverflowSet) {
  DirectoryModel model(kShapes[2], testing::TestSeed());
  for (int step = 0; step < 5000; ++step) model.Step(85);
  model.Verify();
  EXPECT_GT(model.overflow_max(), model.directory().size() / 2);
  // The array does not grow for entries that it cannot take.
  EXPECT_LE(model.directory().bytes(), 24 * model.directory().size() + 8192);
}

TEST(PartitionDirectory, UniformAddressesNeverOverflow) {
  Random rng(testing::TestSeed());
  TestArena arena;
  Directory directory(arena.arena());
  const std::string key = "k";
  for (int i = 0; i < 300'000; ++i) {
    ReserveAndInsert(arena, directory, rng.Next(), key, ReferenceTo(key));
    ASSERT_EQ(directory.overflow_size(), 0u) << i;
  }
  directory.Verify();
}

TEST(PartitionDirectory, HoldsNothingWhenEmptyAndLittleWhenSmall) {
  TestArena arena;
  Directory directory(arena.arena());
  EXPECT_EQ(directory.bytes(), 0u);
  EXPECT_EQ(directory.Find(1, "a"), nullptr);
  EXPECT_FALSE(directory.WantsTidy());
  directory.PrefetchSlot(UINT64_MAX);
  directory.ScanFrom(
      0, [](storage::DirectorySlot&) { return ADD_FAILURE() << "nothing to visit", true; });

  const std::string key = "a";
  ReserveAndInsert(arena, directory, 1, key, ReferenceTo(key));
  EXPECT_LE(directory.bytes(), 256u);
  ASSERT_NE(directory.Find(1, "a"), nullptr);
  EXPECT_EQ(directory.Find(1, "b"), nullptr);
  EXPECT_EQ(directory.Find(2, "a"), nullptr);
  directory.Erase(1, key);
  EXPECT_EQ(directory.bytes(), 0u);
  EXPECT_EQ(directory.Find(1, "a"), nullptr);
}

TEST(PartitionDirectory, EqualAddressesComeInKeyOrderAcrossArrayAndOverflow) {
  TestArena arena;
  Directory directory(arena.arena());
  std::vector<std::string> keys;
  for (int i = 0; i < 400; ++i) keys.push_back(std::to_string(i * 7919 % 400));
  for (const std::string& key : keys) ReserveAndInsert(arena, directory, 42, key, ReferenceTo(key));
  EXPECT_GT(directory.overflow_size(), 0u);
  std::vector<std::string> seen;
  directory.ScanFrom(42, [&](storage::DirectorySlot& slot) {
    seen.emplace_back(KeyOfString{}(slot.reference));
    return true;
  });
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(seen, keys);
}

TEST(PartitionDirectory, TidyGivesMemoryBackInSteps) {
  Random rng(testing::TestSeed());
  TestArena arena;
  Directory directory(arena.arena());
  const std::string key = "k";
  std::vector<uint64_t> addresses;
  for (int i = 0; i < 50'000; ++i) {
    addresses.push_back(rng.Next());
    ReserveAndInsert(arena, directory, addresses.back(), key, ReferenceTo(key));
  }
  const size_t held = directory.bytes();
  while (addresses.size() > 100) {
    directory.Erase(addresses.back(), key);
    addresses.pop_back();
  }
  while (directory.WantsTidy()) {
    ReserveAndTidy(arena, directory);
    if (rng.OneIn(50)) {
      addresses.push_back(rng.Next());
      ReserveAndInsert(arena, directory, addresses.back(), key, ReferenceTo(key));
    }
  }
  directory.Verify();
  EXPECT_LT(directory.bytes() * 20, held);
  for (const uint64_t address : addresses) EXPECT_NE(directory.Find(address, key), nullptr);
  directory.Clear();
  EXPECT_EQ(directory.bytes(), 0u);
  directory.Verify();
}

// For ThreadSanitizer: a prefetch needs no ownership.
TEST(PartitionDirectory, AnyThreadMayPrefetch) {
  TestArena arena;
  Directory directory(arena.arena());
  std::atomic<bool> done{false};
  std::thread prefetcher([&] {
    Random rng(1);
    while (!done.load(std::memory_order_relaxed)) directory.PrefetchSlot(rng.Next());
  });
  Random rng(testing::TestSeed());
  const std::string key = "k";
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 5000; ++i) {
      ReserveAndInsert(arena, directory, rng.Next(), key, ReferenceTo(key));
    }
    directory.Clear();
  }
  done.store(true, std::memory_order_relaxed);
  prefetcher.join();
}

}  // namespace partition_directory_test
}  // namespace liststore

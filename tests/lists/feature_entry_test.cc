#include "engine/lists/feature_entry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace liststore {
namespace feature_entry_test {

std::string KeyOf(int number) { return "user#feature" + std::to_string(number) + "|"; }

TEST(FeatureEntryTableTest, FindsWhatWasInserted) {
  FeatureEntryTable table;
  EXPECT_EQ(table.Find(KeyOf(0)), nullptr);
  std::vector<FeatureEntry*> entries;
  for (int i = 0; i < 1000; ++i) {
    entries.push_back(table.FindOrInsert(KeyOf(i)));
    EXPECT_EQ(entries.back()->feature_key(), KeyOf(i));
    EXPECT_EQ(entries.back()->ttl_seconds(), 0);
    if (i % 100 == 0) table.Verify();
  }
  table.Verify();
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(table.Find(KeyOf(i)), entries[static_cast<size_t>(i)]);
    EXPECT_EQ(table.FindOrInsert(KeyOf(i)), entries[static_cast<size_t>(i)]);
  }
  EXPECT_EQ(table.Find(KeyOf(1000)), nullptr);
}

TEST(FeatureEntryTableTest, CountsWhatExists) {
  FeatureEntryTable table;
  table.FindOrInsert("a#b|")->set_ttl_seconds(5);
  table.FindOrInsert("a#b|v2");
  EXPECT_EQ(table.CountExisting(), 1u);
}

TEST(FeatureEntryTableTest, ReadersSeeEveryEarlierInsertionWhileItGrows) {
  FeatureEntryTable table;
  constexpr int kEntries = 2000;
  std::atomic<int> inserted{0};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      for (int known = 0; known < kEntries;) {
        known = inserted.load(std::memory_order_acquire);
        for (int i = known; i > 0 && i > known - 10; --i) {
          FeatureEntry* const entry = table.Find(KeyOf(i - 1));
          ASSERT_NE(entry, nullptr) << "entry " << i - 1 << " of " << known;
          ASSERT_EQ(entry->feature_key(), KeyOf(i - 1));
        }
      }
    });
  }
  for (int i = 0; i < kEntries; ++i) {
    table.FindOrInsert(KeyOf(i));
    inserted.store(i + 1, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
  table.Verify();
}

}  // namespace feature_entry_test
}  // namespace liststore

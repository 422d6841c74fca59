#include "bench/peers/bare_store.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "engine/base/random.h"
#include "liststore/item_key.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace bare_store_test {

constexpr size_t kValueBytes = 12;
constexpr uint64_t kNanos = 1'724'949'845'000'000'000;

// Some values are common, so that one removal takes several rows.
std::string ValueOf(uint64_t number) {
  std::string value = std::to_string(number);
  value.resize(kValueBytes, '.');
  return value;
}

std::string TextOf(std::string_view packed) {
  std::string text(kItemKeyTextBytes, '\0');
  UnpackItemKey(packed.data(), text.data());
  return text;
}

// Lists as maps from the text of an item's key to its value, newest first.
class Model {
 public:
  using Rows = std::map<std::string, std::string, std::greater<>>;

  void Add(const std::string& list, const std::vector<NewItem>& items) {
    for (const NewItem& item : items) {
      lists_[list].emplace(MakeItemKey(item.timestamp_nanos, item.value).value(), item.value);
    }
  }
  size_t RemoveWithValue(const std::string& list, std::string_view value) {
    return std::erase_if(lists_[list], [&](const auto& row) { return row.second == value; });
  }
  bool RemoveItem(const std::string& list, const NewItem& item) {
    return lists_[list].erase(MakeItemKey(item.timestamp_nanos, item.value).value()) > 0;
  }
  const Rows& RowsOf(const std::string& list) { return lists_[list]; }

 private:
  std::map<std::string, Rows> lists_;
};

void ExpectRows(const BareItems& got, const Model::Rows& rows, size_t limit) {
  ASSERT_EQ(got.size(), std::min(limit, rows.size()));
  auto row = rows.begin();
  for (size_t i = 0; i < got.size(); ++i, ++row) {
    ASSERT_EQ(TextOf(got.key(i)), row->first) << "row " << i;
    ASSERT_EQ(got.value(i), row->second) << "row " << i;
    ASSERT_EQ(got.timestamp_nanos(i), ParseItemKey(row->first).value().timestamp_nanos);
  }
}

TEST(BareStore, DoesWhatAMapOfMapsDoes) {
  const uint64_t seed = TestSeed();
  const uint64_t steps = TestSteps(30'000);
  Random random(seed);
  constexpr size_t kLists = 40;
  Model model;
  BareStore store(kLists, /*rows_expected=*/6, kValueBytes);
  std::vector<BareItems> results;

  const auto random_list = [&] {
    return "user#history|v2user-" + std::to_string(random.Below(40));
  };
  for (uint64_t step = 0; step < steps; ++step) {
    SCOPED_TRACE(step);
    const std::string list = random_list();
    const uint64_t what = random.Below(10);
    if (what < 5) {
      std::vector<std::string> values;
      for (uint64_t i = 1 + random.Below(12); i > 0; --i)
        values.push_back(ValueOf(random.Below(20)));
      std::vector<NewItem> items;
      // Mostly newer than what is there, as items come; now and then the same again.
      for (const std::string& value : values) {
        items.push_back({kNanos + (random.OneIn(4) ? random.Below(step + 1) : step), value});
      }
      ASSERT_EQ(store.Add(list, items), items.size());
      model.Add(list, items);
    } else if (what < 6) {
      // One that is there, most of the time.
      const Model::Rows& rows = model.RowsOf(list);
      std::string value = ValueOf(random.Below(20));
      uint64_t nanos = kNanos + random.Below(step + 1);
      if (!rows.empty() && !random.OneIn(4)) {
        const auto row = std::next(rows.begin(), static_cast<ptrdiff_t>(random.Below(rows.size())));
        nanos = ParseItemKey(row->first).value().timestamp_nanos;
        value = row->second;
      }
      const NewItem item = {nanos, value};
      ASSERT_EQ(store.RemoveItem(list, item), model.RemoveItem(list, item));
    } else if (what < 8) {
      const std::string value = ValueOf(random.Below(20));
      ASSERT_EQ(store.RemoveWithValue(list, value), model.RemoveWithValue(list, value));
    } else {
      const size_t limit = random.Below(30);
      std::vector<std::string> names;
      for (uint64_t i = random.Below(40); i > 0; --i) names.push_back(random_list());
      const std::vector<std::string_view> keys(names.begin(), names.end());
      store.MultiGet(keys, limit, &results);
      for (size_t i = 0; i < keys.size(); ++i) {
        ASSERT_NO_FATAL_FAILURE(ExpectRows(results[i], model.RowsOf(names[i]), limit));
      }
    }
    if (!random.OneIn(4)) continue;
    BareItems all;
    store.Get(list, 1'000'000, &all);
    ASSERT_NO_FATAL_FAILURE(ExpectRows(all, model.RowsOf(list), 1'000'000));
    if (step % 16 == 0) store.Verify();
  }
  store.Verify();
}

TEST(BareStore, AnAbsentListIsEmpty) {
  BareStore store(10, 5, kValueBytes);
  BareItems items;
  store.Get("nobody", 10, &items);
  EXPECT_EQ(items.size(), 0u);
  EXPECT_EQ(store.RemoveWithValue("nobody", ValueOf(1)), 0u);
}

TEST(BareStore, WhatWasPopulatedIsUsedBeforeMoreIsTaken) {
  BareStore store(1'000, 10, kValueBytes);
  store.Populate(1 << 20);
  const size_t populated = store.populated_bytes();
  const std::string value = ValueOf(7);
  const NewItem item = {kNanos, value};
  for (int list = 0; list < 1'000; ++list) store.Add(std::to_string(list), {&item, 1});
  EXPECT_EQ(store.populated_bytes(), populated);
  store.Verify();
}

TEST(BareStoreDeathTest, MoreListsThanWereSaidEndTheProcess) {
  BareStore store(1, 5, kValueBytes);
  const std::string value = ValueOf(7);
  const NewItem item = {kNanos, value};
  store.Add("one", {&item, 1});
  EXPECT_DEATH(store.Add("two", {&item, 1}), "as many lists as come");
}

}  // namespace bare_store_test
}  // namespace liststore::testing

// Views of indexes in pages: the rows of all pages are those of the whole, and a page costs what it
// is worth, told by the work that a reader may spend on it.
#include "engine/execute/select/index_view_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/seconds.h"
#include "engine/cql/values/encode_value.h"
#include "engine/model/clustering_encoding.h"
#include "engine/model/mutation.h"
#include "engine/model/partition_key.h"
#include "engine/shard/engine.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace index_view_table_test {

using execute::IndexViewTable;
using execute::RowPlace;
using Outcome = IndexViewTable::Outcome;

constexpr int kPartitions = 2000;
constexpr int kRowsOfPartition = 10;
constexpr size_t kAllRows = size_t{kPartitions} * kRowsOfPartition;
constexpr uint64_t kNow = 1'700'000'000'000'000'000;

using Rows = std::vector<cql::VirtualRow>;

class IndexViewTableTest : public ::testing::Test {
 protected:
  // A local index on v, and global ones; of the values each partition has three.
  void SetUp() override {
    TableDefinition& table = table_;
    table.keyspace = "k";
    table.name = "t";
    table.columns = {{"p", CqlType::kInt, ColumnKind::kPartitionKey, 0, false},
                     {"c", CqlType::kInt, ColumnKind::kClustering, 0, false},
                     {"v", CqlType::kInt, ColumnKind::kRegular, 0, false}};
    table.indexes = {{.name = "of_v", .column = "v", .local = true},
                     {.name = "by_v", .column = "v"},
                     {.name = "by_c", .column = "c"}};
    CompleteTable(table);
    table.storage.id = engine_.CreateTable(table.storage);
    Fill();
    auto keyspace = std::make_shared<KeyspaceDefinition>();
    keyspace->name = "k";
    keyspace->Put(std::make_shared<const TableDefinition>(table));
    schema_.keyspaces["k"] = keyspace;
  }

  void Fill() {
    for (int p = 0; p < kPartitions; ++p) {
      for (int c = 0; c < kRowsOfPartition; ++c) Put(p, c, p % 7 * 100 + c % 3);
    }
  }

  static std::string KeyOf(int p) {
    std::string key;
    const std::string encoded = cql::EncodeInt(p);
    AppendPartitionKey(std::array<std::string_view, 1>{encoded}, key);
    return key;
  }
  std::string RowKeyOf(int c) const {
    std::string key;
    const std::string encoded = cql::EncodeInt(c);
    AppendClusteringKey(table_.storage.clustering, std::array<std::string_view, 1>{encoded}, key);
    return key;
  }
  void Run(int p, const CommandBody& body) {
    const std::string key = KeyOf(p);
    const Reply reply =
        engine_.Execute({.table = table_.storage.id, .partition_key = key, .body = body}, now_);
    ASSERT_EQ(reply.status, OpStatus::kOk);
  }
  // The value, and the row's marker if wanted, for `ttl_seconds`; 0: for good.
  void Put(int p, int c, int v, int64_t ttl_seconds = 0, bool marker = true) {
    const std::string row_key = RowKeyOf(c);
    const std::string value = cql::EncodeInt(v);
    const CellUpdate cell{.column = 0, .value = value};
    RowUpdate row{.key = {row_key}, .marker = marker, .cells = {&cell, 1}};
    if (ttl_seconds != 0) {
      row.ttl_seconds = ttl_seconds;
      row.expiry_seconds = WholeSeconds(now_) + ttl_seconds;
    }
    Run(p, UpsertCommand{{&row, 1}});
  }
  void Delete(int p, int c) {
    const std::string row_key = RowKeyOf(c);
    const ClusteringKeyView key{row_key};
    Run(p, DeleteRowsCommand{{&key, 1}});
  }

  // Up to `count` rows of the view behind a place, by a reader that may spend `units_max`.
  Rows Page(std::string_view name, const std::optional<RowPlace>& behind, uint64_t count,
            uint64_t units_max, Outcome wanted = Outcome::kRead,
            execute::IndexViewPages* pages = nullptr) {
    const auto view = schema_.FindTable("k", name);
    const execute::WorkPlace place{.units_max = units_max, .time_max = std::chrono::hours(1)};
    execute::WorkPace pace(place);
    const cql::NodeFacts node{};
    const cql::VirtualReadContext context{schema_, node, {}, now_};
    IndexViewTable table(engine_, *view, std::nullopt, pages, &pace, context);
    table.Begin({}, behind);
    Rows rows = table.Next(count);
    EXPECT_EQ(table.outcome(), wanted);
    return rows;
  }
  RowPlace PlaceOf(std::string_view name, const cql::VirtualRow& row) const {
    const auto view = schema_.FindTable("k", name);
    std::vector<std::string_view> values;
    for (const auto& value : row) values.push_back(*value);
    RowPlace place;
    AppendPartitionKey({values.data(), 1}, place.partition);
    AppendClusteringKey(view->storage.clustering, {values.data() + 1, values.size() - 1},
                        place.row.emplace());
    return place;
  }
  // All rows in pages.
  Rows InPages(std::string_view name, uint64_t count, uint64_t units_max,
               execute::IndexViewPages* pages = nullptr) {
    Rows all;
    std::optional<RowPlace> behind;
    while (true) {
      const Rows page = Page(name, behind, count, units_max, Outcome::kRead, pages);
      if (page.empty()) return all;
      EXPECT_LE(page.size(), count);
      all.insert(all.end(), page.begin(), page.end());
      behind = PlaceOf(name, page.back());
    }
  }

  shard::Engine engine_{shard::EngineOptions{}};
  TableDefinition table_;
  Schema schema_;
  uint64_t now_ = kNow;
};

TEST_F(IndexViewTableTest, PagesAreTheWhole) {
  for (const std::string_view name : {"of_v_index", "by_v_index"}) {
    const Rows whole = Page(name, std::nullopt, UINT64_MAX, UINT64_MAX);
    EXPECT_EQ(whole.size(), kAllRows);
    for (const uint64_t count : {uint64_t{kAllRows}, uint64_t{kAllRows - 1}, uint64_t{1777}}) {
      EXPECT_EQ(InPages(name, count, UINT64_MAX), whole) << name << " by " << count;
    }
  }
}

// The place where a page begins does not count, nor how many rows there are.
TEST_F(IndexViewTableTest, APageOfALocalIndexCostsItsRows) {
  constexpr uint64_t kRowsOfPage = 100;
  // What a reader of all rows spends, by far.
  constexpr uint64_t kUnitsOfAll = kAllRows * 16;
  constexpr uint64_t kUnitsOfPage = 8000;
  static_assert(kUnitsOfPage * 40 <= kUnitsOfAll);
  EXPECT_TRUE(
      Page("of_v_index", std::nullopt, UINT64_MAX, kUnitsOfPage, Outcome::kStopped).empty());
  EXPECT_EQ(InPages("of_v_index", kRowsOfPage, kUnitsOfPage).size(), kAllRows);
}

// All rows are looked at, and those of other pages cost no more than that.
TEST_F(IndexViewTableTest, APageOfAGlobalIndexKeepsItsRowsAlone) {
  constexpr uint64_t kRowsOfPage = 1000;
  constexpr uint64_t kUnitsOfLooks = kAllRows * 2 + kPartitions * 8;
  constexpr uint64_t kUnitsOfPage = kUnitsOfLooks + kAllRows * 16 / 2;
  EXPECT_TRUE(
      Page("by_v_index", std::nullopt, UINT64_MAX, kUnitsOfPage, Outcome::kStopped).empty());
  EXPECT_EQ(InPages("by_v_index", kRowsOfPage, kUnitsOfPage).size(), kAllRows);
}

// The table is looked at for the first page, and for the second, from which on somebody reads on.
TEST_F(IndexViewTableTest, PagesOfAGlobalIndexGoOnWhereTheLastOneEnded) {
  constexpr uint64_t kRowsOfPage = 100;
  for (const std::string_view name : {"by_v_index", "by_c_index"}) {
    execute::IndexViewPages pages;
    const Rows whole = Page(name, std::nullopt, UINT64_MAX, UINT64_MAX);
    Rows all = Page(name, std::nullopt, kRowsOfPage, UINT64_MAX, Outcome::kRead, &pages);
    uint64_t units_max = UINT64_MAX;
    while (true) {
      const Rows page =
          Page(name, PlaceOf(name, all.back()), kRowsOfPage, units_max, Outcome::kRead, &pages);
      all.insert(all.end(), page.begin(), page.end());
      if (page.size() < kRowsOfPage) break;
      units_max = 1;
    }
    EXPECT_EQ(all, whole);
    // Two readers share them, and another table's way to be read is not theirs.
    EXPECT_EQ(Page(name, PlaceOf(name, whole[300]), kRowsOfPage, 1, Outcome::kRead, &pages),
              Rows(whole.begin() + 301, whole.begin() + 401));
    const std::string_view other = name == "by_v_index" ? "by_c_index" : "by_v_index";
    Page(other, PlaceOf(other, Page(other, std::nullopt, 1, UINT64_MAX)[0]), kRowsOfPage, 1,
         Outcome::kStopped, &pages);
  }
}

// More rows than are kept at a time: each look at the table serves many pages.
TEST_F(IndexViewTableTest, MoreRowsThanAreKeptTakeFewLooks) {
  constexpr int kMorePartitions = 12'000;
  for (int p = kPartitions; p < kMorePartitions; ++p) {
    for (int c = 0; c < kRowsOfPartition; ++c) Put(p, c, p % 7);
  }
  execute::IndexViewPages pages;
  constexpr uint64_t kRowsOfPage = 1000;
  Rows all = Page("by_v_index", std::nullopt, kRowsOfPage, UINT64_MAX, Outcome::kRead, &pages);
  int looks = 0;
  while (true) {
    const RowPlace behind = PlaceOf("by_v_index", all.back());
    // Without work, and where that does not do with as much as it takes.
    const auto view = schema_.FindTable("k", "by_v_index");
    const execute::WorkPlace place{.units_max = 1, .time_max = std::chrono::hours(1)};
    execute::WorkPace pace(place);
    const cql::NodeFacts node{};
    IndexViewTable table(engine_, *view, std::nullopt, &pages, &pace, {schema_, node, {}, now_});
    table.Begin({}, behind);
    Rows page = table.Next(kRowsOfPage);
    if (table.outcome() == Outcome::kStopped) {
      ++looks;
      page = Page("by_v_index", behind, kRowsOfPage, UINT64_MAX, Outcome::kRead, &pages);
    }
    if (page.empty()) break;
    all.insert(all.end(), page.begin(), page.end());
  }
  EXPECT_EQ(all.size(), size_t{kMorePartitions} * kRowsOfPartition);
  EXPECT_EQ(all, Page("by_v_index", std::nullopt, UINT64_MAX, UINT64_MAX));
  EXPECT_GE(looks, 2);
  EXPECT_LE(looks, 8);
}

// A page shows the table as it is: what was written since the page before, and what is over.
TEST_F(IndexViewTableTest, KeptRowsAreThoseOfTheTableAsItIs) {
  Random random(TestSeed());
  execute::IndexViewPages pages;
  const uint64_t steps = TestSteps(300);
  constexpr int kFew = 40;  // partitions
  const auto begin_again = [this] {
    ASSERT_EQ(engine_.TruncateTable(table_.storage.id), OpStatus::kOk);
    for (int p = 0; p < kFew; ++p) {
      for (int c = 0; c < kRowsOfPartition; ++c) Put(p, c, p % 7);
    }
  };
  begin_again();
  for (uint64_t step = 0; step < steps; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    const auto p = static_cast<int>(random.Below(kFew));
    const auto c = static_cast<int>(random.Below(kRowsOfPartition));
    switch (random.Below(16)) {
      case 0:
        Put(p, c, static_cast<int>(random.Below(300)), 1 + static_cast<int64_t>(random.Below(4)),
            random.OneIn(2));
        break;
      case 1:
        Put(p, c, static_cast<int>(random.Below(300)));
        break;
      case 2:
        Delete(p, c);
        break;
      case 3:
        Run(p, DeletePartitionCommand{});
        break;
      case 4:
      case 5:
        now_ += 1'000'000'000;
        break;
      case 6:
        if (random.OneIn(20)) begin_again();
        break;
      default:
        break;
    }
    const std::string_view name = random.OneIn(2) ? "by_v_index" : "by_c_index";
    const Rows whole = Page(name, std::nullopt, UINT64_MAX, UINT64_MAX);
    if (whole.empty()) continue;
    const size_t at = random.Below(whole.size());
    const uint64_t count = 1 + random.Below(50);
    const Rows rest(whole.begin() + static_cast<ptrdiff_t>(at) + 1, whole.end());
    Rows page = Page(name, PlaceOf(name, whole[at]), count, UINT64_MAX, Outcome::kRead, &pages);
    ASSERT_LE(page.size(), rest.size());
    ASSERT_TRUE(std::equal(page.begin(), page.end(), rest.begin())) << name;
    // Fewer come where a stretch of kept rows ends; none at the end alone.
    ASSERT_EQ(page.empty(), rest.empty()) << name;
  }
}

}  // namespace index_view_table_test
}  // namespace liststore::testing

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

#include "engine/cql/values/encode_value.h"
#include "engine/model/clustering_encoding.h"
#include "engine/model/mutation.h"
#include "engine/model/partition_key.h"
#include "engine/shard/engine.h"

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
  // A local index on v, and a global one; of the values each partition has three.
  void SetUp() override {
    TableDefinition table;
    table.keyspace = "k";
    table.name = "t";
    table.columns = {{"p", CqlType::kInt, ColumnKind::kPartitionKey, 0, false},
                     {"c", CqlType::kInt, ColumnKind::kClustering, 0, false},
                     {"v", CqlType::kInt, ColumnKind::kRegular, 0, false}};
    table.indexes = {{.name = "of_v", .column = "v", .local = true},
                     {.name = "by_v", .column = "v"}};
    CompleteTable(table);
    table.storage.id = engine_.CreateTable(table.storage);
    Fill(table);
    auto keyspace = std::make_shared<KeyspaceDefinition>();
    keyspace->name = "k";
    keyspace->Put(std::make_shared<const TableDefinition>(table));
    schema_.keyspaces["k"] = keyspace;
  }

  void Fill(const TableDefinition& table) {
    for (int p = 0; p < kPartitions; ++p) {
      std::string key;
      const std::string encoded = cql::EncodeInt(p);
      AppendPartitionKey(std::array<std::string_view, 1>{encoded}, key);
      for (int c = 0; c < kRowsOfPartition; ++c) {
        const std::string at = cql::EncodeInt(c);
        const std::string value = cql::EncodeInt(p % 7 * 100 + c % 3);
        std::string row_key;
        AppendClusteringKey(table.storage.clustering, std::array<std::string_view, 1>{at}, row_key);
        const CellUpdate cell{.column = 0, .value = value};
        const RowUpdate row{.key = {row_key}, .cells = {&cell, 1}};
        const Reply reply = engine_.Execute(
            {.table = table.storage.id, .partition_key = key, .body = UpsertCommand{{&row, 1}}},
            kNow);
        ASSERT_EQ(reply.status, OpStatus::kOk);
      }
    }
  }

  // Up to `count` rows of the view behind a place, by a reader that may spend `units_max`.
  Rows Page(std::string_view name, const std::optional<RowPlace>& behind, uint64_t count,
            uint64_t units_max, Outcome wanted = Outcome::kRead) {
    const auto view = schema_.FindTable("k", name);
    const execute::WorkPlace place{.units_max = units_max, .time_max = std::chrono::hours(1)};
    execute::WorkPace pace(place);
    const cql::NodeFacts node{};
    const cql::VirtualReadContext context{schema_, node, {}, kNow};
    IndexViewTable table(engine_, *view, std::nullopt, &pace, context);
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
  Rows InPages(std::string_view name, uint64_t count, uint64_t units_max) {
    Rows all;
    std::optional<RowPlace> behind;
    while (true) {
      const Rows page = Page(name, behind, count, units_max);
      if (page.empty()) return all;
      EXPECT_LE(page.size(), count);
      all.insert(all.end(), page.begin(), page.end());
      behind = PlaceOf(name, page.back());
    }
  }

  shard::Engine engine_{shard::EngineOptions{}};
  Schema schema_;
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

}  // namespace index_view_table_test
}  // namespace liststore::testing

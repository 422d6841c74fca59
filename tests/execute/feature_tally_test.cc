// What is counted, kept and told of features that were asked for in vain, and the table of it.
#include "engine/execute/feature_tally.h"

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/cql/values/encode_value.h"
#include "engine/instruments/unsupported_table.h"
#include "gtest/gtest.h"

namespace liststore {
namespace feature_tally_test {

constexpr uint64_t kNow = 1'700'000'000'123'456'789;

TEST(FeatureTallyTest, CountsEachFeatureAndKeepsTheFirstStatement) {
  std::vector<std::pair<cql::CqlFeature, std::string>> told;
  execute::FeatureTally tally([&](cql::CqlFeature feature, std::string_view statement) {
    told.emplace_back(feature, statement);
  });
  EXPECT_TRUE(tally.Met().empty());
  tally.Add(cql::CqlFeature::kCompaction, "first", kNow);
  tally.Add(cql::CqlFeature::kVectors, "second", kNow + 1);
  tally.Add(cql::CqlFeature::kCompaction, "third", kNow + 2);
  tally.Add(cql::CqlFeature::kVectors, "fourth", kNow + 3);
  tally.Add(cql::CqlFeature::kVectors, "fifth", kNow + 4);

  const std::vector<execute::FeatureTally::Entry> met = tally.Met();
  ASSERT_EQ(met.size(), 2u);
  EXPECT_EQ(met[0].feature, cql::CqlFeature::kVectors) << "in the order of codes";
  EXPECT_EQ(met[0].count, 3u);
  EXPECT_EQ(met[0].first_statement, "second");
  EXPECT_EQ(met[0].first_nanos, kNow + 1);
  EXPECT_EQ(met[1].feature, cql::CqlFeature::kCompaction);
  EXPECT_EQ(met[1].count, 2u);
  EXPECT_EQ(tally.refusals(), 3u) << "what has no effect is no refusal";
  EXPECT_TRUE(tally.has(cql::CqlFeature::kVectors));
  EXPECT_FALSE(tally.has(cql::CqlFeature::kTriggers));
  EXPECT_EQ(told,
            (std::vector<std::pair<cql::CqlFeature, std::string>>{
                {cql::CqlFeature::kCompaction, "first"}, {cql::CqlFeature::kVectors, "second"}}));
}

std::string Kept(std::string_view statement) {
  execute::FeatureTally tally;
  tally.Add(cql::CqlFeature::kServiceLevels, statement, kNow);
  return tally.Met().at(0).first_statement;
}

TEST(FeatureTallyTest, StatementsAreCutWithinTheirBound) {
  EXPECT_EQ(Kept(""), "");
  const std::string fits(execute::kTalliedStatementBytesMax, 'x');
  EXPECT_EQ(Kept(fits), fits);
  EXPECT_EQ(Kept(fits + "y"), fits + "...");
  // The character that lies across the bound goes as a whole.
  EXPECT_EQ(Kept(std::string(execute::kTalliedStatementBytesMax - 1, 'x') + "\xe2\x82\xac"),
            std::string(execute::kTalliedStatementBytesMax - 1, 'x') + "...");
  EXPECT_EQ(Kept("SELECT \xff"), "SELECT ...") << "a text column holds UTF-8 alone";
}

TEST(FeatureTallyTest, PasswordsAreNotKept) {
  EXPECT_EQ(Kept("CREATE ROLE r WITH PASSWORD = 'secret' AND LOGIN = true"),
            "CREATE ROLE r WITH PASSWORD...");
  EXPECT_EQ(Kept("alter user u with passWord 'secret'"), "alter user u with passWord...");
  EXPECT_EQ(Kept("CREATE ROLE r WITH HASHED PASSWORD = 'x'"),
            "CREATE ROLE r WITH HASHED PASSWORD...");
  EXPECT_EQ(Kept("LIST ROLES"), "LIST ROLES");
}

TEST(FeatureTallyTest, ThreadsLoseNothingAndOneOfThemIsTheFirst) {
  constexpr int kThreads = 4;
  constexpr uint64_t kAdditions = 2000;
  std::map<cql::CqlFeature, std::atomic<int>> told;
  for (size_t i = 0; i < cql::kCqlFeatures; ++i) told[cql::CqlFeatureAt(i)] = 0;
  execute::FeatureTally tally([&](cql::CqlFeature feature, std::string_view statement) {
    EXPECT_EQ(statement, cql::FactsOf(feature).name);
    ++told.at(feature);
  });
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < kAdditions; ++i) {
        const cql::CqlFeature feature = cql::CqlFeatureAt(i % cql::kCqlFeatures);
        tally.Add(feature, cql::FactsOf(feature).name, kNow);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t count = 0;
  uint64_t refused = 0;
  for (const execute::FeatureTally::Entry& entry : tally.Met()) {
    count += entry.count;
    if (cql::FactsOf(entry.feature).refused) refused += entry.count;
    EXPECT_EQ(told.at(entry.feature), 1) << entry.first_statement;
    EXPECT_EQ(entry.first_statement, cql::FactsOf(entry.feature).name);
  }
  EXPECT_EQ(tally.Met().size(), cql::kCqlFeatures);
  EXPECT_EQ(count, kThreads * kAdditions);
  EXPECT_EQ(refused, tally.refusals());
}

TEST(UnsupportedTableTest, ShowsWhatWasMet) {
  execute::FeatureTally tally;
  const auto table = instruments::MakeUnsupportedTable(tally);
  const Schema schema;
  const cql::NodeFacts node;
  EXPECT_TRUE(table->Rows({schema, node, {}, 0}).empty());
  tally.Add(cql::CqlFeature::kTriggers, "DROP TRIGGER x ON t", kNow);
  tally.Add(cql::CqlFeature::kTriggers, "another", kNow + 1);
  const std::vector<cql::VirtualRow> rows = table->Rows({schema, node, {}, 0});
  ASSERT_EQ(rows.size(), 1u);
  const TableDefinition& definition = *table->definition();
  std::map<std::string, std::optional<std::string>> cells;
  for (size_t i = 0; i < definition.columns.size(); ++i) {
    cells[definition.columns[i].name] = rows[0][i];
  }
  EXPECT_EQ(definition.keyspace + "." + definition.name, "liststore.unsupported");
  EXPECT_EQ(cells, (std::map<std::string, std::optional<std::string>>{
                       {"kind", "refused"},
                       {"code", "LS-0004"},
                       {"count", cql::EncodeBigint(2)},
                       {"feature", "triggers"},
                       {"first_at", cql::EncodeBigint(1'700'000'000'123)},
                       {"first_statement", "DROP TRIGGER x ON t"},
                       {"instead", "a batch that makes the further writes as well"},
                   }));
  EXPECT_EQ(definition.CountOf(ColumnKind::kPartitionKey), 1u);
  EXPECT_EQ(definition.columns[0].name, "kind");
  EXPECT_EQ(definition.columns[1].name, "code");
  EXPECT_NE(instruments::MakeUnsupportedTable(tally)->Write({}), std::nullopt);
}

}  // namespace feature_tally_test
}  // namespace liststore

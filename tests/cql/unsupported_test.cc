// The list of what is not supported: its codes, its words, the document that shows it, and which
// statements have no effect. That statements are refused as they should be is tested over the wire:
// tests/over_cql/unsupported_test.cc.
#include "engine/cql/syntax/unsupported.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/planner/binder.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/parser.h"
#include "engine/cql/syntax/without_effect.h"
#include "gtest/gtest.h"

namespace liststore {
namespace unsupported_test {

TEST(UnsupportedTest, CodesAreDigitsAndTellTheKinds) {
  for (size_t i = 0; i < cql::kCqlFeatures; ++i) {
    const cql::CqlFeatureFacts& facts = cql::FactsOf(cql::CqlFeatureAt(i));
    SCOPED_TRACE(facts.code);
    ASSERT_EQ(facts.code.size(), 7u);
    EXPECT_EQ(facts.code.substr(0, 3), "LS-");
    EXPECT_TRUE(
        std::ranges::all_of(facts.code.substr(3), [](char c) { return c >= '0' && c <= '9'; }));
    EXPECT_EQ(facts.refused, facts.code < "LS-0100") << "there is room for a hundred refusals";
  }
}

TEST(UnsupportedTest, CodesStayWhatTheyAre) {
  EXPECT_EQ(cql::FactsOf(cql::CqlFeature::kUserFunctions).code, "LS-0003");
  EXPECT_EQ(cql::FactsOf(cql::CqlFeature::kServiceLevels).code, "LS-0006");
  EXPECT_EQ(cql::FactsOf(cql::CqlFeature::kDurationKeys).code, "LS-0043");
  EXPECT_EQ(cql::FactsOf(cql::CqlFeature::kReplication).code, "LS-0101");
  EXPECT_EQ(cql::FactsOf(cql::CqlFeature::kConsistencyLevels).code, "LS-0119");
}

TEST(UnsupportedTest, NamesAreThereOnce) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < cql::kCqlFeatures; ++i) {
    const cql::CqlFeatureFacts& facts = cql::FactsOf(cql::CqlFeatureAt(i));
    EXPECT_TRUE(names.insert(facts.name).second) << facts.name;
    EXPECT_NE(facts.instead, "") << facts.name;
  }
}

TEST(UnsupportedTest, AnErrorSaysWhatItIsWhatWorksAndTheCode) {
  const cql::CqlError error =
      cql::CqlError::Unsupported(cql::CqlFeature::kTriggers, "CREATE TRIGGER");
  EXPECT_EQ(error.code, CqlErrorCode::kInvalid);
  EXPECT_EQ(error.feature, cql::CqlFeature::kTriggers);
  EXPECT_EQ(error.message,
            "liststore does not support triggers (CREATE TRIGGER); instead: a batch that makes the "
            "further writes as well [LS-0004]");
  EXPECT_EQ(cql::CqlError::Unsupported(cql::CqlFeature::kTriggers, "").message,
            "liststore does not support triggers; instead: a batch that makes the further writes "
            "as well [LS-0004]");
  EXPECT_EQ(cql::CqlError::Invalid("x").feature, std::nullopt);
  const std::string endless(100'000, 'x');
  EXPECT_LT(cql::CqlError::Unsupported(cql::CqlFeature::kFunctions, endless).message.size(), 400u);
}

TEST(UnsupportedTest, FunctionsThatAreMissingAreKnownByName) {
  const std::pair<std::string_view, cql::CqlFeature> known[] = {
      {"similarity_cosine", cql::CqlFeature::kVectors},
  };
  for (const auto& [name, feature] : known)
    EXPECT_EQ(cql::FeatureOfFunction(name), feature) << name;
  for (const std::string_view name :
       {"", "cuont", "SIMILARITY_COSINE", "similarity_cosin", "tojson", "zzz", "a"}) {
    EXPECT_EQ(cql::FeatureOfFunction(name), std::nullopt) << name;
  }
  EXPECT_EQ(cql::RefuseCall({"system", "similarity_cosine"}).feature, cql::CqlFeature::kVectors);
  EXPECT_EQ(cql::RefuseCall({"ks", "similarity_cosine"}),
            cql::CqlError::Invalid("Unknown function ks.similarity_cosine called"));
  EXPECT_EQ(cql::RefuseCall({"", "cuont"}),
            cql::CqlError::Invalid("Unknown function cuont called"));
}

struct WithoutEffect {
  std::string_view statement;
  std::vector<cql::CqlFeature> features;
};

const WithoutEffect kWithoutEffect[] = {
    {"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
     {}},
    {"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': '3'}",
     {cql::CqlFeature::kReplication}},
    {"CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 2}",
     {cql::CqlFeature::kReplication}},
    {"CREATE KEYSPACE k WITH replication = {'class': 'EverywhereStrategy'} AND durable_writes = "
     "false",
     {cql::CqlFeature::kDurableWrites}},
    {"ALTER KEYSPACE k WITH tablets = {'enabled': 'true'} AND consistency = 'global'",
     {cql::CqlFeature::kTablets, cql::CqlFeature::kKeyspaceConsistency}},
    {"ALTER KEYSPACE k WITH tablets = {'initial': 8}", {cql::CqlFeature::kTablets}},
    {"ALTER KEYSPACE k WITH tablets = {'enabled': false}", {}},
    {"CREATE TABLE t (p int PRIMARY KEY) WITH comment = 'x' AND default_time_to_live = 60 AND "
     "gc_grace_seconds = 5",
     {}},
    {"CREATE TABLE t (p int PRIMARY KEY) WITH min_index_interval = 1 AND max_index_interval = 2 "
     "AND caching = {'keys': 'ALL'}",
     {cql::CqlFeature::kIndexIntervals, cql::CqlFeature::kCaching}},
    {"ALTER TABLE t WITH compression = {} AND compaction = {'class': 'LeveledCompactionStrategy'}",
     {cql::CqlFeature::kCompression, cql::CqlFeature::kCompaction}},
    {"CREATE INDEX ON t (v)", {}},
    {"ALTER TABLE t ADD compaction int", {}},
    {"SELECT * FROM t", {}},
    {"SELECT * FROM t BYPASS CACHE USING TIMEOUT 5s", {cql::CqlFeature::kBypassCache}},
    {"SELECT * FROM system.local USING TIMEOUT 5s", {}},
    {"SELECT * FROM system_schema.tables BYPASS CACHE", {}},
    {"INSERT INTO t (p) VALUES (1) USING TTL 5 AND TIMESTAMP 6", {}},
    {"INSERT INTO t (p) VALUES (1) USING TIMEOUT 5s", {}},
    {"UPDATE t USING TIMEOUT 5s SET v = 1 WHERE p = 1", {}},
    {"DELETE FROM t USING TIMEOUT 5s WHERE p = 1", {}},
    {"TRUNCATE t USING TIMEOUT 5s", {cql::CqlFeature::kTimeouts}},
    {"PRUNE MATERIALIZED VIEW v WHERE p = 1 USING TIMEOUT 5s", {cql::CqlFeature::kTimeouts}},
    {"BEGIN BATCH USING TIMEOUT 5s DELETE FROM t USING TIMEOUT 5s WHERE p = 1 APPLY BATCH", {}},
    {"BEGIN BATCH DELETE FROM t WHERE p = 1 APPLY BATCH", {}},
    {"DROP TABLE t", {}},
};

TEST(WithoutEffectTest, StatementsAskForWhatChangesNothing) {
  for (const WithoutEffect& row : kWithoutEffect) {
    const cql::CqlOr<cql::Statement> statement = cql::ParseStatement(row.statement);
    ASSERT_TRUE(statement.ok()) << row.statement << ": " << statement.error().message;
    EXPECT_EQ(cql::FeaturesWithoutEffect(*statement), row.features) << row.statement;
  }
}

// The rows that docs/cql_support.md has to show, as they stand there.
std::string ExpectedRows() {
  std::string rows;
  for (size_t i = 0; i < cql::kCqlFeatures; ++i) {
    const cql::CqlFeatureFacts& facts = cql::FactsOf(cql::CqlFeatureAt(i));
    rows += "| `" + std::string(facts.code) + "` | " + std::string(facts.name) + " | " +
            std::string(facts.instead) + " |\n";
  }
  return rows;
}

TEST(UnsupportedTest, TheDocumentShowsTheList) {
  std::ifstream document(std::string(LISTSTORE_DOCS_DIR) + "/cql_support.md");
  ASSERT_TRUE(document.is_open());
  std::string rows;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("| `LS-")) rows += line + "\n";
  }
  EXPECT_EQ(rows, ExpectedRows());
}

}  // namespace unsupported_test
}  // namespace liststore

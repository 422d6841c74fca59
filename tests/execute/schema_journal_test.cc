// Changes of the schema, recorded and made again in another engine: what clients see of the schema is the
// same to the byte, and the engine's numbers of tables are told.
#include "engine/execute/schema_journal.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/output_buffer.h"
#include "engine/cql/schema/system_schema_tables.h"
#include "engine/cql/schema/virtual_table.h"
#include "engine/execute/query_processor.h"
#include "engine/protocol/request.h"
#include "engine/shard/engine.h"
#include "liststore/clock.h"

namespace liststore::testing {
namespace schema_journal_test {

constexpr uint64_t kNow = 1'700'000'000'000'000'000;

class FakeJournal final : public execute::SchemaJournal {
 public:
  cql::CqlStatus Reserve(size_t bytes) override {
    if (is_full_) return cql::CqlError::Server("no room");
    reserved_ += bytes;
    return {};
  }
  void Unreserve(size_t bytes) override { reserved_ -= bytes; }
  void Note(const SchemaChangeRecord& record, size_t reserved) override {
    reserved_ -= reserved;
    records_.push_back(record);
  }

  void set_full(bool is_full) { is_full_ = is_full; }
  size_t reserved() const { return reserved_; }
  const std::vector<SchemaChangeRecord>& records() const { return records_; }

 private:
  bool is_full_ = false;
  size_t reserved_ = 0;
  std::vector<SchemaChangeRecord> records_;
};

// A server's statements without a server.
class Node {
 public:
  explicit Node(FakeJournal* journal) {
    cql::AddSystemSchemaTables(virtual_tables_, /*looks_like_scylla=*/true, &engine_.catalog());
    execute::QueryProcessorOptions options;
    options.schema_journal = journal;
    processor_ = std::make_unique<execute::QueryProcessor>(engine_, clock_, virtual_tables_,
                                                           std::move(options));
    client_.keyspace = "k";
  }

  // The body of the answer; `error` says whether it is one.
  std::string Run(std::string_view text, bool* error = nullptr) {
    clock_.AdvanceNanos(1'000'000);
    protocol::Request request;
    request.message = protocol::Query{text, {}};
    execute::RequestView view({}, request);
    OutputBuffer out;
    processor_->Handle({&view, 1}, client_, out);
    if (error != nullptr) {
      *error = view.outcome.error.has_value();
    } else {
      EXPECT_FALSE(view.outcome.error) << text << ": " << view.outcome.message;
    }
    client_.statements.EndTurn();
    return std::string(out.view());
  }

  // All that clients can see of the schema.
  std::map<std::string, std::string> Seen() {
    std::map<std::string, std::string> seen;
    for (const std::string table : {"keyspaces", "tables", "columns", "views", "indexes", "types",
                                    "dropped_columns", "scylla_tables", "scylla_keyspaces"}) {
      seen[table] = Run("SELECT * FROM system_schema." + table);
    }
    seen["schema"] = Run("DESCRIBE FULL SCHEMA WITH INTERNALS");
    return seen;
  }

  shard::Engine& engine() { return engine_; }

 private:
  ManualClock clock_{kNow};
  shard::Engine engine_{shard::EngineOptions()};
  cql::VirtualTables virtual_tables_;
  std::unique_ptr<execute::QueryProcessor> processor_;
  execute::ClientState client_;
};

const std::vector<std::string> kChanges = {
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE KEYSPACE n WITH replication = {'class': 'NetworkTopologyStrategy', "
    "'replication_factor': 3} AND durable_writes = false",
    "CREATE TYPE address (street text, number int)",
    "CREATE TYPE person (name text, home frozen<address>)",
    "CREATE TABLE t (p int, c int, v int, w text, PRIMARY KEY (p, c)) "
    "WITH CLUSTERING ORDER BY (c DESC) AND default_time_to_live = 100 AND comment = 'it''s'",
    "CREATE TABLE u (p text, q text, a list<int>, b set<text>, m map<text, frozen<address>>, "
    "PRIMARY KEY ((p, q)))",
    "CREATE TABLE counts (p int PRIMARY KEY, c counter)",
    "CREATE TABLE n.gone (p int, c int, s int static, v int, PRIMARY KEY (p, c))",
    "CREATE INDEX by_v ON t (v)",
    "CREATE INDEX ON u (b)",
    "CREATE INDEX ON t ((p), w)",
    "CREATE MATERIALIZED VIEW by_w AS SELECT * FROM t WHERE w IS NOT NULL AND p IS NOT NULL AND c "
    "IS NOT NULL PRIMARY KEY (w, p, c) WITH comment = 'a view'",
    "ALTER TABLE t ADD (x int, y frozen<list<text>>)",
    "ALTER TABLE u DROP a",
    "ALTER TABLE u DROP m USING TIMESTAMP 1600000000000000",
    "ALTER TABLE u ADD a2 int",
    "ALTER TABLE t RENAME c TO c2",
    "ALTER TYPE address ADD city text",
    "ALTER TYPE address RENAME street TO road",
    "ALTER TABLE t WITH gc_grace_seconds = 5 AND compaction = {'class': "
    "'LeveledCompactionStrategy'}",
    "ALTER MATERIALIZED VIEW by_w WITH comment = 'another'",
    "ALTER KEYSPACE n WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 2}",
    "DROP INDEX by_v",
    "DROP TABLE n.gone",
    "CREATE TABLE n.gone (p int PRIMARY KEY, other text)",
    "CREATE TABLE IF NOT EXISTS n.gone (p int PRIMARY KEY)",
    "CREATE MATERIALIZED VIEW by_x AS SELECT p, c2, x FROM t WHERE x IS NOT NULL AND p IS NOT NULL "
    "AND c2 IS NOT NULL PRIMARY KEY ((x, p), c2)",
    "DROP MATERIALIZED VIEW by_w",
    "CREATE KEYSPACE away WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE away.a (p int PRIMARY KEY)",
    "DROP KEYSPACE away",
    "DROP TYPE IF EXISTS nothing",
};

TEST(SchemaJournal, WhatIsRecordedCanBeMadeAgain) {
  FakeJournal journal;
  Node first(&journal);
  for (const std::string& change : kChanges) first.Run(change);
  EXPECT_EQ(journal.reserved(), 0u);
  Node second(nullptr);
  for (const SchemaChangeRecord& record : journal.records()) {
    const cql::CqlStatus status =
        execute::ReplaySchemaChange(second.engine(), cql::ScyllaDialect(), record);
    ASSERT_TRUE(status.ok()) << record.statement << ": " << status.error().message;
  }
  const auto expected = first.Seen();
  const auto seen = second.Seen();
  for (const auto& [what, bytes] : expected) {
    EXPECT_EQ(seen.at(what), bytes) << what;
    EXPECT_GT(bytes.size(), 50u) << what;
  }
}

TEST(SchemaJournal, SaysWhichNumbersTablesHave) {
  FakeJournal journal;
  Node node(&journal);
  for (const std::string& change : kChanges) node.Run(change);
  // The last number that was told of a table is its own.
  std::map<std::string, TableId> numbers;
  for (const SchemaChangeRecord& record : journal.records()) {
    if (record.drops && record.table.empty() && record.type.empty()) {
      std::erase_if(numbers, [&](const auto& entry) {
        return entry.first.starts_with(record.keyspace + ".");
      });
    }
    if (record.drops && !record.table.empty()) {
      numbers.erase(record.keyspace + "." + record.table);
    }
    for (const NumberedTable& table : record.numbered) {
      numbers[table.keyspace + "." + table.table] = table.id;
    }
  }
  std::map<std::string, TableId> expected;
  for (const NumberedTable& table : execute::AllNumbered(*node.engine().catalog().snapshot())) {
    expected[table.keyspace + "." + table.table] = table.id;
  }
  for (const auto& [name, id] : expected) {
    ASSERT_TRUE(numbers.contains(name)) << name;
    EXPECT_EQ(numbers[name], id) << name;
  }
}

TEST(SchemaJournal, ABaseIsNumberedBeforeItsViewIsThere) {
  FakeJournal journal;
  Node node(&journal);
  for (size_t i = 0; i < 12; ++i) node.Run(kChanges[i]);
  const auto& records = journal.records();
  const auto& renewed = records[records.size() - 2];
  EXPECT_EQ(renewed.statement, "");
  ASSERT_EQ(renewed.numbered.size(), 1u);
  EXPECT_EQ(renewed.numbered[0].table, "t");
  EXPECT_EQ(renewed.numbered[0].id,
            node.engine().catalog().snapshot()->FindTable("k", "t")->storage.id);
}

TEST(SchemaJournal, WithoutRoomNothingIsDone) {
  FakeJournal journal;
  Node node(&journal);
  for (size_t i = 0; i < 8; ++i) node.Run(kChanges[i]);
  const auto before = node.Seen();
  const size_t records = journal.records().size();
  journal.set_full(true);
  for (size_t i = 8; i < kChanges.size(); ++i) {
    bool is_error = false;
    node.Run(kChanges[i], &is_error);
  }
  EXPECT_EQ(node.Seen(), before);
  EXPECT_EQ(journal.records().size(), records);
  EXPECT_EQ(journal.reserved(), 0u);
}

TEST(SchemaJournal, WhatIsRefusedOrChangesNothingIsNotRecorded) {
  FakeJournal journal;
  Node node(&journal);
  for (size_t i = 0; i < 8; ++i) node.Run(kChanges[i]);
  const size_t records = journal.records().size();
  for (const std::string refused :
       {"CREATE TABLE t (p int PRIMARY KEY)", "DROP TABLE nothing", "ALTER TABLE t ADD v int",
        "DROP TABLE IF EXISTS nothing", "CREATE TABLE IF NOT EXISTS t (p int PRIMARY KEY)",
        "TRUNCATE t"}) {
    bool is_error = false;
    node.Run(refused, &is_error);
  }
  EXPECT_EQ(journal.records().size(), records);
  EXPECT_EQ(journal.reserved(), 0u);
}

}  // namespace schema_journal_test
}  // namespace liststore::testing

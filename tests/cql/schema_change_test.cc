// Keyspaces, CREATE and DROP TABLE, TRUNCATE: what they do and what they are refused with.
#include "engine/cql/schema/schema_change.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/cql/schema_changes.h"

namespace liststore::testing {
namespace schema_change_test {

using ActionKind = SchemaAction::Kind;
using Kind = cql::SchemaChange::Kind;
using Target = cql::SchemaChange::Target;
using SchemaChangeTest = SchemaChanges;

const std::string k48(48, 'x');
const std::string k49(49, 'x');

// --- Keyspaces

TEST_F(SchemaChangeTest, CreateKeyspaceExpandsShortClassesAndFactors) {
  const cql::SchemaChange change = Must(
      "CREATE KEYSPACE k1 WITH replication = {'class': 'NetworkTopologyStrategy', "
      "'replication_factor': 3} AND durable_writes = false AND tablets = {'enabled': false}");
  EXPECT_EQ(change.kind, Kind::kCreated);
  EXPECT_EQ(change.target, Target::kKeyspace);
  EXPECT_EQ(change.keyspace, "k1");
  EXPECT_TRUE(change.alters_schema);
  EXPECT_TRUE(change.actions.empty());
  const KeyspaceDefinition& keyspace = *schema_.FindKeyspace("k1");
  EXPECT_EQ(keyspace.replication,
            (PropertyMap{{"class", "org.apache.cassandra.locator.NetworkTopologyStrategy"},
                         {"datacenter1", "3"}}));
  EXPECT_FALSE(keyspace.durable_writes);

  Must(
      "CREATE KEYSPACE k2 WITH replication = {'class': 'SimpleStrategy', "
      "'replication_factor': '1'}");
  EXPECT_EQ(schema_.FindKeyspace("k2")->replication,
            (PropertyMap{{"class", "org.apache.cassandra.locator.SimpleStrategy"},
                         {"replication_factor", "1"}}));
}

TEST_F(SchemaChangeTest, AKeyspaceThatExistsIsCreatedOnceAndSaysWhich) {
  const std::string with =
      " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
  ExpectRefused(
      {"CREATE KEYSPACE ks" + with, kAlreadyExists, "Cannot add existing keyspace \"ks\""});
  const auto change = Run("CREATE KEYSPACE ks" + with);
  EXPECT_EQ(std::get<cql::AlreadyExistsDetail>(change.error().detail),
            (cql::AlreadyExistsDetail{"ks", ""}));
  const cql::SchemaChange again = Must("CREATE KEYSPACE IF NOT EXISTS ks" + with);
  EXPECT_EQ(again.kind, Kind::kCreated) << "ScyllaDB tells listeners all the same";
  EXPECT_FALSE(again.alters_schema);
}

TEST_F(SchemaChangeTest, CreateKeyspaceRefusals) {
  const std::string simple = " WITH replication = {'class': 'SimpleStrategy', ";
  const std::string topology = " WITH replication = {'class': 'NetworkTopologyStrategy', ";
  const std::string ok = simple + "'replication_factor': 1}";
  for (const Refusal& refusal : std::initializer_list<Refusal>{
           {"CREATE KEYSPACE system_mine" + ok, kInvalid, "system keyspace is not user-modifiable"},
           {"CREATE KEYSPACE \"SYSTEM\"" + ok, kInvalid, "system keyspace is not user-modifiable"},
           {"CREATE KEYSPACE \"a-b\"" + ok, kInvalid, "\"a-b\" is not a valid keyspace name"},
           {"CREATE KEYSPACE " + k49 + ok, kInvalid,
            "Keyspace names shouldn't be more than 48 characters long (got \"" + k49 + "\")"},
           {"CREATE KEYSPACE k WITH durable_writes = true", kConfig,
            "Missing mandatory replication strategy class"},
           {"CREATE KEYSPACE k WITH replication = {'replication_factor': 1}", kConfig,
            "Missing mandatory replication strategy class"},
           {"CREATE KEYSPACE k WITH replication = 'x'", kSyntax,
            "Invalid value for property 'replication'. It should be a map."},
           {"CREATE KEYSPACE k" + ok + " AND foo = 1", kSyntax, "Unknown property 'foo'"},
           {"CREATE KEYSPACE k WITH replication = {'class': 'Foo'}", kConfig,
            "Unable to find replication strategy class 'org.apache.cassandra.locator.Foo'"},
           {"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy'}", kConfig,
            "SimpleStrategy requires a replication_factor strategy option."},
           {"CREATE KEYSPACE k" + simple + "'replication_factor': -1}", kConfig,
            "Replication factor must be numeric and non-negative, found '-1'"},
           {"CREATE KEYSPACE k" + simple + "'replication_factor': 1, 'dc': 1}", kConfig,
            "Unrecognized strategy option {dc} passed to "
            "org.apache.cassandra.locator.SimpleStrategy for keyspace k"},
           {"CREATE KEYSPACE k" + topology + "'dc9': 1}", kConfig,
            "Unrecognized strategy option {dc9} passed to "
            "org.apache.cassandra.locator.NetworkTopologyStrategy for keyspace k"},
           {"CREATE KEYSPACE k" + topology + "'datacenter1': 'x', 'dc9': 1}", kConfig,
            "Replication factor must be numeric and non-negative, found 'x'"},
           {"CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy'}", kConfig,
            "Configuration for at least one datacenter must be present"},
           {"CREATE KEYSPACE k" + ok + " AND tablets = {'enabled': 'maybe'}", kConfig,
            "Tablets enabled value must be true or false; found: maybe"},
           {"CREATE KEYSPACE k" + ok + " AND tablets = {'enabled': 'true', 'initial': 'x'}",
            kConfig, "Initial tablets value should be numeric; found x"},
           {"CREATE KEYSPACE k" + ok + " AND tablets = {'foo': 1}", kConfig,
            "Unrecognized tablets option foo"},
           {"CREATE KEYSPACE k" + ok + " AND storage = {'type': 'LOCAL', 'x': 'y'}", kInvalid,
            "Local storage does not accept any custom options"},
           {"CREATE KEYSPACE k" + ok + " AND storage = {'type': 'S4'}", kInvalid,
            "Unknown storage type: S4"},
           {"CREATE KEYSPACE k" + ok + " AND storage = {'type': 'S3', 'bucket': 'b'}", kInvalid,
            "Missing S3 option: endpoint"},
           {"CREATE KEYSPACE k" + ok +
                " AND storage = {'type': 'S3', 'bucket': 'b', 'endpoint': 'e'}",
            kInvalid, cql::CqlError::Unsupported(cql::CqlFeature::kKeyspaceStorage, "S3").message},
       }) {
    ExpectRefused(refusal);
  }
}

// Source: ScyllaDB cql3/statements/ks_prop_defs.cc, prepare_options.
TEST_F(SchemaChangeTest, AFactorStandsForAllDataCentersThatThereAre) {
  other_datacenters_ = {"dc2", "dc3"};
  Must(
      "CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', "
      "'replication_factor': 3, 'dc3': 1}");
  EXPECT_EQ(schema_.FindKeyspace("k")->replication,
            (PropertyMap{{"class", "org.apache.cassandra.locator.NetworkTopologyStrategy"},
                         {"datacenter1", "3"},
                         {"dc2", "3"},
                         {"dc3", "1"}}));
  ExpectRefused(
      {"ALTER KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'dc4': 1}",
       kConfig,
       "Unrecognized strategy option {dc4} passed to "
       "org.apache.cassandra.locator.NetworkTopologyStrategy for keyspace k"});
}

TEST_F(SchemaChangeTest, OtherDataCentersAreTakenAndSaidWhereNobodyNamedThem) {
  knows_datacenters_ = false;
  const std::string with = " WITH replication = {'class': 'NetworkTopologyStrategy', ";
  EXPECT_TRUE(Must("CREATE KEYSPACE k" + with + "'dc1': 3, 'dc2': 3}").names_other_datacenters);
  EXPECT_EQ(schema_.FindKeyspace("k")->replication,
            (PropertyMap{{"class", "org.apache.cassandra.locator.NetworkTopologyStrategy"},
                         {"dc1", "3"},
                         {"dc2", "3"}}));
  EXPECT_FALSE(Must("CREATE KEYSPACE l" + with + "'datacenter1': 3}").names_other_datacenters);
  EXPECT_TRUE(Must("ALTER KEYSPACE l" + with + "'dc1': 3}").names_other_datacenters);
  ExpectRefused({"CREATE KEYSPACE m" + with + "'dc1': 'x'}", kConfig,
                 "Replication factor must be numeric and non-negative, found 'x'"});
}

TEST_F(SchemaChangeTest, AlterKeyspaceKeepsWhatReplicationIsNotSaid) {
  const cql::SchemaChange change = Must("ALTER KEYSPACE ks WITH durable_writes = false");
  EXPECT_EQ(change.kind, Kind::kUpdated);
  EXPECT_EQ(change.target, Target::kKeyspace);
  EXPECT_FALSE(schema_.FindKeyspace("ks")->durable_writes);
  EXPECT_EQ(schema_.FindKeyspace("ks")->replication.at("replication_factor"), "1");
  Must("ALTER KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy'}");
  EXPECT_EQ(schema_.FindKeyspace("ks")->replication.at("datacenter1"), "1")
      << "the factor of another strategy stands for every data center";
  // Source: ScyllaDB cql3/statements/ks_prop_defs.cc, as_ks_metadata_update.
  EXPECT_TRUE(schema_.FindKeyspace("ks")->durable_writes) << "what is not said is true";
  ExpectRefused(
      {"ALTER KEYSPACE no WITH durable_writes = true", kInvalid, "Can't find a keyspace no"});
  ExpectRefused({"ALTER KEYSPACE ks WITH replication = {'replication_factor': 1}", kConfig,
                 "Missing replication strategy class"});
  ExpectRefused({"ALTER KEYSPACE system WITH durable_writes = true", kUnauthorized,
                 "system keyspace is not user-modifiable."});
}

TEST_F(SchemaChangeTest, DropKeyspaceDropsItsTables) {
  Must("CREATE TABLE t (p int PRIMARY KEY)");
  Must("CREATE TABLE u (p int PRIMARY KEY)");
  const cql::SchemaChange change = Must("DROP KEYSPACE ks");
  EXPECT_EQ(change.kind, Kind::kDropped);
  EXPECT_EQ(change.target, Target::kKeyspace);
  ASSERT_EQ(change.actions.size(), 2u);
  EXPECT_EQ(change.actions[0], (SchemaAction{ActionKind::kDropTable, "ks", "t", {}}));
  EXPECT_EQ(schema_.FindKeyspace("ks"), nullptr);
  ExpectRefused({"DROP KEYSPACE ks", kConfig, "Cannot drop non existing keyspace 'ks'."});
  EXPECT_EQ(Must("DROP KEYSPACE IF EXISTS ks").kind, Kind::kNothing);
  ExpectRefused(
      {"DROP KEYSPACE liststore", kUnauthorized, "liststore keyspace is not user-modifiable."});
}

// --- Tables

TEST_F(SchemaChangeTest, CreateTableMakesColumnsOrderAndOptions) {
  const cql::SchemaChange change = Must(
      "CREATE TABLE t (v blob, a text, c1 int, \"Q\" bigint, c2 ascii, p text, "
      "PRIMARY KEY ((p, \"Q\"), c1, c2)) WITH CLUSTERING ORDER BY (c1 DESC, c2 ASC) AND "
      "comment = 'hello' AND gc_grace_seconds = 100 AND default_time_to_live = 7");
  EXPECT_EQ(change.kind, Kind::kCreated);
  EXPECT_EQ(change.target, Target::kTable);
  EXPECT_EQ(change.keyspace + "." + change.table, "ks.t");
  ASSERT_EQ(change.actions.size(), 1u);
  EXPECT_EQ(change.actions[0], (SchemaAction{ActionKind::kCreateTable, "ks", "t", {}}));
  const TableDefinition& table = Table("t");
  std::string names;
  for (const ColumnDefinition& column : table.columns) names += column.name + " ";
  EXPECT_EQ(names, "p Q c1 c2 a v ");
  EXPECT_TRUE(table.FindColumn("c1")->descending);
  EXPECT_FALSE(table.FindColumn("c2")->descending);
  EXPECT_EQ(table.options.comment, "hello");
  EXPECT_EQ(table.storage.gc_grace_seconds, 100);
  EXPECT_EQ(table.storage.default_ttl_seconds, 7);
  EXPECT_NE(table.id, Uuid{});
}

// Source: ScyllaDB cql3/statements/create_table_statement.cc, prepare.
TEST_F(SchemaChangeTest, AClusteringOrderMayStopEarly) {
  Must(
      "CREATE TABLE t (p int, c int, d int, PRIMARY KEY (p, c, d)) WITH CLUSTERING ORDER BY (c "
      "DESC)");
  EXPECT_TRUE(Table("t").FindColumn("c")->descending);
  EXPECT_FALSE(Table("t").FindColumn("d")->descending);
}

// Source: ScyllaDB schema/schema.hh, NAME_LENGTH: the names of views and indexes have no limit.
TEST_F(SchemaChangeTest, NamesHaveFortyEightCharacters) {
  const std::string with =
      " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
  Must("CREATE KEYSPACE " + k48 + with);
  Must("CREATE TABLE " + k48 + " (p int PRIMARY KEY, v int)");
  const std::string longer(1000, 'y');
  Must("CREATE INDEX " + longer + " ON " + k48 + " (v)");
  Must("CREATE MATERIALIZED VIEW " + longer + " AS SELECT p FROM " + k48 +
       " WHERE p IS NOT NULL PRIMARY KEY (p)");
  Must("CREATE TYPE " + longer + " (a int)");
}

// Sources: ScyllaDB cql3/statements/create_table_statement.cc, truncate_statement.cc, prepare.
TEST_F(SchemaChangeTest, TablesAreCheckedWhenTheyArePreparedAndNothingElseIs) {
  Must("CREATE TABLE there (p int PRIMARY KEY)");
  const auto prepare = [&](const std::string& text) {
    const cql::CqlOr<cql::Statement> statement = cql::ParseStatement(text);
    if (!statement.ok()) return "not parsed: " + statement.error().message;
    const auto new_uuid = [] { return Uuid{}; };
    const cql::CqlStatus status = cql::CheckPrepared(*statement, "ks", {new_uuid}, schema_);
    return status.ok() ? std::string() : status.error().message;
  };
  struct Row {
    std::string statement;
    std::string error;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"CREATE TABLE t (p int PRIMARY KEY)", ""},
           {"CREATE TABLE there (p int PRIMARY KEY)", ""},
           {"CREATE TABLE system.t (p int PRIMARY KEY)", ""},
           {"CREATE TABLE no.t (p int PRIMARY KEY)",
            "Cannot create a table in a non-existent keyspace: no"},
           {"CREATE TABLE t (p nope PRIMARY KEY)", "Unknown type ks.nope"},
           {"CREATE TABLE t (p int)", "No PRIMARY KEY specified (exactly one required)"},
           {"CREATE TABLE t (p int PRIMARY KEY) WITH foo = 1", "Unknown property 'foo'"},
           {"TRUNCATE there", ""},
           {"TRUNCATE nope", "unconfigured table nope"},
           {"TRUNCATE no.t", "Keyspace no does not exist"},
           {"DROP TABLE nope", ""},
           {"ALTER TABLE nope ADD a int", ""},
           {"CREATE INDEX ON nope (v)", ""},
           {"CREATE KEYSPACE k WITH replication = {'class': 'Foo'}", ""},
       }) {
    EXPECT_EQ(prepare(row.statement), row.error) << row.statement;
  }
  EXPECT_EQ(schema_.FindTable("ks", "t"), nullptr);
}

TEST_F(SchemaChangeTest, ATableThatExistsIsCreatedOnceAndSaysWhich) {
  Must("CREATE TABLE t (p int PRIMARY KEY)");
  ExpectRefused({"CREATE TABLE t (p int PRIMARY KEY)", kAlreadyExists,
                 "Cannot add already existing table \"t\" to keyspace \"ks\""});
  EXPECT_EQ(
      std::get<cql::AlreadyExistsDetail>(Run("CREATE TABLE t (p int PRIMARY KEY)").error().detail),
      (cql::AlreadyExistsDetail{"ks", "t"}));
  const cql::SchemaChange again = Must("CREATE TABLE IF NOT EXISTS t (q text PRIMARY KEY)");
  EXPECT_EQ(again.kind, Kind::kCreated);
  EXPECT_FALSE(again.alters_schema);
  EXPECT_TRUE(again.actions.empty());
}

TEST_F(SchemaChangeTest, CreateTableTakesAnIdOfTheUsers) {
  const std::string id = "5a1c395e-b41f-11e5-9f22-ba0be0483c18";
  Must("CREATE TABLE t (p int PRIMARY KEY) WITH ID = '" + id + "'");
  EXPECT_EQ(Table("t").id.ToString(), id);
  ExpectRefused({"CREATE TABLE u (p int PRIMARY KEY) WITH ID = '" + id + "'", kInvalid,
                 "Table with ID " + id + " already exists: ks.t"});
  ExpectRefused({"CREATE TABLE u (p int PRIMARY KEY) WITH ID = 'x'", kConfig, "Invalid table id"});
}

TEST_F(SchemaChangeTest, CreateTableRefusals) {
  for (const Refusal& refusal : std::initializer_list<Refusal>{
           {"CREATE TABLE system.t (p int PRIMARY KEY)", kUnauthorized,
            "system keyspace is not user-modifiable."},
           {"CREATE TABLE liststore.t (p int PRIMARY KEY)", kUnauthorized,
            "liststore keyspace is not user-modifiable."},
           {"CREATE TABLE no.t (p int PRIMARY KEY)", kInvalid,
            "Cannot create a table in a non-existent keyspace: no"},
           {"CREATE TABLE \"a b\" (p int PRIMARY KEY)", kInvalid,
            "\"a b\" is not a valid table name (must be alphanumeric character only: "
            "[0-9A-Za-z]+)"},
           {"CREATE TABLE " + k49 + " (p int PRIMARY KEY)", kInvalid,
            "Table names shouldn't be more than 48 characters long (got \"" + k49 + "\")"},
           {"CREATE TABLE t (p int PRIMARY KEY, a int, a text)", kInvalid,
            "Multiple definition of identifier a"},
           {"CREATE TABLE t (p int)", kInvalid, "No PRIMARY KEY specified (exactly one required)"},
           {"CREATE TABLE t (p int PRIMARY KEY, q int PRIMARY KEY)", kInvalid,
            "Multiple PRIMARY KEYs specified (exactly one required)"},
           {"CREATE TABLE t (p int, PRIMARY KEY (q))", kInvalid,
            "Unknown definition q referenced in PRIMARY KEY"},
           {"CREATE TABLE t (p int, PRIMARY KEY (p, p))", kInvalid,
            "Unknown definition p referenced in PRIMARY KEY"},
           {"CREATE TABLE t (p list<int> PRIMARY KEY)", kInvalid,
            "Invalid non-frozen collection type for PRIMARY KEY component p"},
           {"CREATE TABLE t (p duration PRIMARY KEY)", kInvalid,
            "duration type is not supported for PRIMARY KEY part p"},
           {"CREATE TABLE t (p counter PRIMARY KEY)", kInvalid,
            "counter type is not supported for PRIMARY KEY part p"},
           {"CREATE TABLE t (p int, c int static, PRIMARY KEY (p, c))", kInvalid,
            "Static column c cannot be part of the PRIMARY KEY"},
           {"CREATE TABLE t (p int PRIMARY KEY, s int static)", kInvalid,
            "Static columns are only useful (and thus allowed) if the table has at least one "
            "clustering column"},
           {"CREATE TABLE t (p int, c int, PRIMARY KEY (p, c)) WITH CLUSTERING ORDER BY (c ASC, p "
            "ASC)",
            kInvalid, "Only clustering key columns can be defined in CLUSTERING ORDER directive"},
           {"CREATE TABLE t (p int, c int, d int, PRIMARY KEY (p, c, d)) WITH CLUSTERING ORDER BY "
            "(d ASC, c ASC)",
            kInvalid,
            "The order of columns in the CLUSTERING ORDER directive must be the one of the "
            "clustering key (c must appear before d)"},
           {"CREATE TABLE t (p int, c int, d int, PRIMARY KEY (p, c, d)) WITH CLUSTERING ORDER BY "
            "(d ASC)",
            kInvalid, "Missing CLUSTERING ORDER for column c"},
           {"CREATE TABLE t (p int PRIMARY KEY, n counter, v int)", kConfig,
            "Cannot add a non counter column (v) in a counter column family"},
           {"CREATE TABLE t (p int, c int, n counter, b int, z int static, PRIMARY KEY (p, c))",
            kConfig, "Cannot add a non counter column (z) in a counter column family"},
           {"CREATE TABLE t (p list<int> PRIMARY KEY)", kInvalid,
            "Invalid non-frozen collection type for PRIMARY KEY component p"},
           {"CREATE TABLE t (p int PRIMARY KEY, l set<frozen<tuple<duration>>>)", kInvalid,
            cql::CqlError::Unsupported(cql::CqlFeature::kDurationKeys,
                                       "l set<frozen<tuple<duration>>>")
                .message},
           {"CREATE TABLE t (p frozen<list<duration>> PRIMARY KEY)", kInvalid,
            "duration type is not supported for PRIMARY KEY part p"},
       }) {
    ExpectRefused(refusal);
  }
}

TEST_F(SchemaChangeTest, TableOptionRefusals) {
  const std::string create = "CREATE TABLE t (p int PRIMARY KEY) WITH ";
  for (const Refusal& refusal : std::initializer_list<Refusal>{
           {create + "foo = 1", kSyntax, "Unknown property 'foo'"},
           {create + "comment = {'a': 'b'}", kSyntax,
            "Invalid value for property 'comment'. It should be a string"},
           {create + "gc_grace_seconds = 'x'", kSyntax,
            "Invalid integer value x for 'gc_grace_seconds'"},
           {create + "bloom_filter_fp_chance = 'x'", kSyntax,
            "Invalid double value x for 'bloom_filter_fp_chance'"},
           {create + "default_time_to_live = -1", kConfig,
            "default_time_to_live cannot be smaller than 0, (default 0)"},
           {create + "default_time_to_live = 630720001", kConfig,
            "default_time_to_live must be less than or equal to 630720000 (got 630720001)"},
           {create + "min_index_interval = 0", kConfig,
            "min_index_interval must be greater than 0"},
           {create + "max_index_interval = 1", kConfig,
            "max_index_interval must be greater than min_index_interval"},
           {create + "bloom_filter_fp_chance = 0", kConfig,
            "bloom_filter_fp_chance must be larger than 6.71e-05 and less than or equal to 1.0 "
            "(got 0)"},
           {create + "memtable_flush_period_in_ms = 10", kConfig,
            "memtable_flush_period_in_ms must be 0 or greater than 60000"},
           {create + "speculative_retry = 'often'", kConfig,
            "Invalid value often for option 'speculative_retry'"},
           {create + "speculative_retry = '101P'", kConfig,
            "Invalid value 101P for option 'speculative_retry'"},
           {create + "compaction = {'enabled': 'true'}", kConfig,
            "Missing sub-option 'class' for the 'compaction' option."},
           {create + "compaction = {'class': 'Foo'}", kConfig,
            "Unable to find compaction strategy class 'Foo'"},
           {create + "compression = {'chunk_length_in_kb': 4}", kConfig,
            "Missing sub-option 'sstable_compression' for the 'compression' option."},
           {create + "caching = {'foo': 'ALL'}", kConfig, "Invalid caching option: foo"},
           {create + "cdc = {'enabled': true}", kInvalid,
            cql::CqlError::Unsupported(cql::CqlFeature::kCdc, "cdc").message},
           {create + "synchronous_updates = true", kInvalid,
            "The synchronous_updates option is only applicable to materialized views, not to base "
            "tables"},
       }) {
    ExpectRefused(refusal);
  }
}

TEST_F(SchemaChangeTest, TableOptionsAreKept) {
  Must(
      "CREATE TABLE t (p int PRIMARY KEY) WITH bloom_filter_fp_chance = 0.5 AND "
      "speculative_retry = '95percentile' AND caching = {'keys': 'NONE'} AND read_repair_chance = "
      "0.3 AND compaction = {'class': 'LeveledCompactionStrategy'} AND compression = "
      "{'sstable_compression': 'ZstdCompressor'} AND tombstone_gc = {'mode': 'timeout'}");
  const TableOptions& options = Table("t").options;
  EXPECT_EQ(options.bloom_filter_fp_chance, 0.5);
  EXPECT_EQ(options.speculative_retry, "95.0PERCENTILE");
  EXPECT_EQ(options.caching, (PropertyMap{{"keys", "NONE"}, {"rows_per_partition", "ALL"}}));
  EXPECT_EQ(options.compaction.at("class"), "LeveledCompactionStrategy");
  EXPECT_EQ(options.compression.at("sstable_compression"),
            "org.apache.cassandra.io.compress.ZstdCompressor");
  Must("ALTER TABLE t WITH speculative_retry = '90.5P'");
  EXPECT_EQ(Table("t").options.speculative_retry, "90.5PERCENTILE");
}

TEST_F(SchemaChangeTest, DropTable) {
  Must("CREATE TABLE t (p int PRIMARY KEY, v int)");
  const cql::SchemaChange change = Must("DROP TABLE t");
  EXPECT_EQ(change.kind, Kind::kDropped);
  EXPECT_EQ(change.actions.at(0), (SchemaAction{ActionKind::kDropTable, "ks", "t", {}}));
  EXPECT_EQ(schema_.FindTable("ks", "t"), nullptr);
  EXPECT_EQ(Must("DROP TABLE IF EXISTS t").kind, Kind::kNothing);
  ExpectRefused({"DROP TABLE t", kInvalid, "Cannot drop non existing table 't' in keyspace 'ks'."});
  ExpectRefused({"DROP TABLE liststore.list_items", kUnauthorized,
                 "liststore keyspace is not user-modifiable."});
}

TEST_F(SchemaChangeTest, TruncateEmptiesATableAndTellsNobody) {
  Must("CREATE TABLE t (p int PRIMARY KEY, v int)");
  Must("CREATE INDEX i ON t(v)");
  const cql::SchemaChange change = Must("TRUNCATE TABLE ks.t");
  EXPECT_EQ(change.kind, Kind::kNothing);
  EXPECT_FALSE(change.alters_schema);
  EXPECT_EQ(change.actions.at(0), (SchemaAction{ActionKind::kTruncateTable, "ks", "t", {}}));
  EXPECT_EQ(Must("TRUNCATE liststore.list_items").actions.size(), 1u);
  for (const Refusal& refusal : std::initializer_list<Refusal>{
           {"TRUNCATE no", kInvalid, "unconfigured table no"},
           {"TRUNCATE no.t", kInvalid, "Keyspace no does not exist"},
           {"TRUNCATE i_index", kInvalid,
            "Cannot TRUNCATE materialized view directly; must truncate base table instead"},
           {"TRUNCATE liststore.list_features", kInvalid,
            "Cannot truncate table liststore.list_features: it belongs to the list store"},
           {"TRUNCATE system.local", kUnauthorized, "system keyspace is not user-modifiable."},
       }) {
    ExpectRefused(refusal);
  }
}

TEST_F(SchemaChangeTest, WithoutAKeyspaceATableHasNone) {
  for (const char* text : {"CREATE TABLE t (p int PRIMARY KEY)", "DROP TABLE t", "TRUNCATE t",
                           "ALTER TABLE t ADD a int", "CREATE INDEX ON t(v)", "DROP INDEX i"}) {
    const auto change = Run(text, "");
    ASSERT_FALSE(change.ok()) << text;
    EXPECT_EQ(change.error().message,
              "No keyspace has been specified. USE a keyspace, or explicitly specify "
              "keyspace.tablename");
  }
}

TEST_F(SchemaChangeTest, OtherStatementsChangeNoSchema) {
  for (const char* text : {"SELECT * FROM t", "INSERT INTO t (a) VALUES (1)", "USE ks"}) {
    EXPECT_FALSE(cql::IsSchemaStatement(*cql::ParseStatement(text))) << text;
  }
}

}  // namespace schema_change_test
}  // namespace liststore::testing

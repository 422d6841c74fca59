// What the trees of schema statements and DESCRIBE hold; types; what is known and not supported.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/cql/syntax/parser.h"
#include "engine/cql/syntax/statement.h"
#include "tests/cql/parse.h"

namespace liststore {
namespace parser_schema_test {

using testing::Joined;
using testing::Parsed;

// "name=value | name={k:v}".
std::string Text(const std::vector<cql::Property>& properties) {
  std::string text;
  for (const cql::Property& property : properties) {
    if (!text.empty()) text += " | ";
    text += property.name + "=";
    if (const auto* value = std::get_if<std::string>(&property.value)) {
      text += *value;
      continue;
    }
    text += "{";
    for (const auto& [key, value] : std::get<cql::Property::Map>(property.value)) {
      text += key + ":" + value + ",";
    }
    text += "}";
  }
  return text;
}

std::string Text(const std::vector<cql::ColumnSpec>& columns) {
  std::string text;
  for (const cql::ColumnSpec& column : columns) {
    if (!text.empty()) text += " | ";
    text += column.name + " " + cql::ToString(column.type) + (column.is_static ? " static" : "");
  }
  return text;
}

std::string Text(const std::vector<cql::ColumnOrder>& order) {
  std::string text;
  for (const cql::ColumnOrder& column : order)
    text += column.column + (column.descending ? "- " : "+ ");
  return text;
}

TEST(ParseKeyspaceTest, CreateAlterDrop) {
  const auto create = Parsed<cql::CreateKeyspaceStatement>(
      "CREATE KEYSPACE IF NOT EXISTS \"My_ks\" WITH replication = {'class': 'SimpleStrategy', "
      "'replication_factor': 1} AND durable_writes = false AND tablets = {'enabled': false}");
  EXPECT_EQ(create.keyspace, "My_ks");
  EXPECT_TRUE(create.if_not_exists);
  EXPECT_EQ(Text(create.properties),
            "replication={class:SimpleStrategy,replication_factor:1,} | durable_writes=false | "
            "tablets={enabled:false,}");
  EXPECT_EQ(
      Text(Parsed<cql::CreateKeyspaceStatement>("CREATE SCHEMA k WITH replication = {'class': "
                                                "'N', 'dc': 3, 'x': null}")
               .properties),
      "replication={class:N,dc:3,x:null,}");
  const auto alter =
      Parsed<cql::AlterKeyspaceStatement>("ALTER KEYSPACE ks WITH durable_writes = true");
  EXPECT_EQ(alter.keyspace, "ks");
  EXPECT_EQ(Text(alter.properties), "durable_writes=true");
  EXPECT_EQ(Parsed<cql::DropKeyspaceStatement>("DROP KEYSPACE ks").keyspace, "ks");
  EXPECT_TRUE(Parsed<cql::DropKeyspaceStatement>("DROP SCHEMA IF EXISTS ks").if_exists);
}

TEST(ParseTableTest, TheListModelsTable) {
  const auto create = Parsed<cql::CreateTableStatement>(
      "CREATE TABLE IF NOT EXISTS ks.list_items (\n"
      "    feature_key text, entity_id varchar, item_key text, value blob,\n"
      "    PRIMARY KEY ((feature_key, entity_id), item_key)\n"
      ") WITH CLUSTERING ORDER BY (item_key DESC) AND default_time_to_live = 60\n"
      "  AND comment = 'it''s' AND compaction = {'class': 'X'} AND bloom_filter_fp_chance = 0.01");
  EXPECT_EQ(cql::ToString(create.table), "ks.list_items");
  EXPECT_TRUE(create.if_not_exists);
  EXPECT_EQ(Text(create.columns), "feature_key text | entity_id text | item_key text | value blob");
  ASSERT_EQ(create.partition_keys.size(), 1u);
  EXPECT_EQ(create.partition_keys[0], (std::vector<std::string>{"feature_key", "entity_id"}));
  EXPECT_EQ(create.clustering_key, std::vector<std::string>{"item_key"});
  EXPECT_EQ(Text(create.clustering_order), "item_key- ");
  EXPECT_EQ(Text(create.properties),
            "default_time_to_live=60 | comment=it's | compaction={class:X,} | "
            "bloom_filter_fp_chance=0.01");
}

TEST(ParseTableTest, OtherForms) {
  const auto inline_key = Parsed<cql::CreateTableStatement>(
      "CREATE COLUMNFAMILY t (k int PRIMARY KEY, s int static, \"V\" list<int>,) WITH COMPACT "
      "STORAGE "
      "AND id = 5a1c395e-b41f-11e5-9f22-ba0be0483c18");
  EXPECT_EQ(Text(inline_key.columns), "k int | s int static | V list<int>");
  EXPECT_EQ(inline_key.partition_keys, (std::vector<std::vector<std::string>>{{"k"}}));
  EXPECT_TRUE(inline_key.compact_storage);
  EXPECT_EQ(Text(inline_key.properties), "id=5a1c395e-b41f-11e5-9f22-ba0be0483c18");
  const auto two = Parsed<cql::CreateTableStatement>(
      "CREATE TABLE t (k int PRIMARY KEY, PRIMARY KEY (k, c, d))");
  EXPECT_EQ(two.partition_keys.size(), 2u);
  EXPECT_EQ(two.clustering_key, (std::vector<std::string>{"c", "d"}));
  EXPECT_TRUE(Parsed<cql::CreateTableStatement>("CREATE TABLE t (a int)").partition_keys.empty());
}

TEST(ParseTableTest, Alter) {
  using Kind = cql::AlterTableStatement::Kind;
  const auto add = Parsed<cql::AlterTableStatement>("ALTER TABLE ks.t ADD a int");
  EXPECT_EQ(add.kind, Kind::kAdd);
  EXPECT_EQ(Text(add.columns), "a int");
  EXPECT_EQ(Text(Parsed<cql::AlterTableStatement>("ALTER TABLE t ADD (a int static, b set<text>)")
                     .columns),
            "a int static | b set<text>");
  const auto drop = Parsed<cql::AlterTableStatement>("ALTER TABLE t DROP (a, b) USING TIMESTAMP 5");
  EXPECT_EQ(drop.kind, Kind::kDrop);
  EXPECT_EQ(drop.columns.size(), 2u);
  EXPECT_EQ(drop.columns[1].name, "b");
  EXPECT_EQ(cql::ToString(*drop.drop_timestamp), "5");
  const auto rename =
      Parsed<cql::AlterTableStatement>("ALTER COLUMNFAMILY t RENAME a TO b AND c TO d");
  EXPECT_EQ(rename.kind, Kind::kRename);
  EXPECT_EQ(rename.renames[1], (std::pair<std::string, std::string>("c", "d")));
  const auto type = Parsed<cql::AlterTableStatement>("ALTER TABLE t ALTER a TYPE blob");
  EXPECT_EQ(type.kind, Kind::kAlterType);
  EXPECT_EQ(Text(type.columns), "a blob");
  const auto with =
      Parsed<cql::AlterTableStatement>("ALTER TABLE t WITH gc_grace_seconds = 0 AND comment = ''");
  EXPECT_EQ(with.kind, Kind::kProperties);
  EXPECT_EQ(Text(with.properties), "gc_grace_seconds=0 | comment=");
  EXPECT_EQ(Parsed<cql::AlterTableStatement>("ALTER TABLE t TTL a").kind, Kind::kTtlPerRow);
  EXPECT_EQ(cql::ToString(Parsed<cql::DropTableStatement>("DROP TABLE IF EXISTS ks.t").table),
            "ks.t");
}

TEST(ParseIndexTest, Local) {
  const auto create = Parsed<cql::CreateIndexStatement>(
      "CREATE INDEX IF NOT EXISTS list_items_by_value ON ks.list_items((feature_key, entity_id), "
      "value)");
  EXPECT_EQ(create.name, "list_items_by_value");
  EXPECT_EQ(cql::ToString(create.table), "ks.list_items");
  EXPECT_TRUE(create.if_not_exists);
  ASSERT_EQ(create.targets.size(), 2u);
  EXPECT_EQ(create.targets[0].kind, cql::IndexTarget::Kind::kColumns);
  EXPECT_EQ(create.targets[0].columns, (std::vector<std::string>{"feature_key", "entity_id"}));
  EXPECT_EQ(create.targets[1].kind, cql::IndexTarget::Kind::kColumn);
  EXPECT_EQ(create.targets[1].columns, std::vector<std::string>{"value"});
}

TEST(ParseIndexTest, OtherForms) {
  using Kind = cql::IndexTarget::Kind;
  const auto unnamed = Parsed<cql::CreateIndexStatement>("CREATE INDEX ON t (v)");
  EXPECT_EQ(unnamed.name, "");
  EXPECT_FALSE(unnamed.custom);
  const auto custom = Parsed<cql::CreateIndexStatement>(
      "CREATE CUSTOM INDEX i ON t (a, b) USING 'x.Y' WITH OPTIONS = {'mode': 'CONTAINS'}");
  EXPECT_TRUE(custom.custom);
  EXPECT_EQ(custom.custom_class, "x.Y");
  EXPECT_EQ(custom.targets.size(), 2u);
  EXPECT_EQ(Text(custom.properties), "options={mode:CONTAINS,}");
  const std::pair<std::string_view, Kind> targets[] = {
      {"values(c)", Kind::kValues}, {"KEYS(c)", Kind::kKeys},  {"entries(c)", Kind::kEntries},
      {"full(c)", Kind::kFull},     {"values", Kind::kColumn}, {"keys", Kind::kColumn}};
  for (const auto& [text, kind] : targets) {
    const auto index =
        Parsed<cql::CreateIndexStatement>("CREATE INDEX ON t (" + std::string(text) + ")");
    ASSERT_EQ(index.targets.size(), 1u);
    EXPECT_EQ(index.targets[0].kind, kind) << text;
  }
  EXPECT_TRUE(Parsed<cql::CreateIndexStatement>("CREATE INDEX i ON t ()").targets.empty());
  const auto drop = Parsed<cql::DropIndexStatement>("DROP INDEX IF EXISTS ks.i");
  EXPECT_TRUE(drop.if_exists);
  EXPECT_EQ(cql::ToString(drop.index), "ks.i");
}

struct TypeExample {
  std::string_view text;
  std::string_view printed;
  std::string_view resolved;  // or the refusal
};

constexpr TypeExample kTypes[] = {
    {"int", "int", "int"},
    {"VarChar", "text", "text"},
    {"list<int>", "list<int>", "list<int>"},
    {"frozen<list<frozen<set<text>>>>", "frozen<list<frozen<set<text>>>>",
     "frozen<list<frozen<set<text>>>>"},
    {"map<text, frozen<list<int>>>", "map<text, frozen<list<int>>>",
     "map<text, frozen<list<int>>>"},
    {"frozen<map<text, list<int>>>", "frozen<map<text, list<int>>>",
     "frozen<map<text, frozen<list<int>>>>"},
    {"tuple<int, list<text>>", "tuple<int, list<text>>", "frozen<tuple<int, frozen<list<text>>>>"},
    {"map<text, list<int>>", "map<text, list<int>>",
     "Non-frozen user types or collections are not allowed inside collections: map<text, "
     "list<int>>"},
    {"list<counter>", "list<counter>",
     "Counters are not allowed inside collections: list<counter>"},
    {"set<duration>", "set<duration>", "Durations are not allowed inside sets: set<duration>"},
    {"map<duration, int>", "map<duration, int>",
     "Durations are not allowed as map keys: map<duration, int>"},
    {"map<int, duration>", "map<int, duration>", "map<int, duration>"},
    {"address", "address", "Unknown type ks.address"},
    {"\"Ks2\".\"A b\"", "\"Ks2\".\"A b\"",
     "Statement on keyspace ks cannot refer to a user type in keyspace Ks2; user types can only be "
     "used in the keyspace they are defined in"},
    {"list", "list", "Unknown type ks.list"},
    {"vector<float, 3>", "vector<float, 3>",
     "liststore does not support vectors (vector<float, 3>); instead: a blob, and the search in "
     "the "
     "service [LS-0011]"},
};

TEST(ParseTypeTest, TypesAreReadPrintedAndResolved) {
  for (const TypeExample& example : kTypes) {
    const cql::CqlOr<cql::TypeSpec> type = cql::ParseType(example.text);
    ASSERT_TRUE(type.ok()) << example.text << ": " << type.error().message;
    EXPECT_EQ(cql::ToString(*type), example.printed);
    EXPECT_EQ(*cql::ParseType(cql::ToString(*type)), *type);
    const cql::CqlOr<DataType> resolved = cql::ToDataType(*type, "ks");
    EXPECT_EQ(resolved.ok() ? resolved->ToString() : resolved.error().message, example.resolved);
  }
}

TEST(ParseTypeTest, WhatIsNoType) {
  for (const std::string_view text :
       {"", "frozen<int>", "list<>", "list<int", "map<int>", "map<int, int, int>", "set", "tuple<>",
        "5", "byte", "ks.int", "vector<int>", "vector<int, 0>", "vector<int, 16001>", "int int"}) {
    EXPECT_FALSE(cql::ParseType(text).ok()) << text;
  }
}

struct DescribeExample {
  std::string_view text;
  cql::DescribeStatement::Kind kind;
  std::string_view name;
};

using Describe = cql::DescribeStatement::Kind;
constexpr DescribeExample kDescribes[] = {
    {"DESCRIBE CLUSTER", Describe::kCluster, ""},
    {"DESC SCHEMA", Describe::kSchema, ""},
    {"DESC FULL SCHEMA", Describe::kSchema, ""},
    {"DESC KEYSPACES", Describe::kKeyspaces, ""},
    {"DESC KEYSPACE", Describe::kKeyspace, "."},
    {"DESC KEYSPACE ks", Describe::kKeyspace, "ks."},
    {"DESC ONLY KEYSPACE ks", Describe::kKeyspace, "ks."},
    {"DESC TABLES", Describe::kTables, ""},
    {"DESC TABLE ks.t", Describe::kTable, "ks.t"},
    {"DESC COLUMNFAMILY t", Describe::kTable, "t"},
    {"DESC INDEX ks.i", Describe::kIndex, "ks.i"},
    {"DESC MATERIALIZED VIEW v", Describe::kMaterializedView, "v"},
    {"DESC TYPES", Describe::kTypes, ""},
    {"DESC TYPE ks.u", Describe::kType, "ks.u"},
    {"DESC FUNCTIONS", Describe::kFunctions, ""},
    {"DESC FUNCTION f", Describe::kFunction, "f"},
    {"DESC AGGREGATES", Describe::kAggregates, ""},
    {"DESC AGGREGATE ks.a", Describe::kAggregate, "ks.a"},
    {"DESC ks.t", Describe::kAny, "ks.t"},
    {"DESC \"T\"", Describe::kAny, "T"},
    {"DESC only", Describe::kAny, "only"},
};

TEST(ParseDescribeTest, EveryForm) {
  for (const DescribeExample& example : kDescribes) {
    const auto describe = Parsed<cql::DescribeStatement>(example.text);
    EXPECT_EQ(describe.kind, example.kind) << example.text;
    EXPECT_EQ(cql::ToString(describe.name), example.name == "." ? "" : example.name)
        << example.text;
    EXPECT_FALSE(describe.with_internals);
    const auto internals = Parsed<cql::DescribeStatement>(std::string(example.text) +
                                                          " WITH INTERNALS AND PASSWORDS;");
    EXPECT_TRUE(internals.with_internals && internals.with_passwords) << example.text;
  }
  EXPECT_TRUE(Parsed<cql::DescribeStatement>("DESC FULL SCHEMA").full);
  EXPECT_TRUE(Parsed<cql::DescribeStatement>("DESC ONLY KEYSPACE ks").only);
}

TEST(ParseUserTypeTest, StatementsOfUserTypes) {
  const auto create =
      Parsed<cql::CreateTypeStatement>("CREATE TYPE IF NOT EXISTS ks.t (a int, \"B\" frozen<u>,);");
  EXPECT_EQ(cql::ToString(create.type), "ks.t");
  EXPECT_TRUE(create.if_not_exists);
  ASSERT_EQ(create.fields.size(), 2u);
  EXPECT_EQ(create.fields[1].name, "B");
  EXPECT_EQ(cql::ToString(create.fields[1].type), "frozen<u>");

  const auto add = Parsed<cql::AlterTypeStatement>("ALTER TYPE t ADD b list<int>");
  EXPECT_EQ(add.kind, cql::AlterTypeStatement::Kind::kAdd);
  EXPECT_EQ(add.field.name + " " + cql::ToString(add.field.type), "b list<int>");
  const auto alter = Parsed<cql::AlterTypeStatement>("ALTER TYPE t ALTER b TYPE text");
  EXPECT_EQ(alter.kind, cql::AlterTypeStatement::Kind::kAlterType);
  const auto rename = Parsed<cql::AlterTypeStatement>("ALTER TYPE ks.t RENAME a TO b AND c TO d");
  EXPECT_EQ(rename.kind, cql::AlterTypeStatement::Kind::kRename);
  ASSERT_EQ(rename.renames.size(), 2u);
  EXPECT_EQ(rename.renames[1].second, "d");

  EXPECT_TRUE(Parsed<cql::DropTypeStatement>("DROP TYPE IF EXISTS t").if_exists);
  EXPECT_EQ(Parsed<cql::DropTypeStatement>("DROP TYPE \"T\"").type.name, "T");
  for (const char* text : {"CREATE TYPE t ()", "CREATE TYPE t", "CREATE TYPE int (a int)",
                           "CREATE TYPE byte (a int)", "ALTER TYPE t", "DROP TYPE"}) {
    EXPECT_NE(testing::Refusal(text), "") << text;
  }
}

TEST(ParseSchemaTest, MaterializedViews) {
  const auto create = Parsed<cql::CreateViewStatement>(
      "CREATE MATERIALIZED VIEW IF NOT EXISTS ks.v AS SELECT a, \"B\" FROM t WHERE a IS NOT NULL "
      "AND "
      "c IN (1, 2) AND (d, e) > (1, 2) PRIMARY KEY ((a, \"B\"), c) WITH CLUSTERING ORDER BY (c "
      "DESC) "
      "AND comment = 'x'");
  EXPECT_TRUE(create.if_not_exists);
  EXPECT_EQ(cql::ToString(create.view), "ks.v");
  EXPECT_EQ(create.base.name, "t");
  EXPECT_EQ(create.selectors.size(), 2u);
  ASSERT_EQ(create.where.size(), 3u);
  EXPECT_EQ(create.where[0].op, cql::RelationOperator::kIsNotNull);
  EXPECT_EQ(create.partition_key, (std::vector<std::string>{"a", "B"}));
  EXPECT_EQ(create.clustering_key, std::vector<std::string>{"c"});
  EXPECT_TRUE(create.clustering_order.at(0).descending);
  EXPECT_EQ(create.properties.size(), 1u);
  EXPECT_TRUE(Parsed<cql::CreateViewStatement>(
                  "CREATE MATERIALIZED VIEW v AS SELECT * FROM t PRIMARY KEY (a)")
                  .selectors.empty());
  EXPECT_EQ(
      Parsed<cql::AlterViewStatement>("alter materialized view w WITH comment = 'x'").view.name,
      "w");
  EXPECT_TRUE(Parsed<cql::DropViewStatement>("DROP MATERIALIZED VIEW IF EXISTS w").if_exists);
  for (const char* text :
       {"CREATE MATERIALIZED VIEW v AS SELECT * FROM t", "CREATE MATERIALIZED VIEW v",
        "ALTER MATERIALIZED VIEW v", "DROP MATERIALIZED VIEW",
        "CREATE MATERIALIZED VIEW v AS SELECT JSON * FROM t PRIMARY KEY (a)"}) {
    EXPECT_NE(testing::Refusal(text), "") << text;
  }
}

TEST(ParseViewTest, PruneTakesAWhereAndATimeout) {
  const auto prune =
      Parsed<cql::PruneViewStatement>("PRUNE MATERIALIZED VIEW ks.v WHERE p = ? USING TIMEOUT 5s");
  EXPECT_EQ(cql::ToString(prune.view), "ks.v");
  ASSERT_EQ(prune.where.size(), 1u);
  EXPECT_EQ(cql::ToString(prune.where[0]), "p = ?");
  EXPECT_TRUE(prune.timeout);
  EXPECT_EQ(testing::Refusal("PRUNE TABLE t"), "line 1:6 : Missing MATERIALIZED");
}

TEST(ParseUnsupportedTest, StatementsAreKnownByName) {
  const std::pair<std::string_view, std::string_view> examples[] = {
      {"CREATE OR REPLACE FUNCTION f (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE lua "
       "AS "
       "'return ; 1'",
       "CREATE FUNCTION"},
      {"CREATE AGGREGATE a (int) SFUNC f STYPE int", "CREATE AGGREGATE"},
      {"DROP FUNCTION f", "DROP FUNCTION"},
      {"CREATE TRIGGER x ON t USING 'y'", "CREATE TRIGGER"},
      {"LIST ALL ATTACHED SERVICE LEVELS", "LIST SERVICE_LEVEL"},
      {"CREATE SERVICE LEVEL s WITH shares = 1", "CREATE SERVICE_LEVEL"},
      {"ATTACH SERVICE_LEVEL s TO r", "ATTACH SERVICE_LEVEL"},
  };
  for (const auto& [text, words] : examples) {
    EXPECT_EQ(Parsed<cql::UnsupportedStatement>(text).words, words) << text;
  }
  EXPECT_EQ(testing::Refusal("DROP ROLE r; DROP ROLE s"), "line 1:13 : Unexpected 'DROP'");
  EXPECT_EQ(testing::Refusal("CREATE ROLE 'r"), "line 1:12 no viable alternative at input ''r'");
}

}  // namespace parser_schema_test
}  // namespace liststore

// A schema, and statements that change it, as text.
#ifndef LISTSTORE_TESTS_CQL_SCHEMA_CHANGES_H_
#define LISTSTORE_TESTS_CQL_SCHEMA_CHANGES_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cql/schema/schema_change.h"
#include "engine/cql/syntax/parser.h"
#include "gtest/gtest.h"

namespace liststore::testing {

// A row of a table test: what `statement` is refused with.
struct Refusal {
  std::string statement;
  CqlErrorCode code;
  std::string message;
};

// Holds a schema with the keyspaces system, liststore (list_items and list_features of a list
// store) and ks, which USE names.
class SchemaChanges : public ::testing::Test {
 protected:
  static constexpr CqlErrorCode kInvalid = CqlErrorCode::kInvalid;
  static constexpr CqlErrorCode kConfig = CqlErrorCode::kConfig;
  static constexpr CqlErrorCode kSyntax = CqlErrorCode::kSyntax;
  static constexpr CqlErrorCode kUnauthorized = CqlErrorCode::kUnauthorized;
  static constexpr CqlErrorCode kAlreadyExists = CqlErrorCode::kAlreadyExists;

  SchemaChanges() {
    for (const char* name : {"system", "ks", "liststore"}) {
      auto keyspace = std::make_shared<KeyspaceDefinition>();
      keyspace->name = name;
      keyspace->replication = {{"class", "org.apache.cassandra.locator.SimpleStrategy"},
                               {"replication_factor", "1"}};
      schema_.keyspaces[name] = std::move(keyspace);
    }
    for (const char* name : {"list_items", "list_features"}) {
      TableSchema storage;
      storage.keyspace = "liststore";
      storage.name = name;
      storage.partition_key = {{"p", CqlType::kText}, {"q", CqlType::kText}};
      storage.clustering = {{"c", CqlType::kText, true}};
      storage.regular = {{"value", CqlType::kBlob}};
      storage.indexes = {{std::string(name) + "_by_value", 0}};
      auto table = std::make_shared<TableDefinition>(DefinitionOf(storage));
      table->belongs_to_list_store = true;
      auto keyspace = std::make_shared<KeyspaceDefinition>(*schema_.FindKeyspace("liststore"));
      keyspace->tables[name] = std::move(table);
      schema_.keyspaces["liststore"] = std::move(keyspace);
    }
  }

  cql::CqlOr<cql::SchemaChange> Run(std::string_view text, std::string_view keyspace = "ks") {
    cql::CqlOr<cql::Statement> statement = cql::ParseStatement(text);
    if (!statement.ok()) {
      ADD_FAILURE() << text << ": " << statement.error().message;
      return statement.status();
    }
    EXPECT_TRUE(cql::IsSchemaStatement(*statement)) << text;
    const auto new_uuid = [&] { return Uuid::FromRandomBits(0, ++ids_); };
    cql::SchemaChangeContext context{new_uuid, "datacenter1", now_micros_};
    context.other_datacenters = other_datacenters_;
    context.knows_datacenters = knows_datacenters_;
    context.drop_micros = drop_micros_;
    return cql::ApplySchemaStatement(*statement, keyspace, context, schema_);
  }
  cql::SchemaChange Must(std::string_view text) {
    cql::CqlOr<cql::SchemaChange> change = Run(text);
    if (change.ok()) return *change;
    ADD_FAILURE() << text << ": " << change.error().message;
    return {};
  }
  void ExpectRefused(const Refusal& refusal) {
    const auto before = schema_.keyspaces;
    const cql::CqlOr<cql::SchemaChange> change = Run(refusal.statement);
    ASSERT_FALSE(change.ok()) << refusal.statement;
    EXPECT_EQ(change.error().code, refusal.code) << refusal.statement;
    EXPECT_EQ(change.error().message, refusal.message) << refusal.statement;
    EXPECT_EQ(schema_.keyspaces, before) << refusal.statement << ": nothing has changed";
  }
  const TableDefinition& Table(std::string_view name) {
    const auto table = schema_.FindTable("ks", name);
    LS_CHECK(table != nullptr, "the test has made the table");
    return *table;
  }

  Schema schema_;
  uint64_t ids_ = 0;
  int64_t now_micros_ = 1000;
  std::vector<std::string> other_datacenters_;
  bool knows_datacenters_ = true;
  std::optional<int64_t> drop_micros_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CQL_SCHEMA_CHANGES_H_

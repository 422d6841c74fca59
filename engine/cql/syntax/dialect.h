// Dialect: whose CQL is spoken, ScyllaDB's or that of a version of Cassandra. Chosen once, when a
// server starts; a rule for each way in which they differ. docs/cql_support.md has a row for each.
#ifndef LISTSTORE_ENGINE_CQL_SYNTAX_DIALECT_H_
#define LISTSTORE_ENGINE_CQL_SYNTAX_DIALECT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/model/dialect_name.h"

namespace liststore::cql {

// The defaults are ScyllaDB's rules. What is named after a file is what Cassandra does instead;
// files are of org.apache.cassandra.
struct Dialect {
  // Words and names are Cassandra's where nothing below says more.
  bool is_cassandra = false;
  // As CqlServerOptions::like has it, and records of the schema. Constant, of the program's life.
  std::string_view name = kScyllaDialectName;
  uint32_t major = 0;  // of that Cassandra

  // ---- Texts

  // Expressions inside of each other. Source: ScyllaDB cql3/Cql.g, max_expression_nesting.
  int expression_nesting_max = 12;
  // Words, constants and symbols of one statement. A tree and the plan made of it take up to 300
  // bytes for each (`SELECT a, a, ...`), and twice that while they grow: some hundred MiB at this
  // limit, and tens of GiB for what fits into a frame. A server with little memory for clients has
  // less. ScyllaDB bounds a request by its share of memory.
  size_t tokens_max = size_t{1} << 20;

  // Of the plans that one request makes, together. A short statement may have a long plan: its table
  // has many columns, or views of many conditions. The same holds for servers with little memory.
  size_t plan_bytes_max = size_t{256} << 20;

  // ALTER TABLE t DROP COMPACT STORAGE is a statement, if one that a Cassandra refuses by default.
  // cql3/statements/schema/AlterTableStatement.java.
  bool has_drop_compact_storage = false;

  // ---- WHERE: cql3/restrictions/StatementRestrictions.java

  // Slices of the clustering columns of all partitions need ALLOW FILTERING; else a warning is all.
  bool slices_of_all_need_filtering = false;
  // A column has one relation, or one at each end. SingleColumnRestriction.java, doMergeWith.
  bool one_relation_for_a_column = false;
  // Tuples of clustering columns begin behind columns that equal something, and stand beside single
  // columns. ClusteringColumnRestrictions.java, mergeWith; MultiColumnRestriction.java.
  bool tuples_behind_columns = false;
  // No index is used beside IN for the partition key. validateSecondaryIndexSelections.
  bool refuses_index_beside_in = false;
  // A partition key of no bytes is not looked for. cql3/QueryProcessor.java, validateKey.
  bool refuses_empty_keys = false;
  // Nor is a value of no bytes by an index, of which it is the key.
  bool refuses_empty_indexed = false;
  // Partitions of IN in a view come descending for a column that its table has so.
  // PartitionKeySingleRestrictionSet.java.
  bool in_as_base_orders = false;

  // ---- SELECT: cql3/statements/SelectStatement.java

  // PER PARTITION LIMIT beside DISTINCT, or aggregates without groups. prepare.
  bool refuses_partition_limit_of_one = false;
  // ORDER BY beside IN in pages, of one value as well. execute.
  bool refuses_pages_of_merged = false;
  // ORDER BY beside IN merges what filters pass, too; rows of several partitions that it finds
  // equal stay in the order of these, backwards as well. orderResults.
  bool merges_filtered_and_stably = false;
  // `SELECT l[0]`. cql3/selection/Selectable.java, WithElementSelection.
  bool refuses_elements_of_lists = false;
  // dateOf() and unixTimestampOf(). cql3/functions/TimeFcts.java.
  bool has_date_of = true;
  // Scans with SERIAL are as those with QUORUM. service/StorageProxy.java, getRangeSlice.
  bool scans_serially = false;

  // ---- INSERT

  // JSON makes static columns null that it does not name. cql3/Json.java.
  bool json_writes_statics = false;

  // ---- IF: cql3/statements/ModificationStatement.java, buildCasResultSet

  // `[applied]` alone where all was applied or there was no row.
  bool answers_of_conditions_vary = false;
  // One row has conditions of one kind in a batch. CQL3CasRequest.java, addExistsCondition.
  bool one_kind_of_condition_for_a_row = false;
  // `IF m < {}` of a column of several cells. cql3/conditions/ColumnCondition.java.
  bool refuses_order_of_empty_collections = false;
};

constexpr Dialect ScyllaDialect() { return {}; }
// 3.0 to 5.0; others are taken for the nearest.
Dialect CassandraDialect(uint32_t major, uint32_t minor);
// By its name; nullopt: this version has none of that name.
std::optional<Dialect> FindDialect(std::string_view name);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SYNTAX_DIALECT_H_

#include "engine/cql/syntax/dialect.h"

namespace liststore::cql {

Dialect CassandraDialect(uint32_t major, uint32_t minor) {
  Dialect cassandra;
  cassandra.is_cassandra = true;
  cassandra.name = major < 4 ? "cassandra:3.11" : major < 5 ? "cassandra:4.1" : "cassandra:5.0";
  cassandra.major = major;
  // Cassandra's grammar has no limit; this one keeps the stack.
  cassandra.expression_nesting_max = 100;
  cassandra.has_drop_compact_storage = true;
  cassandra.slices_of_all_need_filtering = true;
  cassandra.one_relation_for_a_column = true;
  cassandra.tuples_behind_columns = true;
  cassandra.refuses_index_beside_in = true;
  cassandra.refuses_empty_keys = true;
  cassandra.refuses_empty_indexed = true;
  cassandra.in_as_base_orders = true;
  cassandra.refuses_partition_limit_of_one = true;
  // Before, IN of one value was `=`: cql3/SingleColumnRelation.java, newINRestriction.
  cassandra.refuses_pages_of_merged = major >= 5;
  cassandra.merges_filtered_and_stably = true;
  cassandra.refuses_elements_of_lists = true;
  cassandra.has_date_of = major < 5;
  cassandra.scans_serially = true;
  cassandra.json_writes_statics = true;
  cassandra.answers_of_conditions_vary = true;
  cassandra.one_kind_of_condition_for_a_row = true;
  // Source: cql3/conditions/ColumnCondition.java, which 3.11 does not have.
  cassandra.refuses_order_of_empty_collections = major > 4 || (major == 4 && minor >= 1);
  return cassandra;
}

std::optional<Dialect> FindDialect(std::string_view name) {
  for (const Dialect& dialect :
       {ScyllaDialect(), CassandraDialect(3, 11), CassandraDialect(4, 1), CassandraDialect(5, 0)}) {
    if (dialect.name == name) return dialect;
  }
  return std::nullopt;
}

}  // namespace liststore::cql

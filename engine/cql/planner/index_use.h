// Which index answers a WHERE clause, and what it still needs ALLOW FILTERING for.
// Sources: ScyllaDB cql3/restrictions/statement_restrictions.cc, index/secondary_index_manager.cc.
#ifndef LISTSTORE_ENGINE_CQL_PLANNER_INDEX_USE_H_
#define LISTSTORE_ENGINE_CQL_PLANNER_INDEX_USE_H_

#include "engine/cql/planner/bind_where.h"
#include "engine/cql/planner/where_clause.h"
#include "engine/model/schema.h"

namespace liststore::cql {

struct IndexUse {
  // An index finds the rows, or a part of the relations that they are then held to.
  bool used = false;
  // Relations are left over that neither the index nor the order of keys answers.
  bool needs_filtering = false;
  // A column of that kind that is restricted has an index of its own.
  bool of_partition_key = false;
  bool of_clustering = false;
  bool of_values = false;
};

IndexUse FindIndexUse(const TableDefinition& table, const WhereClause& where);

// The index answers the relation, if it stands alone on its column.
bool Supports(const TableDefinition& table, const IndexDefinition& index,
              const BoundRelation& relation);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_PLANNER_INDEX_USE_H_

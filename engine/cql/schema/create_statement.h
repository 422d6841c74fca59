// Definitions -> the statements that make them, as DESCRIBE shows them. What comes out parses, and
// makes the same thing again.
#ifndef LISTSTORE_ENGINE_CQL_SCHEMA_CREATE_STATEMENT_H_
#define LISTSTORE_ENGINE_CQL_SCHEMA_CREATE_STATEMENT_H_

#include <string>

#include "engine/model/schema.h"

namespace liststore::cql {

// "CREATE KEYSPACE ks WITH replication = {...} AND durable_writes = true AND tablets = {'enabled':
// false};" on one line, or the tablets that were asked for. Source of the layout: ScyllaDB `data_dictionary/data_dictionary.cc`.
std::string CreateKeyspaceText(const KeyspaceDefinition& keyspace);

// CREATE TABLE without its indexes: a column a line, then the options by name. `with_internals`:
// with the id, the columns that were dropped, and the statements that drop them and add them again,
// so that the new table is taken for the same. Source of the layout: ScyllaDB
// `schema/schema.cc`, schema::describe; like there a line break ends it.
std::string CreateTableText(const TableDefinition& table, bool with_internals);

// CREATE MATERIALIZED VIEW, with all of its columns by name. Source as above.
std::string CreateViewText(const TableDefinition& view, bool with_internals);

// CREATE INDEX on a line, with the partition key if the index is local. Source as above.
// What the index is on, without the partition key of a local one: "c", "full(c)", "keys(c)".
std::string IndexedText(const TableDefinition& table, const IndexDefinition& index);
std::string CreateIndexText(const TableDefinition& table, const IndexDefinition& index);

// CREATE TYPE of a user type, as ScyllaDB's types/types.cc writes it.
std::string CreateTypeText(const DataType& type);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SCHEMA_CREATE_STATEMENT_H_

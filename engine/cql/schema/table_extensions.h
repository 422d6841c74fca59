// The options of a table that ScyllaDB keeps as extensions of its schema: cdc, paxos_grace_seconds,
// scylla_tags, tombstone_gc. They are checked, kept and shown, and have no effect.
#ifndef LISTSTORE_ENGINE_CQL_SCHEMA_TABLE_EXTENSIONS_H_
#define LISTSTORE_ENGINE_CQL_SCHEMA_TABLE_EXTENSIONS_H_

#include <string>
#include <string_view>

#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/properties.h"
#include "engine/model/schema.h"

namespace liststore::cql::schema_change {

// The tag that says of a view that it is up to date when a write is answered. Source: ScyllaDB
// db/tags/extension.hh.
inline constexpr std::string_view kSynchronousViewTag = "system:synchronous_view_updates";

// Puts what `properties` say of extensions into `options`; those of which they say nothing stay.
// tombstone_gc has a default, which depends on `keyspace`, that of the table. Sources: ScyllaDB
// cql3/statements/cf_prop_defs.cc, apply_to_builder; cdc/log.cc, cdc::options;
// tombstone_gc_options.cc; tombstone_gc.cc.
CqlStatus ApplyExtensions(const Properties& properties, const KeyspaceDefinition& keyspace,
                          TableOptions& options);

}  // namespace liststore::cql::schema_change

namespace liststore::cql {

// As DESCRIBE has it behind the name: "10", "{'mode': 'timeout'}". Source: ScyllaDB
// schema/schema.cc, schema_extension::options_to_string.
std::string ExtensionText(const TableExtension& extension);
// As system_schema has it: numbers in little endian, of maps and texts their size before them.
// Source: ScyllaDB serializer_impl.hh.
std::string SerializedExtension(const TableExtension& extension);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SCHEMA_TABLE_EXTENSIONS_H_

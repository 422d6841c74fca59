// The options of how a node keeps the files of a table. There are no files: what the options say is
// checked, kept and shown.
#ifndef LISTSTORE_ENGINE_CQL_SCHEMA_SSTABLE_OPTIONS_H_
#define LISTSTORE_ENGINE_CQL_SCHEMA_SSTABLE_OPTIONS_H_

#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/properties.h"
#include "engine/model/schema.h"
#include "engine/settings/statement_settings.h"

namespace liststore::cql::schema_change {

// Puts the option `compaction` into `options`, with a class that there is; what belongs to the
// class is for CheckCompaction.
CqlStatus ApplyCompaction(const Properties& properties, TableOptions& options);
// What the class that `properties` name does with their other options. `options`: as they will be.
// Source: ScyllaDB compaction/compaction_strategy.cc, validate_options_for_strategy_type.
CqlStatus CheckCompaction(const Properties& properties, const TableOptions& options);
// Where `properties` are about it: into how many windows rows of a table, not of a view, with the
// default TTL fall. Config: into more than the settings allow, or there is no default TTL, which
// they ask for. Source: ScyllaDB cql3/statements/create_table_statement.cc,
// check_restricted_table_properties.
CqlStatus CheckTimeWindows(const Properties& properties, const TableOptions& options,
                           const settings::StatementSettings& settings);

// Source: ScyllaDB compress.cc, compression_parameters; zstd.cc.
CqlStatus ApplyCompression(const Properties& properties, TableOptions& options);

}  // namespace liststore::cql::schema_change

#endif  // LISTSTORE_ENGINE_CQL_SCHEMA_SSTABLE_OPTIONS_H_

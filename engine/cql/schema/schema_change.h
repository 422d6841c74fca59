// Statements that change the schema -> a changed schema, what the client is told, and what storage
// has to do. Pure: whether anything of it happens is for the caller, who holds the catalog and the
// engine (shard/run_schema_actions.h).
#ifndef LISTSTORE_ENGINE_CQL_SCHEMA_SCHEMA_CHANGE_H_
#define LISTSTORE_ENGINE_CQL_SCHEMA_SCHEMA_CHANGE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/dialect.h"
#include "engine/cql/syntax/statement.h"
#include "engine/model/schema.h"
#include "engine/model/schema_actions.h"
#include "engine/model/types/uuid.h"
#include "engine/settings/statement_settings.h"

namespace liststore::cql {

// What a change depends on beside the schema. Borrowed for the length of one call.
struct SchemaChangeContext {
  absl::FunctionRef<Uuid()> new_uuid;  // identities of new tables
  // The node's. replication_factor stands for it and the others.
  std::string_view datacenter = "datacenter1";
  int64_t now_micros = 0;
  std::span<const std::string> other_datacenters = {};
  // There are no more than these: a keyspace that names another one is refused.
  bool knows_datacenters = true;
  // Of DROP ... USING TIMESTAMP.
  std::optional<int64_t> drop_micros = {};
  // TRUNCATE was bound a timeout that is over at once.
  bool is_over = false;
  settings::StatementSettings settings = {};
  Dialect dialect = {};
};

struct SchemaChange {
  enum class Kind : uint8_t {
    kNothing,  // the answer is Void
    kCreated,
    kUpdated,
    kDropped,
  };
  enum class Target : uint8_t {
    kKeyspace,
    kTable,  // views too; and indexes: theirs is an update of the table
    kType,
  };

  // The answer, and the event for those who listen. CREATE ... IF NOT EXISTS answers kCreated also
  // where there was nothing to do. Source: ScyllaDB cql3/statements/create_table_statement.cc.
  Kind kind = Kind::kNothing;
  Target target = Target::kTable;
  std::string keyspace;
  std::string table;  // of a kTable
  std::string type;   // of a kType
  // Views that ScyllaDB writes again with their base, those of indexes too: for each an event of its
  // own, that it was updated.
  std::vector<std::string> views;
  // `schema` is not what it was; else it was not touched, and there is nothing to publish or tell.
  bool alters_schema = false;
  // A keyspace is to be in a data center that is not there.
  bool names_other_datacenters = false;
  // What the client is told beside the answer.
  settings::Warnings warnings;
  // In the order in which they are to run. TRUNCATE has some although it alters no schema.
  std::vector<SchemaAction> actions;
};

// "CREATED", "UPDATED", "DROPPED"; "KEYSPACE", "TABLE", "TYPE": as the protocol writes them.
std::string_view ToString(SchemaChange::Kind kind);
std::string_view ToString(SchemaChange::Target target);

// True for the statements below: CREATE, ALTER and DROP of keyspaces, tables, materialized views
// and types, CREATE and DROP INDEX, TRUNCATE.
bool IsSchemaStatement(const Statement& statement);

// Carries out a statement for which IsSchemaStatement holds. `current_keyspace`: of USE; empty when
// there is none. New tables have their uuid; the TableIds of tables that the actions create or
// rebuild are for who runs those.
//
// Errors have ScyllaDB's codes and words; `schema` is then unchanged. What liststore does not have
// is CqlError::Unsupported. Keyspaces of the system cannot be changed (Unauthorized), and of the
// tables of a list store only comment, other options and TTL; list_items can be truncated,
// list_features cannot.
//
// O(log tables + what the table has); DROP KEYSPACE: O(its tables). Shared parts of `schema` are
// replaced, never written to. Sources: ScyllaDB cql3/statements/.
CqlOr<SchemaChange> ApplySchemaStatement(const Statement& statement,
                                         std::string_view current_keyspace,
                                         const SchemaChangeContext& context, Schema& schema);

// What a statement for which IsSchemaStatement holds is refused with when it is prepared: CREATE
// TABLE all but that the table is there, TRUNCATE a table that is not. Sources: ScyllaDB
// cql3/statements/create_table_statement.cc, truncate_statement.cc, prepare.
CqlStatus CheckPrepared(const Statement& statement, std::string_view current_keyspace,
                        const SchemaChangeContext& context, const Schema& schema);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SCHEMA_SCHEMA_CHANGE_H_

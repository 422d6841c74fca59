// What the files of schema_change.cc share: one function for each family of statements, and the
// look-ups and rules that they have in common. For these files only.
#ifndef LISTSTORE_ENGINE_CQL_SCHEMA_SCHEMA_CHANGE_IMPL_H_
#define LISTSTORE_ENGINE_CQL_SCHEMA_SCHEMA_CHANGE_IMPL_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/schema/schema_change.h"
#include "engine/cql/syntax/properties.h"

namespace liststore::cql::schema_change {

// Of keyspaces and tables. Source: ScyllaDB schema/schema.hh, NAME_LENGTH.
inline constexpr size_t kNameCharactersMax = 48;
// Names travel as strings of the protocol, whose length has 16 bits.
inline constexpr size_t kColumnNameBytesMax = 65'535;
// Of views and indexes, which ScyllaDB does not limit; with the end that their views' have.
inline constexpr size_t kViewNameBytesMax = 65'000;
// ColumnId has 16 bits, of which one is left alone.
inline constexpr size_t kColumnsMax = 32'767;

// A statement's surroundings, and the schema it works on.
struct Editor {
  std::string_view current_keyspace;
  const SchemaChangeContext& context;
  Schema& schema;
};

CqlOr<SchemaChange> Apply(const CreateKeyspaceStatement& statement, Editor& editor);
CqlOr<SchemaChange> Apply(const AlterKeyspaceStatement& statement, Editor& editor);
CqlOr<SchemaChange> Apply(const DropKeyspaceStatement& statement, Editor& editor);
CqlOr<SchemaChange> Apply(const CreateTableStatement& statement, Editor& editor);
CqlOr<SchemaChange> Apply(const AlterTableStatement& statement, Editor& editor);
CqlOr<SchemaChange> Apply(const DropTableStatement& statement, Editor& editor);
CqlOr<SchemaChange> Apply(const TruncateStatement& statement, Editor& editor);
CqlOr<SchemaChange> Apply(const CreateIndexStatement& statement, Editor& editor);
CqlOr<SchemaChange> Apply(const DropIndexStatement& statement, Editor& editor);
CqlOr<SchemaChange> Apply(const CreateViewStatement& statement, Editor& editor);
CqlOr<SchemaChange> Apply(const AlterViewStatement& statement, Editor& editor);
CqlOr<SchemaChange> Apply(const DropViewStatement& statement, Editor& editor);
CqlOr<SchemaChange> Apply(const CreateTypeStatement& statement, Editor& editor);
CqlOr<SchemaChange> Apply(const AlterTypeStatement& statement, Editor& editor);
CqlOr<SchemaChange> Apply(const DropTypeStatement& statement, Editor& editor);

// As CheckPrepared.
CqlStatus Prepare(const CreateTableStatement& statement, const Editor& editor);
CqlStatus Prepare(const TruncateStatement& statement, const Editor& editor);

// --- Names.

// The keyspace that a name means: its own or the current one. Invalid: neither.
CqlOr<std::string> KeyspaceOf(const QualifiedName& name, const Editor& editor);
// Unauthorized: a keyspace of the system.
CqlStatus CheckModifiable(const std::string& keyspace);
// Letters, digits and underscores; at least one.
bool IsWord(std::string_view name);
// A table or view by the rules of the face whose keyspace it is: DynamoDB's, whose names have points and
// hyphens, and up to 255 bytes; its indexes are views with a colon between the two names.
bool IsNameOfFace(std::string_view keyspace, std::string_view name);
// Invalid: it is too long for a keyspace or table. `what`: "Keyspace", "Table".
CqlStatus CheckNameLength(std::string_view what, const std::string& name);
// Invalid: the keyspace or the table does not exist, or it is the view of an index (`verb` is what
// the message says cannot be done: "ALTER TABLE on").
CqlOr<std::shared_ptr<const TableDefinition>> TableToChange(const std::string& keyspace,
                                                            const std::string& table,
                                                            const Editor& editor);
// The index of this name, or nullptr; and the table it is on.
struct FoundIndex {
  std::shared_ptr<const TableDefinition> table;
  const IndexDefinition* index = nullptr;
};
FoundIndex FindIndex(const KeyspaceDefinition& keyspace, std::string_view index);

// --- Changes. The parts that others may hold are replaced.

void PutKeyspace(Editor& editor, KeyspaceDefinition keyspace);
void PutTable(Editor& editor, TableDefinition table);
void EraseTable(Editor& editor, const std::string& keyspace, const std::string& table);
// Where the columns of `before` that are no key are in `after`, by their names.
ColumnMap MapColumns(const TableSchema& before, const TableSchema& after);

// Of a table to be made: the one that WITH ID says, or a fresh one. Invalid: it is another table's.
CqlOr<Uuid> NewTableId(const Properties& properties, const Editor& editor);

SchemaChange Nothing();
SchemaChange OfKeyspace(SchemaChange::Kind kind, std::string keyspace);
SchemaChange OfTable(SchemaChange::Kind kind, std::string keyspace, std::string table);
CqlError AlreadyExists(std::string message, std::string keyspace, std::string table);

// The WHERE of a view with another name for a column.
CqlOr<std::string> RenameInWhere(const std::string& where, const std::string& from,
                                 const std::string& to);
// Invalid: with the types as they are now, a constant in the WHERE of one of the keyspace's views
// is none of its column any more; the keyspace is as `before` then. `what`: what cannot be done,
// "alter table ks.t". ScyllaDB lets it pass, and then refuses writes to the table.
CqlStatus CheckViews(std::shared_ptr<const KeyspaceDefinition> before, const std::string& what,
                     Editor& editor);
// As ViewDefinition has it.
std::string WhereText(const std::vector<Relation>& where);

// --- Types.

// Values of `before` read as `after` and in the same order. Source: ScyllaDB types/types.cc.
bool IsOrderCompatible(CqlType after, CqlType before);

// --- What liststore has.

// What user tables cannot have, by name: durations as keys of collections that are not frozen. The
// one place that says so: types that the engine has learned are taken out here.
CqlStatus CheckSupportedColumn(const std::string& name, const DataType& type);

}  // namespace liststore::cql::schema_change

#endif  // LISTSTORE_ENGINE_CQL_SCHEMA_SCHEMA_CHANGE_IMPL_H_

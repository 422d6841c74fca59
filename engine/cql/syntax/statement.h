// Statement: what a text of CQL says, one struct for each kind. The parser makes it; nothing in it
// has been looked up, so that a statement that names a missing table is still a statement. Owns
// everything; copies are deep.
#ifndef LISTSTORE_ENGINE_CQL_SYNTAX_STATEMENT_H_
#define LISTSTORE_ENGINE_CQL_SYNTAX_STATEMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/cql/syntax/expression.h"
#include "engine/cql/syntax/unsupported.h"
#include "engine/roles/permission.h"
#include "engine/roles/resource.h"

namespace liststore::cql {

// `[keyspace.]name` of a table, view, index or type. Names are folded to lower case unless quoted.
struct QualifiedName {
  std::string keyspace;  // empty when not said
  std::string name;
  SourcePosition position;
};
// As error messages print it: "ks.name", or "name" alone.
std::string ToString(const QualifiedName& name);

// ---- What several statements share.

enum class RelationOperator : uint8_t {
  kEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kNotEqual,
  kIn,
  kNotIn,
  kContains,
  kContainsKey,
  kLike,
  kIsNotNull
};
// <, <=, >, >=.
constexpr bool IsSlice(RelationOperator op) {
  return op == RelationOperator::kLess || op == RelationOperator::kLessOrEqual ||
         op == RelationOperator::kGreater || op == RelationOperator::kGreaterOrEqual;
}
// IN, NOT IN: of a list of alternatives.
constexpr bool IsOfList(RelationOperator op) {
  return op == RelationOperator::kIn || op == RelationOperator::kNotIn;
}
// "=", "<", "IN", "CONTAINS KEY", ...
std::string_view ToString(RelationOperator op);

// One condition of WHERE or IF.
struct Relation {
  enum class Target : uint8_t {
    kColumn,    // c = ...; c IN ...        one name in `columns`
    kTuple,     // (a, b) > ...             as many as written, at least one
    kToken,     // token(a, b) > ...        as many as written
    kElement,   // m[key] = ...             one, and `element`
    kField,     // u.f = ... (IF only)      one, and `field`
    kFunction,  // f(a, 1) = ...            none; `function`
  };

  Target target = Target::kColumn;
  std::vector<std::string> columns;
  std::optional<Expression> element;
  std::string field;
  std::optional<Expression> function;  // a FunctionCall
  RelationOperator op = RelationOperator::kEqual;
  // (a, b) > SCYLLA_CLUSTERING_BOUND (1, 2): by the clustering order, in which the values of a
  // descending column run backwards.
  bool in_clustering_order = false;
  // For kIn and kNotIn a BindMarker (the whole list) or a ListLiteral of the alternatives, of which
  // those of a tuple are TupleLiterals or BindMarkers. For kIsNotNull a NullConstant.
  Expression value;
  SourcePosition position;
};
// As in ScyllaDB's messages: "(a, b) > (?, ?)".
std::string ToString(const Relation& relation);
// The same with this text in the place of its value.
std::string ToString(const Relation& relation, const std::string& value);
std::string ShownInMessage(const Relation& relation);

// USING TIMESTAMP t AND TTL s AND TIMEOUT d, in any order. Constants or markers. Where one is
// repeated, the last one counts, as in ScyllaDB.
struct UsingClause {
  std::optional<Expression> timestamp;
  std::optional<Expression> ttl;
  std::optional<Expression> timeout;
};

struct ColumnOrder {
  std::string column;
  bool descending = false;
  SourcePosition position;
};

// `name = value` behind WITH. Constants are their text, and so are words like `true`.
struct Property {
  using Map = std::vector<std::pair<std::string, std::string>>;  // as written, keys unique

  std::string name;
  std::variant<std::string, Map> value;
  SourcePosition position;
};

// ---- Data.

struct Selector {
  Expression expression;
  std::string alias;  // empty: none
};

struct SelectStatement {
  bool json = false;
  bool distinct = false;
  std::vector<Selector> selectors;  // empty: `*`
  QualifiedName table;
  std::vector<Relation> where;
  std::vector<std::string> group_by;
  std::vector<ColumnOrder> order_by;
  std::optional<Expression> per_partition_limit;  // constants or markers
  std::optional<Expression> limit;
  bool allow_filtering = false;
  bool bypass_cache = false;
  std::optional<Expression> timeout;
};

struct InsertStatement {
  QualifiedName table;
  std::vector<std::string> columns;
  std::vector<Expression> values;  // maybe not as many: "Unmatched column names/values"
  bool if_not_exists = false;
  UsingClause attributes;
};

struct InsertJsonStatement {
  QualifiedName table;
  Expression json;             // a string constant or a marker
  bool default_unset = false;  // columns that are missing stay as they are, instead of null
  bool if_not_exists = false;
  UsingClause attributes;
};

// One part of SET.
struct Assignment {
  enum class Kind : uint8_t {
    kSet,         // c = value
    kAdd,         // c = c + value, c += value
    kSubtract,    // c = c - value, c -= value
    kPrepend,     // c = value + c
    kSetElement,  // c[element] = value
    kSetField,    // c.field = value
  };

  Kind kind = Kind::kSet;
  std::string column;
  std::optional<Expression> element;
  bool is_timeuuid = false;  // c[SCYLLA_TIMEUUID_LIST_INDEX(element)] = value
  std::string field;
  Expression value;
  SourcePosition position;
};

// IF EXISTS, or conditions joined by AND, or neither.
struct UpdateStatement {
  QualifiedName table;
  UsingClause attributes;
  std::vector<Assignment> assignments;
  std::vector<Relation> where;
  bool if_exists = false;
  std::vector<Relation> conditions;
};

// One part between DELETE and FROM: c, c[element] or c.field.
struct Deletion {
  std::string column;
  std::optional<Expression> element;
  std::string field;  // empty: none
  SourcePosition position;
};

struct DeleteStatement {
  QualifiedName table;
  std::vector<Deletion> deletions;  // empty: whole rows
  UsingClause attributes;           // no TTL
  std::vector<Relation> where;
  bool if_exists = false;
  std::vector<Relation> conditions;
};

using ModificationStatement =
    std::variant<InsertStatement, InsertJsonStatement, UpdateStatement, DeleteStatement>;

struct BatchStatement {
  enum class Kind : uint8_t {
    kLogged,
    kUnlogged,
    kCounter
  };

  Kind kind = Kind::kLogged;
  UsingClause attributes;  // TTL parses, and is for the planner to refuse
  std::vector<ModificationStatement> statements;
};

struct TruncateStatement {
  QualifiedName table;
  std::optional<Expression> timeout;
};

// ---- Schema.

struct UseStatement {
  std::string keyspace;
};

struct CreateKeyspaceStatement {
  std::string keyspace;
  bool if_not_exists = false;
  std::vector<Property> properties;
};
struct AlterKeyspaceStatement {
  std::string keyspace;
  std::vector<Property> properties;
};
struct DropKeyspaceStatement {
  std::string keyspace;
  bool if_exists = false;
};

// A column as CREATE TABLE and ALTER TABLE write it. (Not ColumnDefinition, which is
// model/schema.h's.)
struct ColumnSpec {
  std::string name;
  TypeSpec type;
  bool is_static = false;
  SourcePosition position;
};

struct CreateTableStatement {
  QualifiedName table;
  bool if_not_exists = false;
  std::vector<ColumnSpec> columns;  // as written; names may repeat
  // One for each PRIMARY KEY, inline or of its own; anything but one is an error of the planner's.
  std::vector<std::vector<std::string>> partition_keys;
  std::vector<std::string> clustering_key;
  std::vector<ColumnOrder> clustering_order;  // CLUSTERING ORDER BY; empty when not said
  bool compact_storage = false;
  std::vector<Property> properties;
};

struct AlterTableStatement {
  enum class Kind : uint8_t {
    kAdd,                 // `columns`
    kDrop,                // `columns` (types mean nothing), `drop_timestamp`
    kRename,              // `renames`
    kAlterType,           // `columns`, one
    kProperties,          // `properties`
    kDropCompactStorage,  // ALTER TABLE t DROP COMPACT STORAGE: Cassandra's alone
    kTtlPerRow,           // ALTER TABLE t TTL c | NULL: not supported
  };

  Kind kind = Kind::kProperties;
  QualifiedName table;
  std::vector<ColumnSpec> columns;
  std::optional<Expression> drop_timestamp;
  std::vector<std::pair<std::string, std::string>> renames;  // from, to
  std::vector<Property> properties;
};

struct DropTableStatement {
  QualifiedName table;
  bool if_exists = false;
};

struct IndexTarget {
  enum class Kind : uint8_t {
    kColumn,   // c
    kValues,   // values(c)
    kKeys,     // keys(c)
    kEntries,  // entries(c)
    kFull,     // full(c)
    kColumns,  // (a, b): the partition key of a local index
  };

  Kind kind = Kind::kColumn;
  std::vector<std::string> columns;
};

struct CreateIndexStatement {
  bool custom = false;
  bool if_not_exists = false;
  std::string name;  // empty: to be made from table and column
  QualifiedName table;
  std::vector<IndexTarget> targets;         // maybe none
  std::optional<std::string> custom_class;  // USING '...'
  std::vector<Property> properties;
};
struct DropIndexStatement {
  QualifiedName index;
  bool if_exists = false;
};

struct CreateViewStatement {
  QualifiedName view;
  bool if_not_exists = false;
  std::vector<Selector> selectors;  // empty: `*`
  QualifiedName base;
  std::vector<Relation> where;
  std::vector<std::string> partition_key;
  std::vector<std::string> clustering_key;
  std::vector<ColumnOrder> clustering_order;
  bool compact_storage = false;
  std::vector<Property> properties;
};
struct AlterViewStatement {
  QualifiedName view;
  std::vector<Property> properties;
};
struct DropViewStatement {
  QualifiedName view;
  bool if_exists = false;
};
// PRUNE MATERIALIZED VIEW: takes out rows of a view that its table has not.
struct PruneViewStatement {
  QualifiedName view;
  std::vector<Relation> where;
  std::optional<Expression> timeout;
};

// A field of a user type is a ColumnSpec that is never static.
struct CreateTypeStatement {
  QualifiedName type;
  bool if_not_exists = false;
  std::vector<ColumnSpec> fields;
};
struct AlterTypeStatement {
  enum class Kind : uint8_t {
    kAdd,        // `field`
    kAlterType,  // `field`
    kRename,     // `renames`
  };

  Kind kind = Kind::kAdd;
  QualifiedName type;
  ColumnSpec field;
  std::vector<std::pair<std::string, std::string>> renames;  // from, to
};
struct DropTypeStatement {
  QualifiedName type;
  bool if_exists = false;
};

// ---- The rest.

struct DescribeStatement {
  enum class Kind : uint8_t {
    kCluster,
    kSchema,  // [FULL]
    kKeyspaces,
    kKeyspace,  // [ONLY] KEYSPACE [ks]: `name.keyspace`, empty when not said
    kTables,
    kTable,
    kIndex,
    kMaterializedView,
    kTypes,
    kType,
    kFunctions,
    kFunction,
    kAggregates,
    kAggregate,
    kAny,  // a bare name: keyspace, table, index or view, whichever there is
  };

  Kind kind = Kind::kAny;
  QualifiedName name;
  bool full = false;
  bool only = false;
  bool with_internals = false;
  bool with_passwords = false;
};

// ---- Roles. A user is a role that may log in.

// What CREATE and ALTER say of one. Where one is repeated, the last one counts, as in ScyllaDB.
struct RoleOptions {
  std::optional<bool> is_superuser;
  std::optional<bool> can_login;
  std::optional<std::string> password;
  std::optional<std::string> hashed_password;
  std::optional<Property::Map> options;
};

struct CreateRoleStatement {
  std::string role;
  bool if_not_exists = false;
  RoleOptions options;  // is_superuser and can_login are there
};
struct AlterRoleStatement {
  std::string role;
  RoleOptions options;
};
struct DropRoleStatement {
  std::string role;
  bool if_exists = false;
};
// GRANT role TO grantee, REVOKE role FROM grantee.
struct GrantRoleStatement {
  bool revokes = false;
  std::string role;
  std::string grantee;
};
// GRANT SELECT ON t TO role. `permissions`: those of them that are applicable, at least one. The
// keyspace of a table, and of a function, is empty when not said.
struct GrantStatement {
  bool revokes = false;
  roles::PermissionSet permissions;
  roles::Resource resource = roles::Resource(roles::ResourceKind::kData);
  std::string role;
};

// Who there is, and what they may do.
struct ListStatement {
  enum class Kind : uint8_t {
    kRoles,
    kUsers,        // those of the roles that may log in
    kPermissions,  // `permissions` on `resource`
  };

  Kind kind = Kind::kRoles;
  roles::PermissionSet permissions;
  std::optional<roles::Resource> resource;  // as in GrantStatement; none: of all
  std::optional<std::string> of;            // a role
  bool is_recursive = true;
};

// A statement of CQL that liststore does not have. Recognised by its first words; the rest was not
// looked at, so there are no markers.
struct UnsupportedStatement {
  CqlFeature feature = {};
  std::string words;  // "CREATE FUNCTION", "CREATE TRIGGER", ...
};

using StatementNode =
    std::variant<SelectStatement, InsertStatement, InsertJsonStatement, UpdateStatement,
                 DeleteStatement, BatchStatement, TruncateStatement, UseStatement,
                 CreateKeyspaceStatement, AlterKeyspaceStatement, DropKeyspaceStatement,
                 CreateTableStatement, AlterTableStatement, DropTableStatement,
                 CreateIndexStatement, DropIndexStatement, CreateViewStatement, AlterViewStatement,
                 DropViewStatement, PruneViewStatement, CreateTypeStatement, AlterTypeStatement,
                 DropTypeStatement, DescribeStatement, CreateRoleStatement, AlterRoleStatement,
                 DropRoleStatement, GrantRoleStatement, GrantStatement, ListStatement,
                 UnsupportedStatement>;

struct Statement {
  StatementNode node;
  // Name of each bind marker, in order of appearance; empty for `?`. The same `:name` is one
  // marker. Source: ScyllaDB cql3/dialect.hh.
  std::vector<std::string> markers;
};

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SYNTAX_STATEMENT_H_

// StatementOutline: what the first words of a text say, without the rest being looked at.
#ifndef LISTSTORE_ENGINE_CQL_SYNTAX_STATEMENT_OUTLINE_H_
#define LISTSTORE_ENGINE_CQL_SYNTAX_STATEMENT_OUTLINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace liststore::cql {

enum class StatementOp : uint8_t {
  kSelect,
  kInsert,
  kUpdate,
  kDelete,
  kTruncate,
  kBatch,
  kUse,
  kCreate,
  kAlter,
  kDrop,
  kDescribe,
  kPrepare,  // of no text: the request
  kOther,    // GRANT, LIST, a typing error, ...
};
// "SELECT", ..., "OTHER".
std::string_view ToString(StatementOp op);
// In any case; nullopt: no such name.
std::optional<StatementOp> ParseStatementOp(std::string_view name);

struct StatementOutline {
  StatementOp op = StatementOp::kOther;
  // Of the table that is read or changed; of a batch's first statement. As the text says it, or
  // the connection's; both empty when there is none, or it was not found.
  std::string keyspace;
  std::string table;

  bool operator==(const StatementOutline&) const = default;
};

// Says what a text does and to which table, for whoever counts or picks requests before, or
// without, planning them. Never fails. `keyspace` is the connection's. Looks at the tokens up to
// the table's name: some 30 ns each. Of CREATE, ALTER and DROP only what is said of a table or
// keyspace.
StatementOutline OutlineOf(std::string_view text, std::string_view keyspace);

// "keyspace.table"; what there is of it.
std::string QualifiedTable(const StatementOutline& outline);

// Keyspaces that the server made itself: of the system, and its own tables.
bool IsServersKeyspace(std::string_view keyspace);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SYNTAX_STATEMENT_OUTLINE_H_

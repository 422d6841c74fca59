// Text of CQL -> Statement. Recursive descent over ScyllaDB's grammar (cql3/Cql.g), with what
// Cassandra has beyond it where that is harmless (c += x, arithmetic). Pure: the same text always
// gives the same answer.
#ifndef LISTSTORE_ENGINE_CQL_SYNTAX_PARSER_H_
#define LISTSTORE_ENGINE_CQL_SYNTAX_PARSER_H_

#include <cstddef>
#include <string_view>

#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/dialect.h"
#include "engine/cql/syntax/expression.h"
#include "engine/cql/syntax/statement.h"

namespace liststore::cql {

// Expressions inside of each other, parentheses and elements of literals included.
inline constexpr int kExpressionNestingMax = ScyllaDialect().expression_nesting_max;
inline constexpr size_t kTokensMax = ScyllaDialect().tokens_max;
// Types inside of each other; ScyllaDB has no limit of its own.
inline constexpr int kTypeNestingMax = 32;
// Relations of one WHERE. Source: ScyllaDB max_relations_in_where_clause.
inline constexpr size_t kRelationsMax = 100;
// Markers have 16 bits in the protocol.
inline constexpr size_t kBindMarkersMax = 65535;

struct ParseOptions {
  // `:a` written twice is one variable, as in ScyllaDB since 2025.1; else each is one of its own.
  bool duplicate_bind_names_are_one_variable = true;
  Dialect dialect = ScyllaDialect();
};

// One statement; semicolons may follow it. Errors are Syntax, "line L:C ..." in ScyllaDB's words
// (what it expected may differ: parsers do); Invalid for more than 65535 markers, and Unsupported
// for clauses that the tree has no place for. Linear in the text but for what limits bound;
// recursion is bounded whatever the text.
CqlOr<Statement> ParseStatement(std::string_view text, const ParseOptions& options = {});

// Parts of statements, for tools, tests, and schema tables that hold such text. Nothing may follow.
CqlOr<TypeSpec> ParseType(std::string_view text);
// A term as it may stand behind VALUES; markers count from 0 and their names are forgotten.
CqlOr<Expression> ParseTerm(std::string_view text);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SYNTAX_PARSER_H_

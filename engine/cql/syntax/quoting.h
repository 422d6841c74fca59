// Names and strings as CQL text has them.
#ifndef LISTSTORE_ENGINE_CQL_SYNTAX_QUOTING_H_
#define LISTSTORE_ENGINE_CQL_SYNTAX_QUOTING_H_

#include <string>
#include <string_view>

namespace liststore::cql {

// `name` as it has to be written to be read back: as it is when it is a lower-case letter followed
// by lower-case letters, digits and underscores, and no reserved word; else "quoted", with quotes
// inside doubled. An empty name, which cannot be written, comes out as `""`. Source: ScyllaDB
// cql3/util.hh, maybe_quote.
std::string QuoteIdentifier(std::string_view name);
// Always quoted.
std::string AlwaysQuoteIdentifier(std::string_view name);
// `name` between quotes, as messages show it: not to be read back.
inline std::string ShownInQuotes(std::string_view name) { return '"' + std::string(name) + '"'; }
// A string literal: 'it''s'.
std::string QuoteString(std::string_view text);
// True for a word that the grammar keeps for itself, in any case. Source: ScyllaDB
// docs/cql/appendices.rst, cql3/Cql.g.
bool IsReservedWord(std::string_view word);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SYNTAX_QUOTING_H_

// Names of keyspaces, tables and columns in CQL text.
#ifndef LISTSTORE_ENGINE_CQL_IDENTIFIER_H_
#define LISTSTORE_ENGINE_CQL_IDENTIFIER_H_

#include <string>
#include <string_view>

namespace liststore {

// `name` as it has to be written to be read back: as it is when it is a lower-case letter followed
// by lower-case letters, digits and underscores, and no reserved word; else "quoted", with quotes
// inside doubled. An empty name, which cannot be written, comes out as `""`. Source: ScyllaDB
// cql3/util.hh, maybe_quote.
std::string QuoteIdentifier(std::string_view name);
// Always quoted.
std::string AlwaysQuoteIdentifier(std::string_view name);
// True for a word that the grammar keeps for itself, in any case. Source: ScyllaDB
// docs/cql/appendices.rst, cql3/Cql.g.
bool IsReservedWord(std::string_view word);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_CQL_IDENTIFIER_H_

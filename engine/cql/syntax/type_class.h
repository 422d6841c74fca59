// Types that are named by a class of Cassandra's: 'org.apache.cassandra.db.marshal.Int32Type'.
#ifndef LISTSTORE_ENGINE_CQL_SYNTAX_TYPE_CLASS_H_
#define LISTSTORE_ENGINE_CQL_SYNTAX_TYPE_CLASS_H_

#include <string_view>

#include "engine/cql/syntax/cql_error.h"
#include "engine/model/types/data_type.h"

namespace liststore::cql {

// The type that the text of a class means; where CQL has none for it, a custom type
// (DataType::Custom). Names without a package are of org.apache.cassandra.db.marshal. Invalid: what
// comes of it is larger than types may be; Syntax: the text is wrong, or the class is none.
// Sources: ScyllaDB db/marshal/type_parser.cc; Cassandra db/marshal/TypeParser.java, for CompositeType
// and DynamicCompositeType.
CqlOr<DataType> ParseTypeClass(std::string_view text);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SYNTAX_TYPE_CLASS_H_

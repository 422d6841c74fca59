// Types as Cassandra's classes are called: some errors name them so.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_MARSHAL_NAME_H_
#define LISTSTORE_ENGINE_CQL_VALUES_MARSHAL_NAME_H_

#include <string>

#include "engine/model/types/data_type.h"

namespace liststore::cql {

// "org.apache.cassandra.db.marshal.Int32Type",
// "org.apache.cassandra.db.marshal.FrozenType(org.apache.cassandra.db.marshal.ListType(...))".
// Source: ScyllaDB types/types.cc, types/user.hh.
std::string MarshalTypeName(const DataType& type);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_MARSHAL_NAME_H_

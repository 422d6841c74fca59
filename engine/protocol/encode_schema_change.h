// The part that a Schema_change result and a SCHEMA_CHANGE event share.
#ifndef LISTSTORE_ENGINE_PROTOCOL_ENCODE_SCHEMA_CHANGE_H_
#define LISTSTORE_ENGINE_PROTOCOL_ENCODE_SCHEMA_CHANGE_H_

#include "engine/protocol/response.h"

namespace liststore::protocol {

// <change><target><keyspace>[<name>[<argument types>]]
void AppendSchemaChange(OutputBuffer& out, ProtocolVersion version, const SchemaChange& change);

}  // namespace liststore::protocol

#endif  // LISTSTORE_ENGINE_PROTOCOL_ENCODE_SCHEMA_CHANGE_H_

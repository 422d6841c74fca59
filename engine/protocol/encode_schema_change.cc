#include "engine/protocol/encode_schema_change.h"

#include "engine/base/check.h"

namespace liststore::protocol {
namespace {

using Change = SchemaChange::Change;
using Target = SchemaChange::Target;

bool HasArguments(Target target) {
  return target == Target::kFunction || target == Target::kAggregate;
}

}  // namespace

std::string_view NameOf(Change change) {
  switch (change) {
    case Change::kCreated:
      return "CREATED";
    case Change::kUpdated:
      return "UPDATED";
    case Change::kDropped:
      return "DROPPED";
  }
  LS_UNREACHABLE("a change of the schema is one of the protocol's");
}

std::string_view NameOf(Target target) {
  switch (target) {
    case Target::kKeyspace:
      return "KEYSPACE";
    case Target::kTable:
      return "TABLE";
    case Target::kType:
      return "TYPE";
    case Target::kFunction:
      return "FUNCTION";
    case Target::kAggregate:
      return "AGGREGATE";
  }
  LS_UNREACHABLE("the target of a change is one of the protocol's");
}

void AppendSchemaChange(OutputBuffer& out, ProtocolVersion version, const SchemaChange& change) {
  if (HasArguments(change.target) && version < ProtocolVersion::kV4) {
    // Source: Cassandra transport/Event.java, SchemaChange.
    const SchemaChange of_keyspace = {Change::kUpdated, Target::kKeyspace, change.keyspace, {}, {}};
    return AppendSchemaChange(out, version, of_keyspace);
  }
  AppendString(out, NameOf(change.change));
  AppendString(out, NameOf(change.target));
  AppendString(out, change.keyspace);
  if (change.target != Target::kKeyspace) AppendString(out, change.name);
  if (HasArguments(change.target)) AppendStringList(out, change.argument_types);
}

}  // namespace liststore::protocol

// Parts of columns of several cells, in SET and DELETE. Declared in plan_modification_impl.h.
// Source of rules and words: ScyllaDB cql3/operation.cc.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/planner/plan_modification_impl.h"
#include "engine/cql/values/literal.h"

namespace liststore::cql {
namespace {

using DataKind = DataType::Kind;

// As ScyllaDB shows it in messages.
std::string ToString(const Assignment& assignment) {
  const std::string column = assignment.column;
  const std::string value = ShownInMessage(assignment.value);
  switch (assignment.kind) {
    case Assignment::Kind::kSet:
      return column + " = " + value;
    case Assignment::Kind::kAdd:
      return column + " = " + column + " + " + value;
    case Assignment::Kind::kSubtract:
      return column + " = " + column + " - " + value;
    case Assignment::Kind::kPrepend:
      return column + " = " + value + " + " + column;
    case Assignment::Kind::kSetElement:
      return column + "[" + ShownInMessage(*assignment.element) + "] = " + value;
    case Assignment::Kind::kSetField:
      return column + "." + assignment.field + " = " + value;
  }
  LS_UNREACHABLE("an assignment is of some kind");
}

CqlError Refuse(const Assignment& assignment, std::string_view what,
                const ColumnDefinition& column) {
  return CqlError::Invalid("Invalid operation (" + ToString(assignment) + ") for " +
                           std::string(what) + " column " + column.name);
}

// What keeps the column from having such a part; empty: nothing does.
std::string_view Obstacle(const Assignment& assignment, const DataType& type) {
  if (assignment.kind == Assignment::Kind::kSetField) {
    if (type.kind() != DataKind::kUser) return "non-UDT";
    return type.is_frozen() ? "frozen UDT" : "";
  }
  if (assignment.kind == Assignment::Kind::kPrepend && type.kind() != DataKind::kList) {
    return "non list";
  }
  if (!type.is_collection()) {
    return assignment.kind == Assignment::Kind::kSetElement ? "non collection" : "non counter";
  }
  if (type.is_frozen()) {
    return assignment.kind == Assignment::Kind::kPrepend ? "frozen list" : "frozen collection";
  }
  const bool of_set =
      assignment.kind == Assignment::Kind::kSetElement && type.kind() == DataKind::kSet;
  return of_set ? "set" : "";
}

CellAssignment PartOf(const ColumnDefinition& column, CellAssignment::Kind kind) {
  CellAssignment part;
  part.column = column.position;
  part.kind = kind;
  part.elements = column.type;
  return part;
}

CqlOr<size_t> FindPart(const std::string& field, const ColumnDefinition& column) {
  const std::vector<std::string>& fields = column.type.user().fields;
  const auto at = std::ranges::find(fields, field);
  if (at != fields.end()) return static_cast<size_t>(at - fields.begin());
  return CqlError::Invalid("UDT column " + column.name + " does not have a field named " + field);
}

// Lists say of a null to be taken out what they do not say of one to be put in. Source: ScyllaDB
// cql3/lists.cc, discarder::execute.
CqlError NullToDiscard(CqlError error) {
  if (error.message == "Invalid NULL element in list") error.message = "Invalid NULL value in list";
  return error;
}

// The index of a list's element, or the key of a map's; of a set the element.
CqlOr<Operand> BindElement(const Expression& element, const ColumnDefinition& column,
                           Binder& binder) {
  if (column.type.kind() == DataKind::kList) {
    // Source of the name: ScyllaDB cql3/lists.cc, index_spec_of.
    const std::string receiver = "idx(" + column.name + ")";
    return binder.Bind(element, CqlType::kInt, receiver, receiver);
  }
  if (column.type.kind() == DataKind::kMap) {
    return BindElementKey(element, column.name, column.type, binder);
  }
  const std::string receiver = ElementReceiver(column.name);
  return binder.Bind(element, column.type.parameters()[0], receiver, receiver);
}

}  // namespace

CellAssignment SetColumn(const ColumnDefinition& column, Operand value) {
  CellAssignment assignment;
  assignment.column = column.position;
  assignment.value = std::move(value);
  if (column.type.is_multi_cell()) assignment.elements = column.type;
  return assignment;
}

CqlOr<CellAssignment> PlanPart(const Assignment& assignment, const ColumnDefinition& column,
                               Binder& binder) {
  using Kind = CellAssignment::Kind;
  const std::string_view obstacle = Obstacle(assignment, column.type);
  if (!obstacle.empty()) {
    // Of what is added, the value is looked at first.
    if (assignment.kind == Assignment::Kind::kAdd ||
        assignment.kind == Assignment::Kind::kPrepend) {
      const CqlOr<Operand> value = binder.BindTo(column, assignment.value);
      if (!value.ok()) return value.error();
    }
    return Refuse(assignment, obstacle, column);
  }
  CellAssignment part = PartOf(column, Kind::kAdd);
  switch (assignment.kind) {
    case Assignment::Kind::kSet:
      break;
    case Assignment::Kind::kAdd:
    case Assignment::Kind::kPrepend: {
      if (assignment.kind == Assignment::Kind::kPrepend) part.kind = Kind::kPrepend;
      LS_ASSIGN_OR_RETURN(part.value, binder.BindTo(column, assignment.value));
      return part;
    }
    case Assignment::Kind::kSubtract: {
      part.kind = Kind::kSubtract;
      const bool is_map = column.type.kind() == DataKind::kMap;
      const DataType type =
          is_map ? DataType::Frozen(DataType::Set(column.type.parameters()[0])) : column.type;
      CqlOr<Operand> value = binder.Bind(assignment.value, type, column.name, column.name);
      if (!value.ok()) return NullToDiscard(value.status());
      part.value = *std::move(value);
      return part;
    }
    case Assignment::Kind::kSetElement: {
      const std::string receiver = ElementReceiver(column.name);
      if (assignment.is_timeuuid && column.type.kind() == DataKind::kList) {
        const std::string index = "uuid_idx(" + column.name + ")";
        part.kind = Kind::kSetTimeuuid;
        LS_ASSIGN_OR_RETURN(part.element,
                            binder.Bind(*assignment.element, CqlType::kUuid, index, index));
      } else {
        part.kind = Kind::kSetElement;
        LS_ASSIGN_OR_RETURN(part.element, BindElement(*assignment.element, column, binder));
      }
      LS_ASSIGN_OR_RETURN(part.value, binder.Bind(assignment.value, column.type.parameters().back(),
                                                  receiver, receiver));
      return part;
    }
    case Assignment::Kind::kSetField: {
      part.kind = Kind::kSetField;
      LS_ASSIGN_OR_RETURN(part.field, FindPart(assignment.field, column));
      const std::string receiver = column.name + "." + assignment.field;
      LS_ASSIGN_OR_RETURN(
          part.value,
          binder.Bind(assignment.value, column.type.parameters()[part.field], receiver, receiver));
      return part;
    }
  }
  LS_UNREACHABLE("an assignment of a whole value is of no part");
}

CqlOr<CellAssignment> PlanPartDeletion(const Deletion& deletion, const ColumnDefinition& column,
                                       Binder& binder) {
  using Kind = CellAssignment::Kind;
  if (!deletion.field.empty()) {
    if (column.type.kind() != DataKind::kUser) {
      return CqlError::Invalid("Invalid deletion operation for non-UDT column " + column.name);
    }
    if (column.type.is_frozen()) {
      return CqlError::Invalid("Frozen UDT column " + column.name +
                               " does not support field deletions");
    }
    CellAssignment part = PartOf(column, Kind::kSetField);
    LS_ASSIGN_OR_RETURN(part.field, FindPart(deletion.field, column));
    return part;
  }
  if (!column.type.is_collection() || column.type.is_frozen()) {
    return CqlError::Invalid(std::string("Invalid deletion operation for ") +
                             (column.type.is_collection() ? "frozen" : "non") +
                             " collection column " + column.name);
  }
  CellAssignment part = PartOf(column, Kind::kDeleteElement);
  LS_ASSIGN_OR_RETURN(part.element, BindElement(*deletion.element, column, binder));
  return part;
}

}  // namespace liststore::cql

// Cells of columns of several cells: what assignments to them, and to parts of them, come to.
// Methods of WriteSet. Sources: ScyllaDB cql3/lists.cc, maps.cc, sets.cc, user_types.cc.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/execute/write/write_set.h"
#include "engine/model/types/composite_value.h"
#include "engine/model/types/timeuuid.h"

namespace liststore::execute {
namespace {

using AssignmentKind = cql::CellAssignment::Kind;
using DataKind = DataType::Kind;

// Elements that one statement or batch may append to lists, and prepend.
constexpr uint32_t kListElementsMax = uint32_t{1} << kListNumberBits;
constexpr uint32_t kTicksPerMicro = 10;

cql::CqlError TooManyElements() {
  return cql::CqlError::Invalid("Too many list values per single CQL statement or batch");
}

std::vector<std::string_view> Split(const DataType& type, std::string_view value) {
  auto elements = SplitCollection(type, value);
  LS_CHECK(elements.has_value(), "values are validated before they are taken apart");
  return *std::move(elements);
}

std::string KeyPath(const DataType& key, std::string_view value) {
  std::string path;
  AppendPath(key, value, path);
  return path;
}

}  // namespace

void WriteSet::AddElement(ColumnId column, std::string path,
                          std::optional<std::string_view> value) {
  cells_.push_back({.column = column,
                    .live = value.has_value(),
                    .value = value.value_or(std::string_view()),
                    .path = paths_.emplace_back(std::move(path))});
}

// In steps of 100 ns: a clock that stands still gives each write a step of its own.
ListPosition WriteSet::PlaceOf(WriteTimestamp timestamp) {
  if (!timestamp.is_none()) return {timestamp.micros, 0};
  if (!own_place_) {
    LS_CHECK(timeuuids_ != nullptr, "lists of several cells are written by who gave a source");
    const Uuid uuid = timeuuids_->Next();
    const auto ticks = static_cast<int64_t>(TicksOfTimeuuid(uuid.view()) - kTimeuuidTicksAtEpoch);
    own_place_ = {ticks / kTicksPerMicro, static_cast<uint32_t>(ticks % kTicksPerMicro)};
  }
  return *own_place_;
}

cql::CqlStatus WriteSet::AddListElements(const cql::CellAssignment& assignment,
                                         const std::vector<std::string_view>& elements,
                                         WriteTimestamp timestamp) {
  ListPosition place = PlaceOf(timestamp);
  uint32_t first = appended_;
  uint32_t& used = assignment.kind == AssignmentKind::kPrepend ? prepended_ : appended_;
  if (elements.size() > kListElementsMax - used) return TooManyElements();
  used += static_cast<uint32_t>(elements.size());
  if (assignment.kind == AssignmentKind::kPrepend) {
    if (place.micros <= kListMirrorMicros) {
      return cql::CqlError::Invalid(
          "List prepend custom timestamp must be greater than Jan 1 2010 00:00:00");
    }
    // The later, the further in front; of one write in the order of the value.
    place.micros = kListMirrorMicros - (place.micros - kListMirrorMicros);
    place.number = kTicksPerMicro - 1 - place.number;
    first = kListElementsMax - used;
  }
  place.number = place.number << kListNumberBits | first;
  for (const std::string_view element : elements) {
    std::string path;
    AppendPath(place, path);
    AddElement(assignment.column, std::move(path), element);
    ++place.number;
  }
  return {};
}

cql::CqlStatus WriteSet::AddValue(const cql::CellAssignment& assignment, std::string_view value,
                                  WriteTimestamp timestamp) {
  const DataType& type = assignment.elements;
  if (type.kind() == DataKind::kUser) {
    const auto fields = SplitTuple(type, value);
    LS_CHECK(fields.has_value(), "values are validated before they are taken apart");
    for (size_t i = 0; i < fields->size(); ++i) {
      if (!(*fields)[i]) continue;
      std::string path;
      AppendFieldPath(i, path);
      AddElement(assignment.column, std::move(path), (*fields)[i]);
    }
    return {};
  }
  const std::vector<std::string_view> elements = Split(type, value);
  LS_RETURN_IF_ERROR(CheckRoomFor(elements.size()));
  if (type.kind() == DataKind::kList) return AddListElements(assignment, elements, timestamp);
  const bool is_map = type.kind() == DataKind::kMap;
  for (size_t i = 0; i < elements.size(); i += is_map ? 2 : 1) {
    AddElement(assignment.column, KeyPath(type.parameters()[0], elements[i]),
               is_map ? elements[i + 1] : std::string_view());
  }
  return {};
}

cql::CqlStatus WriteSet::AddToList(const cql::CellAssignment& assignment, cql::BoundValues values,
                                   const cql::BoundValue& value, const cql::EncodedRange* range,
                                   Group& group) {
  ElementChange change;
  change.column = assignment.column;
  if (assignment.kind == AssignmentKind::kSubtract) {
    if (value.is_null()) return {};
    change.kind = ElementChange::Kind::kDiscard;
    change.values = Split(assignment.elements, value.bytes);
    change.type = assignment.elements.parameters()[0];
  } else {
    cql::BoundValue index;
    LS_RETURN_IF_ERROR(cql::Resolve(*assignment.element, values, index));
    // Source: ScyllaDB cql3/lists.hh, discarder_by_index.
    if (index.is_unset() && assignment.kind == AssignmentKind::kDeleteElement) return {};
    LS_RETURN_IF_ERROR(cql::ResolveSet(*assignment.element, values, index));
    if (index.is_null() || index.bytes.size() != sizeof(int32_t)) {
      return cql::CqlError::Invalid("Invalid null value for list index");
    }
    change.index = static_cast<int32_t>(LoadBigEndian32(index.bytes.data()));
    if (assignment.kind == AssignmentKind::kDeleteElement) {
      change.kind = ElementChange::Kind::kDelete;
    } else if (value.has_value()) {
      change.value = value.bytes;
    }
  }
  group.lists.Add(row_count_ - 1, range, std::move(change));
  return {};
}

cql::CqlStatus WriteSet::AddPart(const cql::CellAssignment& assignment, cql::BoundValues values,
                                 const cql::BoundValue& value, const cql::EncodedRange* range,
                                 Group& group) {
  const auto part = value.has_value() ? std::optional<std::string_view>(value.bytes) : std::nullopt;
  if (assignment.reads()) return AddToList(assignment, values, value, range, group);
  switch (assignment.kind) {
    case AssignmentKind::kSubtract: {
      // Of a map its keys, which come as a set.
      if (!part) return {};
      const DataType& type = assignment.value.type;
      const std::vector<std::string_view> keys = Split(type, *part);
      LS_RETURN_IF_ERROR(CheckRoomFor(keys.size()));
      for (const std::string_view key : keys) {
        AddElement(assignment.column, KeyPath(type.parameters()[0], key), std::nullopt);
      }
      return {};
    }
    case AssignmentKind::kSetField: {
      std::string path;
      AppendFieldPath(assignment.field, path);
      AddElement(assignment.column, std::move(path), part);
      return {};
    }
    case AssignmentKind::kSetTimeuuid: {
      cql::BoundValue timeuuid;
      LS_RETURN_IF_ERROR(cql::ResolveSet(*assignment.element, values, timeuuid));
      // Empty values are valid for UUIDs.
      if (timeuuid.bytes.empty())
        return cql::CqlError::Invalid("Invalid null value for list index");
      std::string path;
      if (!AppendTimeuuidPath(timeuuid.bytes, path)) {
        Uuid uuid;
        std::ranges::copy(timeuuid.bytes, uuid.bytes.begin());
        return cql::CqlError::Invalid("An element of a list stands where a timeuuid says, which " +
                                      uuid.ToString() + " is not");
      }
      AddElement(assignment.column, std::move(path), part);
      return {};
    }
    case AssignmentKind::kSetElement:
    case AssignmentKind::kDeleteElement: {
      cql::BoundValue key;
      LS_RETURN_IF_ERROR(cql::ResolveSet(*assignment.element, values, key));
      if (key.is_null()) {
        const bool is_map = assignment.elements.kind() == DataKind::kMap;
        return cql::CqlError::Invalid(is_map ? "Invalid null map key" : "Invalid null set element");
      }
      AddElement(assignment.column, KeyPath(assignment.elements.parameters()[0], key.bytes),
                 assignment.kind == AssignmentKind::kSetElement ? part : std::nullopt);
      return {};
    }
    default:
      LS_UNREACHABLE("the other kinds are of whole values");
  }
}

cql::CqlStatus WriteSet::AddElements(const cql::CellAssignment& assignment, cql::BoundValues values,
                                     const cql::EncodedRange* range, Group& group) {
  cql::BoundValue value;
  LS_RETURN_IF_ERROR(cql::Resolve(assignment.value, values, value));
  if (value.is_unset()) return {};
  switch (assignment.kind) {
    case AssignmentKind::kSet:
      cells_.push_back({.column = assignment.column, .live = false, .makes_way = true});
      [[fallthrough]];
    case AssignmentKind::kAdd:
    case AssignmentKind::kPrepend:
      if (value.is_null()) return {};
      return AddValue(assignment, value.bytes, group.timestamp);
    case AssignmentKind::kDelete:
      cells_.push_back({.column = assignment.column, .live = false});
      return {};
    default:
      return AddPart(assignment, values, value, range, group);
  }
}

}  // namespace liststore::execute

// Values of lists, sets, maps, tuples and user types: how they are taken apart and put together,
// and their order. Source of the encodings: native_protocol_v4.spec, section 6.
#ifndef LISTSTORE_ENGINE_MODEL_TYPES_COMPOSITE_VALUE_H_
#define LISTSTORE_ENGINE_MODEL_TYPES_COMPOSITE_VALUE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/types/data_type.h"

namespace liststore {

// A tuple, or a value of a user type, of valid encoded fields, not more than the type has; nullopt
// is null.
std::string EncodeTuple(const std::vector<std::optional<std::string>>& fields);
// One of `type`, taken apart; nullopt where the framing is broken. Fields that are missing at the
// end are null, those beyond the type's are left out: a user type may have grown since.
std::optional<std::vector<std::optional<std::string_view>>> SplitTuple(const DataType& type,
                                                                       std::string_view value);

// How many fields a valid tuple has, nulls among them: at most those of its type. O(fields).
size_t CountFields(std::string_view value);

// A list, set or map of valid encoded elements (of a map: keys and values in turn), in the order
// and with the uniqueness that its type asks for: of equal elements or keys the first stays.
// Source: ScyllaDB cql3/expr/expression.cc, evaluate_set, evaluate_map. O(elements * log).
std::string EncodeCollection(const DataType& type, std::vector<std::string> elements);

// The element of a valid list at an index, an int, or that of a valid map at a key; nullopt: none.
// O(elements).
std::optional<std::string_view> ElementAt(const DataType& type, std::string_view value,
                                          std::string_view index_or_key);

// Are there sets or maps in values of the type, so that clients can send them out of order?
bool HasOrder(const DataType& type);
// A valid value as literals of it come out: the sets and maps in it as EncodeCollection has them.
// Source: ScyllaDB cql3/expr/expression.cc, reserialize_value.
std::string InOrder(const DataType& type, std::string_view value);

// Order of two valid values of any type: natives as clustering columns compare them, lists and sets
// by their elements, maps by keys and values in turn, tuples by fields with null first; where one
// is the beginning of the other, the shorter is less, but fields that a tuple has not are null.
// Source: ScyllaDB types/types.cc. O(bytes).
int CompareValues(const DataType& type, std::string_view a, std::string_view b);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_TYPES_COMPOSITE_VALUE_H_

// Literals -> values in the protocol's encoding, checked against a type.
#ifndef LISTSTORE_ENGINE_CQL_LITERAL_H_
#define LISTSTORE_ENGINE_CQL_LITERAL_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/cql_error.h"
#include "engine/cql/expression.h"
#include "engine/model/data_type.h"

namespace liststore {

// Digits of a literal for a varint or decimal: turning them into bytes is quadratic.
inline constexpr size_t kLiteralDigitsMax = 65535;

// `literal` as a value of `type`; nullopt is null. `IsLiteral(literal)` holds. `receiver` is what
// messages call the place it is meant for: the column, or "value(c)", "key(c)", "c[0]" inside of
// one; elements get such names by themselves.
//
// Errors are Invalid, in ScyllaDB's words: `Invalid STRING constant (x) for "c" of type int`,
// `Invalid list literal for c of type int`, `marshaling error: ...`; null inside of a collection is
// refused. Sets come out in order and without duplicates, maps in order of their keys, of which the
// last of equal ones counts. An empty literal is an empty collection, also where CQL takes it for
// null (a collection that is not frozen): the caller knows. Sources: ScyllaDB
// cql3/expr/prepare_expr.cc, types/types.cc (from_string).
CqlOr<std::optional<std::string>> EncodeLiteral(const Expression& literal, const DataType& type,
                                                std::string_view receiver);

// One constant for a native type; not null.
CqlOr<std::string> EncodeConstant(const Constant& constant, CqlType type,
                                  std::string_view receiver);

// May a value of type `from` stand where `to` is wanted? Its bytes stay what they are.
bool IsCompatible(const DataType& from, const DataType& to);
// Could the literal be of that type, by its form? What its constants say is not looked at.
bool IsAssignable(const Expression& literal, const DataType& type);
// Why `cast.operand` cannot become a `from`, or the cast not stand where a `type` is wanted; ok
// when it can. `operand_fits`: whether the operand can be a value of `from`.
CqlStatus CheckCast(const TypeCast& cast, const DataType& from, bool operand_fits,
                    const DataType& type, std::string_view receiver);
// Does CQL take such a constant for a value of that type, whatever its text?
bool IsConstantOf(const Constant& constant, CqlType type);
// `Invalid STRING constant (x) for "c" of type int`.
CqlError InvalidConstant(const Constant& constant, std::string_view type,
                         std::string_view receiver);

// What messages call the parts of `receiver`.
std::string ElementReceiver(std::string_view receiver);              // value(c), of list, set, map
std::string KeyReceiver(std::string_view receiver);                  // key(c)
std::string FieldReceiver(std::string_view receiver, size_t field);  // c[0]

// A list, set or map of valid encoded elements (of a map: keys and values in turn), in the order
// and with the uniqueness that its type asks for.
std::string EncodeCollection(const DataType& type, std::vector<std::string> elements);
// A tuple of valid encoded fields, not more than the type has; nullopt is null.
std::string EncodeTuple(const std::vector<std::optional<std::string>>& fields);
// A tuple of `type`, taken apart; nullopt where the framing is broken. Fields that are missing at
// the end are null.
std::optional<std::vector<std::optional<std::string_view>>> SplitTuple(const DataType& type,
                                                                       std::string_view value);

// Order of two valid values of any type: natives as clustering columns compare them, lists and sets
// by their elements, maps by keys and values in turn, tuples by fields with null first; where one
// is the beginning of the other, the shorter is less. Source: ScyllaDB types/types.cc.
int CompareValues(const DataType& type, std::string_view a, std::string_view b);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_CQL_LITERAL_H_

// Literals -> values in the protocol's encoding, checked against a type.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_LITERAL_H_
#define LISTSTORE_ENGINE_CQL_VALUES_LITERAL_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/expression.h"
#include "engine/model/types/data_type.h"

namespace liststore::cql {

// `literal` as a value of `type`; nullopt is null. `IsLiteral(literal)` holds. `receiver` is what
// messages call the place it is meant for: the column, or "value(c)", "key(c)", "c[0]" inside of
// one; elements get such names by themselves.
//
// Errors are Invalid, in ScyllaDB's words: `Invalid STRING constant (x) for "c" of type int`,
// `Invalid list literal for c of type int`, `marshaling error: ...`; null inside of a collection is
// refused. Sets come out in order and without duplicates, maps in order of their keys, of which the
// first of equal ones counts. An empty literal is an empty collection, also where CQL takes it for
// null (a collection that is not frozen): the caller knows. Sources: ScyllaDB
// cql3/expr/prepare_expr.cc, types/types.cc (from_string).
CqlOr<std::optional<std::string>> EncodeLiteral(const Expression& literal, const DataType& type,
                                                std::string_view receiver);

// Where a part of a literal goes: an element, a key, a field.
struct LiteralPart {
  const Expression* value = nullptr;  // of the literal; nullptr: a field that it does not name
  DataType type;
  std::string receiver;
};
// Could the expression be a value of the type?
using FitsType = absl::FunctionRef<CqlOr<bool>(const Expression&, const DataType&)>;

// The parts of a literal of a list, set, map (keys and values in turn), tuple or user type (all its
// fields), whatever they are: literals, bind markers, calls. Errors as of EncodeLiteral, and those
// of `fits`.
CqlOr<std::vector<LiteralPart>> PartsOf(const Expression& literal, const DataType& type,
                                        std::string_view receiver, FitsType fits);
// The value that has these parts, valid ones of their types. Invalid: null inside of a collection.
CqlOr<std::string> JoinParts(const DataType& type, std::vector<std::optional<std::string>> parts);

// One constant for a native type; not null.
CqlOr<std::string> EncodeConstant(const Constant& constant, CqlType type,
                                  std::string_view receiver);

// The same of a text, without quotes or 0x, as whatever kind of constant it was written.
CqlOr<std::string> EncodeText(std::string_view text, CqlType type);
// A constant for a tuple: the texts of its fields with colons between them, `@` for null; fewer
// fields than the type has are fine. Invalid: too many, or a text that is none of its field.
CqlOr<std::string> EncodeTupleText(std::string_view text, const DataType& type);

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

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_LITERAL_H_

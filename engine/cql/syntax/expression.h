// Expressions of CQL as they were written: terms, selectors, types. Names are not looked up yet and
// constants are text. Everything owns what it holds and outlives the statement's text.
#ifndef LISTSTORE_ENGINE_CQL_SYNTAX_EXPRESSION_H_
#define LISTSTORE_ENGINE_CQL_SYNTAX_EXPRESSION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/cql/syntax/cql_error.h"
#include "engine/model/types/cql_type.h"
#include "engine/model/types/data_type.h"

namespace liststore::cql {

// Where something begins in the text: lines count from 1, columns (bytes) from 0, as ScyllaDB does.
struct SourcePosition {
  uint32_t line = 1;
  uint32_t column = 0;

  bool operator==(const SourcePosition&) const = default;
};

// A type as written. User types are names; whether they exist is for others to say.
struct TypeSpec {
  enum class Kind : uint8_t {
    kNative,
    kList,
    kSet,
    kMap,
    kTuple,
    kFrozen,
    kVector,
    kUser,
    kClass
  };

  Kind kind = Kind::kNative;
  CqlType native = CqlType::kBlob;   // kNative
  uint32_t dimension = 0;            // kVector
  std::vector<TypeSpec> parameters;  // element; key and value; fields; what is frozen
  std::string keyspace;              // kUser; empty when not said
  std::string name;                  // kUser; of kClass its text

  bool operator==(const TypeSpec&) const = default;
};

// As it would be written: "frozen<map<text, int>>", "ks.address".
std::string ToString(const TypeSpec& type);
// How long what drivers are told of a type may be, and how deep types may lie in each other, user
// types included; ScyllaDB has no limits.
inline constexpr uint32_t kTypeBytesMax = 1 << 20;
inline constexpr uint16_t kTypeDepthMax = 64;
// Invalid: it is larger.
CqlStatus CheckSize(const DataType& type);

// The type that the engine knows by this description. Invalid where there is none: user types that
// are not among `types` ("Unknown type ks.t", `keyspace` being theirs) or of another keyspace,
// vectors, counters inside of collections, what is not frozen inside of collections that are not
// either ("Non-frozen user types or collections are not allowed inside collections: ..."), frozen
// native types, what is too large.
// Source: ScyllaDB cql3/cql3_type.cc.
CqlOr<DataType> ToDataType(const TypeSpec& type, std::string_view keyspace, const UserTypes& types);
// Where there are no user types.
CqlOr<DataType> ToDataType(const TypeSpec& type, std::string_view keyspace);

enum class ConstantKind : uint8_t {
  kString,
  kInteger,
  kFloat,  // NaN and Infinity too
  kUuid,
  kHex,
  kBoolean,
  kDuration
};
// "STRING", "INTEGER", ...: as error messages say it.
std::string_view ConstantKindName(ConstantKind kind);

struct Expression;

// A string without its quotes; everything else as it stands in the text, hex with its 0x.
struct Constant {
  ConstantKind kind = ConstantKind::kString;
  std::string text;
};
struct NullConstant {};
// `?` or `:name`; which name, Statement::markers says.
struct BindMarker {
  uint32_t index = 0;
};
struct FunctionName {
  std::string keyspace;  // empty when not said
  std::string name;
};
// token(...) is one of them, and so is count(1), which has a constant as its argument.
struct FunctionCall {
  FunctionName function;
  std::vector<Expression> arguments;
};
struct ListLiteral {
  std::vector<Expression> elements;
};
// `{}` is one of these without elements: an empty set or an empty map.
struct SetLiteral {
  std::vector<Expression> elements;
};
struct MapLiteral {
  std::vector<Expression> keys_and_values;  // in turn
};
struct TupleLiteral {
  std::vector<Expression> elements;
};
struct UserTypeLiteral {
  std::vector<std::string> fields;
  std::vector<Expression> values;  // one for each field
};
// `(int) x`.
struct TypeCast {
  TypeSpec type;
  std::vector<Expression> operand;  // one
};
// In selectors, and at the left of a relation, only:

struct ColumnName {
  std::string name;
};
// COUNT(*).
struct CountRows {};
// WRITETIME(c), TTL(c): of a column, an element or a field.
struct CellAttribute {
  enum class Kind : uint8_t {
    kWriteTime,
    kTtl
  };
  Kind kind = Kind::kWriteTime;
  std::vector<Expression> operand;  // one
};
// CAST(x AS type).
struct SelectorCast {
  CqlType type = CqlType::kBlob;
  std::vector<Expression> operand;  // one
};
// `c.field`.
struct FieldAccess {
  std::vector<Expression> operand;  // one
  std::string field;
};
// `c[key]`.
struct ElementAccess {
  std::vector<Expression> operand_and_key;  // two
};

using ExpressionNode =
    std::variant<Constant, NullConstant, BindMarker, FunctionCall, ListLiteral, SetLiteral,
                 MapLiteral, TupleLiteral, UserTypeLiteral, TypeCast, ColumnName, CountRows,
                 CellAttribute, SelectorCast, FieldAccess, ElementAccess>;

struct Expression {
  ExpressionNode node;
  SourcePosition position;

  template <typename Node>
  bool Is() const {
    return std::holds_alternative<Node>(node);
  }
  // Null when it is something else.
  template <typename Node>
  const Node* As() const {
    return std::get_if<Node>(&node);
  }
};

// The expression as CQL, in one spacing: strings in quotes, markers as `?`, names quoted where they
// have to be.
std::string ToString(const Expression& expression);
// The same as ScyllaDB's messages show what was written: a quote within a string stands alone, and
// nothing behind the colon of a map's entry. Source: ScyllaDB cql3/expr/expression.cc,
// expression::printer.
std::string ShownInMessage(const Expression& expression);
// True when nothing is to be looked up or bound: constants, null, literals and casts of such.
bool IsLiteral(const Expression& expression);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SYNTAX_EXPRESSION_H_

// Types, and what becomes of them.
#include <charconv>
#include <string>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/cql/syntax/parser_impl.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/cql/syntax/type_class.h"

namespace liststore::cql {
namespace {

// Source: ScyllaDB cql3/cql3_type.hh, MAX_VECTOR_DIMENSION.
constexpr uint32_t kVectorDimensionMax = 16000;

// Names that CQL has set aside for types of its own. Source: ScyllaDB cql3/Cql.g.
bool IsReservedTypeName(std::string_view name) {
  for (const std::string_view reserved :
       {"byte", "complex", "enum", "interval", "macaddr", "bitstring", "empty"}) {
    if (name == reserved) return true;
  }
  return false;
}

// `int`, `text`, ...
bool IsTypeWord(const Lexeme& token) {
  return token.keyword != Keyword::kNone && ClassOf(token.keyword) == KeywordClass::kType;
}

// A user type whose name is also that of a type of CQL can only be written in quotes.
std::string UserTypeText(const std::string& name) {
  const Keyword keyword = FindKeyword(name);
  const bool needs_quotes = keyword == Keyword::kNone ? IsReservedTypeName(name)
                                                      : ClassOf(keyword) == KeywordClass::kType;
  return needs_quotes ? AlwaysQuoteIdentifier(name) : QuoteIdentifier(name);
}

}  // namespace

bool CqlParser::ParseType(TypeSpec& type) {
  const NestingGuard guard(type_nesting_);
  if (type_nesting_ > kTypeNestingMax) return FailSyntax("type nested too deeply");
  // Most of these words are names too, of user types among others.
  const auto has_parameters = [this] { return Peek().IsSymbol("<"); };
  switch (token().keyword) {
    case Keyword::kLIST:
    case Keyword::kSET:
    case Keyword::kFROZEN:
      if (!At(Keyword::kSET) && !has_parameters()) break;
      type.kind = At(Keyword::kLIST)  ? TypeSpec::Kind::kList
                  : At(Keyword::kSET) ? TypeSpec::Kind::kSet
                                      : TypeSpec::Kind::kFrozen;
      return ParseTypeParameters(1, type) &&
             (type.kind != TypeSpec::Kind::kFrozen || CheckFrozen(type));
    case Keyword::kMAP:
      if (!has_parameters()) break;
      type.kind = TypeSpec::Kind::kMap;
      return ParseTypeParameters(2, type);
    case Keyword::kTUPLE:
      if (!has_parameters()) break;
      type.kind = TypeSpec::Kind::kTuple;
      return ParseTypeParameters(0, type);
    case Keyword::kVECTOR:
      if (!has_parameters()) break;
      return ParseVectorType(type);
    default:
      break;
  }
  if (token().kind == TokenKind::kString) {
    type.kind = TypeSpec::Kind::kClass;
    type.name = StringOf(token());
    Advance();
    return true;
  }
  if (IsTypeWord(token())) {
    type.kind = TypeSpec::Kind::kNative;
    return ParseNativeType(type.native);
  }
  return ParseUserType(type);
}

// `< type, ... >` behind the type's name; `count` of them, or any number if it is 0.
bool CqlParser::ParseTypeParameters(size_t count, TypeSpec& type) {
  Advance();
  if (!Expect("<")) return false;
  do {
    if (!ParseType(type.parameters.emplace_back())) return false;
  } while (type.parameters.size() != count && Accept(","));
  if (type.parameters.size() < count) return FailMissing("','");
  return Expect(">");
}

// Native types are not frozen. Source: ScyllaDB cql3/Cql.g, comparator_type.
bool CqlParser::CheckFrozen(const TypeSpec& type) {
  const TypeSpec& inner = type.parameters[0];
  if (inner.kind != TypeSpec::Kind::kNative) return true;
  return FailSyntax(
      "frozen<> is only allowed on collections, tuples, and user-defined types (got " +
      ToString(inner) + ")");
}

bool CqlParser::ParseVectorType(TypeSpec& type) {
  type.kind = TypeSpec::Kind::kVector;
  Advance();
  if (!Expect("<") || !ParseType(type.parameters.emplace_back()) || !Expect(",")) return false;
  if (token().kind != TokenKind::kInteger) return FailHere();
  const std::string_view text = token().text;
  uint32_t dimension = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), dimension);
  if (text[0] == '-' || (failure == std::errc() && dimension == 0)) {
    return Fail(CqlError::Invalid("Vectors must have a dimension greater than 0"));
  }
  if (failure != std::errc() || dimension > kVectorDimensionMax) {
    return Fail(CqlError::Invalid("Vectors must have a dimension less than or equal to " +
                                  std::to_string(kVectorDimensionMax)));
  }
  type.dimension = dimension;
  Advance();
  return Expect(">");
}

bool CqlParser::ParseUserType(TypeSpec& type) {
  type.kind = TypeSpec::Kind::kUser;
  const bool is_word = token().kind == TokenKind::kWord;
  if (!ParseName(type.name)) return false;
  if (Accept(".")) {
    type.keyspace = std::move(type.name);
    return IsTypeWord(token()) ? FailHere() : ParseName(type.name);
  }
  if (is_word && IsReservedTypeName(type.name)) {
    return FailSyntax("Invalid (reserved) user type name " + type.name);
  }
  return true;
}

// ---- CREATE and ALTER TYPE

bool CqlParser::ParseTypeName(QualifiedName& name) {
  name.position = token().position;
  TypeSpec type;
  if (IsTypeWord(token())) return FailHere();
  if (!ParseUserType(type)) return false;
  name.keyspace = std::move(type.keyspace);
  name.name = std::move(type.name);
  return true;
}

bool CqlParser::ParseField(ColumnSpec& field) {
  field.position = token().position;
  return ParseName(field.name) && ParseType(field.type);
}

bool CqlParser::ParseCreateType(CreateTypeStatement& create) {
  Advance();
  if (!ParseIfNotExists(create.if_not_exists) || !ParseTypeName(create.type)) return false;
  if (!Expect("(") || !ParseField(create.fields.emplace_back())) return false;
  while (Accept(",")) {
    // ScyllaDB's grammar lets commas stand without a field behind them.
    if (At(",") || At(")")) continue;
    if (!ParseField(create.fields.emplace_back())) return false;
  }
  return Expect(")");
}

bool CqlParser::ParseAlterType(AlterTypeStatement& alter) {
  Advance();
  if (!ParseTypeName(alter.type)) return false;
  switch (token().keyword) {
    case Keyword::kADD:
      Advance();
      return ParseField(alter.field);
    case Keyword::kALTER:
      alter.kind = AlterTypeStatement::Kind::kAlterType;
      Advance();
      return ParseName(alter.field.name) && Expect(Keyword::kTYPE) && ParseType(alter.field.type);
    case Keyword::kRENAME:
      alter.kind = AlterTypeStatement::Kind::kRename;
      return ParseRenames(alter.renames);
    default:
      return FailHere();
  }
}

bool CqlParser::ParseNativeType(CqlType& type) {
  const std::optional<CqlType> native =
      token().kind == TokenKind::kWord ? ParseCqlType(NameOf(token())) : std::nullopt;
  if (!native) return FailHere();
  type = *native;
  Advance();
  return true;
}

std::string ToString(const TypeSpec& type) {
  std::string text;
  switch (type.kind) {
    case TypeSpec::Kind::kNative:
      return std::string(CqlTypeName(type.native));
    case TypeSpec::Kind::kUser:
      if (!type.keyspace.empty()) text = QuoteIdentifier(type.keyspace) + ".";
      return text + UserTypeText(type.name);
    case TypeSpec::Kind::kList:
      text = "list<";
      break;
    case TypeSpec::Kind::kSet:
      text = "set<";
      break;
    case TypeSpec::Kind::kMap:
      text = "map<";
      break;
    case TypeSpec::Kind::kTuple:
      text = "tuple<";
      break;
    case TypeSpec::Kind::kFrozen:
      text = "frozen<";
      break;
    case TypeSpec::Kind::kClass:
      return QuoteString(type.name);
    case TypeSpec::Kind::kVector:
      return "vector<" + ToString(type.parameters[0]) + ", " + std::to_string(type.dimension) + ">";
  }
  for (size_t i = 0; i < type.parameters.size(); ++i) {
    text += (i == 0 ? "" : ", ") + ToString(type.parameters[i]);
  }
  return text + ">";
}

namespace {

// What types are looked up in.
struct Home {
  std::string_view keyspace;
  const UserTypes& types;
};

CqlOr<DataType> Resolve(const TypeSpec& type, const Home& home, bool inside_frozen);

// Elements of collections: no counters, and in a collection that is not frozen nothing else that is
// not.
CqlOr<DataType> ResolveElement(const TypeSpec& collection, const TypeSpec& element,
                               const Home& home, bool inside_frozen) {
  if (element.kind == TypeSpec::Kind::kNative && element.native == CqlType::kCounter) {
    return CqlError::Invalid("Counters are not allowed inside collections: " +
                             ToString(collection));
  }
  if (element.kind == TypeSpec::Kind::kNative && element.native == CqlType::kDuration &&
      &element == &collection.parameters[0] && collection.kind != TypeSpec::Kind::kList) {
    return CqlError::Invalid(collection.kind == TypeSpec::Kind::kSet
                                 ? "Durations are not allowed inside sets: " + ToString(collection)
                                 : "Durations are not allowed as map keys: " +
                                       ToString(collection));
  }
  LS_ASSIGN_OR_RETURN(DataType type, Resolve(element, home, inside_frozen));
  if (!inside_frozen && type.is_multi_cell()) {
    return CqlError::Invalid(
        "Non-frozen user types or collections are not allowed inside collections: " +
        ToString(collection));
  }
  return type;
}

// What drivers are told of a type has their count in 16 bits.
constexpr size_t kTupleElementsMax = 65'535;

CqlOr<DataType> ResolveTuple(const TypeSpec& type, const Home& home) {
  if (type.parameters.size() > kTupleElementsMax) {
    return CqlError::Invalid("A tuple cannot have more than " + std::to_string(kTupleElementsMax) +
                             " elements");
  }
  std::vector<DataType> fields;
  for (const TypeSpec& field : type.parameters) {
    if (field.kind == TypeSpec::Kind::kNative && field.native == CqlType::kCounter) {
      return CqlError::Invalid("Counters are not allowed inside tuples");
    }
    // A tuple is frozen, and what is in it with it.
    CqlOr<DataType> resolved = Resolve(field, home, true);
    if (!resolved.ok()) return resolved.status();
    fields.push_back(*std::move(resolved));
  }
  return DataType::Tuple(std::move(fields));
}

CqlOr<DataType> ResolveUserType(const TypeSpec& type, const Home& home) {
  if (!type.keyspace.empty() && !home.keyspace.empty() && type.keyspace != home.keyspace) {
    return CqlError::Invalid("Statement on keyspace " + std::string(home.keyspace) +
                             " cannot refer to a user type in keyspace " + type.keyspace +
                             "; user types can only be used in the keyspace they are defined in");
  }
  const auto found = home.types.find(type.name);
  if (found != home.types.end()) return found->second;
  const std::string keyspace(type.keyspace.empty() ? home.keyspace : type.keyspace);
  return CqlError::Invalid("Unknown type " + (keyspace.empty() ? "" : keyspace + ".") + type.name);
}

CqlOr<DataType> Resolve(const TypeSpec& type, const Home& home, bool inside_frozen) {
  switch (type.kind) {
    case TypeSpec::Kind::kNative:
      return DataType(type.native);
    case TypeSpec::Kind::kUser:
      return ResolveUserType(type, home);
    case TypeSpec::Kind::kClass: {
      CqlOr<DataType> named = ParseTypeClass(type.name);
      if (!named.ok() || !inside_frozen) return named;
      return DataType::Frozen(*std::move(named));
    }
    case TypeSpec::Kind::kVector:
      return CqlError::Unsupported(CqlFeature::kVectors, ToString(type));
    case TypeSpec::Kind::kTuple:
      return ResolveTuple(type, home);
    case TypeSpec::Kind::kFrozen: {
      const TypeSpec& inner = type.parameters[0];
      if (inner.kind == TypeSpec::Kind::kNative) {
        return CqlError::Invalid(
            "frozen<> is only allowed on collections, tuples, and user-defined types (got " +
            ToString(inner) + ")");
      }
      CqlOr<DataType> resolved = Resolve(inner, home, true);
      if (!resolved.ok()) return resolved.status();
      return DataType::Frozen(*std::move(resolved));
    }
    case TypeSpec::Kind::kList:
    case TypeSpec::Kind::kSet:
    case TypeSpec::Kind::kMap:
      break;
  }
  CqlOr<DataType> first = ResolveElement(type, type.parameters[0], home, inside_frozen);
  if (!first.ok()) return first.status();
  if (type.kind == TypeSpec::Kind::kList) return DataType::List(*std::move(first));
  if (type.kind == TypeSpec::Kind::kSet) return DataType::Set(*std::move(first));
  CqlOr<DataType> second = ResolveElement(type, type.parameters[1], home, inside_frozen);
  if (!second.ok()) return second.status();
  return DataType::Map(*std::move(first), *std::move(second));
}

}  // namespace

CqlStatus CheckSize(const DataType& type) {
  const TypeSize size = type.size();
  if (size.depth > kTypeDepthMax) {
    return CqlError::Invalid("Types " + std::to_string(size.depth) +
                             " deep in each other; liststore has at most " +
                             std::to_string(kTypeDepthMax));
  }
  if (size.bytes <= kTypeBytesMax) return {};
  return CqlError::Invalid("A type whose description takes " + std::to_string(size.bytes) +
                           " bytes; liststore has at most " + std::to_string(kTypeBytesMax));
}

CqlOr<DataType> ToDataType(const TypeSpec& type, std::string_view keyspace,
                           const UserTypes& types) {
  LS_ASSIGN_OR_RETURN(DataType resolved, Resolve(type, {keyspace, types}, false));
  LS_RETURN_IF_ERROR(CheckSize(resolved));
  return resolved;
}

CqlOr<DataType> ToDataType(const TypeSpec& type, std::string_view keyspace) {
  const UserTypes none;
  return ToDataType(type, keyspace, none);
}

}  // namespace liststore::cql

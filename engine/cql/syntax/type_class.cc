#include "engine/cql/syntax/type_class.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/cql/syntax/expression.h"
#include "engine/cql/syntax/quoting.h"

namespace liststore::cql {
namespace {

constexpr std::string_view kPackage = "org.apache.cassandra.db.marshal.";
constexpr int kClassNestingMax = 32;

struct NativeClass {
  std::string_view name;
  CqlType type;
};
// Source: ScyllaDB types/types.cc, abstract_type::parse_type. DateType is how timestamps were
// called.
constexpr NativeClass kNativeClasses[] = {
    {"AsciiType", CqlType::kAscii},
    {"BooleanType", CqlType::kBoolean},
    {"ByteType", CqlType::kTinyint},
    {"BytesType", CqlType::kBlob},
    {"CounterColumnType", CqlType::kCounter},
    {"DateType", CqlType::kTimestamp},
    {"DecimalType", CqlType::kDecimal},
    {"DoubleType", CqlType::kDouble},
    {"DurationType", CqlType::kDuration},
    {"FloatType", CqlType::kFloat},
    {"InetAddressType", CqlType::kInet},
    {"Int32Type", CqlType::kInt},
    {"IntegerType", CqlType::kVarint},
    {"LongType", CqlType::kBigint},
    {"ShortType", CqlType::kSmallint},
    {"SimpleDateType", CqlType::kDate},
    {"TimestampType", CqlType::kTimestamp},
    {"TimeType", CqlType::kTime},
    {"TimeUUIDType", CqlType::kTimeuuid},
    {"UTF8Type", CqlType::kText},
    {"UUIDType", CqlType::kUuid},
};

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// [0-9a-zA-Z-+._&]
bool IsOfIdentifier(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("-+._&").find(c) != std::string_view::npos;
}

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// nullopt: it is no pairs of hexadecimal digits.
std::optional<std::string> BytesOfHex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    const int high = DigitOf(digits[i]), low = DigitOf(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

class ClassParser {
 public:
  explicit ClassParser(std::string_view text) : text_(text) {}

  CqlOr<DataType> ParseWhole() {
    LS_ASSIGN_OR_RETURN(Parsed parsed, ParseOne(/*depth=*/1));
    return std::move(parsed.type);
  }

 private:
  // A type, and its class written whole.
  struct Parsed {
    DataType type = CqlType::kBlob;
    std::string text;
  };

  CqlError Fail(std::string_view why) const {
    return CqlError::Syntax("Cannot parse type " + std::string(text_) + ": Syntax error parsing '" +
                            std::string(text_) + "' at char " + std::to_string(at_) + ": " +
                            std::string(why));
  }
  CqlError NoClass(const std::string& name) const {
    return CqlError::Syntax("Error setting type " + std::string(text_) +
                            ": Unable to find abstract-type class '" + name + "'");
  }
  CqlError WrongCount(std::string_view name, std::string_view count) const {
    return CqlError::Syntax("Error setting type " + std::string(text_) + ": " + std::string(name) +
                            " takes " + std::string(count));
  }

  bool at_end() const { return at_ >= text_.size(); }
  bool At(char c) const { return !at_end() && text_[at_] == c; }
  bool Accept(char c) {
    if (!At(c)) return false;
    ++at_;
    return true;
  }
  void SkipBlanks() {
    while (!at_end() && IsBlank(text_[at_])) ++at_;
  }
  // False: there is no further parameter, and the parenthesis was taken, or the text ends.
  bool NextParameter() {
    bool comma = false;
    while (!at_end() && (IsBlank(text_[at_]) || (text_[at_] == ',' && !comma))) {
      comma |= text_[at_] == ',';
      ++at_;
    }
    return !at_end() && !Accept(')');
  }
  std::string TakeIdentifier() {
    const size_t begin = at_;
    while (!at_end() && IsOfIdentifier(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  bool has_closed() const { return at_ > 0 && text_[at_ - 1] == ')'; }

  CqlOr<Parsed> ParseOne(int depth) {
    if (depth > kClassNestingMax) return Fail("nested too deeply");
    SkipBlanks();
    std::string name = TakeIdentifier();
    if (name.empty()) return NoClass(name);
    if (name.find('.') == std::string::npos) name = std::string(kPackage) + name;
    SkipBlanks();
    const bool is_marshal = name.starts_with(kPackage);
    const std::string_view kind =
        is_marshal ? std::string_view(name).substr(kPackage.size()) : std::string_view();
    for (const NativeClass& native : kNativeClasses) {
      if (native.name == kind && !At('(')) return Parsed{native.type, name};
    }
    if (kind == "UserType") return ParseUserType(name, depth);
    if (kind == "DynamicCompositeType") return ParseAliases(name, depth);
    std::vector<Parsed> parts;
    if (Accept('(')) {
      while (NextParameter()) {
        LS_ASSIGN_OR_RETURN(Parsed part, ParseOne(depth + 1));
        parts.push_back(std::move(part));
      }
      if (!has_closed()) return Fail("unexpected end of string");
    }
    std::string text = name + "(";
    for (size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : ",") + parts[i].text;
    text += ")";
    LS_ASSIGN_OR_RETURN(DataType type, Make(name, kind, text, std::move(parts)));
    return Parsed{std::move(type), std::move(text)};
  }

  // Source: ScyllaDB db/marshal/type_parser.cc, get_abstract_type.
  CqlOr<DataType> Make(const std::string& name, std::string_view kind, const std::string& text,
                       std::vector<Parsed> parts) const {
    if (kind == "ReversedType" || kind == "FrozenType") {
      if (parts.size() != 1) return WrongCount(kind, "exactly 1 type parameter");
      return kind == "FrozenType" ? DataType::Frozen(std::move(parts[0].type))
                                  : std::move(parts[0].type);
    }
    if (kind == "ListType" || kind == "SetType") {
      if (parts.size() != 1) return WrongCount(kind, "exactly 1 type parameter");
      // What is in a collection is frozen, whatever the class says.
      DataType element = DataType::Frozen(std::move(parts[0].type));
      return kind == "ListType" ? DataType::List(std::move(element))
                                : DataType::Set(std::move(element));
    }
    if (kind == "MapType") {
      if (parts.size() != 2) return WrongCount(kind, "exactly 2 type parameters");
      return DataType::Map(DataType::Frozen(std::move(parts[0].type)),
                           DataType::Frozen(std::move(parts[1].type)));
    }
    if (kind == "TupleType") {
      if (parts.empty()) return WrongCount(kind, "at least 1 type parameter");
      std::vector<DataType> fields;
      for (Parsed& part : parts) fields.push_back(std::move(part.type));
      return DataType::Tuple(std::move(fields));
    }
    if (kind == "VectorType") return CqlError::Unsupported(CqlFeature::kVectors, text);
    if (kind == "CompositeType") {
      if (parts.empty()) {
        return CqlError::Syntax("Error setting type " + std::string(text_) +
                                ": Nonsensical empty parameter list for CompositeType");
      }
      return DataType::Custom(text);
    }
    if (kind == "EmptyType" || kind == "LexicalUUIDType" || kind == "PartitionerDefinedOrder") {
      return DataType::Custom(name);
    }
    return NoClass(name);
  }

  // UserType(keyspace,name,field:Type,...), names in hexadecimal digits.
  CqlOr<Parsed> ParseUserType(const std::string& name, int depth) {
    if (!Accept('(')) return NoClass(name);
    UserTypeNames names;
    std::vector<DataType> fields;
    NextParameter();
    names.keyspace = TakeIdentifier();
    NextParameter();
    std::string digits = TakeIdentifier();
    std::optional<std::string> bytes = BytesOfHex(digits);
    if (names.keyspace.empty() || !bytes || bytes->empty()) return Fail("no user type");
    std::string text = name + "(" + names.keyspace + "," + digits;
    names.name = *std::move(bytes);
    names.name_in_cql = QuoteIdentifier(names.name);
    while (NextParameter()) {
      digits = TakeIdentifier();
      bytes = BytesOfHex(digits);
      if (!bytes) return Fail("no field's name");
      if (!Accept(':')) return Fail("expecting ':' token");
      LS_ASSIGN_OR_RETURN(Parsed field, ParseOne(depth + 1));
      text += "," + digits + ":" + field.text;
      names.fields.push_back(*std::move(bytes));
      fields.push_back(std::move(field.type));
    }
    if (!has_closed()) return Fail("unexpected end of string");
    return Parsed{
        DataType::User(std::make_shared<const UserTypeNames>(std::move(names)), std::move(fields)),
        text + ")"};
  }

  // DynamicCompositeType(a=>Type,...).
  CqlOr<Parsed> ParseAliases(const std::string& name, int depth) {
    std::string text = name + "(";
    if (Accept('(')) {
      bool is_first = true;
      while (NextParameter()) {
        const std::string alias = TakeIdentifier();
        if (alias.size() != 1) return Fail("An alias should be a single character");
        SkipBlanks();
        if (!Accept('=') || !Accept('>')) return Fail("expecting '=>' token");
        LS_ASSIGN_OR_RETURN(const Parsed part, ParseOne(depth + 1));
        text += (is_first ? "" : ",") + alias + "=>" + part.text;
        is_first = false;
      }
      if (!has_closed()) return Fail("unexpected end of string");
    }
    text += ")";
    return Parsed{DataType::Custom(text), text};
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

CqlOr<DataType> ParseTypeClass(std::string_view text) {
  LS_ASSIGN_OR_RETURN(DataType type, ClassParser(text).ParseWhole());
  LS_RETURN_IF_ERROR(CheckSize(type));
  return type;
}

}  // namespace liststore::cql

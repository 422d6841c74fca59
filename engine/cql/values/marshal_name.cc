#include "engine/cql/values/marshal_name.h"

#include <cstdint>
#include <string_view>

#include "engine/base/check.h"
#include "engine/base/hex.h"

namespace liststore::cql {
namespace {

constexpr std::string_view kPackage = "org.apache.cassandra.db.marshal.";

std::string_view MarshalName(CqlType type) {
  switch (type) {
    case CqlType::kAscii:
      return "AsciiType";
    case CqlType::kBigint:
      return "LongType";
    case CqlType::kBlob:
      return "BytesType";
    case CqlType::kBoolean:
      return "BooleanType";
    case CqlType::kCounter:
      return "CounterColumnType";
    case CqlType::kDate:
      return "SimpleDateType";
    case CqlType::kDecimal:
      return "DecimalType";
    case CqlType::kDouble:
      return "DoubleType";
    case CqlType::kDuration:
      return "DurationType";
    case CqlType::kFloat:
      return "FloatType";
    case CqlType::kInet:
      return "InetAddressType";
    case CqlType::kInt:
      return "Int32Type";
    case CqlType::kSmallint:
      return "ShortType";
    case CqlType::kText:
      return "UTF8Type";
    case CqlType::kTime:
      return "TimeType";
    case CqlType::kTimestamp:
      return "TimestampType";
    case CqlType::kTimeuuid:
      return "TimeUUIDType";
    case CqlType::kTinyint:
      return "ByteType";
    case CqlType::kUuid:
      return "UUIDType";
    case CqlType::kVarint:
      return "IntegerType";
  }
  LS_UNREACHABLE("a type is one of the enum");
}

std::string JoinedParameters(const DataType& type) {
  std::string text;
  for (const DataType& parameter : type.parameters()) {
    if (!text.empty()) text += ',';
    text += MarshalTypeName(parameter);
  }
  return text;
}

std::string UserTypeText(const DataType& type) {
  const UserTypeNames& user = type.user();
  std::string text = "UserType(" + user.keyspace + "," + LowerHex(user.name);
  for (size_t i = 0; i < user.fields.size(); ++i) {
    text += "," + LowerHex(user.fields[i]) + ":" + MarshalTypeName(type.parameters()[i]);
  }
  return text + ")";
}

std::string UnfrozenName(const DataType& type) {
  switch (type.kind()) {
    case DataType::Kind::kNative:
      return std::string(MarshalName(type.native()));
    case DataType::Kind::kList:
      return "ListType(" + JoinedParameters(type) + ")";
    case DataType::Kind::kSet:
      return "SetType(" + JoinedParameters(type) + ")";
    case DataType::Kind::kMap:
      return "MapType(" + JoinedParameters(type) + ")";
    case DataType::Kind::kTuple:
      return "TupleType(" + JoinedParameters(type) + ")";
    case DataType::Kind::kUser:
      return UserTypeText(type);
  }
  LS_UNREACHABLE("a kind is one of the enum");
}

}  // namespace

std::string MarshalTypeName(const DataType& type) {
  if (type.is_custom()) return type.custom_class();
  std::string name = std::string(kPackage) + UnfrozenName(type);
  if (!type.is_collection() || !type.is_frozen()) return name;
  return std::string(kPackage) + "FrozenType(" + name + ")";
}

}  // namespace liststore::cql

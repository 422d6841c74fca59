#include "engine/model/types/cql_type.h"

#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/three_way.h"
#include "engine/base/utf8.h"
#include "engine/model/types/decimal.h"
#include "engine/model/types/duration.h"
#include "engine/model/types/uuid_order.h"

namespace liststore {
namespace {

constexpr uint64_t kNanosPerDay = 86'400'000'000'000;
constexpr size_t kUuidBytes = 16;

struct TypeName {
  CqlType type;
  std::string_view name;
};

constexpr TypeName kTypeNames[] = {
    {CqlType::kAscii, "ascii"},       {CqlType::kBigint, "bigint"},
    {CqlType::kBlob, "blob"},         {CqlType::kBoolean, "boolean"},
    {CqlType::kCounter, "counter"},   {CqlType::kDate, "date"},
    {CqlType::kDecimal, "decimal"},   {CqlType::kDouble, "double"},
    {CqlType::kDuration, "duration"}, {CqlType::kFloat, "float"},
    {CqlType::kInet, "inet"},         {CqlType::kInt, "int"},
    {CqlType::kSmallint, "smallint"}, {CqlType::kText, "text"},
    {CqlType::kTime, "time"},         {CqlType::kTimestamp, "timestamp"},
    {CqlType::kTimeuuid, "timeuuid"}, {CqlType::kTinyint, "tinyint"},
    {CqlType::kUuid, "uuid"},         {CqlType::kVarint, "varint"},
};

constexpr bool NamesFollowTheEnum() {
  size_t index = 0;
  for (const TypeName& entry : kTypeNames) {
    if (static_cast<size_t>(entry.type) != index++) return false;
  }
  return true;
}
static_assert(NamesFollowTheEnum(), "CqlTypeName indexes by the enum's value");

// -0.0 before 0.0, NaN behind everything and equal to NaN, as in Java.
template <typename T>
int CompareFloats(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return ThreeWay(std::isnan(a), std::isnan(b));
  if (std::signbit(a) != std::signbit(b)) return std::signbit(a) ? -1 : 1;
  return ThreeWay(a, b);
}

template <typename Int, typename Loader>
int CompareIntegers(std::string_view a, std::string_view b, Loader load) {
  return ThreeWay(static_cast<Int>(load(a.data())), static_cast<Int>(load(b.data())));
}

}  // namespace

std::string_view CqlTypeName(CqlType type) {
  const auto index = static_cast<size_t>(type);
  LS_CHECK(index < std::size(kTypeNames), "every type has a name");
  return kTypeNames[index].name;
}

std::optional<CqlType> ParseCqlType(std::string_view name) {
  if (name == "varchar") return CqlType::kText;
  for (const TypeName& entry : kTypeNames) {
    if (entry.name == name) return entry.type;
  }
  return std::nullopt;
}

size_t CqlFixedBytes(CqlType type) {
  switch (type) {
    case CqlType::kBoolean:
    case CqlType::kTinyint:
      return 1;
    case CqlType::kSmallint:
      return 2;
    case CqlType::kDate:
    case CqlType::kFloat:
    case CqlType::kInt:
      return 4;
    case CqlType::kBigint:
    case CqlType::kCounter:
    case CqlType::kDouble:
    case CqlType::kTime:
    case CqlType::kTimestamp:
      return 8;
    case CqlType::kTimeuuid:
    case CqlType::kUuid:
      return kUuidBytes;
    case CqlType::kAscii:
    case CqlType::kBlob:
    case CqlType::kDecimal:
    case CqlType::kDuration:
    case CqlType::kInet:
    case CqlType::kText:
    case CqlType::kVarint:
      return 0;
  }
  LS_UNREACHABLE("a type is one of the enum");
}

bool IsValidCqlValue(CqlType type, std::string_view value) {
  if (type == CqlType::kText) return IsValidUtf8(value);  // nearly all keys are
  if (type == CqlType::kDuration) return DecodeDuration(value).has_value();
  if (value.empty()) return type != CqlType::kCounter;
  if (const size_t bytes = CqlFixedBytes(type); bytes != 0 && value.size() != bytes) return false;
  switch (type) {
    case CqlType::kAscii:
      return IsAscii(value);
    case CqlType::kInet:
      return value.size() == 4 || value.size() == 16;
    case CqlType::kDecimal:
      return value.size() >= kDecimalScaleBytes && value.size() <= kDecimalBytesMax;
    case CqlType::kTime:
      return LoadBigEndian64(value.data()) < kNanosPerDay;
    case CqlType::kTimeuuid:
      return UuidVersion(value.data()) == kTimeuuidVersion;
    default:
      return true;  // any bytes, of the right length where there is one
  }
}

int CompareCqlValues(CqlType type, std::string_view a, std::string_view b) {
  LS_DCHECK(IsValidCqlValue(type, a), "values are validated before they are compared");
  LS_DCHECK(IsValidCqlValue(type, b), "values are validated before they are compared");
  if (a.empty() || b.empty()) return ThreeWay(a.size(), b.size());
  switch (type) {
    case CqlType::kAscii:
    case CqlType::kBlob:
    case CqlType::kDate:  // unsigned, 2^31 is the epoch
    case CqlType::kDuration:
    case CqlType::kInet:
    case CqlType::kText:
    case CqlType::kTime:
      return a.compare(b);
    case CqlType::kBoolean:
      return ThreeWay(a[0] != 0, b[0] != 0);
    case CqlType::kTinyint:
      return ThreeWay(static_cast<int8_t>(a[0]), static_cast<int8_t>(b[0]));
    case CqlType::kSmallint:
      return CompareIntegers<int16_t>(a, b, LoadBigEndian16);
    case CqlType::kInt:
      return CompareIntegers<int32_t>(a, b, LoadBigEndian32);
    case CqlType::kBigint:
    case CqlType::kCounter:
    case CqlType::kTimestamp:
      return CompareIntegers<int64_t>(a, b, LoadBigEndian64);
    case CqlType::kFloat:
      return CompareFloats(std::bit_cast<float>(LoadBigEndian32(a.data())),
                           std::bit_cast<float>(LoadBigEndian32(b.data())));
    case CqlType::kDouble:
      return CompareFloats(std::bit_cast<double>(LoadBigEndian64(a.data())),
                           std::bit_cast<double>(LoadBigEndian64(b.data())));
    case CqlType::kVarint:
      return CompareVarints(a, b);
    case CqlType::kDecimal:
      return CompareDecimals(a, b);
    case CqlType::kUuid:
      return CompareUuids(a.data(), b.data());
    case CqlType::kTimeuuid:
      return CompareTimeuuids(a.data(), b.data());
  }
  LS_UNREACHABLE("a type is one of the enum");
}

}  // namespace liststore

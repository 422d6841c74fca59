#include "tests/cql/random_literals.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/cql/values/time_text.h"
#include "engine/model/types/composite_value.h"
#include "engine/model/types/cql_type.h"

namespace liststore::testing {
namespace {

constexpr CqlType kTypes[] = {
    CqlType::kAscii,   CqlType::kBigint,  CqlType::kBlob,      CqlType::kBoolean,
    CqlType::kDate,    CqlType::kDecimal, CqlType::kDouble,    CqlType::kDuration,
    CqlType::kFloat,   CqlType::kInet,    CqlType::kInt,       CqlType::kSmallint,
    CqlType::kText,    CqlType::kTime,    CqlType::kTimestamp, CqlType::kTimeuuid,
    CqlType::kTinyint, CqlType::kUuid,    CqlType::kVarint};

std::string RandomBytes(Random& random, size_t count) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) {
    // Runs of zeros and ones are where signs, scales and IPv6 are special.
    const uint64_t kind = random.Below(4);
    byte = kind == 0 ? '\0' : kind == 1 ? '\xff' : static_cast<char>(random.Next());
  }
  return bytes;
}

std::string RandomText(Random& random, bool ascii) {
  constexpr std::string_view kCharacters[] = {
      "a",  "Z",  "'", "\"",       "$$",           " ",
      "\n", "\\", "0", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
  std::string text;
  for (uint64_t length = random.Below(8); length > 0; --length) {
    text += kCharacters[random.Below(ascii ? 9 : std::size(kCharacters))];
  }
  return text;
}

std::string RandomDuration(Random& random) {
  const auto part = [&random](int64_t max) {
    if (random.OneIn(3)) return int64_t{0};
    return random.OneIn(3) ? max : random.Between(0, random.OneIn(2) ? max : 100);
  };
  Duration duration;
  duration.months = static_cast<int32_t>(part(std::numeric_limits<int32_t>::max()));
  duration.days = static_cast<int32_t>(part(std::numeric_limits<int32_t>::max()));
  duration.nanoseconds = part(std::numeric_limits<int64_t>::max());
  if (random.OneIn(2)) {
    // The smallest numbers have no positive counterpart.
    duration.months = duration.months == 0 ? 0 : -duration.months - 1;
    duration.days = duration.days == 0 ? 0 : -duration.days - 1;
    duration.nanoseconds = duration.nanoseconds == 0 ? 0 : -duration.nanoseconds - 1;
  }
  return EncodeDuration(duration);
}

std::string RandomNative(Random& random, CqlType type) {
  if (random.OneIn(20) && IsValidCqlValue(type, "")) return "";
  switch (type) {
    case CqlType::kAscii:
    case CqlType::kText:
      return RandomText(random, type == CqlType::kAscii);
    case CqlType::kBlob:
      return RandomBytes(random, random.Below(6));
    case CqlType::kVarint:
      return RandomBytes(random, 1 + random.Below(20));
    case CqlType::kDecimal: {
      std::string value = RandomBytes(random, 4 + random.Below(20));
      if (random.OneIn(2)) StoreBigEndian32(value.data(), static_cast<uint32_t>(random.Below(20)));
      return value;
    }
    case CqlType::kDuration:
      return RandomDuration(random);
    case CqlType::kInet:
      return RandomBytes(random, random.OneIn(2) ? 4 : 16);
    case CqlType::kTime: {
      std::string value(8, '\0');
      StoreBigEndian64(value.data(), random.Below(86'400'000'000'000));
      return value;
    }
    case CqlType::kTimestamp: {
      std::string value(8, '\0');
      // Around the years 0 and 9999 as well.
      const int64_t milliseconds = random.OneIn(3)
                                       ? static_cast<int64_t>(random.Next())
                                       : random.Between(-63'000'000'000'000, 260'000'000'000'000);
      StoreBigEndian64(value.data(), static_cast<uint64_t>(milliseconds));
      return value;
    }
    case CqlType::kTimeuuid: {
      std::string value = RandomBytes(random, 16);
      value[6] = static_cast<char>((value[6] & 0x0f) | 0x10);
      return value;
    }
    default:
      return RandomBytes(random, CqlFixedBytes(type));
  }
}

}  // namespace

DataType RandomType(Random& random, int depth) {
  if (depth == 0 || random.OneIn(2)) return kTypes[random.Below(std::size(kTypes))];
  switch (random.Below(4)) {
    case 0:
      return DataType::List(RandomType(random, depth - 1));
    case 1:
      return DataType::Set(RandomType(random, depth - 1));
    case 2:
      return DataType::Map(RandomType(random, depth - 1), RandomType(random, depth - 1));
    default: {
      std::vector<DataType> fields;
      for (uint64_t count = 1 + random.Below(3); count > 0; --count) {
        fields.push_back(RandomType(random, depth - 1));
      }
      return DataType::Tuple(std::move(fields));
    }
  }
}

std::string RandomValue(Random& random, const DataType& type) {
  if (type.is_native()) return RandomNative(random, type.native());
  if (type.kind() == DataType::Kind::kTuple) {
    std::vector<std::optional<std::string>> fields;
    for (const DataType& field : type.parameters()) {
      if (random.OneIn(10)) break;
      fields.push_back(random.OneIn(5) ? std::nullopt
                                       : std::make_optional(RandomValue(random, field)));
    }
    return EncodeTuple(fields);
  }
  std::vector<std::string> elements;
  for (uint64_t count = random.Below(4); count > 0; --count) {
    for (const DataType& parameter : type.parameters()) {
      elements.push_back(RandomValue(random, parameter));
    }
  }
  return JoinCollection(type, elements);
}

}  // namespace liststore::testing

#include "tests/conformance/value_pool.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "engine/base/check.h"
#include "engine/model/types/composite_value.h"
#include "tests/conformance/json_model.h"

namespace liststore::testing {
namespace {

constexpr CqlType kTypes[] = {
    CqlType::kAscii,    CqlType::kBigint, CqlType::kBlob,   CqlType::kBoolean,   CqlType::kDate,
    CqlType::kDecimal,  CqlType::kDouble, CqlType::kFloat,  CqlType::kInet,      CqlType::kInt,
    CqlType::kSmallint, CqlType::kText,   CqlType::kTime,   CqlType::kTimestamp, CqlType::kTimeuuid,
    CqlType::kTinyint,  CqlType::kUuid,   CqlType::kVarint,
};

std::vector<PoolValue> Integers(size_t bytes, bool empty) {
  const int64_t max = std::numeric_limits<int64_t>::max() >> (64 - 8 * bytes);
  std::vector<PoolValue> pool;
  for (const int64_t value : {-max - 1, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{100}, max}) {
    pool.push_back({BytesOfInt(value, bytes), std::to_string(value)});
  }
  if (empty) pool.push_back({});
  return pool;
}

std::vector<PoolValue> Texts(std::initializer_list<std::string_view> texts) {
  std::vector<PoolValue> pool;
  for (const std::string_view text : texts) {
    std::string literal = "'";
    for (const char c : text) literal += c == '\'' ? std::string("''") : std::string(1, c);
    pool.push_back({std::string(text), literal + "'"});
  }
  return pool;
}

std::vector<PoolValue> Blobs(std::initializer_list<std::string_view> blobs) {
  std::vector<PoolValue> pool;
  for (const std::string_view blob : blobs) {
    std::string literal = "0x";
    for (const char c : blob) {
      char digits[3];
      std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned char>(c));
      literal += digits;
    }
    pool.push_back({std::string(blob), literal});
  }
  return pool;
}

std::vector<PoolValue> Doubles() {
  std::vector<PoolValue> pool;
  for (const char* literal : {"-1e300", "-1.5", "0.0", "2.25", "1e300"}) {
    const double value = std::strtod(literal, nullptr);
    pool.push_back({BytesOfInt(std::bit_cast<int64_t>(value), 8), literal});
  }
  return pool;
}

std::vector<PoolValue> Floats() {
  std::vector<PoolValue> pool;
  for (const char* literal : {"-1.5", "0.0", "2.25"}) {
    const float value = std::strtof(literal, nullptr);
    pool.push_back({BytesOfInt(std::bit_cast<int32_t>(value), 4), literal});
  }
  return pool;
}

// A vint: as many ones as bytes follow the first, a zero, and the number in the bits that are left.
// Source: native_protocol_v5.spec, section 3; signed ones are zigzag.
std::string Vint(int64_t value) {
  const uint64_t zigzag = static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
  size_t follow = 0;
  while (follow < 8 && zigzag >> (7 * (follow + 1)) != 0) ++follow;
  std::string bytes = BytesOfInt(static_cast<int64_t>(zigzag), 9);
  bytes.erase(0, 8 - follow);
  bytes[0] = static_cast<char>(static_cast<unsigned char>(bytes[0]) | 0xff00 >> follow);
  return bytes;
}

// Each part smallest and largest, by its units and in the other forms of literals.
std::vector<PoolValue> Durations() {
  struct Example {
    int64_t months;
    int64_t days;
    int64_t nanoseconds;
    const char* literal;
  };
  constexpr Example kExamples[] = {
      {0, 0, 0, "0ns"},
      {1, 2, 3, "1mo2d3ns"},
      {0, -1, 0, "-1d"},
      {0, 1, 0, "1d"},
      {0, 0, 1'000'000'000, "1s"},
      {0, 0, 86'400'000'000'000, "24h"},
      {14, 3, 14'706'000'000'000, "P1Y2M3DT4H5M6S"},
      {0, 14, 0, "P2W"},
      {-1, -1, -1'001'001'001, "-1mo1d1s1ms1us1ns"},
      {std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::max(),
       std::numeric_limits<int64_t>::max(), "2147483647mo2147483647d9223372036854775807ns"},
  };
  std::vector<PoolValue> pool;
  for (const auto& [months, days, nanoseconds, literal] : kExamples) {
    pool.push_back({Vint(months) + Vint(days) + Vint(nanoseconds), literal});
  }
  return pool;
}

std::vector<PoolValue> Make(CqlType type) {
  using namespace std::string_view_literals;
  switch (type) {
    case CqlType::kAscii:
      return Texts({""sv, "A"sv, "a"sv, "a b"sv, "ab"sv});
    case CqlType::kBigint:
      return Integers(8, true);
    case CqlType::kBlob:
      return Blobs({""sv, "\0"sv, "\0\0"sv, "\0\1"sv, "\0\xff"sv, "a"sv, "\xff"sv, "\xff\xff"sv});
    case CqlType::kBoolean:
      return {{std::string(1, '\0'), "false"}, {"\x01", "true"}};
    case CqlType::kDate:
      return {{"\x7f\xff\xff\xff", "'1969-12-31'"},
              {std::string("\x80\0\0\0", 4), "'1970-01-01'"},
              {std::string("\x80\0\x4d\x0b", 4), "'2024-01-01'"}};
    case CqlType::kDecimal:
      return {{std::string("\0\0\0\0\xfe", 5), "-2"},
              {std::string("\0\0\0\0\0", 5), "0"},
              {std::string("\0\0\0\1\x0f", 5), "1.5"},
              {std::string("\0\0\0\2\x27\x29", 6), "100.25"}};
    case CqlType::kDouble:
      return Doubles();
    case CqlType::kDuration:
      return Durations();
    case CqlType::kFloat:
      return Floats();
    case CqlType::kInet:
      return {{std::string("\x7f\0\0\1", 4), "'127.0.0.1'"},
              {std::string("\x0a\0\0\1", 4), "'10.0.0.1'"},
              {std::string("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16), "'::1'"}};
    case CqlType::kInt:
      return Integers(4, true);
    case CqlType::kSmallint:
      return Integers(2, false);
    case CqlType::kText:
      // Two of the shape of an item key, which are stored in a form of their own.
      return Texts({""sv, "a"sv, "a'b"sv, "ab"sv, "\xc3\xa4"sv,
                    "1700000000000000000#AAAAAAAAAAAAAAAAAAAAAA=="sv,
                    "1700000000000000001#AAAAAAAAAAAAAAAAAAAAAA=="sv});
    case CqlType::kTime:
      return {{BytesOfInt(0, 8), "'00:00:00'"},
              {BytesOfInt(1'000'000'000, 8), "'00:00:01'"},
              {BytesOfInt(int64_t{86'399} * 1'000'000'000, 8), "'23:59:59'"}};
    case CqlType::kTimestamp: {
      std::vector<PoolValue> pool;
      for (const int64_t value : {int64_t{-1}, int64_t{0}, int64_t{1'700'000'000'000}}) {
        pool.push_back({BytesOfInt(value, 8), std::to_string(value)});
      }
      return pool;
    }
    case CqlType::kTinyint:
      return Integers(1, false);
    case CqlType::kTimeuuid:
      // Their times are in another order than their bytes.
      return {{std::string("\x00\x00\x00\x01\x00\x00\x11\xee\x80\x00\x00\x00\x00\x00\x00\x01", 16),
               "00000001-0000-11ee-8000-000000000001"},
              {std::string("\x00\x00\x00\x02\x00\x00\x11\xed\x80\x00\x00\x00\x00\x00\x00\x02", 16),
               "00000002-0000-11ed-8000-000000000002"},
              {std::string("\xff\xff\xff\xff\x00\x00\x11\xec\x80\x00\x00\x00\x00\x00\x00\x03", 16),
               "ffffffff-0000-11ec-8000-000000000003"}};
    case CqlType::kUuid:
      return {{std::string("\x12\x34\x56\x78\x12\x34\x41\x34\x81\x23\x12\x34\x56\x78\x12\x34", 16),
               "12345678-1234-4134-8123-123456781234"},
              {std::string("\x12\x34\x56\x78\x12\x34\x11\x34\x81\x23\x12\x34\x56\x78\x12\x34", 16),
               "12345678-1234-1134-8123-123456781234"},
              {std::string(16, '\xff'), "ffffffff-ffff-ffff-ffff-ffffffffffff"}};
    case CqlType::kVarint:
      return {{std::string("\xff\x7f", 2), "-129"}, {"\xff", "-1"},
              {std::string(1, '\0'), "0"},          {"\x7f", "127"},
              {std::string("\0\x80", 2), "128"},    {std::string("\x01\x11\x70", 3), "70000"}};
    default:
      LS_UNREACHABLE("the type has a pool");
  }
}

// A part of a value of another: its length and its bytes.
std::string Part(std::string_view bytes) {
  return BytesOfInt(static_cast<int64_t>(bytes.size()), 4) + std::string(bytes);
}
std::string Int(int64_t value) { return Part(BytesOfInt(value, 4)); }
std::string Count(int64_t count) { return BytesOfInt(count, 4); }

// Types of other types; sets and maps in their order, tuples whole.
std::vector<std::pair<DataType, std::vector<PoolValue>>> Composites() {
  const std::string null = Count(-1);
  return {
      {DataType::Frozen(DataType::List(CqlType::kInt)),
       {{Count(0), "[]"},
        {Count(1) + Int(-1), "[-1]"},
        {Count(1) + Int(1), "[1]"},
        {Count(2) + Int(1) + Int(-7), "[1, -7]"},
        {Count(2) + Int(1) + Int(2), "[1, 2]"}}},
      {DataType::Frozen(DataType::Set(CqlType::kText)),
       {{Count(0), "{}"},
        {Count(1) + Part("a"), "{'a'}"},
        {Count(2) + Part("a") + Part("b"), "{'b', 'a', 'b'}"},
        {Count(1) + Part("ab"), "{'ab'}"}}},
      {DataType::Frozen(DataType::Map(CqlType::kInt, CqlType::kText)),
       {{Count(0), "{}"},
        {Count(1) + Int(1) + Part(""), "{1: ''}"},
        {Count(2) + Int(-1) + Part("x") + Int(1) + Part("a"), "{1: 'a', -1: 'x'}"},
        {Count(1) + Int(2) + Part("a"), "{2: 'a'}"}}},
      {DataType::Tuple({CqlType::kInt, CqlType::kText}),
       {{null + null, "(null, null)"},
        {null + Part("a"), "(null, 'a')"},
        {Int(1) + null, "(1, null)"},
        {Int(1) + Part(""), "(1, '')"},
        {Int(1) + Part("a"), "(1, 'a')"}}},
  };
}

std::vector<std::pair<DataType, std::vector<PoolValue>>> DurationComposites() {
  const std::string day = Part(Vint(0) + Vint(1) + Vint(0));
  const std::string second = Part(Vint(0) + Vint(0) + Vint(1'000'000'000));
  return {
      {DataType::Frozen(DataType::List(CqlType::kDuration)),
       {{Count(0), "[]"}, {Count(1) + day, "[1d]"}, {Count(2) + second + day, "[1s, 1d]"}}},
      {DataType::Frozen(DataType::Map(CqlType::kInt, CqlType::kDuration)),
       {{Count(0), "{}"},
        {Count(1) + Int(1) + day, "{1: 1d}"},
        {Count(2) + Int(-1) + second + Int(1) + day, "{1: 1d, -1: PT1S}"}}},
      {DataType::Tuple({CqlType::kDuration, CqlType::kInt}),
       {{Count(-1) + Int(1), "(null, 1)"},
        {second + Int(1), "(1000ms, 1)"},
        {day + Count(-1), "(1d, null)"}}},
  };
}

// Of a user type: fields that differ from value to value, some of them null, named or not.
std::vector<PoolValue> UserValues(const DataType& type) {
  constexpr size_t kValues = 6;
  const std::vector<DataType>& types = type.parameters();
  std::vector<PoolValue> pool;
  for (size_t value = 0; value < kValues; ++value) {
    std::vector<std::optional<std::string>> fields;
    std::string literal;
    for (size_t i = 0; i < types.size(); ++i) {
      const std::string name = (literal.empty() ? "" : ", ") + type.user().fields[i] + ": ";
      const PoolValue& of_field = PoolOf(types[i])[(value + i) % PoolOf(types[i]).size()];
      const bool is_null = of_field.literal.empty() || (value + i) % 3 == 2;
      fields.push_back(is_null ? std::nullopt : std::optional(of_field.bytes));
      // One that is not named is null, and one has to be.
      if (!is_null) {
        literal += name + of_field.literal;
      } else if (value % 2 == 0 || i + 1 == types.size()) {
        literal += name + "null";
      }
    }
    pool.push_back({EncodeTuple(fields), "{" + literal + "}"});
    pool.back().jsons = JsonsFor(type, pool.back().bytes);
  }
  return pool;
}

using Pools = std::map<std::string, std::vector<PoolValue>>;

// By the types' names; what JSON there is of their values is found by their literals.
const Pools& PoolsWithoutJson() {
  static const auto* const pools = [] {
    auto* made = new Pools();
    std::vector<CqlType> natives(std::begin(kTypes), std::end(kTypes));
    natives.push_back(CqlType::kDuration);
    for (const CqlType each : natives) {
      std::vector<PoolValue>& pool = (*made)[DataType(each).ToString()];
      pool = Make(each);
      for (PoolValue& value : pool) value.type = CqlTypeName(each);
    }
    // Numbers that additions come near to.
    for (const int64_t value : {-1000, -1, 0, 1, 1000}) {
      (*made)[DataType(CqlType::kCounter).ToString()].push_back(
          {BytesOfInt(value, 8), std::to_string(value)});
    }
    for (auto& [each, values] : Composites()) (*made)[each.ToString()] = values;
    for (auto& [each, values] : DurationComposites()) (*made)[each.ToString()] = values;
    return made;
  }();
  return *pools;
}

// By all that the values depend on: a type that is altered has others.
const std::vector<PoolValue>& UserPool(const DataType& type) {
  static auto* const pools = new std::map<std::string, std::vector<PoolValue>>();
  std::string name;
  for (size_t i = 0; i < type.parameters().size(); ++i) {
    name += type.user().fields[i] + " " + type.parameters()[i].ToString() + ", ";
  }
  const auto [at, is_new] = pools->try_emplace(name);
  if (is_new) at->second = UserValues(type);
  return at->second;
}

}  // namespace

std::span<const DataType> PoolTypes() {
  static const auto* const types = [] {
    auto* made = new std::vector<DataType>(std::begin(kTypes), std::end(kTypes));
    for (const auto& entry : Composites()) made->push_back(entry.first);
    return made;
  }();
  return *types;
}

std::span<const DataType> ElementPoolTypes() {
  static const auto* const types = new std::vector<DataType>{
      DataType::List(CqlType::kInt), DataType::Set(CqlType::kText),
      DataType::Map(CqlType::kInt, CqlType::kText), DataType::List(CqlType::kDuration),
      DataType::Map(CqlType::kInt, CqlType::kDuration)};
  return *types;
}

std::span<const DataType> DurationPoolTypes() {
  static const auto* const types = [] {
    auto* made = new std::vector<DataType>{CqlType::kDuration};
    for (const auto& entry : DurationComposites()) made->push_back(entry.first);
    return made;
  }();
  return *types;
}

bool HasDuration(const DataType& type) { return type.Contains(CqlType::kDuration); }

const std::vector<PoolValue>& PoolOf(const DataType& type) {
  if (type.kind() == DataType::Kind::kUser) return UserPool(type);
  static const auto* const pools = [] {
    auto* made = new Pools(PoolsWithoutJson());
    for (const std::span<const DataType> types : {PoolTypes(), DurationPoolTypes()}) {
      for (const DataType& each : types) {
        for (PoolValue& value : made->at(each.ToString())) {
          value.jsons = JsonsFor(each, value.bytes);
          value.whole_jsons = WholeJsonsFor(each, value.bytes);
        }
      }
    }
    return made;
  }();
  return pools->at(DataType::Frozen(type).ToString());
}

PoolValue PoolValueOf(const DataType& type, const std::string& bytes) {
  const std::vector<PoolValue>& pool = PoolOf(type);
  const auto at = std::ranges::find(pool, bytes, &PoolValue::bytes);
  if (at != pool.end()) return *at;
  LS_CHECK(type.kind() == DataType::Kind::kUser, "the value is one of the pool");
  const auto fields = SplitTuple(type, bytes);
  std::string literal;
  for (size_t i = 0; i < fields->size(); ++i) {
    const auto& field = (*fields)[i];
    literal += (i == 0 ? "{" : ", ") + type.user().fields[i] + ": " +
               (field ? PoolValueOf(type.parameters()[i], std::string(*field)).literal : "null");
  }
  return {bytes, literal + "}"};
}

const std::string& LiteralOf(CqlType type, std::string_view bytes) {
  const std::vector<PoolValue>& pool = PoolsWithoutJson().at(DataType(type).ToString());
  const auto at = std::ranges::find(pool, bytes, &PoolValue::bytes);
  LS_CHECK(at != pool.end(), "the value is one of the pool");
  return at->literal;
}

std::string BytesOfInt(int64_t value, size_t bytes) {
  std::string encoded;
  for (size_t i = bytes; i-- > 0;) {
    encoded += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
  }
  return encoded;
}

}  // namespace liststore::testing

#include "engine/model/clustering_encoding.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/big_endian.h"
#include "engine/base/random.h"
#include "engine/model/clustering_key.h"
#include "engine/model/types/composite_value.h"
#include "tests/support/seed.h"
#include "tests/support/vectors.h"

namespace liststore {
namespace clustering_encoding_test {

using testing::FromHex;
using testing::ToHex;
using Columns = std::vector<ClusteringColumnSchema>;
using Values = std::vector<std::string>;

std::vector<CqlType> KeyTypes() {
  std::vector<CqlType> types;
  for (int i = 0; i <= static_cast<int>(CqlType::kVarint); ++i) {
    const auto type = static_cast<CqlType>(i);
    if (CanBeKeyColumn(type)) types.push_back(type);
  }
  return types;
}

int Sign(int order) { return (order > 0) - (order < 0); }

std::string RandomBytes(Random& rng, size_t size, uint64_t alphabet) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(rng.Below(alphabet));
    if (alphabet == 4 && byte == 3) byte = '\xff';
  }
  return bytes;
}

std::string RandomDecimal(Random& rng) {
  std::string value(4, '\0');
  int64_t scale = rng.Between(-3, 3);
  if (rng.OneIn(10)) scale = rng.OneIn(2) ? INT32_MIN + rng.Between(0, 2) : INT32_MAX;
  StoreBigEndian32(value.data(), static_cast<uint32_t>(scale));
  // Multiples of powers of ten, so that equal values of other scales occur.
  int64_t unscaled = rng.Between(-12, 12);
  for (uint64_t zeros = rng.Below(4); zeros > 0; --zeros) unscaled *= 10;
  std::string bytes(8, '\0');
  StoreBigEndian64(bytes.data(), static_cast<uint64_t>(unscaled));
  if (rng.OneIn(10)) bytes = RandomBytes(rng, 1 + rng.Below(40), 256);
  return value + bytes;
}

// A valid value, empty or at an end more often than chance has it.
std::string RandomValue(CqlType type, Random& rng) {
  if (rng.OneIn(12)) return {};
  const uint64_t alphabet = rng.OneIn(2) ? 4 : 256;
  const size_t fixed = CqlFixedBytes(type);
  std::string value;
  switch (type) {
    case CqlType::kAscii:
    case CqlType::kText:
      return RandomBytes(rng, rng.Below(4), 3);
    case CqlType::kBlob:
      return RandomBytes(rng, rng.Below(4), alphabet);
    case CqlType::kInet:
      return RandomBytes(rng, rng.OneIn(2) ? 4 : 16, alphabet);
    case CqlType::kDecimal:
      return RandomDecimal(rng);
    case CqlType::kVarint:
      return RandomBytes(rng, rng.OneIn(20) ? 95 + rng.Below(400) : 1 + rng.Below(4), alphabet);
    case CqlType::kTime:
      value.assign(8, '\0');
      StoreBigEndian64(value.data(), rng.Below(rng.OneIn(2) ? 3 : 86'400'000'000'000));
      return value;
    default:
      value = RandomBytes(rng, fixed, alphabet);
  }
  if (type == CqlType::kTimeuuid || (type == CqlType::kUuid && rng.OneIn(2))) {
    value[6] = static_cast<char>(0x10 | (value[6] & 0x0f));
  }
  return value;
}

// Of any type; sets and maps in order, as statements leave them.
std::string RandomValue(const DataType& type, Random& rng) {
  if (type.is_native()) return RandomValue(type.native(), rng);
  if (type.has_fields()) {
    std::vector<std::optional<std::string>> fields;
    for (const DataType& field : type.parameters()) {
      if (rng.OneIn(8)) break;  // those that are missing are null
      auto& value = fields.emplace_back();
      if (!rng.OneIn(5)) value = RandomValue(field, rng);
    }
    return EncodeTuple(fields);
  }
  std::vector<std::string> elements;
  for (uint64_t left = rng.Below(4); left > 0; --left) {
    for (const DataType& part : type.parameters()) elements.push_back(RandomValue(part, rng));
  }
  return EncodeCollection(type, std::move(elements));
}

DataType RandomType(int depth, Random& rng) {
  const std::vector<CqlType> natives = KeyTypes();
  if (depth == 0 || rng.OneIn(3)) return natives[rng.Below(natives.size())];
  switch (rng.Below(5)) {
    case 0:
      return DataType::Frozen(DataType::List(RandomType(depth - 1, rng)));
    case 1:
      return DataType::Frozen(DataType::Set(RandomType(depth - 1, rng)));
    case 2:
      return DataType::Frozen(
          DataType::Map(RandomType(depth - 1, rng), RandomType(depth - 1, rng)));
    default:
      break;
  }
  std::vector<DataType> fields;
  auto names = std::make_shared<UserTypeNames>();
  names->name = "u";
  for (uint64_t left = 1 + rng.Below(3); left > 0; --left) {
    names->fields.push_back("f" + std::to_string(left));
    fields.push_back(RandomType(depth - 1, rng));
  }
  if (rng.OneIn(2)) return DataType::Tuple(std::move(fields));
  return DataType::Frozen(DataType::User(std::move(names), std::move(fields)));
}

Values RandomValues(const Columns& columns, Random& rng) {
  Values values;
  for (const ClusteringColumnSchema& column : columns) {
    values.push_back(RandomValue(column.type, rng));
    EXPECT_TRUE(column.type.IsValid(values.back())) << ToHex(values.back());
  }
  return values;
}

std::string Encoded(const Columns& columns, const Values& values, size_t count) {
  const std::vector<std::string_view> views(values.begin(), values.begin() + count);
  std::string encoded;
  AppendClusteringKey(columns, views, encoded);
  return encoded;
}

// The order of the first `count` columns as a table that is read forwards has it: the
// reads_backwards of a descending first column is taken out.
int CompareRows(const Columns& columns, const Values& a, const Values& b, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const int order = Sign(CompareValues(columns[i].type, a[i], b[i]));
    if (order != 0) return columns[i].descending == columns[0].descending ? order : -order;
  }
  return 0;
}

std::string Describe(const Columns& columns, const Values& values) {
  std::string text;
  for (size_t i = 0; i < columns.size(); ++i) {
    text += columns[i].type.ToString() + (columns[i].descending ? " desc " : " asc ") +
            ToHex(values[i]) + "; ";
  }
  return text;
}

void CheckRoundTrip(const Columns& columns, const Values& values) {
  const std::string encoded = Encoded(columns, values, columns.size());
  const Values decoded = DecodeClusteringKey(columns, encoded);
  ASSERT_EQ(decoded.size(), columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    ASSERT_TRUE(columns[i].type.IsValid(decoded[i])) << Describe(columns, values);
    ASSERT_EQ(CompareValues(columns[i].type, decoded[i], values[i]), 0)
        << Describe(columns, values);
    if (!columns[i].type.is_native()) continue;
    const CqlType type = columns[i].type.native();
    const bool exact = type != CqlType::kDecimal && type != CqlType::kVarint &&
                       type != CqlType::kBoolean && type != CqlType::kFloat &&
                       type != CqlType::kDouble;
    if (exact) {
      ASSERT_EQ(ToHex(decoded[i]), ToHex(values[i])) << Describe(columns, values);
    }
  }
  ASSERT_EQ(Encoded(columns, decoded, columns.size()), encoded) << Describe(columns, values);
}

void CheckOrder(const Columns& columns, const Values& a, const Values& b) {
  const std::string a_encoded = Encoded(columns, a, columns.size());
  const std::string b_encoded = Encoded(columns, b, columns.size());
  ASSERT_EQ(Sign(a_encoded.compare(b_encoded)), CompareRows(columns, a, b, columns.size()))
      << Describe(columns, a) << "\n"
      << Describe(columns, b);
}

// Bounds made from the first `count` columns of `prefix` select exactly the rows that share them.
void CheckPrefix(const Columns& columns, const Values& row, const Values& prefix, size_t count) {
  const std::string key = Encoded(columns, row, columns.size());
  const std::string own_prefix = Encoded(columns, row, count);
  ASSERT_EQ(key.substr(0, own_prefix.size()), own_prefix) << Describe(columns, row);

  const std::string lower = Encoded(columns, prefix, count);
  const std::optional<std::string> upper =
      count == columns.size() ? BoundAfterKey(lower) : BoundAfterPrefix(lower);
  const bool selected = key >= lower && (!upper || key < *upper);
  ASSERT_EQ(selected, CompareRows(columns, row, prefix, count) == 0)
      << count << " columns\n"
      << Describe(columns, row) << "\n"
      << Describe(columns, prefix);
}

Values Neighbour(const Columns& columns, const Values& values, Random& rng) {
  Values other = RandomValues(columns, rng);
  for (size_t i = 0; i < columns.size() && !rng.OneIn(3); ++i) other[i] = values[i];
  return other;
}

void CheckColumns(const Columns& columns, Random& rng, int pairs) {
  for (int pair = 0; pair < pairs; ++pair) {
    const Values a = RandomValues(columns, rng);
    const Values b = Neighbour(columns, a, rng);
    ASSERT_NO_FATAL_FAILURE(CheckRoundTrip(columns, a));
    ASSERT_NO_FATAL_FAILURE(CheckOrder(columns, a, b));
    for (size_t count = 1; count <= columns.size(); ++count) {
      ASSERT_NO_FATAL_FAILURE(CheckPrefix(columns, a, b, count));
    }
  }
}

TEST(ClusteringEncodingTest, EveryTypeAlone) {
  Random rng(testing::TestSeed());
  for (const CqlType type : KeyTypes()) {
    for (const bool descending : {false, true}) {
      ASSERT_NO_FATAL_FAILURE(CheckColumns({{"c", type, descending}}, rng, 2'000));
    }
  }
}

TEST(ClusteringEncodingTest, EveryPairOfTypesInEveryDirection) {
  Random rng(testing::TestSeed());
  for (const CqlType first : KeyTypes()) {
    for (const CqlType second : KeyTypes()) {
      for (int directions = 0; directions < 4; ++directions) {
        const Columns columns = {{"a", first, (directions & 1) != 0},
                                 {"b", second, (directions & 2) != 0}};
        ASSERT_NO_FATAL_FAILURE(CheckColumns(columns, rng, 30));
      }
    }
  }
}

TEST(ClusteringEncodingTest, RandomKeysOfSeveralColumns) {
  Random rng(testing::TestSeed());
  const std::vector<CqlType> types = KeyTypes();
  const uint64_t steps = testing::TestSteps(1'000);
  for (uint64_t step = 0; step < steps; ++step) {
    Columns columns(3 + rng.Below(3));
    for (ClusteringColumnSchema& column : columns) {
      column = {"c", types[rng.Below(types.size())], rng.OneIn(2)};
    }
    ASSERT_NO_FATAL_FAILURE(CheckColumns(columns, rng, 20)) << "step " << step;
  }
}

// The last column inverted, alone, and with one of the other direction before and behind it.
TEST(ClusteringEncodingTest, CollectionsTuplesAndUserTypesInEveryDirection) {
  Random rng(testing::TestSeed());
  const uint64_t steps = testing::TestSteps(400);
  for (uint64_t step = 0; step < steps; ++step) {
    const DataType type = RandomType(3, rng);
    const DataType other = RandomType(1, rng);
    for (int directions = 0; directions < 8; ++directions) {
      const bool first = (directions & 1) != 0;
      const bool second = (directions & 2) != 0;
      const Columns alone = {{"a", type, first}};
      const Columns pair = (directions & 4) != 0
                               ? Columns{{"a", type, first}, {"b", other, second}}
                               : Columns{{"a", other, first}, {"b", type, second}};
      ASSERT_NO_FATAL_FAILURE(CheckColumns(alone, rng, 10)) << "step " << step;
      ASSERT_NO_FATAL_FAILURE(CheckColumns(pair, rng, 10)) << "step " << step;
    }
  }
}

// Keys that were written before a user type was given a field are those of a null in it.
TEST(ClusteringEncodingTest, AFieldThatIsAddedLeavesKeysAsTheyAre) {
  const auto type = [](std::vector<std::string> fields) {
    auto names = std::make_shared<UserTypeNames>();
    names->fields = std::move(fields);
    std::vector<DataType> types(names->fields.size(), CqlType::kInt);
    return DataType::Frozen(DataType::User(std::move(names), std::move(types)));
  };
  const Columns before = {{"u", type({"a"}), false}};
  const Columns after = {{"u", type({"a", "b"}), false}};
  const std::string one = FromHex("0000000400000001");
  const std::string one_null = FromHex("0000000400000001ffffffff");
  EXPECT_EQ(ToHex(Encoded(before, {one}, 1)), ToHex(Encoded(after, {one_null}, 1)));
  EXPECT_EQ(ToHex(DecodeClusteringKey(after, Encoded(before, {one}, 1))[0]), ToHex(one_null));
}

TEST(ClusteringEncodingTest, AnItemKeyIsItsOwnEncoding) {
  const std::string key = "1724949845430000000#h/BJX2HX2dk3iu9EYzSmiQ==";
  EXPECT_EQ(Encoded({{"item_key", CqlType::kText, true}}, {key}, 1), key);
}

struct Example {
  std::string_view rule;
  Columns columns;
  Values hex;
  std::string_view encoded;
};

// What is stored must be read by the next build.
TEST(ClusteringEncodingTest, Bytes) {
  const ClusteringColumnSchema text{"a", CqlType::kText, false};
  const ClusteringColumnSchema text_desc{"a", CqlType::kText, true};
  const ClusteringColumnSchema bigint{"b", CqlType::kBigint, false};
  const ClusteringColumnSchema bigint_desc{"b", CqlType::kBigint, true};
  const ClusteringColumnSchema varint{"c", CqlType::kVarint, false};
  const ClusteringColumnSchema decimal{"d", CqlType::kDecimal, false};
  const DataType ints = DataType::Frozen(DataType::List(CqlType::kTinyint));
  const ClusteringColumnSchema list{"e", ints, false};
  const ClusteringColumnSchema map{
      "f", DataType::Frozen(DataType::Map(CqlType::kTinyint, CqlType::kText)), false};
  const ClusteringColumnSchema tuple{"g", DataType::Tuple({CqlType::kTinyint, ints}), false};
  const Example kExamples[] = {
      {"the last column is bare", {bigint}, {"0000000000000001"}, "8000000000000001"},
      {"a lone descending column too", {bigint_desc}, {"0000000000000001"}, "8000000000000001"},
      {"text is escaped and ended", {text, bigint}, {"610062", ""}, "610001620000"},
      {"fixed is marked", {bigint, text}, {"ffffffffffffffff", "61"}, "017fffffffffffffff61"},
      {"empty is marked", {bigint, text}, {"", "61"}, "0061"},
      {"the other direction is inverted", {text, text_desc}, {"61", "62"}, "6100009dffff"},
      {"descending twice is not", {text_desc, text_desc}, {"61", "62"}, "61000062"},
      {"varint 5", {varint}, {"000005"}, "8105"},
      {"varint -256", {varint}, {"ff00"}, "7dff00"},
      {"decimal 1.50", {decimal}, {"000000020096"}, "0381011000"},
      {"decimal zero", {decimal}, {"0000000200"}, "02"},
      {"a list",
       {list},
       {"00000002000000010100000001ff"},
       "020181"
       "02017f"
       "00"},
      {"an empty list", {list}, {"00000000"}, "00"},
      {"a map",
       {map},
       {"000000010000000105000000016b"},
       "020185"
       "6b0000"
       "00"},
      {"a tuple",
       {tuple},
       {"ffffffff0000000400000000"},
       "01"
       "0200"
       "00"},
      {"a tuple of nulls", {tuple}, {"ffffffffffffffff"}, "00"},
      {"a tuple without its last field",
       {tuple},
       {"0000000105"},
       "020185"
       "00"},
  };
  for (const Example& example : kExamples) {
    Values values;
    for (const std::string& hex : example.hex) values.push_back(FromHex(hex));
    EXPECT_EQ(ToHex(Encoded(example.columns, values, values.size())), example.encoded)
        << example.rule;
  }
}

}  // namespace clustering_encoding_test
}  // namespace liststore

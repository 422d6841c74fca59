// Paths of elements: their order, the way back, and the values that are put together from them.
#include "engine/model/cell_path.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/base/random.h"
#include "engine/model/types/composite_value.h"
#include "engine/model/types/timeuuid.h"

namespace liststore {
namespace cell_path_test {

std::string PathOf(const ListPosition& position) {
  std::string path;
  AppendPath(position, path);
  return path;
}

std::string PathOf(const DataType& key, std::string_view value) {
  std::string path;
  AppendPath(key, value, path);
  return path;
}

std::string Int(int32_t value) {
  std::string bytes(4, '\0');
  StoreBigEndian32(bytes.data(), static_cast<uint32_t>(value));
  return bytes;
}

TEST(CellPathTest, PlacesInListsSortByTimeAndNumber) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const std::vector<ListPosition> ascending = {
      {kMin, 0}, {-1, 5}, {0, 0}, {0, 1}, {0, 256}, {1, 0xffffffff}, {255, 0}, {256, 0}, {kMax, 0}};
  for (size_t i = 1; i < ascending.size(); ++i) {
    EXPECT_LT(PathOf(ascending[i - 1]), PathOf(ascending[i])) << i;
  }
}

TEST(CellPathTest, PlacesInListsAreTimeuuids) {
  const std::vector<ListPosition> ascending = {{-12'219'292'800'000'000, 0},
                                               {-1, 0},
                                               {0, 0},
                                               {0, 1},
                                               {0, 131'071},
                                               {0, 131'072},
                                               {0, 9 * 131'072 + 5},
                                               {1, 0},
                                               {1'700'000'000'000'000, 7}};
  std::string last;
  for (const ListPosition& position : ascending) {
    const std::string path = PathOf(position);
    const Uuid uuid = TimeuuidOfPath(path);
    std::string back;
    ASSERT_TRUE(AppendTimeuuidPath(uuid.view(), back));
    EXPECT_EQ(back, path) << position.micros;
    const std::string key = PathOf(CqlType::kTimeuuid, uuid.view());
    EXPECT_LT(last, key) << "timeuuids sort as the places do";
    last = key;
  }
  const auto ticks = [](int64_t micros) {
    return TicksOfTimeuuid(TimeuuidOfPath(PathOf(ListPosition{micros, 0})).view());
  };
  EXPECT_EQ(ticks(-12'219'292'800'000'001), 0u);
  EXPECT_EQ(ticks(std::numeric_limits<int64_t>::max()), kTimeuuidTicksMax);
}

TEST(CellPathTest, TimeuuidsArePlacesInLists) {
  Random random(7);
  std::map<std::string, std::string> paths;  // by the order of timeuuids
  for (int i = 0; i < 2000; ++i) {
    const TimeuuidTicks ticks = random.Below(2) == 0 ? random.Next() >> 4 : random.Below(30);
    const uint64_t low = (random.Below(2) == 0 ? random.Next() : random.Below(600)) >> 2;
    const Uuid uuid = MakeTimeuuid(ticks, uint64_t{1} << 63 | low);
    std::string path;
    ASSERT_TRUE(AppendTimeuuidPath(uuid.view(), path));
    EXPECT_EQ(TimeuuidOfPath(path), uuid);
    paths[PathOf(CqlType::kTimeuuid, uuid.view())] = path;
  }
  std::string last;
  for (const auto& [key, path] : paths) {
    EXPECT_LT(last, path);
    last = path;
  }
  std::string nothing;
  EXPECT_FALSE(AppendTimeuuidPath(Uuid::FromRandomBits(1, 2).view(), nothing));
  EXPECT_FALSE(AppendTimeuuidPath(MakeTimeuuid(1, 5).view(), nothing)) << "its variant is another";
  EXPECT_EQ(nothing, "");
}

TEST(CellPathTest, KeysSortAsTheirTypeDoesAndComeBack) {
  const std::vector<std::string> numbers = {Int(-5), Int(-1), Int(0), Int(7), Int(300)};
  for (size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(KeyOfPath(CqlType::kInt, PathOf(CqlType::kInt, numbers[i])), numbers[i]);
    if (i == 0) continue;
    EXPECT_LT(PathOf(CqlType::kInt, numbers[i - 1]), PathOf(CqlType::kInt, numbers[i]));
  }
  EXPECT_FALSE(PathOf(CqlType::kText, "").empty()) << "that would be the column's own cell";
  EXPECT_EQ(KeyOfPath(CqlType::kText, PathOf(CqlType::kText, "")), "");
  const DataType pair = DataType::Tuple({CqlType::kText, CqlType::kInt});
  const std::string value = EncodeTuple({"a", Int(3)});
  EXPECT_EQ(KeyOfPath(pair, PathOf(pair, value)), value);
}

TEST(CellPathTest, FieldsSortByNumber) {
  std::string before;
  for (const size_t field : {0, 1, 255, 256, 32'766}) {
    std::string path;
    AppendFieldPath(field, path);
    EXPECT_EQ(FieldOfPath(path), field);
    EXPECT_LT(before, path);
    before = path;
  }
}

TEST(CellPathTest, ElementsMakeAValue) {
  ElementsValue value;
  const DataType list = DataType::List(CqlType::kText);
  value.Begin(list);
  value.Add(PathOf(ListPosition{1, 0}), "b");
  value.Add(PathOf(ListPosition{1, 1}), "a");
  EXPECT_EQ(value.Finish(), JoinCollection(list, {"b", "a"}));
  const DataType set = DataType::Set(CqlType::kInt);
  value.Begin(set);
  value.Add(PathOf(CqlType::kInt, Int(-1)), "");
  value.Add(PathOf(CqlType::kInt, Int(4)), "");
  EXPECT_EQ(value.Finish(), JoinCollection(set, {Int(-1), Int(4)}));
  const DataType map = DataType::Map(CqlType::kInt, CqlType::kText);
  value.Begin(map);
  value.Add(PathOf(CqlType::kInt, Int(2)), "x");
  EXPECT_EQ(value.Finish(), JoinCollection(map, {Int(2), "x"}));
}

// Fields that have no cell are null, and those that the type has not are left out.
TEST(CellPathTest, FieldsMakeAValue) {
  auto names = std::make_shared<UserTypeNames>();
  names->fields = {"a", "b", "c"};
  const DataType type = DataType::User(names, {CqlType::kText, CqlType::kText, CqlType::kText});
  ElementsValue value;
  value.Begin(type);
  for (const size_t field : {1, 3}) {
    std::string path;
    AppendFieldPath(field, path);
    value.Add(path, "x");
  }
  EXPECT_EQ(value.Finish(), EncodeTuple({std::nullopt, "x", std::nullopt}));
}

}  // namespace cell_path_test
}  // namespace liststore

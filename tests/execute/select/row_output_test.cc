// What is made of one row has an end, however often its columns are selected.
#include "engine/execute/select/row_output.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cql/planner/plan_selector.h"
#include "engine/cql/values/encode_value.h"
#include "engine/execute/select/aggregation.h"
#include "engine/protocol/frame.h"

namespace liststore {
namespace row_output_test {

constexpr size_t kMiB = size_t{1} << 20;
constexpr char kTooLarge[] = "The answer is larger than the 268435456 bytes that a frame holds";

class RowOutput : public ::testing::Test {
 protected:
  void SetUp() override {
    table_.keyspace = "k";
    table_.name = "t";
    table_.columns = {{"p", CqlType::kInt, ColumnKind::kPartitionKey, 0, false},
                      {"v", CqlType::kBlob, ColumnKind::kRegular, 0, false}};
    CompleteTable(table_);
    row_ = std::make_unique<execute::RowBuffer>(table_);
    values_ = {cql::EncodeInt(1), std::string(kMiB, 'x')};
    row_->SetValues(values_);
  }
  std::vector<cql::Selection> Columns(size_t count) const {
    return std::vector<cql::Selection>(count, cql::SelectColumn(table_, table_.columns[1]));
  }

  TableDefinition table_;
  std::vector<std::optional<std::string>> values_;
  std::unique_ptr<execute::RowBuffer> row_;
};

TEST_F(RowOutput, RowsEndWhereAFrameDoes) {
  OutputBuffer out;
  ASSERT_TRUE(execute::AppendRow(Columns(3), *row_, {}, out).ok());
  EXPECT_EQ(out.size(), 3 * (kMiB + 4));
  const cql::CqlStatus status = execute::AppendRow(Columns(400), *row_, {}, out);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, kTooLarge);
  EXPECT_LT(out.size(), protocol::kFrameBodyBytesMax + 2 * kMiB);
}

TEST_F(RowOutput, ValuesOfManyPartsEndThereToo) {
  const auto json = execute::ValueOf(cql::SelectAsJson(Columns(300)), *row_, {});
  ASSERT_FALSE(json.ok());
  EXPECT_EQ(json.error().message, kTooLarge);
}

TEST_F(RowOutput, SoDoesWhatAGroupHasOfItsFirstRow) {
  const std::vector<cql::Selection> few = Columns(3);
  EXPECT_TRUE(execute::Aggregation(few, {}).Add(*row_).ok());
  const std::vector<cql::Selection> many = Columns(300);
  const cql::CqlStatus status = execute::Aggregation(many, {}).Add(*row_);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, kTooLarge);
}

}  // namespace row_output_test
}  // namespace liststore

// That the short way of prepared statements of items is taken (ItemRead, ItemInsert): by its answers no
// client can tell, which is what over_cql/item_statements_test.cc says. So these are of statements whose
// short way does something else.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/big_endian.h"
#include "engine/base/output_buffer.h"
#include "engine/cql/schema/virtual_table.h"
#include "engine/execute/prepared_statement.h"
#include "engine/execute/query_processor.h"
#include "engine/execute/statement_cache.h"
#include "engine/protocol/request.h"
#include "engine/shard/engine.h"
#include "liststore/clock.h"

namespace liststore::testing {
namespace item_short_way_test {

using Statement = std::shared_ptr<const execute::PreparedStatement>;
using Values = std::vector<protocol::Value>;

constexpr uint64_t kNow = 1'700'000'000'000'000'000;

// Newest first, as lists are.
const std::string kItemKeys[] = {
    "1700000000000000003#rL0Y20zC+Fzt72VPzMSk2A==",
    "1700000000000000002#rL0Y20zC+Fzt72VPzMSk2A==",
    "1700000000000000001#rL0Y20zC+Fzt72VPzMSk2A==",
};

class ItemShortWay : public ::testing::Test {
 protected:
  ItemShortWay() {
    client_.keyspace = "k";
    Run("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': "
        "1}");
    Run("CREATE TABLE t (f text, e text, i text, v blob, PRIMARY KEY ((f, e), i)) "
        "WITH CLUSTERING ORDER BY (i DESC)");
  }

  // The frame that it is answered by.
  std::string Handle(const protocol::Request& request) {
    execute::RequestView view({}, request);
    OutputBuffer out;
    processor_.Handle({&view, 1}, client_, out);
    EXPECT_TRUE(view.outcome.answered);
    EXPECT_FALSE(view.outcome.error) << view.outcome.message;
    client_.statements.EndTurn();
    return std::string(out.view());
  }
  void Run(std::string_view text) {
    protocol::Request request;
    request.message = protocol::Query{text, {}};
    Handle(request);
  }
  Statement Prepare(std::string_view text) {
    protocol::Request request;
    request.message = protocol::Prepare{text};
    Handle(request);
    return processor_.statements().Find(execute::StatementId(client_.keyspace, text));
  }

  // The id of a statement that the client has executed already: `long_way`, which `short_way` stands
  // for where a short way is taken. They have the same variables and columns.
  std::string Mix(const Statement& long_way, const Statement& short_way) {
    auto mixed = std::make_shared<execute::PreparedStatement>();
    mixed->id = std::string(execute::kStatementIdBytes, 'm');
    mixed->plan = long_way->plan;
    mixed->keyspace = long_way->keyspace;
    mixed->text = long_way->text;
    EXPECT_FALSE(execute::EncodeMetadata(*mixed->plan, mixed->variables, mixed->columns));
    mixed->is_groupable = long_way->is_groupable;
    mixed->selected = short_way->selected;
    mixed->item_read = short_way->item_read;
    mixed->item_insert = short_way->item_insert;
    EXPECT_TRUE(mixed_.Put(mixed));
    EXPECT_NE(client_.statements.Find(mixed_, mixed->id), nullptr);
    return mixed->id;
  }
  std::string Execute(const std::string& id, const Values& values,
                      const std::vector<std::string_view>& names = {}) {
    protocol::Execute message{id, std::nullopt, {}};
    message.parameters.values = values;
    message.parameters.value_names = names;
    message.parameters.skip_metadata = true;
    protocol::Request request;
    request.message = message;
    return Handle(request);
  }
  // How many rows a frame has that came without metadata: behind its header, the kind of the result,
  // flags and the number of columns.
  static uint32_t RowsOf(const std::string& frame) {
    constexpr size_t kAt = protocol::kFrameHeaderBytes + 3 * sizeof(int32_t);
    EXPECT_GE(frame.size(), kAt + sizeof(int32_t));
    return frame.size() < kAt + sizeof(int32_t) ? 0 : LoadBigEndian32(frame.data() + kAt);
  }

  void Insert(const std::string& id, std::string_view feature, std::string_view item_key) {
    Execute(id, {protocol::Value::Of(feature), protocol::Value::Of("entity"),
                 protocol::Value::Of(item_key), protocol::Value::Of("value")});
  }
  // Of a list, by a statement that is prepared for that.
  uint32_t Count(std::string_view feature) {
    const Statement select = Prepare("SELECT v FROM t WHERE f = ? AND e = ?");
    return RowsOf(
        Execute(select->id, {protocol::Value::Of(feature), protocol::Value::Of("entity")}));
  }

  ManualClock clock_{kNow};
  shard::Engine engine_{shard::EngineOptions()};
  cql::VirtualTables virtual_tables_;
  execute::QueryProcessor processor_{engine_, clock_, virtual_tables_, {}};
  execute::StatementCache mixed_;
  execute::ClientState client_;
};

constexpr std::string_view kInsert = "INSERT INTO t (f, e, i, v) VALUES (?, ?, ?, ?)";

TEST_F(ItemShortWay, ReadsOfItemsInTheirUsualFormTakeIt) {
  const std::string long_feature(600, 'f');
  const std::string insert = Prepare(kInsert)->id;
  for (const std::string_view feature : {"feature", "f\xc3\xa9", long_feature.c_str()}) {
    for (const std::string& item_key : kItemKeys) Insert(insert, feature, item_key);
  }
  const Statement all = Prepare("SELECT v FROM t WHERE f = ? AND e = ? AND i >= ?");
  const Statement newest = Prepare("SELECT v FROM t WHERE f = ? AND e = ? AND i >= ? LIMIT 1");
  ASSERT_TRUE(newest->item_read);
  const std::string mixed = Mix(all, newest);
  struct Case {
    std::string_view rule;
    std::string_view feature;
    bool by_name;
    uint32_t rows;
  };
  const Case cases[] = {
      {"the usual form", "feature", false, 1},
      {"a key that is not ASCII", "f\xc3\xa9", false, 3},
      {"a long key", long_feature, false, 3},
      {"values by their names", "feature", true, 3},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.rule);
    const std::vector<std::string_view> names = {"f", "e", "i"};
    const Values values = {protocol::Value::Of(row.feature), protocol::Value::Of("entity"),
                           protocol::Value::Of(kItemKeys[2])};
    const std::string answer = row.by_name ? Execute(mixed, values, names) : Execute(mixed, values);
    EXPECT_EQ(RowsOf(answer), row.rows);
  }
}

TEST_F(ItemShortWay, InsertionsOfItemsInTheirUsualFormTakeIt) {
  const Statement lasting = Prepare(kInsert);
  const Statement ending = Prepare(std::string(kInsert) + " USING TTL 10");
  ASSERT_TRUE(lasting->item_insert);
  ASSERT_TRUE(ending->item_insert);
  const std::string mixed = Mix(lasting, ending);
  Insert(mixed, "usual", kItemKeys[0]);
  Insert(mixed, "not usual", "an item key");
  EXPECT_EQ(Count("usual"), 1u);
  EXPECT_EQ(Count("not usual"), 1u);
  clock_.AdvanceNanos(uint64_t{11'000'000'000});
  EXPECT_EQ(Count("usual"), 0u) << "it was inserted without a TTL, as by the long way";
  EXPECT_EQ(Count("not usual"), 1u);
}

}  // namespace item_short_way_test
}  // namespace liststore::testing

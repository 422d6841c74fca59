// Tables over DynamoDB's API of a whole server: changed, with what can go wrong on the way.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/faces/dynamodb/operation.h"
#include "tests/faces/dynamodb/dynamodb_server_test.h"

namespace liststore::testing {
namespace dynamodb_tables_test {

constexpr char kCreate[] =
    R"({"TableName":"stats","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],)"
    R"("AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
    R"("BillingMode":"PAY_PER_REQUEST"})";
constexpr char kDescribe[] = R"({"TableName":"stats"})";
constexpr char kOfX[] =
    R"({"TableName":"stats","IndexName":"by_g","KeyConditionExpression":"g = :g","Select":"COUNT",)"
    R"("ExpressionAttributeValues":{":g":{"S":"x"}}})";
constexpr char kDeleteIndex[] =
    R"({"TableName":"stats","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"by_g"}}]})";
constexpr char kEnableTtl[] =
    R"({"TableName":"stats","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"end"}})";

// `more`: other members of the request.
std::string CreateIndex(const std::string& type = "S", const std::string& more = "",
                        const std::string& projection = R"({"ProjectionType":"ALL"})") {
  return absl::StrCat(
      R"({"TableName":"stats",)", more,
      R"("AttributeDefinitions":[{"AttributeName":"g","AttributeType":")", type,
      R"("}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"by_g","KeySchema":[)",
      R"({"AttributeName":"g","KeyType":"HASH"}],"Projection":)", projection, "}}]}");
}

class DynamodbTablesTest : public DynamodbServerTest {
 protected:
  void Put(const std::string& id, const std::string& more) {
    Good("PutItem",
         absl::StrCat(R"({"TableName":"stats","Item":{"id":{"S":")", id, R"("})", more, "}}"));
  }
  // One statement fails of those with that word.
  void Arm(const std::string& op) {
    Must(absl::StrCat("INSERT INTO liststore.faults (name, op, times, action) VALUES ('f', '", op,
                      "', 1, 'server_error')"));
  }
};

TEST_F(DynamodbTablesTest, AnIndexThatFailedHalfWayCanBeMadeAgain) {
  Start();
  Good("CreateTable", kCreate);
  Put("a", R"(,"g":{"S":"x"})");
  for (const std::string op : {"ALTER", "SELECT", "UPDATE", "CREATE"}) {
    SCOPED_TRACE(op);
    Arm(op);
    EXPECT_EQ(Ask("UpdateTable", CreateIndex()).status, 500);
    EXPECT_EQ(Good("DescribeTable", kDescribe).find("by_g"), std::string::npos);
    Walk({{"UpdateTable", CreateIndex(), R"("IndexName":"by_g")", 200, true},
          {"UpdateTable", CreateIndex(), "already exists: by_g", 400, true},
          {"Query", kOfX, R"({"Count":1,"ScannedCount":1})"}});
    // The view is gone, and the notes are not.
    Must(
        "INSERT INTO liststore.faults (name, op, times, action) VALUES ('f', 'ALTER', 2, "
        "'server_error')");
    EXPECT_EQ(Ask("UpdateTable", kDeleteIndex).status, 500);
    EXPECT_EQ(Ask("UpdateTable", kDeleteIndex).status, 500);
    Walk({{"UpdateTable", kDeleteIndex, R"("TableStatus":"ACTIVE")", 200, true},
          {"UpdateTable", kDeleteIndex, "Index: by_g not found", 400, true}});
  }
}

TEST_F(DynamodbTablesTest, AnEndThatFailedHalfWayCanBeAskedForAgain) {
  Start();
  Good("CreateTable", kCreate);
  Put("a", R"(,"end":{"N":"1700000100"})");
  for (const std::string op : {"SELECT", "UPDATE"}) {
    Arm(op);
    EXPECT_EQ(Ask("UpdateTimeToLive", kEnableTtl).status, 500);
    Walk({{"DescribeTimeToLive", kDescribe, "DISABLED", 200, true}});
  }
  Walk({{"UpdateTimeToLive", kEnableTtl, R"("Enabled":true)", 200, true},
        {"UpdateTimeToLive", kEnableTtl, "already enabled", 400, true}});
  clock_.AdvanceNanos(uint64_t{100} * 1'000'000'000);
  Walk({{"Scan", kDescribe, R"({"Items":[],"Count":0,"ScannedCount":0})"}});
}

TEST_F(DynamodbTablesTest, AnUpdateThatIsWrongChangesNothing) {
  Start();
  Good("CreateTable", kCreate);
  const std::string billing =
      R"("BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":5,)"
      R"("WriteCapacityUnits":5},"DeletionProtectionEnabled":true,)";
  const std::string before = Good("DescribeTable", kDescribe);
  // A global index of it would need its own throughput.
  EXPECT_EQ(Ask("UpdateTable", CreateIndex("S", billing)).status, 400);
  EXPECT_EQ(Good("DescribeTable", kDescribe), before);
}

TEST_F(DynamodbTablesTest, AnIndexHasTheTypeThatItsAttributeHas) {
  Start();
  Good("CreateTable", kCreate);
  Good("UpdateTable", CreateIndex());
  const auto create = [](const std::string& attribute, const std::string& type) {
    return absl::StrCat(R"({"TableName":"stats","AttributeDefinitions":[{"AttributeName":")",
                        attribute, R"(","AttributeType":")", type,
                        R"("}],"GlobalSecondaryIndexUpdates":[{"Create":)",
                        R"({"IndexName":"other","KeySchema":[{"AttributeName":")", attribute,
                        R"(","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]})");
  };
  Walk({{"UpdateTable", create("g", "N"), "the attribute g is defined as N, and is of type S", 400,
         true},
        {"UpdateTable", create("id", "B"), "the attribute id is defined as B, and is of type S",
         400, true},
        {"UpdateTable", create("g", "S"), R"("IndexName":"other")", 200, true}});
}

TEST_F(DynamodbTablesTest, AnItemEndsWholeWhereAnIndexWas) {
  Start();
  Good("CreateTable", kCreate);
  Good("UpdateTable", CreateIndex());
  Put("a", R"(,"g":{"S":"x"})");
  Good("UpdateTable", kDeleteIndex);
  Good("UpdateTimeToLive", kEnableTtl);
  Put("a", R"(,"g":{"S":"x"},"end":{"N":"1700000001"})");
  Put("b", R"(,"g":{"S":""},"end":{"N":"1700000001"})");  // of an index it could not be
  clock_.AdvanceNanos(uint64_t{2} * 1'000'000'000);
  Walk({{"GetItem", R"({"TableName":"stats","Key":{"id":{"S":"a"}}})", "{}"},
        {"Scan", kDescribe, R"({"Items":[],"Count":0,"ScannedCount":0})"}});
  Put("c", R"(,"g":{"S":"x"})");
  Put("d", R"(,"g":{"S":""})");
  Put("e", R"(,"g":{"N":"1"})");
  Good("UpdateTable", CreateIndex());
  Walk({{"Query", kOfX, R"({"Count":1,"ScannedCount":1})"}});
}

TEST_F(DynamodbTablesTest, TtlsOfCqlStayWhenAnIndexIsMade) {
  Start();
  Good("CreateTable", kCreate);
  Must("INSERT INTO dynamodb.stats (id) VALUES ('by cql') USING TTL 100");
  Put("lasts", R"(,"end":{"N":"1700000050"})");
  Good("UpdateTable", CreateIndex());
  Good("UpdateTimeToLive", kEnableTtl);
  // It ends no more, by the attribute that does not count any more.
  Good(
      "UpdateTimeToLive",
      R"({"TableName":"stats","TimeToLiveSpecification":{"Enabled":false,"AttributeName":"end"}})");
  clock_.AdvanceNanos(uint64_t{99} * 1'000'000'000);
  Walk({{"Scan", R"({"TableName":"stats","Select":"COUNT"})", R"({"Count":2,"ScannedCount":2})"}});
  clock_.AdvanceNanos(uint64_t{1} * 1'000'000'000);
  Walk({{"Scan", R"({"TableName":"stats","Select":"COUNT"})", R"({"Count":1,"ScannedCount":1})"}});
}

TEST_F(DynamodbTablesTest, KeysThatAreTooLongAreAskedForInVain) {
  Start();
  Good("CreateTable", kCreate);
  const auto query = [](size_t bytes) {
    return absl::StrCat(R"({"TableName":"stats","KeyConditionExpression":"id = :i",)",
                        R"("ExpressionAttributeValues":{":i":{"S":")", std::string(bytes, 'x'),
                        R"("}}})");
  };
  Walk({{"Query", query(2048), R"({"Items":[],"Count":0,"ScannedCount":0})"},
        {"Query", query(2049), "exceeded the maximum size limit of2048 bytes", 400, true},
        {"Query", query(70'000), "ValidationException", 400, true}});
}

// Writers do not wait for changes of their table; what they write is in the new index, and ends by the new attribute.
TEST_F(DynamodbTablesTest, WritesBesideChangesAreSeenByThem) {
  Start();
  Good("CreateTable", kCreate);
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    std::atomic<bool> stops{false};
    std::atomic<int> writes{0};
    const auto key = [&](int number) { return absl::StrCat("r", round, "-", number); };
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 2; ++writer) {
      writers.emplace_back([&, writer] {
        while (!stops && writes < 2000) {
          const std::string id = key(writes.fetch_add(1));
          if (writer == 0) {
            Put(id, R"(,"g":{"S":"x"},"end":{"N":"1700000100"})");
            continue;
          }
          Good("UpdateItem",
               absl::StrCat(R"({"TableName":"stats","Key":{"id":{"S":")", id,
                            R"("}},"UpdateExpression":"SET g = :g, #e = :e ADD n :n",)",
                            R"("ExpressionAttributeNames":{"#e":"end"},)",
                            R"("ExpressionAttributeValues":{":g":{"S":"x"},":n":{"N":"1"},)",
                            R"(":e":{"N":"1700000100"}}})"));
        }
      });
    }
    while (writes < 20) std::this_thread::yield();
    Good("UpdateTable", CreateIndex());
    Good("UpdateTimeToLive", kEnableTtl);
    stops = true;
    for (std::thread& writer : writers) writer.join();
    EXPECT_EQ(Good("Query", kOfX), absl::StrCat(R"({"Count":)", writes.load(),
                                                R"(,"ScannedCount":)", writes.load(), "}"));
    // ADD was carried out once.
    EXPECT_EQ(Good("Scan", R"({"TableName":"stats","Select":"COUNT","FilterExpression":"n > :n",)"
                           R"("ExpressionAttributeValues":{":n":{"N":"1"}}})")
                  .find(R"({"Count":0,)"),
              0u);
    const std::string ttls = "SELECT id, TTL(\":item\") FROM dynamodb.stats";
    for (const auto& row : Must(ttls).rows) EXPECT_TRUE(row[1].has_value());
    Good("DeleteTable", kDescribe);
    Good("CreateTable", kCreate);
  }
}

TEST(DynamodbUpdatingTablesTest, RefuseASecondChangeAndTooManyLongOnes) {
  dynamodb_face::UpdatingTables updating;
  EXPECT_TRUE(updating.Begin("a").ok());
  EXPECT_EQ(updating.Begin("a").error().code, dynamodb::ErrorCode::kResourceInUse);
  EXPECT_EQ(updating.CheckNot("a").error().code, dynamodb::ErrorCode::kResourceInUse);
  EXPECT_TRUE(updating.CheckNot("b").ok());
  EXPECT_TRUE(updating.Begin("b").ok());
  EXPECT_TRUE(updating.Begin("c").ok());
  EXPECT_TRUE(updating.GoOn("a").ok());
  EXPECT_TRUE(updating.GoOn("a").ok());
  EXPECT_TRUE(updating.GoOn("b").ok());
  EXPECT_EQ(updating.GoOn("c").error().code, dynamodb::ErrorCode::kLimitExceeded);
  updating.End("a");
  EXPECT_TRUE(updating.CheckNot("a").ok());
  EXPECT_TRUE(updating.GoOn("c").ok());
}

TEST_F(DynamodbTablesTest, WhatAnIndexIncludesIsLimited) {
  Start();
  Good("CreateTable", kCreate);
  const auto including = [](int names, size_t bytes) {
    std::string list;
    for (int i = 0; i < names; ++i) {
      absl::StrAppend(&list, i == 0 ? "" : ",", "\"", std::string(bytes - 2, 'x'), 10 + i, "\"");
    }
    return absl::StrCat(R"({"ProjectionType":"INCLUDE","NonKeyAttributes":[)", list, "]}");
  };
  Walk({{"UpdateTable", CreateIndex("S", "", including(21, 3)), "less than or equal to 20", 400,
         true},
        {"UpdateTable", CreateIndex("S", "", including(1, 256)), "less than or equal to 255", 400,
         true},
        {"UpdateTable", CreateIndex("S", "", including(20, 255)), R"("IndexName":"by_g")", 200,
         true}});
  const auto other = [&](int number) {
    std::string request = CreateIndex("S", "", including(20, 3));
    const size_t at = request.find("by_g");
    return request.replace(at, 4, absl::StrCat("by_", number));
  };
  for (int number = 2; number <= 5; ++number) Good("UpdateTable", other(number));
  Walk({{"UpdateTable", other(6), "per-table limit of 100", 400, true}});
}

}  // namespace dynamodb_tables_test
}  // namespace liststore::testing

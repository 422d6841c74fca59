// Items over DynamoDB's API of a whole server: written, read, changed under conditions; and what CQL and HTTP
// see of them.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/faces/dynamodb/dynamodb_server_test.h"

namespace liststore::testing {
namespace dynamodb_items_test {

constexpr char kCreate[] =
    R"({"TableName":"feature_repo.stats","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],)"
    R"("AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
    R"("BillingMode":"PAY_PER_REQUEST"})";
// A sort key of numbers, and an index in order of another attribute.
constexpr char kCreateLists[] =
    R"({"TableName":"lists","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},)"
    R"({"AttributeName":"sk","KeyType":"RANGE"}],"AttributeDefinitions":[)"
    R"({"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"},)"
    R"({"AttributeName":"v","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST",)"
    R"("LocalSecondaryIndexes":[{"IndexName":"by_v","KeySchema":[)"
    R"({"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"v","KeyType":"RANGE"}],)"
    R"("Projection":{"ProjectionType":"ALL"}}]})";

class DynamodbItemsTest : public DynamodbServerTest {
 protected:
  void PutList(const std::string& pk, int sk, const std::string& v) {
    Good("PutItem", absl::StrCat(R"({"TableName":"lists","Item":{"pk":{"S":")", pk,
                                 R"("},"sk":{"N":")", sk, R"("},"v":{"S":")", v, R"("}}})"));
  }
};

TEST_F(DynamodbItemsTest, AreWrittenReadChangedAndDeleted) {
  Start();
  Walk({
      {"CreateTable", kCreate, R"("TableStatus":"ACTIVE")", 200, true},
      {"CreateTable", kCreate, "ResourceInUseException", 400, true},
      {"DescribeTable", R"({"TableName":"feature_repo.stats"})", R"("ItemCount":0)", 200, true},
      {"GetItem", R"({"TableName":"feature_repo.stats","Key":{"id":{"S":"a"}}})", "{}"},
      {"PutItem",
       R"({"TableName":"feature_repo.stats","Item":{"id":{"S":"a"},"n":{"N":"1"},"values":{"M":)"
       R"({"f":{"B":"AQI="}}}}})",
       "{}"},
      {"GetItem", R"({"TableName":"feature_repo.stats","Key":{"id":{"S":"a"}}})",
       R"({"Item":{"id":{"S":"a"},"n":{"N":"1"},"values":{"M":{"f":{"B":"AQI="}}}}})"},
      {"UpdateItem",
       R"({"TableName":"feature_repo.stats","Key":{"id":{"S":"a"}},"UpdateExpression":)"
       R"("SET #v.#f = :f, n = n + :one","ExpressionAttributeNames":{"#v":"values","#f":"g"},)"
       R"("ExpressionAttributeValues":{":f":{"S":"x"},":one":{"N":"41"}},"ReturnValues":)"
       R"("UPDATED_NEW"})",
       R"({"Attributes":{"n":{"N":"42"},"values":{"M":{"g":{"S":"x"}}}}})"},
      {"GetItem",
       R"({"TableName":"feature_repo.stats","Key":{"id":{"S":"a"}},"ProjectionExpression":"#v.g",)"
       R"("ExpressionAttributeNames":{"#v":"values"}})",
       R"({"Item":{"values":{"M":{"g":{"S":"x"}}}}})"},
      {"PutItem",
       R"({"TableName":"feature_repo.stats","Item":{"id":{"S":"a"}},)"
       R"j("ConditionExpression":"attribute_not_exists(id)",)j"
       R"("ReturnValuesOnConditionCheckFailure":"ALL_OLD"})",
       R"("message":"The conditional request failed","Item":{"id":{"S":"a"},"n":{"N":"42"})", 400,
       true},
      {"DeleteItem",
       R"({"TableName":"feature_repo.stats","Key":{"id":{"S":"a"}},"ReturnValues":"ALL_OLD"})",
       R"("n":{"N":"42"})", 200, true},
      {"GetItem", R"({"TableName":"feature_repo.stats","Key":{"id":{"S":"a"}}})", "{}"},
      {"UpdateItem",
       R"({"TableName":"feature_repo.stats","Key":{"id":{"S":"new"}},"UpdateExpression":)"
       R"("ADD n :n","ExpressionAttributeValues":{":n":{"N":"3"}},"ReturnValues":"ALL_NEW"})",
       R"({"Attributes":{"id":{"S":"new"},"n":{"N":"3"}}})"},
      {"DeleteTable", R"({"TableName":"feature_repo.stats"})", R"("TableStatus":"DELETING")", 200,
       true},
      {"DescribeTable", R"({"TableName":"feature_repo.stats"})", "ResourceNotFoundException", 400,
       true},
  });
}

TEST_F(DynamodbItemsTest, WrongRequestsAreRefusedInDynamodbsWords) {
  Start();
  Good("CreateTable", kCreateLists);
  const std::string key = R"({"TableName":"lists","Key":)";
  Walk({
      {"GetItem", R"({"TableName":"nobody","Key":{"pk":{"S":"a"}}})", "ResourceNotFoundException",
       400, true},
      {"GetItem", R"({"TableName":"x","Key":{}})", "ValidationException", 400, true},
      {"GetItem", key + R"({"pk":{"S":"a"}}})", "does not match the schema", 400, true},
      {"GetItem", key + R"({"pk":{"S":"a"},"sk":{"S":"1"}}})", "does not match the schema", 400,
       true},
      {"GetItem", key + R"({"pk":{"S":""},"sk":{"N":"1"}}})", "empty string value. Key: pk", 400,
       true},
      {"PutItem", R"({"TableName":"lists","Item":{"pk":{"S":"a"}}})", "Missing the key sk", 400,
       true},
      {"PutItem", R"({"TableName":"lists","Item":{"pk":{"S":"a"},"sk":{"N":"1"},"v":{"N":"1"}}})",
       "Type mismatch for Index Key v", 400, true},
      {"UpdateItem",
       key + R"({"pk":{"S":"a"},"sk":{"N":"1"}},"UpdateExpression":"SET pk = :p",)"
             R"("ExpressionAttributeValues":{":p":{"S":"x"}}})",
       "part of the key", 400, true},
      {"Query",
       R"({"TableName":"lists","IndexName":"nope","KeyConditionExpression":"pk = :p",)"
       R"("ExpressionAttributeValues":{":p":{"S":"a"}}})",
       "The table does not have the specified index: nope", 400, true},
      {"BatchWriteItem", R"({"RequestItems":{}})", "ValidationException", 400, true},
      {"Nonsense", "{}", "UnknownOperationException", 400, true},
      {"ListStreams", "{}", "streams of DynamoDB", 400, true},
      {"ExecuteStatement", "{}", "PartiQL", 400, true},
      {"GetItem", "{", "SerializationException", 400, true},
  });
  EXPECT_EQ(
      Must("SELECT count FROM liststore.unsupported WHERE kind = 'refused' AND code = 'LS-0047'")
          .rows.size(),
      1u);
}

TEST_F(DynamodbItemsTest, QueriesGoForwardsAndBackwardsOverTheTableAndItsIndex) {
  Start();
  Good("CreateTable", kCreateLists);
  for (int sk = 1; sk <= 5; ++sk)
    PutList("u", sk * 10, std::string(1, static_cast<char>('f' - sk)));
  PutList("other", 1, "a");
  const auto item = [](int sk, char v) {
    return absl::StrCat(R"({"pk":{"S":"u"},"sk":{"N":")", sk, R"("},"v":{"S":")", std::string(1, v),
                        R"("}})");
  };
  const std::string values = R"("ExpressionAttributeValues":{":p":{"S":"u"})";
  Walk({
      {"Query",
       R"({"TableName":"lists","KeyConditionExpression":"pk = :p","ScanIndexForward":false,)"
       R"("Limit":2,)" +
           values + "}}",
       absl::StrCat(R"({"Items":[)", item(50, 'a'), ",", item(40, 'b'),
                    R"(],"Count":2,"ScannedCount":2,"LastEvaluatedKey":)"
                    R"({"pk":{"S":"u"},"sk":{"N":"40"}}})")},
      {"Query",
       R"({"TableName":"lists","KeyConditionExpression":"pk = :p","ScanIndexForward":false,)"
       R"("Limit":2,"ExclusiveStartKey":{"pk":{"S":"u"},"sk":{"N":"40"}},)" +
           values + "}}",
       absl::StrCat(R"({"Items":[)", item(30, 'c'), ",", item(20, 'd')), 200, true},
      {"Query",
       R"({"TableName":"lists","KeyConditionExpression":"pk = :p AND sk BETWEEN :a AND :b",)" +
           values + R"(,":a":{"N":"20"},":b":{"N":"30"}}})",
       absl::StrCat(R"({"Items":[)", item(20, 'd'), ",", item(30, 'c'),
                    R"(],"Count":2,"ScannedCount":2})")},
      {"Query",
       R"({"TableName":"lists","IndexName":"by_v","KeyConditionExpression":"pk = :p AND v > :v",)"
       R"("Limit":2,)" +
           values + R"(,":v":{"S":"a"}}})",
       absl::StrCat(R"({"Items":[)", item(40, 'b'), ",", item(30, 'c'),
                    R"(],"Count":2,"ScannedCount":2,"LastEvaluatedKey":{"pk":{"S":"u"},)"
                    R"("sk":{"N":"30"},"v":{"S":"c"}}})")},
      {"Query",
       R"({"TableName":"lists","IndexName":"by_v","KeyConditionExpression":"pk = :p AND v > :v",)"
       R"("ExclusiveStartKey":{"pk":{"S":"u"},"sk":{"N":"30"},"v":{"S":"c"}},)" +
           values + R"(,":v":{"S":"a"}}})",
       absl::StrCat(R"({"Items":[)", item(20, 'd'), ",", item(10, 'e'),
                    R"(],"Count":2,"ScannedCount":2})")},
      {"Query",
       R"({"TableName":"lists","IndexName":"by_v","KeyConditionExpression":"pk = :p AND v < :v",)"
       R"("ScanIndexForward":false,"ExclusiveStartKey":{"pk":{"S":"u"},"sk":{"N":"30"},)"
       R"("v":{"S":"c"}},)" +
           values + R"(,":v":{"S":"e"}}})",
       absl::StrCat(R"({"Items":[)", item(40, 'b'), ",", item(50, 'a'),
                    R"(],"Count":2,"ScannedCount":2})")},
      {"Query",
       R"({"TableName":"lists","KeyConditionExpression":"pk = :p","FilterExpression":"v = :v",)"
       R"("Select":"COUNT",)" +
           values + R"(,":v":{"S":"c"}}})",
       R"({"Count":1,"ScannedCount":5})"},
      {"Query",
       R"({"TableName":"lists","IndexName":"by_v","KeyConditionExpression":)"
       R"j("pk = :p AND begins_with(v, :v)",)j" +
           values + R"(,":v":{"S":"b"}}})",
       absl::StrCat(R"({"Items":[)", item(40, 'b'), R"(],"Count":1,"ScannedCount":1})")},
      {"Scan", R"({"TableName":"lists","Select":"COUNT"})", R"({"Count":6,"ScannedCount":6})"},
  });
  // All segments together, page by page.
  int count = 0;
  for (int segment = 0; segment < 3; ++segment) {
    std::string start;
    while (true) {
      const std::string page =
          Good("Scan", absl::StrCat(R"({"TableName":"lists","Limit":1,"TotalSegments":3,)",
                                    R"("Segment":)", segment, start, "}"));
      count += page.find(R"("Count":1)") != std::string::npos ? 1 : 0;
      const std::string name = R"("LastEvaluatedKey":)";
      const size_t at = page.find(name);
      if (at == std::string::npos) break;
      const std::string key = page.substr(at + name.size());
      start = absl::StrCat(R"(,"ExclusiveStartKey":)", key.substr(0, key.size() - 1));
    }
  }
  EXPECT_EQ(count, 6);
}

TEST_F(DynamodbItemsTest, TransactionsAreWholeOrNothing) {
  Start();
  Good("CreateTable", kCreateLists);
  Good("CreateTable", kCreate);
  PutList("u", 1, "a");
  const std::string write = absl::StrCat(
      R"({"ClientRequestToken":"t1","TransactItems":[)",
      R"({"Put":{"TableName":"feature_repo.stats","Item":{"id":{"S":"x"}}}},)",
      R"({"Update":{"TableName":"lists","Key":{"pk":{"S":"u"},"sk":{"N":"1"}},)",
      R"("UpdateExpression":"SET v = :v","ConditionExpression":"v = :old",)",
      R"("ExpressionAttributeValues":{":v":{"S":"b"},":old":{"S":"a"}}}},)",
      R"({"ConditionCheck":{"TableName":"lists","Key":{"pk":{"S":"u"},"sk":{"N":"2"}},)",
      R"j("ConditionExpression":"attribute_not_exists(pk)"}}]})j");
  const std::string failing = absl::StrCat(
      R"({"TransactItems":[{"Put":{"TableName":"feature_repo.stats","Item":{"id":{"S":"y"}}}},)",
      R"({"Delete":{"TableName":"lists","Key":{"pk":{"S":"u"},"sk":{"N":"1"}},)",
      R"("ConditionExpression":"v = :old","ExpressionAttributeValues":{":old":{"S":"a"}}}}]})");
  Walk({
      {"TransactWriteItems", write, "{}"},
      // The same token: it was carried out, and its condition would not hold now.
      {"TransactWriteItems", write, "{}"},
      {"TransactWriteItems", failing,
       "Transaction cancelled, please refer cancellation reasons for specific reasons [None, "
       "ConditionalCheckFailed]",
       400, true},
      {"TransactGetItems",
       R"({"TransactItems":[{"Get":{"TableName":"feature_repo.stats","Key":{"id":{"S":"x"}}}},)"
       R"({"Get":{"TableName":"feature_repo.stats","Key":{"id":{"S":"y"}}}},)"
       R"({"Get":{"TableName":"lists","Key":{"pk":{"S":"u"},"sk":{"N":"1"}}}}]})",
       R"({"Responses":[{"Item":{"id":{"S":"x"}}},{},)"
       R"({"Item":{"pk":{"S":"u"},"sk":{"N":"1"},"v":{"S":"b"}}}]})"},
      {"Query",
       R"({"TableName":"lists","IndexName":"by_v","KeyConditionExpression":"pk = :p",)"
       R"("ExpressionAttributeValues":{":p":{"S":"u"}}})",
       R"({"Items":[{"pk":{"S":"u"},"sk":{"N":"1"},"v":{"S":"b"}}],"Count":1,"ScannedCount":1})"},
  });
}

// NULL is one byte as it is kept, two as Amazon counts, 13 in JSON, and more than all of them in memory.
TEST_F(DynamodbItemsTest, TransactionsLookAtSoMuchAlone) {
  Start();
  Good("CreateTable", kCreate);
  std::string nulls = R"({"NULL":true})";
  while (nulls.size() < 1'000'000) nulls += "," + nulls;
  constexpr int kItems = 30;
  std::string gets;
  std::string keys;
  std::string checks;
  for (int i = 0; i < kItems; ++i) {
    const std::string key = absl::StrCat(R"({"id":{"S":")", i, R"("}})");
    Good("PutItem", absl::StrCat(R"({"TableName":"feature_repo.stats","Item":{"id":{"S":")", i,
                                 R"("},"l":{"L":[)", nulls, "]}}}"));
    const char* const comma = i == 0 ? "" : ",";
    absl::StrAppend(&keys, comma, key);
    absl::StrAppend(&gets, comma, R"({"Get":{"TableName":"feature_repo.stats","Key":)", key, "}}");
    absl::StrAppend(&checks, comma, R"({"ConditionCheck":{"TableName":"feature_repo.stats","Key":)",
                    key, R"j(,"ConditionExpression":"attribute_not_exists(id)",)j",
                    R"("ReturnValuesOnConditionCheckFailure":"ALL_OLD"}})");
  }
  const HttpReply looked =
      Ask("TransactGetItems", absl::StrCat(R"({"TransactItems":[)", gets, "]}"));
  EXPECT_EQ(looked.status, 400);
  EXPECT_NE(looked.body.find("exceeded the maximum of 4 MB"), std::string::npos)
      << looked.body.substr(0, 200);
  constexpr size_t kAnswerBytesMax = size_t{36} << 20;
  const HttpReply checked =
      Ask("TransactWriteItems", absl::StrCat(R"({"TransactItems":[)", checks, "]}"));
  EXPECT_EQ(checked.status, 400);
  EXPECT_LT(checked.body.size(), kAnswerBytesMax);
  const HttpReply batch =
      Ask("BatchGetItem",
          absl::StrCat(R"({"RequestItems":{"feature_repo.stats":{"Keys":[)", keys, "]}}}"));
  EXPECT_EQ(batch.status, 200);
  EXPECT_LT(batch.body.size(), kAnswerBytesMax);
  EXPECT_NE(batch.body.find(R"("UnprocessedKeys":{"feature_repo.stats")"), std::string::npos);
}

TEST_F(DynamodbItemsTest, TransactionsWriteSoMuchAlone) {
  Start();
  Good("CreateTable", kCreate);
  const std::string value(390'000, 'x');
  std::string gets;
  std::string updates;
  for (int i = 0; i < 11; ++i) {
    Good("PutItem", absl::StrCat(R"({"TableName":"feature_repo.stats","Item":{"id":{"S":")", i,
                                 R"("},"v":{"S":")", value, R"("}}})"));
    const std::string key =
        absl::StrCat(R"({"TableName":"feature_repo.stats","Key":{"id":{"S":")", i, R"("}})");
    const char* const comma = i == 0 ? "" : ",";
    absl::StrAppend(&gets, comma, R"({"Get":)", key, "}}");
    absl::StrAppend(&updates, comma, R"({"Update":)", key,
                    R"(,"UpdateExpression":"SET w = :w","ExpressionAttributeValues":{":w":)",
                    R"({"N":"1"}}}})");
    if (i != 9) continue;
    EXPECT_EQ(Ask("TransactGetItems", absl::StrCat(R"({"TransactItems":[)", gets, "]}")).status,
              200);
    EXPECT_EQ(Good("TransactWriteItems", absl::StrCat(R"({"TransactItems":[)", updates, "]}")),
              "{}");
  }
  for (const char* const operation : {"TransactGetItems", "TransactWriteItems"}) {
    const std::string& parts = operation[8] == 'G' ? gets : updates;
    const HttpReply reply = Ask(operation, absl::StrCat(R"({"TransactItems":[)", parts, "]}"));
    EXPECT_EQ(reply.status, 400) << operation;
    EXPECT_NE(reply.body.find("exceeded the maximum of 4 MB"), std::string::npos)
        << reply.body.substr(0, 200);
  }
}

TEST_F(DynamodbItemsTest, ATokenEndsWithTheDataItWasFor) {
  Start();
  Good("CreateTable", kCreate);
  Must("UPDATE liststore.data SET action = 'mark' WHERE key = 'data'");
  const std::string write =
      R"({"ClientRequestToken":"t","TransactItems":[{"Put":{"TableName":"feature_repo.stats",)"
      R"("Item":{"id":{"S":"a"}}}}]})";
  const std::string get = R"({"TableName":"feature_repo.stats","Key":{"id":{"S":"a"}}})";
  Walk({{"TransactWriteItems", write, "{}"}, {"GetItem", get, R"({"Item":{"id":{"S":"a"}}})"}});
  Must("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'");
  Walk({{"GetItem", get, "{}"},
        {"TransactWriteItems", write, "{}"},
        {"GetItem", get, R"({"Item":{"id":{"S":"a"}}})"}});
}

// What is tokens' purpose: the answer was lost, the transaction was not.
TEST_F(DynamodbItemsTest, ATokenHoldsWhereTheAnswerWasLost) {
  Start();
  Good("CreateTable", kCreate);
  const std::string get =
      R"({"TableName":"feature_repo.stats","Key":{"id":{"S":"a"}},"ProjectionExpression":"n"})";
  int expected = 0;
  for (const std::string action : {"write_timeout", "close_connection", "server_error"}) {
    for (const bool applies : {true, false}) {
      SCOPED_TRACE(absl::StrCat(action, applies ? ", carried out" : ", not carried out"));
      const std::string add = absl::StrCat(
          R"({"ClientRequestToken":")", action, applies,
          R"(","TransactItems":[{"Update":{"TableName":"feature_repo.stats","Key":{"id":)",
          R"({"S":"a"}},"UpdateExpression":"ADD n :n","ExpressionAttributeValues":{":n":)",
          R"({"N":"1"}}}}]})");
      Must(
          absl::StrCat("INSERT INTO liststore.faults (name, op, times, action, applies) VALUES "
                       "('f', 'BATCH', 1, '",
                       action, "', ", applies ? "true" : "false", ")"));
      EXPECT_NE(Ask("TransactWriteItems", add).status, 200);
      ++expected;
      Walk({{"TransactWriteItems", add, "{}"},
            {"TransactWriteItems", add, "{}"},
            {"GetItem", get, absl::StrCat(R"({"Item":{"n":{"N":")", expected, R"("}}})")}});
    }
  }
}

TEST_F(DynamodbItemsTest, BatchesWriteAndReadSeveralTables) {
  Start();
  Good("CreateTable", kCreateLists);
  Good("CreateTable", kCreate);
  PutList("u", 9, "z");
  Walk({
      {"BatchWriteItem",
       R"({"RequestItems":{"lists":[{"PutRequest":{"Item":{"pk":{"S":"u"},"sk":{"N":"1"}}}},)"
       R"({"DeleteRequest":{"Key":{"pk":{"S":"u"},"sk":{"N":"9"}}}}],)"
       R"("feature_repo.stats":[{"PutRequest":{"Item":{"id":{"S":"x"}}}}]}})",
       R"({"UnprocessedItems":{}})"},
      {"BatchGetItem",
       R"({"RequestItems":{"lists":{"Keys":[{"pk":{"S":"u"},"sk":{"N":"1"}},)"
       R"({"pk":{"S":"u"},"sk":{"N":"9"}}]},"feature_repo.stats":{"Keys":[{"id":{"S":"x"}}]}}})",
       R"({"Responses":{"lists":[{"pk":{"S":"u"},"sk":{"N":"1"}}],)"
       R"("feature_repo.stats":[{"id":{"S":"x"}}]},"UnprocessedKeys":{}})"},
      {"BatchGetItem",
       R"({"RequestItems":{"lists":{"Keys":[{"pk":{"S":"u"},"sk":{"N":"1"}},)"
       R"({"pk":{"S":"u"},"sk":{"N":"1.0"}}]}}})",
       "Provided list of item keys contains duplicates", 400, true},
  });
}

TEST_F(DynamodbItemsTest, EndByTheirAttributeWhenTheClockSaysSo) {
  Start();
  Good("CreateTable", kCreateLists);
  const auto put = [&](int sk, const std::string& end) {
    Good("PutItem", absl::StrCat(R"({"TableName":"lists","Item":{"pk":{"S":"u"},"sk":{"N":")", sk,
                                 R"("},"v":{"S":"x"},"end":)", end, "}}"));
  };
  const auto count = [&](const std::string& index) {
    return Good("Query", absl::StrCat(R"({"TableName":"lists",)", index,
                                      R"("KeyConditionExpression":"pk = :p","Select":"COUNT",)"
                                      R"("ExpressionAttributeValues":{":p":{"S":"u"}}})"));
  };
  const std::string by_v = R"("IndexName":"by_v",)";
  put(1, R"({"N":"1700000100"})");  // before the table knows the attribute
  Walk(
      {{"UpdateTimeToLive",
        R"({"TableName":"lists","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"end"}})",
        R"({"TimeToLiveSpecification":{"Enabled":true,"AttributeName":"end"}})"},
       {"DescribeTimeToLive", R"({"TableName":"lists"})",
        R"({"TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"end"}})"}});
  put(2, R"({"N":"1700000200"})");
  put(3, R"({"S":"1700000100"})");  // no number
  put(4, R"({"N":"1500000000"})");  // more than five years past
  EXPECT_EQ(count(""), R"({"Count":4,"ScannedCount":4})");
  clock_.AdvanceNanos(uint64_t{100} * 1'000'000'000);
  EXPECT_EQ(count(""), R"({"Count":3,"ScannedCount":3})");
  EXPECT_EQ(count(by_v), R"({"Count":3,"ScannedCount":3})");
  EXPECT_EQ(Must("SELECT TTL(\":item\") FROM dynamodb.lists WHERE pk = 'u'").rows.size(), 3u);
  // An update moves the end.
  Good("UpdateItem",
       R"({"TableName":"lists","Key":{"pk":{"S":"u"},"sk":{"N":"2"}},"UpdateExpression":)"
       R"("SET #e = :e","ExpressionAttributeNames":{"#e":"end"},)"
       R"("ExpressionAttributeValues":{":e":{"N":"1700000500"}}})");
  clock_.AdvanceNanos(uint64_t{200} * 1'000'000'000);
  EXPECT_EQ(count(""), R"({"Count":3,"ScannedCount":3})");
  clock_.AdvanceNanos(uint64_t{300} * 1'000'000'000);
  EXPECT_EQ(count(""), R"({"Count":2,"ScannedCount":2})");
  EXPECT_EQ(count(by_v), R"({"Count":2,"ScannedCount":2})");
}

TEST_F(DynamodbItemsTest, AreRowsForCqlAndHttp) {
  Start();
  Good("CreateTable", kCreateLists);
  Good("CreateTable", kCreate);
  PutList("u", 7, "seen");
  EXPECT_EQ(Cell("SELECT v FROM dynamodb.lists WHERE pk = 'u' AND sk = 7"), "seen");
  EXPECT_EQ(Cell("SELECT pk FROM dynamodb.\"lists:by_v\" WHERE pk = 'u' AND v = 'seen'"), "u");
  EXPECT_EQ(Must("SELECT * FROM dynamodb.\"feature_repo.stats\"").rows.size(), 0u);
  // What CQL writes is an item.
  Must("INSERT INTO dynamodb.\"feature_repo.stats\" (id) VALUES ('by cql')");
  Walk({{"GetItem", R"({"TableName":"feature_repo.stats","Key":{"id":{"S":"by cql"}}})",
         R"({"Item":{"id":{"S":"by cql"}}})"}});
  HttpClient http(server_->http_port());
  const HttpReply reply =
      http.Ask("POST /api/query", R"({"query":"SELECT pk, sk, v FROM dynamodb.lists"})");
  EXPECT_NE(reply.body.find(R"([{"pk":"u","sk":7,"v":"seen"}])"), std::string::npos) << reply.body;
  Must("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'");
}

TEST_F(DynamodbItemsTest, FaultsAndTheJournalSeeRequests) {
  Start();
  Good("CreateTable", kCreate);
  const std::string get = R"({"TableName":"feature_repo.stats","Key":{"id":{"S":"a"}}})";
  Good("GetItem", get);
  const auto arm = [&](const std::string& action) {
    Must("INSERT INTO liststore.faults (name, op, times, action) VALUES ('f', 'SELECT', 1, '" +
         action + "')");
  };
  arm("overloaded");
  Walk({{"GetItem", get, "ProvisionedThroughputExceededException", 400, true}});
  arm("rate_limit");
  Walk({{"GetItem", get, "ProvisionedThroughputExceededException", 400, true}});
  arm("read_timeout");
  Walk({{"GetItem", get, "InternalServerError", 500, true}});
  arm("close_connection");
  EXPECT_EQ(Ask("GetItem", get).status, 0);
  Walk({{"GetItem", get, "{}"}});
  EXPECT_NE(Must("SELECT statement FROM liststore.requests WHERE tbl = "
                 "'dynamodb.feature_repo.stats' ALLOW FILTERING")
                .rows.size(),
            0u);
}

TEST_F(DynamodbItemsTest, AGlobalIndexOfTwoOtherAttributesIsFilledAndKept) {
  Start();
  Good("CreateTable", kCreate);
  Good("PutItem",
       R"({"TableName":"feature_repo.stats","Item":{"id":{"S":"a"},"g":{"S":"x"},"n":{"N":"2"}}})");
  const std::string query =
      R"({"TableName":"feature_repo.stats","IndexName":"by_g","KeyConditionExpression":"g = :g",)"
      R"("ExpressionAttributeValues":{":g":{"S":"x"}}})";
  Walk({
      {"UpdateTable",
       R"({"TableName":"feature_repo.stats","AttributeDefinitions":[)"
       R"({"AttributeName":"g","AttributeType":"S"},{"AttributeName":"n","AttributeType":"N"}],)"
       R"("GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"by_g","KeySchema":[)"
       R"({"AttributeName":"g","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}],)"
       R"("Projection":{"ProjectionType":"KEYS_ONLY"}}}]})",
       R"("IndexName":"by_g")", 200, true},
      {"Query", query,
       R"({"Items":[{"g":{"S":"x"},"id":{"S":"a"},"n":{"N":"2"}}],"Count":1,"ScannedCount":1})"},
      {"PutItem",
       R"({"TableName":"feature_repo.stats","Item":{"id":{"S":"b"},"g":{"S":"x"},"n":{"N":"1"},)"
       R"("more":{"S":"y"}}})",
       "{}"},
      {"PutItem", R"({"TableName":"feature_repo.stats","Item":{"id":{"S":"a"},"g":{"S":"x"}}})",
       "{}"},
      {"Query", query,
       R"({"Items":[{"g":{"S":"x"},"id":{"S":"b"},"n":{"N":"1"}}],"Count":1,"ScannedCount":1})"},
      {"UpdateTable",
       R"({"TableName":"feature_repo.stats","GlobalSecondaryIndexUpdates":[)"
       R"({"Delete":{"IndexName":"by_g"}}]})",
       R"("TableStatus":"ACTIVE")", 200, true},
      {"Query", query, "does not have the specified index", 400, true},
  });
}

TEST_F(DynamodbItemsTest, TagsLimitsAndHealth) {
  Start();
  const std::string arn = R"("arn:aws:dynamodb:us-east-1:000000000000:table/feature_repo.stats")";
  Good("CreateTable", kCreate);
  Walk({
      {"TagResource", R"({"ResourceArn":)" + arn + R"(,"Tags":[{"Key":"team","Value":"it's"}]})",
       "{}"},
      {"ListTagsOfResource", R"({"ResourceArn":)" + arn + "}",
       R"({"Tags":[{"Key":"team","Value":"it's"}]})"},
      {"UntagResource", R"({"ResourceArn":)" + arn + R"(,"TagKeys":["team"]})", "{}"},
      {"ListTagsOfResource", R"({"ResourceArn":)" + arn + "}", R"({"Tags":[]})"},
      {"ListTables", "{}", R"({"TableNames":["feature_repo.stats"]})"},
      {"DescribeLimits", "{}", "TableMaxReadCapacityUnits", 200, true},
      {"DescribeContinuousBackups", R"({"TableName":"feature_repo.stats"})", "DISABLED", 200, true},
  });
  HttpClient client(server_->dynamodb_port());
  const HttpReply health = client.Ask("GET /", "", "");
  EXPECT_EQ(health.status, 200);
  EXPECT_EQ(health.body.substr(0, 8), "healthy:");
}

TEST_F(DynamodbItemsTest, AreLetInBySignature) {
  CqlServerOptions options;
  options.dynamodb_credentials = "# keys\nAKID secret\n";
  Start(options);
  EXPECT_NE(Ask("ListTables", "{}").body.find("MissingAuthenticationToken"), std::string::npos);
  const auto ask = [&](const std::string& key, const std::string& signature) {
    return AskWith(
               "ListTables", "{}",
               "X-Amz-Date: 20260101T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 Credential=" + key +
                   "/20260101/us-east-1/dynamodb/aws4_request, "
                   "SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=" +
                   signature + "\r\n")
        .body;
  };
  EXPECT_NE(ask("NOBODY", "00").find("UnrecognizedClientException"), std::string::npos);
  EXPECT_NE(ask("AKID", "00").find("signature we calculated does not match"), std::string::npos);
}

// Conditions that take long are refused where lanes are held for them, and of a transaction too; a filter ends
// the page.
TEST_F(DynamodbItemsTest, AConditionLooksAtSoMuchAndNoMore) {
  Start();
  Good("CreateTable", kCreate);
  const std::string text(380'000, 'a');
  const std::string key = R"({"TableName":"feature_repo.stats","Key":{"id":{"S":"a"}},)";
  Good("PutItem",
       absl::StrCat(R"({"TableName":"feature_repo.stats","Item":{"id":{"S":"a"},"a":{"S":")", text,
                    R"("}}})"));
  std::string condition = "contains(a,:n)";
  // Of 300 operators at most, and values of 4 MB.
  for (int i = 0; i < 140; ++i) condition += " OR contains(a,:n)";
  const std::string values = absl::StrCat(R"("ExpressionAttributeValues":{":n":{"S":")",
                                          std::string(15'000, 'a'), R"(b"}}})");
  const std::string refused =
      "A condition or filter may look at 33554432 bytes of the item and of values at most";
  Walk({
      {"DeleteItem", absl::StrCat(key, R"("ConditionExpression":")", condition, "\",", values),
       refused, 400, true},
      {"TransactWriteItems",
       absl::StrCat(R"({"TransactItems":[{"ConditionCheck":)", key, R"("ConditionExpression":")",
                    condition, "\",", values, "}]}"),
       "ValidationError", 400, true},
      {"Scan",
       absl::StrCat(R"({"TableName":"feature_repo.stats","FilterExpression":")", condition, "\",",
                    values),
       refused, 400, true},
      {"DeleteItem", absl::StrCat(key, R"j("ConditionExpression":"contains(a,:n)",)j", values),
       "ConditionalCheckFailedException", 400, true},
  });
}

// What an index does not project is not there for a filter, whether items are answered or counted.
TEST_F(DynamodbItemsTest, AFilterOfAnIndexSeesWhatItProjects) {
  Start();
  const auto index = [](const std::string& name, const std::string& hash,
                        const std::string& projects) {
    return absl::StrCat(R"({"IndexName":")", name, R"(","KeySchema":[{"AttributeName":")", hash,
                        R"(","KeyType":"HASH"},{"AttributeName":"v","KeyType":"RANGE"}],)",
                        R"("Projection":{)", projects, "}}");
  };
  const std::string keys = R"("ProjectionType":"KEYS_ONLY")";
  const std::string include = R"("ProjectionType":"INCLUDE","NonKeyAttributes":["in"])";
  Good(
      "CreateTable",
      absl::StrCat(
          R"({"TableName":"idx","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},)"
          R"({"AttributeName":"sk","KeyType":"RANGE"}],"AttributeDefinitions":[)"
          R"({"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"},)"
          R"({"AttributeName":"v","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST",)"
          R"("LocalSecondaryIndexes":[)",
          index("by_lk", "pk", keys), R"(],"GlobalSecondaryIndexes":[)", index("by_gk", "pk", keys),
          ",", index("by_gi", "pk", include), "]}"));
  Good("PutItem", R"({"TableName":"idx","Item":{"pk":{"S":"p"},"sk":{"N":"1"},"v":{"S":"v"},)"
                  R"("in":{"N":"1"},"out":{"N":"1"}}})");
  struct Example {
    std::string index;
    std::string filter;
    bool is_true;
  };
  const Example examples[] = {
      {"by_lk", "attribute_exists(#o)", false}, {"by_gk", "attribute_exists(#o)", false},
      {"by_gi", "attribute_exists(#o)", false}, {"by_gk", "attribute_not_exists(#o)", true},
      {"by_gi", "attribute_exists(#i)", true},  {"by_gk", "attribute_exists(#i)", false},
  };
  for (const Example& example : examples) {
    for (const char* select : {"COUNT", "ALL_PROJECTED_ATTRIBUTES"}) {
      const std::string body = absl::StrCat(
          R"({"TableName":"idx","IndexName":")", example.index,
          R"(","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"p"}},)"
          R"("Select":")",
          select, R"(","FilterExpression":")", example.filter, R"(","ExpressionAttributeNames":{")",
          example.filter.find("#o") != std::string::npos ? R"(#o":"out)" : R"(#i":"in)", "\"}}");
      Walk({{"Query", body,
             absl::StrCat("\"Count\":", example.is_true ? 1 : 0, ",\"ScannedCount\":1"), 200,
             true}});
    }
  }
}

// By name and ARN, and by one name twice: the answer could say only one of them.
TEST_F(DynamodbItemsTest, ABatchNamesATableOnce) {
  Start();
  Good("CreateTable", kCreateLists);
  const std::string arn = "arn:aws:dynamodb:us-east-1:000000000000:table/lists";
  const auto get = [](const std::string& table, const std::string& sk) {
    return absl::StrCat("\"", table, R"(":{"Keys":[{"pk":{"S":"u"},"sk":{"N":")", sk, R"("}}]})");
  };
  const auto put = [](const std::string& table, const std::string& sk) {
    return absl::StrCat("\"", table, R"(":[{"PutRequest":{"Item":{"pk":{"S":"u"},"sk":{"N":")", sk,
                        R"("}}}}])");
  };
  const std::string twice = "RequestItems names a table more than once: lists";
  for (const std::string& other : {arn, std::string("lists")}) {
    Walk({
        {"BatchWriteItem",
         absl::StrCat(R"({"RequestItems":{)", put("lists", "1"), ",", put(other, "2"), "}}"), twice,
         400, true},
        {"BatchGetItem",
         absl::StrCat(R"({"RequestItems":{)", get("lists", "1"), ",", get(other, "2"), "}}"), twice,
         400, true},
    });
  }
  Walk({
      {"BatchWriteItem", absl::StrCat(R"({"RequestItems":{)", put(arn, "2"), "}}"),
       R"({"UnprocessedItems":{}})"},
      {"BatchGetItem", absl::StrCat(R"({"RequestItems":{)", get(arn, "2"), "}}"),
       R"("lists":[{"pk":{"S":"u"},"sk":{"N":"2"}}])", 200, true},
  });
}

// A loop reads one page, and hands it over with what a fault said of it: the fault has had its turn, and no page
// is read twice.
TEST_F(DynamodbItemsTest, WhatALoopHasReadIsHandedOverWithItsDelay) {
  Start();
  Good("CreateTable", kCreateLists);
  for (int first = 0; first < 600; first += 25) {
    std::string puts;
    for (int sk = first; sk < first + 25; ++sk) {
      absl::StrAppend(&puts, puts.empty() ? "" : ",",
                      R"({"PutRequest":{"Item":{"pk":{"S":"u"},"sk":{"N":")", sk, R"("}}}})");
    }
    Good("BatchWriteItem", absl::StrCat(R"({"RequestItems":{"lists":[)", puts, "]}}"));
  }
  const auto selects = [&] {
    return Must(
               "SELECT statement FROM liststore.requests WHERE tbl = 'dynamodb.lists' AND "
               "op = 'SELECT' AND outcome = 'ok' ALLOW FILTERING")
        .rows.size();
  };
  const std::string query =
      R"({"TableName":"lists","KeyConditionExpression":"pk = :p","Select":"COUNT",)"
      R"("ExpressionAttributeValues":{":p":{"S":"u"}}})";
  Walk({{"Query", query, R"({"Count":600,"ScannedCount":600})"}});
  const size_t before = selects();
  Must(
      "INSERT INTO liststore.faults (name, op, times, action) VALUES "
      "('f', 'SELECT', 1, 'delay 300ms')");
  const auto begin = std::chrono::steady_clock::now();
  Walk({{"Query", query, R"({"Count":600,"ScannedCount":600})"}});
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(300));
  EXPECT_EQ(selects() - before, 2u);
}

}  // namespace dynamodb_items_test
}  // namespace liststore::testing

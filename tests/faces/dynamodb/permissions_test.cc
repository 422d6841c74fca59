// What access keys may do, whose roles have permissions.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/faces/dynamodb/signature.h"
#include "tests/faces/dynamodb/dynamodb_server_test.h"

namespace liststore::testing {
namespace dynamodb_permissions_test {

constexpr char kScope[] = "20260101/eu-west-1/dynamodb/aws4_request";
constexpr char kSigned[] = "host;x-amz-date;x-amz-target";

class DynamodbPermissionsTest : public DynamodbServerTest {
 protected:
  void SetUp() override {
    CqlServerOptions options;
    options.user = "root";
    options.password = "secret";
    options.scylla_options = {{"authorizer", "CassandraAuthorizer"}};
    options.http_port = 0;
    options.dynamodb_port = 0;
    options.dynamodb_credentials = "root s\nbob s\neve s\nghost s\n";
    options.memory_limit_bytes = 64 << 20;
    auto server = CqlServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = *std::move(server);
    for (const char* table : {"own", "secret"}) {
      Expect("root", "CreateTable", Creation(table), "ACTIVE");
      Expect("root", "PutItem",
             absl::StrCat(R"({"TableName":")", table,
                          R"(","Item":{"id":{"S":"a"},"v":{"S":"hidden"}}})"),
             "{}");
    }
    RunCql("CREATE ROLE bob WITH PASSWORD = 'p' AND LOGIN = true");
    RunCql("CREATE ROLE eve WITH PASSWORD = 'p' AND LOGIN = true");
    RunCql("GRANT SELECT ON dynamodb.own TO bob");
    RunCql("GRANT MODIFY ON dynamodb.own TO bob");
    RunCql("GRANT MODIFY ON dynamodb.own TO eve");
  }

  // What is made has a key of one attribute.
  static std::string Creation(const std::string& table) {
    return absl::StrCat(R"({"TableName":")", table,
                        R"(","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],)"
                        R"("AttributeDefinitions":[{"AttributeName":"id",)"
                        R"("AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"})");
  }

  void RunCql(const std::string& text) {
    HttpClient client(server_->http_port());
    const HttpReply reply =
        client.Ask("POST /api/query", absl::StrCat("{\"query\":\"", text, "\"}"),
                   "Authorization: Basic " + absl::Base64Escape("root:secret") + "\r\n");
    EXPECT_EQ(reply.status, 200) << text << "\n" << reply.body;
  }

  static std::string Fields(const std::string& key, const std::string& operation,
                            const std::string& body) {
    http_face::HttpRequest request;
    request.method = "POST";
    request.target = "/";
    request.body = body;
    request.fields.Add("Host", "localhost");
    request.fields.Add("X-Amz-Target", "DynamoDB_20120810." + operation);
    request.fields.Add("X-Amz-Date", "20260101T000000Z");
    return absl::StrCat(
        "X-Amz-Date: 20260101T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 Credential=", key, "/",
        kScope, ", SignedHeaders=", kSigned,
        ", Signature=", dynamodb_face::SignatureOf(request, "s", kScope, kSigned), "\r\n");
  }
  // The answer has this part.
  void Expect(const std::string& key, const std::string& operation, const std::string& body,
              const std::string& part) {
    const std::string answer = AskWith(operation, body, Fields(key, operation, body)).body;
    EXPECT_NE(answer.find(part), std::string::npos)
        << key << " " << operation << " " << body << "\n"
        << answer;
    if (part == kDenied) {
      EXPECT_EQ(answer.find("hidden"), std::string::npos) << answer;
    }
  }

  static constexpr char kDenied[] = "AccessDeniedException";
};

TEST_F(DynamodbPermissionsTest, TransactionsLookWhereTheyMayAlone) {
  const std::string own = R"({"Get":{"TableName":"own","Key":{"id":{"S":"a"}}}})";
  const std::string secret = R"({"Get":{"TableName":"secret","Key":{"id":{"S":"a"}}}})";
  const std::string put = R"({"Put":{"TableName":"own","Item":{"id":{"S":"b"}}}})";
  const auto check = [](const std::string& table) {
    return absl::StrCat(R"({"ConditionCheck":{"TableName":")", table,
                        R"(","Key":{"id":{"S":"a"}},"ConditionExpression":)"
                        R"j("attribute_not_exists(id)",)j"
                        R"("ReturnValuesOnConditionCheckFailure":"ALL_OLD"}})");
  };
  const auto items = [](const std::string& one, const std::string& other = "") {
    return absl::StrCat(R"({"TransactItems":[)", one, other.empty() ? "" : ",", other, "]}");
  };
  Expect("bob", "TransactGetItems", items(own), "hidden");
  Expect("bob", "TransactGetItems", items(own, secret), kDenied);
  Expect("bob", "TransactGetItems", items(secret, own), kDenied);
  Expect("bob", "TransactWriteItems", items(put, check("secret")), kDenied);
  Expect("bob", "TransactWriteItems", items(check("own"), check("secret")), kDenied);
  Expect("bob", "TransactWriteItems", items(put, check("own")), "hidden");
  // Who may write a table alone does not look at its other items.
  Expect("eve", "TransactWriteItems", items(put, check("own")), kDenied);
  Expect("eve", "TransactWriteItems", items(put), "{}");
}

TEST_F(DynamodbPermissionsTest, ConditionsAndReturnedValuesRead) {
  const auto put = [](const std::string& more) {
    return absl::StrCat(R"({"TableName":"own","Item":{"id":{"S":"a"},"v":{"S":"hidden"}})", more,
                        "}");
  };
  const auto of_key = [](const std::string& more) {
    return absl::StrCat(R"({"TableName":"own","Key":{"id":{"S":"a"}})", more, "}");
  };
  const std::string condition = R"j(,"ConditionExpression":"attribute_not_exists(id)",)j"
                                R"("ReturnValuesOnConditionCheckFailure":"ALL_OLD")";
  const std::string old = R"(,"ReturnValues":"ALL_OLD")";
  const std::string update = R"(,"UpdateExpression":"SET w = :w",)"
                             R"("ExpressionAttributeValues":{":w":{"N":"1"}})";
  Expect("eve", "PutItem", put(""), "{}");
  Expect("eve", "PutItem", put(old), kDenied);
  Expect("eve", "PutItem", put(condition), kDenied);
  Expect("eve", "UpdateItem", of_key(update), "{}");
  Expect("eve", "UpdateItem", of_key(update + R"(,"ReturnValues":"ALL_NEW")"), kDenied);
  Expect("eve", "UpdateItem", of_key(update + condition), kDenied);
  Expect("eve", "DeleteItem", of_key(old), kDenied);
  Expect("eve", "DeleteItem", of_key(condition), kDenied);
  Expect("bob", "PutItem", put(old), "hidden");
  Expect("bob", "DeleteItem", of_key(condition), "hidden");
  Expect("bob", "UpdateItem", of_key(update + R"(,"ReturnValues":"ALL_NEW")"), "hidden");
  Expect("eve", "DeleteItem", of_key(""), "{}");
}

TEST_F(DynamodbPermissionsTest, AccessKeysAreRolesThatMayLogIn) {
  const char* const kUnknown = "UnrecognizedClientException";
  Expect("ghost", "ListTables", "{}", kUnknown);
  Expect("ghost", "DescribeLimits", "{}", kUnknown);
  RunCql("CREATE ROLE ghost WITH PASSWORD = 'p' AND LOGIN = false");
  Expect("ghost", "ListTables", "{}", kUnknown);
  RunCql("ALTER ROLE ghost WITH LOGIN = true");
  Expect("ghost", "ListTables", "{}", "TableNames");
  Expect("bob", "ListTables", "{}", "TableNames");
  RunCql("DROP ROLE bob");
  Expect("bob", "ListTables", "{}", kUnknown);
}

TEST_F(DynamodbPermissionsTest, TablesAreMadeByWhoMayInTheKeyspaceAlone) {
  Expect("bob", "CreateTable", Creation("more"), kDenied);
  RunCql("GRANT CREATE ON KEYSPACE dynamodb TO bob");
  Expect("bob", "CreateTable", Creation("more"), "ACTIVE");
}

}  // namespace dynamodb_permissions_test
}  // namespace liststore::testing
